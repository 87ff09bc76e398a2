//! SearchHandle in the opponent's time: after our move, about the positions after the replies that our council expects.
//!
//! What is thought ahead never touches the board, and nothing waits for it: a hit turns it into the search of our move, a
//! miss (or a takeback, or a refused move, or the end) stops it before anything else is thought about.

use std::{sync::Arc, time::Instant};

use super::{Effect, Game, Turn};
use chess::{Decision, Line, UciMove};
use council::player::RequestId;

/// What is being thought about in the opponent's time.
#[derive(Debug)]
pub(super) struct Ahead {
    thought: RequestId,
    /// The positions that are expected, the likeliest first.
    lines: Vec<Arc<Line>>,
    /// Found before it came about; only where a single position is expected.
    decision: Option<Box<Decision>>,
}

impl Ahead {
    /// Whether it is still of use with this position on the board: it is one of those expected, or one move before.
    fn may_come_from(&self, board: &Line) -> bool {
        self.lines.iter().any(|line| {
            let moves_away = line.ply().checked_sub(board.ply());
            matches!(moves_away, Some(0 | 1)) && line.moves().starts_with(board.moves())
        })
    }
}

impl Game {
    /// From now on the opponent's time is used, to think about so many expected replies.
    pub(in crate::session) const fn use_opponents_time(&mut self, replies: usize) {
        self.replies_thought_about = replies;
    }

    /// After our move: begins to think about the positions that are expected.
    pub(super) fn think_ahead(&mut self, best: UciMove, replies: &[UciMove], effects: &mut Vec<Effect>) {
        let after = |reply: &UciMove| {
            let mut line = Line::clone(&self.line);
            line.play(best).and_then(|()| line.play(*reply)).ok()?;
            (!line.legal_moves().is_empty()).then(|| Arc::new(line))
        };
        let lines: Vec<Arc<Line>> = replies.iter().take(self.replies_thought_about).filter_map(after).collect();
        if lines.is_empty() {
            return;
        }
        let thought = RequestId(self.next_number());
        effects.push(Effect::ThinkAhead { thought, lines: lines.clone() });
        self.ahead = Some(Ahead { thought, lines, decision: None });
    }

    /// Keeps a decision until its position comes about; gives it back if it is not of a thought ahead.
    pub(super) fn keep_for_later(&mut self, thought: RequestId, decision: Box<Decision>) -> Option<Box<Decision>> {
        match &mut self.ahead {
            Some(ahead) if ahead.thought == thought => {
                ahead.decision = Some(decision);
                None
            }
            _ => Some(decision),
        }
    }

    /// The board has changed: what was thought ahead goes on if our move was shown, or if it was a hit.
    pub(super) fn review_ahead(&mut self, effects: &mut Vec<Effect>) {
        if self.ahead.take_if(|ahead| !ahead.may_come_from(&self.line)).is_some() {
            effects.push(Effect::StopThinking);
        }
    }

    /// An expected position is on the board and it is our move: what was thought ahead becomes our thinking. Says whether
    /// it was so.
    pub(super) fn hit(&mut self, now: Instant, effects: &mut Vec<Effect>) -> bool {
        let hit = |ahead: &mut Ahead| {
            // Finished before it was known which position would come: of no use for any but the first.
            let finished_for_another = ahead.decision.is_some() && ahead.lines.first() != Some(&self.line);
            !finished_for_another && ahead.lines.contains(&self.line)
        };
        if !self.refused.is_empty() {
            return false;
        }
        let Some(ahead) = self.ahead.take_if(hit) else { return false };
        self.turn = Turn::SearchHandle(ahead.thought);
        match ahead.decision {
            Some(decision) => self.decided(now, ahead.thought, decision, effects),
            None => effects.push(Effect::Hit { clocks: self.state.clocks, received: self.state.received }),
        }
        true
    }
}
