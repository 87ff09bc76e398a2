//! The games: a table is a game with its two players, whoever listens, and what is said there.

use std::{sync::Arc, time::Duration};

use shakmaty::ByColor;
use tokio::sync::mpsc;

use super::{
    Now,
    events::{AccountEvent, BoardEvent, GameView, Lease, ListenerKey, Pairing, Seat, Subscription},
    limits::Gauge,
    state::{Denied, Due, Listener, State},
};
use crate::{
    account::AccountId,
    game::{Change, End, Game, Outcome, Refusal, Stop},
};
use chess::{ChatLine, ChatRoom, Clocks, Color, GameId, GameTerms, Line, UciMove};

/// The same text again, or more than this many lines within [`FLOOD_WINDOW`], is not said at all.
const FLOOD_LINES: usize = 4;
const FLOOD_WINDOW: Duration = Duration::from_secs(10);
/// How many refused moves a report remembers.
const REFUSED_REMEMBERED: usize = 100;

/// A move that the server did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedMove {
    /// Who sent it.
    pub color: Color,
    /// What was sent.
    pub uci: UciMove,
    /// How many moves had been played.
    pub ply: usize,
    /// Why it was refused.
    pub refusal: Refusal,
}

/// Everything about a game that a test may want to know.
#[derive(Clone, Debug)]
pub struct GameReport {
    /// Its name.
    pub id: GameId,
    /// Who had White.
    pub white: String,
    /// Who had Black.
    pub black: String,
    /// Variant, clock, rated or not.
    pub terms: GameTerms,
    /// The moves.
    pub line: Line,
    /// The clocks, now or at the end.
    pub clocks: Option<Clocks>,
    /// What the mover's clock showed after each move.
    pub clocks_after: Vec<Option<Duration>>,
    /// How it ended, and who won.
    pub outcome: Option<Outcome>,
    /// Moves that were sent and not taken, the first hundred.
    pub refused: Vec<RefusedMove>,
    /// How often each side opened the game's stream.
    pub streams_opened: ByColor<u32>,
    /// What was said.
    pub chat: Vec<ChatLine>,
}

impl GameReport {
    /// Why it ended, if it did.
    pub fn end(&self) -> Option<End> {
        self.outcome.as_ref().map(|outcome| outcome.end)
    }

    /// The name of the loser, if somebody lost.
    pub fn loser(&self) -> Option<&str> {
        let loser = self.outcome.as_ref()?.loser()?;
        Some(loser.fold_wb(&self.white, &self.black))
    }

    /// The name of the winner, if somebody won.
    pub fn winner(&self) -> Option<&str> {
        let winner = self.outcome.as_ref()?.winner?;
        Some(winner.fold_wb(&self.white, &self.black))
    }

    /// The colour of a player.
    pub fn color_of(&self, name: &str) -> Option<Color> {
        Color::ALL.into_iter().find(|color| color.fold_wb(&self.white, &self.black).eq_ignore_ascii_case(name))
    }
}

pub(super) struct Table {
    number: u64,
    pub pairing: Arc<Pairing>,
    pub game: Game,
    listeners: Vec<Listener<BoardEvent>>,
    chat: Vec<(Option<AccountId>, Now, ChatLine)>,
    deadline: Option<Now>,
    changed: Now,
    rating_changes: Option<ByColor<i32>>,
    refused: Vec<RefusedMove>,
    streams_opened: ByColor<u32>,
}

impl Table {
    pub(super) fn is_running(&self) -> bool {
        self.game.outcome().is_none() && self.game.adjourned().is_none()
    }
}

impl State {
    pub(super) fn start_game(&mut self, id: GameId, terms: GameTerms, start: Line, white: Seat, black: Seat) {
        if white.bot && black.bot {
            for seat in [&white, &black] {
                self.ledger.spend(&seat.account, Gauge::GamesAgainstBots, 1, self.now);
            }
        }
        let seats = ByColor { white, black };
        for seat in seats.iter() {
            self.withdraw_challenges_of_busy(&seat.account);
        }
        let pairing = Arc::new(Pairing { id: id.clone(), terms, seats, created_at: self.unix_now() });
        let mut patience = self.settings.patience;
        patience.flags_fall &= self.settings.faults.dialect.flags_fall();
        let mut game = Game::new(start, terms.time_control, patience, self.now);
        for color in Color::ALL {
            game.set_present(color, false, self.now);
        }
        let table = Table {
            number: self.next_number(),
            pairing: Arc::clone(&pairing),
            game,
            listeners: Vec::new(),
            chat: Vec::new(),
            deadline: None,
            changed: self.now,
            rating_changes: None,
            refused: Vec::new(),
            streams_opened: ByColor::default(),
        };
        let view = self.view(&table);
        self.games.insert(id.clone(), table);
        self.settle(&id);
        self.tell_players(&view, AccountEvent::GameStart);
    }

    fn view(&self, table: &Table) -> Arc<GameView> {
        Arc::new(GameView {
            pairing: Arc::clone(&table.pairing),
            line: table.game.line().clone(),
            clocks: table.game.clocks(self.now),
            move_times: table.game.move_times().to_vec(),
            outcome: table.game.outcome().cloned(),
            draw_offers: table.game.draw_offers(),
            takeback_offers: table.game.takeback_offers(),
            takeback_plies: table.game.takeback_plies(),
            abort_offers: table.game.stop_offers(Stop::Abort),
            adjourn_offers: table.game.stop_offers(Stop::Adjourn),
            adjourned: table.game.adjourned(),
            left: table.game.left(),
            rating_changes: table.rating_changes,
            changed_at: self.unix_millis(table.changed),
        })
    }

    /// A game as it stands.
    pub fn game_view(&self, id: &GameId) -> Option<Arc<GameView>> {
        self.games.get(id).map(|table| self.view(table))
    }

    /// The running games of an account, oldest first.
    pub fn games_of(&self, account: &AccountId) -> Vec<Arc<GameView>> {
        self.views(|table| table.is_running() && table.pairing.color_of(account).is_some())
    }

    /// All running games, oldest first.
    pub fn running_games(&self) -> Vec<Arc<GameView>> {
        self.views(Table::is_running)
    }

    pub(super) fn views(&self, wanted: impl Fn(&Table) -> bool) -> Vec<Arc<GameView>> {
        let mut tables: Vec<&Table> = self.games.values().filter(|table| wanted(table)).collect();
        tables.sort_by_key(|table| table.number);
        tables.into_iter().map(|table| self.view(table)).collect()
    }

    /// Whether an account plays a game that is neither over nor adjourned. Cheap.
    pub fn is_playing(&self, account: &AccountId) -> bool {
        self.games.values().any(|table| table.is_running() && table.pairing.color_of(account).is_some())
    }

    /// Everything about a game.
    pub fn report(&self, id: &GameId) -> Option<GameReport> {
        self.games.get(id).map(|table| self.report_of(table))
    }

    /// Everything about every game, oldest first.
    pub fn reports(&self) -> Vec<GameReport> {
        let mut tables: Vec<&Table> = self.games.values().collect();
        tables.sort_by_key(|table| table.number);
        tables.into_iter().map(|table| self.report_of(table)).collect()
    }

    fn report_of(&self, table: &Table) -> GameReport {
        let seats = &table.pairing.seats;
        GameReport {
            id: table.pairing.id.clone(),
            white: seats.white.name.clone(),
            black: seats.black.name.clone(),
            terms: table.pairing.terms,
            line: table.game.line().clone(),
            clocks: table.game.clocks(self.now),
            clocks_after: table.game.move_times().to_vec(),
            outcome: table.game.outcome().cloned(),
            refused: table.refused.clone(),
            streams_opened: table.streams_opened,
            chat: table.chat.iter().map(|(_, _, line)| line.clone()).collect(),
        }
    }

    /// How a game ended, if it did. Cheap, for conditions.
    pub fn outcome(&self, id: &GameId) -> Option<&Outcome> {
        self.games.get(id)?.game.outcome()
    }

    /// How many moves were played in a game. Cheap, for conditions.
    pub fn ply(&self, id: &GameId) -> Option<usize> {
        self.games.get(id).map(|table| table.game.line().ply())
    }

    /// How many games were begun, and how many of them run. Cheap, for conditions.
    pub fn game_counts(&self) -> (usize, usize) {
        let running = self.games.values().filter(|table| table.game.outcome().is_none()).count();
        (self.games.len(), running)
    }

    /// Listens at a board. The first event is the whole game. A game that is over says only that.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`].
    pub fn join(&mut self, id: &GameId, key: ListenerKey) -> Result<Subscription<BoardEvent>, Denied> {
        let color = self.color_at(id, &key.account)?;
        self.listen_at(id, key, Some(color))
    }

    /// Watches a game of others.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`].
    pub fn watch(&mut self, id: &GameId, key: ListenerKey) -> Result<Subscription<BoardEvent>, Denied> {
        self.listen_at(id, key, None)
    }

    fn listen_at(
        &mut self,
        id: &GameId,
        key: ListenerKey,
        color: Option<Color>,
    ) -> Result<Subscription<BoardEvent>, Denied> {
        let listener = self.next_number();
        let table = self.games.get(id).ok_or(Denied::NoSuchGame)?;
        let view = self.view(table);
        let (sender, events) = mpsc::unbounded_channel();
        let over = view.outcome.is_some();
        let _ = sender.send(BoardEvent::Full(view));
        if let Some(table) = self.games.get_mut(id) {
            if let Some(color) = color {
                *table.streams_opened.get_mut(color) += 1;
            }
            if !over {
                table.listeners.retain(|known| known.key != key);
                table.listeners.push(Listener { id: listener, key, sender });
            }
        }
        if let Some(color) = color {
            self.on_table(id, |game, now| game.set_present(color, true, now));
        }
        let lease = Lease { hub: self.hub.clone(), listener, board: Some(id.clone()) };
        Ok(Subscription { events, _lease: lease })
    }

    pub(super) fn leave_table(&mut self, id: &GameId, listener: u64) {
        let Some(table) = self.games.get_mut(id) else { return };
        let Some(index) = table.listeners.iter().position(|known| known.id == listener) else { return };
        let account = table.listeners.swap_remove(index).key.account;
        let still_there = table.listeners.iter().any(|known| known.key.account == account);
        if let Some(color) = table.pairing.color_of(&account)
            && !still_there
        {
            self.on_table(id, |game, now| game.set_present(color, false, now));
        }
    }

    /// The colour an account has in a game.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`].
    pub fn color_at(&self, id: &GameId, account: &AccountId) -> Result<Color, Denied> {
        let table = self.games.get(id).ok_or(Denied::NoSuchGame)?;
        table.pairing.color_of(account).ok_or(Denied::NotYourGame)
    }

    /// Plays a move. With `offer_draw` the offer is made (or a standing one accepted, which ends the game before the
    /// move) first, and told before the move is: `Some(false)` declines or withdraws.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`], or the game's refusal.
    pub fn play(&mut self, id: &GameId, by: &AccountId, uci: UciMove, offer_draw: Option<bool>) -> Result<(), Denied> {
        let color = self.color_at(id, by)?;
        if let Some(yes) = offer_draw {
            self.on_table(id, |game, now| game.draw(color, yes, now));
            if yes && self.outcome(id).is_some_and(|outcome| outcome.end == End::Agreement) {
                return Ok(());
            }
        }
        let mut played = Ok(());
        self.on_table(id, |game, now| played = game.play(color, uci, now));
        if let (Err(refusal), Some(table)) = (&played, self.games.get_mut(id))
            && table.refused.len() < REFUSED_REMEMBERED
        {
            let ply = table.game.line().ply();
            table.refused.push(RefusedMove { color, uci, ply, refusal: refusal.clone() });
        }
        Ok(played?)
    }

    /// Makes or accepts (`yes`), or withdraws or declines a draw offer. Where it makes no sense nothing happens.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`].
    pub fn draw(&mut self, id: &GameId, by: &AccountId, yes: bool) -> Result<(), Denied> {
        let color = self.color_at(id, by)?;
        self.on_table(id, |game, now| game.draw(color, yes, now));
        Ok(())
    }

    /// The same for so many plies; `None` withdraws or refuses.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`].
    pub fn takeback_of(&mut self, id: &GameId, by: &AccountId, plies: Option<usize>) -> Result<(), Denied> {
        let color = self.color_at(id, by)?;
        self.on_table(id, |game, now| game.takeback_of(color, plies, now));
        Ok(())
    }

    /// Asks for or grants (`yes`), or withdraws or refuses a takeback. Where it makes no sense nothing happens.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`].
    pub fn takeback(&mut self, id: &GameId, by: &AccountId, yes: bool) -> Result<(), Denied> {
        let color = self.color_at(id, by)?;
        self.on_table(id, |game, now| game.takeback(color, yes, now));
        Ok(())
    }

    /// Aborts a game.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`], or the game's refusal.
    pub fn abort(&mut self, id: &GameId, by: &AccountId) -> Result<(), Denied> {
        self.try_on_table(id, by, |game, _, now| game.abort(now))
    }

    /// Gives a game up.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`], or the game's refusal.
    pub fn resign(&mut self, id: &GameId, by: &AccountId) -> Result<(), Denied> {
        self.try_on_table(id, by, Game::resign)
    }

    /// Claims that the opponent's time is over; whether it is, which ends the game.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`], or the game's refusal.
    pub fn claim_flag(&mut self, id: &GameId, by: &AccountId) -> Result<bool, Denied> {
        let color = self.color_at(id, by)?;
        let mut fell = Ok(false);
        self.on_table(id, |game, now| fell = game.claim_flag(color, now));
        Ok(fell?)
    }

    /// Claims the win because the opponent is gone; nothing happens if it is too early for that.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`], or the game's refusal.
    pub fn claim_victory(&mut self, id: &GameId, by: &AccountId) -> Result<(), Denied> {
        self.try_on_table(id, by, Game::claim_victory)
    }

    /// Claims a draw because the opponent is gone; nothing happens if it is too early for that.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`], or the game's refusal.
    pub fn claim_draw(&mut self, id: &GameId, by: &AccountId) -> Result<(), Denied> {
        self.try_on_table(id, by, Game::claim_draw)
    }

    fn try_on_table<F>(&mut self, id: &GameId, by: &AccountId, act: F) -> Result<(), Denied>
    where
        F: FnOnce(&mut Game, Color, Now) -> Result<(), Refusal>,
    {
        let color = self.color_at(id, by)?;
        let mut done = Ok(());
        self.on_table(id, |game, now| done = act(game, color, now));
        Ok(done?)
    }

    /// Says something in a game. What floods the room is swallowed without a word.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`].
    pub fn say(&mut self, id: &GameId, by: &AccountId, room: ChatRoom, text: &str) -> Result<(), Denied> {
        self.color_at(id, by)?;
        let now = self.now;
        let username = self.accounts.get(by).map(|account| account.name.clone()).unwrap_or_default();
        let table = self.games.get_mut(id).ok_or(Denied::NoSuchGame)?;
        let mine = || table.chat.iter().rev().filter(|(speaker, _, _)| speaker.as_ref() == Some(by));
        let repeated = mine().next().is_some_and(|(_, _, line)| line.text == text && line.room == room);
        let lately = mine().take_while(|(_, at, _)| *at + FLOOD_WINDOW > now).count();
        if repeated || lately >= FLOOD_LINES {
            return Ok(());
        }
        let line = ChatLine { room, username, text: text.to_owned() };
        table.chat.push((Some(by.clone()), now, line.clone()));
        for listener in &table.listeners {
            let _ = listener.sender.send(BoardEvent::Chat(line.clone()));
        }
        Ok(())
    }

    /// What was said in a room of a game.
    ///
    /// # Errors
    /// [`Denied::NoSuchGame`], [`Denied::NotYourGame`].
    pub fn chat(&self, id: &GameId, by: &AccountId, room: ChatRoom) -> Result<Vec<ChatLine>, Denied> {
        self.color_at(id, by)?;
        let table = self.games.get(id).ok_or(Denied::NoSuchGame)?;
        Ok(table.chat.iter().map(|(_, _, line)| line).filter(|line| line.room == room).cloned().collect())
    }

    /// Does something to a game and tells everybody what changed.
    pub(super) fn on_table(&mut self, id: &GameId, act: impl FnOnce(&mut Game, Now)) {
        let now = self.now;
        if let Some(table) = self.games.get_mut(id) {
            let was_over = table.game.outcome().is_some();
            act(&mut table.game, now);
            let is_over = table.game.outcome().is_some();
            if is_over && !was_over {
                self.rate(id);
            }
            self.settle(id);
        }
    }

    /// Tells the changes of a game and plans its next deadline.
    fn settle(&mut self, id: &GameId) {
        let now = self.now;
        let Some(table) = self.games.get_mut(id) else { return };
        let changes = table.game.take_changes();
        if changes.iter().any(|change| matches!(change, Change::State | Change::Adjourned | Change::Resumed)) {
            table.changed = now;
        }
        let deadline = table.game.next_deadline();
        let planned = std::mem::replace(&mut table.deadline, deadline);
        if let Some(at) = planned {
            self.deadlines.remove(&(at, Due::Game(id.clone())));
        }
        if let Some(at) = deadline {
            self.deadlines.insert((at, Due::Game(id.clone())));
        }
        for change in changes {
            self.tell_table(id, change);
        }
    }

    fn tell_table(&mut self, id: &GameId, change: Change) {
        let Some(table) = self.games.get(id) else { return };
        let to_opponent_of = |color: Color, event: &BoardEvent| {
            let opponent = &table.pairing.seats.get(!color).account;
            for listener in table.listeners.iter().filter(|listener| listener.key.account == *opponent) {
                let _ = listener.sender.send(event.clone());
            }
        };
        match change {
            Change::Gone(color, claim_after) => to_opponent_of(color, &BoardEvent::OpponentGone(claim_after)),
            Change::Back(color) => to_opponent_of(color, &BoardEvent::OpponentBack),
            Change::Resumed => {
                let view = self.view(table);
                self.tell_players(&view, AccountEvent::GameStart);
            }
            Change::State | Change::Adjourned => {
                let view = self.view(table);
                for listener in &table.listeners {
                    let _ = listener.sender.send(BoardEvent::State(Arc::clone(&view)));
                }
                if view.adjourned.is_some() {
                    self.dismiss_listeners(id);
                    self.tell_players(&view, AccountEvent::GameAdjourned);
                } else if view.outcome.is_some() {
                    self.close_table(id, &view);
                }
            }
        }
    }

    fn close_table(&mut self, id: &GameId, view: &Arc<GameView>) {
        self.dismiss_listeners(id);
        self.tell_players(view, AccountEvent::GameFinish);
        self.finished.push_back(id.clone());
        while self.finished.len() > self.settings.keep_finished
            && let Some(oldest) = self.finished.pop_front()
        {
            self.games.remove(&oldest);
            self.challenges.remove(oldest.as_str());
        }
    }

    fn dismiss_listeners(&mut self, id: &GameId) {
        if let Some(table) = self.games.get_mut(id) {
            table.listeners.clear();
        }
    }

    pub(super) fn tell_players(&self, view: &Arc<GameView>, event: fn(Arc<GameView>) -> AccountEvent) {
        for seat in view.pairing.seats.iter() {
            self.tell(&seat.account, &event(Arc::clone(view)));
        }
    }

    /// Counts a finished game for both players.
    fn rate(&mut self, id: &GameId) {
        let Some(table) = self.games.get_mut(id) else { return };
        let Some(outcome) = table.game.outcome().cloned() else { return };
        if outcome == Outcome::aborted() {
            return;
        }
        let pairing = Arc::clone(&table.pairing);
        let ratings = pairing.seats.as_ref().map(|seat| seat.rating);
        let rated = pairing.terms.rated && pairing.seats.iter().all(|seat| seat.ai_level.is_none());
        let score = |color: Color| outcome.winner.map_or(0.5, |winner| if winner == color { 1.0 } else { 0.0 });
        let changes = ByColor::new_with(|color| ratings.get(color).change(*ratings.get(!color), score(color)));
        table.rating_changes = rated.then_some(changes);
        for color in Color::ALL {
            let Some(account) = self.accounts.get_mut(&pairing.seats.get(color).account) else { continue };
            match outcome.winner {
                None => account.tally.drawn += 1,
                Some(winner) if winner == color => account.tally.won += 1,
                Some(_) => account.tally.lost += 1,
            }
            if rated {
                account.tally.rated += 1;
                let rating = account.ratings.entry(pairing.category()).or_default();
                rating.points += changes.get(color);
                rating.games += 1;
            }
        }
    }
}
