//! chessdb.cn: a database of positions with values of their moves from many searches
//! (<https://chessdb.cn/cloudbookc_api_en.html>).

use domain::{Decision, Line, Score, Source, UciMove};
use serde::{Deserialize, Deserializer, de::Error as _};

use super::{
    cloud::nearly_best,
    service::{ServiceQuestion, legal},
    settings::ChessdbSettings,
};

pub(crate) const URL: &str = "https://www.chessdb.cn";

/// The answer about a position: no moves if it is unknown.
#[derive(Debug, Deserialize)]
pub(crate) struct ChessdbAnswer {
    #[serde(default, rename = "status", deserialize_with = "refuse_rate_limit")]
    _status: (),
    #[serde(default)]
    moves: Vec<ChessdbMove>,
}

/// A rate limit comes as an answer with HTTP status 200.
fn refuse_rate_limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        limit @ "rate limit exceeded" => Err(D::Error::custom(limit)),
        _ => Ok(()),
    }
}

/// A move with its value for the player to move, in centipawns.
#[derive(Debug, Deserialize)]
struct ChessdbMove {
    uci: String,
    score: i32,
}

/// Builds the question about the last position of a line: standard chess only, without adding the
/// position to the database.
pub(crate) fn question(line: &Line) -> Option<ServiceQuestion> {
    let known = line.variant().is_standard_rules();
    let (action, json, learn) = ("queryall".to_owned(), "1".to_owned(), "0".to_owned());
    let query = vec![("action", action), ("board", line.fen()), ("json", json), ("learn", learn)];
    known.then_some(ServiceQuestion { path: "cdb.php", query })
}

pub(crate) fn choose(answer: &ChessdbAnswer, line: &Line, settings: &ChessdbSettings) -> Option<Decision> {
    let score = |known: &ChessdbMove| Score::Cp(known.score.clamp(-HIGHEST, HIGHEST));
    let known: Vec<(UciMove, Score)> =
        answer.moves.iter().filter_map(|known| Some((legal(line, &known.uci)?, score(known)))).collect();
    nearly_best(&known, settings.max_difference, Source::Chessdb)
}

/// Values go up to 30,000 centipawns, for a mate at once.
const HIGHEST: i32 = 30_000;

#[cfg(test)]
mod tests {
    use domain::Variant;

    use super::*;

    fn played(answer: &str) -> Option<Decision> {
        let answer = serde_json::from_str(answer).expect("an answer");
        choose(&answer, &Line::start(Variant::Standard), &ChessdbSettings::default())
    }

    #[test]
    fn best_known_move_is_chosen() {
        let decision = played(
            r#"{"status":"ok","moves":[{"uci":"e2e4","san":"e4","score":1,"rank":2,"note":"! (20-00)","winrate":"50.08"},
            {"uci":"d2d4","san":"d4","score":0,"rank":2,"note":"! (20-00)","winrate":"50.00"}],"ply":0}"#,
        );
        let decision = decision.expect("a move");
        assert_eq!((decision.best.to_string(), decision.score), ("e2e4".to_owned(), Some(Score::Cp(1))));
        assert_eq!(played(r#"{"status":"unknown"}"#), None);
    }

    #[test]
    fn rate_limit_is_a_failure() {
        let error = serde_json::from_str::<ChessdbAnswer>(r#"{"status":"rate limit exceeded"}"#).expect_err("none");
        assert!(error.to_string().contains("rate limit exceeded"), "{error}");
    }
}
