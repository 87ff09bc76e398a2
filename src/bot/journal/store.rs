//! Writes entries: one method for each kind, all inside the writer's transaction.
//!
//! Invariant of the `moves` table: the rows of a game without `superseded_at` are one line of play, without gaps. At most
//! its last move is not confirmed: it was decided, and the server has not shown it yet.

use std::{
    collections::HashMap,
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

use rusqlite::{Connection, OptionalExtension, Params, Row, ToSql, params, params_from_iter, types::FromSql};

use super::{ChallengeOutcome, DecidedMove, GameKey, GameResult, JournalError, StartedGame, codes};
use domain::{
    Account, Challenge, ChatLine, Color, GameLine, GameStatus, MachineName, Proposal, ServerName, UciMove, Variant,
    moves_text,
};

mod known_line;

pub(super) use known_line::KnownLine;
use known_line::{KnownMove, read_line, supersede};

const LOST_GAMES: u32 = 500;

/// A transaction of the writer; rolled back if it is dropped. Its statements are prepared once for all transactions.
pub(super) struct Store<'a> {
    connection: &'a Connection,
    lines: &'a mut HashMap<GameKey, KnownLine>,
    /// True if each entry has a savepoint: a failed entry leaves no trace.
    saves: bool,
}

impl Drop for Store<'_> {
    fn drop(&mut self) {
        if !self.is_undone() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

impl<'a> Store<'a> {
    /// Begins a transaction. `saves` gives each entry a savepoint; without savepoints a failed entry spoils the transaction.
    pub(super) fn begin(
        connection: &'a Connection,
        lines: &'a mut HashMap<GameKey, KnownLine>,
        saves: bool,
    ) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self { connection, lines, saves })
    }

    /// Commits. A failure undoes the whole transaction; no entry is at fault, and all are tried again.
    pub(super) fn commit(self) -> Result<(), JournalError> {
        self.execute("COMMIT", []).map(drop).map_err(|error| JournalError::Unwritable(error.to_string()))
    }

    /// Does `work`; with savepoints wholly or not at all.
    pub(super) fn whole<T>(
        &mut self,
        work: &mut impl FnMut(&mut Self) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        if self.saves {
            self.execute("SAVEPOINT job", [])?;
        }
        let panicked = |_| Err(JournalError::Sqlite("an entry panicked, a defect of this program".to_owned()));
        let outcome = catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(panicked);
        if outcome.is_err() {
            self.lines.clear();
        }
        match (self.saves, &outcome) {
            (false, _) => (),
            (true, Ok(_)) => _ = self.execute("RELEASE job", [])?,
            // SQLite may have undone the whole transaction by itself; there is no savepoint then.
            (true, Err(_)) => _ = self.connection.execute_batch("ROLLBACK TO job; RELEASE job"),
        }
        outcome
    }

    /// Returns true if SQLite has rolled back the whole transaction.
    pub(super) fn is_undone(&self) -> bool {
        self.connection.is_autocommit()
    }

    /// Sets the size limit of the database to its current size, as a full disk does; or removes it.
    #[cfg(test)]
    pub(super) fn fill(&self, full: bool) -> Result<(), JournalError> {
        let has: u32 = self.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let most = if full { has } else { u32::MAX / 2 };
        self.connection.pragma_update_and_check(None, "max_page_count", most, |_| Ok(()))?;
        if full {
            self.execute("INSERT INTO state VALUES ('full', zeroblob(10000000), 0)", [])?;
        }
        Ok(())
    }

    /// Undoes the whole transaction, as SQLite does by itself without memory.
    #[cfg(test)]
    pub(super) fn undo_all(&self) -> Result<(), JournalError> {
        Ok(self.connection.execute_batch("ROLLBACK")?)
    }

    fn execute(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
        execute(self.connection, sql, values)
    }

    fn write(&self, sql: &str, values: impl Params) -> Result<(), JournalError> {
        self.execute(sql, values)?;
        Ok(())
    }

    fn update(&self, game: &GameKey, changes: &str, values: &[&dyn ToSql]) -> Result<(), JournalError> {
        let (server, id) = (game.server.as_str(), game.id.as_str());
        let values = values.iter().copied().chain([&server as &dyn ToSql, &id]);
        self.write(&format!("UPDATE games SET {changes} WHERE server = ? AND game = ?"), params_from_iter(values))
    }

    pub(super) fn account(&self, server: &ServerName, account: &Account, now: i64) -> Result<(), JournalError> {
        let ratings: serde_json::Map<_, _> =
            account.ratings.iter().map(|(name, rating)| (name.clone(), (*rating).into())).collect();
        self.write(
            "INSERT OR REPLACE INTO accounts (server, player, title, is_bot, ratings, games_played, seen_at)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![
                server.as_str(),
                account.player.name,
                account.player.title,
                account.is_bot,
                serde_json::Value::Object(ratings).to_string(),
                codes::whole(account.games_played),
                now
            ],
        )
    }

    pub(super) fn challenge(&self, server: &ServerName, challenge: &Challenge, now: i64) -> Result<(), JournalError> {
        let opponent = challenge.opponent.as_ref();
        self.write(
            "INSERT INTO challenges (server, challenge, incoming, opponent, opponent_title, opponent_rating, variant,
                 time_control, speed, rated, our_color, start_fen, rematch_of, seen_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            params![
                server.as_str(),
                challenge.id.as_str(),
                challenge.incoming,
                opponent.map(|player| &player.name),
                opponent.and_then(|player| player.title.as_ref()),
                opponent.and_then(|player| player.rating),
                challenge.terms.variant.key(),
                challenge.terms.time_control.to_string(),
                challenge.terms.time_control.speed().key(),
                challenge.terms.rated,
                challenge.our_color.map(domain::color_word),
                challenge.initial_fen,
                challenge.rematch_of.as_ref().map(|game| game.as_str().to_owned()),
                now
            ],
        )
    }

    pub(super) fn challenge_decided(
        &self,
        server: &ServerName,
        challenge: &Challenge,
        outcome: ChallengeOutcome,
        reason: &str,
        now: i64,
    ) -> Result<(), JournalError> {
        self.challenge(server, challenge, now)?;
        self.write(
            "UPDATE challenges SET decision = ?, reason = ?, decided_at = ? WHERE server = ? AND challenge = ?",
            params![outcome.word(), reason, now, server.as_str(), challenge.id.as_str()],
        )
    }

    /// Records the start of a game, or fills the gaps of its record. An adjourned game goes on.
    pub(super) fn game_started(&self, server: &ServerName, game: &StartedGame, now: i64) -> Result<(), JournalError> {
        self.write(
            "INSERT INTO games (server, game, our_color, white, white_title, white_rating, black, black_title,
                 black_rating, opponent, opponent_is_bot, variant, start_fen, time_control, speed, rated, tournament,
                 url, started_at, status)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'started')
             ON CONFLICT (server, game) DO UPDATE SET
                 white_rating = coalesce(white_rating, excluded.white_rating),
                 black_rating = coalesce(black_rating, excluded.black_rating),
                 tournament = coalesce(tournament, excluded.tournament),
                 url = coalesce(url, excluded.url),
                 status = CASE status WHEN 'adjourned' THEN excluded.status ELSE status END",
            params![
                server.as_str(),
                game.id.as_str(),
                domain::color_word(game.our_color),
                game.white.name,
                game.white.title,
                game.white.rating,
                game.black.name,
                game.black.title,
                game.black.rating,
                game.opponent().name.to_lowercase(),
                game.opponent().is_bot(),
                game.variant,
                game.start,
                game.time_control.to_string(),
                game.time_control.speed().key(),
                game.rated,
                game.tournament,
                game.url,
                now
            ],
        )
    }

    /// Brings the game's line to the one shown by the server. A decided move at its end stays: the server has yet to show it.
    ///
    /// `clocks` are the clocks of the player to move and of the other player, ms.
    pub(super) fn line_seen(
        &mut self,
        game: &GameKey,
        shown: &[impl Display + Copy + PartialEq + Send + 'static],
        clocks: Option<(i64, i64)>,
        now: i64,
    ) -> Result<(), JournalError> {
        let (connection, line) = self.line(game)?;
        let agreed = line.agreement(shown);
        let waits = line.moves.len() == shown.len() + 1 && line.moves.last().is_some_and(|last| !last.confirmed);
        let kept = if agreed == shown.len() && waits { agreed + 1 } else { agreed };
        supersede(connection, line, kept, now)?;
        for known in line.moves.iter_mut().take(agreed).rev().take_while(|known| !known.confirmed) {
            execute(connection, "UPDATE moves SET confirmed = 1 WHERE id = ?", [known.row])?;
            known.confirmed = true;
        }
        let count = shown.len();
        for (ply, mv) in shown.iter().enumerate().skip(agreed) {
            let text = mv.to_string();
            let known = match line.set_aside.iter().rposition(|(at, known)| *at == ply && known.text == text) {
                Some(index) => {
                    let (_, known) = line.set_aside.remove(index);
                    let sql = "UPDATE moves SET superseded_at = NULL, confirmed = 1 WHERE id = ?";
                    execute(connection, sql, [known.row])?;
                    KnownMove { confirmed: true, ..known }
                }
                None => {
                    let clock = line.clock_to_move.and_then(|(told_at, clock)| (told_at == ply).then_some(clock));
                    let sql = "INSERT INTO moves (game, ply, uci, confirmed, noted_at, clock_before)
                               VALUES (?, ?, ?, 1, ?, ?)";
                    execute(connection, sql, params![line.game, codes::whole(ply), text, now, clock])?;
                    KnownMove { row: connection.last_insert_rowid(), text, confirmed: true, decided: false }
                }
            };
            line.moves.push(known);
        }
        if let Some((to_move, other)) = clocks {
            if let Some(last) = count.checked_sub(1).and_then(|ply| line.moves.get(ply)) {
                let sql = "UPDATE moves SET clock_after = ? WHERE id = ? AND clock_after IS NULL";
                execute(connection, sql, params![other, last.row])?;
            }
            line.clock_to_move = Some((count, to_move));
        }
        line.agreed = count;
        Ok(())
    }

    pub(super) fn move_decided<L: GameLine>(&mut self, decided: &DecidedMove<L>, now: i64) -> Result<(), JournalError> {
        let before = decided.line.moves();
        self.line_seen(&decided.game, before, None, now)?;
        let (connection, line) = self.line(&decided.game)?;
        // This move replaces an earlier decision.
        supersede(connection, line, before.len(), now)?;
        let decision = &decided.decision;
        let (cp, mate) = codes::score(decision.score);
        let deepest = decision.votes.iter().map(|vote| vote.proposal.depth).max();
        let depth = decision.second_phase.as_ref().map(|second| second.proposal.depth).or(deepest);
        execute(
            connection,
            "INSERT INTO moves (game, ply, uci, confirmed, noted_at, clock_before, source, criterion, score_cp,
                 score_mate, depth, nodes, elapsed, ponder, first_choice, spent, response, extra, lag, split,
                 second_phase)
             VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                line.game,
                codes::whole(before.len()),
                decision.best.to_string(),
                now,
                decided.clock.map(codes::milliseconds),
                decision.source.word(),
                decision.chosen_by(),
                cp,
                mate,
                depth,
                codes::whole(decision.nodes()),
                codes::microseconds(decision.elapsed),
                decision.ponder.map(|uci| uci.to_string()),
                decision.second_phase.as_ref().map(|second| second.first_choice.to_string()),
                codes::milliseconds(decided.spent),
                codes::milliseconds(decided.response),
                codes::milliseconds(decided.extra),
                codes::milliseconds(decided.lag),
                (!decision.votes.is_empty()).then_some(decision.split),
                decision.second_phase.as_ref().map(|second| second.mode.word()),
            ],
        )?;
        let row = connection.last_insert_rowid();
        line.moves.push(KnownMove { row, text: decision.best.to_string(), confirmed: false, decided: true });
        for (place, vote) in decision.votes.iter().enumerate() {
            proposal(connection, row, 1, place, &vote.proposal, vote.knowledge, vote.weight)?;
        }
        if let Some(second) = &decision.second_phase {
            proposal(connection, row, 2, 0, &second.proposal, Some(L::COMPLETE_KNOWLEDGE), None)?;
        }
        Ok(())
    }

    pub(super) fn decided_move(&mut self, game: &GameKey, before: &[UciMove]) -> Result<Option<UciMove>, JournalError> {
        let (_, line) = self.line(game)?;
        let same = line.moves.len() == before.len() + 1
            && line.moves.iter().zip(before).all(|(known, uci)| known.text == uci.to_string());
        Ok(line.moves.last().filter(|last| same && !last.confirmed).and_then(|last| last.text.parse().ok()))
    }

    pub(super) fn game_over(
        &mut self,
        game: &GameKey,
        status: &GameStatus,
        winner: Option<Color>,
        now: i64,
    ) -> Result<(), JournalError> {
        let ours: Option<String> = column(self.connection, "our_color", game)?;
        let ours = ours.ok_or_else(|| JournalError::UnknownGame(game.clone()))?;
        let result = ours.parse().ok().and_then(|ours| GameResult::of(ours, status, winner)).map(GameResult::word);
        let (winner, ended_at) = (winner.map(domain::color_word), (*status != GameStatus::Adjourned).then_some(now));
        let changes = "status = ?, winner = ?, result = ?, ended_at = coalesce(ended_at, ?)";
        self.update(game, changes, &[&status.name(), &winner, &result, &ended_at])?;
        self.lines.remove(game);
        Ok(())
    }

    pub(super) fn game_goes_on(&self, game: &GameKey) -> Result<(), JournalError> {
        self.write(
            "UPDATE games SET status = 'started', winner = NULL, result = NULL, ended_at = NULL
             WHERE server = ? AND game = ? AND ended_at IS NOT NULL",
            params![game.server.as_str(), game.id.as_str()],
        )
    }

    /// Returns the server's newest adjourned games, or all other games without an end; oldest first.
    pub(super) fn unfinished(&self, server: &ServerName, adjourned: bool) -> Result<Vec<GameKey>, JournalError> {
        let (condition, most) = if adjourned { ("status = ?", 100) } else { ("ended_at IS NULL AND status <> ?", -1) };
        let mut games = self.connection.prepare_cached(&format!(
            "SELECT server, game FROM games WHERE server = ? AND {condition} ORDER BY started_at DESC LIMIT {most}"
        ))?;
        let games = games.query_map([server.as_str(), GameStatus::Adjourned.name()], key)?;
        let mut games: Vec<_> = games.collect::<Result<_, _>>()?;
        games.reverse();
        Ok(games)
    }

    pub(super) fn variant_of(&self, game: &GameKey) -> Result<Option<String>, JournalError> {
        Ok(column(self.connection, "variant", game)?)
    }

    pub(super) fn takeback_granted(&self, game: &GameKey) -> Result<(), JournalError> {
        self.update(game, "takebacks = takebacks + 1", &[])
    }

    pub(super) fn rated(&self, game: &GameKey, change: i32) -> Result<(), JournalError> {
        self.update(game, "rating_change = ?", &[&change])
    }

    pub(super) fn takebacks_granted(&self, game: &GameKey) -> Result<u32, JournalError> {
        Ok(column(self.connection, "takebacks", game)?.unwrap_or_default())
    }

    pub(super) fn lost_book_lines(&self, variant: Variant, start: Option<&str>) -> Result<Vec<String>, JournalError> {
        let mut lines = self.connection.prepare_cached(
            "WITH lost AS (SELECT id FROM games WHERE result = 'lost' AND variant = ? AND start_fen IS ?
                           ORDER BY started_at DESC LIMIT ?),
                  last AS (SELECT game, max(ply) AS ply FROM moves
                           WHERE game IN (SELECT id FROM lost) AND superseded_at IS NULL AND source = 'book'
                           GROUP BY game)
             SELECT group_concat(moves.uci, ' ' ORDER BY moves.ply) FROM moves JOIN last ON moves.game = last.game
             WHERE moves.ply <= last.ply AND moves.superseded_at IS NULL GROUP BY moves.game",
        )?;
        let lines = lines.query_map(params![variant.key(), start, LOST_GAMES], |row| row.get(0))?;
        Ok(lines.collect::<Result<_, _>>()?)
    }

    /// Returns the games without a PGN that ended within `within` ms before the newest end (before `now` if that is in
    /// the future); oldest first.
    pub(super) fn without_pgn(&self, now: i64, within: i64) -> Result<Vec<GameKey>, JournalError> {
        let mut games = self.connection.prepare_cached(
            "SELECT server, game FROM games
             WHERE ended_at >= min(?, (SELECT max(ended_at) FROM games)) - ? AND pgn_path IS NULL ORDER BY started_at",
        )?;
        Ok(games.query_map([now, within], key)?.collect::<Result<_, _>>()?)
    }

    pub(super) fn pgn_written(&self, game: &GameKey, path: &str) -> Result<(), JournalError> {
        self.update(game, "pgn_path = ?", &[&path])
    }

    pub(super) fn chat(&mut self, game: &GameKey, line: &ChatLine, now: i64) -> Result<(), JournalError> {
        let (connection, known) = self.line(game)?;
        let values = params![known.game, now, line.room.key(), line.username, line.text];
        execute(connection, "INSERT INTO chat (game, said_at, room, username, text) VALUES (?, ?, ?, ?, ?)", values)?;
        Ok(())
    }

    pub(super) fn fault(
        &self,
        server: &ServerName,
        game: Option<&str>,
        what: &str,
        now: i64,
    ) -> Result<(), JournalError> {
        self.write(
            "INSERT INTO faults (met_at, server, game, what) VALUES (?, ?, ?, ?)",
            params![now, server.as_str(), game, what],
        )
    }

    pub(super) fn state(&self, key: &str) -> Result<Option<String>, JournalError> {
        let mut statement = self.connection.prepare_cached("SELECT value FROM state WHERE key = ?")?;
        Ok(statement.query_row([key], |row| row.get(0)).optional()?)
    }

    pub(super) fn set_state(&self, key: &str, value: &str, now: i64) -> Result<(), JournalError> {
        self.write("INSERT OR REPLACE INTO state (key, value, written_at) VALUES (?, ?, ?)", params![key, value, now])
    }

    /// Returns the game's current line, and reads it from the database the first time.
    fn line(&mut self, game: &GameKey) -> Result<(&Connection, &mut KnownLine), JournalError> {
        if !self.lines.contains_key(game) {
            let line = read_line(self.connection, game)?;
            self.lines.insert(game.clone(), line);
        }
        match self.lines.get_mut(game) {
            Some(line) => Ok((self.connection, line)),
            None => Err(JournalError::UnknownGame(game.clone())),
        }
    }
}

/// Returns a column of a game; `None` of an unknown one.
fn column<T: FromSql>(connection: &Connection, name: &str, game: &GameKey) -> rusqlite::Result<Option<T>> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {name} FROM games WHERE server = ? AND game = ?"))?;
    statement.query_row([game.server.as_str(), game.id.as_str()], |row| row.get(0)).optional()
}

fn execute(connection: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
    connection.prepare_cached(sql)?.execute(values)
}

fn key(row: &Row<'_>) -> rusqlite::Result<GameKey> {
    Ok(GameKey { server: row.get::<_, String>(0)?.into(), id: row.get::<_, String>(1)?.into() })
}

fn proposal(
    connection: &Connection,
    row: i64,
    phase: u8,
    place: usize,
    proposal: &Proposal<impl Display>,
    knowledge: Option<impl Display>,
    weight: Option<f64>,
) -> rusqlite::Result<()> {
    let (cp, mate) = codes::score(Some(proposal.score));
    execute(
        connection,
        "INSERT INTO proposals (move, phase, place, elector, uci, score_cp, score_mate, bound, depth,
             selective_depth, root_moves_done, nodes, time, pv, weight, machine, knowledge)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            row,
            phase,
            codes::whole(place),
            proposal.elector.as_str(),
            proposal.best.to_string(),
            cp,
            mate,
            codes::bound(proposal.bound),
            proposal.depth,
            proposal.selective_depth,
            proposal.root_moves_done,
            codes::whole(proposal.nodes),
            codes::microseconds(proposal.time),
            moves_text(&proposal.pv),
            weight,
            proposal.machine.as_ref().map(MachineName::as_str),
            knowledge.map(|knowledge| knowledge.to_string()),
        ],
    )?;
    Ok(())
}
