//! Reads the journal. Every reader has its own connection, beside a writing daemon or without one.

mod notes;

use std::{collections::BTreeMap, fmt, path::Path, str::FromStr, time::Duration};

use jiff::Timestamp;
use rusqlite::{
    Connection, OptionalExtension, Row, RowIndex, params_from_iter,
    types::{FromSql, Type, Value},
};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use super::{GameKey, GameResult, JournalError, RecordedRules, codes, schema};
use domain::{
    Color, GameId, GameInfo, GameStatus, GameTerms, KnownGame, Line, Player, Score, ServerName, Speed, TimeControl,
    UciMove, Variant,
};

pub use notes::{ChatRecord, FaultRecord};

/// Filter of games; unset fields match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only against this player, in any case of letters.
    pub opponent: Option<String>,
    pub result: Option<GameResult>,
    pub speed: Option<Speed>,
    pub server: Option<ServerName>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Maximum number of games, the newest first.
    pub limit: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameRecord<V: RecordedRules = Variant> {
    #[serde(skip)]
    row: i64,
    pub server: ServerName,
    pub game: GameId,
    #[serde(serialize_with = "color")]
    pub our_color: Color,
    #[serde(serialize_with = "player")]
    pub white: Player,
    #[serde(serialize_with = "player")]
    pub black: Player,
    #[serde(serialize_with = "text")]
    pub variant: V,
    /// The start position, if it is not the variant's usual one.
    pub start_fen: Option<String>,
    #[serde(serialize_with = "text")]
    pub time_control: TimeControl,
    pub speed: Speed,
    pub rated: bool,
    pub tournament: Option<String>,
    pub url: Option<String>,
    pub started_at: Timestamp,
    /// End of the game; `None` while it is played.
    pub ended_at: Option<Timestamp>,
    #[serde(serialize_with = "status")]
    pub status: GameStatus,
    #[serde(serialize_with = "optional_color")]
    pub winner: Option<Color>,
    /// Result for the bot.
    pub result: Option<GameResult>,
    /// Change of the bot's rating, if the server sent it.
    pub rating_change: Option<i32>,
    pub plies: u32,
    pub pgn_path: Option<String>,
}

impl GameRecord {
    /// Returns the game's line with these moves. From the first illegal move on they are left out, with a warning in the log.
    pub fn line_of(&self, moves: impl IntoIterator<Item = UciMove>) -> Line {
        let start = Line::from_fen(self.variant, self.start_fen.as_deref().unwrap_or_default());
        let mut line = start.unwrap_or_else(|error| {
            tracing::warn!(game = %self.key(), %error, "the game's moves are unreadable; showing it without them");
            Line::start(self.variant)
        });
        for uci in moves {
            if let Err(error) = line.play(uci) {
                tracing::warn!(game = %self.key(), %error, "the rest of the game is omitted");
                break;
            }
        }
        line
    }

    /// Returns the game as it began; `None` if the start position is illegal.
    fn info(&self) -> Option<GameInfo> {
        let start = match &self.start_fen {
            Some(fen) => Line::from_fen(self.variant, fen).ok()?,
            None => Line::start(self.variant),
        };
        Some(GameInfo {
            id: self.game.clone(),
            terms: GameTerms { variant: self.variant, time_control: self.time_control, rated: self.rated },
            white: self.white.clone(),
            black: self.black.clone(),
            our_color: self.our_color,
            start,
            tournament: self.tournament.clone(),
            url: self.url.clone(),
        })
    }
}

impl<V: RecordedRules> GameRecord<V> {
    pub fn key(&self) -> GameKey {
        GameKey::new(&self.server, &self.game)
    }

    pub fn us(&self) -> &Player {
        self.our_color.fold_wb(&self.white, &self.black)
    }

    pub fn opponent(&self) -> &Player {
        self.our_color.fold_wb(&self.black, &self.white)
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let side = |name: &str, title: &str, rating: &str| {
            let name: String = row.get(name)?;
            Ok::<_, rusqlite::Error>(Player {
                title: row.get(title)?,
                rating: row.get(rating)?,
                ..Player::named(&name)
            })
        };
        let speed: String = row.get("speed")?;
        let result: Option<String> = row.get("result")?;
        Ok(Self {
            row: row.get("id")?,
            server: ServerName::from(row.get::<_, String>("server")?),
            game: GameId::from(row.get::<_, String>("game")?),
            our_color: known(row, "our_color", |word| word.parse().ok())?,
            white: side("white", "white_title", "white_rating")?,
            black: side("black", "black_title", "black_rating")?,
            variant: parsed(row, "variant")?,
            start_fen: row.get("start_fen")?,
            time_control: parsed(row, "time_control")?,
            speed: Speed::ALL.into_iter().find(|known| known.key() == speed).unwrap_or(Speed::Correspondence),
            rated: row.get("rated")?,
            tournament: row.get("tournament")?,
            url: row.get("url")?,
            started_at: time_of_day(row.get("started_at")?),
            ended_at: row.get::<_, Option<i64>>("ended_at")?.map(time_of_day),
            status: GameStatus::from_name(&row.get::<_, String>("status")?),
            winner: row.get::<_, Option<String>>("winner")?.as_deref().and_then(|word| word.parse().ok()),
            result: result.as_deref().and_then(GameResult::from_word),
            rating_change: row.get("rating_change")?,
            plies: row.get("plies")?,
            pgn_path: row.get("pgn_path")?,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MoveRecord<M: fmt::Display = UciMove> {
    #[serde(skip)]
    row: i64,
    pub ply: u32,
    #[serde(serialize_with = "text")]
    pub uci: M,
    pub confirmed: bool,
    /// The player's clock before it, seconds.
    #[serde(serialize_with = "optional_seconds")]
    pub clock_before: Option<Duration>,
    /// The player's clock after it, increment included, seconds.
    #[serde(serialize_with = "optional_seconds")]
    pub clock_after: Option<Duration>,
    /// The decision, for a move of the bot.
    pub ours: Option<OurMove>,
}

/// Decision behind a move of the bot. Times are in seconds, the score is from the bot's side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OurMove {
    /// Source of the move, by [`Source::word`](domain::Source::word).
    pub source: String,
    pub criterion: String,
    pub score: Option<Score>,
    pub depth: Option<u32>,
    pub nodes: u64,
    /// Time from task to decision.
    #[serde(serialize_with = "seconds")]
    pub elapsed: Duration,
    pub ponder: Option<String>,
    /// Choice of the first phase alone, if there was a second one.
    pub first_choice: Option<String>,
    /// Between the server's word and the start of the search.
    #[serde(serialize_with = "seconds")]
    pub spent: Duration,
    #[serde(serialize_with = "seconds")]
    pub response: Duration,
    #[serde(serialize_with = "seconds")]
    pub extra: Duration,
    /// Held back for the way to the server.
    #[serde(serialize_with = "seconds")]
    pub lag: Duration,
    /// Disagreement of the vote: 0 is unanimity, 1 an elector without followers; `None` without a vote.
    pub split: Option<f64>,
    /// Mode of the second phase, such as `shared`; `None` without a second phase.
    pub second_phase: Option<String>,
}

/// Proposal of an elector for a move of the bot. The score is from the bot's side, the time in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProposalRecord {
    /// 1, or 2 for the second search.
    pub phase: u8,
    pub elector: String,
    /// The worker of the search; `None` for the daemon's own machine.
    pub machine: Option<String>,
    pub uci: String,
    pub score: Option<Score>,
    /// `exact`, `lower` or `upper`.
    pub bound: String,
    /// The last completed iteration, plies.
    pub depth: u32,
    /// The deepest line looked at, plies.
    pub selective_depth: u32,
    /// Root moves searched in the incomplete iteration.
    pub root_moves_done: u32,
    pub nodes: u64,
    /// Time since the search began.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
    /// The principal variation, UCI moves separated by blanks.
    pub pv: String,
    /// Weight in the election; `None` for advice and for a second phase.
    pub weight: Option<f64>,
    /// Knowledge of the elector, in letters; `None` for a foreign engine.
    pub knowledge: Option<String>,
}

impl ProposalRecord {
    /// Returns true for a vote: advisers and the second phase have none.
    pub fn is_vote(&self) -> bool {
        self.phase == 1 && self.weight.is_some()
    }
}

pub struct Archive {
    connection: Connection,
}

impl Archive {
    /// Opens a journal for reading; it is not changed, and may be written meanwhile.
    ///
    /// # Errors
    /// [`JournalError::Open`] if there is none or an old one, [`JournalError::Newer`] if a newer program wrote it.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Ok(Self { connection: schema::open_to_read(path)? })
    }

    /// Returns the stored texts with their keys; the keys begin with `start`.
    pub fn states(&self, start: &str) -> Result<Vec<(String, String)>, JournalError> {
        let mut query =
            self.connection.prepare("SELECT key, value FROM state WHERE substr(key, 1, ?) = ? ORDER BY key")?;
        let rows = query.query_map((codes::whole(start.len()), start), |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<_, _>>().map_err(Into::into)
    }

    pub fn games(&self, filter: &Filter) -> Result<Vec<GameRecord>, JournalError> {
        self.games_where(&only_chess(), filter)
    }

    /// Returns the games of all kinds by a filter, oldest first.
    pub fn games_of_all_kinds(&self, filter: &Filter) -> Result<Vec<GameRecord<String>>, JournalError> {
        self.games_where("TRUE", filter)
    }

    fn games_where<V: RecordedRules>(&self, kind: &str, filter: &Filter) -> Result<Vec<GameRecord<V>>, JournalError> {
        let conditions: [(&str, Option<Value>); 6] = [
            ("opponent = ?", filter.opponent.as_ref().map(|name| name.to_lowercase().into())),
            ("result = ?", filter.result.map(|result| result.word().to_owned().into())),
            ("speed = ?", filter.speed.map(|speed| speed.key().to_owned().into())),
            ("server = ?", filter.server.as_ref().map(|server| server.as_str().to_owned().into())),
            ("started_at >= ?", filter.since.map(|time| time.as_millisecond().into())),
            ("started_at < ?", filter.until.map(|time| time.as_millisecond().into())),
        ];
        let (conditions, mut values): (Vec<&str>, Vec<Value>) =
            conditions.into_iter().filter_map(|(condition, value)| Some((condition, value?))).unzip();
        let conditions: String = conditions.iter().map(|condition| format!(" AND {condition}")).collect();
        values.push(filter.limit.map_or(-1, codes::whole).into());
        let sql = format!("{GAMES} WHERE {kind}{conditions} ORDER BY started_at DESC, id DESC LIMIT ?");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(values), GameRecord::read)?;
        let mut games = rows.collect::<Result<Vec<_>, _>>()?;
        games.reverse();
        Ok(games)
    }

    pub fn game(&self, key: &GameKey) -> Result<Option<GameRecord>, JournalError> {
        let mut statement =
            self.connection.prepare_cached(&format!("{GAMES} WHERE server = ? AND game = ? AND {}", only_chess()))?;
        Ok(statement.query_row([key.server.as_str(), key.id.as_str()], GameRecord::read).optional()?)
    }

    pub(super) fn known_game(&self, key: &GameKey) -> Result<Option<KnownGame>, JournalError> {
        let Some(record) = self.game(key)? else { return Ok(None) };
        let Some(info) = record.info() else { return Ok(None) };
        let moves = self.moves(&record)?;
        let shown: Vec<UciMove> = moves.iter().take_while(|mv| mv.confirmed).map(|mv| mv.uci).collect();
        let decided = moves.get(shown.len()).map(|mv| mv.uci);
        let (started, is_adjourned) = (Some(record.started_at), record.status == GameStatus::Adjourned);
        Ok(Some(KnownGame { info, shown, decided, started, is_adjourned }))
    }

    pub fn fault_counts(&self) -> Result<BTreeMap<GameKey, usize>, JournalError> {
        let sql = "SELECT server, game, count(*) FROM faults WHERE game IS NOT NULL GROUP BY server, game";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| {
            let key = GameKey { server: row.get::<_, String>(0)?.into(), id: row.get::<_, String>(1)?.into() };
            Ok((key, usize::try_from(row.get::<_, i64>(2)?).unwrap_or(0)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the moves of a game without takebacks.
    pub fn moves<V: RecordedRules>(&self, game: &GameRecord<V>) -> Result<Vec<MoveRecord<V::Move>>, JournalError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, ply, uci, confirmed, clock_before, clock_after, source, criterion, score_cp, score_mate, depth,
                 nodes, elapsed, ponder, first_choice, spent, response, extra, lag, split, second_phase
             FROM moves WHERE game = ? AND superseded_at IS NULL ORDER BY ply",
        )?;
        // By place: by name, each value would be sought among the names of all columns.
        let rows = statement.query_map([game.row], |row| {
            let mut next = Columns { row, next: 0 };
            Ok(MoveRecord {
                row: next.read()?,
                ply: next.read()?,
                uci: parsed(row, next.place())?,
                confirmed: next.read()?,
                clock_before: next.milliseconds()?,
                clock_after: next.milliseconds()?,
                ours: match next.read()? {
                    Some(source) => Some(OurMove {
                        source,
                        criterion: next.read()?,
                        score: codes::read_score(next.read()?, next.read()?),
                        depth: next.read()?,
                        nodes: whole(next.read()?),
                        elapsed: Duration::from_micros(whole(next.read()?)),
                        ponder: next.read()?,
                        first_choice: next.read()?,
                        spent: Duration::from_millis(whole(next.read()?)),
                        response: Duration::from_millis(whole(next.read()?)),
                        extra: Duration::from_millis(whole(next.read()?)),
                        lag: Duration::from_millis(whole(next.read()?)),
                        split: next.read()?,
                        second_phase: next.read()?,
                    }),
                    None => None,
                },
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Every elector's proposal for a move, in the order of the roster, the second phase last.
    pub fn proposals<M: fmt::Display>(&self, of: &MoveRecord<M>) -> Result<Vec<ProposalRecord>, JournalError> {
        let mut statement =
            self.connection.prepare_cached("SELECT * FROM proposals WHERE move = ? ORDER BY phase, place")?;
        let rows = statement.query_map([of.row], |row| {
            Ok(ProposalRecord {
                phase: row.get("phase")?,
                elector: row.get("elector")?,
                machine: row.get("machine")?,
                knowledge: row.get("knowledge")?,
                uci: row.get("uci")?,
                score: codes::read_score(row.get("score_cp")?, row.get("score_mate")?),
                bound: row.get("bound")?,
                depth: row.get("depth")?,
                selective_depth: row.get("selective_depth")?,
                root_moves_done: row.get("root_moves_done")?,
                nodes: whole(row.get("nodes")?),
                time: Duration::from_micros(whole(row.get("time")?)),
                pv: row.get("pv")?,
                weight: row.get("weight")?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Every game with the number of its moves by the last one: a count would take seconds for ten thousand games.
const GAMES: &str = "SELECT games.*, coalesce((SELECT ply + 1 FROM moves
    WHERE moves.game = games.id AND superseded_at IS NULL AND confirmed ORDER BY ply DESC LIMIT 1), 0) AS plies FROM games";

fn only_chess() -> String {
    format!("variant IN ('{}')", Variant::ALL.map(Variant::key).join("', '"))
}

/// The columns of a row, in their order.
struct Columns<'r> {
    row: &'r Row<'r>,
    next: usize,
}

impl Columns<'_> {
    fn place(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn read<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let place = self.place();
        self.row.get(place)
    }

    fn milliseconds(&mut self) -> rusqlite::Result<Option<Duration>> {
        Ok(self.read::<Option<i64>>()?.map(|ms| Duration::from_millis(whole(ms))))
    }
}

fn known<T>(row: &Row<'_>, column: impl RowIndex, read: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let column = column.idx(row.as_ref())?;
    let word: String = row.get(column)?;
    read(&word).ok_or_else(|| {
        let name = row.as_ref().column_name(column).unwrap_or_default();
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, format!("{name} {word:?} means nothing").into())
    })
}

fn parsed<T: FromStr>(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<T> {
    known(row, column, |word| word.parse().ok())
}

fn time_of_day(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or_default()
}

fn whole(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn color<S: Serializer>(color: &Color, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(domain::color_word(*color))
}

fn player<S: Serializer>(player: &Player, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Player", 3)?;
    fields.serialize_field("name", &player.name)?;
    fields.serialize_field("title", &player.title)?;
    fields.serialize_field("rating", &player.rating)?;
    fields.end()
}

fn optional_color<S: Serializer>(color: &Option<Color>, serializer: S) -> Result<S::Ok, S::Error> {
    color.map(domain::color_word).serialize(serializer)
}

fn status<S: Serializer>(status: &GameStatus, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.name())
}

fn text<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

fn optional_seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}
