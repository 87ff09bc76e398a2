//! The `cluster` table: where the NATS server is and how it knows us. Daemons and workers have the same.

use std::path::PathBuf;

use async_nats::ServerAddr;

use super::subjects::{is_member_name, is_prefix};
use util::{
    Fault,
    values::{WholeNumber, named},
};

util::settings! {
    /// Connection to the workers. Secrets stand in files, in the environment or among systemd's
    /// credentials, never here.
    #[derive(Eq)]
    pub struct ClusterSettings {
        /// The NATS server: "nats://HOST:4222", or "tls://HOST:4222"; several of one NATS cluster with
        /// commas between them. Empty: this machine alone.
        pub nats: String = String::new(),
        /// NATS subject prefix; clusters with different ones do not see each other.
        pub prefix: String = "concilio".to_owned(),
        /// Name of this machine: up to 64 letters, digits, - and _; with a key of `concilio cluster
        /// add-daemon` the name that it was made for. Empty is the name of the host.
        pub name: String = String::new(),
        /// For a worker alone: the daemons that it serves, by name. Empty: all that call, at a server
        /// without keys; with keys each must be named.
        pub daemons: Vec<String> = Vec::new(),
        /// A user, where the server wants user and password.
        pub user: String = String::new(),
        /// The file with the password; without it CONCILIO_NATS_PASSWORD counts, then systemd's
        /// credential nats-password.
        pub password_file: PathBuf = PathBuf::new(),
        /// The file with the token, where the server wants one; without it CONCILIO_NATS_TOKEN counts,
        /// then systemd's credential nats-token.
        pub token_file: PathBuf = PathBuf::new(),
        /// The file with the seed of an nkey, as `concilio cluster` makes them.
        pub nkey_file: PathBuf = PathBuf::new(),
        /// A file of credentials (.creds).
        pub credentials_file: PathBuf = PathBuf::new(),
        /// TLS: certificates by which the server is known, beside those of the system. PEM.
        pub ca_file: PathBuf = PathBuf::new(),
        /// TLS: certificate of this machine, where the server wants one. PEM.
        pub certificate_file: PathBuf = PathBuf::new(),
        /// TLS: the key of that certificate. PEM.
        pub key_file: PathBuf = PathBuf::new(),
        /// Maximum messages a second between a daemon and a worker, each way, about their transposition
        /// tables; 0: none. 0 to 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub table_messages: u32 = 20,
        /// Maximum bytes a second of those messages together. 0 to 10000000.
        #[serde(with = "WholeNumber::<0, 10_000_000>")]
        pub table_bytes: u32 = 10_240,
    }
}

impl ClusterSettings {
    pub fn is_on(&self) -> bool {
        !self.nats.is_empty()
    }

    /// Returns our name.
    pub fn name(&self) -> String {
        if self.name.is_empty() { super::identity::host_name() } else { self.name.clone() }
    }

    /// The servers. `None` if one is no address.
    pub fn servers(&self) -> Option<Vec<ServerAddr>> {
        let address = |text: &str| {
            let known = text.contains("://").then(|| text.split("://").next()).flatten();
            let speaks = matches!(known, None | Some("nats" | "tls"));
            // A single word is more likely a mistake than the name of a host.
            let is_address = known.is_some() || text == "localhost" || text.contains(['.', ':']);
            text.parse::<ServerAddr>().ok().filter(|_| speaks && is_address && !text.contains('@'))
        };
        self.nats.split(',').map(str::trim).map(address).collect()
    }

    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.is_on() && self.servers().is_none() {
            let accepted =
                "nats://HOST:4222 or tls://HOST:4222, several with commas between them, and no password in it";
            faults.push(Fault::value("nats", accepted));
        }
        if !is_prefix(&self.prefix) {
            faults.push(Fault::value("prefix", "letters, digits, - and _, with dots between names"));
        }
        if !(self.name.is_empty() || is_member_name(&self.name)) {
            faults.push(Fault::value("name", "up to 64 letters, digits, - and _"));
        }
        if !self.daemons.iter().all(|name| is_member_name(name)) {
            faults.push(Fault::value("daemons", "names of letters, digits, - and _"));
        }
        let missing = self.files().into_iter().filter(|(_, path)| named(path).is_some_and(|path| !path.is_file()));
        faults.extend(missing.map(|(key, _)| Fault::value(key, "a file that exists")));
        if named(&self.certificate_file).is_some() != named(&self.key_file).is_some() {
            faults.push(Fault::value("key_file", "a key for the certificate_file, and no key without it"));
        }
        faults
    }

    fn files(&self) -> [(&'static str, &PathBuf); 7] {
        [
            ("password_file", &self.password_file),
            ("token_file", &self.token_file),
            ("nkey_file", &self.nkey_file),
            ("credentials_file", &self.credentials_file),
            ("ca_file", &self.ca_file),
            ("certificate_file", &self.certificate_file),
            ("key_file", &self.key_file),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut ClusterSettings)) -> Vec<Fault> {
        let mut settings = ClusterSettings { nats: "nats://127.0.0.1:4222".to_owned(), ..ClusterSettings::default() };
        change(&mut settings);
        settings.faults()
    }

    #[test]
    fn addresses_are_checked_first() {
        for good in ["", "localhost", "nats://a:4222", "tls://a:4222, nats://b", "[::1]:4222"] {
            assert_eq!(with(|settings| settings.nats = good.to_owned()), [], "{good}");
        }
        for bad in ["foo", "http://a:4222", "nats://user:secret@a:4222", "nats://a:port", "a,,b"] {
            assert_eq!(with(|settings| settings.nats = bad.to_owned()).len(), 1, "{bad}");
        }
    }

    #[test]
    fn files_must_be_there() {
        assert_eq!(with(|settings| settings.ca_file = "nowhere.pem".into()).len(), 1);
        assert_eq!(with(|settings| settings.key_file = "Cargo.toml".into()).len(), 1);
        assert_eq!(with(|settings| settings.prefix = "a.*".into()).len(), 1);
    }

    #[test]
    fn a_name_is_a_word_of_the_subjects() {
        assert_eq!(with(|settings| settings.name = "attic-1".into()), []);
        assert_eq!(with(|settings| settings.name = "attic.*".into()).len(), 1);
        assert_eq!(with(|settings| settings.daemons = vec![">".into()]).len(), 1);
    }
}
