use std::{collections::BTreeMap, fmt::Write, mem};

use serde::Serialize;

use super::{CandidateRoster, PositionsPlan, found};
use crate::{
    player::Pace,
    searches::{Found, Searches},
    stats::{Estimate, bootstrap},
    suite::{Judgement, TestPosition},
};
use council::{CriterionName, electors::ElectorSpec};
use domain::{Proposal, UciMove};

/// The loss of expected score from which on a move counts as one of the worst.
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

/// Values with the game of their position, which is drawn as a whole by the bootstrap.
type GameSamples = Vec<(Option<String>, f64)>;

/// The proposals of a roster (docs/method.md §1).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    #[serde(skip)]
    regrets: GameSamples,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// Those of the three means.
    #[serde(skip)]
    samples: [GameSamples; 3],
}

impl SystemFigures {
    /// Counts a move and gives what it loses. `base` is what the base loses there.
    fn count(
        &mut self,
        position: &TestPosition,
        mv: UciMove,
        regrets: Option<&BTreeMap<String, f64>>,
        base: Option<f64>,
    ) -> Option<f64> {
        let regret = regrets.and_then(|regrets| regrets.get(&mv.to_string()).copied());
        let judgement = position.is_judged().then(|| position.judge(mv));
        match judgement {
            Some(Judgement::Best) => self.best += 1,
            _ if judgement == Some(Judgement::Worst) || regret.is_some_and(|regret| regret >= BLUNDER) => {
                self.worst += 1
            }
            _ => self.other += 1,
        }
        let difference = regret.zip(base).map(|(regret, base)| regret - base);
        for (samples, value) in self.samples.iter_mut().zip([position.points(mv), regret, difference]) {
            samples.extend(value.map(|value| (position.game.clone(), value)));
        }
        regret
    }

    /// Takes the means of all that was counted.
    fn settle(&mut self, seed: u64) {
        let samples = mem::take(&mut self.samples);
        [self.points, self.regret, self.regret_against_base] = samples.map(|samples| bootstrap(samples, seed));
    }
}

impl RosterFigures {
    fn count(
        &mut self,
        position: &TestPosition,
        proposals: &[Option<Proposal>],
        regrets: Option<&BTreeMap<String, f64>>,
    ) {
        let mut moves: Vec<UciMove> = Vec::new();
        for proposal in proposals.iter().flatten() {
            if !moves.contains(&proposal.best) {
                moves.push(proposal.best);
            }
        }
        self.distinct += moves.len() as f64;
        self.unanimous += f64::from(u8::from(moves.len() == 1));
        if position.is_judged() {
            let is_best = |mv: &UciMove| position.judge(*mv) == Judgement::Best;
            self.union += usize::from(moves.iter().any(is_best));
            self.intersection += usize::from(!moves.is_empty() && moves.iter().all(is_best));
        }
        let of_moves = moves.iter().filter_map(|mv| regrets?.get(&mv.to_string()));
        let least = of_moves.copied().fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            self.regrets.push((position.game.clone(), least));
        }
    }

    /// Takes the means of all that was counted, in this number of positions.
    fn settle(&mut self, positions: usize, seed: u64) {
        let positions = positions.max(1) as f64;
        (self.distinct, self.unanimous) = (self.distinct / positions, self.unanimous / positions);
        self.regret_of_best = bootstrap(mem::take(&mut self.regrets), seed);
    }
}

impl PositionsPlan {
    pub(super) fn report(&self, searches: &Searches, oracle_searches: &Searches) -> PositionsReport {
        let singles = self.singles();
        let system = |name, criterion| SystemFigures { name, criterion, ..SystemFigures::default() };
        let named = |(elector, budget): &(ElectorSpec, Pace)| format!("{} alone, {budget}", elector.name);
        let mut by_single: Vec<_> = singles.iter().map(|single| system(named(single), None)).collect();
        let (mut by_roster, mut by_criterion) = (Vec::new(), Vec::new());
        for CandidateRoster { roster, settings } in &self.candidates {
            let (name, electors) = (settings.roster.clone(), roster.electors().len());
            by_criterion.extend(self.criteria.iter().map(|criterion| system(name.clone(), Some(*criterion))));
            by_roster.push(RosterFigures { name, electors, ..RosterFigures::default() });
        }
        for position in &self.positions {
            let oracle = self.oracle.as_ref();
            let regrets =
                oracle.and_then(|oracle| oracle.regrets(position, &self.moves(searches, position), oracle_searches));
            let regrets = regrets.as_ref();
            let mut base = None;
            for ((elector, budget), tally) in singles.iter().zip(&mut by_single) {
                let found = found(searches, elector, position, *budget).and_then(Found::best);
                let regret = found.and_then(|mv| tally.count(position, mv, regrets, base));
                base = base.or(regret);
            }
            for (place, (candidate, roster)) in self.candidates.iter().zip(&mut by_roster).enumerate() {
                let proposals = self.proposed(searches, position, candidate);
                roster.count(position, &proposals, regrets);
                let systems = by_criterion[place * self.criteria.len()..].iter_mut();
                for (criterion, system) in self.criteria.iter().zip(systems) {
                    if let Some(mv) = self.elected(searches, position, candidate, &proposals, *criterion) {
                        system.count(position, mv, regrets, base);
                    }
                }
            }
        }
        let mut systems = [by_single, by_criterion].concat();
        systems.iter_mut().for_each(|system| system.settle(self.seed));
        by_roster.iter_mut().for_each(|roster| roster.settle(self.positions.len(), self.seed));
        PositionsReport {
            positions: self.positions.len(),
            judged: self.positions.iter().filter(|position| position.is_judged()).count(),
            budget: self.budget,
            oracle: self.oracle.as_ref().map(|oracle| format!("{}, {} nodes a move", oracle.engine.name, oracle.nodes)),
            rosters: by_roster,
            systems,
        }
    }
}

/// Two tables: what rosters propose, and what systems play. Regrets are in per cent of a point.
pub fn markdown(report: &PositionsReport) -> String {
    let mut text = String::new();
    let PositionsReport { positions, judged, budget, .. } = report;
    let oracle = report.oracle.as_ref().map_or_else(String::new, |oracle| format!("; oracle: {oracle}"));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{positions} positions, best moves known in {judged}; every elector {budget}{oracle}.\n");
    if !report.rosters.is_empty() {
        rosters(&mut text, &report.rosters);
    }
    systems(&mut text, report);
    text
}

fn rosters(text: &mut String, rosters: &[RosterFigures]) {
    text.push_str(
        "| roster | electors | union | intersection | distinct moves | unanimous | regret of the best proposal, % |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|\n");
    for RosterFigures { name, electors, union, intersection, distinct, unanimous, regret_of_best, .. } in rosters {
        let unanimous = 100.0 * unanimous;
        let regret = regret_of_best.map(Estimate::percent).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {name} | {electors} | {union} | {intersection} | {distinct:.2} | {unanimous:.0} % | {regret} |"
        );
    }
    text.push('\n');
}

fn systems(text: &mut String, report: &PositionsReport) {
    text.push_str("| system | criterion | best | worst | other | points, % | regret, % | against the base, % |\n");
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for SystemFigures { name, criterion, best, worst, other, points, regret, regret_against_base, .. } in
        &report.systems
    {
        let criterion = criterion.map_or("", |criterion| criterion.word());
        let [points, regret, difference] =
            [points, regret, regret_against_base].map(|figure| figure.map(Estimate::percent).unwrap_or_default());
        let _ = writeln!(
            text,
            "| {name} | {criterion} | {best} | {worst} | {other} | {points} | {regret} | {difference} |"
        );
    }
}
