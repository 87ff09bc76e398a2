//! `correspondence`: whether blitz moves leave later beside correspondence games.

use std::time::Duration;

use clap::Args;

use super::{Failure, latency::milliseconds, progress::ProgressDisplay};
use crate::{correspondence::play, daemon_program::DaemonProgram, stats::quantile};

/// Times of the daemon's blitz moves beside correspondence games, and without them
#[derive(Debug, Args)]
#[command(
    after_help = "The daemon plays two blitz games at a time on a practice server, with 0.25 s a move: an eighth of the time
alone, then beside the correspondence games with 2 s a move, then an eighth alone again. Prints a Markdown
table, ms from the opponent's move to the bot's. Exit code 1 if a correspondence move is not made."
)]
pub struct MeasureCorrespondence {
    #[command(flatten)]
    program: DaemonProgram,
    /// Correspondence games beside the blitz games
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=100), value_name = "N")]
    games: u16,
    /// Time beside them, in minutes
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "MINUTES")]
    minutes: u32,
}

impl MeasureCorrespondence {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let program = self.program.path()?;
        let beside = Duration::from_secs(60) * self.minutes;
        let mut progress = ProgressDisplay::new(3, "turns");
        let (before, _) = play(&program, beside / 8, 0).await?;
        progress.at(1, String::new);
        let (blitz, correspondence) = play(&program, beside, usize::from(self.games)).await?;
        progress.at(2, String::new);
        let (after, _) = play(&program, beside / 8, 0).await?;
        progress.end();
        util::outln!("| ms | moves | p50 | p90 | p99 | longest |\n|---|---|---|---|---|---|");
        print("blitz alone, before", &before);
        print("blitz alone, after", &after);
        print(&format!("blitz beside {} correspondence games", self.games), &blitz);
        util::outln!("\n{correspondence} correspondence moves; none was left to make");
        Ok(())
    }
}

/// Prints a row; the times are sorted.
fn print(name: &str, times: &[Duration]) {
    let figures = [0.5, 0.9, 0.99, 1.0].map(|part| format!(" {:.1} |", milliseconds(quantile(times, part))));
    util::outln!("| {name} | {} |{}", times.len(), figures.concat());
}
