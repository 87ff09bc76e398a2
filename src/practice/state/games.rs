//! The games: their players, listeners and chat.

use std::{sync::Arc, time::Duration};

use shakmaty::ByColor;
use tokio::sync::mpsc;

use super::{
    hosted::{HostedGame, Listener},
    rate_limits::Gauge,
    server_state::{Denied, Due, ServerState},
    views::{BoardEvent, GameView, ListenerKey, Pairing, PlayerView, PracticeAccountEvent, RefusedMove, Subscription},
};
use crate::{
    account::AccountId,
    game::{End, GameChange, GameOutcome, PracticeGame},
};
use domain::{ChatLine, ChatRoom, Color, GameId, GameTerms, Line, Tournament, UciMove};

/// Repeated texts, and more than this many lines within [`FLOOD_WINDOW`], are dropped.
const FLOOD_LINES: usize = 4;
const FLOOD_WINDOW: Duration = Duration::from_secs(10);
const REFUSED_REMEMBERED: usize = 100;

impl ServerState {
    pub(super) fn start_game(
        &mut self,
        id: GameId,
        terms: GameTerms,
        start: Line,
        white: PlayerView,
        black: PlayerView,
        tournament: Option<Tournament>,
    ) {
        if white.bot && black.bot {
            for seat in [&white, &black] {
                self.rate_limiter.spend(&seat.account, Gauge::GamesAgainstBots, 1, self.now);
            }
        }
        let players = ByColor { white, black };
        for seat in players.iter() {
            self.withdraw_challenges_of_busy(&seat.account);
        }
        let solo = players.as_ref().map(|seat| self.solo.contains(&seat.account));
        let pairing = Arc::new(Pairing { id: id.clone(), terms, players, tournament, created_at: self.unix_now() });
        let mut patience = self.settings.patience;
        // The dialect is that of the servers on which one plays one game at a time.
        patience.flags_fall &= !self.settings.faults.dialect.is_plain() || !(solo.white || solo.black);
        if pairing.players.iter().any(|seat| seat.ai_level.is_some()) {
            // The engine neither claims the win nor waits.
            patience.abandoned_after = Some(patience.gone_after + patience.claim_after);
        }
        let mut game = PracticeGame::new(start, terms.time_control, patience, self.now);
        for color in Color::ALL {
            game.set_present(color, false, self.now);
        }
        let hosted = HostedGame {
            number: self.next_number(),
            pairing: Arc::clone(&pairing),
            game,
            solo,
            listeners: Vec::new(),
            chat: Vec::new(),
            deadline: None,
            changed: self.now,
            rating_changes: None,
            refused: Vec::new(),
            streams_opened: ByColor::default(),
        };
        let view = self.view(&hosted);
        self.games.insert(id.clone(), hosted);
        self.settle(&id);
        self.tell_players(&view, PracticeAccountEvent::GameStart);
    }

    fn view(&self, hosted: &HostedGame) -> Arc<GameView> {
        Arc::new(GameView {
            pairing: Arc::clone(&hosted.pairing),
            game: hosted.game.clone(),
            clocks: hosted.game.clocks(self.now),
            rating_changes: hosted.rating_changes,
            changed_at: self.unix_millis(hosted.changed),
        })
    }

    pub fn game_view(&self, id: &GameId) -> Option<Arc<GameView>> {
        self.games.get(id).map(|hosted| self.view(hosted))
    }

    /// The running games of an account, oldest first.
    pub fn games_of(&self, account: &AccountId) -> Vec<Arc<GameView>> {
        self.views(|hosted| hosted.game.is_running() && hosted.pairing.color_of(account).is_some())
    }

    /// Returns all remembered games of an account, oldest first.
    pub fn all_games_of(&self, account: &AccountId) -> Vec<Arc<GameView>> {
        self.views(|hosted| hosted.pairing.color_of(account).is_some())
    }

    pub fn finished_games(&self) -> Vec<Arc<GameView>> {
        self.views(|hosted| hosted.game.outcome.is_some())
    }

    pub fn running_games(&self) -> Vec<Arc<GameView>> {
        self.views(|hosted| hosted.game.is_running())
    }

    pub(super) fn views(&self, wanted: impl Fn(&HostedGame) -> bool) -> Vec<Arc<GameView>> {
        self.hosted(wanted).map(|hosted| self.view(hosted)).collect()
    }

    /// Returns remembered games, oldest first.
    pub(super) fn hosted(&self, wanted: impl Fn(&HostedGame) -> bool) -> impl Iterator<Item = &HostedGame> {
        let mut hosted: Vec<&HostedGame> = self.games.values().filter(|hosted| wanted(hosted)).collect();
        hosted.sort_by_key(|hosted| hosted.number);
        hosted.into_iter()
    }

    /// Returns true if an account plays a game that is neither over nor adjourned. Cheap.
    pub fn is_playing(&self, account: &AccountId) -> bool {
        self.games.values().any(|hosted| hosted.game.is_running() && hosted.pairing.color_of(account).is_some())
    }

    /// Returns true if a remembered game is over or adjourned. Cheap.
    pub fn has_stopped(&self, id: &GameId) -> bool {
        self.games.get(id).is_some_and(|hosted| !hosted.game.is_running())
    }

    /// Returns the outcome of a finished game. Cheap, for conditions.
    pub fn outcome(&self, id: &GameId) -> Option<GameOutcome> {
        self.games.get(id)?.game.outcome
    }

    /// Returns the number of moves played. Cheap, for conditions.
    pub fn ply(&self, id: &GameId) -> Option<usize> {
        self.games.get(id).map(|hosted| hosted.game.line.ply())
    }

    /// Returns the number of games begun, and of running ones. Cheap, for conditions.
    pub fn game_counts(&self) -> (usize, usize) {
        let running = self.games.values().filter(|hosted| hosted.game.outcome.is_none()).count();
        (self.games.len(), running)
    }

    /// Listens at a board. The first event is the whole game, which is the only one if it is over.
    pub fn join(&mut self, id: &GameId, key: ListenerKey) -> Result<Subscription<BoardEvent>, Denied> {
        let color = self.color_at(id, &key.account)?;
        self.listen_at(id, key, Some(color))
    }

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
        let hosted = self.games.get(id).ok_or(Denied::NoSuchGame)?;
        let view = self.view(hosted);
        let (sender, events) = mpsc::unbounded_channel();
        let over = view.outcome.is_some();
        let _ = sender.send(BoardEvent::Full(view));
        if let Some(hosted) = self.games.get_mut(id) {
            if let Some(color) = color {
                *hosted.streams_opened.get_mut(color) += 1;
            }
            if !over {
                hosted.listeners.retain(|known| known.key != key);
                hosted.listeners.push(Listener { id: listener, key, sender });
            }
        }
        if let Some(color) = color {
            self.with_game(id, |game, now| game.set_present(color, true, now));
        }
        Ok(Subscription { events, departures: self.departures.clone(), listener, game: Some(id.clone()) })
    }

    pub(super) fn leave_game(&mut self, id: &GameId, listener: u64) {
        let Some(hosted) = self.games.get_mut(id) else { return };
        let Some(index) = hosted.listeners.iter().position(|known| known.id == listener) else { return };
        let account = hosted.listeners.swap_remove(index).key.account;
        let still_there = hosted.listeners.iter().any(|known| known.key.account == account);
        if let Some(color) = hosted.pairing.color_of(&account)
            && !still_there
        {
            self.with_game(id, |game, now| game.set_present(color, false, now));
        }
    }

    pub fn color_at(&self, id: &GameId, account: &AccountId) -> Result<Color, Denied> {
        let hosted = self.games.get(id).ok_or(Denied::NoSuchGame)?;
        hosted.pairing.color_of(account).ok_or(Denied::NotYourGame)
    }

    /// Plays a move. `offer_draw` makes an offer first (or accepts a standing one, which ends the
    /// game before the move), and reports it before the move: `Some(false)` declines or withdraws.
    pub fn play(&mut self, id: &GameId, by: &AccountId, uci: UciMove, offer_draw: Option<bool>) -> Result<(), Denied> {
        let color = self.color_at(id, by)?;
        // An impossible move makes no offer.
        let may_move = |hosted: &HostedGame| hosted.game.line.turn() == color && hosted.game.line.is_legal(uci);
        if let Some(yes) = offer_draw
            && self.games.get(id).is_some_and(may_move)
        {
            self.with_game(id, |game, now| game.draw(color, yes, now));
            if yes && self.outcome(id).is_some_and(|outcome| outcome.end == End::Agreement) {
                return Ok(());
            }
        }
        let played = self.act(id, by, |game, color, now| game.play(color, uci, now))?;
        if let (Err(refusal), Some(hosted)) = (&played, self.games.get_mut(id))
            && hosted.refused.len() < REFUSED_REMEMBERED
        {
            let ply = hosted.game.line.ply();
            hosted.refused.push(RefusedMove { color, uci, ply, refusal: refusal.clone() });
        }
        Ok(played?)
    }

    pub fn abort(&mut self, id: &GameId, by: &AccountId) -> Result<(), Denied> {
        Ok(self.act(id, by, PracticeGame::abort)??)
    }

    pub fn resign(&mut self, id: &GameId, by: &AccountId) -> Result<(), Denied> {
        Ok(self.act(id, by, PracticeGame::resign)??)
    }

    /// Lets a player do something in a game.
    pub fn act<T>(
        &mut self,
        id: &GameId,
        by: &AccountId,
        act: impl FnOnce(&mut PracticeGame, Color, Duration) -> T,
    ) -> Result<T, Denied> {
        let color = self.color_at(id, by)?;
        self.with_game(id, |game, now| act(game, color, now)).ok_or(Denied::NoSuchGame)
    }

    /// Writes in a game's chat. Floods are dropped silently.
    pub fn say(&mut self, id: &GameId, by: &AccountId, room: ChatRoom, text: &str) -> Result<(), Denied> {
        self.color_at(id, by)?;
        let now = self.now;
        let username = self.accounts.get(by).map(|account| account.name.clone()).unwrap_or_default();
        let hosted = self.games.get_mut(id).ok_or(Denied::NoSuchGame)?;
        let mine = || hosted.chat.iter().rev().filter(|(speaker, _, _)| speaker.as_ref() == Some(by));
        let repeated = mine().next().is_some_and(|(_, _, line)| line.text == text && line.room == room);
        let lately = mine().take_while(|(_, at, _)| *at + FLOOD_WINDOW > now).count();
        if repeated || lately >= FLOOD_LINES {
            return Ok(());
        }
        let line = ChatLine { room, username, text: text.to_owned() };
        hosted.chat.push((Some(by.clone()), now, line.clone()));
        for listener in &hosted.listeners {
            let _ = listener.sender.send(BoardEvent::Chat(line.clone()));
        }
        Ok(())
    }

    pub fn chat(&self, id: &GameId, by: &AccountId, room: ChatRoom) -> Result<Vec<ChatLine>, Denied> {
        self.color_at(id, by)?;
        let hosted = self.games.get(id).ok_or(Denied::NoSuchGame)?;
        Ok(hosted.chat.iter().map(|(_, _, line)| line).filter(|line| line.room == room).cloned().collect())
    }

    /// Changes a game and sends its changes to all listeners.
    pub(super) fn with_game<T>(
        &mut self,
        id: &GameId,
        act: impl FnOnce(&mut PracticeGame, Duration) -> T,
    ) -> Option<T> {
        let now = self.now;
        let hosted = self.games.get_mut(id)?;
        let was_over = hosted.game.outcome.is_some();
        let done = act(&mut hosted.game, now);
        if hosted.game.outcome.is_some() && !was_over {
            self.rate(id);
        }
        self.settle(id);
        Some(done)
    }

    /// Sends the changes of a game and plans its next deadline.
    fn settle(&mut self, id: &GameId) {
        let now = self.now;
        let Some(hosted) = self.games.get_mut(id) else { return };
        let changes = hosted.game.take_changes();
        if changes
            .iter()
            .any(|change| matches!(change, GameChange::State | GameChange::Adjourned | GameChange::Resumed))
        {
            hosted.changed = now;
        }
        let deadline = hosted.game.next_deadline();
        let planned = std::mem::replace(&mut hosted.deadline, deadline);
        if let Some(at) = planned {
            self.deadlines.remove(&(at, Due::Game(id.clone())));
        }
        if let Some(at) = deadline {
            self.deadlines.insert((at, Due::Game(id.clone())));
        }
        for change in changes {
            self.tell_listeners(id, change);
        }
    }

    fn tell_listeners(&mut self, id: &GameId, change: GameChange) {
        let Some(hosted) = self.games.get(id) else { return };
        let to_opponent_of = |color: Color, event: &BoardEvent| {
            let opponent = &hosted.pairing.players.get(!color).account;
            for listener in hosted.listeners.iter().filter(|listener| listener.key.account == *opponent) {
                let _ = listener.sender.send(event.clone());
            }
        };
        match change {
            GameChange::Gone(color, claim_after) => to_opponent_of(color, &BoardEvent::OpponentGone(claim_after)),
            GameChange::Back(color) => to_opponent_of(color, &BoardEvent::OpponentBack),
            GameChange::Resumed => {
                let view = self.view(hosted);
                self.tell_players(&view, PracticeAccountEvent::GameStart);
            }
            GameChange::State | GameChange::Adjourned => {
                let view = self.view(hosted);
                for listener in &hosted.listeners {
                    let _ = listener.sender.send(BoardEvent::State(Arc::clone(&view)));
                }
                if view.is_adjourned {
                    self.dismiss_listeners(id);
                    self.tell_players(&view, PracticeAccountEvent::GameAdjourned);
                } else if view.outcome.is_some() {
                    self.close_game(id, &view);
                }
            }
        }
    }

    fn close_game(&mut self, id: &GameId, view: &Arc<GameView>) {
        self.dismiss_listeners(id);
        self.tell_players(view, PracticeAccountEvent::GameFinish);
        self.count_for_tournament(view);
        self.finished.push_back(id.clone());
        while self.finished.len() > self.settings.keep_finished
            && let Some(oldest) = self.finished.pop_front()
        {
            self.games.remove(&oldest);
            self.challenges.remove(oldest.as_str());
        }
    }

    fn dismiss_listeners(&mut self, id: &GameId) {
        if let Some(hosted) = self.games.get_mut(id) {
            hosted.listeners.clear();
        }
    }

    pub(super) fn tell_players(&self, view: &Arc<GameView>, event: fn(Arc<GameView>) -> PracticeAccountEvent) {
        for seat in view.pairing.players.iter() {
            self.tell(&seat.account, &event(Arc::clone(view)));
        }
    }
}
