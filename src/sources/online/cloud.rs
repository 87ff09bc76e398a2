//! Lichess's cloud: evaluations computed in other players' browsers.

use domain::{Color, Decision, Line, Score, Source, UciMove};
use rand::seq::IndexedRandom as _;
use serde::Deserialize;

use super::{
    service::{ServiceQuestion, legal},
    settings::CloudSettings,
};

pub(crate) const URL: &str = "https://lichess.org";

const VARIATIONS: &str = "5";

#[derive(Debug, Deserialize)]
pub(crate) struct CloudAnswer {
    fen: String,
    depth: u32,
    pvs: Vec<CloudVariation>,
}

/// A variation with its value for White.
#[derive(Debug, Deserialize)]
struct CloudVariation {
    moves: String,
    cp: Option<i32>,
    mate: Option<i32>,
}

impl CloudVariation {
    fn score(&self, of: Color) -> Option<Score> {
        let sign = of.fold_wb(1, -1);
        match (self.mate, self.cp) {
            (Some(mate), _) => Some(Score::Mate(mate.checked_mul(sign)?)),
            (None, cp) => Some(Score::Cp(cp?.checked_mul(sign)?)),
        }
    }
}

pub(crate) fn question(line: &Line) -> ServiceQuestion {
    let query =
        vec![("fen", line.fen()), ("multiPv", VARIATIONS.to_owned()), ("variant", line.variant().key().to_owned())];
    ServiceQuestion { path: "api/cloud-eval", query }
}

pub(crate) fn choose(answer: &CloudAnswer, line: &Line, settings: &CloudSettings) -> Option<Decision> {
    // A legal move may belong to another position: the answer must be about this one.
    if answer.depth < settings.min_depth || men_and_turn(&answer.fen).ne(men_and_turn(&line.fen())) {
        return None;
    }
    let first = |variation: &CloudVariation| {
        let uci = legal(line, variation.moves.split_ascii_whitespace().next()?)?;
        Some((uci, variation.score(line.turn())?))
    };
    let known: Vec<(UciMove, Score)> = answer.pvs.iter().filter_map(first).collect();
    nearly_best(&known, settings.max_difference, Source::Cloud)
}

/// The first two fields of a FEN. Castling rights and en passant squares are written in several ways.
fn men_and_turn(fen: &str) -> impl Iterator<Item = &str> {
    fen.split_ascii_whitespace().take(2)
}

/// Draws a move, at most `difference` centipawns worse than the best.
pub(crate) fn nearly_best(known: &[(UciMove, Score)], difference: i32, source: Source) -> Option<Decision> {
    let worst = known.iter().map(|(_, score)| score.as_centipawns()).max()?.saturating_sub(difference);
    let good: Vec<&(UciMove, Score)> = known.iter().filter(|(_, score)| score.as_centipawns() >= worst).collect();
    let (uci, score) = good.choose(&mut rand::rng())?;
    Some(Decision { score: Some(*score), ..Decision::without_vote(*uci, source) })
}

#[cfg(test)]
mod tests {
    use domain::Variant;

    use super::*;

    fn played(answer: &str, moves: &str, settings: &CloudSettings) -> Option<(String, Score)> {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal");
        let answer = answer.replace("HERE", &line.fen());
        let answer = serde_json::from_str(&answer).expect("an answer");
        let decision = choose(&answer, &line, settings)?;
        Some((decision.best.to_string(), decision.score?))
    }

    #[test]
    fn best_variation_is_chosen() {
        let answer = r#"{"fen":"HERE","knodes":13683,"depth":22,"pvs":[{"moves":"e7e5 g1f3","cp":30},{"moves":"a7a6","cp":90}]}"#;
        let settings = CloudSettings::default();
        assert_eq!(played(answer, "e2e4", &settings), Some(("e7e5".to_owned(), Score::Cp(-30))));
        let deeper = CloudSettings { min_depth: 23, ..settings };
        assert_eq!(played(answer, "e2e4", &deeper), None, "it is not deep enough");
    }

    #[test]
    fn answer_for_another_position_is_none() {
        let answer = r#"{"fen":"rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1","depth":30,"pvs":[{"moves":"e7e5","cp":30}]}"#;
        assert_eq!(played(answer, "e2e4", &CloudSettings::default()), None);
        assert!(played(answer, "d2d4", &CloudSettings::default()).is_some());
    }

    #[test]
    fn castling_follows_the_line() {
        let answer = r#"{"fen":"HERE","depth":30,"pvs":[{"moves":"e1h1 b8c6","cp":12}]}"#;
        let moves = "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6";
        assert_eq!(played(answer, moves, &CloudSettings::default()), Some(("e1g1".to_owned(), Score::Cp(12))));
    }

    #[test]
    fn mate_exceeds_other_values() {
        let answer = r#"{"fen":"HERE","depth":30,"pvs":[{"moves":"a7a6","cp":-900},{"moves":"d8h4","mate":-1}]}"#;
        let settings = CloudSettings { max_difference: 20, ..CloudSettings::default() };
        assert_eq!(played(answer, "f2f3 e7e5 g2g4", &settings), Some(("d8h4".to_owned(), Score::Mate(1))));
    }
}
