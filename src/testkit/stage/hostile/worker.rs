//! A hostile worker over NATS, and a council that has it for a worker.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::{Duration, Instant},
};

use async_nats::Client;
use cluster::{
    ClusterClient, ClusterSettings, ProcessIdentity, RunId, Sender, Subjects,
    wire::{
        self, Addressed, Heartbeat, Poll, ProposalText, SearchCommand, SearchEvent, SearchEventKind, WorkerCommand,
        WorkerMessage,
    },
};
use council::{
    Ballots, Council, CouncilSettings, Question, Roster, Rule,
    electors::{Pool, SearchStatus, VerificationLength},
};
use domain::{Decision, GameId, Line, Score, UciMove, Variant, engine_move, engine_position};
use engine::{Engine, EngineOptions, Limits};
use futures_util::StreamExt;
use testkit::until;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Attack, Knows, Proposed, Says, claims};

/// Fifteen positions of all sorts, as moves from the beginning.
pub const POSITIONS: [&str; 15] = [
    "",
    "e2e4 e7e5 g1f3 b8c6",
    "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6",
    "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5",
    "d2d4 g8f6 c2c4 g7g6 b1c3 f8g7 e2e4 d7d6",
    "e2e4 e7e6 d2d4 d7d5 b1c3 f8b4",
    "e2e4 c7c6 d2d4 d7d5 e4e5 c8f5",
    "c2c4 e7e5 b1c3 g8f6 g2g3 d7d5 c4d5 f6d5",
    "e2e4 e7e5 f1c4 g8f6 d2d3 f8c5 c2c3",
    "g1f3 d7d5 g2g3 c7c5 f1g2 b8c6 e1g1 e7e5",
    "e2e4 e7e5 d1h5 b8c6",
    "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5 d2d4 g8f6",
    "d2d4 f7f5 g2g3 g8f6 f1g2 e7e6 g1f3 f8e7",
    "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5",
    "e2e4 g7g6 d2d4 f8g7 b1c3 d7d6 f2f4 g8f6",
];

pub fn position(moves: &str) -> Line {
    let mut line = Line::start(Variant::Standard);
    line.play_all(moves).expect("legal");
    line
}

/// Returns the value of a move for the side that plays it, by a search of `nodes` nodes of a fresh
/// engine, as a daemon verifies it.
pub fn value(line: &Line, best: UciMove, nodes: u64) -> i32 {
    let position = engine_position(line).expect("standard chess");
    let root = [engine_move(&position, best).expect("legal")];
    let (hash, threads, knowledge) = (2, 1, domain::Knowledge::LEARNED);
    let mut engine = Engine::new(EngineOptions { hash, threads, knowledge, ..EngineOptions::default() });
    let limits = Limits { nodes: Some(nodes), time: None, depth: None, mate: None };
    let mut value = Score::Cp(0);
    engine.search(&position, &root, &limits, &AtomicBool::new(false), &mut |iteration| value = iteration.score);
    value.as_centipawns()
}

/// The legal moves from the best to the worst, each with its value. What was found is remembered.
fn ranked(line: &Line) -> Vec<(UciMove, i32)> {
    type Known = HashMap<String, Vec<(UciMove, i32)>>;
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let rank = || {
        let mut moves: Vec<(UciMove, i32)> =
            line.legal_moves().into_iter().map(|best| (best, value(line, best, 300))).collect();
        moves.sort_by_key(|(_, value)| -value);
        moves
    };
    known.get_or_insert_default().entry(line.fen()).or_insert_with(rank).clone()
}

pub fn prepare(line: &Line) {
    ranked(line);
}

/// Messages beside those that answer something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flood {
    None,
    /// Heartbeats a second, and their bytes.
    Heartbeats(u32, usize),
    /// Messages a second to the daemon, and their bytes.
    Messages(u32, usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Hostile {
    pub attack: Attack,
    pub cores: u16,
    pub flood: Flood,
}

struct Talker {
    client: Client,
    identity: ProcessIdentity,
    subjects: Subjects,
    daemon: String,
    hostile: Hostile,
    asked: u64,
    before: Option<SearchCommand>,
    running: Vec<(RunId, SearchStatus)>,
}

/// Takes part as `name` until the guard is dropped.
pub async fn joins(client: Client, name: &str, daemon: &str, hostile: Hostile) -> DropGuard {
    let identity = {
        let name = name.to_owned();
        tokio::task::spawn_blocking(move || ProcessIdentity::new(&name)).await.expect("a bench")
    };
    let talker = Talker {
        client,
        identity,
        subjects: Subjects::below("concilio"),
        daemon: daemon.to_owned(),
        hostile,
        asked: 0,
        before: None,
        running: Vec::new(),
    };
    let stop = CancellationToken::new();
    let guard = stop.clone().drop_guard();
    let flooding = flood(talker.client.clone(), talker.subject_of_flood(), hostile.flood);
    tokio::spawn(async move {
        stop.run_until_cancelled(async { tokio::join!(talker.talk(), flooding) }).await;
    });
    guard
}

async fn flood(client: Client, subject: String, flood: Flood) {
    let (Flood::Heartbeats(rate, bytes) | Flood::Messages(rate, bytes)) = flood else { return };
    let message = bytes::Bytes::from(vec![b'x'; bytes]);
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    loop {
        ticks.tick().await;
        for _ in 0..rate.div_ceil(100) {
            if client.publish(subject.clone(), message.clone()).await.is_err() {
                return;
            }
        }
    }
}

impl Talker {
    fn name(&self) -> &str {
        &self.identity.sender.name
    }

    fn subject_of_flood(&self) -> String {
        match self.hostile.flood {
            Flood::Messages(..) => self.subjects.to_daemon(self.name(), &self.daemon),
            Flood::None | Flood::Heartbeats(..) => self.subjects.beat(self.name()),
        }
    }

    fn heartbeat(&mut self, answers: Option<u64>) -> Heartbeat {
        self.running.iter_mut().for_each(|(_, search)| search.nodes += 1_000_000);
        Heartbeat { answers, searches: self.running.clone(), ..Heartbeat::idle(self.hostile.cores, 9_999) }
    }

    async fn talk(mut self) {
        let orders = self.client.subscribe(self.subjects.to_worker(&self.daemon, self.name())).await;
        let polls = self.client.subscribe(self.subjects.call(&self.daemon)).await;
        let (Ok(mut orders), Ok(mut polls)) = (orders, polls) else { return };
        let mut beats = tokio::time::interval(Duration::from_millis(250));
        loop {
            tokio::select! {
                _ = beats.tick() => {
                    let heartbeat = self.heartbeat(None);
                    let beat = wire::encode(&self.identity, &heartbeat);
                    let _ = self.client.publish(self.subjects.beat(self.name()), beat).await;
                }
                Some(message) = polls.next() => {
                    let read = wire::decode::<Poll>(&self.daemon, &message.payload, &self.identity.version);
                    let Ok((daemon, poll)) = read else { continue };
                    self.running.retain(|(_, search)| poll.searches.contains(&search.search.serial));
                    let answer = WorkerMessage::Answer(self.heartbeat(Some(poll.number)));
                    tell(&self.client, &self.identity, &self.subjects, &daemon, answer).await;
                }
                Some(message) = orders.next() => self.order(&message.payload),
            }
        }
    }

    fn order(&mut self, bytes: &[u8]) {
        let read = wire::decode::<Addressed<WorkerCommand>>(&self.daemon, bytes, &self.identity.version);
        let Ok((daemon, Addressed { body, .. })) = read else { return };
        match body {
            WorkerCommand::Search(order) => self.search(daemon, *order),
            WorkerCommand::Stop(serial) => self.running.retain(|(_, search)| search.search.serial != serial),
            WorkerCommand::NewGame(_) | WorkerCommand::Leave(_) | WorkerCommand::Table(_) => {}
        }
    }

    fn search(&mut self, daemon: Sender, order: SearchCommand) {
        let Ok(task) = order.task() else { return };
        let moves = ranked(&task.line);
        let (Some((_, best)), Some((_, worst))) = (moves.first().copied(), moves.last().copied()) else { return };
        let (search, elector) = (order.id.clone(), order.elector.name.clone());
        self.running.push((daemon.run, SearchStatus { search, elector, threads: order.threads, nodes: 0 }));
        let knows = Knows { moves: moves.len(), best, worst, time: Duration::from_millis(250), asked: self.asked };
        let said = claims(self.hostile.attack, order.id.serial, knows);
        self.asked += 1;
        let before = self.before.replace(order.clone()).unwrap_or_else(|| order.clone());
        let (client, identity, subjects) = (self.client.clone(), self.identity.clone(), self.subjects.clone());
        tokio::spawn(async move {
            for (after, says) in said {
                tokio::time::sleep(after).await;
                let event = event(&order, &before, &says, &moves, &task.line);
                tell(&client, &identity, &subjects, &daemon, WorkerMessage::Event(event)).await;
            }
        });
    }
}

async fn tell(client: &Client, identity: &ProcessIdentity, subjects: &Subjects, daemon: &Sender, body: WorkerMessage) {
    let subject = subjects.to_daemon(&identity.sender.name, &daemon.name);
    let _ = client.publish(subject, wire::encode(identity, &Addressed { to: daemon.run, body })).await;
}

fn event(
    order: &SearchCommand,
    before: &SearchCommand,
    says: &Says,
    moves: &[(UciMove, i32)],
    line: &Line,
) -> SearchEvent {
    let text = |moves: String, score, bound, depth, nodes, root_moves_done| {
        let (selective_depth, microseconds) = (depth, 1_000);
        let text = ProposalText { moves, score, bound, depth, selective_depth, root_moves_done, nodes, microseconds };
        SearchEventKind::Proposal(text)
    };
    let kind = match says {
        Says::Proposal(Proposed { place, score, bound, depth, nodes, root_moves_done, variation }) => {
            let mut line = line.clone();
            let mut words = vec![moves[place % moves.len()].0.to_string()];
            let _ = line.play(moves[place % moves.len()].0);
            for next in variation {
                let legal = line.legal_moves();
                let Some(reply) = legal.get(next % legal.len().max(1)) else { break };
                words.push(reply.to_string());
                let _ = line.play(*reply);
            }
            text(words.join(" "), *score, *bound, *depth, *nodes, *root_moves_done)
        }
        Says::Text(moves) => text(moves.clone(), Score::Cp(10), domain::Bound::Exact, 9, 1_000, 0),
        Says::Stale => text(moves[0].0.to_string(), Score::Cp(0), domain::Bound::Exact, 9, 1_000, 0),
        Says::Finished(nodes) => SearchEventKind::Finished(*nodes),
        Says::Failed => SearchEventKind::Failed("it means harm".repeat(100)),
        Says::GivenBack => SearchEventKind::GivenBack,
    };
    let of = if matches!(says, Says::Stale) { before } else { order };
    SearchEvent { search: of.id.clone(), elector: order.elector.name.clone(), kind }
}

/// A council with one home core, and these workers.
pub struct Target {
    pub cluster: ClusterClient,
    council: Council,
    settings: CouncilSettings,
    electors: Vec<council::electors::ElectorSpec>,
    _stop: DropGuard,
}

#[derive(Debug)]
pub struct Outcome {
    pub decision: Decision,
    pub home: Option<UciMove>,
    pub late: Duration,
}

impl Target {
    pub fn new(cluster: ClusterSettings, roster: &str) -> Self {
        let (roster, advisers) = (roster.to_owned(), String::new());
        Self::with(cluster, CouncilSettings { roster, advisers, hash: 1, ..CouncilSettings::default() })
    }

    pub fn with(cluster: ClusterSettings, settings: CouncilSettings) -> Self {
        let stop = CancellationToken::new();
        let cluster = ClusterClient::join(cluster, stop.clone());
        let pool = Pool::with_remote(1, Some(Arc::new(cluster.clone())));
        let roster = Roster::from_settings(&settings).expect("a roster");
        let council = Council::new(&pool, &roster, &settings, Variant::Standard);
        let electors = roster.electors().to_vec();
        Self { cluster, council, settings, electors, _stop: stop.drop_guard() }
    }

    /// Joins, and waits until these workers are there.
    pub async fn joins(cluster: ClusterSettings, workers: &[&str], council: CouncilSettings) -> Self {
        let target = Self::with(cluster, council);
        let names = || target.cluster.workers().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        until(&format!("{workers:?} are there"), || workers.iter().all(|name| names().iter().any(|n| n == name))).await;
        target
    }

    pub async fn decides(&mut self, line: &Line, time: Duration) -> Outcome {
        let timing = Some(Box::new(move |_: &council::Progress| time) as _);
        let question = Question { timing, ..Question::new(GameId::new("attack"), Arc::new(line.clone())) };
        let begun = Instant::now();
        let decision = self.council.decide(question, &CancellationToken::new(), &mut |_| {}).await.expect("a decision");
        let late = begun.elapsed().saturating_sub(time);
        let home = self.home_choice(line, &decision);
        Outcome { decision, home, late }
    }

    /// Returns the move that the home electors' votes elect by themselves.
    fn home_choice(&self, line: &Line, decision: &Decision) -> Option<UciMove> {
        let votes: Vec<_> = decision.votes.iter().map(|vote| &vote.proposal).filter(|p| p.machine.is_none()).collect();
        // The roster `auto` has grown; its copies differ in nothing but their names.
        let electors: Vec<_> = votes
            .iter()
            .map(|vote| {
                let known = self.electors.iter().find(|elector| elector.name == vote.elector);
                known.cloned().unwrap_or_else(|| council::electors::ElectorSpec {
                    name: vote.elector.clone(),
                    ..self.electors[0].clone()
                })
            })
            .collect();
        let proposals: Vec<_> = votes.into_iter().cloned().map(Some).collect();
        let ballots = Ballots::recorded(line, &electors, &proposals);
        Rule::of(&self.settings).elected_move(&ballots, self.settings.seed_at(line.ply()))
    }
}

/// Returns true if a decision keeps the invariant: the home electors' choice, or a move that
/// verification finds no more than 50 centipawns worse.
pub fn keeps_the_invariant(line: &Line, outcome: &Outcome) -> bool {
    let best = outcome.decision.best;
    let Some(home) = outcome.home.filter(|home| *home != best) else { return true };
    VerificationLength::ALL
        .iter()
        .any(|length| value(line, best, length.nodes()) >= value(line, home, length.nodes()) - 50)
}
