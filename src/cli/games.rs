use std::io::{self, BufWriter, IsTerminal, Write};

use clap::Args;

use super::{Failure, filter::FilterArgs, other_games::OtherFormats, votes::write_votes};
use bot::journal::{Archive, ExportError, Filter, GameRecord, write_csv, write_json, write_pgn, write_table};
use domain::Variant;
use util::{outln, print, printable};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio games                                   all games, newest last
  concilio games --opponent maia1 --result lost    what to learn from
  concilio games --since 2026-11-01 --pgn > november.pgn
  concilio games -n 1 --votes                      every vote of the last game
  concilio games --json | jq .moves                every move with every proposal")]
pub(super) struct GamesCommand {
    #[command(flatten)]
    filter: FilterArgs,
    /// Write the games of chess as PGN
    #[arg(long, group = "format")]
    pgn: bool,
    #[command(flatten)]
    other: OtherFormats,
    /// Write one JSON object a line, with every move and proposal
    #[arg(long, group = "format")]
    json: bool,
    /// Write comma-separated values
    #[arg(long, group = "format")]
    csv: bool,
    /// Show every vote: who proposed what, and how the move was elected
    #[arg(long, group = "format")]
    votes: bool,
}

impl GamesCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let archive = Archive::open(&self.filter.journal()?)?;
        let filter = self.filter.filter()?;
        let games = archive.games_of_all_kinds(&filter)?;
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            let mut out = BufWriter::new(stdout.lock());
            let written = self.write(&archive, &filter, &games, &mut out);
            return match written.and_then(|()| out.flush().map_err(ExportError::Output)) {
                // The reader has seen enough, as `head` does.
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
        self.write(&archive, &filter, &games, &mut text)?;
        // Opponents choose their names, and these formats hold them as they are.
        String::from_utf8_lossy(&text).lines().for_each(|line| outln!("{}", printable(line)));
        Ok(())
    }

    fn is_table(&self) -> bool {
        !(self.pgn || self.other.is_chosen() || self.json || self.csv || self.votes)
    }

    fn write(
        &self,
        archive: &Archive,
        filter: &Filter,
        games: &[GameRecord<String>],
        out: &mut impl Write,
    ) -> Result<(), ExportError> {
        if self.pgn {
            let others = games.iter().filter(|game| game.variant.parse::<Variant>().is_err()).count();
            if others > 0 {
                let hint = OtherFormats::HINT;
                tracing::warn!("{others} of these games are not chess and have no PGN; {hint}");
            }
            write_pgn(archive, &archive.games(filter)?, out)
        } else if self.other.is_chosen() {
            OtherFormats::write(archive, games, out)
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
}
