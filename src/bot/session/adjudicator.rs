//! Draws, resignation, takebacks, aborts and claims of one game: the rules of
//! [`adjudication`](crate::policy::adjudication), applied to its scores.

use std::time::Duration;

use shakmaty::Position;

use super::PlayerSettings;
use crate::policy::{
    AbortSettings, ClaimSettings, DrawSettings, ResignSettings,
    adjudication::{self, Claim, GameFacts, TablebaseResult},
};
use domain::{Action, Clocks, Decision, GameInfo, Line, Score, Source, TimeControl, UciMove, values::Kind};

/// The rules for one game, and the facts they use.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjudicator {
    draw: DrawSettings,
    resign: ResignSettings,
    abort: AbortSettings,
    claim: ClaimSettings,
    /// True if the opponent asked for more time for the first move.
    waits_longer: bool,
    /// The most takebacks granted in a game.
    takebacks: u32,
    /// The number granted in this game.
    granted: u32,
    /// The scores of the bot's moves, from its side.
    scores: Vec<Option<Score>>,
    tablebase: Option<TablebaseResult>,
    /// The number of moves of both sides at the bot's last draw offer.
    offered_at: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoveVerdict {
    Play,
    /// The move is played with the offer (or the acceptance, or the claim) of a draw.
    PlayAndDraw,
    Resign,
}

impl Adjudicator {
    /// Creates the rules of these settings, for a game in which `granted` takebacks were granted
    /// before a restart.
    pub(super) fn new(settings: &PlayerSettings, granted: u32) -> Self {
        Self {
            draw: settings.draw.clone(),
            resign: settings.resign.clone(),
            abort: settings.abort.clone(),
            claim: settings.claim.clone(),
            takebacks: settings.takebacks,
            granted,
            ..Self::default()
        }
    }

    /// Records a decision and returns the verdict on it.
    pub(super) fn judge(
        &mut self,
        info: &GameInfo,
        line: &Line,
        clocks: Option<Clocks>,
        decision: &Decision,
        they_offer_draw: bool,
    ) -> MoveVerdict {
        self.tablebase = TablebaseResult::of(decision);
        self.scores.truncate(line.ply() / 2);
        // Two plies are enough for a move and too little to resign or to offer a draw.
        self.scores.push(decision.score.filter(|_| decision.source != Source::Fallback));
        let facts = self.facts(info, line, clocks);
        if may_be_claimed(line, decision.best) && adjudication::claims_draw(&self.draw, &facts) {
            self.offered_at = Some(line.ply());
            MoveVerdict::PlayAndDraw
        } else if adjudication::resigns(&self.resign, &facts) && line.ply() >= 2 {
            MoveVerdict::Resign
        } else if they_offer_draw && adjudication::accepts_draw(&self.draw, &facts) {
            MoveVerdict::PlayAndDraw
        } else if adjudication::offers_draw(&self.draw, &facts) {
            self.offered_at = Some(line.ply());
            MoveVerdict::PlayAndDraw
        } else {
            MoveVerdict::Play
        }
    }

    /// Returns true if a draw offered on the opponent's own turn is accepted.
    pub(super) fn accepts_draw(&self, info: &GameInfo, line: &Line, clocks: Option<Clocks>) -> bool {
        adjudication::accepts_draw(&self.draw, &self.facts(info, line, clocks))
    }

    /// Returns true if a takeback is granted, and counts it.
    pub(super) fn grants_takeback(&mut self) -> bool {
        let grants = adjudication::grants_takeback(self.takebacks, self.granted);
        self.granted += u32::from(grants);
        grants
    }

    /// Returns the opponent's time for the first move, if no clock limits it.
    pub(super) fn abort_after(&self, info: &GameInfo) -> Option<Duration> {
        let real_time = matches!(info.terms.time_control, TimeControl::RealTime { .. });
        let times = if self.waits_longer { 2 } else { 1 };
        real_time.then(|| adjudication::abort_after(&self.abort, Kind::of(info.opponent())).saturating_mul(times))
    }

    /// Doubles the time for the first move, at the opponent's request.
    pub(super) fn wait_longer(&mut self) {
        self.waits_longer = true;
    }

    /// Returns the claim on an opponent who has left.
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
            moves: moves(line.ply()),
            pieces: line.position().board().occupied().count(),
            tablebase: self.tablebase,
            moves_since_offer: self.offered_at.map(|ply| moves(line.ply().saturating_sub(ply))),
            opponent: Kind::of(info.opponent()),
            opponent_rating: info.opponent().rating,
            opponent_clock: theirs.map(|clock| clock.remaining),
            increment: theirs.map_or(Duration::ZERO, |clock| clock.increment),
        }
    }
}

/// Returns true if the position after this move is drawn by repetition or by fifty moves once
/// claimed.
fn may_be_claimed(line: &Line, uci: UciMove) -> bool {
    let mut after = line.clone();
    if after.play(uci).is_err() || after.legal_moves().is_empty() {
        return false;
    }
    after.occurrences() >= 3 || after.position().halfmoves() >= 100
}

fn moves(plies: usize) -> u32 {
    u32::try_from(plies / 2).unwrap_or(u32::MAX)
}
