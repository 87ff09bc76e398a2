//! `concilio-lab data`, `label` and `train`: positions of own games, what a teacher says of them, and a net that learns it.

use std::{
    collections::BTreeMap,
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use clap::Args;

use super::{
    Failure,
    inputs::{from_zero, or_each_core},
    progress::{ProgressDisplay, write},
};
use crate::training::{
    Record,
    dataset::{Dataset, DatasetSelection, Mixture, read_folder},
    label,
    selfplay::{self, generate},
    trainer::{self, Course, Losses, TrainingOutcome, curve, quantise, train, validate_net},
};
use crate::uci_teacher::{TeacherEffort, TeacherPlan, UciTeacher};
use council::electors::{EngineProgram, net_file};
use engine::{
    IN_FULL, Knowledge,
    evaluation::Recipe,
    net::{BLOCK, Header, LARGEST_WIDTH, Mask, Net, Weights},
};

/// Play games of the engine against itself, and keep the quiet positions with their scores and the results
#[derive(Debug, Args)]
#[command(
    after_help = "Stop with Ctrl-C, go on with the same command; the same command makes the same files. Then a teacher, and a net:
  concilio-lab data --output games --games 50000
  concilio-lab label games --teacher stockfish --output labelled
  concilio-lab train labelled --output n.net"
)]
pub(super) struct MakeData {
    /// The folder that is filled with files of positions
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
    /// Games to play, rounded up to whole files
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    games: u64,
    /// Games in a file
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    games_per_file: u32,
    /// Nodes of each move
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    nodes: u64,
    /// The part of the quiet positions that is kept
    #[arg(long, default_value_t = 1.0, value_parser = parse_share, value_name = "0 TO 1")]
    keep: f64,
    /// Random seed of the openings
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Games at once [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl MakeData {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let plan = selfplay::Plan {
            nodes: self.nodes,
            seed: self.seed,
            keep: self.keep,
            games_per_shard: self.games_per_file,
        };
        let files = self.games.div_ceil(u64::from(self.games_per_file));
        let display = Mutex::new(ProgressDisplay::new(files as usize, "files"));
        generate(&plan, &self.output, files, or_each_core(self.threads), stop, |done| {
            if let Ok(mut display) = display.lock() {
                display.at(done.shards as usize, || format!("{} positions", done.positions));
            }
        })?;
        if let Ok(display) = display.into_inner() {
            display.end();
        }
        whole(stop)?;
        util::outln!("wrote {}", self.output.display());
        Ok(())
    }
}

/// Let a UCI engine say what the positions of a folder are worth, beside what is said of them already
#[derive(Debug, Args)]
#[command(
    after_help = "Stop with Ctrl-C, go on with the same command. Some engines do not obey a number of nodes; give those a depth:
  concilio-lab label games --teacher stockfish --output labelled
  concilio-lab label games --teacher ethereal-chess --teacher-depth 8 --output labelled"
)]
pub(super) struct LabelData {
    /// The folder that `concilio-lab data` has filled
    #[arg(value_name = "FOLDER")]
    from: PathBuf,
    /// The folder for the labelled positions, a file for each that is there
    #[arg(long, value_name = "FOLDER")]
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
    /// Limit of the teacher for a position
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..), value_name = "NODES")]
    teacher_nodes: u64,
    /// Plies for the teacher, in place of nodes
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "PLIES")]
    teacher_depth: Option<u32>,
    /// Teachers at once [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl LabelData {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let options = BTreeMap::from_iter(self.options);
        let plan = TeacherPlan {
            program: EngineProgram {
                path: self.teacher,
                arguments: self.arguments,
                options,
                ..EngineProgram::default()
            },
            effort: self.teacher_depth.map_or(TeacherEffort::Nodes(self.teacher_nodes), TeacherEffort::Depth),
        };
        // A teacher that does not start leaves no folder behind.
        UciTeacher::start(&plan).map_err(|error| Failure::failed(format_args!("teacher: {error}")))?;
        let display = Mutex::new(None);
        let start = || UciTeacher::start(&plan);
        let folders = (self.from.as_path(), self.output.as_path());
        label(start, &plan.mark(), folders, or_each_core(self.threads), stop, |files, done| {
            if let Ok(mut display) = display.lock() {
                display.get_or_insert_with(|| ProgressDisplay::new(files, "files")).at(done, String::new);
            }
        })?;
        if let Ok(Some(display)) = display.into_inner() {
            display.end();
        }
        whole(stop)?;
        util::outln!("wrote {}", self.output.display());
        Ok(())
    }
}

/// Train a net for the engine on folders of positions
#[derive(Debug, Args)]
#[command(
    after_help = "Labels that a position lacks leave their weight to the others. The checkpoint, the losses of the epochs and the learning
curve are beside the net; stop with Ctrl-C, go on with the same command.
  concilio-lab train games --output n.net
  concilio-lab train labelled games --base mbxkcpar --epochs 10 --output residual.net"
)]
pub(super) struct TrainNet {
    /// Folders of `concilio-lab data` and `concilio-lab label`; of equal positions the first counts
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// The net
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// The heuristics that the net completes [default: none, the net is the evaluation]
    #[arg(long, value_name = "LETTERS")]
    base: Option<Knowledge>,
    /// A net to go on from, which completes and sees the same [default: random numbers]
    #[arg(long, value_name = "FILE")]
    start: Option<PathBuf>,
    /// Input features of the net
    #[arg(long, default_value_t = Mask::ALL, value_name = "MASK")]
    mask: Mask,
    /// Numbers of the net's first layer, for each player: a multiple of 128. A net to go on from may be narrower [default: as wide
    /// as that one, or 128]
    #[arg(long, value_parser = parse_width, value_name = "N")]
    width: Option<usize>,
    /// Target value of a position: the weights of our own search's score, of the teacher's and of
    /// the game's result, and the score in centipawns for which 73 % are expected
    #[arg(long, default_value_t = Mixture::default(), value_name = "own=X,teacher=X,result=X,scale=CP")]
    labels: Mixture,
    /// Passes over the positions
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    epochs: u32,
    /// Positions of a step
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    batch: u32,
    /// The rate of the first step; the last one's is a hundredth of it
    #[arg(long, default_value_t = 0.001, value_parser = from_zero::<f32>, value_name = "X")]
    rate: f32,
    /// Maximum number of positions [default: all]
    #[arg(long, value_name = "N")]
    positions: Option<usize>,
    /// Random seed of the initial weights and of the order of the positions
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Threads at work [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl TrainNet {
    /// Trains until the epochs are done or `stop` is set.
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let base = self.base.unwrap_or(Knowledge::NONE);
        let start = self.start.as_deref().map(|file| start_net(file, base, self.mask)).transpose()?;
        let mixture = self.labels;
        let plan = self.plan(&mixture, start)?;
        let selection = DatasetSelection { most: self.positions.unwrap_or(usize::MAX), ..DatasetSelection::default() };
        let dataset = Dataset::new(self.records()?, &mixture, &selection, &Recipe::new(base, IN_FULL));
        let (count, kept_back) = (dataset.training.len(), dataset.validation.len());
        eprintln!("{count} positions to learn from, {kept_back} kept back");
        if count == 0 {
            return Err(Failure::failed("none of the positions has a label that counts"));
        }
        let mut course = Course::open(&self.output.with_extension("epochs"));
        let checkpoint = self.output.with_extension("checkpoint");
        let outcome = train(&plan, &dataset, or_each_core(self.threads), Some(&checkpoint), stop, |epoch| {
            let (number, losses) = (epoch.number, told(&epoch.validation));
            eprintln!("epoch {number}/{}: loss {:.5}, kept back {losses}", self.epochs, epoch.training);
            if let Err(error) = course.add(epoch.clone()) {
                eprintln!("the learning curve will lack epoch {number} if this training is stopped: {error}");
            }
        })?;
        let TrainingOutcome::Finished(trained) = outcome else {
            return Err(Failure::failed("stopped; the same command goes on from there"));
        };
        let Mixture { own, teacher, result, scale } = mixture;
        let header = Header {
            base,
            labels: format!("own search {own}, teacher {teacher}, result {result}, sigmoid of {scale} centipawns"),
            command: std::env::args().skip(1).collect::<Vec<_>>().join(" "),
            ..trained.header(&plan, &dataset)
        };
        let quantised = quantise(&trained, header, &dataset.validation)?;
        let net = |error| Failure::failed(format_args!("--output {}: {error}", self.output.display()));
        fs::write(&self.output, quantised.net.to_bytes()).map_err(net)?;
        self.draw(&course)?;
        let losses = told(&validate_net(&quantised.net, &dataset.validation, plan.scale));
        util::outln!("wrote {}; in whole numbers, kept back {losses}", self.output.display());
        Ok(())
    }

    /// Draws the learning curve, if it is known.
    fn draw(&self, course: &Course) -> Result<(), Failure> {
        let path = self.output.with_extension("svg");
        if course.epochs().is_empty() {
            eprintln!("no epoch was left to be run: {} is not written", path.display());
            return Ok(());
        }
        write("--output", &path, &curve(course.epochs()))
    }

    fn records(&self) -> Result<Vec<Record>, Failure> {
        let mut records = Vec::new();
        for folder in &self.folders {
            records.extend(read_folder(folder)?);
        }
        Ok(records)
    }

    fn plan(&self, mixture: &Mixture, start: Option<Arc<Net>>) -> Result<trainer::Plan, Failure> {
        let usual = trainer::Plan::default();
        let started = start.as_ref().map(|net| net.weights().width());
        let width = self.width.or(started).unwrap_or(usual.width);
        if let Some(started) = started.filter(|started| *started > width) {
            return Err(Failure::usage(format_args!(
                "--width {width}: the net of --start has {started} numbers; give --width {started} or more"
            )));
        }
        Ok(trainer::Plan {
            start,
            width,
            mask: self.mask,
            seed: self.seed,
            epochs: self.epochs,
            batch: self.batch as usize,
            rate: self.rate,
            scale: mixture.scale,
            ..usual
        })
    }
}

/// The net of a file, if it completes `base` and sees what `mask` lets it see.
fn start_net(file: &Path, base: Knowledge, mask: Mask) -> Result<Arc<Net>, Failure> {
    let wrong = |reason: String| Failure::usage(format_args!("--start: {reason}"));
    let net = net_file(file).map_err(wrong)?;
    let (header, file) = (net.header(), file.display());
    match header.base {
        completed if completed == base && header.mask == mask => Ok(net),
        completed if completed == base => Err(wrong(format!("{file} sees {0}; give --mask {0}", header.mask))),
        completed if completed.is_empty() => Err(wrong(format!("{file} completes nothing; give no --base"))),
        completed => Err(wrong(format!("{file} completes {completed}; give --base {completed}"))),
    }
}

/// Mean losses, all and by stage of the game.
fn told(losses: &Losses) -> String {
    let [opening, middlegame, endgame] = losses.by_stage;
    format!(
        "{:.5} (opening {opening:.5}, middlegame {middlegame:.5}, endgame {endgame:.5}; the base alone {:.5})",
        losses.all, losses.base
    )
}

/// An error if the work was ended before it was whole.
fn whole(stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Relaxed) { Err(Failure::failed("stopped; the same command goes on from there")) } else { Ok(()) }
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("Name=Value is wanted")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn parse_width(text: &str) -> Result<usize, String> {
    let width = text.parse().ok().filter(|width| Weights::is_width(*width));
    width.ok_or_else(|| format!("a multiple of {BLOCK} up to {LARGEST_WIDTH} is wanted"))
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a number from 0 to 1 is wanted".to_owned())
}
