//! How far a worker's claim is believed: no further than a short search of this machine bears it out. Pure functions.
//!
//! A proposal counts after the proposed move was searched here as well, for a few milliseconds, and its score within a margin of what
//! that search says. A score outside the margin is looked at once more, forty times as long, and meanwhile counts as what was found
//! here. An honest score that saw deeper is then cut to the margin and still speaks for its move; what is further off than honest
//! searches are is untrue, and the worker is not believed any more. So a lie moves an election no further than the margin.
//!
//! A mate is believed when the search here finds one, too. One that is not found here counts as a plain score; its variation is
//! played to the end, and where the last two moves of it force no mate, the claim is a lie. A mate against the mover that is found here
//! counts as it was found, whatever the claim makes of it.

use chess::{Bound, Line, Proposal, Score};

/// A search of this machine that a claim is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LookLength {
    /// The first one at a move.
    Short,
    /// The second one, where the first does not bear a claim out.
    Long,
}

impl LookLength {
    /// How many nodes it has.
    pub(crate) fn nodes(self) -> u64 {
        match self {
            Self::Short => 1_000,
            Self::Long => 40_000,
        }
    }
}

/// What a claim may differ from the search here, centipawns, beside a share of the score.
const MARGIN: i32 = 200;
/// What it differs by at least if it is untrue: more than a queen is worth.
const UNTRUE: i32 = 1_000;
/// A mate, and all that is decided, compares as so many centipawns.
const DECIDED: i32 = 2_000;
/// Centipawns beyond which a score would count for more than a mate.
const HIGHEST: i32 = 30_000;
/// What a score may be at most where our own engine cannot look, centipawns.
const UNSEEN: i32 = 300;

/// What a search of this machine says of one move, from the side that plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HomeValue {
    /// Its score; `None` where our own engine does not play the variant.
    pub score: Option<Score>,
    /// The highest score of its iterations, the shallowest among them.
    pub highest: Option<Score>,
    /// How deep it came, plies.
    pub depth: u32,
    /// How long it was.
    pub length: LookLength,
}

impl HomeValue {
    /// What a look says that found nothing.
    pub(crate) fn none(length: LookLength) -> Self {
        Self { score: None, highest: None, depth: 0, length }
    }

    /// The same from the other side.
    #[must_use]
    pub(crate) fn flipped(self) -> Self {
        Self { score: self.score.map(Score::flipped), highest: None, ..self }
    }

    /// With one iteration more.
    #[must_use]
    pub(crate) fn after(self, score: Score, depth: u32) -> Self {
        Self { score: Some(score), highest: self.highest.max(Some(score)), depth, ..self }
    }
}

/// What is made of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClaimJudgement {
    /// The proposal as far as it is believed.
    pub believed: Proposal,
    /// What else is to be thought of it.
    pub verdict: ClaimVerdict,
}

/// Whether a claim and the search here agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimVerdict {
    /// They do, or may: honest searches differ so much.
    Plausible,
    /// They do not: a longer look is due.
    Outlying,
    /// No honest search differs so much from a long look.
    Untrue,
}

/// Holds a claim against what was found here. Of a search within a window it says no more than that the value lies outside.
pub(crate) fn judge(claim: &Proposal, home: &HomeValue, window: Option<(Score, Score)>) -> ClaimJudgement {
    let within = |score: Score| window.map_or(score, |(low, high)| score.clamp(low, high.max(low)));
    let mut believed = claim.clone();
    believed.score = within(match claim.score {
        Score::Cp(said) => Score::Cp(said.clamp(-HIGHEST, HIGHEST)),
        mate @ Score::Mate(_) => mate,
    });
    believed.depth = claim.depth.min(deepest(home, claim.nodes));
    believed.selective_depth = claim.selective_depth.max(believed.depth);
    let claim = &Proposal { score: believed.score, ..claim.clone() };
    let Some(ours) = home.score.map(within) else {
        believed.score = Score::Cp(compared(claim.score).clamp(-UNSEEN, UNSEEN));
        return ClaimJudgement { believed, verdict: ClaimVerdict::Plausible };
    };
    let (said, seen) = (compared(claim.score), compared(ours));
    let both_mate = matches!((claim.score, ours), (Score::Mate(said), Score::Mate(seen)) if (said > 0) == (seen > 0));
    let (low, high) = (seen - margin(seen), seen + margin(seen));
    if both_mate || matches!(claim.score, Score::Cp(_)) && (low..=high).contains(&said) {
        return ClaimJudgement { believed: with_our_mate(believed, ours), verdict: ClaimVerdict::Plausible };
    }
    let highest = home.highest.map_or(seen, |highest| compared(within(highest)).max(seen));
    let untrue = is_beyond(said, highest);
    let verdict = match home.length {
        LookLength::Short => ClaimVerdict::Outlying,
        LookLength::Long if untrue => ClaimVerdict::Untrue,
        LookLength::Long => ClaimVerdict::Plausible,
    };
    believed.score = if verdict == ClaimVerdict::Plausible { Score::Cp(said.clamp(low, high)) } else { ours };
    // What comes after the move and its answer may be made up as well.
    believed.pv.truncate(2);
    ClaimJudgement { believed: with_our_mate(believed, ours), verdict }
}

/// A mate against the mover that was found here counts as it was found: a claim that calls it a bound, or further away, would hide it.
fn with_our_mate(believed: Proposal, ours: Score) -> Proposal {
    match ours {
        Score::Mate(..=0) => Proposal { score: ours, bound: Bound::Exact, ..believed },
        Score::Mate(_) | Score::Cp(_) => believed,
    }
}

/// Where a claimed mate is to be tried: the position of its variation before the last two moves of the side that mates, from where
/// the mate is short enough to be found here for certain. `None` if the variation does not end in mate within its number of moves.
pub(crate) fn before_the_mate(line: &Line, claim: &Proposal) -> Option<Line> {
    let Score::Mate(moves @ 1..) = claim.score else { return None };
    let plies = 2 * usize::try_from(moves).ok()? - 1;
    let mut last = line.clone();
    claim.pv.iter().try_for_each(|uci| last.play(*uci).ok())?;
    let mates = claim.pv.len() == plies && last.is_checkmate();
    mates.then(|| last.prefix(last.ply() - plies.min(3)))
}

/// Where a claim ends that has a variation to show: there its score is to be seen without a search as deep as the one that found it.
/// `None` if that is the claimed move itself, or the end of the game.
pub(crate) fn where_it_ends(line: &Line, claim: &Proposal) -> Option<Line> {
    let mut last = line.clone();
    claim.pv.iter().try_for_each(|uci| last.play(*uci).ok())?;
    (claim.pv.len() > 1 && !last.legal_moves().is_empty()).then_some(last)
}

/// Whether the score of a claim is not so even where its variation ends, as a look at that position says.
pub(crate) fn is_untrue_where_it_ends(claim: &Proposal, found: &HomeValue) -> bool {
    let Some(seen) = found.score.map(compared) else { return false };
    is_beyond(compared(claim.score), seen)
}

/// Whether no honest search says so much of what is worth this here.
fn is_beyond(said: i32, seen: i32) -> bool {
    said - seen > UNTRUE + seen.abs() / 2
}

/// What a search that came so far with so many nodes can reach with more of them: each ply costs a fifth more nodes at least.
fn deepest(home: &HomeValue, nodes: u64) -> u32 {
    const GROWTH: f64 = 1.2;
    #[allow(clippy::cast_precision_loss)]
    let ratio = nodes as f64 / home.length.nodes() as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let more = (ratio.max(1.0).ln() / GROWTH.ln()).ceil() as u32;
    home.depth + 2 + more
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
    use chess::{GameId, Phase, SearchId, Variant};

    fn claim(score: Score, moves: &str) -> Proposal {
        let pv: Vec<chess::UciMove> = moves.split(' ').map(|uci| uci.parse().expect("a move")).collect();
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

    fn home(score: Score, length: LookLength) -> HomeValue {
        HomeValue::none(length).after(score, 8)
    }

    fn judged(said: Score, seen: Score, length: LookLength) -> (Score, ClaimVerdict) {
        let ClaimJudgement { believed, verdict } = judge(&claim(said, "e2e4 e7e5 g1f3"), &home(seen, length), None);
        (believed.score, verdict)
    }

    use ClaimVerdict::{Outlying, Plausible, Untrue};
    use LookLength::{Long, Short};
    use Score::{Cp, Mate};

    #[test]
    fn what_is_near_to_our_own_search_stands_as_it_is() {
        assert_eq!(judged(Cp(150), Cp(20), Short), (Cp(150), Plausible));
        assert_eq!(judged(Cp(-120), Cp(20), Short), (Cp(-120), Plausible));
        assert_eq!(judged(Cp(1500), Cp(900), Short), (Cp(1500), Plausible), "of high scores more differs");
        assert_eq!(judged(Mate(4), Mate(6), Short), (Mate(4), Plausible));
    }

    #[test]
    fn a_mate_against_us_that_is_found_here_is_not_hidden() {
        let home = home(Mate(-1), Short);
        for (score, bound) in [
            (Mate(-1), Bound::Lower),
            (Mate(-1), Bound::Upper),
            (Mate(-900), Bound::Exact),
            (Cp(-1900), Bound::Lower),
            (Cp(600), Bound::Lower),
        ] {
            let said = Proposal { bound, ..claim(score, "e2e4 e7e5 g1f3") };
            let believed = judge(&said, &home, None).believed;
            assert_eq!((believed.score, believed.bound), (Mate(-1), Bound::Exact), "{score} {bound:?}");
        }
        assert_eq!(judged(Mate(-2), Mate(-3), Long), (Mate(-3), Plausible));
    }

    #[test]
    fn no_plain_score_counts_for_more_than_a_mate() {
        let (believed, verdict) = judged(Cp(1_000_000), Cp(1500), Short);
        assert!(believed < Mate(1000) && verdict == Plausible, "{believed}");
    }

    #[test]
    fn a_lie_moves_an_election_no_further_than_the_margin() {
        assert_eq!(judged(Cp(600), Cp(20), Short), (Cp(20), Outlying));
        assert_eq!(judged(Cp(600), Cp(20), Long), (Cp(230), Plausible), "an honest search may have seen that");
        assert_eq!(judged(Cp(10_000), Cp(20), Short), (Cp(20), Outlying));
        assert_eq!(judged(Cp(10_000), Cp(20), Long), (Cp(20), Untrue));
        assert_eq!(judged(Cp(-10_000), Cp(20), Long), (Cp(-190), Plausible), "it harms its own move alone");
    }

    #[test]
    fn a_mate_is_believed_when_it_is_found_here_too() {
        assert_eq!(judged(Mate(3), Cp(20), Short), (Cp(20), Outlying));
        assert_eq!(judged(Mate(3), Cp(20), Long), (Cp(20), Untrue));
        assert_eq!(judged(Mate(3), Cp(900), Long), (Cp(1550), Plausible), "it is won in any case");
        assert_eq!(judged(Mate(3), Mate(-3), Long).1, Untrue);
    }

    #[test]
    fn within_a_window_a_value_says_only_on_which_side_it_is() {
        let within = |said: Score, seen: Score| {
            let judgement = judge(&claim(said, "e2e4"), &home(seen, Long), Some((Cp(300), Cp(310))));
            (judgement.believed.score, judgement.verdict)
        };
        assert_eq!(within(Cp(300), Cp(-900)), (Cp(300), Plausible), "not above the window");
        assert_eq!(within(Mate(3), Cp(-900)), (Cp(310), Plausible), "a lie cannot leave it");
    }

    #[test]
    fn what_a_shallow_search_overlooks_is_no_lie() {
        let overlooked = HomeValue::none(Long).after(Cp(84), 1).after(Cp(60), 2).after(Mate(-1), 3);
        let ClaimJudgement { believed, verdict } = judge(&claim(Cp(84), "c8a6 g7h8"), &overlooked, None);
        assert_eq!((believed.score, verdict), (Mate(-1), Plausible), "yet it elects nothing");
        assert_eq!(judge(&claim(Cp(1500), "c8a6 g7h8"), &overlooked, None).verdict, Untrue, "no iteration said that");
    }

    #[test]
    fn what_its_variation_bears_out_is_no_lie() {
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
    fn a_depth_is_one_that_so_many_nodes_can_reach() {
        let mut deep = claim(Cp(0), "e2e4");
        (deep.depth, deep.nodes) = (999, 1_000);
        assert_eq!(judge(&deep, &home(Cp(0), Short), None).believed.depth, 10);
        deep.nodes = 1_000_000;
        assert_eq!(judge(&deep, &home(Cp(0), Short), None).believed.depth, 10 + 38);
        assert_eq!(judge(&claim(Cp(0), "e2e4"), &home(Cp(0), Short), None).believed.depth, 12);
    }

    #[test]
    fn where_our_engine_cannot_look_no_score_is_high() {
        assert_eq!(judge(&claim(Mate(1), "e2e4"), &HomeValue::none(Long), None).believed.score, Cp(300));
    }

    #[test]
    fn a_mate_is_tried_where_it_is_short_enough_to_be_found() {
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
