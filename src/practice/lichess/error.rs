//! Refusals, in Lichess's words and status codes.

use axum::{
    Json,
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::{
    game::GameRefusal,
    state::{ChallengeState, Denied, Gauge, ServerStopped},
};

/// An answer that is no success.
#[derive(Debug)]
pub(crate) enum ApiError {
    MissingToken,
    NoSuchToken,
    MissingScope,
    Text(StatusCode, String),
    /// A form with wrong fields, each with what is wrong.
    Form(&'static str, String),
    /// One of the account's limits, in the long form with its key.
    BotGames {
        seconds: u64,
        by_opponent: bool,
    },
    TooMany,
    /// A failure of the server itself; its page is HTML, as from a proxy.
    Broken(StatusCode),
}

impl ApiError {
    pub(crate) fn bad(text: impl Into<String>) -> Self {
        Self::Text(StatusCode::BAD_REQUEST, text.into())
    }

    pub(crate) fn missing(text: impl Into<String>) -> Self {
        Self::Text(StatusCode::NOT_FOUND, text.into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let text = |status: StatusCode, text: &str| (status, Json(json!({ "error": text }))).into_response();
        match self {
            Self::MissingToken => text(StatusCode::UNAUTHORIZED, "Missing authorization header"),
            Self::NoSuchToken => text(StatusCode::UNAUTHORIZED, "No such token"),
            Self::MissingScope => text(StatusCode::FORBIDDEN, "Missing scope"),
            Self::Text(status, words) => text(status, &words),
            Self::Form(field, wrong) => {
                let fields: Value =
                    [(field.to_owned(), json!([wrong]))].into_iter().collect::<serde_json::Map<_, _>>().into();
                (StatusCode::BAD_REQUEST, Json(fields)).into_response()
            }
            Self::BotGames { seconds, by_opponent } => {
                let (status, who) = if by_opponent {
                    (StatusCode::BAD_REQUEST, "Your opponent has")
                } else {
                    (StatusCode::TOO_MANY_REQUESTS, "You have")
                };
                let words = format!(
                    "{who} played too many games against other bots today, please wait before challenging another bot."
                );
                let limit = json!({ "key": "bot.vsBot.day", "seconds": seconds });
                (status, Json(json!({ "error": words, "ratelimit": limit }))).into_response()
            }
            Self::TooMany => text(StatusCode::TOO_MANY_REQUESTS, "Too many requests. Try again later."),
            Self::Broken(status) => {
                let page =
                    format!("<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>\r\n");
                (status, Html(page)).into_response()
            }
        }
    }
}

impl From<ServerStopped> for ApiError {
    fn from(_: ServerStopped) -> Self {
        Self::Broken(StatusCode::SERVICE_UNAVAILABLE)
    }
}

impl From<Denied> for ApiError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::NoSuchPlayer(name) => Self::bad(format!("No such user: {name}")),
            Denied::NoSuchGame => Self::missing("No such game"),
            Denied::NotYourGame => Self::missing("Not your game"),
            Denied::NoSuchChallenge | Denied::NoSuchTournament => Self::missing("Not found"),
            Denied::ChallengeClosed(state) => Self::bad(match state {
                ChallengeState::Cancelled => "The challenge has been canceled.",
                ChallengeState::Declined(_) => "The challenge has been declined.",
                _ => "The challenge has already been accepted.",
            }),
            Denied::Busy(name) => Self::bad(format!("{name} is playing a game")),
            Denied::SelfChallenge => Self::bad("You cannot challenge yourself"),
            Denied::Start(_) => Self::Form("fen", "Invalid value".to_owned()),
            Denied::HasPlayed => Self::bad("Sorry, the account has already played games."),
            Denied::NameTaken(name) => Self::bad(format!("The name {name} is taken")),
            Denied::Limited { gauge: Gauge::GamesAgainstBots, wait, by_opponent } => {
                Self::BotGames { seconds: wait.as_secs(), by_opponent }
            }
            Denied::Limited { .. } => Self::TooMany,
            Denied::Tournament(refusal) => Self::bad(refusal.to_string()),
            Denied::Game(GameRefusal::Over | GameRefusal::Adjourned | GameRefusal::NotYourTurn) => {
                Self::bad("Not your turn, or game already over")
            }
            Denied::Game(GameRefusal::Illegal(error)) => Self::bad(format!("Illegal move: {error}")),
            Denied::Game(GameRefusal::CannotAbort) => Self::bad("This game can no longer be aborted"),
            Denied::Game(GameRefusal::CannotClaim) => Self::bad("You cannot claim the win on this game"),
        }
    }
}
