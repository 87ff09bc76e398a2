//! Tests of the council with scripted electors.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    Council, CouncilSettings, CriterionName, GroupMode, Pondering, Progress, Question, Roster, SecondPhaseMode,
    searcher::search_id,
};
use crate::electors::{
    Elector, ElectorFailure, ElectorKind, ElectorMaker, ElectorResult, ElectorSpec, Fallback, Pool, RemotePool,
    RemoteSlot, Reports, Task, VirtualMachines,
};
use domain::{Decision, ElectorName, Limits, Line, Phase, Proposal, Score, Source, UciMove, Variant, Vote};

pub(super) const TOO_LONG: Duration = Duration::from_secs(60);

#[derive(Clone, Copy)]
pub(super) struct Fake {
    /// Move, centipawns and depth in plies of its proposal.
    pub says: Option<(&'static str, i32, u32)>,
    pub then: Then,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Then {
    Finish,
    /// Searches until it is told to stop.
    Search,
    /// Does not even stop when it is told to.
    Hang,
    Fail,
}

impl Elector for Fake {
    fn search(&mut self, task: &Task, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> ElectorResult {
        if let Some((best, score, depth)) = self.says {
            let proposal = proposed("fake".into(), best.parse().expect("a move"), Score::Cp(score), depth);
            report(Proposal { search: task.id.clone(), ..proposal });
        }
        match self.then {
            Then::Finish => Ok(()),
            Then::Fail => Err(ElectorFailure("as it was told to".to_owned())),
            Then::Search | Then::Hang => {
                while self.then == Then::Hang || !stop.load(Relaxed) {
                    std::thread::park_timeout(Duration::from_millis(1));
                }
                Ok(())
            }
        }
    }
}

/// A roster of scripted electors, named `fake-0` and so on.
pub(super) fn roster(fakes: &[Fake]) -> Roster {
    let electors = fakes.iter().enumerate().map(|(number, fake)| {
        let fake = *fake;
        let make = ElectorMaker::new(move |_| Ok(Box::new(fake)));
        ElectorSpec::new(format!("fake-{number}").into(), ElectorKind::Made(make), 1)
    });
    Roster::of(electors.collect())
}

fn council(fakes: &[Fake], criterion: CriterionName) -> Council {
    let settings = CouncilSettings { criterion, hash: 1, ..CouncilSettings::default() };
    Council::new(&Pool::new(1), &roster(fakes), &settings, Variant::Standard)
}

fn council_of(pool: &Pool, settings: &CouncilSettings) -> Council {
    Council::new(pool, &Roster::from_settings(settings).expect("a roster"), settings, Variant::Standard)
}

fn question() -> Question {
    Question::new("g".into(), Arc::new(Line::start(Variant::Standard)))
}

fn within(nodes: u64) -> Question {
    Question { limits: Limits { nodes: Some(nodes), ..Limits::default() }, ..question() }
}

/// Black's queen can be taken by a move that is far from the first legal one.
fn queen_hangs() -> Question {
    let fen = "6k1/5ppp/8/3q4/8/P1N5/1P3PPP/6K1 w - - 0 1";
    Question::new("g".into(), Arc::new(Line::from_fen(Variant::Standard, fen).expect("a position")))
}

#[track_caller]
fn assert_searched(decision: &Decision) {
    assert_eq!((decision.best.to_string().as_str(), decision.source), ("c3d5", Source::Fallback));
    assert!(decision.score > Some(Score::Cp(0)), "{:?}", decision.score);
    assert!(decision.votes.is_empty() && decision.chosen_by() == "fallback");
}

pub(super) async fn decide(council: &mut Council, question: Question) -> Decision {
    let (never, mut ignore) = (CancellationToken::new(), |_: &Proposal| {});
    let decided = council.decide(question, &never, &mut ignore);
    timeout(TOO_LONG, decided).await.expect("in time").expect("a decision")
}

/// Time is up as soon as anybody has said anything.
fn hurried(question: Question) -> Question {
    Question {
        timing: Some(Box::new(|progress| if progress.proposals > 1 { Duration::ZERO } else { TOO_LONG })),
        ..question
    }
}

/// Settings of a roster with tables of 1 MiB.
pub(crate) fn settings(roster: &str) -> CouncilSettings {
    CouncilSettings { roster: roster.to_owned(), hash: 1, ..CouncilSettings::default() }
}

pub(super) fn electors(roster: &str) -> Vec<ElectorSpec> {
    Roster::<Line>::from_settings(&settings(roster)).expect("a roster").electors().to_vec()
}

pub(crate) fn proposed(elector: ElectorName, best: UciMove, score: Score, depth: u32) -> Proposal {
    let search = search_id(&"g".into(), &Line::start(Variant::Standard), Phase::First);
    Proposal { depth, selective_depth: depth, ..Proposal::of_one_ply(search, elector, best, score) }
}

const fn says(best: &'static str, score: i32, then: Then) -> Fake {
    Fake { says: Some((best, score, 5)), then }
}

/// A machine that takes every search, says that it goes on, and proposes nothing.
#[derive(Debug, Default)]
struct Silent(Arc<std::sync::Mutex<Vec<Fallback>>>);

impl RemotePool for Silent {
    fn cores(&self, _: Option<Duration>) -> Vec<usize> {
        vec![4]
    }

    fn slot(&self, _: &ElectorSpec, _: Option<&engine::SharedTable>) -> Option<Box<dyn RemoteSlot>> {
        Some(Box::new(Silent(Arc::clone(&self.0))))
    }
}

impl RemoteSlot for Silent {
    fn search(&mut self, task: &Task, _: &Reports, fallback: Fallback) -> bool {
        self.0.lock().expect("alone").push(fallback);
        let state = Arc::downgrade(&task.state);
        std::thread::spawn(move || {
            for nodes in 1.. {
                let Some(state) = state.upgrade() else { return };
                state.count(nodes);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        true
    }

    fn stop(&mut self) {}

    fn new_game(&self) {}
}

#[tokio::test]
async fn silent_remote_search_ends_a_question() {
    let pool = Pool::with_remote(1, Some(Arc::new(Silent::default())));
    let mut council = council_of(&pool, &settings("mp ma"));
    let decision = decide(&mut council, within(2_000)).await;
    assert_eq!((decision.votes.len(), decision.source), (1, Source::Council));
}

#[tokio::test]
async fn hanging_elector_costs_only_its_vote() {
    let silent = Fake { says: None, then: Then::Hang };
    let mut council =
        council(&[silent, says("e2e4", 0, Then::Search), says("e2e4", 0, Then::Search)], CriterionName::Majority);
    for _ in 0..2 {
        let decision = decide(&mut council, hurried(question())).await;
        assert_eq!((decision.best.to_string().as_str(), decision.votes.len()), ("e2e4", 2));
    }
}

#[tokio::test]
async fn failing_electors_cost_no_move() {
    let broken = Fake { says: None, then: Then::Fail };
    let mut some = council(&[broken, says("d2d4", 0, Then::Finish)], CriterionName::Weights);
    assert_eq!(decide(&mut some, question()).await.best.to_string(), "d2d4");
    for criterion in CriterionName::ALL {
        let mut none = council(&[broken, broken], criterion);
        assert_searched(&decide(&mut none, queen_hangs()).await);
    }
}

#[tokio::test]
async fn immediate_answer_uses_the_proposals() {
    let mut council =
        council(&[says("e2e4", 10, Then::Search), says("d2d4", 20, Then::Search)], CriterionName::Optimistic);
    let question = question();
    let answer_now = question.answer_now.clone();
    let mut heard = 0;
    let decided = council
        .decide(question, &CancellationToken::new(), &mut |_| {
            heard += 1;
            if heard == 2 {
                answer_now.cancel();
            }
        })
        .await;
    assert_eq!(decided.expect("a decision").best.to_string(), "d2d4");
}

#[tokio::test]
async fn answer_without_proposals_is_searched() {
    let mut council = council(&[Fake { says: None, then: Then::Hang }], CriterionName::ReSearch);
    let question = queen_hangs();
    question.answer_now.cancel();
    assert_searched(&decide(&mut council, question).await);
}

/// Promise 3.
#[tokio::test]
async fn all_electors_hung_still_yields_a_move() {
    let hung = Fake { says: None, then: Then::Hang };
    let mut council = council(&[hung, hung], CriterionName::ScoreMargin);
    let shown = Arc::new(AtomicBool::new(false));
    let leads = Arc::clone(&shown);
    let timing = move |progress: &Progress| {
        leads.fetch_or(progress.leader.is_some_and(|leader| leader.to_string() == "c3d5"), Relaxed);
        Duration::from_millis(1)
    };
    let question = Question { timing: Some(Box::new(timing)), ..queen_hangs() };
    let mut proposed = Vec::new();
    let decision =
        council.decide(question, &CancellationToken::new(), &mut |proposal| proposed.push(proposal.best)).await;
    assert_searched(&decision.expect("a decision"));
    assert!(shown.load(Relaxed) && !proposed.is_empty(), "it is shown like any other proposal");
}

#[tokio::test]
async fn cancelled_question_has_no_answer() {
    let mut council = council(&[says("e2e4", 10, Then::Search)], CriterionName::Majority);
    let cancelled = CancellationToken::new();
    let mut cancel = |_: &Proposal| cancelled.cancel();
    let decided = council.decide(question(), &cancelled, &mut cancel);
    assert_eq!(timeout(TOO_LONG, decided).await.expect("in time"), None);
}

#[tokio::test]
async fn irrelevant_votes_are_not_awaited() {
    let mut council = council(
        &[says("e2e4", 0, Then::Finish), says("e2e4", 0, Then::Finish), says("d2d4", 0, Then::Search)],
        CriterionName::Majority,
    );
    // No timing and no limits: were the third one waited for, this would not end.
    assert_eq!(decide(&mut council, question()).await.best.to_string(), "e2e4");
}

#[tokio::test]
async fn ponder_hit_starts_the_clock() {
    let mut council = council(&[says("e2e4", 0, Then::Search)], CriterionName::Majority);
    let hit = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&hit);
    let question = Question {
        timing: Some(Box::new(move |_| if seen.load(Relaxed) { Duration::ZERO } else { Duration::MAX })),
        ..question()
    };
    let reconsider = Arc::clone(&question.reconsider);
    let decided = council
        .decide(question, &CancellationToken::new(), &mut |_| {
            hit.store(true, Relaxed);
            reconsider.notify_one();
        })
        .await;
    assert_eq!(decided.expect("a decision").best.to_string(), "e2e4");
}

#[tokio::test]
async fn decision_is_about_the_played_reply() {
    let after = |moves: &str| {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal");
        Arc::new(line)
    };
    let (expected, other, third) = (after("e2e4 e7e5"), after("e2e4 c7c5"), after("e2e4 a7a6"));
    let settings = CouncilSettings { criterion: CriterionName::Majority, ..settings("mp ma mc") };
    let mut council = council_of(&Pool::new(1), &settings);
    let question = Question { line: Arc::clone(&expected), ..within(3_000) };
    let pondering = Pondering::new(vec![expected, Arc::clone(&other)], Arc::clone(&question.reconsider));
    let question = Question { pondering: Some(pondering.clone()), ..question };
    assert!(!pondering.settle(&third), "a miss is for the caller to cancel");
    assert!(pondering.settle(&other));
    let decision = decide(&mut council, question).await;
    assert_eq!(pondering.decided(), Some(&other));
    assert!(other.is_legal(decision.best));
    assert_eq!(decision.votes.len(), 3);
    assert!(decision.votes.iter().all(|vote| vote.proposal.search.ply == 2 && other.is_legal(vote.proposal.best)));
}

#[tokio::test]
async fn second_phases_elect_given_moves() {
    // Black's queen hangs; the specialists disagree about much else.
    let fen = "r1b1kbnr/pppp1ppp/2n5/4p1q1/4P3/3P1N2/PPP2PPP/RNBQKB1R w KQkq - 1 4";
    for second_phase in SecondPhaseMode::ALL {
        let criterion = CriterionName::ReSearch;
        let settings = CouncilSettings { criterion, second_phase, cores: 3, ..settings("x r k") };
        let mut council = council_of(&Pool::new(1), &settings);
        let line = Arc::new(Line::from_fen(Variant::Standard, fen).expect("a position"));
        let question = Question { line: Arc::clone(&line), ..within(12_000) };
        let decision = decide(&mut council, question).await;
        assert!(line.is_legal(decision.best), "{second_phase:?}");
        assert_eq!(decision.votes.len(), 3);
        if let Some(second) = &decision.second_phase {
            assert_eq!(second.mode, second_phase);
            let proposed = decision.votes.iter().any(|vote| vote.proposal.best == decision.best);
            assert!(proposed || second_phase == SecondPhaseMode::Continued, "{second_phase:?}");
        }
        assert!(decision.nodes() > 10_000, "{second_phase:?}: {:?}", decision.processes);
        council.new_game();
    }
}

#[tokio::test]
async fn nodes_and_seed_fix_the_decision() {
    let settings = CouncilSettings { hash: 1, ..CouncilSettings::preset("gnupar").expect("a preset") };
    let mut council = council_of(&Pool::new(1), &settings);
    let mut decisions = Vec::new();
    for _ in 0..2 {
        council.new_game();
        let decision = decide(&mut council, within(5_000)).await;
        let votes: Vec<_> = decision.votes.iter().map(|vote| (vote.proposal.best, vote.proposal.score)).collect();
        decisions.push((decision.best, decision.score, votes));
    }
    assert_eq!(decisions[0], decisions[1]);
}

#[tokio::test]
async fn shared_table_is_reproducible_in_step() {
    let criterion = CriterionName::ReSearch;
    let usual = CouncilSettings { criterion, hash: 1, cores: 3, split: 0.5, ..CouncilSettings::default() };
    let copies =
        CouncilSettings { roster: "complete-3".to_owned(), criterion: CriterionName::ScoreMargin, ..usual.clone() };
    let second = |second_phase| CouncilSettings { second_phase, roster: "mp ma mx".to_owned(), ..usual.clone() };
    for settings in [copies, second(SecondPhaseMode::Shared), second(SecondPhaseMode::PeerScore)] {
        let mut decisions = Vec::new();
        for _ in 0..2 {
            let mut council = council_of(&Pool::new(3), &settings);
            let decision = decide(&mut council, Question { in_step: true, ..within(6_000) }).await;
            let votes: Vec<_> = decision.votes.iter().map(|vote| (vote.proposal.best, vote.proposal.score)).collect();
            decisions.push((decision.best, decision.score, decision.nodes(), votes));
        }
        assert_eq!(decisions[0], decisions[1], "{} {}", settings.roster, settings.second_phase.word());
    }
}

#[tokio::test]
async fn equal_time_gives_fast_electors_nodes() {
    let settings = settings("mp mbxkcpar");
    let roster = Roster::from_settings(&settings).expect("a roster");
    let roster = roster.at_speeds(&|elector| if elector.name.as_str() == "mp" { 2.0 } else { 1.0 });
    let mut council = Council::new(&Pool::new(2), &roster, &settings, Variant::Standard);
    let decision = decide(&mut council, Question { in_step: true, ..within(4_000) }).await;
    let [fast, whole] = [0, 1].map(|number: usize| decision.processes[number].nodes);
    assert!(fast.abs_diff(8_000) < 600 && whole.abs_diff(4_000) < 300, "{fast} and {whole}");
}

/// Copies that share a table begin a game together: none of them forgets what another has found in it already.
#[tokio::test]
async fn games_are_reproducible_in_step() {
    let criterion = CriterionName::ScoreMargin;
    let settings = CouncilSettings { criterion, hash: 4, ..settings("complete-4") };
    let mut council = council_of(&Pool::new(4), &settings);
    let mut games = Vec::new();
    for _ in 0..8 {
        let decision = decide(&mut council, Question { in_step: true, ..within(2_000) }).await;
        games.push(decision.votes.iter().map(|vote| vote.proposal.pv.clone()).collect::<Vec<_>>());
        council.new_game();
    }
    assert!(games.iter().all(|game| *game == games[0]), "{games:?}");
}

/// Two machines of two copies each, with a way of 64 nodes between their tables.
#[tokio::test]
async fn machines_are_reproducible_in_step() {
    let criterion = CriterionName::ScoreMargin;
    let settings = CouncilSettings { criterion, hash: 4, ..settings("complete-4") };
    let mut votes = Vec::new();
    for entries in [0, 32, 0, 32] {
        let machines = VirtualMachines { count: 2, entries, interval: 64, delay: 64 };
        let pool = Pool::new(4).standing_for(machines);
        let mut council = council_of(&pool, &settings);
        let decision = decide(&mut council, Question { in_step: true, ..within(6_000) }).await;
        let said =
            |vote: &Vote| (vote.proposal.best, vote.proposal.score, vote.proposal.depth, vote.proposal.pv.clone());
        votes.push(decision.votes.iter().map(said).collect::<Vec<_>>());
    }
    let (first, second) = votes.split_at(2);
    assert_eq!(first, second);
    assert_ne!(first[0][..2], first[0][2..], "one machine does not repeat what the other does");
    assert_ne!(first[0], first[1], "entries that were heard change a search");
}

/// Whatever the members of a group do among themselves, each elector has one voice, and all processes work.
#[tokio::test]
async fn group_has_one_vote_in_every_mode() {
    for groups in GroupMode::ALL {
        // Of two, the second can always bring about a tie: it is waited for.
        let criterion = CriterionName::Majority;
        let settings = CouncilSettings { criterion, groups, cores: 6, ..settings("mp mbxkcpar") };
        let mut council = council_of(&Pool::new(6), &settings);
        for in_step in [true, false] {
            let decision = decide(&mut council, Question { in_step, ..within(6_000) }).await;
            assert_eq!(decision.votes.len(), 2, "{groups:?}");
            assert!(decision.votes.iter().all(|vote| vote.proposal.depth >= 4), "{groups:?}: {:?}", decision.votes);
            let expected = if groups == GroupMode::None { 2 } else { 6 };
            let busy = decision.processes.iter().filter(|process| process.nodes > 0).count();
            assert_eq!(busy, expected, "{groups:?}: {:?}", decision.processes);
        }
    }
}

/// Advisers are heard and seen, and the electors decide; the whole can be repeated, and costs the nodes that it may.
#[tokio::test]
async fn advisers_do_not_vote() {
    let settings = CouncilSettings { advisers: "mp mbxk".to_owned(), hash: 4, ..settings("complete-2") };
    let mut decisions = Vec::new();
    for _ in 0..2 {
        let mut council = council_of(&Pool::new(2), &settings);
        let decision = decide(&mut council, Question { in_step: true, ..within(30_000) }).await;
        let votes: Vec<_> =
            decision.votes.iter().map(|v| (v.proposal.elector.to_string(), v.weight.is_some())).collect();
        let names: Vec<&str> = votes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["complete-1", "complete-2", "mp", "mbxk"]);
        assert!(votes.iter().all(|(name, weighs)| *weighs == name.starts_with("complete")), "{votes:?}");
        assert!((57_000..=63_000).contains(&decision.nodes()), "{} nodes", decision.nodes());
        decisions.push((decision.best, decision.score, decision.nodes()));
    }
    assert_eq!(decisions[0], decisions[1]);
}

async fn decide_with_adviser(time: Duration) -> Decision {
    let settings = CouncilSettings { advisers: "mp".to_owned(), hash: 4, ..settings("complete-1") };
    let mut council = council_of(&Pool::new(1), &settings);
    decide(&mut council, Question { timing: Some(Box::new(move |_| time)), ..question() }).await
}

/// A turn on a core for an adviser would be more than its part of such a move.
#[tokio::test]
async fn a_short_move_has_no_advisers() {
    let decision = decide_with_adviser(Duration::from_millis(100)).await;
    assert!(decision.votes.iter().all(|vote| vote.proposal.elector.as_str() != "mp"), "{:?}", decision.votes);
}

/// By the clock they have their part of the move, and then the cores are the electors'.
#[tokio::test]
async fn advisers_stop_before_the_electors() {
    let begun = Instant::now();
    // Where the machine lets an adviser wait for a core until its part is over, it has nothing to say.
    let decision = loop {
        let decision = decide_with_adviser(Duration::from_millis(600)).await;
        if decision.votes.len() == 2 {
            break decision;
        }
        assert!(begun.elapsed() < TOO_LONG, "{:?}", decision.votes);
    };
    let busy = |name: &str| {
        let process = decision.processes.iter().find(|process| process.elector.as_str() == name);
        process.map_or(Duration::ZERO, |process| process.busy)
    };
    assert!(busy("mp") < busy("complete-1"), "{:?}", decision.processes);
}

/// An adviser that searches until it is told to stop, and an elector that says nothing before that.
struct Relay {
    advised: Arc<AtomicBool>,
    advises: bool,
}

impl Elector for Relay {
    fn search(&mut self, task: &Task, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> ElectorResult {
        while !stop.load(Relaxed) && (self.advises || !self.advised.load(Relaxed)) {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        if self.advises {
            self.advised.store(true, Relaxed);
            return Ok(());
        }
        says("e2e4", 10, Then::Finish).search(task, stop, report)
    }
}

/// The time of advisers ends with the first phase, which lasts until the first proposal.
#[tokio::test]
async fn first_proposal_outlasts_adviser_time() {
    for _ in 0..8 {
        let advised = Arc::<AtomicBool>::default();
        let make = |name: &str, advises| {
            let advised = Arc::clone(&advised);
            let maker = ElectorMaker::new(move |_| Ok(Box::new(Relay { advised: Arc::clone(&advised), advises })));
            ElectorSpec::new(name.into(), ElectorKind::Made(maker), 1)
        };
        let (adviser, late) = (make("adviser", true), make("late", false));
        let criterion = CriterionName::ReSearch;
        let settings = CouncilSettings { criterion, split: 0.01, advice: 0.5, hash: 1, ..CouncilSettings::default() };
        let roster: Roster = Roster::of(vec![late]).advised_by(vec![adviser]);
        let mut council = Council::new(&Pool::new(1), &roster, &settings, Variant::Standard);
        let timing = |_: &Progress| TOO_LONG / 6;
        let decision = decide(&mut council, Question { timing: Some(Box::new(timing)), ..question() }).await;
        assert_eq!((decision.best.to_string().as_str(), decision.source), ("e2e4", Source::Council));
    }
}

#[test]
fn memory_counts_every_table() {
    let settings = CouncilSettings { hash: 1000, ..settings("mp ma") };
    let peers = CouncilSettings { groups: GroupMode::Peer, ..settings.clone() };
    let threads = CouncilSettings { groups: GroupMode::Shared, ..settings.clone() };
    let (criterion, second_phase) = (CriterionName::ReSearch, SecondPhaseMode::Static);
    let divided = CouncilSettings { criterion, second_phase, groups: GroupMode::None, ..settings };
    // Of 60 MiB a council has 30 at most: for six tables, for two, and for two and six more of the second phase.
    for (settings, hash) in [(peers, 5), (threads, 15), (divided, 3)] {
        let council = council_of(&Pool::new(6).limited_to(60), &settings);
        assert!(council.electors().iter().all(|elector| elector.hash == hash), "{:?}", council.electors());
    }
}

#[tokio::test]
async fn short_memory_shrinks_the_tables() {
    let settings = CouncilSettings { hash: 1000, ..settings("mp ma mx") };
    let mut council = council_of(&Pool::new(1).limited_to(60), &settings);
    assert_eq!(council.electors().iter().map(|elector| elector.hash).collect::<Vec<_>>(), [10, 10, 10]);
    assert_eq!(decide(&mut council, within(500)).await.votes.len(), 3);
}
