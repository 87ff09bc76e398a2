use std::time::Duration;

use bot::journal::{OurMove, ProposalRecord, vote_in_words};
use domain::{Line, Source, UciMove};
use serde::Serialize;

use super::{MoveStudy, moves::for_the_other};
use crate::{
    formulas::{START_VALUE, expectation},
    judge::{GameMaterial, GameVerdicts, PositionVerdict, after, position_key},
};

#[derive(Clone, Debug, Serialize)]
pub struct VoteStudy {
    pub ply: usize,
    pub criterion: String,
    /// The split of the vote, 0 (unanimous) to 1.
    pub split: Option<f64>,
    pub sentence: String,
    /// The reasons against the other proposals, in one sentence; empty for a unanimous vote.
    pub why: String,
    /// The votes of the first phase, in the order of the roster.
    pub voters: Vec<VoterStudy>,
    /// The cost of the played move, per cent of a point.
    pub loss: f64,
    /// The cost of the first phase's choice, if there was a second phase.
    pub first_choice_loss: Option<f64>,
    #[serde(skip)]
    pub first_choice: Option<UciMove>,
    /// The bot's time: the duration of the search, seconds.
    pub seconds: f64,
    /// The granted time, seconds: the normal budget, and the most on top.
    pub given: (f64, f64),
    /// The position, as a line from there.
    #[serde(skip)]
    pub line: Line,
    #[serde(skip)]
    pub played: UciMove,
    #[serde(skip)]
    pub had_second_phase: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct VoterStudy {
    #[serde(flatten)]
    pub proposal: ProposalRecord,
    pub san: String,
    #[serde(skip)]
    pub best: UciMove,
    /// The cost, per cent of a point.
    pub loss: f64,
    /// True for the judge's own move.
    pub is_best: bool,
}

impl VoteStudy {
    /// Returns the cost of a proposed move, per cent; `None` if no elector proposed it.
    pub fn loss_of(&self, uci: UciMove) -> Option<f64> {
        let proposed = self.voters.iter().find(|voter| voter.best == uci).map(|voter| voter.loss);
        proposed.or((uci == self.played).then_some(self.loss))
    }

    /// The difference between the best and the worst choice among the proposals, per cent.
    pub fn at_stake(&self) -> f64 {
        let losses = || self.voters.iter().map(|voter| voter.loss).chain([self.loss]);
        losses().fold(0.0, f64::max) - losses().fold(f64::INFINITY, f64::min)
    }

    /// Iterates over the electors with a less costly move, by at least `by`.
    pub fn who_knew_better(&self, by: f64) -> impl Iterator<Item = &VoterStudy> {
        self.voters.iter().filter(move |voter| voter.loss + by <= self.loss)
    }
}

/// Returns the votes of a game with proposals of two electors or more.
pub(super) fn study(
    material: &GameMaterial,
    positions: &[Line],
    verdicts: &GameVerdicts,
    moves: &[MoveStudy],
) -> Vec<VoteStudy> {
    let votes = material.moves.iter().zip(positions).zip(moves);
    let votes = votes.filter_map(|(((played, proposals), line), studied)| {
        let ours = played.ours.as_ref().filter(|ours| ours.source == Source::Council.word())?;
        study_vote(line, ours, proposals, studied, verdicts)
    });
    votes.collect()
}

fn study_vote(
    line: &Line,
    ours: &OurMove,
    proposals: &[ProposalRecord],
    played: &MoveStudy,
    verdicts: &GameVerdicts,
) -> Option<VoteStudy> {
    let verdict = verdicts.get(&position_key(line))?;
    let is_start = played.ply == 0 && line.start_fen().is_none();
    let expected = expectation(if is_start { START_VALUE } else { verdict.score });
    let loss = |uci: UciMove| -> Option<f64> {
        if verdict.is_best(line, uci) {
            return Some(0.0);
        }
        let after = after(line, uci)?;
        let reply = PositionVerdict::by_the_rules(&after).or_else(|| verdicts.get(&position_key(&after)).cloned())?;
        Some((expected - expectation(for_the_other(reply.score))).max(0.0))
    };
    let voters = proposals.iter().filter(|proposal| proposal.is_vote()).filter_map(|proposal| {
        let best: UciMove = proposal.uci.parse().ok()?;
        let is_best = verdict.is_best(line, best);
        Some(VoterStudy { proposal: proposal.clone(), san: line.san(best), best, loss: loss(best)?, is_best })
    });
    let voters: Vec<VoterStudy> = voters.collect();
    if voters.len() < 2 {
        return None;
    }
    let first_choice = ours.first_choice.as_deref().and_then(|first| first.parse().ok());
    let seconds = |time: Duration| time.as_secs_f64();
    let words = vote_in_words(line, played.played, ours, proposals);
    Some(VoteStudy {
        ply: played.ply,
        criterion: ours.criterion.clone(),
        split: ours.split,
        sentence: words.sentence,
        why: words.why,
        voters,
        loss: played.loss,
        first_choice_loss: first_choice.and_then(loss),
        first_choice,
        seconds: seconds(ours.elapsed),
        given: (seconds(ours.response), seconds(ours.extra)),
        line: line.clone(),
        played: played.played,
        had_second_phase: proposals.iter().any(|proposal| proposal.phase == 2),
    })
}
