//! Verification: searches on home cores of moves proposed by other machines. Only the values of these searches count in a vote, and
//! no claim of a machine.
//!
//! One [`Verification`] belongs to one position. The council names two contesting moves; home cores search both, longer and longer,
//! and record the values; the vote compares the moves at the longest search common to both.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use domain::{Score, UciMove};

/// The searches that a move can have, each longer than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VerificationLength {
    Short,
    /// The second one, if votes of other machines would decide.
    Medium,
    Long,
}

impl VerificationLength {
    /// All of them, the shortest first.
    pub const ALL: [Self; 3] = [Self::Short, Self::Medium, Self::Long];

    pub fn nodes(self) -> u64 {
        match self {
            Self::Short => 2_000,
            Self::Medium => 8_000,
            Self::Long => 40_000,
        }
    }
}

/// Values of moves in one position, found on home cores.
#[derive(Debug)]
pub struct Verification<M = UciMove> {
    values: Mutex<Values<M>>,
    /// Wakes the verifier.
    wanted: Arc<Notify>,
    /// Wakes the council.
    found: Notify,
}

#[derive(Debug)]
struct Values<M> {
    /// The choice of the home electors, and the move that the votes of other machines would elect.
    contest: Option<(Option<M>, Option<M>)>,
    /// Values by move; no move stands for the best one.
    found: Vec<(Option<M>, [Option<Score>; VerificationLength::ALL.len()])>,
    /// Our own engine does not play this variant.
    impossible: bool,
}

impl<M> Verification<M> {
    /// Creates the verification of a position without findings; `wanted` wakes the verifier.
    pub fn new(wanted: Arc<Notify>) -> Arc<Self> {
        let values = Mutex::new(Values { contest: None, found: Vec::new(), impossible: false });
        Arc::new(Self { values, wanted, found: Notify::new() })
    }

    /// Waits for a new value since the last call.
    pub(crate) async fn changed(&self) {
        self.found.notified().await;
    }

    fn values(&self) -> MutexGuard<'_, Values<M>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Copy + PartialEq> Verification<M> {
    /// Names the two moves to compare. Without a home proposal, `home` is `None`: the verifier's own best move.
    pub fn contest(&self, home: Option<M>, challenger: Option<M>) {
        let is_new = self.values().contest.replace((home, challenger)) != Some((home, challenger));
        if is_new {
            self.wanted.notify_one();
        }
    }

    /// Returns the contest's next search; no move stands for the best one.
    pub fn next(&self) -> Option<(Option<M>, VerificationLength)> {
        let values = self.values();
        let (home, challenger) = values.contest.filter(|_| !values.impossible)?;
        let lacks = |moved: Option<M>, length| values.at(moved, length).is_none().then_some((moved, length));
        let contested = challenger.filter(|challenger| Some(*challenger) != home);
        // An uncontested choice is searched once, so that the first vote against it can count.
        let lengths = if contested.is_some() { &VerificationLength::ALL[..] } else { &VerificationLength::ALL[..1] };
        lengths.iter().find_map(|length| {
            let challenger = contested.and_then(|challenger| lacks(Some(challenger), *length));
            lacks(home, *length).or(challenger)
        })
    }

    /// Records the value of a search; `None` in variants unknown to the built-in engine.
    pub fn found(&self, moved: Option<M>, length: VerificationLength, score: Option<Score>) {
        match score {
            None => self.values().impossible = true,
            Some(score) => self.values().note(moved, length, score),
        }
        self.found.notify_one();
    }

    /// Returns the value of one move less that of another (`None`: of the best one), centipawns, by the longest search that both had.
    /// A short search may find the home electors' choice better than they do by their own longer one: as long as both moves had no
    /// more, their `score` of it counts, if that helps the challenger.
    pub fn difference(&self, challenger: M, home: Option<M>, score: Option<Score>) -> Option<i32> {
        let values = self.values();
        let both = |length| values.at(Some(challenger), length).zip(values.at(home, length));
        let (length, (theirs, ours)) =
            VerificationLength::ALL.into_iter().rev().find_map(|length| Some((length, both(length)?)))?;
        let difference = theirs.as_centipawns() - ours.as_centipawns();
        let beside_score = score.filter(|_| length == VerificationLength::Short).zip(values.longest(challenger));
        let beside_score = beside_score.map(|(score, theirs)| theirs.as_centipawns() - score.as_centipawns());
        Some(beside_score.map_or(difference, |beside| beside.max(difference)))
    }

    /// The value of a move by its longest search.
    pub fn score(&self, moved: M) -> Option<Score> {
        self.values().longest(moved)
    }
}

impl<M: Copy + PartialEq> Values<M> {
    fn at(&self, moved: Option<M>, length: VerificationLength) -> Option<Score> {
        self.found.iter().find(|(known, _)| *known == moved)?.1[length as usize]
    }

    fn longest(&self, moved: M) -> Option<Score> {
        VerificationLength::ALL.into_iter().rev().find_map(|length| self.at(Some(moved), length))
    }

    fn note(&mut self, moved: Option<M>, length: VerificationLength, score: Score) {
        let place = self.found.iter().position(|(known, _)| *known == moved).unwrap_or_else(|| {
            self.found.push((moved, [None; VerificationLength::ALL.len()]));
            self.found.len() - 1
        });
        self.found[place].1[length as usize] = Some(score);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use VerificationLength::{Long, Medium, Short};

    fn verification() -> Arc<Verification<char>> {
        Verification::new(Arc::default())
    }

    #[test]
    fn contested_moves_are_searched_longer() {
        let verification = verification();
        assert_eq!(verification.next(), None, "nothing is asked");
        verification.contest(Some('a'), None);
        assert_eq!(verification.next(), Some((Some('a'), Short)));
        verification.found(Some('a'), Short, Some(Score::Cp(10)));
        assert_eq!(verification.next(), None, "the move is not contested");
        verification.contest(Some('a'), Some('b'));
        let mut searched = Vec::new();
        while let Some((moved, length)) = verification.next() {
            searched.push((moved.expect("a move"), length));
            verification.found(moved, length, Some(Score::Cp(0)));
        }
        assert_eq!(searched, [('b', Short), ('a', Medium), ('b', Medium), ('a', Long), ('b', Long)]);
    }

    #[test]
    fn moves_compare_by_their_longest_search() {
        let verification = verification();
        verification.found(Some('a'), Short, Some(Score::Cp(10)));
        assert_eq!(verification.difference('b', Some('a'), None), None);
        verification.found(Some('b'), Short, Some(Score::Cp(60)));
        for (score, difference) in [(None, 50), (Some(Score::Cp(30)), 50), (Some(Score::Cp(-20)), 80)] {
            assert_eq!(verification.difference('b', Some('a'), score), Some(difference));
        }
        verification.found(Some('b'), Long, Some(Score::Cp(-300)));
        assert_eq!(verification.difference('b', Some('a'), Some(Score::Cp(-20))), Some(50), "no longer search of both");
        verification.found(Some('a'), Long, Some(Score::Cp(20)));
        assert_eq!(verification.difference('b', Some('a'), Some(Score::Cp(-300))), Some(-320));
    }

    #[test]
    fn unknown_variant_compares_nothing() {
        let verification = verification();
        verification.contest(Some('a'), Some('b'));
        verification.found(Some('a'), Short, None);
        assert_eq!((verification.next(), verification.difference('b', Some('a'), None)), (None, None));
    }
}
