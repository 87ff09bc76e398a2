//! Chess as matches play it: its endings, its tables, and games as PGN.

use std::sync::{Arc, atomic::AtomicBool};

use shakmaty::{CastlingMode, Position};

use super::{GameEnding, MatchGame, MatchLine, PlayedMove, Ruling, TableValue, points_if_lost};
use domain::{Line, PgnWriter, Score, Variant, engine_position};
use engine::{Engine, EngineOptions, Limits, Outcome, Tablebases};
use util::printable;

impl MatchLine for Line {
    const MORE_OPENINGS: &'static str = ", or give a larger book (--book)";

    fn ruling(&self) -> Option<Ruling> {
        let position = self.position();
        if position.legal_moves().is_empty() {
            return Some(if position.is_check() {
                (GameEnding::by_rule("checkmate"), points_if_lost(self.turn()))
            } else {
                (GameEnding::by_rule("stalemate"), 0.5)
            });
        }
        let drawn = match () {
            () if position.is_insufficient_material() => "insufficient-material",
            () if self.occurrences() >= 3 => "repetition",
            () if position.halfmoves() >= 100 => "fifty-moves",
            () => return None,
        };
        Some((GameEnding::by_rule(drawn), 0.5))
    }

    /// Comments are `{+0.34/12 0.103s}`, as match runners write them: the score from the player's side, depth, and time where
    /// it was measured.
    fn game_text(&self, game: &MatchGame, tags: &[(&str, &str)]) -> String {
        let mut tags: Vec<(&str, String)> = tags.iter().map(|(name, value)| (*name, printable(value).into())).collect();
        if self.castling_mode() == CastlingMode::Chess960 {
            tags.push(("Variant", Variant::Chess960.pgn_name().to_owned()));
        }
        if let Some(fen) = self.start_fen() {
            tags.extend([("SetUp", "1".to_owned()), ("FEN", fen)]);
        }
        // The text of a program is unchecked.
        tags.push(("Termination", printable(&game.ending.to_string()).into()));
        if let GameEnding::Truncated(_) = game.ending {
            tags.push(("WhitePoints", format!("{:.4}", game.white)));
        }
        let mut text = PgnWriter::begin(&tags);
        let mut line = self.prefix(0);
        let _ = self.moves().iter().try_for_each(|uci| text.play(&mut line, *uci, false));
        for played in &game.moves {
            let Some(uci) = line.read_move(&played.mv) else { break };
            if text.play(&mut line, uci, true).is_err() {
                break;
            }
            text.word(&comment(played));
        }
        text.end(game.result())
    }

    fn cut_value(&self, nodes: u64) -> Option<i32> {
        let position = engine_position(self).ok()?;
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let mut engine = Engine::new(EngineOptions::default());
        let found = engine.search(&position, &[], &limits, &AtomicBool::new(false), &mut |_| {})?;
        Some(found.score.as_centipawns())
    }
}

fn comment(played: &PlayedMove) -> String {
    let score = match played.score {
        Some(Score::Cp(centipawns)) => format!("{:+.2}", f64::from(centipawns) / 100.0),
        Some(Score::Mate(moves)) => format!("{}M{}", if moves > 0 { '+' } else { '-' }, moves.abs()),
        None => "?".to_owned(),
    };
    let time = played.microseconds.map(|time| format!(" {:.3}s", time as f64 / 1e6)).unwrap_or_default();
    format!("{{{score}/{}{time}}}", played.depth)
}

/// Returns the value of positions by Syzygy tables.
pub fn by_tablebases(tables: Tablebases) -> TableValue<Line> {
    Arc::new(move |line| {
        let position = engine_position(line).ok()?;
        Some(match tables.settle(&position, &position.legal_moves(), true)?.outcome {
            Outcome::Win => 1.0,
            Outcome::Draw => 0.5,
            Outcome::Loss => 0.0,
        })
    })
}
