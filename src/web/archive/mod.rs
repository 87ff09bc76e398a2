//! The journal's games: lists, sums, replays, downloads.
//!
//! Reading blocks, so it happens on blocking threads, a few at a time.

mod export;
mod query;
mod replay;
mod report_pages;
mod results;

use std::{path::PathBuf, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    routing::get,
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{problem::HttpProblem, security::PageReader};
use bot::journal::{Archive, ExportError, GameKey, GameRecord, JournalError};
use domain::{GameId, ServerName};
use query::GamesQuery;
use replay::Replay;
use report::{JudgedGame, judge::Verdicts, openings::NamedOpening};
use results::Results;

/// The number of simultaneous readers; others wait.
const MOST_READERS: usize = 4;

/// The number of simultaneous exports of many games: each has a file.
const MOST_EXPORTS: usize = 2;

/// Reads the journal. Cheap to clone.
#[derive(Clone)]
pub(crate) struct JournalReader {
    path: Arc<PathBuf>,
    readers: Arc<Semaphore>,
    exports: Arc<Semaphore>,
}

impl JournalReader {
    pub(crate) fn new(path: PathBuf) -> Self {
        let places = |most| Arc::new(Semaphore::new(most));
        Self { path: Arc::new(path), readers: places(MOST_READERS), exports: places(MOST_EXPORTS) }
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Archive) -> Result<T, HttpProblem> + Send + 'static,
    ) -> Result<T, HttpProblem> {
        let place = Arc::clone(&self.readers).acquire_owned().await.map_err(HttpProblem::internal)?;
        let path = Arc::clone(&self.path);
        let reading = tokio::task::spawn_blocking(move || {
            // Held until the read ends, even if the client has disconnected.
            let _place = place;
            read(&Archive::open(&path)?)
        });
        reading.await.map_err(HttpProblem::internal)?
    }
}

impl From<JournalError> for HttpProblem {
    fn from(error: JournalError) -> Self {
        Self::internal(error)
    }
}

impl From<ExportError> for HttpProblem {
    fn from(error: ExportError) -> Self {
        Self::internal(error)
    }
}

pub(crate) fn routes(reader: JournalReader) -> Router {
    Router::new()
        .route("/api/games", get(list))
        .route("/api/results", get(results))
        .route("/api/export/{file}", get(export::many))
        .route("/api/games/{server}/{game}", get(replay))
        .route("/report/{*page}", get(report_pages::page))
        .route("/api/games/{server}/{game}/report.html", get(report_pages::game))
        .route("/api/games/{server}/{game}/{file}", get(export::one))
        .with_state(reader)
}

#[derive(Serialize)]
struct ListedGame {
    #[serde(flatten)]
    game: GameRecord,
    opening: Option<NamedOpening>,
    judged: bool,
}

impl ListedGame {
    fn read(archive: &Archive, judges: &[(String, Verdicts)], game: GameRecord) -> Result<Self, JournalError> {
        let line = archive.line(&game)?;
        let opening = NamedOpening::of(&line).map(|(opening, _)| opening);
        let judged = JudgedGame::is_likely(&line, judges)?;
        Ok(Self { game, opening, judged })
    }
}

/// Lists the games of a page. `found` counts all games that pass the filter; `report` is the address
/// of the report on all games, if there is one.
async fn list(
    _: PageReader,
    State(reader): State<JournalReader>,
    Query(query): Query<GamesQuery>,
) -> Result<Json<Value>, HttpProblem> {
    let filter = query.filter()?;
    let (path, report) = (Arc::clone(&reader.path), reader.report_address());
    let list = reader.read(move |archive| {
        let games = archive.games(&filter)?;
        let found = games.len();
        let judges = Verdicts::of_all_judges(&path)?;
        let listed = query.page(games)?.into_iter().map(|game| ListedGame::read(archive, &judges, game));
        Ok(json!({ "found": found, "report": report, "games": listed.collect::<Result<Vec<_>, _>>()? }))
    });
    list.await.map(Json)
}

async fn results(
    _: PageReader,
    State(reader): State<JournalReader>,
    Query(query): Query<GamesQuery>,
) -> Result<Json<Results>, HttpProblem> {
    let filter = query.filter()?;
    let results = reader.read(move |archive| {
        let games = archive.games(&filter)?;
        let openings = archive.first_moves(&games, results::OPENING_PLIES)?;
        Ok(Results::of(&games, &openings))
    });
    results.await.map(Json)
}

async fn replay(
    _: PageReader,
    State(reader): State<JournalReader>,
    Path((server, game)): Path<(String, String)>,
) -> Result<Json<Replay>, HttpProblem> {
    let path = Arc::clone(&reader.path);
    let replay = reader.read(move |archive| {
        let judges = Verdicts::of_all_judges(&path)?;
        Ok(Replay::read(archive, &judges, find(archive, &server, &game)?)?)
    });
    replay.await.map(Json)
}

fn find(archive: &Archive, server: &str, game: &str) -> Result<GameRecord, HttpProblem> {
    let key = GameKey::new(&ServerName::new(server), &GameId::new(game));
    archive.game(&key)?.ok_or_else(|| HttpProblem::not_found(format!("the journal has no game {key}")))
}
