//! Measures the cost of a message and of a search on this machine in a few seconds.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

use super::task;
use crate::speed::thread_time;
use cluster::{
    ProcessIdentity, Upkeep,
    wire::{
        self, Addressed, ProposalText, RemoteElector, SearchCommand, SearchEvent, SearchEventKind, WorkerCommand,
        WorkerMessage,
    },
};
use council::{
    Council, CouncilSettings, CriterionName, Question, Roster,
    electors::{Elector, ElectorFailure, ElectorKind, ElectorMaker, ElectorSpec, Pool, Task, VerificationLength},
};
use domain::{Bound, ElectorName, GameId, Knowledge, Line, Proposal, Score, Variant};
use engine::{Engine, EngineOptions, Limits, Position};

/// Repetitions of a short operation that is timed.
const ROUNDS: u32 = 2_000;
/// The sizes of councils by which the cost of a proposal is measured, and how many each elector makes.
const SIZES: [u32; 2] = [32, 128];
const PROPOSALS: u32 = 20;
/// A position of the kind that is searched most.
const MIDDLEGAME: &str = "r1bqr1k1/2pnbppp/p1np4/1p2p3/3PP3/1BP2N1P/PP3PP1/RNBQR1K1 w - - 1 11";
const VERIFICATIONS: u32 = 50;
/// Time during which the proposals of a search are counted.
const LISTENED: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub struct Costs {
    /// The daemon's time to send one order.
    pub order: Duration,
    /// The daemon's time to read and check one proposal.
    pub proposal: Duration,
    /// The council's time to count one proposal, and the addition of each elector of the council.
    pub count: Duration,
    pub count_by_elector: Duration,
    /// The server's time to pass on one message.
    pub broker: Duration,
    /// One way through the server, unloaded.
    pub way: Duration,
    /// A home core's time to verify a proposed move.
    pub verification: Duration,
    /// Times of a search's proposals, from its beginning.
    pub iterations: Vec<Duration>,
    /// The daemon's time to choose workers and to read their heartbeats.
    pub upkeep: Upkeep,
    /// Lengths of an order and of a proposal, bytes.
    pub sizes: (usize, usize),
}

impl Costs {
    /// Measures all but the server, whose throughput (messages a second) and delay are given.
    pub async fn measure(throughput: f64, way: Duration) -> Self {
        let ((order, proposal), sizes) = messages();
        let [few, many] = [council_of(SIZES[0]).await, council_of(SIZES[1]).await];
        let count_by_elector = many.saturating_sub(few) / (SIZES[1] - SIZES[0]);
        Self {
            order,
            proposal,
            count: few.saturating_sub(count_by_elector * SIZES[0]),
            count_by_elector,
            broker: Duration::from_secs_f64(1.0 / throughput.max(1.0)),
            way,
            verification: verification(),
            iterations: iterations(),
            upkeep: Upkeep::measure(),
            sizes,
        }
    }
}

/// The time to write an order and to read a proposal, and how long both are.
fn messages() -> ((Duration, Duration), (usize, usize)) {
    let identity = ProcessIdentity::new("measured");
    let task = task();
    let spec = ElectorSpec::own(Knowledge::COMPLETE, 8);
    let write = || {
        let elector = RemoteElector::of(&spec, None).map(|elector| SearchCommand::of(&task, 1, elector, 1));
        let command = elector.map(|order| WorkerCommand::Search(Box::new(order)));
        let addressed = command.map(|body| Addressed { to: identity.sender.run, body });
        addressed.map(|message| wire::encode(&identity, &message)).unwrap_or_default()
    };
    let begun = Instant::now();
    let order = (0..ROUNDS).map(|_| write().len()).max().unwrap_or_default();
    let writing = begun.elapsed() / ROUNDS;

    let elector: ElectorName = spec.name.clone();
    let kind = SearchEventKind::Proposal(ProposalText {
        moves: "d2d4 c8g4 c1e3 e5d4 c3d4 c6a5 b3c2 a5c4 e3c1 c7c5 b2b3 c4b6".to_owned(),
        score: Score::Cp(31),
        bound: Bound::Exact,
        depth: 14,
        selective_depth: 21,
        root_moves_done: 0,
        nodes: 1_234_567,
        microseconds: 987_654,
    });
    let event = SearchEvent { search: task.id.clone(), elector: elector.clone(), kind };
    let message = Addressed { to: identity.sender.run, body: WorkerMessage::Event(event) };
    let event = wire::encode(&identity, &message);
    let read = || {
        let Ok((from, message)) = wire::decode::<Addressed<WorkerMessage>>("measured", &event, &identity.version)
        else {
            return false;
        };
        let WorkerMessage::Event(SearchEvent { kind: SearchEventKind::Proposal(text), .. }) = message.body else {
            return false;
        };
        text.proposal(&task, &elector, &from.name.as_str().into()).is_ok()
    };
    let begun = Instant::now();
    (0..ROUNDS).for_each(|_| assert!(read(), "our own proposal is believed"));
    ((writing, begun.elapsed() / ROUNDS), (order, event.len()))
}

struct EndlessProposer(ElectorName);

impl Elector for EndlessProposer {
    fn search(&mut self, task: &Task, _: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> Result<(), ElectorFailure> {
        let moves = task.line.legal_moves();
        for depth in 1..=PROPOSALS {
            let Some(best) = moves.get(depth as usize % moves.len().max(1)).copied() else { break };
            report(Proposal {
                depth,
                selective_depth: depth,
                nodes: u64::from(depth),
                ..Proposal::of_one_ply(task.id.clone(), self.0.clone(), best, Score::Cp(0))
            });
        }
        Ok(())
    }
}

/// Returns the time that a council of `size` electors needs for each proposal.
async fn council_of(size: u32) -> Duration {
    let measured = tokio::task::spawn_blocking(move || {
        let make = ElectorMaker::new(|spec| Ok(Box::new(EndlessProposer(spec.name.clone()))));
        let elector = |number: u32| ElectorSpec::new(format!("e{number}").into(), ElectorKind::Made(make.clone()), 1);
        let roster = Roster::of((0..size).map(elector).collect());
        let settings = CouncilSettings { criterion: CriterionName::Majority, ..CouncilSettings::default() };
        let mut council = Council::new(&Pool::new(0), &roster, &settings, Variant::Standard);
        let question = Question::new(GameId::new("lab"), Arc::new(Line::start(Variant::Standard)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().ok()?;
        let begun = thread_time();
        runtime.block_on(council.decide(question, &CancellationToken::new(), &mut |_| {}))?;
        Some((thread_time() - begun) / (size * PROPOSALS))
    });
    measured.await.ok().flatten().unwrap_or_default()
}

fn verification() -> Duration {
    let Ok(position) = Position::from_line(MIDDLEGAME, false, []) else { return Duration::ZERO };
    let mut engine = Engine::new(EngineOptions { hash: 8, ..EngineOptions::default() });
    let limits = Limits { nodes: Some(VerificationLength::Short.nodes()), ..Limits::default() };
    let begun = Instant::now();
    for _ in 0..VERIFICATIONS {
        engine.new_game();
        engine.search(&position, &[], &limits, &AtomicBool::new(false), &mut |_| {});
    }
    begun.elapsed() / VERIFICATIONS
}

/// Returns the times at which a search of a middlegame completes its iterations.
fn iterations() -> Vec<Duration> {
    let Ok(position) = Position::from_line(MIDDLEGAME, false, []) else { return Vec::new() };
    let mut engine = Engine::new(EngineOptions::default());
    let limits = Limits { time: Some(LISTENED), ..Limits::default() };
    let mut times = Vec::new();
    engine.search(&position, &[], &limits, &AtomicBool::new(false), &mut |iteration| times.push(iteration.time));
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_costs_round_trip() {
        let ((order, proposal), (order_size, proposal_size)) = messages();
        assert!(!order.is_zero() && !proposal.is_zero());
        assert!(order_size > 100 && proposal_size > 100);
    }
}
