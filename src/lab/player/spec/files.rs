//! The files that a player is made of.

use std::path::PathBuf;

use super::{PlayerKind, PlayerSpec};
use crate::program_files::files_of_program;
use council::electors::ElectorKind;

impl PlayerSpec {
    /// The files that its play depends on: programs with what they read, nets, a file of settings. What it writes is not among
    /// them.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = self.named_files.clone();
        match &self.kind {
            PlayerKind::Engine(_) => {}
            PlayerKind::Council(settings, roster, _) => {
                for elector in roster.electors().iter().chain(roster.advisers()) {
                    if let ElectorKind::Engine(program) = &elector.kind {
                        files.extend(files_of_program(program));
                    }
                }
                files.extend(settings.electors.iter().filter_map(|elector| elector.net.clone()));
            }
            PlayerKind::Uci { program, .. } | PlayerKind::Xboard(program) => files.extend(files_of_program(program)),
        }
        // What is built in has the empty path.
        files.retain(|file| !file.as_os_str().is_empty());
        files
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn files(text: &str) -> Vec<PathBuf> {
        text.parse::<PlayerSpec>().unwrap_or_else(|error| panic!("{error}")).files()
    }

    #[cfg(unix)]
    #[test]
    fn program_on_path_resolves_to_its_file() {
        let found = files("uci:sh,Hash=32");
        assert!(found.len() == 1 && found[0].is_absolute() && found[0].ends_with("sh"), "{found:?}");
    }

    #[cfg(unix)]
    #[test]
    fn engine_outputs_are_not_its_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("sf.log");
        fs::write(&log, "what was said").expect("writable");
        assert_eq!(files(&format!("uci:/bin/sh,Debug Log File={}", log.display())), [PathBuf::from("/bin/sh")]);
    }

    #[cfg(unix)]
    #[test]
    fn files_named_in_settings_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = folder.path().join("bot.toml");
        let text = "[council]\nroster = \"custom\"\nelectors = [{ knowledge = \"mp\" }, { engine = \"/bin/sh\" }]\n";
        fs::write(&settings, text).expect("writable");
        let found = files(&format!("council:file={}", settings.display()));
        assert_eq!(found, [settings, PathBuf::from("/bin/sh")]);
        assert!(files("council:balanced-7").is_empty() && files("engine:mp").is_empty());
    }
}
