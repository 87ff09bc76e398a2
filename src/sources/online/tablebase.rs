//! Lichess's tablebases: the truth of positions with few pieces.

use council::player::TABLEBASE_WIN;
use domain::{Decision, Line, Score, Source, Variant};
use serde::Deserialize;
use shakmaty::Position as _;

use super::{
    service::{ServiceQuestion, legal},
    settings::TablebaseServiceSettings,
};

pub(crate) const URL: &str = "https://tablebase.lichess.org";

/// The answer about a position: its moves, the best first.
#[derive(Debug, Deserialize)]
pub(crate) struct TablebaseAnswer {
    category: String,
    moves: Vec<TablebaseMove>,
}

#[derive(Debug, Deserialize)]
struct TablebaseMove {
    uci: String,
}

/// Builds the question about the last position of a line; `None` if there are no tables for it.
pub(crate) fn question(settings: &TablebaseServiceSettings, line: &Line) -> Option<ServiceQuestion> {
    let path = match line.variant() {
        Variant::Atomic => "atomic",
        Variant::Antichess => "antichess",
        variant if variant.is_standard_rules() => "standard",
        _ => return None,
    };
    let few = line.position().board().occupied().count() <= settings.max_pieces;
    // Tables know no castling.
    let may_castle = line.position().castles().any();
    (few && !may_castle).then(|| ServiceQuestion { path, query: vec![("fen", line.fen())] })
}

pub(crate) fn choose(answer: &TablebaseAnswer, line: &Line) -> Option<Decision> {
    // A win that the fifty-move rule may prevent is uncertain, but its move is still the best.
    let score = match answer.category.as_str() {
        "win" | "syzygy-win" | "maybe-win" => Score::Cp(TABLEBASE_WIN),
        "cursed-win" | "draw" | "blessed-loss" => Score::Cp(0),
        "maybe-loss" | "syzygy-loss" | "loss" => Score::Cp(-TABLEBASE_WIN),
        _ => return None,
    };
    let best = answer.moves.iter().find_map(|known| legal(line, &known.uci))?;
    Some(Decision { score: Some(score), ..Decision::without_vote(best, Source::Tablebase) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDING: &str = "4k3/6KP/8/8/8/8/7p/8 w - - 0 1";

    fn played(answer: &str) -> Option<Decision> {
        let line = Line::from_fen(Variant::Standard, ENDING).expect("a position");
        choose(&serde_json::from_str(answer).expect("an answer"), &line)
    }

    #[test]
    fn best_move_has_the_positions_value() {
        let decision =
            played(r#"{"category":"win","dtz":1,"moves":[{"uci":"h7h8q","category":"loss"},{"uci":"g7g8"}]}"#);
        let decision = decision.expect("a move");
        assert_eq!((decision.best.to_string(), decision.score), ("h7h8q".to_owned(), Some(Score::Cp(TABLEBASE_WIN))));
        let drawn = played(r#"{"category":"cursed-win","moves":[{"uci":"g7g8"}]}"#).expect("a move");
        assert_eq!(drawn.score, Some(Score::Cp(0)));
        assert_eq!(played(r#"{"category":"unknown","moves":[{"uci":"g7g8"}]}"#), None);
        assert_eq!(played(r#"{"category":"of a later day","moves":[{"uci":"g7g8"}]}"#), None);
    }

    #[test]
    fn it_is_asked_where_it_has_tables() {
        let asked = |variant, fen| {
            let line = Line::from_fen(variant, fen).expect("a position");
            question(&TablebaseServiceSettings::default(), &line).map(|question| question.path)
        };
        assert_eq!(asked(Variant::Standard, ENDING), Some("standard"));
        assert_eq!(asked(Variant::Antichess, ENDING), Some("antichess"));
        assert_eq!(asked(Variant::Crazyhouse, ENDING), None);
        assert_eq!(asked(Variant::Standard, "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"), None, "castling");
        assert_eq!(asked(Variant::Standard, "4k3/pppppppp/8/8/8/8/8/4K3 w - - 0 1"), None, "ten pieces");
    }
}
