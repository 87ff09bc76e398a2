//! Tests a worker's claim by a search of this machine. Pure functions.
//!
//! A claimed score counts within the usual difference of honest searches from the value of a search here; the election bounds it
//! further (`council`, `trust`). A claim beyond that difference is searched again, forty times as long. If it is then further off
//! than any honest search, it is untrue, and the worker gets no searches for a while.
//!
//! A claimed mate without a mate here is played to the end of its variation; if its last two moves
//! force no mate, the claim is a lie. A mate against the mover counts if the search here finds it,
//! against any claim.

use council::electors::VerificationLength;
use domain::{Bound, Line, Proposal, Score};

/// Allowed difference between a claim and the search here, centipawns, beside a share of the score.
const MARGIN: i32 = 200;
/// Minimum difference of an untrue claim: more than a queen is worth.
const UNTRUE: i32 = 1_000;
/// Value of a mate, and of every decided position, in comparisons, centipawns.
const DECIDED: i32 = 2_000;
/// Centipawns beyond which a score would count for more than a mate.
const HIGHEST: i32 = 30_000;
/// Value of one move by a search of this machine, from the side that plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HomeValue {
    /// Its score; `None` in variants unknown to the built-in engine.
    pub score: Option<Score>,
    /// The highest score of its iterations, the shallowest among them.
    pub highest: Option<Score>,
    /// Depth, plies.
    pub depth: u32,
    pub length: VerificationLength,
}

impl HomeValue {
    pub(crate) fn none(length: VerificationLength) -> Self {
        Self { score: None, highest: None, depth: 0, length }
    }

    /// Returns the value from the other side.
    #[must_use]
    pub(crate) fn flipped(self) -> Self {
        Self { score: self.score.map(Score::flipped), highest: None, ..self }
    }

    #[must_use]
    pub(crate) fn after(self, score: Score, depth: u32) -> Self {
        Self { score: Some(score), highest: self.highest.max(Some(score)), depth, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimVerdict {
    /// Equal, or as different as honest searches are.
    Plausible,
    /// Different: a longer search is due.
    Outlying,
    /// No honest search differs so much from a long search.
    Untrue,
}

/// Compares a claim with the value found here. Returns the verdict, and the proposal with the score that counts: near the value
/// found here for a vote, that value otherwise, and zero in a variant that our own engine does not play. A value beyond the
/// window of the search counts as the end of the window.
pub(crate) fn judge(
    claim: &Proposal,
    home: &HomeValue,
    window: Option<(Score, Score)>,
    is_vote: bool,
) -> (Proposal, ClaimVerdict) {
    let within = |score: Score| window.map_or(score, |(low, high)| score.clamp(low, high.max(low)));
    let said = within(match claim.score {
        Score::Cp(said) => Score::Cp(said.clamp(-HIGHEST, HIGHEST)),
        mate @ Score::Mate(_) => mate,
    });
    let ours = home.score.map(within);
    let believed = Proposal {
        score: ours.map_or(Score::Cp(0), |ours| if is_vote { near(said, ours) } else { ours }),
        bound: Bound::Exact,
        selective_depth: claim.selective_depth.max(claim.depth),
        ..claim.clone()
    };
    let verdict = ours.map_or(ClaimVerdict::Plausible, |ours| verdict(said, ours, home, within));
    (believed, verdict)
}

/// Returns a claimed score within the margin of the value found here. Mates count as found here.
fn near(said: Score, ours: Score) -> Score {
    match (said, ours) {
        (Score::Cp(said), Score::Cp(seen)) => Score::Cp(said.clamp(seen - margin(seen), seen + margin(seen))),
        _ => ours,
    }
}

fn verdict(said: Score, ours: Score, home: &HomeValue, within: impl Fn(Score) -> Score) -> ClaimVerdict {
    let (claimed, seen) = (compared(said), compared(ours));
    let both_mate = matches!((said, ours), (Score::Mate(said), Score::Mate(seen)) if (said > 0) == (seen > 0));
    let plausible = (seen - margin(seen)..=seen + margin(seen)).contains(&claimed);
    if both_mate || matches!(said, Score::Cp(_)) && plausible {
        return ClaimVerdict::Plausible;
    }
    let highest = home.highest.map_or(seen, |highest| compared(within(highest)).max(seen));
    match home.length {
        VerificationLength::Short | VerificationLength::Medium => ClaimVerdict::Outlying,
        VerificationLength::Long if is_beyond(claimed, highest) => ClaimVerdict::Untrue,
        VerificationLength::Long => ClaimVerdict::Plausible,
    }
}

/// Returns the position of a claimed mate's variation before the last two moves of the side that
/// mates, where the mate is short enough to be found here for certain. `None` if the variation does
/// not end in mate within its number of moves.
pub(crate) fn before_the_mate(line: &Line, claim: &Proposal) -> Option<Line> {
    let Score::Mate(moves @ 1..) = claim.score else { return None };
    let plies = 2 * usize::try_from(moves).ok()? - 1;
    let mut last = line.clone();
    claim.pv.iter().try_for_each(|uci| last.play(*uci).ok())?;
    let mates = claim.pv.len() == plies && last.is_checkmate();
    mates.then(|| last.prefix(last.ply() - plies.min(3)))
}

/// Returns the position at the end of a claim's variation, where a search need not be as deep as
/// the claimed one. `None` if that is the claimed move itself, or the end of the game.
pub(crate) fn where_it_ends(line: &Line, claim: &Proposal) -> Option<Line> {
    let mut last = line.clone();
    claim.pv.iter().try_for_each(|uci| last.play(*uci).ok())?;
    (claim.pv.len() > 1 && !last.legal_moves().is_empty()).then_some(last)
}

/// Returns true if the score of a claim is wrong even at the end of its variation, by a search of
/// that position.
pub(crate) fn is_untrue_where_it_ends(claim: &Proposal, found: &HomeValue) -> bool {
    let Some(seen) = found.score.map(compared) else { return false };
    is_beyond(compared(claim.score), seen)
}

/// Returns true if no honest search gives `said` to a position of the value `seen`.
fn is_beyond(said: i32, seen: i32) -> bool {
    said - seen > UNTRUE + seen.abs() / 2
}

fn margin(seen: i32) -> i32 {
    MARGIN + seen.abs() / 2
}

fn compared(score: Score) -> i32 {
    score.as_centipawns().clamp(-DECIDED, DECIDED)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use domain::{GameId, Phase, SearchId, Variant};

    fn claim(score: Score, moves: &str) -> Proposal {
        let pv: Vec<domain::UciMove> = moves.split(' ').map(|uci| uci.parse().expect("a move")).collect();
        Proposal {
            search: SearchId { game: GameId::new("g"), ply: 0, serial: 1, phase: Phase::First },
            elector: "mp".into(),
            machine: Some("attic".into()),
            best: pv[0],
            score,
            bound: Bound::Exact,
            depth: 12,
            selective_depth: 20,
            root_moves_done: 0,
            nodes: 400_000,
            time: Duration::from_secs(1),
            pv,
        }
    }

    fn home(score: Score, length: VerificationLength) -> HomeValue {
        HomeValue::none(length).after(score, 8)
    }

    fn judged(said: Score, seen: Score, length: VerificationLength) -> (Score, ClaimVerdict) {
        let (believed, verdict) = judge(&claim(said, "e2e4 e7e5 g1f3"), &home(seen, length), None, true);
        (believed.score, verdict)
    }

    use ClaimVerdict::{Outlying, Plausible, Untrue};
    use Score::{Cp, Mate};
    use VerificationLength::{Long, Medium, Short};

    #[test]
    fn claim_counts_near_the_value_found_here() {
        assert_eq!(judged(Cp(150), Cp(20), Short), (Cp(150), Plausible));
        assert_eq!(judged(Cp(-120), Cp(20), Short), (Cp(-120), Plausible));
        assert_eq!(judged(Cp(1500), Cp(900), Short), (Cp(1500), Plausible), "of high scores more differs");
        assert_eq!(judged(Mate(4), Mate(6), Short), (Mate(6), Plausible));
    }

    #[test]
    fn score_that_is_no_vote_counts_as_found_here() {
        let (believed, verdict) = judge(&claim(Cp(150), "e2e4"), &home(Cp(20), Short), None, false);
        assert_eq!((believed.score, verdict), (Cp(20), Plausible));
    }

    #[test]
    fn found_mate_overrides_the_claim() {
        let home = home(Mate(-1), Short);
        for (score, bound) in [
            (Mate(-1), Bound::Lower),
            (Mate(-1), Bound::Upper),
            (Mate(-900), Bound::Exact),
            (Cp(-1900), Bound::Lower),
            (Cp(600), Bound::Lower),
        ] {
            let said = Proposal { bound, ..claim(score, "e2e4 e7e5 g1f3") };
            let (believed, _) = judge(&said, &home, None, true);
            assert_eq!((believed.score, believed.bound), (Mate(-1), Bound::Exact), "{score} {bound:?}");
        }
        assert_eq!(judged(Mate(-2), Mate(-3), Long), (Mate(-3), Plausible));
    }

    #[test]
    fn claim_far_off_is_untrue() {
        assert_eq!(judged(Cp(600), Cp(20), Short), (Cp(230), Outlying));
        assert_eq!(judged(Cp(600), Cp(20), Long), (Cp(230), Plausible), "an honest search may have seen that");
        assert_eq!(judged(Cp(10_000), Cp(20), Medium), (Cp(230), Outlying));
        assert_eq!(judged(Cp(10_000), Cp(20), Long), (Cp(230), Untrue));
        assert_eq!(judged(Cp(1_000_000), Cp(1500), Long), (Cp(2450), Plausible));
        assert_eq!(judged(Cp(-10_000), Cp(20), Long), (Cp(-190), Plausible), "it harms its own move alone");
    }

    #[test]
    fn unfound_mate_is_doubted() {
        assert_eq!(judged(Mate(3), Cp(20), Short), (Cp(20), Outlying));
        assert_eq!(judged(Mate(3), Cp(20), Long), (Cp(20), Untrue));
        assert_eq!(judged(Mate(3), Cp(900), Long), (Cp(900), Plausible), "it is won in any case");
        assert_eq!(judged(Mate(3), Mate(-3), Long).1, Untrue);
    }

    #[test]
    fn window_value_is_only_a_bound() {
        let within = |said: Score, seen: Score| {
            let (believed, verdict) = judge(&claim(said, "e2e4"), &home(seen, Long), Some((Cp(300), Cp(310))), false);
            (believed.score, verdict)
        };
        assert_eq!(within(Cp(300), Cp(-900)), (Cp(300), Plausible), "not above the window");
        assert_eq!(within(Mate(3), Cp(-900)), (Cp(300), Plausible), "a lie cannot leave it");
    }

    #[test]
    fn shallow_oversight_is_no_lie() {
        let overlooked = HomeValue::none(Long).after(Cp(84), 1).after(Cp(60), 2).after(Mate(-1), 3);
        let (believed, verdict) = judge(&claim(Cp(84), "c8a6 g7h8"), &overlooked, None, true);
        assert_eq!((believed.score, verdict), (Mate(-1), Plausible), "yet it elects nothing");
        assert_eq!(judge(&claim(Cp(1500), "c8a6 g7h8"), &overlooked, None, true).1, Untrue, "no iteration said that");
    }

    #[test]
    fn claim_shown_by_its_line_is_true() {
        let start = Line::start(Variant::Standard);
        let deep = claim(Cp(1500), "e2e4 e7e5 g1f3");
        assert_eq!(where_it_ends(&start, &deep).map(|line| line.ply()), Some(3));
        assert!(where_it_ends(&start, &claim(Cp(1500), "e2e4")).is_none(), "it shows nothing but its move");
        assert!(where_it_ends(&start, &claim(Cp(1500), "g2g4 e7e5 f2f3 d8h4")).is_none(), "the game is over");
        let untrue = |score: Score| is_untrue_where_it_ends(&deep, &HomeValue::none(Long).after(score, 8));
        assert!(!untrue(Cp(1200)) && !untrue(Mate(3)));
        assert!(untrue(Cp(20)) && untrue(Cp(-1200)));
        assert!(!is_untrue_where_it_ends(&deep, &HomeValue::none(Long)), "where nothing is found, nothing is proved");
    }

    #[test]
    fn unknown_variant_has_no_value() {
        assert_eq!(judge(&claim(Mate(1), "e2e4"), &HomeValue::none(Long), None, true).0.score, Cp(0));
    }

    #[test]
    fn mate_is_tested_near_its_end() {
        let start = Line::start(Variant::Standard);
        let fool = claim(Mate(2), "g2g4 e7e5 f2f3 d8h4");
        assert!(before_the_mate(&start, &fool).is_none(), "it is the other side that mates");
        let mut line = start.clone();
        line.play_all("f2f3").expect("legal");
        let helped = claim(Mate(2), "e7e5 g2g4 d8h4");
        assert_eq!(before_the_mate(&line, &helped).map(|line| line.ply()), Some(1));
        assert!(before_the_mate(&line, &claim(Mate(3), "e7e5 g2g4 d8h4")).is_none(), "not in its number of moves");
        assert!(before_the_mate(&line, &claim(Mate(1), "e7e5")).is_none(), "no mate at all");
        line.play_all("a7a6 a2a3").expect("legal");
        let longer = claim(Mate(3), "a6a5 a3a4 e7e5 g2g4 d8h4");
        assert_eq!(before_the_mate(&line, &longer).map(|line| line.ply()), Some(5));
    }
}
