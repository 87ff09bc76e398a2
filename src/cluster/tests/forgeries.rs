//! Tests of hostile workers with a key of their own, at a NATS server with the permissions of
//! `concilio cluster`: every forgery fails, and a line names the forger.

mod log;
mod permissions;
mod support;

use std::time::{Duration, Instant};

use async_nats::Client;
use concilio_cluster::{
    ProcessIdentity, RunId, Subjects,
    wire::{
        self, Addressed, Heartbeat, Poll, ProposalText, SearchCommand, SearchEvent, SearchEventKind, WorkerCommand,
        WorkerMessage, WorkerState,
    },
};
use council::{CouncilSettings, CriterionName, GroupMode};
use domain::{Bound, Line, Score, Variant};
use futures_util::StreamExt;
use stage::hostile::worker::{Target, position};
use support::Keyed;
use testkit::{PATIENCE, until};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::{CancellationToken, DropGuard};

impl Keyed {
    fn lends(&self, name: &str) -> DropGuard {
        self.lends_to(&["daemon"], name)
    }

    /// Connects a forger with a worker's key, and records the refusals of the server.
    async fn forger(&self, name: &str) -> Forger {
        let (told, refusals) = unbounded_channel();
        let options = self.login(name).event_callback(move |event| {
            let _ = told.send(event.to_string());
            std::future::ready(())
        });
        let client = options.connect(self.nats.url()).await.expect("let in");
        let identity = tokio::task::spawn_blocking({
            let name = name.to_owned();
            move || ProcessIdentity::new(&name)
        });
        Forger { client, identity: identity.await.expect("a bench"), subjects: Subjects::below("concilio"), refusals }
    }

    async fn daemon(&self, workers: &[&str]) -> Target {
        // The rule that a boast serves best.
        self.daemon_by(CriterionName::Optimistic, GroupMode::None, workers).await
    }

    async fn daemon_by(&self, criterion: CriterionName, groups: GroupMode, workers: &[&str]) -> Target {
        let roster = "balanced-4".to_owned();
        let settings = CouncilSettings { roster, criterion, groups, hash: 1, ..CouncilSettings::default() };
        Target::joins(self.settings("daemon"), workers, settings).await
    }
}

const MOVE: Duration = Duration::from_millis(150);

/// A client with a worker's key that does as it likes.
struct Forger {
    client: Client,
    identity: ProcessIdentity,
    subjects: Subjects,
    refusals: UnboundedReceiver<String>,
}

impl Forger {
    fn name(&self) -> &str {
        &self.identity.sender.name
    }

    fn heartbeat(state: WorkerState) -> Heartbeat {
        Heartbeat { state, ..Heartbeat::idle(100, 1_000_000) }
    }

    async fn publishes<B: serde::Serialize>(&self, subject: String, run: RunId, body: &B) {
        let mut identity = self.identity.clone();
        identity.sender.run = run;
        self.client.publish(subject, wire::encode(&identity, body)).await.expect("published");
    }

    async fn beats(&self) {
        let heartbeat = Self::heartbeat(WorkerState::Lending);
        self.publishes(self.subjects.beat(self.name()), self.identity.sender.run, &heartbeat).await;
    }

    /// Waits until the server has refused `times` actions.
    async fn is_refused(&mut self, times: usize) {
        let mut refused = 0;
        while refused < times {
            let event = tokio::time::timeout(PATIENCE, self.refusals.recv()).await.expect("refusals").expect("open");
            refused += usize::from(event.to_lowercase().contains("permissions violation"));
        }
    }

    /// Answers a daemon's poll, so that it gets searches.
    async fn answers_poll(&self, poll: &[u8]) {
        let read = wire::decode::<Poll>("daemon", poll, &self.identity.version);
        let Ok((daemon, Poll { number, .. })) = read else { return };
        let heartbeat = Heartbeat { answers: Some(number), ..Self::heartbeat(WorkerState::Lending) };
        let message = Addressed { to: daemon.run, body: WorkerMessage::Answer(heartbeat) };
        self.publishes(self.subjects.to_daemon(self.name(), "daemon"), self.identity.sender.run, &message).await;
    }

    /// Says that it is there, until the guard is dropped.
    fn keeps_beating(&self) -> DropGuard {
        self.keeps_saying(&Self::heartbeat(WorkerState::Lending))
    }

    fn keeps_saying(&self, heartbeat: &Heartbeat) -> DropGuard {
        let stop = CancellationToken::new();
        let guard = stop.clone().drop_guard();
        let (client, subject) = (self.client.clone(), self.subjects.beat(self.name()));
        let beat = wire::encode(&self.identity, heartbeat);
        let beating = async move {
            loop {
                client.publish(subject.clone(), beat.clone()).await.expect("published");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::spawn(async move { stop.run_until_cancelled(beating).await });
        guard
    }

    /// Claims a hundred cores, and this of every search that it is asked for.
    fn claims(self, moves: &'static str, score: Score) -> DropGuard {
        let stop = CancellationToken::new();
        let guard = stop.clone().drop_guard();
        tokio::spawn(async move { stop.run_until_cancelled(self.answers(moves, score)).await });
        guard
    }

    async fn answers(self, moves: &str, score: Score) {
        let subject = self.subjects.to_worker("daemon", self.name());
        let mut orders = self.client.subscribe(subject).await.expect("subscribed");
        let mut polls = self.client.subscribe(self.subjects.call("daemon")).await.expect("subscribed");
        let mut beats = tokio::time::interval(Duration::from_millis(200));
        loop {
            tokio::select! {
                _ = beats.tick() => self.beats().await,
                Some(poll) = polls.next() => self.answers_poll(&poll.payload).await,
                Some(order) = orders.next() => {
                    let read = wire::decode::<Addressed<WorkerCommand>>("daemon", &order.payload, &self.identity.version);
                    let Ok((daemon, Addressed { body: WorkerCommand::Search(order), .. })) = read else { continue };
                    for event in [claim(&order, moves, score), finished(&order)] {
                        let message = Addressed { to: daemon.run, body: WorkerMessage::Event(event) };
                        self.publishes(self.subjects.to_daemon(self.name(), "daemon"), self.identity.sender.run, &message).await;
                    }
                }
            }
        }
    }
}

fn claim(order: &SearchCommand, moves: &str, score: Score) -> SearchEvent {
    let text = ProposalText {
        moves: moves.to_owned(),
        score,
        bound: Bound::Exact,
        depth: 30,
        selective_depth: 40,
        root_moves_done: 0,
        nodes: 1 << 30,
        microseconds: 100,
    };
    SearchEvent { search: order.id.clone(), elector: order.elector.name.clone(), kind: SearchEventKind::Proposal(text) }
}

fn finished(order: &SearchCommand) -> SearchEvent {
    SearchEvent {
        search: order.id.clone(),
        elector: order.elector.name.clone(),
        kind: SearchEventKind::Finished(1 << 30),
    }
}

/// White's queen may take on f7, where the king takes it.
const BEFORE_THE_BLUNDER: &str = "e2e4 e7e5 d1h5 b8c6";

/// A forger's move is not played, fifteen times, and the forger is named and put out.
async fn is_found_out(name: &str, moves: &'static str, score: Score) {
    let keyed = Keyed::with(&[name]);
    let _forger = keyed.forger(name).await.claims(moves, score);
    let mut daemon = keyed.daemon(&[name]).await;
    let named = || keyed.log.lines(&["worker distrusted", &format!("worker={name}")]);
    let begun = Instant::now();
    let line = position(BEFORE_THE_BLUNDER);
    let mut decisions = 0;
    while decisions < 15 || named().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{name} is not found out");
        let best = daemon.decides(&line, MOVE).await.decision.best.to_string();
        assert!(!moves.starts_with(&best) || best != "h5f7", "the forger's move is played");
        decisions += 1;
    }
    assert_eq!(named().len(), 1, "it is told once: {:#?}", named());
    let machines = council::electors::RemotePool::machines(&daemon.cluster);
    assert_eq!(machines[0].closed, Some("it made a false claim"));
}

#[testkit::test(needs(NATS_SERVER))]
async fn false_score_elects_nothing() {
    is_found_out("boaster", "h5f7", Score::Cp(10_000)).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn false_mate_elects_nothing() {
    is_found_out("bluffer", "h5f7", Score::Mate(3)).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn helpmate_is_no_mate() {
    is_found_out("dreamer", "f1c4 a7a6 h5f7", Score::Mate(2)).await;
}

/// An honest worker's reports count, at a server with permissions.
#[testkit::test(needs(NATS_SERVER))]
async fn an_honest_worker_takes_part() {
    let keyed = Keyed::with(&["honest"]);
    let _worker = keyed.lends("honest");
    let CouncilSettings { criterion, groups, .. } = CouncilSettings::default();
    let mut daemon = keyed.daemon_by(criterion, groups, &["honest"]).await;
    let mut line = Line::start(Variant::Standard);
    let (mut votes, begun) = (0, Instant::now());
    while votes == 0 {
        assert!(begun.elapsed() < PATIENCE, "it takes no part");
        let decision = daemon.decides(&line, MOVE).await.decision;
        votes = decision.votes.iter().filter(|vote| vote.proposal.machine.is_some()).count();
        line.play(decision.best).expect("legal");
    }
    assert!(keyed.log.lines(&["distrusted", "worker=honest"]).is_empty());
}

#[testkit::test(needs(NATS_SERVER))]
async fn forged_name_is_refused_and_reported() {
    let keyed = Keyed::with(&["victim", "mimic"]);
    let _worker = keyed.lends("victim");
    let mut mimic = keyed.forger("mimic").await;
    let _beats = mimic.keeps_beating();
    let daemon = keyed.daemon(&["victim", "mimic"]).await;

    // On the victim's subjects nothing of it arrives.
    let gone = Forger::heartbeat(WorkerState::Gone);
    mimic.publishes(mimic.subjects.beat("victim"), RunId(1), &gone).await;
    mimic.is_refused(1).await;

    // It says on its own that it is the victim; here it even knows the victim's run, from the daemon's side.
    let spy = keyed.login("daemon").connect(keyed.nats.url()).await.expect("let in");
    let mut beats = spy.subscribe(mimic.subjects.beat("*")).await.expect("subscribed");
    let run = loop {
        let message = beats.next().await.expect("a beat");
        if let Some("victim") = mimic.subjects.sender(&message.subject) {
            let read = wire::decode::<Heartbeat>("victim", &message.payload, &mimic.identity.version);
            break read.expect("a heartbeat").0.run;
        }
    };
    for _ in 0..100 {
        mimic.publishes(mimic.subjects.beat("mimic"), run, &gone).await;
    }
    let words = ["sends messages in the name of victim", "worker=mimic"];
    keyed.log.says(&words).await;
    mimic.client.flush().await.expect("flushed");
    assert_eq!(keyed.log.lines(&words).len(), 1, "it is told once");
    assert!(daemon.cluster.workers().iter().any(|(name, _)| name == "victim"), "its departure is not believed");
}

#[testkit::test(needs(NATS_SERVER))]
async fn worker_key_opens_only_own_subjects() {
    let keyed = Keyed::with(&["neighbour", "snooper"]);
    let mut snooper = keyed.forger("snooper").await;
    let subjects = snooper.subjects.clone();
    let wanted = [
        subjects.to_worker("daemon", "neighbour"),
        subjects.to_worker("daemon", "*"),
        subjects.beat("neighbour"),
        "concilio.>".to_owned(),
    ];
    for subject in wanted {
        snooper.client.subscribe(subject).await.expect("sent");
    }
    let claimed = [
        subjects.to_worker("daemon", "neighbour"),
        subjects.call("daemon"),
        subjects.beat("neighbour"),
        subjects.to_daemon("neighbour", "daemon"),
    ];
    for subject in claimed {
        snooper.client.publish(subject, "x".into()).await.expect("sent");
    }
    snooper.is_refused(8).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn a_flood_of_runs_fills_no_log() {
    let keyed = Keyed::with(&["flooder"]);
    let flooder = keyed.forger("flooder").await;
    let begun = Instant::now();
    let beats = flooder.keeps_beating();
    let daemon = keyed.daemon(&["flooder"]).await;
    let heartbeat = Forger::heartbeat(WorkerState::Lending);
    for run in 0..20_000 {
        flooder.publishes(flooder.subjects.beat("flooder"), RunId(run), &heartbeat).await;
    }
    flooder.client.flush().await.expect("flushed");
    let flooded = Instant::now();
    let told = || !keyed.log.lines(&["two workers have this name", "worker=flooder"]).is_empty();
    // On a machine with much to do its own heartbeats may have been late, and the flood may have passed by without them.
    while !told() {
        assert!(flooded.elapsed() < PATIENCE, "two workers of one name are not reported");
        flooder.publishes(flooder.subjects.beat("flooder"), RunId(0), &heartbeat).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(beats);
    is_read_to_the_end(&flooder, &daemon).await;
    fills_no_log(&keyed, "flooder", begun);
}

#[testkit::test(needs(NATS_SERVER))]
async fn reconnecting_worker_fills_no_log() {
    let keyed = Keyed::with(&["flapper"]);
    let flapper = keyed.forger("flapper").await;
    let begun = Instant::now();
    let beats = flapper.keeps_beating();
    let daemon = keyed.daemon(&["flapper"]).await;
    for state in [WorkerState::Gone, WorkerState::Lending].into_iter().cycle().take(4_000) {
        let run = flapper.identity.sender.run;
        flapper.publishes(flapper.subjects.beat("flapper"), run, &Forger::heartbeat(state)).await;
    }
    drop(beats);
    is_read_to_the_end(&flapper, &daemon).await;
    let named = keyed.log.lines(&["connects and leaves repeatedly", "worker=flapper"]);
    assert!(!named.is_empty(), "it is named");
    fills_no_log(&keyed, "flapper", begun);
}

/// Waits until the daemon has read everything that a forger has said.
async fn is_read_to_the_end(forger: &Forger, daemon: &Target) {
    let last = Heartbeat { cores: 77, ..Forger::heartbeat(WorkerState::Lending) };
    let _beats = forger.keeps_saying(&last);
    let expected = [(forger.name().to_owned(), 77)];
    until("the last word is read", || daemon.cluster.workers() == expected).await;
}

/// Asserts that one name has at most twenty-one log lines a minute.
fn fills_no_log(keyed: &Keyed, name: &str, begun: Instant) {
    let lines = keyed.log.lines(&[name]);
    let minutes = usize::try_from(begun.elapsed().as_secs() / 60 + 1).expect("a short test");
    assert!(lines.len() <= 21 * minutes, "{} lines in {minutes} minutes: {lines:#?}", lines.len());
}

#[testkit::test(needs(NATS_SERVER))]
async fn two_namesakes_are_reported() {
    let keyed = Keyed::with(&["double"]);
    let _first = keyed.lends("double");
    let _daemon = keyed.daemon(&["double"]).await;
    let _second = keyed.lends("double");
    keyed.log.says(&["two workers have this name", "worker=double"]).await;
}

fn main() -> std::process::ExitCode {
    testkit::main()
}
