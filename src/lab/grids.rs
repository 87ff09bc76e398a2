//! The open questions of docs/method.md §9 as grids: the split between the phases, more instances or bigger groups, and who
//! searches in the second phase.
//!
//! A system is a way to come from searches of single electors to a move; all are tried on the same positions, and share the
//! searches they have in common.

use std::{collections::BTreeSet, fmt::Write, sync::atomic::AtomicBool};

use super::{
    player::Pace,
    positions::{Oracle, RoundProgress, SystemFigures, SystemTally},
    searches::{Found, SearchError, SearchQuery, Searches},
    state::fnv1a,
    stats::Estimate,
    suite::TestPosition,
};
use chess::{Knowledge, Proposal, UciMove};
use council::{Ballots, CouncilSettings, CriterionName, Roster, RosterError, elected_move, pool::ElectorSpec};

/// What follows the first phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GridSecondPhase {
    /// Nothing: the criterion elects among the proposals.
    None,
    /// Complete knowledge searches the proposed moves, from an empty table or (`warm`) from that of its own first phase.
    Complete {
        /// Whether it has searched before.
        warm: bool,
    },
    /// The electors themselves search the proposed moves, and vote again.
    Electors,
}

/// A way to a move.
#[derive(Clone, Debug)]
pub struct System {
    /// How it is called.
    pub name: String,
    /// The electors that propose.
    pub roster: Roster,
    /// How one is elected where there is no second phase of complete knowledge.
    pub settings: CouncilSettings,
    /// Nodes of each elector, both phases together.
    pub nodes: u64,
    /// The first phase's share of them.
    pub split: f64,
    /// What follows the first phase.
    pub second: GridSecondPhase,
}

/// The splits of the grid.
pub const SPLITS: [f64; 6] = [0.0, 0.15, 1.0 / 3.0, 0.5, 2.0 / 3.0, 1.0];

/// Every split with a cold and a warm table. With 0 complete knowledge is alone, with 1 the criterion elects.
///
/// # Errors
/// [`RosterError`] if the roster of the settings cannot be made.
pub fn splits(settings: &CouncilSettings, nodes: u64) -> Result<Vec<System>, RosterError> {
    let mut systems = Vec::new();
    for split in SPLITS {
        let system = |name: String, settings: &CouncilSettings, second| -> Result<System, RosterError> {
            let roster = Roster::from_settings(settings)?;
            Ok(System { name, roster, settings: settings.clone(), nodes, split, second })
        };
        if split == 0.0 {
            let alone = CouncilSettings { roster: "complete".to_owned(), ..settings.clone() };
            systems.push(system("0: complete knowledge alone".to_owned(), &alone, GridSecondPhase::None)?);
        } else if split == 1.0 {
            let name = format!("1: {} elects", first_phase_criterion(settings).word());
            systems.push(system(name, settings, GridSecondPhase::None)?);
        } else {
            for (table, warm) in [("cold", false), ("warm", true)] {
                systems.push(system(
                    format!("{split:.2}, {table} table"),
                    settings,
                    GridSecondPhase::Complete { warm },
                )?);
            }
        }
    }
    Ok(systems)
}

/// Eight cores: instances times the size of their groups, by several families, with each second phase. A group of `s` counts as
/// one process with `s · efficiency^(log₂ s)` times the nodes.
///
/// # Errors
/// [`RosterError`] if a roster cannot be made.
pub fn rosters(settings: &CouncilSettings, nodes: u64, efficiency: f64) -> Result<Vec<System>, RosterError> {
    /// Families, each a list of knowledge sets whose beginnings make the councils; complete copies with noise beside them.
    const FAMILIES: [(&str, &str); 2] = [
        ("balanced", "mpar mbxp mbkc mxar mkcp mcar mbxk mbar"),
        ("unbalanced", "mbxkcpar mp ma mbkcpar mbxcpar mc mbxkcpa mpar"),
    ];
    let mut systems = Vec::new();
    for doublings in 0..=3_u32 {
        let (size, instances) = (1_usize << doublings, 8_usize >> doublings);
        let nodes = (nodes as f64 * size as f64 * efficiency.powf(f64::from(doublings))) as u64;
        let beginnings =
            FAMILIES.map(|(family, sets)| (family, sets.split(' ').take(instances).collect::<Vec<_>>().join(" ")));
        for (family, roster) in beginnings.into_iter().chain([("noise", format!("noise-{instances}"))]) {
            let settings = CouncilSettings { roster, ..settings.clone() };
            let roster = Roster::from_settings(&settings)?;
            for (word, second) in [
                ("none", GridSecondPhase::None),
                ("complete", GridSecondPhase::Complete { warm: false }),
                ("electors", GridSecondPhase::Electors),
            ] {
                let name = format!("{family} {instances} × {size}, second phase: {word}");
                let (roster, settings, split) = (roster.clone(), settings.clone(), settings.split);
                systems.push(System { name, roster, settings, nodes, split, second });
            }
        }
    }
    Ok(systems)
}

/// What is to be tried.
#[derive(Clone, Copy, Debug)]
pub struct GridPlan<'a> {
    /// The first is the base with which the others are compared.
    pub systems: &'a [System],
    /// The positions on which every system is tried.
    pub positions: &'a [TestPosition],
    /// Says what moves are worth.
    pub oracle: Option<&'a Oracle>,
    /// Of ties, and of the bootstrap.
    pub seed: u64,
}

/// Tries all systems. `None` if `stop` was set.
///
/// # Errors
/// [`SearchError`] if a search fails.
pub fn try_out(
    plan: &GridPlan<'_>,
    searches: &mut Searches,
    oracle_searches: &mut Searches,
    stop: &AtomicBool,
    mut progress: impl FnMut(RoundProgress),
) -> Result<Option<Vec<SystemFigures>>, SearchError> {
    let GridPlan { systems, positions, oracle, seed } = *plan;
    let mut ensure = |round, searches: &mut Searches, requests: &[SearchQuery]| {
        searches.ensure(requests, stop, |done, of| progress(RoundProgress { round, done, of }))
    };
    let pairs = || positions.iter().flat_map(|position| systems.iter().map(move |system| (position, system)));
    let first: Vec<SearchQuery> = pairs().flat_map(|(position, system)| system.first_phase(position)).collect();
    if !ensure("proposals", searches, &first)? {
        return Ok(None);
    }
    let second: Vec<SearchQuery> =
        pairs().flat_map(|(position, system)| system.second_phase(position, searches)).collect();
    if !ensure("second phases", searches, &second)? {
        return Ok(None);
    }
    let chosen = |position: &TestPosition, searches: &Searches| -> Vec<Option<UciMove>> {
        systems.iter().map(|system| system.chooses(position, searches, seed)).collect()
    };
    let moves =
        |chosen: &[Option<UciMove>]| -> BTreeSet<String> { chosen.iter().flatten().map(ToString::to_string).collect() };
    if let Some(oracle) = oracle {
        let of = |position| oracle.requests(position, &moves(&chosen(position, searches)));
        let values: Vec<SearchQuery> = positions.iter().flat_map(of).collect();
        if !ensure("oracle", oracle_searches, &values)? {
            return Ok(None);
        }
    }
    let mut tallies: Vec<SystemTally> = systems.iter().map(|_| SystemTally::default()).collect();
    for position in positions {
        let chosen = chosen(position, searches);
        let values = oracle.and_then(|oracle| oracle.values(position, &moves(&chosen), oracle_searches));
        let base = chosen.first().copied().flatten().and_then(|mv| values.as_ref()?.regret(mv));
        for (index, (tally, mv)) in tallies.iter_mut().zip(&chosen).enumerate() {
            if let Some(mv) = mv {
                tally.count(position, *mv, values.as_ref(), base.filter(|_| index > 0));
            }
        }
    }
    let figures = systems.iter().zip(tallies).map(|(system, tally)| tally.figures(system.name.clone(), None, seed));
    Ok(Some(figures.collect()))
}

/// Where there is no second phase, re-search elects by weights.
fn first_phase_criterion(settings: &CouncilSettings) -> CriterionName {
    match settings.criterion {
        CriterionName::ReSearch => CriterionName::Weights,
        other => other,
    }
}

impl System {
    fn first_phase(&self, position: &TestPosition) -> Vec<SearchQuery> {
        let electors = self.roster.electors().iter();
        electors.map(|elector| SearchQuery::new(elector, &position.line, Pace::Nodes(self.nodes))).collect()
    }

    /// What the electors propose in the end, or when the first phase's share is spent.
    fn proposals(&self, position: &TestPosition, searches: &Searches, share: f64) -> Vec<Option<Proposal>> {
        let found = self.first_phase(position).into_iter().zip(self.roster.electors());
        found
            .map(|(request, elector)| searches.get(&request)?.proposal_at(share, request.budget, &elector.name))
            .collect()
    }

    fn candidates(&self, position: &TestPosition, searches: &Searches) -> Vec<UciMove> {
        let mut moves = Vec::new();
        for proposal in self.proposals(position, searches, self.split).into_iter().flatten() {
            if !moves.contains(&proposal.best) {
                moves.push(proposal.best);
            }
        }
        moves
    }

    /// The searches of the second phase, which there is only where the first one leaves a choice.
    fn second_phase(&self, position: &TestPosition, searches: &Searches) -> Vec<SearchQuery> {
        let root_moves = self.candidates(position, searches);
        let spent = (self.nodes as f64 * self.split) as u64;
        let budget = Pace::Nodes((self.nodes - spent.min(self.nodes)).max(1));
        if root_moves.len() < 2 {
            return Vec::new();
        }
        let restricted = |elector: &ElectorSpec, prelude| {
            let request = SearchQuery::new(elector, &position.line, budget);
            SearchQuery { root_moves: root_moves.clone(), prelude, ..request }
        };
        match self.second {
            GridSecondPhase::None => Vec::new(),
            GridSecondPhase::Complete { warm } => {
                let complete = ElectorSpec::own(Knowledge::COMPLETE, self.settings.hash);
                vec![restricted(&complete, warm.then_some(Pace::Nodes(spent.max(1))))]
            }
            GridSecondPhase::Electors => {
                self.roster.electors().iter().map(|elector| restricted(elector, None)).collect()
            }
        }
    }

    fn chooses(&self, position: &TestPosition, searches: &Searches, seed: u64) -> Option<UciMove> {
        let second = self.second_phase(position, searches);
        let elect = |proposals: &[Option<Proposal>]| {
            let settings =
                CouncilSettings { criterion: first_phase_criterion(&self.settings), ..self.settings.clone() };
            let seed = seed ^ fnv1a(position.line.fen().as_bytes());
            elected_move(&settings, &Ballots::recorded(&*position.line, self.roster.electors(), proposals), seed)
        };
        match (self.second, second.as_slice()) {
            (GridSecondPhase::None, _) => elect(&self.proposals(position, searches, 1.0)),
            (_, []) => self.candidates(position, searches).first().copied(),
            (GridSecondPhase::Complete { .. }, [request, ..]) => searches.get(request).and_then(Found::best),
            (GridSecondPhase::Electors, requests) => {
                let electors = requests.iter().zip(self.roster.electors());
                let again: Vec<Option<Proposal>> =
                    electors.map(|(request, elector)| searches.get(request)?.proposal(&elector.name)).collect();
                elect(&again)
            }
        }
    }
}

/// A grid as a table in Markdown. Regrets are in per cent of a point.
pub fn markdown(systems: &[SystemFigures]) -> String {
    let mut text = "| system | best | worst | other | points, % | regret, % | against the first, % |\n".to_owned();
    text.push_str("|---|---|---|---|---|---|---|\n");
    for SystemFigures { name, best, worst, other, points, regret, regret_against_base, .. } in systems {
        let [points, regret, difference] =
            [points, regret, regret_against_base].map(|figure| figure.map(Estimate::percent).unwrap_or_default());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {name} | {best} | {worst} | {other} | {points} | {regret} | {difference} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::suite::Suite;

    fn figures(systems: &[System]) -> Vec<SystemFigures> {
        let suite = "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - bm Qg6; id \"WAC.001\";\n\
                     5rk1/1ppb3p/p1pb4/6q1/3P1p1r/2P1R2P/PP1BQ1P1/5RKN w - - bm Rg3; id \"WAC.003\";";
        let positions = Suite::parse(suite).positions;
        let two = NonZeroUsize::new(2).expect("two");
        let (mut searches, mut none) = (Searches::in_memory(two), Searches::in_memory(two));
        let stop = AtomicBool::new(false);
        let plan = GridPlan { systems, positions: &positions, oracle: None, seed: 1 };
        let figures = try_out(&plan, &mut searches, &mut none, &stop, |_| {});
        figures.unwrap_or_else(|error| panic!("{error}")).expect("nobody stops it")
    }

    #[test]
    fn every_split_is_tried_with_both_tables() {
        let settings = CouncilSettings { roster: "m mp ma".to_owned(), hash: 1, ..CouncilSettings::default() };
        let systems = splits(&settings, 600).expect("a roster");
        assert_eq!(systems.len(), 1 + 4 * 2 + 1);
        let figures = figures(&systems);
        assert!(figures.iter().all(|system| system.best + system.worst + system.other == 2), "{figures:?}");
        assert!(markdown(&figures).contains("| 0.33, warm table |"));
    }

    #[test]
    fn instances_times_group_is_always_eight() {
        let settings = CouncilSettings { hash: 1, ..CouncilSettings::default() };
        let systems = rosters(&settings, 100, 1.0).expect("rosters");
        assert_eq!(systems.len(), 4 * 3 * 3);
        for system in &systems {
            assert_eq!(system.roster.electors().len() as u64 * system.nodes, 800, "{}", system.name);
        }
        let electors = systems.into_iter().filter(|system| system.second == GridSecondPhase::Electors).take(2);
        assert_eq!(figures(&electors.collect::<Vec<_>>()).len(), 2);
    }
}
