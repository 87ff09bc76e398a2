//! Machines that search: this one, and the workers of the cluster.

use axum::{Json, extract::State};
use serde::Serialize;

use crate::security::PageReader;
use council::electors::{MachineView, Pool};

#[derive(Serialize)]
pub(crate) struct MachineRow {
    name: String,
    here: bool,
    cores: usize,
    busy: usize,
    /// Thousands of nodes a second and core; `None` where it was not measured.
    speed: Option<u32>,
    /// Lag from a question to its answer, ms; `None` for this machine, and before the first answer.
    lag: Option<f64>,
    /// Reason why it gets no searches, if any.
    closed: Option<&'static str>,
    searches: Vec<SearchRow>,
}

#[derive(Serialize)]
struct SearchRow {
    game: String,
    elector: String,
    threads: usize,
    nodes: u64,
    /// True for our search, false for another daemon's.
    ours: bool,
}

impl From<MachineView> for MachineRow {
    fn from(view: MachineView) -> Self {
        let busy = view.busy();
        let MachineView { name, here, cores, speed, lag, closed, searches } = view;
        let searches = searches.into_iter().map(|search| SearchRow {
            game: search.game.to_string(),
            elector: search.elector.to_string(),
            threads: search.threads,
            nodes: search.nodes,
            ours: search.ours,
        });
        let lag = lag.map(|lag| lag.as_secs_f64() * 1000.0);
        Self { name: name.to_string(), here, cores, busy, speed, lag, closed, searches: searches.collect() }
    }
}

pub(crate) async fn list(_: PageReader, State(pool): State<Pool>) -> Json<Vec<MachineRow>> {
    Json(pool.machines().into_iter().map(MachineRow::from).collect())
}
