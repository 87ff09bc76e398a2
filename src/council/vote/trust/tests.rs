//! The invariant of trust, for every rule and thousands of sequences of what one hostile worker says.

use std::{sync::Arc, time::Duration};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    electors::{ElectorSpec, Verification, VerificationLength},
    vote::{
        CouncilSettings, CriterionName, Rule,
        tests::{electors, proposed},
    },
};
use domain::{Line, UciMove, Variant};
use stage::hostile::{Attack, Knows, Proposed, Says, claims};

const SEQUENCES: u64 = 3_000;
const SEED: u64 = 7;

/// A council of which some search at home and others on a hostile worker, and what a verifier would find.
struct Setting {
    electors: Vec<ElectorSpec>,
    line: Arc<Line>,
    moves: Vec<UciMove>,
    ballots: Ballots,
    verification: Arc<Verification>,
    /// The first of the electors that search elsewhere.
    first_remote: usize,
    random: StdRng,
}

impl Setting {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let roster = ["complete-5", "balanced-5", "mp ma mc", "learned-2"][random.random_range(0..4)];
        let electors = electors(roster);
        let line = Arc::new(Line::start(Variant::Standard));
        let verification = Verification::new(Arc::default());
        let ballots = Ballots::new(electors.clone().into(), Arc::clone(&line)).verified_by(Some(verification.clone()));
        let first_remote = random.random_range(1..electors.len());
        Self { moves: line.legal_moves(), electors, line, ballots, verification, first_remote, random }
    }

    fn proposal(&self, place: usize, best: UciMove) -> Proposal {
        let machine = (place >= self.first_remote).then(|| "mallory".into());
        Proposal { machine, ..proposed(self.electors[place].name.clone(), best, Score::Cp(0), 8) }
    }

    fn any_move(&mut self) -> UciMove {
        self.moves[self.random.random_range(0..self.moves.len())]
    }

    fn home_proposes(&mut self) {
        let (place, best) = (self.random.random_range(0..self.first_remote), self.any_move());
        let (score, depth) = (self.random.random_range(-150..150), self.random.random_range(1..14));
        let score = if self.random.random_ratio(1, 40) {
            Score::Mate(if score < 0 { -4 } else { 4 })
        } else {
            Score::Cp(score)
        };
        self.ballots.cast(place, Proposal { score, depth, ..self.proposal(place, best) });
    }

    /// The verifier finds out something, of the contest as a rule.
    fn is_verified(&mut self) {
        let (moved, length) = match self.verification.next().filter(|_| self.random.random_ratio(2, 3)) {
            Some(next) => next,
            None => (Some(self.any_move()), VerificationLength::ALL[self.random.random_range(0..3)]),
        };
        let score = Score::Cp(self.random.random_range(-400..400));
        let score = if self.random.random_ratio(1, 40) { Score::Mate(5) } else { score };
        self.verification.found(moved, length, Some(score));
    }

    fn hears(&mut self, place: usize, says: &Says) {
        let Says::Proposal(Proposed { place: of_move, score, bound, depth, nodes, root_moves_done, variation }) = says
        else {
            return;
        };
        let best = self.moves[of_move % self.moves.len()];
        let mut line = (*self.line).clone();
        let mut pv = vec![best];
        line.play(best).expect("legal");
        for next in variation {
            let legal = line.legal_moves();
            let Some(reply) = legal.get(next % legal.len().max(1)).copied() else { break };
            line.play(reply).expect("legal");
            pv.push(reply);
        }
        let (score, bound, depth, nodes, root_moves_done) = (*score, *bound, *depth, *nodes, *root_moves_done);
        let claim = Proposal { score, bound, depth, nodes, root_moves_done, pv, ..self.proposal(place, best) };
        self.ballots.cast(place, claim);
    }

    /// One sequence: home electors propose, verification goes on, and the worker does what it likes.
    fn goes_on(&mut self, attack: Attack, seed: u64, mut after_each: impl FnMut(&Self)) {
        let knows =
            Knows { moves: self.moves.len(), best: 40, worst: -300, time: Duration::from_millis(300), asked: seed };
        let claims = claims(attack, seed, knows);
        let mut claims = claims.iter().take(12);
        for _ in 0..24 {
            match self.random.random_range(0..3) {
                0 => self.home_proposes(),
                1 => self.is_verified(),
                _ => {
                    let place = self.random.random_range(self.first_remote..self.electors.len());
                    if let Some((_, says)) = claims.next() {
                        self.hears(place, says);
                    }
                }
            }
            after_each(self);
        }
    }

    /// The ballots of the home electors, as a council without workers has them.
    fn home_alone(&self) -> Ballots {
        let proposals: Vec<_> = (0..self.electors.len())
            .map(|place| self.ballots.of(place).filter(|proposal| proposal.machine.is_none()).cloned())
            .collect();
        Ballots::recorded(&self.line, &self.electors, &proposals)
    }
}

fn rule(criterion: CriterionName) -> Rule {
    Rule::of(&CouncilSettings { criterion, ..CouncilSettings::default() })
}

#[test]
fn elected_move_is_home_choice_or_verified() {
    let mut overruled = 0;
    for seed in 0..SEQUENCES {
        let attack = Attack::ALL[usize::try_from(seed).expect("small") % Attack::ALL.len()];
        let rule = rule(CriterionName::ALL[usize::try_from(seed / 7).expect("small") % CriterionName::ALL.len()]);
        Setting::new(seed).goes_on(attack, seed, |setting| {
            let elected = rule.elect(&setting.ballots, SEED).map(|outcome| outcome.elected.best);
            let home = rule.elected_move(&setting.home_alone(), SEED);
            let counted = rule.counted(&setting.ballots, SEED);
            if setting.ballots.has_remote() {
                setting.verification.contest(home, counted.challenger);
            }
            assert!(elected.is_some() || home.is_none(), "the home electors' vote stands, seed {seed}");
            if let Some(elected) = elected
                && home != Some(elected)
            {
                let (value, alike) =
                    (setting.verification.score(elected), setting.verification.difference(elected, home, None));
                let own = setting.ballots.iter().filter(|ballot| is_home(ballot) && Some(ballot.proposal.best) == home);
                let own = own.map(|ballot| ballot.proposal.score.as_centipawns()).min();
                let beside_own = value.zip(own).map(|(value, own)| value.as_centipawns() - own);
                assert!(
                    alike.max(beside_own).is_some_and(|difference| difference >= -50),
                    "{attack:?}, seed {seed}: {elected} is played and not {home:?}, verified {alike:?}, {beside_own:?}"
                );
                overruled += 1;
            }
        });
    }
    assert!(overruled > 100, "votes of other machines count, {overruled}");
}

/// Of what a worker claims of a move neither bound, nodes nor variation has weight, nor a score or a depth beyond what home cores found.
#[test]
fn claims_beyond_verification_change_no_election() {
    for seed in 0..SEQUENCES / 3 {
        let rule = rule(CriterionName::ALL[usize::try_from(seed).expect("small") % CriterionName::ALL.len()]);
        Setting::new(seed).goes_on(Attack::Noise, seed, |setting| {
            let honest = setting.ballots.with(|ballot| {
                let depth = deepest_like(ballot, &setting.ballots).max(14) + 1;
                Some(match is_home(ballot) {
                    true => ballot.proposal.clone(),
                    false => Proposal {
                        depth,
                        score: Score::Cp(10_000),
                        ..setting.proposal(ballot.place, ballot.proposal.best)
                    },
                })
            });
            let boast = setting.ballots.with(|ballot| {
                Some(match is_home(ballot) {
                    true => ballot.proposal.clone(),
                    false => Proposal {
                        depth: 1_000,
                        score: Score::Cp(25_000),
                        bound: Bound::Lower,
                        root_moves_done: 900,
                        nodes: 1 << 50,
                        ..ballot.proposal.clone()
                    },
                })
            });
            let elected =
                |ballots: Ballots| rule.elected_move(&ballots.verified_by(Some(setting.verification.clone())), SEED);
            assert_eq!(elected(honest), elected(boast), "seed {seed}");
        });
    }
}

#[test]
fn remote_vote_counts_near_the_verified_value_and_capped_depth() {
    let line = Arc::new(Line::start(Variant::Standard));
    let verification = Verification::new(Arc::default());
    let electors = electors("complete-3");
    let mut setting = Setting {
        moves: line.legal_moves(),
        ballots: Ballots::new(electors.clone().into(), Arc::clone(&line)).verified_by(Some(verification.clone())),
        electors,
        line,
        verification,
        first_remote: 1,
        random: StdRng::seed_from_u64(0),
    };
    let [home, theirs]: [UciMove; 2] = ["e2e4", "d2d4"].map(|text| text.parse().expect("a move"));
    let cast = |setting: &mut Setting, place, best, score, depth| {
        let proposal = Proposal { score: Score::Cp(score), depth, ..setting.proposal(place, best) };
        setting.ballots.cast(place, proposal);
    };
    cast(&mut setting, 0, home, 30, 10);
    cast(&mut setting, 1, theirs, 900, 53);
    let rule = rule(CriterionName::ScoreMargin);
    assert_eq!(rule.elected_move(&setting.ballots, SEED), Some(home), "nothing is verified yet");
    setting.verification.found(Some(home), VerificationLength::Short, Some(Score::Cp(10)));
    setting.verification.found(Some(theirs), VerificationLength::Short, Some(Score::Cp(25)));
    let counted = |setting: &Setting| {
        let outcome = rule.elect(&setting.ballots, SEED).expect("an election");
        let counted = &outcome.votes[1].proposal;
        (outcome.elected.best, counted.score, counted.depth)
    };
    assert_eq!(counted(&setting), (theirs, Score::Cp(80), 11), "50 above the home choice at most");
    for (claimed, counts) in [(Score::Cp(45), 45), (Score::Cp(-900), -20), (Score::Mate(3), 30), (Score::Mate(-3), 30)]
    {
        let claim = Proposal { score: claimed, depth: 53, ..setting.proposal(1, theirs) };
        setting.ballots.cast(1, claim);
        assert_eq!(counted(&setting).1, Score::Cp(counts), "{claimed}");
    }
    setting.verification.found(Some(home), VerificationLength::Long, Some(Score::Cp(10)));
    setting.verification.found(Some(theirs), VerificationLength::Long, Some(Score::Cp(-41)));
    assert_eq!(rule.elected_move(&setting.ballots, SEED), Some(home), "51 centipawns worse");
}
