use serde::Serialize;

use super::{PositionsTrial, Values};
use crate::{
    player::Pace,
    searches::{Found, SearchQuery, Searches},
    stats::{Estimate, bootstrap},
    suite::{Judgement, TestPosition},
};
use council::{CriterionName, electors::ElectorSpec};
use domain::{Proposal, UciMove};

/// The loss of expected score from which on a move counts as one of the worst, as those that a
/// suite warns of.
const BLUNDER: f64 = 0.2;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PositionsReport {
    pub positions: usize,
    pub judged: usize,
    pub budget: Pace,
    pub oracle: Option<String>,
    pub rosters: Vec<RosterFigures>,
    /// The systems: single electors, the base first, then every roster with every criterion.
    pub systems: Vec<SystemFigures>,
}

/// The proposals of a roster (docs/method.md §1).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RosterFigures {
    pub name: String,
    pub electors: usize,
    /// Positions in which at least one elector proposes a best move.
    pub union: usize,
    /// Positions in which all do.
    pub intersection: usize,
    /// Different moves in a position, in the mean.
    pub distinct: f64,
    /// The share of positions in which all propose the same.
    pub unanimous: f64,
    /// The loss of the best proposal against the best move: the limit of any criterion.
    pub regret_of_best: Option<Estimate>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemFigures {
    /// An elector or a roster.
    pub name: String,
    /// The rule that elects in it; none for a single elector.
    pub criterion: Option<CriterionName>,
    /// Positions in which it plays a best move.
    pub best: usize,
    /// Positions in which it plays a move to be avoided, or by the oracle gives away a fifth of a point.
    pub worst: usize,
    pub other: usize,
    /// The share of the suite's points, 0 to 1, if it has points.
    pub points: Option<Estimate>,
    /// The loss against the best move, expected score.
    pub regret: Option<Estimate>,
    /// Regret less the base's in the same positions.
    pub regret_against_base: Option<Estimate>,
}

type GameSample = (Option<String>, f64);

#[derive(Debug, Default)]
pub struct SystemTally {
    best: usize,
    worst: usize,
    other: usize,
    points: Vec<GameSample>,
    regrets: Vec<GameSample>,
    differences: Vec<GameSample>,
}

impl SystemTally {
    /// Counts a move and gives what it loses. `base` is what the base loses there.
    pub fn count(
        &mut self,
        position: &TestPosition,
        mv: UciMove,
        values: Option<&Values>,
        base: Option<f64>,
    ) -> Option<f64> {
        let regret = values.and_then(|values| values.regret(mv));
        let sample = |value: f64| (position.game.clone(), value);
        let judgement = position.is_judged().then(|| position.judge(mv));
        match judgement {
            Some(Judgement::Best) => self.best += 1,
            _ if judgement == Some(Judgement::Worst) || regret.is_some_and(|regret| regret >= BLUNDER) => {
                self.worst += 1
            }
            _ => self.other += 1,
        }
        self.points.extend(position.points(mv).map(sample));
        self.regrets.extend(regret.map(sample));
        if let (Some(regret), Some(base)) = (regret, base) {
            self.differences.push(sample(regret - base));
        }
        regret
    }

    /// The figures of all that was counted.
    pub fn figures(self, name: String, criterion: Option<CriterionName>, seed: u64) -> SystemFigures {
        SystemFigures {
            name,
            criterion,
            best: self.best,
            worst: self.worst,
            other: self.other,
            points: bootstrap(self.points, seed),
            regret: bootstrap(self.regrets, seed),
            regret_against_base: bootstrap(self.differences, seed),
        }
    }
}

#[derive(Default)]
struct RosterTally {
    positions: usize,
    union: usize,
    intersection: usize,
    distinct: usize,
    unanimous: usize,
    regrets: Vec<GameSample>,
}

impl RosterTally {
    fn count(&mut self, position: &TestPosition, proposals: &[Option<Proposal>], values: Option<&Values>) {
        let mut moves: Vec<UciMove> = Vec::new();
        for proposal in proposals.iter().flatten() {
            if !moves.contains(&proposal.best) {
                moves.push(proposal.best);
            }
        }
        self.positions += 1;
        self.distinct += moves.len();
        self.unanimous += usize::from(moves.len() == 1);
        if position.is_judged() {
            let is_best = |mv: &UciMove| position.judge(*mv) == Judgement::Best;
            self.union += usize::from(moves.iter().any(is_best));
            self.intersection += usize::from(!moves.is_empty() && moves.iter().all(is_best));
        }
        let regrets = moves.iter().filter_map(|mv| values?.regret(*mv));
        let least = regrets.fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            self.regrets.push((position.game.clone(), least));
        }
    }

    fn figures(self, name: String, electors: usize, seed: u64) -> RosterFigures {
        let positions = self.positions.max(1) as f64;
        RosterFigures {
            name,
            electors,
            union: self.union,
            intersection: self.intersection,
            distinct: self.distinct as f64 / positions,
            unanimous: self.unanimous as f64 / positions,
            regret_of_best: bootstrap(self.regrets, seed),
        }
    }
}

impl PositionsTrial<'_> {
    pub(super) fn report(&self, oracle_searches: &Searches) -> PositionsReport {
        let plan = self.plan;
        let singles = self.singles();
        let mut by_single: Vec<SystemTally> = singles.iter().map(|_| SystemTally::default()).collect();
        let mut by_roster: Vec<RosterTally> = plan.candidates.iter().map(|_| RosterTally::default()).collect();
        let mut by_criterion: Vec<Vec<SystemTally>> =
            plan.candidates.iter().map(|_| plan.criteria.iter().map(|_| SystemTally::default()).collect()).collect();
        for position in &plan.positions {
            let oracle = plan.oracle.as_ref();
            let values = oracle.and_then(|oracle| oracle.values(position, &self.moves(position), oracle_searches));
            let values = values.as_ref();
            let mut base = None;
            for ((elector, budget), tally) in singles.iter().zip(&mut by_single) {
                let found =
                    self.searches.get(&SearchQuery::new(elector, &position.line, *budget)).and_then(Found::best);
                let regret = found.and_then(|mv| tally.count(position, mv, values, base));
                base = base.or(regret);
            }
            for ((candidate, roster), tallies) in plan.candidates.iter().zip(&mut by_roster).zip(&mut by_criterion) {
                let proposals = self.proposed(position, candidate);
                roster.count(position, &proposals, values);
                for (criterion, tally) in plan.criteria.iter().zip(tallies) {
                    if let Some(mv) = self.elected(position, candidate, &proposals, *criterion) {
                        tally.count(position, mv, values, base);
                    }
                }
            }
        }
        let of_singles = singles
            .iter()
            .zip(by_single)
            .map(|((elector, budget), tally)| tally.figures(single_name(elector, *budget), None, plan.seed));
        let of_councils = plan.candidates.iter().zip(by_criterion).flat_map(|(candidate, tallies)| {
            let named = plan.criteria.iter().zip(tallies);
            named
                .map(|(criterion, tally)| tally.figures(candidate.settings.roster.clone(), Some(*criterion), plan.seed))
        });
        let of_rosters = plan.candidates.iter().zip(by_roster).map(|(candidate, tally)| {
            tally.figures(candidate.settings.roster.clone(), candidate.roster.electors().len(), plan.seed)
        });
        PositionsReport {
            positions: plan.positions.len(),
            judged: plan.positions.iter().filter(|position| position.is_judged()).count(),
            budget: plan.budget,
            oracle: plan.oracle.as_ref().map(|oracle| format!("{}, {} nodes a move", oracle.engine.name, oracle.nodes)),
            rosters: of_rosters.collect(),
            systems: of_singles.chain(of_councils).collect(),
        }
    }
}

fn single_name(elector: &ElectorSpec, budget: Pace) -> String {
    format!("{} alone, {budget}", elector.name)
}
