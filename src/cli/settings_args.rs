use std::path::PathBuf;

use clap::Args;

use super::Failure;
use crate::settings::{Flag, Loaded, Problems, Sources};
use bot::journal::JournalSettings;
use web::WebSettings;

#[derive(Clone, Debug, Args)]
pub(super) struct SettingsArgs {
    /// The settings file (TOML; see config/example.toml); of several, the later overrides the earlier
    #[arg(short, long, global = true, env = "CONCILIO_CONFIG", value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Set one key, over the file and the environment; may be given several times
    #[arg(long = "set", global = true, value_parser = parse_setting, value_name = "KEY=VALUE")]
    set: Vec<Flag>,
}

fn parse_setting(text: &str) -> Result<Flag, String> {
    text.split_once('=')
        .map(|(key, value)| Flag { name: "--set", key: key.trim().to_owned(), text: value.trim().to_owned() })
        .ok_or_else(|| "expected KEY=VALUE, such as challenge.concurrency=2".to_owned())
}

impl SettingsArgs {
    pub(super) fn with(mut self, flags: impl IntoIterator<Item = Flag>) -> Self {
        self.set.extend(flags);
        self
    }

    pub(super) fn load(self) -> Result<Loaded, Failure> {
        self.sources()?.load().map_err(Failure::usage)
    }

    /// Returns the settings of the journal. Problems of other tables are ignored.
    pub(super) fn journal(self) -> Result<JournalSettings, Failure> {
        Ok(self.sources()?.load_tables(&["journal"]).map_err(Failure::usage)?.settings.journal)
    }

    /// Returns the page's settings. A mistake elsewhere in the settings hides no page.
    pub(super) fn web(self) -> Result<WebSettings, Failure> {
        Ok(self.sources()?.load_tables(&["web"]).map_err(Failure::usage)?.settings.web)
    }

    /// Returns the daemon's control socket, and the problems of the settings: a running daemon can
    /// be reached despite them.
    pub(super) fn control_socket(self) -> (PathBuf, Option<Problems>) {
        let lenient = Sources::of_process_leniently(&self.config, self.set.clone());
        let problems =
            Sources::of_process(&self.config, self.set).and_then(|sources| sources.load_tables(&["journal", "web"]));
        (lenient.load_leniently().control_socket(), problems.err())
    }

    fn sources(self) -> Result<Sources, Failure> {
        Sources::of_process(&self.config, self.set).map_err(Failure::usage)
    }
}

/// A journal.
#[derive(Clone, Debug, Args)]
pub(super) struct JournalArgs {
    /// The journal, instead of the one that the settings name
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    #[command(flatten)]
    pub settings: SettingsArgs,
}

impl JournalArgs {
    /// Returns the path of the journal. The settings are read only if they have to name it.
    pub(super) fn path(self) -> Result<PathBuf, Failure> {
        self.journal.map_or_else(|| self.settings.journal().map(|journal| journal.path), Ok)
    }
}
