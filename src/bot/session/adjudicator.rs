//! Draws, resignation, takebacks, aborts and claims of one game: the rules of
//! [`adjudication`](crate::policy::adjudication), applied to its scores.

use std::time::Duration;

use shakmaty::Position;

use super::PlayerSettings;
use crate::journal::GameResult;
use crate::policy::adjudication::{self, GameFacts};
use domain::{Action, Clocks, Decision, GameInfo, Line, Score, Source, TimeControl, UciMove, values::Kind};

/// The rules for one game, and the facts they use.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjudicator {
    settings: PlayerSettings,
    waits_longer: bool,
    granted: u32,
    /// The scores of the bot's moves, from its side.
    scores: Vec<Option<Score>>,
    tablebase: Option<GameResult>,
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
    /// Creates the rules of these settings, for a game with `granted` takebacks before a restart.
    pub(super) fn new(settings: &PlayerSettings, granted: u32) -> Self {
        Self { settings: settings.clone(), granted, ..Self::default() }
    }

    pub(super) fn judge(
        &mut self,
        info: &GameInfo,
        line: &Line,
        clocks: Option<Clocks>,
        decision: &Decision,
        they_offer_draw: bool,
    ) -> MoveVerdict {
        self.tablebase = adjudication::tablebase_result(decision);
        self.scores.truncate(line.ply() / 2);
        // The two plies of the fallback are enough for a move, and not for a resignation or a draw offer.
        self.scores.push(decision.score.filter(|_| decision.source != Source::Fallback));
        let facts = self.facts(info, line, clocks);
        if may_be_claimed(line, decision.best) && adjudication::claims_draw(&self.settings.draw, &facts) {
            self.offered_at = Some(line.ply());
            MoveVerdict::PlayAndDraw
        } else if adjudication::resigns(&self.settings.resign, &facts) && line.ply() >= 2 {
            MoveVerdict::Resign
        } else if they_offer_draw && adjudication::accepts_draw(&self.settings.draw, &facts) {
            MoveVerdict::PlayAndDraw
        } else if adjudication::offers_draw(&self.settings.draw, &facts) {
            self.offered_at = Some(line.ply());
            MoveVerdict::PlayAndDraw
        } else {
            MoveVerdict::Play
        }
    }

    /// Returns true if a draw offered on the opponent's own turn is accepted.
    pub(super) fn accepts_draw(&self, info: &GameInfo, line: &Line, clocks: Option<Clocks>) -> bool {
        adjudication::accepts_draw(&self.settings.draw, &self.facts(info, line, clocks))
    }

    /// Returns true if a takeback is granted, and counts it.
    pub(super) fn grants_takeback(&mut self) -> bool {
        let grants = self.granted < self.settings.takebacks;
        self.granted += u32::from(grants);
        grants
    }

    /// Returns the opponent's time for the first move, if no clock limits it.
    pub(super) fn abort_after(&self, info: &GameInfo) -> Option<Duration> {
        let real_time = matches!(info.terms.time_control, TimeControl::RealTime { .. });
        let times = if self.waits_longer { 2 } else { 1 };
        let patience = match Kind::of(info.opponent()) {
            Kind::Human => self.settings.abort.human,
            Kind::Bot => self.settings.abort.bot,
        };
        real_time.then(|| patience.saturating_mul(times))
    }

    pub(super) fn wait_longer(&mut self) {
        self.waits_longer = true;
    }

    /// Returns the claim after the server's time for an absent opponent: the win, or a draw without the material to mate. The
    /// server answers 200 to an early claim and ignores it, so the caller repeats it until the game ends.
    pub(super) fn claim(&self, info: &GameInfo, line: &Line) -> Option<Action> {
        let cannot_mate = line.position().has_insufficient_material(info.our_color);
        let claim = if cannot_mate { Action::ClaimDraw } else { Action::ClaimVictory };
        self.settings.claim.enabled.then(|| claim(info.id.clone()))
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

/// Returns true if the position after this move is drawn by repetition or fifty moves once claimed.
fn may_be_claimed(line: &Line, uci: UciMove) -> bool {
    let mut after = line.clone();
    after.play(uci).is_ok()
        && (after.occurrences() >= 3 || after.position().halfmoves() >= 100)
        && !after.legal_moves().is_empty()
}

fn moves(plies: usize) -> u32 {
    u32::try_from(plies / 2).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{GameTerms, Player, Variant};

    #[test]
    fn side_that_cannot_mate_claims_a_draw() {
        let time_control = TimeControl::real_time(Duration::from_mins(3), Duration::ZERO);
        let terms = GameTerms { variant: Variant::Standard, time_control, rated: false };
        let info = GameInfo::from_start("abcdefgh", terms, Player::named("Concilio"), Player::named("Ann"));
        let mut settings = PlayerSettings { takebacks: 1, ..PlayerSettings::default() };
        let claim = |settings: &PlayerSettings, fen: &str| {
            let line = Line::from_fen(Variant::Standard, fen).expect("a position");
            Adjudicator::new(settings, 0).claim(&info, &line)
        };
        assert_eq!(claim(&settings, ""), Some(Action::ClaimVictory(info.id.clone())));
        assert_eq!(claim(&settings, "8/8/4k3/4q3/8/8/4K3/8 w - - 0 1"), Some(Action::ClaimDraw(info.id.clone())));
        settings.claim.enabled = false;
        assert_eq!(claim(&settings, ""), None);
        let mut rules = Adjudicator::new(&settings, 0);
        assert!(rules.grants_takeback() && !rules.grants_takeback());
        assert!(!Adjudicator::new(&settings, 1).grants_takeback());
        assert!(!Adjudicator::default().grants_takeback());
    }
}
