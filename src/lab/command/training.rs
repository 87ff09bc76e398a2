//! `concilio-lab data`, `label`, `shuffle` and `train`: own games, what a teacher says of their positions, those in random
//! order, and a net that learns them.

use std::{
    collections::BTreeMap,
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use clap::Args;

use super::{
    Failure,
    inputs::{from_zero, openings, or_each_core},
    progress::{Bars, ProgressDisplay, stopped, write},
};
use crate::training::{
    Around,
    dataset::{Dataset, Mixture},
    label,
    selfplay::{self, generate},
    shuffle::{ShufflePlan, shuffle},
    trainer::{self, Course, Losses, curve, quantise, train, validate_net},
    value_net::ValueNet,
};
use crate::uci_teacher::{TeacherPlan, UciTeacher};
use council::electors::{EngineProgram, net_file};
use domain::Pace;
use engine::net::{BLOCK, Header, LARGEST_WIDTH, Net, Weights};

/// Play games of the engine against itself and archive them with the score of every move
#[derive(Debug, Args)]
#[command(
    after_help = "Stop with Ctrl-C, go on with the same command; the same command makes the same files. Then a teacher, and a net:
  concilio-lab data --output games --games 50000
  concilio-lab label games --teacher stockfish --output labelled
  concilio-lab shuffle labelled --output positions
  concilio-lab train positions --output n.net"
)]
pub struct MakeData {
    /// The folder that is filled with files of games
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
    /// Openings that two or three random plies follow, PGN or EPD, zipped or not [default: 8 or 9 random plies]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Random seed of the openings
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Games at once [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// Plies taken of each game of a book.
const BOOK_PLIES: usize = 16;

impl MakeData {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let book = self.book.as_deref().map(|path| openings(Some(path), BOOK_PLIES, self.seed)).transpose()?;
        let plan = selfplay::Plan {
            nodes: self.nodes,
            seed: self.seed,
            games_per_file: self.games_per_file,
            book: book.map(Arc::new),
        };
        let files = self.games.div_ceil(u64::from(self.games_per_file));
        let mut display = ProgressDisplay::new(files as usize, "files");
        generate(&plan, &self.output, files, or_each_core(self.threads), stop, |done| {
            display.at(done, || format!("{} games", done as u64 * u64::from(self.games_per_file)));
        })?;
        display.end();
        whole(stop)?;
        util::outln!("wrote {}", self.output.display());
        Ok(())
    }
}

/// Let a UCI engine say what the positions of games are worth, beside the own search
#[derive(Debug, Args)]
#[command(after_help = "Stop with Ctrl-C, go on with the same command. Games that have labels are labelled anew.
Some engines do not obey a number of nodes; give those a depth:
  concilio-lab label games --teacher stockfish --output labelled
  concilio-lab label games --teacher ethereal-chess --teacher-depth 8 --output labelled")]
pub struct LabelData {
    /// A folder of `concilio-lab data`, or of `concilio-lab label` before
    #[arg(value_name = "FOLDER")]
    from: PathBuf,
    /// The folder for the labelled games, a file for each that is there
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
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u64).range(1..), value_name = "NODES")]
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
            limits: self.teacher_depth.map_or(Pace::Nodes(self.teacher_nodes), Pace::Depth).limits(),
        };
        // A teacher that does not start leaves no folder behind.
        UciTeacher::start(&plan).map_err(|error| Failure::failed(format_args!("teacher: {error}")))?;
        let mut bars = Bars::default();
        let start = || UciTeacher::start(&plan);
        let folders = (self.from.as_path(), self.output.as_path());
        label(start, &plan.mark(), folders, or_each_core(self.threads), stop, |files, done| {
            bars.at("files", done, files);
        })?;
        bars.end();
        whole(stop)?;
        util::outln!("wrote {}", self.output.display());
        Ok(())
    }
}

/// Write the quiet positions of games in random order, each once
#[derive(Debug, Args)]
#[command(
    after_help = "Positions beyond 15 pawns are left out, and of labelled games those that the teacher found not quiet. A fiftieth of the
games, with at most about 200,000 positions, is kept back for validation. Stop with Ctrl-C, go on with the same command.
  concilio-lab shuffle labelled more-labelled --output positions
  concilio-lab shuffle games --teacher-net stockfish.nnue --output positions"
)]
pub struct ShuffleData {
    /// Folders of games; of equal positions the first counts
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// The folder for the positions, 40 bytes each
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
    /// Random seed of the order
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// The net of Stockfish 15.1, written by its command `export_net FILE`: labels every position, without a search
    #[arg(long, value_name = "FILE")]
    teacher_net: Option<PathBuf>,
    /// Positions after one or two random moves to label beside each of a game
    #[arg(long, requires = "teacher_net", default_value_t = 6, value_name = "N")]
    around: u32,
    /// Threads at work [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl ShuffleData {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let net = self.teacher_net.as_deref().map(ValueNet::read).transpose()?;
        let around = net.map(|net| Around { net, count: self.around });
        let threads = or_each_core(self.threads);
        let plan = ShufflePlan { seed: self.seed, around, threads, ..ShufflePlan::default() };
        let mut bars = Bars::default();
        let shuffled = shuffle(&plan, &self.folders, &self.output, stop, |files, done| bars.at("files", done, files))?;
        bars.end();
        let [training, kept_back] = shuffled.ok_or_else(stopped)?;
        let output = self.output.display();
        util::outln!("wrote {output}: {training} positions to learn from, {kept_back} kept back");
        Ok(())
    }
}

/// Train a net for the engine on shuffled positions
#[derive(Debug, Args)]
#[command(
    after_help = "Labels that a position lacks leave their weight to the others. The checkpoint, the losses of the epochs and the learning
curve are beside the net; stop with Ctrl-C, go on with the same command.
  concilio-lab train positions --output n.net"
)]
pub struct TrainNet {
    /// The folder that `concilio-lab shuffle` has filled
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// The net
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// A net to go on from [default: random numbers]
    #[arg(long, value_name = "FILE")]
    start: Option<PathBuf>,
    /// Numbers of the net's first layer, for each player: a multiple of 128. A net to go on from may be narrower [default: as wide
    /// as that one, or 128]
    #[arg(long, value_parser = parse_width, value_name = "N")]
    width: Option<usize>,
    /// Target value of a position: the weights of the own search's score, of the teacher's and of
    /// the game's result, and the score in centipawns for which 73 % are expected
    #[arg(long, default_value_t = Mixture::default(), value_name = "own=X,teacher=X,result=X,scale=CP")]
    labels: Mixture,
    /// Passes over the positions
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    epochs: u32,
    /// Positions of a step
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    batch: u32,
    /// The highest rate, after a fiftieth of the steps; the last one's is a hundredth of it
    #[arg(long, default_value_t = 0.001, value_parser = from_zero::<f32>, value_name = "X")]
    rate: f32,
    /// Maximum number of positions [default: all]
    #[arg(long, value_name = "N")]
    positions: Option<u64>,
    /// Random seed of the initial weights and of the order of the positions
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Threads at work [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl TrainNet {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let start = self.start.as_deref().map(start_net).transpose()?;
        let mixture = self.labels;
        let plan = self.plan(&mixture, start)?;
        let dataset = Dataset::open(&self.folder, &mixture, self.positions.unwrap_or(u64::MAX))?;
        eprintln!("{} positions to learn from, {} kept back", dataset.positions, dataset.validation.len());
        let mut course = Course::open(&self.output.with_extension("epochs"));
        let checkpoint = self.output.with_extension("checkpoint");
        let (threads, is_stopped) = (or_each_core(self.threads), |_| stop.load(Relaxed));
        let outcome = train(&plan, &dataset, threads, Some(&checkpoint), is_stopped, |epoch| {
            let (number, losses) = (epoch.number, told(&epoch.validation));
            eprintln!("epoch {number}/{}: loss {:.5}, kept back {losses}", self.epochs, epoch.training);
            if let Err(error) = course.add(epoch.clone()) {
                eprintln!("the learning curve will lack epoch {number} if this training is stopped: {error}");
            }
        })?;
        let trained = outcome.ok_or_else(stopped)?;
        let Mixture { own, teacher, result, scale } = mixture;
        let header = Header {
            labels: format!("own search {own}, teacher {teacher}, result {result}, sigmoid of {scale} centipawns"),
            command: std::env::args().skip(1).collect::<Vec<_>>().join(" "),
            ..trained.header(&plan, &dataset)
        };
        let net = quantise(&trained, header, &dataset.validation)?;
        let failed = |error| Failure::failed(format_args!("--output {}: {error}", self.output.display()));
        fs::write(&self.output, net.to_bytes()).map_err(failed)?;
        self.draw(&course)?;
        let losses = told(&validate_net(&net, &dataset.validation, plan.scale));
        util::outln!("wrote {}; in whole numbers, kept back {losses}", self.output.display());
        Ok(())
    }

    fn draw(&self, course: &Course) -> Result<(), Failure> {
        let path = self.output.with_extension("svg");
        if course.epochs.is_empty() {
            eprintln!("no epoch was left to be run: {} is not written", path.display());
            return Ok(());
        }
        write("--output", &path, &curve(&course.epochs))
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
            seed: self.seed,
            epochs: self.epochs,
            batch: self.batch as usize,
            rate: self.rate,
            scale: mixture.scale,
            ..usual
        })
    }
}

fn start_net(file: &Path) -> Result<Arc<Net>, Failure> {
    net_file(file).map_err(|reason| Failure::usage(format_args!("--start: {reason}")))
}

/// Mean losses, all and by stage of the game.
fn told(losses: &Losses) -> String {
    let [opening, middlegame, endgame] = losses.by_stage;
    format!("{:.5} (opening {opening:.5}, middlegame {middlegame:.5}, endgame {endgame:.5})", losses.all)
}

/// An error if the work was ended before it was whole.
fn whole(stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Relaxed) { Err(stopped()) } else { Ok(()) }
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("Name=Value is wanted")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn parse_width(text: &str) -> Result<usize, String> {
    let width = text.parse().ok().filter(|width| Weights::is_width(*width));
    width.ok_or_else(|| format!("a multiple of {BLOCK} up to {LARGEST_WIDTH} is wanted"))
}
