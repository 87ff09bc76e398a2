//! Visitors: names and passwords, sessions, seeks, and the numbers of running games.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

use crate::{
    account::AccountId,
    state::{ChallengeTerms, PlayerView},
};
use domain::GameId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visitor {
    pub id: AccountId,
    pub name: String,
    pub rank: Rank,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    Registered,
    Computer,
    Guest,
}

impl Visitor {
    /// Returns `Name(C)`.
    pub(crate) fn titled(&self) -> String {
        let title = match self.rank {
            Rank::Registered => "",
            Rank::Computer => "(C)",
            Rank::Guest => "(U)",
        };
        format!("{}{title}", self.name)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Notice {
    /// The same account has logged in again.
    Displaced,
    Text(String),
    /// A shout of any kind, for those who listen to the variable's kind.
    Talk(&'static str, String),
    Channel(u16, String),
    Kibitz(GameId, String),
    /// Something for all who watch a game, but not for its players.
    Whisper(GameId, String),
    Seek(Seek),
    SeeksGone(Vec<u32>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seek {
    pub index: u32,
    pub by: Visitor,
    pub seat: PlayerView,
    pub wanted: Wanted,
}

/// The arguments after a name in `match`, or after `seek`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wanted {
    pub terms: ChallengeTerms,
    /// A seek whose answers are accepted by hand.
    pub manual: bool,
    /// A seek that the formula filters.
    pub formula: bool,
    /// The ratings that a seek accepts.
    pub range: (i32, i32),
}

impl Wanted {
    /// A game on these terms with any player.
    pub(crate) fn new(terms: ChallengeTerms) -> Self {
        Self { terms, manual: false, formula: false, range: (0, 9999) }
    }
}

struct LoggedIn {
    session: u64,
    visitor: Visitor,
    open: bool,
    sender: mpsc::UnboundedSender<Notice>,
}

#[derive(Default)]
struct Inner {
    passwords: HashMap<AccountId, String>,
    guests: HashSet<AccountId>,
    logged_in: HashMap<AccountId, LoggedIn>,
    seeks: BTreeMap<u32, Seek>,
    residents: BTreeMap<AccountId, Visitor>,
    games: BTreeMap<u32, GameId>,
    serial: u64,
    guest_serial: u32,
    seek_serial: u32,
}

#[derive(Clone, Default)]
pub(crate) struct FicsLobby {
    // Held for moments only, never across an await.
    inner: Arc<Mutex<Inner>>,
}

impl FicsLobby {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn register(&self, account: &AccountId, password: &str) {
        self.inner().passwords.insert(account.clone(), password.to_owned());
    }

    /// The password of an account, if it may log in here.
    pub(crate) fn password(&self, account: &AccountId) -> Option<String> {
        self.inner().passwords.get(account).cloned()
    }

    /// Returns true if the name belongs to a guest, now or earlier.
    pub(crate) fn is_guest(&self, account: &AccountId) -> bool {
        self.inner().guests.contains(account)
    }

    pub(crate) fn note_guest(&self, account: &AccountId) {
        self.inner().guests.insert(account.clone());
    }

    pub(crate) fn guest_name(&self) -> String {
        let mut inner = self.inner();
        inner.guest_serial += 1;
        // A multiplier without common divisors walks through all four-letter endings before one comes again.
        let mut number = inner.guest_serial.wrapping_mul(123_457) % 26u32.pow(4);
        let mut name = "Guest".to_owned();
        for _ in 0..4 {
            name.push(char::from(b'A' + (number % 26) as u8));
            number /= 26;
        }
        name
    }

    /// Adds a visitor and ends an earlier session of the same name. Returns the session's number,
    /// its messages, and true if there was an earlier one.
    pub(crate) fn enter(&self, visitor: &Visitor) -> (u64, mpsc::UnboundedReceiver<Notice>, bool) {
        let (sender, notices) = mpsc::unbounded_channel();
        let mut inner = self.inner();
        inner.serial += 1;
        let session = inner.serial;
        let user = LoggedIn { session, visitor: visitor.clone(), open: true, sender };
        let displaced = inner.logged_in.insert(visitor.id.clone(), user);
        let told = displaced.is_some_and(|old| old.sender.send(Notice::Displaced).is_ok());
        (session, notices, told)
    }

    /// Leaves a place; whether it was still this session's.
    pub(crate) fn leave(&self, account: &AccountId, session: u64) -> bool {
        let mut inner = self.inner();
        let is_ours = inner.logged_in.get(account).is_some_and(|user| user.session == session);
        if is_ours {
            inner.logged_in.remove(account);
        }
        is_ours
    }

    /// Adds a player that lives in the server: it is always here, and always seeks a game on these terms.
    pub(crate) fn add_resident(&self, seat: PlayerView, terms: ChallengeTerms) {
        let by = Visitor { id: seat.account.clone(), name: seat.name.clone(), rank: Rank::Computer };
        self.inner().residents.insert(by.id.clone(), by.clone());
        self.post_seek(|index| Seek { index, by, seat, wanted: Wanted::new(terms) });
    }

    pub(crate) fn visitors(&self) -> Vec<Visitor> {
        let inner = self.inner();
        let guests = inner.logged_in.values().map(|user| &user.visitor);
        let mut visitors: Vec<Visitor> = inner.residents.values().chain(guests).cloned().collect();
        visitors.sort_by(|a, b| a.id.cmp(&b.id));
        visitors
    }

    /// Returns a visitor, and true if challenges are welcome.
    pub(crate) fn find(&self, account: &AccountId) -> Option<(Visitor, bool)> {
        self.inner().logged_in.get(account).map(|user| (user.visitor.clone(), user.open))
    }

    pub(crate) fn set_open(&self, account: &AccountId, open: bool) {
        if let Some(user) = self.inner().logged_in.get_mut(account) {
            user.open = open;
        }
    }

    /// Sends a message to one session; returns true if it is there.
    pub(crate) fn tell(&self, account: &AccountId, notice: Notice) -> bool {
        self.inner().logged_in.get(account).is_some_and(|user| user.sender.send(notice).is_ok())
    }

    /// Sends a message to all sessions but one; returns their number.
    pub(crate) fn tell_others(&self, account: &AccountId, notice: &Notice) -> usize {
        let inner = self.inner();
        let others = inner.logged_in.iter().filter(|(id, _)| *id != account);
        others.filter(|(_, user)| user.sender.send(notice.clone()).is_ok()).count()
    }

    pub(crate) fn tell_everybody(&self, notice: &Notice) {
        for user in self.inner().logged_in.values() {
            let _ = user.sender.send(notice.clone());
        }
    }

    pub(crate) fn post_seek(&self, seek: impl FnOnce(u32) -> Seek) -> Seek {
        let mut inner = self.inner();
        inner.seek_serial += 1;
        let seek = seek(inner.seek_serial);
        inner.seeks.insert(seek.index, seek.clone());
        seek
    }

    pub(crate) fn seeks(&self) -> Vec<Seek> {
        self.inner().seeks.values().cloned().collect()
    }

    /// Removes seeks of an account, all or one, and tells every session. Returns their numbers.
    pub(crate) fn remove_seeks(&self, account: &AccountId, index: Option<u32>) -> Vec<u32> {
        let gone: Vec<u32> = {
            let mut inner = self.inner();
            let theirs = |seek: &Seek| seek.by.id == *account && index.is_none_or(|index| index == seek.index);
            let gone = inner.seeks.values().filter(|seek| theirs(seek)).map(|seek| seek.index).collect();
            inner.seeks.retain(|_, seek| !theirs(seek));
            gone
        };
        if !gone.is_empty() {
            self.tell_others(account, &Notice::SeeksGone(gone.clone()));
        }
        gone
    }

    /// The number of a game: the one it has, or the lowest that is free.
    pub(crate) fn number_of(&self, game: &GameId) -> u32 {
        let mut inner = self.inner();
        if let Some((number, _)) = inner.games.iter().find(|(_, id)| *id == game) {
            return *number;
        }
        let free = (1..).zip(inner.games.keys()).find(|(free, taken)| free != *taken).map(|(free, _)| free);
        let number = free.unwrap_or(inner.games.len() as u32 + 1);
        inner.games.insert(number, game.clone());
        number
    }

    pub(crate) fn game(&self, number: u32) -> Option<GameId> {
        self.inner().games.get(&number).cloned()
    }

    /// A game runs no more; its number goes to another one.
    pub(crate) fn release_number(&self, game: &GameId) {
        self.release_numbers(|id| id == game);
    }

    pub(crate) fn release_numbers(&self, has_stopped: impl Fn(&GameId) -> bool) {
        self.inner().games.retain(|_, id| !has_stopped(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_games_are_used_again() {
        let lobby = FicsLobby::default();
        let [a, b, c] = ["a", "b", "c"].map(GameId::new);
        assert_eq!([&a, &b, &a].map(|game| lobby.number_of(game)), [1, 2, 1]);
        lobby.release_number(&a);
        assert_eq!((lobby.number_of(&c), lobby.game(1)), (1, Some(c)));
        lobby.release_numbers(|game| *game == b);
        assert_eq!(lobby.number_of(&a), 2);
    }

    #[test]
    fn second_login_displaces_the_first() {
        let lobby = FicsLobby::default();
        let ann = Visitor { id: AccountId::of("Ann"), name: "Ann".to_owned(), rank: Rank::Registered };
        let (first, mut notices, displaced) = lobby.enter(&ann);
        assert!(!displaced);
        let (second, _notices, displaced) = lobby.enter(&ann);
        assert!(displaced && matches!(notices.try_recv(), Ok(Notice::Displaced)));
        assert!(!lobby.leave(&ann.id, first));
        assert!(lobby.leave(&ann.id, second));
    }
}
