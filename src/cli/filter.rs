use std::path::PathBuf;

use clap::{Args, builder::PossibleValuesParser};
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{Failure, settings_args::JournalArgs};
use bot::journal::{Filter, GameResult};
use domain::{ServerName, Speed};

/// A journal and a selection of its games; all of them by default.
#[derive(Clone, Debug, Args)]
pub(super) struct FilterArgs {
    #[command(flatten)]
    journal: JournalArgs,
    /// Only games against this player
    #[arg(short, long, value_name = "NAME")]
    opponent: Option<String>,
    /// Only games with this result for the bot
    #[arg(short, long, value_parser = PossibleValuesParser::new(GameResult::ALL.map(GameResult::word)))]
    result: Option<String>,
    /// Only games at this speed
    #[arg(short, long, value_parser = parse_speed, value_name = "SPEED")]
    speed: Option<Speed>,
    /// Only games on this server, by its name in the settings
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Only games begun on this day or later
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_day)]
    since: Option<Date>,
    /// Only games begun before this day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_day)]
    until: Option<Date>,
    /// Show only the N newest games
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,
}

fn parse_day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "expected a day such as 2026-11-01".to_owned())
}

fn parse_speed(text: &str) -> Result<Speed, String> {
    let known = || Speed::ALL.map(Speed::key).join(", ");
    Speed::ALL
        .into_iter()
        .find(|speed| speed.key().eq_ignore_ascii_case(text))
        .ok_or_else(|| format!("known: {}", known()))
}

impl FilterArgs {
    /// Returns the path of the journal: with `--journal` no settings are needed.
    pub(super) fn journal(&self) -> Result<PathBuf, Failure> {
        self.journal.clone().path()
    }

    pub(super) fn filter(&self) -> Result<Filter, Failure> {
        let midnight = |day: Option<Date>| -> Result<Option<Timestamp>, Failure> {
            let zoned = day.map(|day| day.to_zoned(TimeZone::system())).transpose()?;
            Ok(zoned.map(|zoned| zoned.timestamp()))
        };
        Ok(Filter {
            opponent: self.opponent.clone(),
            result: self.result.as_deref().and_then(GameResult::from_word),
            speed: self.speed,
            server: self.server.as_deref().map(ServerName::new),
            since: midnight(self.since)?,
            until: midnight(self.until)?,
            limit: self.limit,
        })
    }
}
