use std::{
    collections::HashMap,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Subcommand;
use jiff::Timestamp;

use super::{Failure, runtime, settings_args::SettingsArgs};
use crate::settings::import::{ForeignBot, Import};
use bot::policy::{
    ChallengeVerdict, RateLimits,
    challenge::{self, ChallengeContext},
};
use domain::{Challenge, ServerEvent};
use platform::lichess;
use util::print;

#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  concilio config check --config bot.toml
  CONCILIO__CHALLENGE__CONCURRENCY=4 concilio config check --set player.council.roster=balanced-7
  concilio config import lichess-bot config.yml --output bot.toml
  concilio config judge --config bot.toml challenges.ndjson")]
pub(super) enum ConfigCommand {
    /// Check the settings and print what is in effect, and where each value comes from
    Check {
        #[command(flatten)]
        settings: SettingsArgs,
    },
    /// Tell how the settings answer challenges, as an idle bot would
    Judge {
        #[command(flatten)]
        settings: SettingsArgs,
        /// Challenges of Lichess' event stream: a JSON object a line
        challenges: PathBuf,
    },
    /// Make a settings file of another bot's
    Import {
        /// Bot whose settings are converted
        bot: ForeignBot,
        /// Its file, such as config.yml
        file: PathBuf,
        /// Output file, with the token beside it in lichess.token; existing files are not touched.
        /// Without it the settings are printed, and the token is not
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

impl ConfigCommand {
    /// Runs the action; every mistake is one line.
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Check { settings } => check(settings),
            Self::Judge { settings, challenges } => judge(settings, &challenges),
            Self::Import { bot, file, output } => import(bot, &file, output.as_deref()),
        }
    }
}

fn check(settings: SettingsArgs) -> Result<(), Failure> {
    let loaded = settings.load()?;
    runtime::check(&loaded.settings)?;
    print(format_args!("{}", loaded.to_toml()));
    eprintln!("no mistake was found");
    Ok(())
}

/// Prints one line a challenge: accepted or declined, with the reason for the server and the one in words. Lists of names are not
/// fetched from URLs.
fn judge(settings: SettingsArgs, challenges: &Path) -> Result<(), Failure> {
    let unreadable = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", challenges.display()));
    let text = fs::read_to_string(challenges).map_err(|error| unreadable(&error))?;
    let settings = settings.load()?.settings;
    let names = settings.name_lists().map_err(|error| Failure::usage(error.to_string()))?;
    let variants = runtime::playable(&settings)?;
    let context = ChallengeContext {
        now: &Timestamp::now().to_zoned(settings.zone()),
        variants: &variants,
        lists: &names,
        places: &[],
        last_start: None,
        opponents: &HashMap::new(),
        rate_limits: &RateLimits::default(),
        waiting: 0,
        closed: None,
    };
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let challenge = to_us(line).map_err(|error| unreadable(&error))?;
        let verdict = match challenge::judge(&challenge, &settings.challenge, &context) {
            ChallengeVerdict::Accept => "accepted".to_owned(),
            ChallengeVerdict::Wait { why, .. } => format!("accepted later: {why}"),
            ChallengeVerdict::Decline { reason, why } => format!("declined ({}): {why}", reason.key()),
            ChallengeVerdict::Ignore => "ignored: the bot made it".to_owned(),
        };
        print(format_args!("{} {verdict}\n", challenge.id));
    }
    Ok(())
}

/// Reads a challenge as the account it is made to sees it.
fn to_us(line: &str) -> Result<Challenge, String> {
    let event: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let us = event.pointer("/challenge/destUser/id").and_then(|id| id.as_str()).unwrap_or_default();
    match lichess::lines::event(line, us) {
        Ok(ServerEvent::Challenge(challenge)) => Ok(challenge),
        Ok(_) => Err("expected events of type \"challenge\"".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn import(bot: ForeignBot, file: &Path, output: Option<&Path>) -> Result<(), Failure> {
    let about = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| about(&error))?;
    // Paths in settings are relative to the working folder, not to the settings.
    let token_file =
        output.map_or_else(|| Import::TOKEN_FILE.into(), |output| output.with_file_name(Import::TOKEN_FILE));
    let import = Import::read(bot, &text, &token_file.to_string_lossy()).map_err(|error| about(&error))?;
    let Some(output) = output else {
        print(format_args!("{}", import.text));
        if import.token.is_some() {
            eprintln!("token not shown: put it into {}, or write both with --output FILE", Import::TOKEN_FILE);
        }
        return Ok(());
    };
    let written =
        |path: &Path, error: io::Error| Failure::usage(format!("{} cannot be written: {error}", path.display()));
    if let Some(token) = &import.token {
        if output.exists() {
            return Err(written(output, io::ErrorKind::AlreadyExists.into()));
        }
        write_new(&token_file, &format!("{}\n", token.reveal()), 0o600).map_err(|error| written(&token_file, error))?;
    }
    write_new(output, &import.text, 0o644).map_err(|error| written(output, error))?;
    eprintln!(
        "wrote {}; {} options of {} have no counterpart and are listed in it. To see the effective settings: concilio config check --config {}",
        output.display(),
        import.left_out,
        file.display(),
        output.display(),
    );
    Ok(())
}

/// Writes a new file, with the permissions `mode` on Unix.
fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)?.write_all(text.as_bytes())
}
