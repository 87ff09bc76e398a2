//! `concilio games`: what the journal holds, as a table or for other programs.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{Failure, run::SettingsArgs, votes::write_votes};
use bot::journal::{
    Archive, ExportError, Filter, GameRecord, GameResult, write_csv, write_json, write_pgn, write_table,
};
use chess::{ServerName, Speed, outln, print, printable};

/// List and export the games of the journal
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio games                                   all games, newest last
  concilio games --opponent maia1 --result lost    what to learn from
  concilio games --since 2026-11-01 --pgn > november.pgn
  concilio games -n 1 --votes                      every vote of the last game
  concilio games --json | jq .moves                every move with every proposal")]
pub(super) struct GamesCommand {
    /// The journal to read, instead of the one that the settings name
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArgs,
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

impl GamesCommand {
    /// Prints what was asked for.
    pub(super) fn run(self) -> Result<(), Failure> {
        let archive = Archive::open(&self.journal()?)?;
        let games = archive.games(&self.filter()?)?;
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            let mut out = BufWriter::new(stdout.lock());
            let written = self.write(&archive, &games, &mut out);
            return match written.and_then(|()| out.flush().map_err(ExportError::Output)) {
                // Whoever reads has seen enough, as `head` does.
                Err(ExportError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                Err(ExportError::Output(error)) => Err(Failure::failed(format_args!("standard output: {error}"))),
                other => Ok(other?),
            };
        }
        if self.is_table() {
            let mut table = Vec::new();
            write_table(&games, true, &mut table)?;
            print(format_args!("{}", String::from_utf8_lossy(&table)));
            return Ok(());
        }
        let mut text = Vec::new();
        self.write(&archive, &games, &mut text)?;
        // Opponents choose their names, and these formats hold them as they are.
        String::from_utf8_lossy(&text).lines().for_each(|line| outln!("{}", printable(line)));
        Ok(())
    }

    fn is_table(&self) -> bool {
        !(self.pgn || self.json || self.csv || self.votes)
    }

    fn write(&self, archive: &Archive, games: &[GameRecord], out: &mut impl Write) -> Result<(), ExportError> {
        if self.pgn {
            write_pgn(archive, games, out)
        } else if self.json {
            write_json(archive, games, out)
        } else if self.csv {
            write_csv(games, out).map_err(ExportError::Output)
        } else if self.votes {
            write_votes(archive, games, out)
        } else {
            write_table(games, false, out).map_err(ExportError::Output)
        }
    }

    /// Where the journal is: what `--journal` says needs no settings.
    fn journal(&self) -> Result<PathBuf, Failure> {
        match &self.journal {
            Some(path) => Ok(path.clone()),
            None => Ok(self.settings.clone().load()?.settings.journal.path),
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
