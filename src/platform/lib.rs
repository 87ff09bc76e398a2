//! Clients of chess servers.
//!
//! | module | contents |
//! |---|---|
//! | [`lichess`] | the Lichess API: streams of lines, requests, rate limits |
//! | [`fics`] | FICS and its relatives: telnet, timeseal, style 12, dialects |
//!
//! A client keeps the connections, the protocol and the manners of its server to itself and shows two things: a stream of
//! [`ServerEvent`](domain::ServerEvent)s, in the order in which the server spoke, and the actions of [`Server`]. It knows
//! nothing of engines, councils or journals. Begin with [`Server`], then read a client's `mod.rs`.
//!
//! Invariants of every client:
//! - after any gap (a cut stream, a restart of the server) a running game is told whole again by [`ServerEvent::Game`](domain::ServerEvent::Game);
//! - a client never repeats an action by itself: the session decides whether it still makes sense;
//! - `perform` returning `Ok` means that the server took the request, not that it had an effect: the events tell.

pub mod fics;
pub mod lichess;

use async_trait::async_trait;

use domain::{Account, Action, ActionError, Done, GameId, GameInfo, GameState, KnownGame, Tournament, TournamentInfo};

/// The measurement of requests that a server refused for their number, by endpoint.
pub const REQUESTS_LIMITED: &str = "concilio_requests_limited_total";

/// The outgoing side of a server. Cheap to share behind an `Arc`; every method may be called from several tasks at once,
/// and a move never waits behind another kind of request.
#[async_trait]
pub trait Server: Send + Sync + 'static {
    /// Does one thing, once, and says what came of it.
    async fn perform(&self, action: Action) -> Result<Done, ActionError>;

    /// Asks for the whole state of a game: a [`ServerEvent::Game`](domain::ServerEvent::Game) (or [`ServerEvent::GameGone`](domain::ServerEvent::GameGone)) follows as soon as may be.
    ///
    /// A request while the state is already on its way gets that one, which may be older than the
    /// request; frequent requests wait longer each time, and are served by any state of the game
    /// that comes meanwhile.
    async fn resync(&self, game: &GameId);

    /// Sets whether new games are wanted. Running games go on.
    async fn open_to_new_games(&self, _open: bool) {}

    /// Sets whether games may be sought, on a server that offers ours to all players; initially
    /// they may. Challenges still come.
    async fn seek_games(&self, _wanted: bool) {}

    /// The bots that are online and could be challenged, with their ratings.
    async fn online_bots(&self) -> Result<Vec<Account>, ActionError>;

    /// Returns true for each player who is online and free to play, in the order of `ids`.
    async fn players_available(&self, ids: &[String]) -> Result<Vec<bool>, ActionError>;

    /// Returns true if this server has the limits of Lichess: on games against bots a day, on
    /// challenges a minute. Other servers' limits show in refusals.
    fn keeps_lichess_limits(&self) -> bool {
        false
    }

    /// Returns true if this side repeats a move that gets no answer, so that the caller need not.
    fn repeats_moves(&self) -> bool {
        false
    }

    /// Returns true if the server lists tournaments, so that
    /// [`team_tournaments`](Self::team_tournaments) and [`tournament`](Self::tournament) have
    /// answers.
    fn lists_tournaments(&self) -> bool {
        false
    }

    /// The tournaments of a team, by the team's name in addresses; those of the past may be among them.
    ///
    /// # Errors
    /// [`ActionError::Unsupported`] where the server lists none; others as they come.
    async fn team_tournaments(&self, _team: &str) -> Result<Vec<TournamentInfo>, ActionError> {
        Err(ActionError::Unsupported("tournaments are not listed"))
    }

    /// A tournament as it stands.
    ///
    /// # Errors
    /// [`ActionError::NotFound`] if there is no such tournament, [`ActionError::Unsupported`] where the server lists none; others as
    /// they come.
    async fn tournament(&self, _tournament: &Tournament) -> Result<TournamentInfo, ActionError> {
        Err(ActionError::Unsupported("tournaments are not listed"))
    }

    /// Games of ours that were running or adjourned when we last stopped, told before anything else is asked: a server that gives no
    /// names to games then gives one that goes on the name that it had.
    async fn remember(&self, _games: &[KnownGame]) {}

    /// Passes on the knowledge of an earlier process about the server: the last [`ServerEvent::Learned`](domain::ServerEvent::Learned).
    async fn recall(&self, _learned: &str) {}

    /// A game of ours as the server keeps it: to complete the record of one whose end we did not see; `known` is what we have of it.
    /// The state of one that still runs may be older than what its stream shows. The answer may take until there is a moment in
    /// which asking disturbs no running game.
    ///
    /// # Errors
    /// [`ActionError::NotFound`] if the server has no such game, [`ActionError::Unsupported`] if it does not tell of finished games
    /// in this way; others as they come.
    async fn finished_game(
        &self,
        _game: &GameId,
        _known: Option<&KnownGame>,
    ) -> Result<(GameInfo, GameState), ActionError> {
        Err(ActionError::Unsupported("finished games are not told in this way"))
    }
}
