mod cluster;
mod correspondence;
mod decisions;
mod fit;
mod inputs;
mod latency;
mod matches;
mod positions;
mod reproduce;
mod soak;
mod training;
mod tune;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use clap::{Args, Subcommand};
use tokio::signal::ctrl_c;

use council::electors::kill_engines;
use draughts::measure::MeasureDraughts;
use experiment::progress;
use util::Failure;

/// Experiments and measurements
#[derive(Debug, Subcommand)]
pub enum Lab {
    /// Play games between any two of the built-in engine, a council, a UCI engine and a CECP engine
    Match(Box<matches::Match>),
    Positions(Box<positions::TryPositions>),
    Decisions(Box<decisions::Decisions>),
    #[command(subcommand)]
    Draughts(MeasureDraughts),
    Reproduce(reproduce::Reproduce),
    Latency(latency::MeasureLatency),
    Correspondence(correspondence::MeasureCorrespondence),
    Soak(soak::SoakDaemon),
    ClusterLatency(cluster::ClusterLatency),
    Data(training::MakeData),
    Label(training::LabelData),
    Shuffle(training::ShuffleData),
    Train(Box<training::TrainNet>),
    Tune(Box<Tuning>),
}

/// Fit the weights of the engine's evaluation to labelled positions, or what a council goes by
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Tuning {
    #[command(subcommand)]
    council: Option<fit::FitCouncil>,
    #[command(flatten)]
    evaluation: Option<tune::Tune>,
}

impl Tuning {
    fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        match (self.council, self.evaluation) {
            (Some(fit), _) => fit.run(stop),
            (None, Some(tune)) => tune.run(stop),
            (None, None) => Err(Failure::usage("--positions and --output are wanted (see concilio-lab tune --help)")),
        }
    }
}

impl Lab {
    /// Runs the experiment and prints what came of it.
    pub async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Match(games) => until_stopped(move |stop| games.run(stop)).await,
            Self::Positions(positions) => until_stopped(move |stop| positions.run(stop)).await,
            Self::Decisions(decisions) => until_stopped(move |stop| decisions.run(stop)).await,
            Self::Draughts(draughts) => until_stopped(move |stop| draughts.run(stop)).await,
            Self::Reproduce(reproduce) => until_stopped(move |stop| reproduce.run(stop)).await,
            Self::Latency(latency) => latency.run().await,
            Self::Correspondence(games) => games.run().await,
            Self::Soak(soak) => soak.run().await,
            Self::ClusterLatency(latency) => latency.run().await,
            Self::Data(data) => until_stopped(move |stop| data.run(stop)).await,
            Self::Label(label) => until_stopped(move |stop| label.run(stop)).await,
            Self::Shuffle(data) => until_stopped(move |stop| data.run(stop)).await,
            Self::Train(train) => until_stopped(move |stop| train.run(stop)).await,
            Self::Tune(tuning) => until_stopped(move |stop| tuning.run(stop)).await,
        }
    }
}

/// The exit code of a program that Ctrl-C has ended.
const INTERRUPTED: i32 = 130;

/// Runs an experiment that ends early, in a state to be taken up from, when Ctrl-C is pressed, and at once when it is pressed again.
async fn until_stopped(
    experiment: impl FnOnce(&AtomicBool) -> Result<(), Failure> + Send + 'static,
) -> Result<(), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&stop);
    tokio::spawn(async move {
        if ctrl_c().await.is_ok() {
            interrupted.store(true, Ordering::Relaxed);
            eprintln!("ends as soon as what was done is kept (once more to end at once)");
        }
        if ctrl_c().await.is_ok() {
            kill_engines();
            std::process::exit(INTERRUPTED);
        }
    });
    tokio::task::spawn_blocking(move || experiment(&stop)).await?
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::Lab;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(subcommand)]
        lab: Lab,
    }

    fn accepted(line: &str) -> Result<(), String> {
        let words = ["lab"].into_iter().chain(line.split(' '));
        Cli::try_parse_from(words).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn every_experiment_has_a_command() {
        Cli::command().debug_assert();
        for line in [
            "match council:balanced-7 engine --pace nodes=1000 --sprt 0,10",
            "positions sts.epd --roster balanced-7,unbalanced-7 --criterion weights,re-search",
            "decisions engine council:learned-2 --suite games.pgn --every 8 --oracle stockfish --pace nodes=3000",
            "draughts match council:criterion=re-search fully-guarded:nodes=20000 --pace nodes=5000 --games 400",
            "draughts tournament --pace movetime=0.05 --pdn games.pdn",
            "draughts positions --judge 17",
            "reproduce criteria games --quick",
            "soak --server fics --games 10 --faults cut=3s,lost=1% --kills 2 --load 1 --json",
            "correspondence --games 10 --minutes 1",
            "cluster-latency --searches 100",
            "data --output games --games 100",
            "label games --teacher stockfish --output labelled",
            "shuffle labelled games --output positions --seed 2",
            "train positions --output n.net --epochs 3 --labels own=1,teacher=0",
            "tune --positions games.txt --output weights.rs --labels result=1,scale=140",
            "tune genetic --output genetic.toml",
            "tune spsa --parameter split=0.3:0:1 --output spsa.toml",
        ] {
            assert_eq!(accepted(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn usage_errors_are_reported() {
        for (line, part) in [
            ("match engine", "<B>"),
            ("match engine hal", "expected engine, council"),
            ("match engine engine --pace plies=8", "nodes=20000"),
            ("positions x.epd --criterion best", "score-margin"),
            ("decisions", "<PLAYER>"),
            ("draughts match sicilian council", "fully-guarded"),
            ("draughts match council m --nodes 5000", "--pace nodes=N"),
            ("draughts positions --movetime 0.05", "--pace movetime=SECONDS"),
            ("reproduce everything", "heuristics"),
            ("soak --faults cuts=3s", "unknown fault"),
            ("tune", "--positions"),
        ] {
            let error = accepted(line).expect_err(line);
            assert!(error.contains(part), "{line}: {error}");
        }
    }
}
