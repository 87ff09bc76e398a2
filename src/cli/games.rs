//! `concilio games`: what the journal holds, as a table or for other programs.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{Failure, votes::write_votes};
use bot::journal::{Archive, ExportError, Filter, GameResult, write_csv, write_json, write_pgn, write_table};
use chess::{ServerName, Speed};

/// List and export the games of the journal
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio games                                   all games, newest last
  concilio games --opponent maia1 --result lost    what to learn from
  concilio games --since 2026-11-01 --pgn > november.pgn
  concilio games -n 1 --votes                      every vote of the last game
  concilio games --json | jq .moves                every move with every proposal")]
pub(super) struct Games {
    /// The journal to read
    #[arg(long, default_value = "data/journal.db", value_name = "FILE")]
    journal: PathBuf,
    /// Only games against this player
    #[arg(short, long, value_name = "NAME")]
    opponent: Option<String>,
    /// Only games with this result for us
    #[arg(short, long)]
    result: Option<ResultWord>,
    /// Only games at this speed
    #[arg(short, long, value_parser = parse_speed, value_name = "SPEED")]
    speed: Option<Speed>,
    /// Only games on this server, by its name in the settings
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Only games begun on this day or later
    #[arg(long, value_name = "YYYY-MM-DD")]
    since: Option<Date>,
    /// Only games begun before this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    until: Option<Date>,
    /// Only the newest so many
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,
    /// Write PGN
    #[arg(long, group = "format")]
    pgn: bool,
    /// Write one JSON object a line, with every move and proposal
    #[arg(long, group = "format")]
    json: bool,
    /// Write comma-separated values
    #[arg(long, group = "format")]
    csv: bool,
    /// Show every vote on our moves: who proposed what, and how it was elected
    #[arg(long, group = "format")]
    votes: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ResultWord {
    Won,
    Lost,
    Drawn,
}

fn parse_speed(text: &str) -> Result<Speed, String> {
    let known = || Speed::ALL.map(Speed::key).join(", ");
    Speed::ALL
        .into_iter()
        .find(|speed| speed.key().eq_ignore_ascii_case(text))
        .ok_or_else(|| format!("known: {}", known()))
}

impl Games {
    /// Prints what was asked for.
    pub(super) fn run(self) -> Result<(), Failure> {
        let archive = Archive::open(&self.journal)?;
        let games = archive.games(&self.filter()?)?;
        let stdout = io::stdout();
        let in_color = stdout.is_terminal();
        let mut out = BufWriter::new(stdout.lock());
        let written = if self.pgn {
            write_pgn(&archive, &games, &mut out)
        } else if self.json {
            write_json(&archive, &games, &mut out)
        } else if self.csv {
            write_csv(&games, &mut out).map_err(ExportError::Output)
        } else if self.votes {
            write_votes(&archive, &games, &mut out)
        } else {
            write_table(&games, in_color, &mut out).map_err(ExportError::Output)
        };
        match written.and_then(|()| out.flush().map_err(ExportError::Output)) {
            // Whoever reads has seen enough, as `head` does.
            Err(ExportError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }

    fn filter(&self) -> Result<Filter, Failure> {
        let midnight = |day: Option<Date>| -> Result<Option<Timestamp>, Failure> {
            let zoned = day.map(|day| day.to_zoned(TimeZone::system())).transpose()?;
            Ok(zoned.map(|zoned| zoned.timestamp()))
        };
        Ok(Filter {
            opponent: self.opponent.clone(),
            result: self.result.map(|word| match word {
                ResultWord::Won => GameResult::Won,
                ResultWord::Lost => GameResult::Lost,
                ResultWord::Drawn => GameResult::Drawn,
            }),
            speed: self.speed,
            server: self.server.as_deref().map(ServerName::new),
            since: midnight(self.since)?,
            until: midnight(self.until)?,
            limit: self.limit,
        })
    }
}
