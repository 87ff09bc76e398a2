//! Lichess, through its Bot API: event and game streams of newline-delimited JSON in, one HTTP request an action out.
//!
//! ```text
//! events ──▶ (gameStart) ──▶ games: one stream a game ──▶ ServerEvent
//!    └──────────────────────────────────────────────────▶
//! LichessServer::perform ──▶ http: one request, urgent ones beside the queue
//! ```
//! Before anything else the account is looked at: only a bot's account with a token that may play goes on.
//!
//! `ndjson` cuts bytes into lines, `wire` turns lines into our types, `stream` watches an open stream for silence, `http` keeps
//! the server's limits. Everything that is lost is reopened; what the server then says is whole, so nothing needs to be remembered.

mod account;
mod connections;
mod events;
mod game_stream;
mod games;
mod http;
pub mod ndjson;
mod patience;
mod request;
mod settings;
mod stream;
mod token;
mod wire;

pub mod lines {
    pub use super::wire::{LichessLineError, event, exported_game, game_event};
}

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use account::AccountReport;
pub use http::SetupError;
pub use settings::{LichessSettings, ServerUrl, ServerUrlError};
pub use token::{TOKEN_CREDENTIAL, TOKEN_VARIABLE, Token, TokenError};

use self::{
    events::EventStream,
    games::GameStreams,
    http::{Http, decode},
    request::{HttpCall, Topic},
};
use domain::{
    Account, Action, ActionError, ChallengeId, ChallengeRequest, Done, GameId, GameInfo, GameState, KnownGame,
    ServerEvent, TimeControl, Tournament, TournamentInfo, TournamentKind,
};
use util::{caught, supervised};

use super::Server;

/// Events wait for their reader in a queue of this length; after that, the streams wait.
const QUEUE: usize = 1024;

/// The longest text Lichess takes in a chat, in UTF-16 units.
const LONGEST_CHAT: usize = 140;

/// The first pause before a refused token is tried again, and the longest: twice as long each time. Lichess counts these tests
/// closely, and allows 30 in five minutes.
const REFUSED_PAUSES: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

/// Time that refusals must last to be believed: before the first login, after it, and while games
/// run. A server in trouble refuses as well, and a game that is given up is lost.
const BELIEVED_AT_START: Duration = Duration::from_secs(10);
const BELIEVED: Duration = Duration::from_secs(60);
const BELIEVED_IN_GAMES: Duration = Duration::from_secs(15 * 60);

const MOST_RUNNING_GAMES: usize = 50;

/// The number of a team's tournaments to fetch: those that begin last come first.
const MOST_LISTED: &str = "30";

/// A Lichess account, to be acted upon. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LichessServer {
    http: Arc<Http>,
    games: GameStreams,
}

/// Connects an account and keeps it connected until `cancel`; then the events end.
///
/// The first events are [`ServerEvent::Connected`] and what runs already, or [`ServerEvent::Rejected`]. Must be called within a tokio runtime.
///
/// # Errors
/// [`SetupError`] where HTTPS cannot be spoken at all. That the server does not answer is no error but an event.
pub fn connect(
    settings: LichessSettings,
    token: Token,
    cancel: CancellationToken,
) -> Result<(LichessServer, mpsc::Receiver<ServerEvent>), SetupError> {
    let http = Arc::new(Http::new(&settings, token)?);
    let (sender, receiver) = mpsc::channel(QUEUE);
    let (games, mut actor) = GameStreams::new(Arc::clone(&http), sender.clone());
    let mut events = EventStream::new(Arc::clone(&http), games.clone(), sender.clone());
    let server = LichessServer { http: Arc::clone(&http), games: games.clone() };
    tokio::spawn(async move {
        tokio::select! {
            () = cancel.cancelled() => {}
            () = sender.closed() => {}
            () = supervised!("event stream", events.follow()) => {}
            () = supervised!("game streams", actor.run()) => {}
            () = supervised!("token check", until_revoked(&http, &games, &sender)) => {}
        }
    });
    Ok((server, receiver))
}

/// Asks, and where the server refuses us, again and again until refusals have lasted for `patience`, which may change meanwhile.
async fn asked_until_believed<T, F>(ask: impl Fn() -> F, patience: impl Fn() -> Duration) -> Result<T, ActionError>
where
    F: Future<Output = Result<T, ActionError>>,
{
    let (since, mut pause) = (tokio::time::Instant::now(), REFUSED_PAUSES.0);
    loop {
        match ask().await {
            Err(ActionError::Unauthorised(_)) if since.elapsed() < patience() => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(REFUSED_PAUSES.1);
            }
            answer => return answer,
        }
    }
}

/// Returns when the server has taken the token back, which has been told then.
async fn until_revoked(http: &Http, games: &GameStreams, events: &mpsc::Sender<ServerEvent>) {
    loop {
        http.doubt.notified().await;
        let patience = || if games.followed() > 0 { BELIEVED_IN_GAMES } else { BELIEVED };
        if let Err(ActionError::Unauthorised(words)) = asked_until_believed(|| http.fetch_account(), patience).await {
            let reason = format!("the token is no longer taken ({words}): make a new one with the scope bot:play");
            // The receiver is gone shortly before this task is stopped.
            let _ = events.send(ServerEvent::Rejected { reason }).await;
            return;
        }
        tokio::time::sleep(REFUSED_PAUSES.1).await;
    }
}

impl LichessServer {
    /// A POST about a game, on which a clock waits.
    async fn urgent(&self, game: &GameId, what: &[&str]) -> Result<Done, ActionError> {
        self.http.call(HttpCall::urgent(&[&["api", "bot", "game", game.as_str()], what].concat())).await.map(taken)
    }

    async fn challenge(&self, request: &ChallengeRequest) -> Result<Done, ActionError> {
        let (path, form) = (["api", "challenge", &request.opponent], challenge_form(request));
        let body = self.http.call(HttpCall::post(&path, Topic::Challenge).form(&form)).await?;
        decode::<wire::ChallengeCreated>("the challenge", &body).map(|created| Done::Challenged(created.into_id()))
    }

    async fn ask_tournament(
        &self,
        tournament: &Tournament,
        what: &str,
        form: &[(&str, String)],
    ) -> Result<Done, ActionError> {
        self.by_kind(tournament, |kind| async move {
            let path = ["api", path_of(kind), &tournament.id, what];
            self.http.call(HttpCall::post(&path, Topic::Join).form(form)).await.map(taken)
        })
        .await
    }

    /// An arena and a Swiss tournament have different addresses; where the kind is not known, the second is tried after the first.
    async fn by_kind<T, F>(&self, tournament: &Tournament, ask: impl Fn(TournamentKind) -> F) -> Result<T, ActionError>
    where
        F: Future<Output = Result<T, ActionError>>,
    {
        match tournament.kind {
            Some(kind) => ask(kind).await,
            None => match ask(TournamentKind::Arena).await {
                Err(ActionError::NotFound(_)) => ask(TournamentKind::Swiss).await,
                other => other,
            },
        }
    }

    async fn act(&self, action: Action) -> Result<Done, ActionError> {
        let answer = |id: ChallengeId, what: &'static str, topic: Topic| async move {
            self.http.call(HttpCall::post(&["api", "challenge", id.as_str(), what], topic)).await.map(taken)
        };
        match action {
            Action::Move { game, uci, offer_draw } => {
                let uci = uci.to_string();
                let call = ["api", "bot", "game", game.as_str(), "move", &uci];
                let query: &[_] = if offer_draw { &[("offeringDraw", "true")] } else { &[] };
                self.http.call(HttpCall::urgent(&call).query(query)).await.map(taken)
            }
            Action::Accept(id) => answer(id, "accept", Topic::Accept).await,
            Action::Cancel(id) => answer(id, "cancel", Topic::Cancel).await,
            Action::Decline(id, reason) => {
                let call = ["api", "challenge", id.as_str(), "decline"];
                let form = [("reason", reason.key().to_owned())];
                self.http.call(HttpCall::post(&call, Topic::Decline).form(&form)).await.map(taken)
            }
            Action::Challenge(request) => self.challenge(&request).await,
            Action::Abort(game) => self.urgent(&game, &["abort"]).await,
            Action::Resign(game) => self.urgent(&game, &["resign"]).await,
            Action::Draw(game, accept) => self.urgent(&game, &["draw", yes_or_no(accept)]).await,
            Action::Takeback(game, accept) => self.urgent(&game, &["takeback", yes_or_no(accept)]).await,
            Action::ClaimVictory(game) => self.urgent(&game, &["claim-victory"]).await,
            Action::ClaimDraw(game) => self.urgent(&game, &["claim-draw"]).await,
            Action::Chat(game, room, text) => {
                let text = chat_text(&text);
                if text.is_empty() {
                    return Err(ActionError::Refused("an empty text cannot be sent".to_owned()));
                }
                let call = ["api", "bot", "game", game.as_str(), "chat"];
                let form = [("room", room.key().to_owned()), ("text", text)];
                self.http.call(HttpCall::post(&call, Topic::Chat).form(&form)).await.map(taken)
            }
            // A part that was given up for a while is taken up again.
            Action::Join(entry) => {
                let mut form = Vec::new();
                form.extend(entry.password.as_ref().map(|password| ("password", password.reveal().to_owned())));
                form.extend(entry.team.map(|team| ("team", team)));
                if entry.pair_now {
                    form.push(("pairMeAsap", "true".to_owned()));
                }
                self.ask_tournament(&entry.tournament, "join", &form).await
            }
            // For good, or for now: points are kept.
            Action::Leave(tournament) => self.ask_tournament(&tournament, "withdraw", &[]).await,
            Action::Tell { .. } => {
                Err(ActionError::Unsupported("Lichess has no way for bots to write to people outside games"))
            }
        }
    }
}

#[async_trait]
impl Server for LichessServer {
    async fn perform(&self, action: Action) -> Result<Done, ActionError> {
        let defect = || Err(ActionError::Unavailable("the request panicked, a defect of this program".to_owned()));
        caught("request", self.act(action)).await.unwrap_or_else(defect)
    }

    async fn resync(&self, game: &GameId) {
        self.games.reopen(game.clone());
    }

    async fn online_bots(&self) -> Result<Vec<Account>, ActionError> {
        let body =
            self.http.call(HttpCall::get(&["api", "bot", "online"], Topic::Users).query(&[("nb", "512")])).await?;
        let bots = objects::<wire::AccountJson>("the bots online", &body)?;
        let playing = bots.into_iter().filter(|bot| !bot.is_shut_out());
        Ok(playing.map(wire::AccountJson::into_account).collect())
    }

    async fn players_available(&self, ids: &[String]) -> Result<Vec<bool>, ActionError> {
        let mut available = Vec::with_capacity(ids.len());
        for some in ids.chunks(100) {
            let query = [("ids", &*some.join(","))];
            let body = self.http.call(HttpCall::get(&["api", "users", "status"], Topic::Users).query(&query)).await?;
            let users: Vec<wire::UserStatus> = decode("the players' status", &body)?;
            available.extend(
                some.iter().map(|id| users.iter().any(|user| user.id.eq_ignore_ascii_case(id) && user.is_available())),
            );
        }
        Ok(available)
    }

    fn keeps_lichess_limits(&self) -> bool {
        true
    }

    fn lists_tournaments(&self) -> bool {
        true
    }

    /// The arenas and Swiss tournaments of a team, those of the past among them.
    async fn team_tournaments(&self, team: &str) -> Result<Vec<TournamentInfo>, ActionError> {
        let us = self.http.our_id().await?;
        let mut found = Vec::new();
        for (kind, path) in [(TournamentKind::Arena, "arena"), (TournamentKind::Swiss, "swiss")] {
            let query = [("max", MOST_LISTED)];
            let call = ["api", "team", team, path];
            let body = self.http.call(HttpCall::get(&call, Topic::Tournament).query(&query)).await?;
            let listed = objects::<wire::TournamentJson>("the team's tournaments", &body)?;
            found.extend(listed.into_iter().filter_map(|json| json.into_info(kind, &us, Timestamp::now())));
        }
        Ok(found)
    }

    async fn tournament(&self, tournament: &Tournament) -> Result<TournamentInfo, ActionError> {
        let us = &self.http.our_id().await?;
        self.by_kind(tournament, |kind| async move {
            let path = ["api", path_of(kind), &tournament.id];
            let body = self.http.call(HttpCall::get(&path, Topic::Tournament)).await?;
            let json: wire::TournamentJson = decode("the tournament", &body)?;
            json.into_info(kind, us, Timestamp::now())
                .ok_or_else(|| ActionError::Refused(format!("{tournament} is played by rules that have no name here")))
        })
        .await
    }

    async fn remember(&self, games: &[KnownGame]) {
        if let Some(game) = games.last() {
            self.http.remember(&game.info.us().id);
        }
    }

    async fn finished_game(
        &self,
        game: &GameId,
        _known: Option<&KnownGame>,
    ) -> Result<(GameInfo, GameState), ActionError> {
        let us = self.http.our_id().await?;
        let call = ["game", "export", game.as_str()];
        let query = [("clocks", "false"), ("evals", "false"), ("opening", "false")];
        let body = self.http.call(HttpCall::get(&call, Topic::Record).query(&query).json()).await?;
        wire::exported_game(&body, &us, &self.http.settings.url, Instant::now())
            .map_err(|error| ActionError::Refused(error.to_string()))
    }
}

/// The word for this kind in addresses of the API.
const fn path_of(kind: TournamentKind) -> &'static str {
    match kind {
        TournamentKind::Arena => "tournament",
        TournamentKind::Swiss => "swiss",
    }
}

/// The games we are playing, at most [`MOST_RUNNING_GAMES`] of them.
async fn running_games(http: &Http) -> Result<Vec<GameId>, ActionError> {
    Ok(games_playing(http).await?.into_iter().map(|(id, _)| id).collect())
}

/// The same games, each with whether we are to move in it. Those come first.
async fn games_playing(http: &Http) -> Result<Vec<(GameId, bool)>, ActionError> {
    let call = HttpCall::get(&["api", "account", "playing"], Topic::Playing).query(&[("nb", "50")]);
    decode::<wire::Playing>("the running games", &http.call(call).await?).map(wire::Playing::into_games)
}

/// The JSON objects of an answer that has one a line; those that cannot be read are left out.
fn objects<T: serde::de::DeserializeOwned>(what: &str, body: &str) -> Result<Vec<T>, ActionError> {
    let lines = body.lines().filter(|line| !line.trim().is_empty());
    let read: Vec<Result<T, ActionError>> = lines.map(|line| decode(what, line)).collect();
    // All of them unreadable is no answer at all.
    if !read.is_empty() && read.iter().all(Result::is_err) {
        return read.into_iter().collect();
    }
    Ok(read.into_iter().flatten().collect())
}

fn taken(_body: String) -> Done {
    Done::Taken
}

const fn yes_or_no(accept: bool) -> &'static str {
    if accept { "yes" } else { "no" }
}

fn challenge_form(request: &ChallengeRequest) -> Vec<(&'static str, String)> {
    let color = request.our_color.map_or("random", |color| color.fold_wb("white", "black"));
    let mut form = vec![
        ("rated", request.terms.rated.to_string()),
        ("variant", request.terms.variant.key().to_owned()),
        ("color", color.to_owned()),
    ];
    match request.terms.time_control {
        TimeControl::RealTime { initial, increment } => {
            form.push(("clock.limit", seconds(initial)));
            form.push(("clock.increment", seconds(increment)));
        }
        TimeControl::Correspondence { days } => form.push(("days", days.to_string())),
        TimeControl::Unlimited => {}
    }
    form.extend(request.initial_fen.clone().map(|fen| ("fen", fen)));
    form
}

/// Whole seconds as Lichess takes them; others are for the practice server, and Lichess says no to them.
fn seconds(duration: Duration) -> String {
    duration.as_secs_f64().to_string()
}

/// One line that fits into a chat, cut between words where it must be.
fn chat_text(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.encode_utf16().count() <= LONGEST_CHAT {
        return words;
    }
    let mut length = 1; // of the ellipsis
    let mut cut = 0;
    for (at, c) in words.char_indices() {
        length += c.len_utf16();
        if length > LONGEST_CHAT {
            break;
        }
        cut = at + c.len_utf8();
    }
    let kept = words.get(..cut).unwrap_or_default();
    // A text that is one long word is cut within it.
    let kept = kept.rsplit_once(' ').map_or(kept, |(whole, _)| whole);
    format!("{kept}…")
}

/// Returns the account, its kind, and the token's scopes.
///
/// # Errors
/// [`ActionError::Unauthorised`] for a token the server does not know, others as they come.
pub async fn account_check(settings: &LichessSettings, token: &Token) -> Result<AccountReport, ActionError> {
    client(settings, token)?.report().await
}

/// Turns the account into a bot's, which cannot be undone.
pub async fn upgrade(settings: &LichessSettings, token: &Token) -> Result<(), ActionError> {
    client(settings, token)?.call(HttpCall::post(&["api", "bot", "account", "upgrade"], Topic::Account)).await.map(drop)
}

fn client(settings: &LichessSettings, token: &Token) -> Result<Http, ActionError> {
    Http::new(settings, token.clone()).map_err(|error| ActionError::Unavailable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_words() {
        assert_eq!(chat_text("  Good \n luck! "), "Good luck!");
        assert_eq!(chat_text(&"x".repeat(140)), "x".repeat(140));
        let long = "knight ".repeat(30);
        let cut = chat_text(&long);
        assert!(cut.ends_with("knight…") && cut.encode_utf16().count() <= LONGEST_CHAT, "{cut}");
        for word in ["♘", "😀", "x"] {
            let cut = chat_text(&word.repeat(300));
            assert!((138..=140).contains(&cut.encode_utf16().count()), "{cut}");
        }
    }
}
