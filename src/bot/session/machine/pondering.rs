//! Searching in the opponent's time: after our move, the positions after the replies that our council expects.
//!
//! What is pondered never touches the board, and nothing waits for it: a hit turns it into the search of our move, a miss (or
//! a takeback, or a refused move, or the end) stops it before anything else is searched.

use std::{sync::Arc, time::Instant};

use super::{DecidedSearch, GameEffect, GameMachine, MoveState};
use council::player::RequestId;
use domain::{Line, UciMove};

/// The search in the opponent's time.
#[derive(Debug)]
pub(super) struct PonderedLines {
    pub(super) request: RequestId,
    /// The positions that are expected, the likeliest first.
    pub(super) lines: Vec<Arc<Line>>,
    /// Found before one of them came about; it names the one that it is about.
    decided: Option<Box<DecidedSearch>>,
}

impl PonderedLines {
    /// Returns true if it is still useful with this position: one of those expected, or one move
    /// before.
    fn may_come_from(&self, board: &Line) -> bool {
        self.lines.iter().any(|line| {
            let moves_away = line.ply().checked_sub(board.ply());
            matches!(moves_away, Some(0 | 1)) && line.moves().starts_with(board.moves())
        })
    }
}

impl GameMachine {
    /// Sets the number of expected replies to search in the opponent's time.
    pub(in crate::session) const fn ponder_replies(&mut self, replies: usize) {
        self.replies_pondered = replies;
    }

    /// Begins to search the expected positions after the bot's move.
    pub(super) fn ponder(&mut self, best: UciMove, replies: &[UciMove], effects: &mut Vec<GameEffect>) {
        let after = |reply: &UciMove| {
            let mut line = Line::clone(&self.line);
            line.play(best).and_then(|()| line.play(*reply)).ok()?;
            (!line.legal_moves().is_empty()).then(|| Arc::new(line))
        };
        let lines: Vec<Arc<Line>> = replies.iter().take(self.replies_pondered).filter_map(after).collect();
        if lines.is_empty() {
            return;
        }
        let request = RequestId(self.next_number());
        effects.push(GameEffect::Ponder { request, lines: lines.clone() });
        self.pondering = Some(PonderedLines { request, lines, decided: None });
    }

    /// Keeps what was decided until its position comes about; gives it back if it was not pondered.
    pub(super) fn keep_for_later(
        &mut self,
        request: RequestId,
        decided: Box<DecidedSearch>,
    ) -> Option<Box<DecidedSearch>> {
        match &mut self.pondering {
            Some(pondering) if pondering.request == request => {
                pondering.decided = Some(decided);
                None
            }
            _ => Some(decided),
        }
    }

    /// The board has changed: pondering goes on if our move was shown, or if it was a hit.
    pub(super) fn review_pondering(&mut self, effects: &mut Vec<GameEffect>) {
        if self.pondering.take_if(|pondering| !pondering.may_come_from(&self.line)).is_some() {
            effects.push(GameEffect::StopSearch);
        }
    }

    /// Turns pondering into the search of the bot's move, if an expected position is on the board.
    /// Returns true if it did.
    pub(super) fn ponder_hit(&mut self, now: Instant, effects: &mut Vec<GameEffect>) -> bool {
        let hit = |pondering: &mut PonderedLines| {
            // Finished before it was known which position would come: of no use for any other.
            let finished_for_another = pondering.decided.as_ref().is_some_and(|decided| decided.line != self.line);
            !finished_for_another && pondering.lines.contains(&self.line)
        };
        if !self.refused.is_empty() {
            return false;
        }
        let Some(pondering) = self.pondering.take_if(hit) else { return false };
        self.our_move = MoveState::Searching(pondering.request);
        match pondering.decided {
            Some(decided) => self.decided(now, pondering.request, decided, effects),
            None => effects.push(GameEffect::PonderHit { clocks: self.state.clocks, received: self.state.received }),
        }
        true
    }
}
