//! When one game is given up, drawn, taken back, aborted or claimed: the rules of
//! [`adjudication`](crate::policy::adjudication), applied to the scores that this game has seen.

use std::time::Duration;

use shakmaty::Position;

use crate::policy::{
    AbortSettings, ClaimSettings, DrawSettings, ResignSettings,
    adjudication::{self, Claim, GameFacts, TablebaseResult},
};
use chess::{Action, Clocks, Decision, GameInfo, Line, Score, TimeControl, values::Kind};

/// The rules for one game, and what they look at.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjudicator {
    pub draw: DrawSettings,
    pub resign: ResignSettings,
    pub abort: AbortSettings,
    pub claim: ClaimSettings,
    /// The most takebacks granted in a game.
    pub takebacks: u32,
    granted: u32,
    /// Of our moves, from our side.
    scores: Vec<Option<Score>>,
    /// What a tablebase said of our last move's position.
    tablebase: Option<TablebaseResult>,
}

/// What is done with a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The move is played.
    Play,
    /// The move is played with the offer (or the acceptance) of a draw.
    PlayAndDraw,
    /// The game is given up.
    Resign,
}

impl Adjudicator {
    /// The rules, before anything has happened.
    pub(super) fn new(
        draw: DrawSettings,
        resign: ResignSettings,
        abort: AbortSettings,
        claim: ClaimSettings,
        takebacks: u32,
    ) -> Self {
        Self { draw, resign, abort, claim, takebacks, granted: 0, scores: Vec::new(), tablebase: None }
    }

    /// Takes notice of a decision and says what is done with it.
    pub(super) fn judge(
        &mut self,
        info: &GameInfo,
        line: &Line,
        clocks: Option<Clocks>,
        decision: &Decision,
        they_offer_draw: bool,
    ) -> Verdict {
        self.tablebase = TablebaseResult::of(decision);
        self.scores.truncate(line.ply() / 2);
        self.scores.push(decision.score);
        let facts = self.facts(info, line, clocks);
        if adjudication::resigns(&self.resign, &facts) && line.ply() >= 2 {
            Verdict::Resign
        } else if adjudication::offers_draw(&self.draw, &facts)
            || they_offer_draw && adjudication::accepts_draw(&self.draw, &facts)
        {
            Verdict::PlayAndDraw
        } else {
            Verdict::Play
        }
    }

    /// Whether a draw offered on the opponent's own turn is accepted.
    pub(super) fn accepts_draw(&self, info: &GameInfo, line: &Line, clocks: Option<Clocks>) -> bool {
        adjudication::accepts_draw(&self.draw, &self.facts(info, line, clocks))
    }

    /// Whether a takeback is granted; granted ones are counted.
    pub(super) fn grants_takeback(&mut self) -> bool {
        let grants = adjudication::grants_takeback(self.takebacks, self.granted);
        self.granted += u32::from(grants);
        grants
    }

    /// How long the opponent may take over the first move, where a clock does not see to it.
    pub(super) fn abort_after(&self, info: &GameInfo) -> Option<Duration> {
        let real_time = matches!(info.terms.time_control, TimeControl::RealTime { .. });
        real_time.then(|| adjudication::abort_after(&self.abort, Kind::of(info.opponent())))
    }

    /// What is claimed of an opponent who has left.
    pub(super) fn claim(&self, info: &GameInfo, line: &Line) -> Option<Action> {
        let we_can_mate = !line.position().has_insufficient_material(info.our_color);
        adjudication::claim(&self.claim, we_can_mate).map(|claim| match claim {
            Claim::Victory => Action::ClaimVictory(info.id.clone()),
            Claim::Draw => Action::ClaimDraw(info.id.clone()),
        })
    }

    fn facts(&self, info: &GameInfo, line: &Line, clocks: Option<Clocks>) -> GameFacts<'_> {
        let theirs = clocks.map(|clocks| clocks.of(!info.our_color));
        GameFacts {
            scores: &self.scores,
            moves: u32::try_from(line.ply() / 2).unwrap_or(u32::MAX),
            pieces: line.position().board().occupied().count(),
            tablebase: self.tablebase,
            opponent: Kind::of(info.opponent()),
            opponent_rating: info.opponent().rating,
            opponent_clock: theirs.map(|clock| clock.remaining),
            increment: theirs.map_or(Duration::ZERO, |clock| clock.increment),
        }
    }
}
