//! The record of a game as in GNU Chess 4.0: score, depth, nodes and time of every own move, or
//! `Book`.

use std::{fmt::Write as _, time::Duration};

use council::player::vote_report;
use domain::{Color, Decision, Line, PgnWriter, Score, Source};

#[derive(Clone, Debug, PartialEq)]
struct MoveNote {
    /// The number of half-moves including it.
    ply: usize,
    score: Option<Score>,
    depth: u32,
    nodes: u64,
    time: Duration,
    source: Source,
}

/// The own moves, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveNotes {
    notes: Vec<MoveNote>,
}

impl MoveNotes {
    /// Records the own move that makes `ply` half-moves.
    pub(super) fn moved(&mut self, ply: usize, decision: &Decision, time: Duration) {
        self.truncate(ply - 1);
        let second = decision.second_phase.iter().map(|second| second.proposal.depth);
        let depth = decision.votes.iter().map(|vote| vote.proposal.depth).chain(second).max().unwrap_or(0);
        let (score, nodes, source) = (decision.score, decision.nodes(), decision.source);
        self.notes.push(MoveNote { ply, score, depth, nodes, time, source });
    }

    pub(super) fn truncate(&mut self, ply: usize) {
        self.notes.retain(|note| note.ply <= ply);
    }

    /// Returns the colour of the own last move in this game.
    pub(super) fn our_color(&self, game: &Line) -> Option<Color> {
        let last = self.notes.last()?;
        // A game may begin with Black.
        Some(if game.ply().abs_diff(last.ply).is_multiple_of(2) { !game.turn() } else { game.turn() })
    }

    /// The scores of our moves, each from our side.
    pub(super) fn scores(&self) -> Vec<Option<Score>> {
        self.notes.iter().map(|note| note.score).collect()
    }

    /// The game as a table: move, score, depth, nodes, seconds.
    pub(super) fn table(&self, game: &Line) -> String {
        let mut table = format!("{:<14}{:>8}{:>7}{:>12}{:>9}", "move", "score", "depth", "nodes", "seconds");
        let mut line = game.prefix(0);
        for uci in game.moves() {
            let _ = write!(table, "\n{:<14}", vote_report::numbered(&line, Some(*uci)));
            if line.play(*uci).is_err() {
                break;
            }
            match self.note(&line) {
                Some(note) if note.source == Source::Book => table.push_str("    Book"),
                Some(MoveNote { score, depth, nodes, time, .. }) => {
                    let score = score.map_or_else(String::new, |score| score.to_string());
                    let _ = write!(table, "{score:>8}{depth:>7}{nodes:>12}{:>9.2}", time.as_secs_f64());
                }
                None => (),
            }
        }
        table
    }

    /// Writes the moves, our own with score, depth and time as comments.
    pub(super) fn write_moves(&self, game: &Line, text: &mut PgnWriter) {
        let mut line = game.prefix(0);
        let mut after_comment = false;
        for uci in game.moves() {
            if text.play(&mut line, *uci, after_comment).is_err() {
                return;
            }
            after_comment = false;
            if let Some(MoveNote { score: Some(score), depth, time, .. }) = self.note(&line) {
                text.word(&format!("{{{score}/{depth} {:.2}s}}", time.as_secs_f64()));
                after_comment = true;
            }
        }
    }

    /// The note on the last move of `line`.
    fn note(&self, line: &Line) -> Option<&MoveNote> {
        self.notes.iter().find(|note| note.ply == line.ply())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Variant;

    /// A game saved in force mode has its colours by the recorded moves.
    #[test]
    fn own_colour_follows_the_last_move() {
        let black_begins = "4k3/8/8/8/8/8/8/4K2R b - - 0 1";
        for (start, moves, noted, ours) in [
            ("", "e2e4 e7e5", 2, Color::Black),
            ("", "e2e4 e7e5 g1f3", 2, Color::Black),
            ("", "e2e4 e7e5 g1f3", 3, Color::White),
            (black_begins, "e8e7", 1, Color::Black),
            (black_begins, "e8e7 e1e2", 1, Color::Black),
            (black_begins, "e8e7 e1e2", 2, Color::White),
        ] {
            let mut game = Line::from_fen(Variant::Standard, start).expect("a position");
            game.play_all(moves).expect("legal moves");
            let mut notes = MoveNotes::default();
            assert_eq!(notes.our_color(&game), None);
            let best = game.moves()[noted - 1];
            notes.moved(noted, &Decision::without_vote(best, Source::Forced), Duration::ZERO);
            assert_eq!(notes.our_color(&game), Some(ours), "{moves}, ours is move {noted}");
        }
    }
}
