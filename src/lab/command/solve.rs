//! `concilio lab solve`: whole players on test positions.

use std::{path::PathBuf, sync::atomic::AtomicBool};

use clap::Args;

use super::{Failure, inputs::SuiteSample, progress::Bars};
use crate::{
    player::{Pace, PlayerSpec},
    trials::{markdown, try_players},
};

/// Try whole players on test positions
#[derive(Debug, Args)]
#[command(
    after_help = "Every player chooses a move in every position, as in a new game; told are the best moves, the mates that it announces, and
the moves that allow a mate by checks. With a number of nodes, councils search in virtual time.

  concilio lab solve suites/wac.epd --player 'council:roster=nine-2,advisers=' --player 'council:roster=nine-2,advisers=mates checks' --pace nodes=3000

SUITE is EPD in any dialect (bm, am, the points of STS), or PGN: positions of games, of which no best move is known.
Players are written as for concilio lab match."
)]
pub(super) struct Solve {
    /// Suites: EPD or PGN, also in a zip file
    #[arg(required = true, value_name = "SUITE")]
    suites: Vec<PathBuf>,
    /// Players; the others are compared with the first
    #[arg(long, required = true, value_name = "PLAYER")]
    player: Vec<PlayerSpec>,
    /// What a move may cost: nodes=N or movetime=SECONDS
    #[arg(long, default_value = "nodes=3000", value_name = "PACE")]
    pace: Pace,
    #[command(flatten)]
    sample: SuiteSample,
    /// Of the order of games
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

impl Solve {
    /// Tries and prints.
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let positions = self.sample.of(&self.suites, self.seed)?;
        let mut bars = Bars::default();
        let trials = try_players(&self.player, &positions, self.pace, stop, |done, of| bars.at("positions", done, of));
        bars.end();
        let trials = trials.map_err(Failure::failed)?;
        if self.json {
            chess::outln!("{}", serde_json::to_string_pretty(&trials)?);
        } else {
            chess::print(format_args!("{}", markdown(&trials)));
        }
        Ok(())
    }
}
