//! Games to be taken home.
//!
//! They are written to a file without a name beside the journal, and sent from there: a busy journal has more than memory would
//! hold, nobody who takes his time keeps the journal from being read, and what fails has failed before anything was sent.

use std::{
    fs::File,
    io::{self, BufWriter, Seek, Write},
};

use axum::{
    body::Body,
    extract::{Path, Query, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio_util::io::ReaderStream;

use super::{JournalReader, find, query::GamesQuery};
use crate::{problem::HttpProblem, security::PageReader};
use bot::journal::{Archive, GameRecord, write_csv, write_json, write_pgn};

/// Bytes that are read from the file at once.
const CHUNK: usize = 64 * 1024;

/// One game, in the format that the name of the file ends with.
pub(super) async fn one(
    _: PageReader,
    State(door): State<JournalReader>,
    Path((server, game, file)): Path<(String, String, String)>,
) -> Result<Export, HttpProblem> {
    let format = Format::of(&file)?;
    take(&door, format, move |archive| Ok(vec![find(archive, &server, &game)?])).await
}

/// All games that pass a filter.
pub(super) async fn many(
    _: PageReader,
    State(door): State<JournalReader>,
    Path(file): Path<String>,
    Query(query): Query<GamesQuery>,
) -> Result<Export, HttpProblem> {
    let (format, filter) = (Format::of(&file)?, query.filter()?);
    take(&door, format, move |archive| Ok(archive.games(&filter)?)).await
}

async fn take(
    door: &JournalReader,
    format: Format,
    choose: impl FnOnce(&Archive) -> Result<Vec<GameRecord>, HttpProblem> + Send + 'static,
) -> Result<Export, HttpProblem> {
    let journal = door.path.clone();
    door.read(move |archive| {
        let folder = journal.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = tempfile::tempfile_in(folder.unwrap_or(".".as_ref())).map_err(HttpProblem::internal)?;
        let mut out = BufWriter::new(file);
        format.write(archive, &choose(archive)?, &mut out)?;
        let file = out.into_inner().map_err(|error| HttpProblem::internal(error.error()))?;
        Export::of(format, file).map_err(HttpProblem::internal)
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
            _ => Err(HttpProblem::new(StatusCode::NOT_FOUND, "games are to be had as .pgn, .json and .csv")),
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
    /// Bytes.
    length: u64,
}

impl Export {
    fn of(format: Format, mut file: File) -> io::Result<Self> {
        let length = file.stream_position()?;
        file.rewind()?;
        Ok(Self { format, file, length })
    }
}

impl IntoResponse for Export {
    fn into_response(self) -> Response {
        let length = [(header::CONTENT_LENGTH, self.length.to_string())];
        let body = Body::from_stream(ReaderStream::with_capacity(tokio::fs::File::from_std(self.file), CHUNK));
        (length, self.format.headers(), body).into_response()
    }
}
