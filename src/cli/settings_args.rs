//! Where the settings come from, as every command that reads them is told.

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use crate::settings::{Flag, Loaded, Sources};

/// Where the settings come from.
#[derive(Clone, Debug, Args)]
pub(super) struct SettingsArgs {
    /// The settings file (TOML; see config/example.toml); of several, the later overrides the earlier
    #[arg(short, long, env = "CONCILIO_CONFIG", value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Set one key, over the file and the environment; may be given several times
    #[arg(long = "set", value_parser = parse_setting, value_name = "KEY=VALUE")]
    set: Vec<Flag>,
}

fn parse_setting(text: &str) -> Result<Flag, String> {
    text.split_once('=')
        .map(|(key, value)| Flag { name: "--set", key: key.trim().to_owned(), text: value.trim().to_owned() })
        .ok_or_else(|| "expected KEY=VALUE, such as challenge.concurrency=2".to_owned())
}

impl SettingsArgs {
    /// The same with more keys set on the command line.
    pub(super) fn with(mut self, flags: impl IntoIterator<Item = Flag>) -> Self {
        self.set.extend(flags);
        self
    }

    /// Reads the settings from all layers.
    ///
    /// # Errors
    /// Wrong usage, with every mistake in one line.
    pub(super) fn load(self) -> Result<Loaded, Failure> {
        let sources = Sources::of_process(&self.config, self.set).map_err(Failure::usage)?;
        sources.load().map_err(Failure::usage)
    }
}
