//! `concilio-lab tune`: fits the weights of the evaluation.

use std::{
    fs::{self, File},
    io::BufReader,
    num::NonZeroUsize,
    path::PathBuf,
    sync::atomic::AtomicBool,
};

use clap::Args;

use super::{
    Failure,
    inputs::{from_zero, or_each_core, tell_bad_lines},
};
use crate::training::dataset::{Mixture, read_folder};
use crate::tune::{LabelledPositions, TunePlan, tune};
use engine::{
    Heuristic, IN_FULL, Knowledge,
    evaluation::{Recipe, WEIGHTS},
};

/// Fit the weights of the engine's evaluation to labelled positions
#[derive(Debug, Args)]
#[command(
    after_help = "POSITIONS is a folder of `concilio-lab data` or `concilio-lab label`, or a file with one position a line: a FEN, a semicolon,
and the score that white should expect, from 0 (lost) to 1 (won): the result of the game, or a probability.
# begins a comment.
  r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3;0.55
The last tenth is held out, so keep the positions of a game together.

Fit, stop with Ctrl-C, go on with the same command, then build the engine with the outcome:
  concilio-lab tune --positions labelled --state tune.state \\
    --output src/engine/evaluation/weights.rs
  cargo build --release"
)]
pub(super) struct Tune {
    /// The labelled positions
    #[arg(long, value_name = "FOLDER|FILE")]
    positions: PathBuf,
    /// Target value of a position in a folder: the weights of the own search's score, of the
    /// teacher's and of the game's result, and the score in centipawns for which 73 % are expected
    #[arg(long, default_value_t = Mixture::default(), value_name = "own=X,teacher=X,result=X,scale=CP")]
    labels: Mixture,
    /// Output file of the weights, as Rust source: src/engine/evaluation/weights.rs, or a file in
    /// subsets/ beside it
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// State file, written after every epoch, from which a stopped fit continues
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Passes over the positions
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    epochs: u32,
    /// The longest step of a weight at the start, centipawns
    #[arg(long, default_value_t = 1.2, value_parser = from_zero::<f64>, value_name = "X")]
    rate: f64,
    /// Strength of the pull towards the current weights; 0 turns it off
    #[arg(long, default_value_t = 1e-3, value_parser = from_zero::<f64>, value_name = "X")]
    pull: f64,
    /// Threads at work [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Fit only what an instance with this knowledge counts; it must have material
    #[arg(long, default_value_t = Knowledge::COMPLETE, value_parser = parse_knowledge, value_name = "LETTERS")]
    knowledge: Knowledge,
    /// Random seed of the order of the positions
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

impl Tune {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let positions = self.read()?;
        let plan = TunePlan {
            epochs: self.epochs,
            rate: self.rate,
            pull: self.pull,
            threads: or_each_core(self.threads),
            seed: self.seed,
        };
        let fitted = tune(&positions, &WEIGHTS, &plan, self.state.as_deref(), stop, |progress| {
            if progress.left.is_none() {
                eprintln!("expected score: 1 / (1 + exp(-centipawns / {:.0}))", 1.0 / progress.scaling);
            }
            let left = progress.left.map_or_else(String::new, |left| format!(", {} s left", left.as_secs()));
            eprintln!(
                "epoch {}/{}: loss {:.6}, held out {:.6}{left}",
                progress.epoch, self.epochs, progress.training, progress.held_out
            );
        });
        let weights = fitted?;
        let source = if self.knowledge == Knowledge::COMPLETE {
            weights.to_source()
        } else {
            weights.difference_to_source(&WEIGHTS, self.knowledge)
        };
        fs::write(&self.output, source)
            .map_err(|error| Failure::failed(format_args!("--output {}: {error}", self.output.display())))?;
        util::outln!("wrote {}; build the engine with it and let it play before you believe it", self.output.display());
        Ok(())
    }

    fn read(&self) -> Result<LabelledPositions, Failure> {
        let recipe = Recipe::new(self.knowledge, IN_FULL);
        if self.positions.is_dir() {
            let records = read_folder(&self.positions)?;
            let positions = LabelledPositions::of_records(&records, &self.labels, &recipe);
            eprintln!("{} positions of {}", positions.len(), records.len());
            return Ok(positions);
        }
        let unreadable = |error| Failure::usage(format_args!("--positions {}: {error}", self.positions.display()));
        let file = BufReader::new(File::open(&self.positions).map_err(unreadable)?);
        let (positions, skipped) = LabelledPositions::read(file, &recipe).map_err(unreadable)?;
        tell_bad_lines(&self.positions, &skipped);
        eprintln!("{} positions, {} lines skipped", positions.len(), skipped.len());
        Ok(positions)
    }
}

/// Parses knowledge with material: without it a fifth of it would still count, unknown to the fit.
fn parse_knowledge(text: &str) -> Result<Knowledge, String> {
    let knowledge: Knowledge = text.parse()?;
    if knowledge.has(Heuristic::Material) { Ok(knowledge) } else { Err("a set with m is wanted".to_owned()) }
}
