//! A game as the server keeps it: `/game/export/{id}`, in JSON. Its moves are in standard algebraic notation.

use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;
use shakmaty::{CastlingMode, san::San};

use super::{
    ClockJson, LichessLineError, color, lenient, our_color, player::User, read, seconds, start_line, time_control,
    variant,
};
use crate::lichess::settings::ServerUrl;
use domain::{GameId, GameInfo, GameState, GameStatus, GameTerms, Line, Offers, moves_text};

/// Reads a game of `us` that was requested at `received`.
///
/// # Errors
/// [`LichessLineError::Malformed`] for anything else, and [`LichessLineError::Unplayable`] for
/// unknown rules or moves.
pub fn exported_game(
    body: &str,
    us: &str,
    url: &ServerUrl,
    received: Instant,
) -> Result<(GameInfo, GameState), LichessLineError> {
    read::<ExportedGame>("the game's record", body)?.into_game(us, url, received)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExportedGame {
    id: String,
    variant: Option<String>,
    rated: Option<bool>,
    status: String,
    winner: Option<String>,
    players: ExportedPlayers,
    initial_fen: Option<String>,
    moves: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    clock: Option<ClockJson>,
    days_per_turn: Option<f64>,
    #[serde(flatten)]
    more: Value,
}

#[derive(Deserialize)]
struct ExportedPlayers {
    white: User,
    black: User,
}

impl ExportedGame {
    fn into_game(
        self,
        us: &str,
        url: &ServerUrl,
        received: Instant,
    ) -> Result<(GameInfo, GameState), LichessLineError> {
        let variant = variant(self.variant.as_deref())?;
        let time_control = time_control(self.clock, self.days_per_turn, seconds);
        let (white, black) = (self.players.white.into_player(), self.players.black.into_player());
        let our_color = our_color(us, &white, &black, &self.id)?;
        let start = start_line(variant, self.initial_fen.as_deref())?;
        let moves = played(&start, self.moves.as_deref().unwrap_or_default())?;
        // The server's form of a tournament differs from its description.
        let more = &self.more;
        let bare = ["tournament", "swiss"].into_iter().find_map(|key| more[key].as_str());
        let tournament =
            bare.or_else(|| ["arenaTour", "swissTour"].into_iter().find_map(|key| more[key]["id"].as_str()));
        let info = GameInfo {
            url: Some(url.page(&self.id)),
            id: GameId::from(self.id),
            terms: GameTerms { variant, time_control, rated: self.rated.unwrap_or(false) },
            white,
            black,
            our_color,
            start,
            tournament: tournament.map(str::to_owned),
        };
        let state = GameState {
            moves,
            clocks: None,
            status: GameStatus::from_name(&self.status),
            winner: color(self.winner.as_deref()),
            draw_offers: Offers::default(),
            takeback_offers: Offers::default(),
            received,
        };
        Ok((info, state))
    }
}

fn played(start: &Line, moves: &str) -> Result<String, LichessLineError> {
    let mut line = start.clone();
    for text in moves.split_ascii_whitespace() {
        let wrong = || LichessLineError::Unplayable(format!("{text} is no move in {}", line.fen()));
        let san: San = text.trim_end_matches(['+', '#', '!', '?']).parse().map_err(|_| wrong())?;
        // King takes rook is understood in every variant.
        let uci = san.to_move(line.position()).map_err(|_| wrong())?.to_uci(CastlingMode::Chess960);
        let not_played = line.fen();
        line.play(uci).map_err(|_| LichessLineError::Unplayable(format!("{text} is no move in {not_played}")))?;
    }
    Ok(moves_text(line.moves()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Color;

    fn url() -> ServerUrl {
        "https://lichess.org".parse().expect("an address")
    }

    const GAME: &str = r#"{"id":"q7ZvsdUF","rated":true,"variant":"standard","speed":"blitz","perf":"blitz","createdAt":1514505150384,
        "lastMoveAt":1514505592843,"status":"resign","winner":"black","clock":{"initial":300,"increment":3,"totalTime":420},
        "players":{"white":{"user":{"name":"Ann","id":"ann"},"rating":2390,"ratingDiff":-3},
        "black":{"user":{"name":"Bob","title":"BOT","id":"bob"},"rating":2288,"provisional":true}},
        "moves":"e4 e5 Nf3 Nc6 Bb5 a6 O-O Nf6"}"#;

    #[test]
    fn a_finished_game_is_read_whole() {
        let (info, state) = exported_game(GAME, "bob", &url(), Instant::now()).expect("a game");
        assert_eq!((info.id.as_str(), info.our_color), ("q7ZvsdUF", Color::Black));
        assert_eq!(info.terms.to_string(), "300+3 rated standard");
        assert!(info.us().is_bot() && info.us().provisional && info.opponent().rating == Some(2390));
        assert_eq!((state.status, state.winner), (GameStatus::Resign, Some(Color::Black)));
        assert_eq!(state.moves, "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1g1 g8f6");
    }

    #[test]
    fn foreign_games_are_refused() {
        for (body, us) in [
            ("[]", "bob"),
            (GAME, "eve"),
            (&GAME.replace("e5", "e6 e5"), "bob"),
            (&GAME.replace("standard", "fog"), "bob"),
        ] {
            assert!(exported_game(body, us, &url(), Instant::now()).is_err(), "{body}");
        }
    }

    #[test]
    fn tournament_is_read_in_every_form() {
        for told in [
            r#""tournament":"abcd1234""#,
            r#""swiss":"abcd1234""#,
            r#""arenaTour":{"id":"abcd1234","name":"Bots' Arena"}"#,
            r#""swissTour":{"id":"abcd1234"}"#,
        ] {
            let body = GAME.replace(r#""rated":true"#, &format!(r#""rated":true,{told}"#));
            let (info, _) = exported_game(&body, "bob", &url(), Instant::now()).expect("a game");
            assert_eq!(info.tournament.as_deref(), Some("abcd1234"), "{told}");
        }
    }

    #[test]
    fn engine_opponent_has_no_user() {
        let body = GAME.replace(r#""user":{"name":"Ann","id":"ann"},"#, r#""aiLevel":3,"#);
        let (info, _) = exported_game(&body, "bob", &url(), Instant::now()).expect("a game");
        assert_eq!(info.opponent().ai_level, Some(3));
    }
}
