//! Downloads of games.
//!
//! Games are written to a file without a name beside the journal and sent from there: a large journal
//! may exceed the memory, a slow reader must not keep the journal busy, and a failure must happen
//! before anything is sent.

use std::{
    fs::File,
    io::{self, BufWriter, Seek, Write},
    sync::Arc,
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::{Path, Query, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt, stream};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::io::ReaderStream;

use super::{JournalReader, find, query::GamesQuery};
use crate::{problem::HttpProblem, security::PageReader};
use bot::journal::{Archive, GameRecord, write_csv, write_json, write_pgn};
use util::values::named;

/// Bytes read from the file at once.
const CHUNK: usize = 64 * 1024;

/// Timeout for a reader to take a chunk.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

/// Exports one game, in the format of the file's extension.
pub(super) async fn one(
    _: PageReader,
    State(reader): State<JournalReader>,
    Path((server, game, file)): Path<(String, String, String)>,
) -> Result<Response, HttpProblem> {
    let format = Format::of(&file)?;
    take(&reader, format, None, move |archive| Ok(vec![find(archive, &server, &game)?])).await
}

pub(super) async fn many(
    _: PageReader,
    State(reader): State<JournalReader>,
    Path(file): Path<String>,
    Query(query): Query<GamesQuery>,
) -> Result<Response, HttpProblem> {
    let (format, filter) = (Format::of(&file)?, query.filter()?);
    let place = Arc::clone(&reader.exports)
        .try_acquire_owned()
        .map_err(|_| HttpProblem::busy("other downloads are running; try again in a minute"))?;
    take(&reader, format, Some(place), move |archive| Ok(archive.games(&filter)?)).await
}

async fn take(
    reader: &JournalReader,
    format: Format,
    place: Option<OwnedSemaphorePermit>,
    choose: impl FnOnce(&Archive) -> Result<Vec<GameRecord>, HttpProblem> + Send + 'static,
) -> Result<Response, HttpProblem> {
    let journal = reader.path.clone();
    let (file, length, place) = reader
        .read(move |archive| {
            let folder = journal.parent().and_then(named);
            let file = tempfile::tempfile_in(folder.unwrap_or(".".as_ref())).map_err(HttpProblem::internal)?;
            let mut out = BufWriter::new(file);
            format.write(archive, &choose(archive)?, &mut out)?;
            let mut file = out.into_inner().map_err(|error| HttpProblem::internal(error.error()))?;
            let length = file.stream_position().map_err(HttpProblem::internal)?;
            file.rewind().map_err(HttpProblem::internal)?;
            // The place is held until here, even if the client has disconnected.
            Ok((file, length, place))
        })
        .await?;
    let (sender, chunks) = mpsc::channel(1);
    tokio::spawn(send(file, sender, place));
    let body = stream::unfold(chunks, async |mut chunks| Some((chunks.recv().await?, chunks)));
    let length = [(header::CONTENT_LENGTH, length.to_string())];
    Ok((length, format.headers(), Body::from_stream(body)).into_response())
}

#[derive(Clone, Copy)]
enum Format {
    Pgn,
    Json,
    Csv,
}

impl Format {
    fn of(file: &str) -> Result<Self, HttpProblem> {
        match file.rsplit_once('.').map(|(_, ending)| ending) {
            Some("pgn") => Ok(Self::Pgn),
            Some("json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            _ => Err(HttpProblem::new(StatusCode::NOT_FOUND, "games are available as .pgn, .json and .csv")),
        }
    }

    fn write(self, archive: &Archive, games: &[GameRecord], out: &mut impl Write) -> Result<(), HttpProblem> {
        match self {
            Self::Pgn => Ok(write_pgn(archive, games, out)?),
            Self::Json => Ok(write_json(archive, games, out)?),
            Self::Csv => write_csv(games, out).map_err(HttpProblem::internal),
        }
    }

    fn headers(self) -> [(header::HeaderName, &'static str); 2] {
        let (kind, disposition) = match self {
            Self::Pgn => ("application/x-chess-pgn", "attachment; filename=\"concilio.pgn\""),
            Self::Json => ("application/x-ndjson", "attachment; filename=\"concilio.json\""),
            Self::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"concilio.csv\""),
        };
        [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, disposition)]
    }
}

/// Sends the file in chunks. After the timeout of a chunk, file and place are released.
async fn send(file: File, chunks: mpsc::Sender<io::Result<Bytes>>, _place: Option<OwnedSemaphorePermit>) {
    let mut file = ReaderStream::with_capacity(tokio::fs::File::from_std(file), CHUNK);
    while let Some(chunk) = file.next().await {
        if chunks.send_timeout(chunk, TAKEN_WITHIN).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn idle_reader_holds_nothing() {
        let places = Arc::new(Semaphore::new(1));
        let place = Arc::clone(&places).try_acquire_owned().expect("a place");
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&vec![b'x'; 10 * CHUNK]).and_then(|()| file.rewind()).expect("writable");
        let (sender, chunks) = mpsc::channel(1);
        send(file, sender, Some(place)).await;
        assert_eq!(places.available_permits(), 1);
        drop(chunks);
    }
}
