//! Members of a cluster: a key for every daemon and worker, and their permissions on the NATS
//! server.
//!
//! One folder has it all: `members.toml`, the public keys by name; `NAME.nk`, the secret keys, each to be taken to its machine;
//! `users.conf`, made anew from the members, which the server's configuration includes; and `nats.conf`, such a configuration.
//!
//! A worker publishes and subscribes only under its own name, and with the existing daemons; its
//! permissions have no wildcard.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use nkeys::KeyPair;
use serde::{Deserialize, Serialize};

use super::subjects::{ANYBODY, Subjects, is_member_name, is_prefix};

const CONFIGURATION: &str = include_str!("../../deploy/nats/nats.conf");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    Daemon,
    Worker,
}

impl MemberKind {
    fn word(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Worker => "worker",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum MembersError {
    #[error("{}: {reason}", file.display())]
    File { file: PathBuf, reason: String },
    #[error("{0:?} cannot be a name: expected up to 64 letters, digits, - and _")]
    Name(String),
    #[error("there is a {kind} {name} already; `concilio cluster remove-{kind} {name}` revokes its key")]
    Known { kind: &'static str, name: String },
    #[error("there is no {kind} {name}, but {known}")]
    Unknown { kind: &'static str, name: String, known: String },
    #[error("cannot create a key: {0}")]
    Key(String),
}

fn failed(file: &Path, reason: &impl ToString) -> MembersError {
    MembersError::File { file: file.to_owned(), reason: reason.to_string() }
}

/// The public keys of a cluster's members, and the folder with their secret keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Members {
    #[serde(skip)]
    folder: PathBuf,
    prefix: String,
    daemons: BTreeMap<String, String>,
    workers: BTreeMap<String, String>,
}

impl Default for Members {
    fn default() -> Self {
        let (daemons, workers) = (BTreeMap::new(), BTreeMap::new());
        Self { folder: PathBuf::new(), prefix: "concilio".to_owned(), daemons, workers }
    }
}

impl Members {
    /// Opens the members of a folder; a missing file means none.
    pub fn open(folder: &Path) -> Result<Self, MembersError> {
        let file = folder.join("members.toml");
        let members: Self = match fs::read_to_string(&file) {
            Ok(text) => toml::from_str(&text).map_err(|error| failed(&file, &error))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(error) => return Err(failed(&file, &error)),
        };
        let mut all = members.daemons.iter().chain(&members.workers);
        let keys_are_keys = all.all(|(name, key)| is_member_name(name) && KeyPair::from_public_key(key).is_ok());
        if !keys_are_keys || !is_prefix(&members.prefix) {
            return Err(failed(&file, &"a name, a key or the prefix in it is none"));
        }
        Ok(Self { folder: folder.to_owned(), ..members })
    }

    pub fn names(&self, kind: MemberKind) -> impl Iterator<Item = &str> {
        self.of(kind).keys().map(String::as_str)
    }

    /// Makes a key for a new member, writes all files, and returns the path of the key.
    ///
    /// # Errors
    /// [`MembersError`] if the name is taken or none, or a file cannot be written; then no member
    /// was added.
    pub fn add(&mut self, kind: MemberKind, name: &str) -> Result<PathBuf, MembersError> {
        if !is_member_name(name) {
            return Err(MembersError::Name(name.to_owned()));
        }
        if self.of(kind).contains_key(name) {
            return Err(MembersError::Known { kind: kind.word(), name: name.to_owned() });
        }
        let pair = KeyPair::new_user();
        let seed = pair.seed().map_err(|error| MembersError::Key(error.to_string()))?;
        let file = self.key_file(kind, name);
        fs::create_dir_all(&self.folder).map_err(|error| failed(&self.folder, &error))?;
        let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file);
        let mut new = new.map_err(|error| failed(&file, &error))?;
        let mut changed = self.clone();
        changed.of_mut(kind).insert(name.to_owned(), pair.public_key());
        let written = writeln!(new, "{seed}").map_err(|error| failed(&file, &error));
        written.and_then(|()| self.become_and_write(changed)).inspect_err(|_| {
            let _ = fs::remove_file(&file);
        })?;
        Ok(file)
    }

    /// Revokes a member's access, and deletes its key.
    ///
    /// # Errors
    /// [`MembersError`] if there is no such member, or a file cannot be written.
    pub fn remove(&mut self, kind: MemberKind, name: &str) -> Result<(), MembersError> {
        let mut changed = self.clone();
        let Some(public) = changed.of_mut(kind).remove(name) else {
            let names: Vec<&str> = self.names(kind).collect();
            let known = if names.is_empty() { "none at all".to_owned() } else { names.join(", ") };
            return Err(MembersError::Unknown { kind: kind.word(), name: name.to_owned(), known });
        };
        self.become_and_write(changed)?;
        // Where it was taken to its machine it is not here any more. What it was called depends on who was there when it was made; one
        // that cannot be read, because it is another user's by now, is taken for the one that is called as it would be now.
        let usual = self.key_file(kind, name);
        let its_own = |file: &PathBuf| match fs::read_to_string(file) {
            Ok(seed) => KeyPair::from_seed(seed.trim()).is_ok_and(|pair| pair.public_key() == public),
            Err(_) => *file == usual,
        };
        for file in self.key_files(kind, name) {
            if its_own(&file) {
                let _ = fs::remove_file(file);
            }
        }
        Ok(())
    }

    pub fn configuration(&self) -> String {
        let subjects = Subjects::below(&self.prefix);
        let mut text =
            "# Written by `concilio cluster`, from members.toml: the server's configuration includes it.\nusers = [\n"
                .to_owned();
        for (name, key) in &self.daemons {
            let publish = vec![subjects.call(name), subjects.to_worker(name, ANYBODY)];
            let subscribe = vec![subjects.beat(ANYBODY), subjects.to_daemon(ANYBODY, name), subjects.unheard(name)];
            write_user(&mut text, MemberKind::Daemon, name, key, &publish, &subscribe);
        }
        for (name, key) in &self.workers {
            let daemons = || self.daemons.keys();
            let told = daemons().map(|daemon| subjects.to_daemon(name, daemon));
            let publish = std::iter::once(subjects.beat(name)).chain(told).collect::<Vec<_>>();
            let heard = daemons().flat_map(|daemon| [subjects.call(daemon), subjects.to_worker(daemon, name)]);
            write_user(&mut text, MemberKind::Worker, name, key, &publish, &heard.collect::<Vec<_>>());
        }
        text.push_str("]\n");
        text
    }

    fn of(&self, kind: MemberKind) -> &BTreeMap<String, String> {
        match kind {
            MemberKind::Daemon => &self.daemons,
            MemberKind::Worker => &self.workers,
        }
    }

    fn of_mut(&mut self, kind: MemberKind) -> &mut BTreeMap<String, String> {
        match kind {
            MemberKind::Daemon => &mut self.daemons,
            MemberKind::Worker => &mut self.workers,
        }
    }

    /// Returns the possible paths of a secret key: named by the member alone, or with its kind.
    fn key_files(&self, kind: MemberKind, name: &str) -> [PathBuf; 2] {
        [format!("{name}.nk"), format!("{name}-{}.nk", kind.word())].map(|file| self.folder.join(file))
    }

    fn key_file(&self, kind: MemberKind, name: &str) -> PathBuf {
        // A daemon and a worker may have the same name; most clusters have one daemon, of that name.
        let [alone, with_kind] = self.key_files(kind, name);
        if self.of(other(kind)).contains_key(name) { with_kind } else { alone }
    }

    /// Writes what the server reads before what we read: where only one of them can be written, the same can be asked for again.
    fn become_and_write(&mut self, changed: Self) -> Result<(), MembersError> {
        let text = toml::to_string(&changed).map_err(|error| failed(&self.folder.join("members.toml"), &error))?;
        replace(&self.folder.join("users.conf"), &changed.configuration())?;
        replace(&self.folder.join("members.toml"), &text)?;
        let configuration = self.folder.join("nats.conf");
        if !configuration.exists() {
            replace(&configuration, CONFIGURATION)?;
        }
        *self = changed;
        Ok(())
    }
}

fn other(kind: MemberKind) -> MemberKind {
    match kind {
        MemberKind::Daemon => MemberKind::Worker,
        MemberKind::Worker => MemberKind::Daemon,
    }
}

fn write_user(text: &mut String, kind: MemberKind, name: &str, key: &str, publish: &[String], subscribe: &[String]) {
    // Subjects and keys have no character that a text of the configuration would have to escape.
    let list = |subjects: &[String]| {
        let quoted: Vec<String> = subjects.iter().map(|subject| format!("\"{subject}\"")).collect();
        // An empty list allows everything.
        if quoted.is_empty() { "{ deny: \">\" }".to_owned() } else { format!("[{}]", quoted.join(", ")) }
    };
    // Writing to a text cannot fail.
    let _ = write!(
        text,
        "  # {} {name}\n  {{ nkey: {key}, permissions: {{\n    publish: {}\n    subscribe: {}\n  }} }}\n",
        kind.word(),
        list(publish),
        list(subscribe),
    );
}

/// Replaces a file at once, so that the server never reads half of it.
fn replace(file: &Path, text: &str) -> Result<(), MembersError> {
    let new = file.with_extension("new");
    let written = fs::write(&new, text)
        .and_then(|()| fs::set_permissions(&new, Permissions::from_mode(0o644)))
        .and_then(|()| fs::rename(&new, file));
    written.map_err(|error| failed(file, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(folder: &Path) -> Members {
        let mut members = Members::open(folder).expect("an empty folder");
        members.add(MemberKind::Daemon, "daemon").expect("a daemon");
        members.add(MemberKind::Worker, "attic").expect("a worker");
        members.add(MemberKind::Worker, "cellar").expect("another");
        members
    }

    #[test]
    fn worker_may_use_only_its_own_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let configuration = members(folder.path()).configuration();
        let attic =
            configuration.split("# worker attic").nth(1).and_then(|rest| rest.split('#').next()).expect("its part");
        assert!(!attic.contains('*') && !attic.contains('>') && !attic.contains("cellar"), "{attic}");
        for subject in [
            "concilio.worker.attic.beat",
            "concilio.worker.attic.to.daemon",
            "concilio.daemon.daemon.call",
            "concilio.daemon.daemon.to.attic",
        ] {
            assert!(attic.contains(&format!("\"{subject}\"")), "{subject}: {attic}");
        }
    }

    #[test]
    fn worker_without_daemons_has_no_rights() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut members = members(folder.path());
        members.remove(MemberKind::Daemon, "daemon").expect("removed");
        let configuration = members.configuration();
        assert!(!configuration.contains("[]"), "{configuration}");
        assert_eq!(configuration.matches("subscribe: { deny: \">\" }").count(), 2, "{configuration}");
    }

    #[test]
    fn keys_are_private_files() {
        let folder = tempfile::tempdir().expect("a folder");
        members(folder.path());
        let file = folder.path().join("attic.nk");
        let seed = fs::read_to_string(&file).expect("a key");
        assert!(seed.starts_with("SU"), "a user's seed");
        assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
        for public in ["members.toml", "users.conf", "nats.conf"] {
            let text = fs::read_to_string(folder.path().join(public)).expect("written");
            assert!(!text.contains(seed.trim()), "{public}");
        }
    }

    #[test]
    fn removed_member_may_get_a_new_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut members = members(folder.path());
        let before = members.configuration();
        members.remove(MemberKind::Worker, "attic").expect("removed");
        assert!(!members.configuration().contains("attic") && !folder.path().join("attic.nk").exists());
        let error = members.remove(MemberKind::Worker, "attic").expect_err("gone").to_string();
        assert_eq!(error, "there is no worker attic, but cellar");
        let mut read = Members::open(folder.path()).expect("what was written");
        assert_eq!(read, members);
        read.add(MemberKind::Worker, "attic").expect("back");
        assert_ne!(read.configuration(), before);
    }

    #[test]
    fn same_names_have_separate_keys() {
        use MemberKind::{Daemon, Worker};
        for (first, second) in [(Daemon, Worker), (Worker, Daemon)] {
            let folder = tempfile::tempdir().expect("a folder");
            let mut members = Members::open(folder.path()).expect("an empty folder");
            let [one, other] = [first, second].map(|kind| members.add(kind, "attic").expect("a key"));
            members.remove(first, "attic").expect("removed");
            assert!(!one.exists() && other.exists(), "{first:?}");
            let again = members.add(first, "attic").expect("back");
            members.remove(second, "attic").expect("removed");
            assert!(again.exists() && !other.exists(), "{second:?}");
            members.add(second, "attic").expect("no file is in its way");
        }
    }

    #[test]
    fn failed_removal_can_be_repeated() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut members = members(folder.path());
        let read_by_the_server = folder.path().join("users.conf");
        fs::remove_file(&read_by_the_server).expect("a file");
        fs::create_dir(&read_by_the_server).expect("in its way");
        members.remove(MemberKind::Worker, "attic").expect_err("the server would not hear of it");
        fs::remove_dir(&read_by_the_server).expect("out of its way");
        let mut read = Members::open(folder.path()).expect("what was written");
        read.remove(MemberKind::Worker, "attic").expect("removed");
        assert!(!fs::read_to_string(read_by_the_server).expect("written").contains("attic"));
    }

    #[test]
    fn names_are_valid_and_unique() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut members = members(folder.path());
        assert!(matches!(members.add(MemberKind::Worker, "attic"), Err(MembersError::Known { .. })));
        assert!(matches!(members.add(MemberKind::Worker, "a.*"), Err(MembersError::Name(_))));
        let both = members.add(MemberKind::Worker, "daemon").expect("the kinds have names of their own");
        assert!(both.ends_with("daemon-worker.nk"));
        fs::write(folder.path().join("members.toml"), "[workers]\n\"a.*\" = \"U\"").expect("written");
        assert!(Members::open(folder.path()).is_err(), "a file that was tampered with");
    }
}
