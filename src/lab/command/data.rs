//! `concilio lab data`: labelled positions.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
    num::NonZeroUsize,
    path::PathBuf,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use clap::Args;

use super::{Failure, inputs::or_each_core};
use crate::data::{DataPlan, DataProgress, TeacherEffort, generate};
use council::pool::UciProgram;

/// Make labelled positions for `lab tune` out of the engine's own games
#[derive(Debug, Args)]
#[command(
    after_help = "Stop with Ctrl-C, go on with the same command. Some engines do not obey a number of nodes; give those a depth:
  concilio lab data --teacher stockfish --output games.txt
  concilio lab data --teacher ethereal-chess --teacher-depth 8 --scale 200 --seed 2 --output more.txt"
)]
pub(super) struct MakeData {
    /// Where the positions go, and from where they are continued
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// The UCI engine that says what positions are worth
    #[arg(long, value_name = "PROGRAM")]
    teacher: PathBuf,
    /// An argument for the teacher; may be repeated
    #[arg(long = "teacher-argument", value_name = "TEXT", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// An option to set in the teacher, as Name=Value; may be repeated
    #[arg(long = "teacher-option", value_parser = parse_option, value_name = "NAME=VALUE")]
    options: Vec<(String, String)>,
    /// What the teacher may spend on a position
    #[arg(long, default_value_t = 1200, value_parser = clap::value_parser!(u64).range(1..), value_name = "NODES")]
    teacher_nodes: u64,
    /// Plies for the teacher, in place of nodes
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "PLIES")]
    teacher_depth: Option<u32>,
    /// So many positions are wanted
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    positions: u64,
    /// Nodes of each move of the games
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    nodes: u64,
    /// The part of a label that is the result of the game; the rest is the teacher's
    #[arg(long, default_value_t = 0.2, value_parser = parse_share, value_name = "0 TO 1")]
    result_share: f64,
    /// The teacher's score for which 73 % are expected, centipawns
    #[arg(long, default_value_t = 140.0, value_parser = parse_scale, value_name = "CP")]
    scale: f64,
    /// The part of the quiet positions that is used
    #[arg(long, default_value_t = 0.5, value_parser = parse_share, value_name = "0 TO 1")]
    keep: f64,
    /// Of the openings
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Games at once [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl MakeData {
    /// Plays and labels until there are enough or `stop` is set.
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let plan = DataPlan {
            teacher: UciProgram {
                path: self.teacher,
                arguments: self.arguments,
                options: BTreeMap::from_iter(self.options),
            },
            effort: self.teacher_depth.map_or(TeacherEffort::Nodes(self.teacher_nodes), TeacherEffort::Depth),
            positions: self.positions,
            nodes: self.nodes,
            result_share: self.result_share,
            scale: self.scale,
            keep: self.keep,
            seed: self.seed,
            threads: or_each_core(self.threads),
        };
        let mut shown: Option<Instant> = None;
        // A log file needs fewer lines than a terminal.
        let pause = Duration::from_secs(if io::stderr().is_terminal() { 1 } else { 60 });
        generate(&plan, &self.output, stop, |progress| {
            if progress.positions >= plan.positions || shown.is_none_or(|last| last.elapsed() >= pause) {
                shown = Some(Instant::now());
                show(progress, plan.positions);
            }
        })?;
        chess::outln!("wrote {}", self.output.display());
        Ok(())
    }
}

fn show(progress: &DataProgress, wanted: u64) {
    let DataProgress { positions, games, left } = progress;
    let left = left.map_or_else(String::new, |left| format!(", {} s left", left.as_secs()));
    let end = if io::stderr().is_terminal() && *positions < wanted { "    \r" } else { "\n" };
    eprint!("{positions} of {wanted} positions, {games} games{left}{end}");
    let _ = io::stderr().flush();
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("Name=Value is wanted")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn parse_share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "a number from 0 to 1 is wanted".to_owned())
}

fn parse_scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale: &f64| scale.is_finite() && *scale > 0.0);
    scale.ok_or_else(|| "a number above 0 is wanted".to_owned())
}
