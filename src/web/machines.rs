use axum::{Json, extract::State};
use serde_json::{Value, json};

use crate::security::PageReader;
use council::electors::{MachineView, Pool};
use domain::{
    Line,
    vote_words::{ElectorRole, NamedElector},
};

/// Lists the machines. `speed` is in thousands of nodes a second and core, null before it is
/// measured; `lag` is in milliseconds, null for this machine and before the first answer; `closed` is
/// the reason why a machine gets no searches.
pub(crate) async fn list(_: PageReader, State(pool): State<Pool>) -> Json<Vec<Value>> {
    Json(pool.machines().into_iter().map(row).collect())
}

fn row(view: MachineView) -> Value {
    let searches = view.searches.iter().map(|(search, ours)| {
        json!({
            "game": search.search.game.as_str(),
            "elector": search.elector.as_str(),
            "words": words(search.elector.as_str()),
            "threads": search.threads,
            "nodes": search.nodes,
            "ours": ours,
        })
    });
    json!({
        "name": view.name.to_string(),
        "here": view.here,
        "cores": view.cores,
        "busy": view.busy(),
        "speed": view.speed,
        "lag": view.lag.map(|lag| lag.as_secs_f64() * 1000.0),
        "closed": view.closed,
        "searches": searches.collect::<Vec<_>>(),
    })
}

/// Returns the knowledge of an elector in words; the name of an engine without letters of knowledge.
fn words(elector: &str) -> String {
    let named = NamedElector::new::<Line>(elector, Some(elector), false);
    if named.role == ElectorRole::Program { elector.to_owned() } else { named.name }
}
