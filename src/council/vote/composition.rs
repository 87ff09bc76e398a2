//! The composition of a council, by the cores available for a question: electors with their groups,
//! advisers, and complete knowledge for the second phase.
//!
//! It changes between two questions, when machines come or go. An unchanged elector keeps its slot,
//! with its table and its engine. Slots with a shared table are kept while their machine is away.

use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::{
    CouncilSettings, GroupMode, Roster,
    question::times,
    searcher::{CouncilSearcher, Role},
    second::Layout,
};
use crate::{
    CouncilGame,
    electors::{CoresAtHand, ElectorSpec, MemoryClaim, Pool, SearchPriority, local_slot},
};
use domain::{CriterionName, SecondPhaseMode};
use engine::{SharedTable, TURN, Turnstile};

pub(super) struct Composition<L: CouncilGame> {
    pool: Pool,
    /// The settings. For variants unknown to the built-in engine, the criterion is `depth`, which
    /// needs no evaluation.
    pub settings: CouncilSettings,
    variant: L::Variant,
    roster: Roster<L>,
    pub electors: Arc<[ElectorSpec<L::Kind>]>,
    pub advisers: Vec<ElectorSpec<L::Kind>>,
    /// Searchers of the first phase: the advisers, the electors with their groups, and in the mode `continued` the anchor. Then
    /// the searchers of the second phase, opened at the first need.
    pub searchers: Vec<CouncilSearcher<L>>,
    pub in_first_phase: usize,
    /// Unused slots with a shared table; they take no memory.
    spare: Vec<CouncilSearcher<L>>,
    first_phase_cores: Option<CoresAtHand>,
    second_phase_cores: usize,
    /// Shared tables, one for each evaluation and machine of virtual time.
    tables: Vec<(usize, SharedTable)>,
    /// Number of the roster's electors on this machine alone; the size of a shared table grows up to this number.
    tables_for: usize,
    _memory: MemoryClaim,
}

impl<L: CouncilGame> Composition<L> {
    /// Opens slots on all present cores, for the electors of the roster, except those that cannot play `variant`.
    pub(super) fn new(pool: &Pool, roster: &Roster<L>, settings: &CouncilSettings, variant: L::Variant) -> Self {
        let standard = L::is_searchable(variant);
        let mut settings = settings.clone();
        if !standard {
            settings.criterion = CriterionName::Depth;
        }
        let mut advisers = if standard { roster.advisers().to_vec() } else { Vec::new() };
        let mut roster = roster.clone();
        let home = roster.electors_for(variant, pool.cores());
        let memory = fit_tables(pool, &home, &mut roster, &mut advisers, &mut settings);
        let mut composition = Self {
            pool: pool.clone(),
            settings,
            variant,
            roster,
            tables_for: home.len(),
            electors: home.into(),
            advisers,
            searchers: Vec::new(),
            in_first_phase: 0,
            spare: Vec::new(),
            first_phase_cores: None,
            second_phase_cores: 0,
            tables: Vec::new(),
            _memory: memory,
        };
        composition.compose_first_phase(pool.cores_for(None));
        composition
    }

    pub(super) fn compose_first_phase(&mut self, cores: CoresAtHand) {
        if self.first_phase_cores.replace(cores) == Some(cores) {
            return;
        }
        self.electors = self.roster.electors_for(self.variant, cores.together).into();
        let roles = self.first_phase(&self.electors, cores);
        let second = self.searchers.split_off(self.in_first_phase);
        let before = std::mem::take(&mut self.searchers);
        self.searchers = self.fill(roles, before);
        self.in_first_phase = self.searchers.len();
        self.searchers.extend(second);
    }

    /// Adds electors to the first phase for new cores; the present ones stay. Returns false if the
    /// cores cannot be used before the next question.
    pub(super) fn add_to_first_phase(&mut self, cores: CoresAtHand) -> bool {
        let electors = self.roster.electors_for(self.variant, cores.together);
        if self.continues() || electors.len() <= self.electors.len() || !electors.starts_with(&self.electors) {
            return false;
        }
        let mut roles = self.first_phase(&electors, cores);
        let mut present = self.searchers[..self.in_first_phase].iter().zip(&roles);
        if roles.len() <= self.in_first_phase || !present.all(|(searcher, role)| searcher.suits(role)) {
            return false;
        }
        self.first_phase_cores = Some(cores);
        self.electors = electors.into();
        let second = self.searchers.split_off(self.in_first_phase);
        let more = self.fill(roles.split_off(self.in_first_phase), Vec::new());
        self.searchers.extend(more);
        self.in_first_phase = self.searchers.len();
        self.searchers.extend(second);
        true
    }

    pub(super) fn compose_second_phase(&mut self, cores: usize) {
        if std::mem::replace(&mut self.second_phase_cores, cores) == cores {
            return;
        }
        let layout = Layout::of(self.settings.second_phase, cores);
        let spec = ElectorSpec { threads: layout.threads, shares_table: layout.one_table, ..self.arbiter() };
        let roles = vec![Role::of(spec, !layout.one_table); layout.slots];
        let before = self.searchers.split_off(self.in_first_phase);
        let second = self.fill(roles, before);
        self.searchers.extend(second);
    }

    pub(super) fn anchor(&self) -> Option<usize> {
        if self.continues() { self.in_first_phase.checked_sub(1) } else { None }
    }

    /// Returns the number of the first searcher of the second phase: the anchor, if there is one.
    pub(super) fn second_phase_start(&self) -> usize {
        self.anchor().unwrap_or(self.in_first_phase)
    }

    pub(super) fn new_game(&self) {
        self.tables.iter().for_each(|(_, table)| table.forget());
        self.searchers.iter().chain(&self.spare).for_each(CouncilSearcher::new_game);
    }

    pub(super) async fn forgotten(&self) {
        let tables = self.tables.clone();
        // Without a thread, the next search does it.
        let _ = spawn_blocking(move || tables.iter().for_each(|(_, table)| table.finish_forgetting())).await;
    }

    fn continues(&self) -> bool {
        self.settings.criterion == CriterionName::ReSearch && self.settings.second_phase == SecondPhaseMode::Continued
    }

    /// Returns the first phase for these electors on these cores. With more cores than electors,
    /// searcher `i` searches for elector `i` modulo their number (docs/method.md §7).
    fn first_phase(&self, electors: &[ElectorSpec<L::Kind>], at_hand: CoresAtHand) -> Vec<Role<L::Kind>> {
        let advising = self.advisers.iter().enumerate();
        let advising = advising.map(|(number, spec)| Role { adviser: Some(number), ..Role::of(spec.clone(), false) });
        let mut roles: Vec<Role<L::Kind>> = advising.collect();
        let groups = self.settings.groups;
        let cores = match groups {
            _ if self.settings.cores != 0 => self.settings.cores,
            GroupMode::Shared | GroupMode::Peer => at_hand.together,
            // The members of these groups share a score or a table.
            GroupMode::PeerScore | GroupMode::PvSplit | GroupMode::None => at_hand.here,
        };
        // The threads of one search are on one machine.
        let widest = if self.settings.cores == 0 { at_hand.widest } else { cores };
        let anchor = electors.iter().position(|elector| self.continues() && elector.kind == self.arbiter().kind);
        for (place, elector) in electors.iter().enumerate().filter(|(place, _)| Some(*place) != anchor) {
            let grouped = L::is_ours(elector) && groups != GroupMode::None;
            let members = if grouped { members(place, electors.len(), cores) } else { 1 };
            let slots = if groups == GroupMode::Shared { 1 } else { members };
            let threads = (members / slots).min(widest);
            let one_table = slots > 1 && groups == GroupMode::PvSplit;
            let spec = ElectorSpec {
                threads: elector.threads * threads,
                shares_table: elector.shares_table || one_table,
                ..elector.clone()
            };
            let role = Role { elector: Some(place), ..Role::of(spec, !one_table) };
            roles.extend(std::iter::repeat_n(role, slots));
        }
        if self.continues() {
            let spec = anchor.map_or_else(|| self.arbiter(), |place| electors[place].clone());
            roles.push(Role { elector: anchor, ..Role::of(ElectorSpec { shares_table: true, ..spec }, false) });
        }
        roles
    }

    /// Fills the roles with earlier searchers, spare ones, and new ones.
    fn fill(&mut self, roles: Vec<Role<L::Kind>>, mut before: Vec<CouncilSearcher<L>>) -> Vec<CouncilSearcher<L>> {
        before.append(&mut self.spare);
        let mut searchers = Vec::with_capacity(roles.len());
        for role in roles {
            let known = before.iter().position(|searcher| searcher.suits(&role));
            let mut searcher = known.map(|number| before.remove(number)).unwrap_or_else(|| self.open(&role));
            searcher.role = role;
            searchers.push(searcher);
        }
        self.spare = before.into_iter().filter(|searcher| searcher.role.spec.shares_table).collect();
        searchers
    }

    fn arbiter(&self) -> ElectorSpec<L::Kind> {
        let priority = self.electors.first().map_or(SearchPriority::Usual, |elector| elector.priority);
        ElectorSpec { priority, ..L::arbiter(&self.electors, self.settings.hash) }
    }

    /// Creates the turnstile for searchers in virtual time, with the carrier of messages between
    /// the simulated machines.
    pub(super) fn turnstile(&self, every: Vec<u64>) -> Arc<Turnstile> {
        let (turns, carrier) = match self.pool.virtual_machines() {
            Some(machines) => (machines.turns(every.len()), machines.carrier(self.tables.clone())),
            None => (vec![TURN; every.len()], None),
        };
        let paced = turns.iter().zip(&self.searchers).map(|(turn, searcher)| times(*turn, searcher.role.spec.speed));
        Turnstile::with(every, paced.collect(), carrier)
    }

    /// Returns the shared table of this evaluation on a machine; a new one has `hash` MiB.
    fn table(&mut self, spec: &ElectorSpec<L::Kind>, hash: usize, machine: usize) -> Option<SharedTable> {
        let options = L::table_options(spec, hash)?;
        let known = self.tables.iter().find(|(of, table)| *of == machine && table.suits(&options));
        if let Some((_, table)) = known {
            return Some(table.clone());
        }
        let table = self.pool.shared_table(&options, spec.priority);
        self.tables.push((machine, table.clone()));
        Some(table)
    }

    fn open(&mut self, role: &Role<L::Kind>) -> CouncilSearcher<L> {
        let Role { spec, elastic, elector, .. } = role;
        let sharers = self.electors.iter().filter(|other| other.shares_table && other.kind == spec.kind).count();
        let machines = self.pool.virtual_machines().unwrap_or_default();
        let machine = elector.map_or(0, |place| machines.of(place, self.electors.len()));
        let table = if spec.shares_table {
            let whole = spec.hash * sharers.clamp(1, self.tables_for.max(1));
            self.table(spec, (whole / machines.count.max(1)).max(1), machine)
        } else {
            None
        };
        let table = table.as_ref();
        let slot = if *elastic { self.pool.slot(spec, table) } else { local_slot(spec, table) };
        CouncilSearcher::on(slot, role.clone(), machines.way_to(machine))
    }
}

/// Claims the memory for the tables of the electors at home; electors on other machines have their tables there, or use a table
/// counted here. Every table shrinks if this process may not have as much memory.
fn fit_tables<L: CouncilGame>(
    pool: &Pool,
    home: &[ElectorSpec<L::Kind>],
    roster: &mut Roster<L>,
    advisers: &mut [ElectorSpec<L::Kind>],
    settings: &mut CouncilSettings,
) -> MemoryClaim {
    let cores = if settings.cores == 0 { pool.cores() } else { settings.cores };
    // The members of a group have a table each, unless they share one.
    let peers = matches!(settings.groups, GroupMode::Peer | GroupMode::PeerScore);
    let electing = home.iter().enumerate().map(|(place, elector)| {
        let each_its_own = peers && L::is_ours(elector) && !elector.shares_table;
        elector.hash * if each_its_own { members(place, home.len(), cores) } else { 1 }
    });
    let first_phase: usize = electing.sum();
    let advising: usize = advisers.iter().map(|adviser| adviser.hash).sum();
    let second_phase = if settings.criterion == CriterionName::ReSearch {
        settings.hash * Layout::of(settings.second_phase, cores).tables()
    } else {
        0
    };
    let wanted = first_phase + advising + second_phase;
    let memory = pool.claim_memory(wanted);
    let granted = memory.granted;
    if granted < wanted {
        tracing::warn!("tables of a council shrink from {wanted} to {granted} MiB: the memory limit of this process");
        let shrunk = |hash: usize| (hash * granted / wanted).max(1);
        roster.resize_tables(&shrunk);
        advisers.iter_mut().for_each(|adviser| adviser.hash = shrunk(adviser.hash));
        settings.hash = shrunk(settings.hash);
    }
    memory
}

fn members(place: usize, electors: usize, cores: usize) -> usize {
    (cores / electors.max(1) + usize::from(place < cores % electors.max(1))).max(1)
}

#[cfg(test)]
mod tests;
