//! PV-split (docs/method.md §7): one searcher searches the node at a threshold depth of the
//! principal variation alone. On the way back up, the siblings of each node of the variation become
//! jobs for all searchers, level by level.
//!
//! The best value so far bounds the search of the siblings, so that most of them only have to be
//! refuted. Deepening is iterative: the variation of one iteration is the path
//! of the next. All searchers spend a common budget of nodes or time.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{SearchAssignment, SecondPhaseStrategy, SecondPhaseTask};
use crate::electors::{Guidance, SearchReport, Task};
use domain::{GameLine, Limits, Proposal, Score};

/// The distance from the root, in plies, of the node for one searcher alone.
const THRESHOLD: u32 = 4;

/// The depth of the first iteration, plies. One searcher does it alone.
const SHALLOWEST: u32 = 4;

const DEEPEST: u32 = 100;

pub(super) struct PvSplit<L: GameLine> {
    task: SecondPhaseTask<L>,
    /// Depth of the running iteration, plies.
    depth: u32,
    /// The variation of the last iteration.
    variation: Vec<L::Move>,
    /// The level in search; the levels below are done.
    level: Option<Level<L>>,
    jobs: Vec<Option<JobAtWork<L>>>,
    /// The remaining nodes of all searchers together.
    nodes_left: Option<u64>,
    /// The end of the task's time, for all searches.
    ends: Option<Instant>,
    found: Option<Proposal<L::Move>>,
    over: bool,
}

struct Level<L: GameLine> {
    line: Arc<L>,
    /// The number of plies below the root.
    ply: u32,
    /// The proposal of the best child so far, or for the node itself if it was searched as a whole, with score and variation from
    /// the node on.
    best: Option<Proposal<L::Move>>,
    siblings: VecDeque<L::Move>,
}

/// A searcher's work: a child of the level's node, or (`None`) the node itself.
struct JobAtWork<L: GameLine> {
    child: Option<L::Move>,
    newest: Option<Proposal<L::Move>>,
    depth: u32,
}

impl<L: GameLine> SecondPhaseStrategy<L> for PvSplit<L> {
    fn begin(&mut self) -> Vec<SearchAssignment<L>> {
        self.ends = self.task.limits.time.map(|time| Instant::now() + time);
        self.descend()
    }

    fn on_report(&mut self, searcher: usize, report: &SearchReport<L::Move>) -> Vec<SearchAssignment<L>> {
        let Some(job) = self.jobs.get_mut(searcher).and_then(Option::as_mut) else { return Vec::new() };
        match report {
            SearchReport::Proposal(proposal) => {
                job.newest = Some(proposal.clone());
                // The first iteration is one search; its proposals are there before it ends.
                if job.child.is_none() && self.level.as_ref().is_some_and(|level| level.ply == 0) {
                    self.found = Some(proposal.clone());
                }
                Vec::new()
            }
            SearchReport::Failed(..) => {
                self.over = true;
                Vec::new()
            }
            SearchReport::Finished(..) => self.finish(searcher),
        }
    }

    fn found(&self) -> Option<&Proposal<L::Move>> {
        self.found.as_ref()
    }
}

impl<L: GameLine> PvSplit<L> {
    pub(super) fn new(task: SecondPhaseTask<L>) -> Self {
        Self {
            depth: task.limits.depth.map_or(SHALLOWEST, |deepest| deepest.clamp(1, SHALLOWEST)),
            variation: Vec::new(),
            level: None,
            jobs: (0..task.searchers).map(|_| None).collect(),
            nodes_left: task.limits.nodes.map(|nodes| nodes.saturating_mul(task.searchers as u64)),
            ends: None,
            found: None,
            over: false,
            task,
        }
    }

    /// Goes down the variation, and assigns its last node to the first searcher.
    fn descend(&mut self) -> Vec<SearchAssignment<L>> {
        let levels = (self.depth.saturating_sub(1).min(THRESHOLD) as usize).min(self.variation.len());
        let mut line = (*self.task.line).clone();
        let played = self.variation.iter().take(levels).take_while(|mv| line.advance(**mv)).count();
        // A node without moves has no value to search for; its parent is searched as a whole.
        let played = if line.legal_moves().is_empty() { played.saturating_sub(1) } else { played };
        let line = Arc::new(line.prefix(self.task.line.ply() + played));
        let ply = u32::try_from(played).unwrap_or_default();
        self.level = Some(Level { line, ply, best: None, siblings: VecDeque::new() });
        self.assignment(0, None).into_iter().collect()
    }

    fn finish(&mut self, searcher: usize) -> Vec<SearchAssignment<L>> {
        let Some(job) = self.jobs[searcher].take() else { return Vec::new() };
        let (Some(level), Some(newest)) = (&mut self.level, job.newest) else {
            self.over = true;
            return Vec::new();
        };
        self.nodes_left = self.nodes_left.map(|left| left.saturating_sub(newest.nodes.max(1)));
        if self.over {
            return Vec::new();
        }
        if newest.depth < job.depth && !matches!(newest.score, Score::Mate(_)) {
            // Its part of the nodes is used up: it goes on with a part of the rest, and with its table.
            return self.assignment(searcher, job.child).into_iter().collect();
        }
        level.take(job.child, newest);
        if level.ply == 0 {
            self.found = level.proposal(self.depth);
        }
        self.go_on()
    }

    /// Assigns the rest of the level, or goes up a level after its end.
    fn go_on(&mut self) -> Vec<SearchAssignment<L>> {
        loop {
            let waiting = self.jobs.iter().any(Option::is_some);
            let assignments = self.hand_out();
            if waiting || self.over || !assignments.is_empty() {
                return assignments;
            }
            let Some(level) = &self.level else { return assignments };
            let Some(best) = level.best.clone() else { return assignments };
            if level.ply > 0 {
                let parent = level.parent(&self.task, best);
                if parent.ply == 0 {
                    // The other moves may all end the game, or there are none.
                    self.found = parent.proposal(self.depth);
                }
                self.level = Some(parent);
                continue;
            }
            self.variation = best.pv;
            self.depth += 1;
            let deepest = self.task.limits.depth.unwrap_or(DEEPEST).min(DEEPEST);
            let mated = matches!(best.score, Score::Mate(moves) if moves.unsigned_abs() * 2 < self.depth);
            return if self.depth > deepest || mated { Vec::new() } else { self.descend() };
        }
    }

    fn hand_out(&mut self) -> Vec<SearchAssignment<L>> {
        let mut assignments = Vec::new();
        while let Some(idle) = self.jobs.iter().position(Option::is_none) {
            let Some(level) = &mut self.level else { break };
            let Some(sibling) = level.best.is_some().then(|| level.siblings.pop_front()).flatten() else { break };
            assignments.extend(self.assignment(idle, Some(sibling)));
        }
        assignments
    }

    /// Returns an assignment for a child of the level's node, or for the node itself. `None` without nodes, and without time if
    /// there is a result. Several searchers share the nodes for children; one searcher has all nodes for the node itself.
    fn assignment(&mut self, searcher: usize, child: Option<L::Move>) -> Option<SearchAssignment<L>> {
        let level = self.level.as_mut()?;
        let mut line = Arc::clone(&level.line);
        if let Some(child) = child {
            let after = Arc::make_mut(&mut line);
            if !after.advance(child) {
                return None;
            }
            if let Some(score) = after.value_of_the_end() {
                level.take_end(child, score);
                return None;
            }
        }
        let time = self.ends.map(|ends| ends.saturating_duration_since(Instant::now()));
        let time_is_up = time == Some(Duration::ZERO) && self.found.is_some();
        if self.nodes_left == Some(0) || time_is_up {
            self.over = true;
            return None;
        }
        let parts = if child.is_some() { self.jobs.len() as u64 } else { 1 };
        let nodes = self.nodes_left.map(|left| left.div_ceil(parts));
        let depth = self.depth.saturating_sub(level.ply + u32::from(child.is_some())).max(1);
        let limits = Limits { nodes, time, depth: Some(depth), ..self.task.limits };
        // At the root only the proposed moves are searched. A child has to beat, or fall short of,
        // the best value so far.
        let is_root = child.is_none() && level.ply == 0;
        let root_moves = if is_root { self.task.candidates.clone() } else { Vec::new() };
        let window = child.and(level.best.as_ref()).map(|best| (Score::Mate(0), to_child(best.score)));
        self.jobs[searcher] = Some(JobAtWork { child, newest: None, depth });
        let guidance = Guidance { window, ..Guidance::default() };
        Some((searcher, Task { root_moves, limits, guidance, ..self.task.search(line) }))
    }
}

/// A group of the first phase with a common search.
pub(crate) struct SplitGroup<L: GameLine> {
    strategy: PvSplit<L>,
    /// The searchers, by their numbers in the first phase.
    members: Vec<usize>,
}

impl<L: GameLine> SplitGroup<L> {
    pub(crate) fn begin(task: SecondPhaseTask<L>, members: Vec<usize>) -> (Self, Vec<SearchAssignment<L>>) {
        let mut group = Self { strategy: PvSplit::new(task), members };
        let assignments = group.strategy.begin();
        let assignments = group.numbered(assignments);
        (group, assignments)
    }

    pub(crate) fn on_report(&mut self, number: usize, report: &SearchReport<L::Move>) -> Vec<SearchAssignment<L>> {
        let Some(member) = self.members.iter().position(|member| *member == number) else { return Vec::new() };
        let assignments = self.strategy.on_report(member, report);
        self.numbered(assignments)
    }

    pub(crate) fn line(&self) -> &Arc<L> {
        &self.strategy.task.line
    }

    pub(crate) fn found(&self) -> Option<&Proposal<L::Move>> {
        self.strategy.found()
    }

    fn numbered(&self, mut assignments: Vec<SearchAssignment<L>>) -> Vec<SearchAssignment<L>> {
        assignments.iter_mut().for_each(|(searcher, _)| *searcher = self.members[*searcher]);
        assignments
    }
}

impl<L: GameLine> Level<L> {
    /// Takes the result of a job, if it is better than the best so far.
    fn take(&mut self, child: Option<L::Move>, newest: Proposal<L::Move>) {
        let (score, pv) = match child {
            None => (newest.score, newest.pv.clone()),
            Some(child) => (to_parent(newest.score), [&[child], newest.pv.as_slice()].concat()),
        };
        if self.best.as_ref().is_none_or(|best| score > best.score) {
            self.best = Some(Proposal { score, pv, ..newest });
        }
    }

    fn take_end(&mut self, child: L::Move, score: Score) {
        if let Some(best) = self.best.as_mut().filter(|best| score > best.score) {
            (best.score, best.pv) = (score, vec![child]);
        }
    }

    /// Returns the level above: its node has the value of this one, and its other moves are still
    /// to be searched.
    fn parent(&self, task: &SecondPhaseTask<L>, best: Proposal<L::Move>) -> Self {
        let ply = self.ply - 1;
        let line = self.line.prefix(task.line.ply() + ply as usize);
        let played = self.line.moves().get(line.ply()).copied();
        let moves = if ply == 0 { task.candidates.clone() } else { line.legal_moves() };
        let siblings = moves.into_iter().filter(|mv| Some(*mv) != played).collect();
        let pv = played.into_iter().chain(best.pv).collect();
        let best = Some(Proposal { score: to_parent(best.score), pv, ..best });
        Self { line: Arc::new(line), ply, best, siblings }
    }

    fn proposal(&self, depth: u32) -> Option<Proposal<L::Move>> {
        let best = self.best.clone()?;
        Some(Proposal { best: *best.pv.first()?, depth, ..best })
    }
}

/// Returns the value of a child for its parent's player. A mate is one move further away for the winner.
fn to_parent(child: Score) -> Score {
    match child {
        Score::Cp(centipawns) => Score::Cp(-centipawns),
        Score::Mate(moves) if moves > 0 => Score::Mate(-moves),
        Score::Mate(moves) => Score::Mate(1 - moves),
    }
}

/// The inverse of [`to_parent`].
fn to_child(parent: Score) -> Score {
    match parent {
        Score::Cp(centipawns) => Score::Cp(-centipawns),
        Score::Mate(moves) if moves > 0 => Score::Mate(1 - moves),
        Score::Mate(moves) => Score::Mate(-moves),
    }
}
