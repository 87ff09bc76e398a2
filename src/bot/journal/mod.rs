//! The journal: every game, every move and every vote, in one SQLite file; and games as PGN.
//!
//! One thread writes ([`Journal`] is the handle to it); readers open the file again ([`Archive`]),
//! also from another program while this one runs.
//!
//! Games are of chess, or of another game of a council: entries are texts of a [`GameLine`], and the
//! column `variant` names the rules (`standard`, `italian-draughts`). Readers get chess alone, unless
//! they request all kinds ([`Archive::games_of_all_kinds`]); they read moves of other games as text,
//! also in the column `uci`.
//!
//! Invariants:
//! - [`Journal::move_decided`] returns after the commit: a move stands in the journal before it is sent. A process killed at
//!   any instant loses no committed entry, and asks [`Journal::decided_move`] after the restart; a loss of power may cost
//!   the last moments, but never the file;
//! - nothing is deleted: a move taken back or decided anew is marked as superseded;
//! - a full or read-only disk stops no game: entries are kept, and written later;
//! - one program at a time writes a journal; only judgements of finished games may come from another ([`Judgements`]);
//! - no secrets: the entries are plain values of `domain` and `platform` without secrets.

mod archive;
mod backup;
mod codes;
mod export;
mod games;
mod judgements;
mod lock;
mod pgn;
mod pgn_import;
mod private;
mod queue;
mod recorded_votes;
mod schema;
mod settings;
mod store;
mod writer;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;

use domain::{
    Account, Challenge, ChatLine, Clocks, Color, Decision, GameId, GameInfo, GameLine, GameStatus, KnownGame, Line,
    ServerName, UciMove,
};

pub use archive::{Archive, ChatRecord, FaultRecord, Filter, GameRecord, MoveRecord, OurMove, ProposalRecord};
pub use backup::{back_up, restore};
pub use codes::GameResult;
pub use export::{ExportError, write_csv, write_json, write_pgn, write_table};
pub use games::{LocalGame, RecordedRules, StartedGame};
pub use judgements::{JudgementRecord, Judgements};
pub use pgn::{pgn_clock, pgn_tags, result as pgn_result};
pub use pgn_import::ImportedGames;
pub use recorded_votes::{RecordedVotes, recorded_votes, vote_in_words};
pub use settings::{JournalSettings, PgnGrouping};

use writer::Writer;

/// Interval and number of attempts to write a failed PGN file: for a day.
const PGN_AGAIN: Duration = Duration::from_secs(5);
const PGN_ATTEMPTS: u32 = 17_280;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameKey {
    pub server: ServerName,
    pub id: GameId,
}

impl GameKey {
    pub fn new(server: &ServerName, id: &GameId) -> Self {
        Self { server: server.clone(), id: id.clone() }
    }
}

impl fmt::Display for GameKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.id)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    #[error("journal {}: {reason}", path.display())]
    Open { path: PathBuf, reason: String },
    #[error("journal {}: version {found} was written by a newer concilio (this one knows up to {known}); update it or set another journal path", path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("journal {}: {} is writing it; stop that program, or set another journal.path (and do not play one account with two programs)", path.display(), other_program(*process))]
    InUse { path: PathBuf, process: Option<u32> },
    /// The disk is full or read-only at the moment. The entry is kept and written later.
    #[error("journal: {0}")]
    Unwritable(String),
    #[error("journal: {0}")]
    Sqlite(String),
    #[error("journal: no game {0}")]
    UnknownGame(GameKey),
    #[error("journal: cannot start the writing thread: {0}")]
    Thread(String),
    /// The caller's timeout passed. The entry is written all the same.
    #[error("journal: no answer from the disk within {0:?}")]
    Slow(Duration),
    #[error("journal: already closed")]
    Closed,
    #[error("backup {}: {reason}", path.display())]
    Backup { path: PathBuf, reason: String },
    #[error("restore {}: {reason}; the journal is as it was", path.display())]
    Restore { path: PathBuf, reason: String },
    #[error("PGN file {}: {reason}", path.display())]
    Pgn { path: PathBuf, reason: String },
}

impl From<rusqlite::Error> for JournalError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(
                ErrorCode::DiskFull
                | ErrorCode::ReadOnly
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy,
            ) => Self::Unwritable(error.to_string()),
            _ => Self::Sqlite(error.to_string()),
        }
    }
}

fn other_program(process: Option<u32>) -> String {
    process.map_or_else(|| "another program".to_owned(), |process| format!("another program (process {process})"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChallengeOutcome {
    /// The bot accepted it, or the opponent accepted the bot's.
    Accepted,
    /// The bot declined it, or the opponent declined the bot's.
    Declined,
    Cancelled,
    Queued,
}

impl ChallengeOutcome {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::Queued => "queued",
        }
    }
}

/// A move of the bot before it is sent; of chess, or of another game.
#[derive(Clone, Debug)]
pub struct DecidedMove<L: GameLine = Line> {
    pub game: GameKey,
    pub line: Arc<L>,
    pub decision: Arc<Decision<L::Move, L::Knowledge>>,
    /// The bot's clock in the server's message.
    pub clock: Option<Duration>,
    /// Time between the server's message and the start of the search.
    pub spent: Duration,
    /// ResponseTime: the time of a normal move.
    pub response: Duration,
    /// ExtraTime: the possible extension.
    pub extra: Duration,
    pub lag: Duration,
}

/// The handle to the writing thread; cheap to clone. The thread ends with the last handle, after it has written everything.
///
/// Methods without `async` queue their entry and return; the log reports lost entries as errors.
#[derive(Clone)]
pub struct Journal {
    writer: Writer,
    settings: Arc<JournalSettings>,
    /// Held during the write of a PGN file: several games may share one.
    pgn_turn: Arc<tokio::sync::Mutex<()>>,
}

impl Journal {
    /// Opens the journal. Creates it, or brings it to today's version, if needed.
    ///
    /// # Errors
    /// [`JournalError::Open`] if the file or its directory cannot be created or written, [`JournalError::InUse`] if another
    /// program is writing it, [`JournalError::Newer`] if a newer program has written it.
    pub fn open(settings: &JournalSettings) -> Result<Self, JournalError> {
        schema::make_directory_of(&settings.path)?;
        let lock = lock::take(&settings.path)?;
        let connection = schema::open_to_write(&settings.path)?;
        let writer = Writer::start(connection, schema::open_to_write(&settings.path)?, lock)?;
        Ok(Self { writer, settings: Arc::new(settings.clone()), pgn_turn: Arc::default() })
    }

    pub fn path(&self) -> &Path {
        &self.settings.path
    }

    pub fn account(&self, server: &ServerName, account: &Account) {
        let (server, account, now) = (server.clone(), account.clone(), now());
        self.writer.note("an account", move |store| store.account(&server, &account, now));
    }

    pub fn challenge(&self, server: &ServerName, challenge: &Challenge) {
        let (server, challenge, now) = (server.clone(), challenge.clone(), now());
        self.writer.note("a challenge", move |store| store.challenge(&server, &challenge, now));
    }

    pub fn challenge_decided(
        &self,
        server: &ServerName,
        challenge: &Challenge,
        outcome: ChallengeOutcome,
        reason: &str,
    ) {
        let (server, challenge, reason, now) = (server.clone(), challenge.clone(), reason.to_owned(), now());
        self.writer.note("what became of a challenge", move |store| {
            store.challenge_decided(&server, &challenge, outcome, &reason, now)
        });
    }

    /// Records the start of a game. Call this before any other entry of the game; a repetition does no harm.
    pub fn game_started(&self, server: &ServerName, game: impl Into<StartedGame>) {
        let (server, game, now) = (server.clone(), game.into(), now());
        self.writer.note("a game's start", move |store| store.game_started(&server, &game, now));
    }

    /// Records the line and the clocks shown by the server. The same state again changes nothing; a shorter line supersedes
    /// the moves taken back. A decided move at its end stays: the server has yet to show it.
    pub fn line_seen<L: GameLine>(&self, game: &GameKey, line: &Arc<L>, clocks: Option<Clocks>) {
        let (game, line, now) = (game.clone(), Arc::clone(line), now());
        self.writer.note("a game's state", move |store| {
            let clocks = clocks.map(|clocks| {
                let of = |color| codes::milliseconds(clocks.of(color).remaining);
                let to_move = Color::from_white(line.move_number().1);
                (of(to_move), of(!to_move))
            });
            store.line_seen(&game, line.moves(), clocks, now)
        });
    }

    /// Writes a move of the bot with all its proposals, and returns after the commit: now it may be sent.
    ///
    /// # Errors
    /// The move could not be written. Send it all the same: the game comes before its record. After
    /// [`JournalError::Unwritable`] it is written as soon as the disk allows.
    pub async fn move_decided<L: GameLine>(&self, decided: DecidedMove<L>) -> Result<(), JournalError> {
        let now = now();
        self.writer.call(move |store| store.move_decided(&decided, now)).await
    }

    /// Returns the move decided after exactly these moves, if the server has not shown it yet. An earlier process may have
    /// sent it or not; sending it again is right in both cases.
    pub async fn decided_move(&self, game: &GameKey, line: &Arc<Line>) -> Result<Option<UciMove>, JournalError> {
        let (game, line) = (game.clone(), Arc::clone(line));
        self.writer.ask(move |store| store.decided_move(&game, line.moves())).await
    }

    pub async fn variant_of(&self, game: &GameKey) -> Result<Option<String>, JournalError> {
        let game = game.clone();
        self.writer.ask(move |store| store.variant_of(&game)).await
    }

    pub fn game_goes_on(&self, game: &GameKey) {
        let game = game.clone();
        self.writer.note("a game that goes on", move |store| store.game_goes_on(&game));
    }

    pub fn rated(&self, game: &GameKey, change: i32) {
        let game = game.clone();
        self.writer.note("a change of our rating", move |store| store.rated(&game, change));
    }

    /// Records the end of a game and writes its PGN; returns the PGN file, if one is wanted. An adjourned game has not ended.
    ///
    /// # Errors
    /// [`JournalError::UnknownGame`] without a record of the start; [`JournalError::Unwritable`] or [`JournalError::Pgn`] if
    /// the disk fails at the moment: the end and the file are written later.
    pub async fn game_over(
        &self,
        game: &GameKey,
        status: &GameStatus,
        winner: Option<Color>,
    ) -> Result<Option<PathBuf>, JournalError> {
        let (key, status, at) = (game.clone(), status.clone(), now());
        let written = async {
            self.writer.call(move |store| store.game_over(&key, &status, winner, at)).await?;
            self.write_pgn(game).await
        };
        written.await.inspect_err(|error| self.try_pgn_again(game, error))
    }

    fn try_pgn_again(&self, game: &GameKey, error: &JournalError) {
        // The read needs a connection of its own; there may be no file handle left.
        if let JournalError::Unwritable(_) | JournalError::Pgn { .. } | JournalError::Open { .. } = error {
            let (journal, game) = (self.clone(), game.clone());
            tokio::spawn(async move { journal.write_pgn_later(&game).await });
        }
    }

    async fn write_pgn(&self, game: &GameKey) -> Result<Option<PathBuf>, JournalError> {
        let (key, settings) = (game.clone(), Arc::clone(&self.settings));
        // The task waits, not a thread of its own: a hundred games may end at once.
        let turn = Arc::clone(&self.pgn_turn).lock_owned().await;
        let save = move || {
            let _turn = turn;
            pgn::save(&settings, &key)
        };
        let written = tokio::task::spawn_blocking(save).await;
        let path = written.map_err(|_| JournalError::Closed)??;
        if let Some(path) = &path {
            let (key, path) = (game.clone(), path.display().to_string());
            self.writer.call(move |store| store.pgn_written(&key, &path)).await?;
        }
        Ok(path)
    }

    /// Writes the missing PGN files of finished games: the process may have been killed after the end of a game. It considers the last
    /// day with finished games, however long ago.
    ///
    /// # Errors
    /// The journal cannot be read, or one of the files cannot be written now; that file is tried again, and the others are written.
    pub async fn write_missing_pgn(&self) -> Result<(), JournalError> {
        let now = now();
        let mut outcome = Ok(());
        for game in self.writer.ask(move |store| store.without_pgn(now, DAY_MS)).await? {
            if let Err(error) = self.write_pgn(&game).await {
                self.try_pgn_again(&game, &error);
                outcome = Err(error);
            }
        }
        outcome
    }

    async fn write_pgn_later(&self, game: &GameKey) {
        let mut last = None;
        for _ in 0..PGN_ATTEMPTS {
            tokio::time::sleep(PGN_AGAIN).await;
            let outcome = async {
                // The text comes from the journal, so the journal must be complete first.
                self.flush().await?;
                self.write_pgn(game).await
            };
            let Err(error) = outcome.await else { return };
            last = Some(error);
        }
        if let Some(error) = last {
            tracing::error!(%game, %error, "PGN not written; `concilio games --pgn` writes it later");
        }
    }

    /// Returns the games of a server without a known end, oldest first; adjourned games are not among them.
    pub async fn unfinished(&self, server: &ServerName) -> Result<Vec<KnownGame>, JournalError> {
        let server = server.clone();
        self.known(self.writer.ask(move |store| store.unfinished(&server, false)).await?).await
    }

    /// Returns the newest adjourned games of a server, oldest first.
    pub async fn adjourned(&self, server: &ServerName) -> Result<Vec<KnownGame>, JournalError> {
        let server = server.clone();
        self.known(self.writer.ask(move |store| store.unfinished(&server, true)).await?).await
    }

    pub async fn known_game(&self, game: &GameKey) -> Result<Option<KnownGame>, JournalError> {
        self.flush().await?;
        Ok(self.known(vec![game.clone()]).await?.pop())
    }

    async fn known(&self, games: Vec<GameKey>) -> Result<Vec<KnownGame>, JournalError> {
        let settings = Arc::clone(&self.settings);
        let read = tokio::task::spawn_blocking(move || {
            let archive = Archive::open(&settings.path)?;
            let games = games.iter().filter_map(|key| archive.known_game(key).transpose());
            games.collect()
        });
        read.await.map_err(|_| JournalError::Closed)?
    }

    pub fn takeback_granted(&self, game: &GameKey) {
        let game = game.clone();
        self.writer.note("a takeback", move |store| store.takeback_granted(&game));
    }

    pub async fn takebacks_granted(&self, game: &GameKey) -> Result<u32, JournalError> {
        let game = game.clone();
        self.writer.ask(move |store| store.takebacks_granted(&game)).await
    }

    /// Returns the lines of the newest lost games with the same start, each up to the bot's last book move: moves in UCI notation,
    /// separated by blanks.
    pub async fn lost_book_lines(&self, game: &GameInfo) -> Result<Vec<String>, JournalError> {
        let (variant, start) = (game.terms.variant, game.start.start_fen());
        self.writer.ask(move |store| store.lost_book_lines(variant, start.as_deref())).await
    }

    pub fn chat(&self, game: &GameKey, line: &ChatLine) {
        let (game, line, now) = (game.clone(), line.clone(), now());
        self.writer.note("a chat line", move |store| store.chat(&game, &line, now));
    }

    /// Records a handled fault: one line, without secrets.
    pub fn fault(&self, server: &ServerName, game: Option<&GameId>, what: &str) {
        let (server, game, what, now) = (server.clone(), game.cloned(), what.to_owned(), now());
        self.writer.note("a fault", move |store| store.fault(&server, game.as_ref().map(GameId::as_str), &what, now));
    }

    /// Returns the value stored under `key` by [`Journal::set_state`].
    pub async fn state(&self, key: &str) -> Result<Option<String>, JournalError> {
        let key = key.to_owned();
        self.writer.ask(move |store| store.state(&key)).await
    }

    /// Stores a text beyond this process; returns after the commit. Of two texts for a key the later call wins.
    pub fn set_state(&self, key: &str, value: String) -> impl Future<Output = Result<(), JournalError>> + use<> {
        let (key, now) = (key.to_owned(), now());
        self.writer.call(move |store| store.set_state(&key, &value, now))
    }

    /// Writes all queued entries and moves the write-ahead log into the database file: a copy of this
    /// file is then the whole journal. If another program is reading, the log stays beside it, with a
    /// warning; nothing is lost. Call this last: later entries are safe as well, but in the log.
    ///
    /// # Errors
    /// [`JournalError::Unwritable`] if the disk does not take the queued entries.
    pub async fn close(self) -> Result<(), JournalError> {
        self.flush().await?;
        if let Err(error) = self.writer.empty_log().await {
            tracing::warn!(%error, "the journal is in two files, FILE and FILE-wal: copy both, or back it up");
        }
        Ok(())
    }

    /// Returns after all earlier entries are written.
    ///
    /// # Errors
    /// [`JournalError::Unwritable`] if the disk fails at the moment, [`JournalError::Closed`] if the writing thread has ended.
    pub async fn flush(&self) -> Result<(), JournalError> {
        self.writer.ask(|_| Ok(())).await
    }
}

/// Milliseconds since 1970, UTC.
fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests;
