//! Downloads of games.
//!
//! They are written to a file without a name beside the journal, and sent from there: a large
//! journal may exceed the memory, a slow reader must not keep the journal busy, and a failure must
//! happen before anything is sent.

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

/// Bytes that are read from the file at once.
const CHUNK: usize = 64 * 1024;

/// The time after which a reader who takes nothing is gone.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

/// Exports one game, in the format of the file's extension.
pub(super) async fn one(
    _: PageReader,
    State(door): State<JournalReader>,
    Path((server, game, file)): Path<(String, String, String)>,
) -> Result<Export, HttpProblem> {
    let format = Format::of(&file)?;
    take(&door, format, None, move |archive| Ok(vec![find(archive, &server, &game)?])).await
}

/// Exports all games that pass a filter.
pub(super) async fn many(
    _: PageReader,
    State(door): State<JournalReader>,
    Path(file): Path<String>,
    Query(query): Query<GamesQuery>,
) -> Result<Export, HttpProblem> {
    let (format, filter) = (Format::of(&file)?, query.filter()?);
    let place = Arc::clone(&door.exports)
        .try_acquire_owned()
        .map_err(|_| HttpProblem::busy("other downloads are running; try again in a minute"))?;
    take(&door, format, Some(place), move |archive| Ok(archive.games(&filter)?)).await
}

async fn take(
    door: &JournalReader,
    format: Format,
    place: Option<OwnedSemaphorePermit>,
    choose: impl FnOnce(&Archive) -> Result<Vec<GameRecord>, HttpProblem> + Send + 'static,
) -> Result<Export, HttpProblem> {
    let journal = door.path.clone();
    door.read(move |archive| {
        let folder = journal.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = tempfile::tempfile_in(folder.unwrap_or(".".as_ref())).map_err(HttpProblem::internal)?;
        let mut out = BufWriter::new(file);
        format.write(archive, &choose(archive)?, &mut out)?;
        let file = out.into_inner().map_err(|error| HttpProblem::internal(error.error()))?;
        // The place is held until here, also if the request is gone.
        Export::of(format, file, place).map_err(HttpProblem::internal)
    })
    .await
}

/// The formats in which games are taken home.
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

/// Games in a file that is gone with its last reader.
pub(super) struct Export {
    format: Format,
    file: File,
    length: u64,
    /// The place held until it is sent, for limited exports.
    place: Option<OwnedSemaphorePermit>,
}

impl Export {
    fn of(format: Format, mut file: File, place: Option<OwnedSemaphorePermit>) -> io::Result<Self> {
        let length = file.stream_position()?;
        file.rewind()?;
        Ok(Self { format, file, length, place })
    }
}

impl IntoResponse for Export {
    fn into_response(self) -> Response {
        let length = [(header::CONTENT_LENGTH, self.length.to_string())];
        let (sender, chunks) = mpsc::channel(1);
        tokio::spawn(send(self.file, sender, self.place));
        let body = stream::unfold(chunks, async |mut chunks| Some((chunks.recv().await?, chunks)));
        (length, self.format.headers(), Body::from_stream(body)).into_response()
    }
}

/// Sends the file in chunks; a reader who takes none holds neither file nor place.
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
