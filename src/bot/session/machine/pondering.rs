//! Searching in the opponent's time: after the bot's move, the positions after the expected replies.
//!
//! Pondering never touches the board, and nothing waits for it: a hit turns it into the search of the bot's move. A miss, a
//! takeback, a rejected move or the end stops it before another search.

use std::{sync::Arc, time::Instant};

use super::{DecidedSearch, GameEffect, GameMachine, MoveState};
use council::player::RequestId;
use domain::{Line, UciMove};

#[derive(Debug)]
pub(super) struct PonderedLines {
    pub(super) request: RequestId,
    /// The expected positions, the likeliest first.
    pub(super) lines: Vec<Arc<Line>>,
    /// A decision before the opponent's move; its line is one of the expected ones.
    decided: Option<Box<DecidedSearch>>,
}

impl PonderedLines {
    /// Returns true if it is still useful with this position: an expected one, or one move before.
    fn may_come_from(&self, board: &Line) -> bool {
        self.lines.iter().any(|line| {
            let moves_away = line.ply().checked_sub(board.ply());
            matches!(moves_away, Some(0 | 1)) && line.moves().starts_with(board.moves())
        })
    }
}

impl GameMachine {
    pub(in crate::session) const fn ponder_replies(&mut self, replies: usize) {
        self.replies_pondered = replies;
    }

    pub(super) fn ponder(&mut self, best: UciMove, replies: &[UciMove]) {
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
        self.effects.push(GameEffect::Ponder { request, lines: lines.clone() });
        self.pondering = Some(PonderedLines { request, lines, decided: None });
    }

    /// Keeps the decision of a pondered position; returns any other one.
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

    /// Stops pondering after a change of the board, unless the change is the bot's move or a hit.
    pub(super) fn review_pondering(&mut self) {
        if self.pondering.take_if(|pondering| !pondering.may_come_from(&self.line)).is_some() {
            self.effects.push(GameEffect::StopSearch);
        }
    }

    /// Turns pondering into the search of the bot's move, if an expected position is on the board.
    pub(super) fn ponder_hit(&mut self, now: Instant) -> bool {
        let hit = |pondering: &mut PonderedLines| {
            // A decision about another expected position is of no use.
            let finished_for_another = pondering.decided.as_ref().is_some_and(|decided| decided.line != self.line);
            !finished_for_another && pondering.lines.contains(&self.line)
        };
        if !self.refused.is_empty() {
            return false;
        }
        let Some(pondering) = self.pondering.take_if(hit) else { return false };
        self.our_move = MoveState::Searching(pondering.request);
        match pondering.decided {
            Some(decided) => self.decided(now, pondering.request, decided),
            None => {
                self.effects.push(GameEffect::PonderHit { clocks: self.state.clocks, received: self.state.received })
            }
        }
        true
    }
}
