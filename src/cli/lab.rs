//! `concilio lab`: experiments and measurements.

mod data;
mod grids;
mod latency;
mod matches;
mod positions;
mod progress;
mod reproduce;
mod tune;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use clap::{Args, Subcommand};
use tokio::signal::ctrl_c;

use super::Failure;

/// Experiments and measurements
#[derive(Debug, Args)]
pub(super) struct Lab {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Play games between any two of our engine, a council, a UCI engine and a CECP engine
    Match(Box<matches::Match>),
    Positions(Box<positions::Positions>),
    Reproduce(reproduce::Reproduce),
    Split(grids::Split),
    Roster(grids::Roster),
    Latency(latency::Latency),
    Data(data::Data),
    Tune(tune::Tune),
}

impl Lab {
    /// Measures and prints.
    pub(super) async fn run(self) -> Result<(), Failure> {
        match self.experiment {
            Experiment::Match(games) => until_stopped(move |stop| games.run(stop)).await,
            Experiment::Positions(positions) => until_stopped(move |stop| positions.run(stop)).await,
            Experiment::Reproduce(reproduce) => until_stopped(move |stop| reproduce.run(stop)).await,
            Experiment::Split(split) => until_stopped(move |stop| split.run(stop)).await,
            Experiment::Roster(roster) => until_stopped(move |stop| roster.run(stop)).await,
            Experiment::Latency(latency) => latency.run().await,
            Experiment::Data(data) => until_stopped(move |stop| data.run(stop)).await,
            Experiment::Tune(tune) => until_stopped(move |stop| tune.run(stop)).await,
        }
    }
}

/// Runs an experiment that ends early, in a state to be taken up from, when Ctrl-C is pressed.
async fn until_stopped(
    experiment: impl FnOnce(&AtomicBool) -> Result<(), Failure> + Send + 'static,
) -> Result<(), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&stop);
    tokio::spawn(async move {
        if ctrl_c().await.is_ok() {
            interrupted.store(true, Ordering::Relaxed);
        }
    });
    tokio::task::spawn_blocking(move || experiment(&stop)).await?
}
