//! The games beside chess. No other file of the command line knows them: their packages bring the command, the demo, the tab
//! of the page, and the texts of the journal's games.

use std::{io::Write, path::Path};

use clap::{Args, Subcommand, ValueEnum};

use super::{Failure, settings_args::SettingsArgs, view::Picture};
use bot::journal::{Archive, ExportError, GameRecord};
use domain::TimeControl;
use draughts::command::{DraughtsCommand, Screen, play_demo, write_pdn};
use web::PagePart;

pub(super) use draughts::{command::line_of, page::routes};

pub(super) const PARTS: &[PagePart] = &[draughts::page::PART];

#[derive(Debug, Subcommand)]
pub(super) enum OtherGameCommand {
    /// Play Italian draughts against the council, and what else there is to do with that game
    Draughts(Box<DraughtsCommand<SettingsArgs>>),
}

impl OtherGameCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let Self::Draughts(draughts) = self;
        draughts.run(SettingsArgs::journal).await
    }
}

/// The games of `concilio demo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DemoGame {
    /// The whole program against a practice server.
    Chess,
    /// One game of Italian draughts: the council against a strategy, without servers.
    Draughts,
}

impl DemoGame {
    /// Plays a game that is not chess, with its files in `folder`. `None` for chess.
    pub(super) async fn play(self, tc: TimeControl, folder: &Path) -> Option<Result<(), Failure>> {
        match self {
            Self::Chess => None,
            Self::Draughts => Some(play_demo(tc, folder, Picture::new()).await),
        }
    }
}

impl Screen for Picture {
    fn show(&mut self, draw: &dyn Fn() -> Vec<String>) {
        self.paint(draw);
    }

    fn tell(&mut self, lines: &[String]) {
        self.print(lines);
    }
}

/// The formats of `concilio games` for games that have no PGN.
#[derive(Debug, Args)]
pub(super) struct OtherFormats {
    /// Write the games of draughts as PDN, with the votes as comments
    #[arg(long, group = "format")]
    pdn: bool,
}

impl OtherFormats {
    pub(super) const HINT: &str = "--pdn writes those of draughts";

    pub(super) const fn is_chosen(&self) -> bool {
        self.pdn
    }

    pub(super) fn write(
        archive: &Archive,
        games: &[GameRecord<String>],
        out: &mut impl Write,
    ) -> Result<(), ExportError> {
        write_pdn(archive, games, out)
    }
}
