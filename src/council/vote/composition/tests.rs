//! Compositions of a council as machines come and go.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{sync::watch, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    electors::{
        ElectorKind, ElectorMaker, ElectorSpec, Fallback, Pool, RemotePool, RemoteSlot, Reports, SearchPriority, Slot,
        Task, local_slot,
    },
    vote::{Council, CouncilSettings, Question, Roster},
};
use domain::{CriterionName, Decision, Limits, Line, Proposal, Variant};
use engine::SharedTable;

/// The duration from which on a move is long enough for the remote machine.
const LONG: Duration = Duration::from_secs(1);

const TOO_LONG: Duration = Duration::from_secs(60);

/// A remote machine with a number of cores, in truth of this machine, for moves that are long
/// enough.
#[derive(Debug, Default)]
struct Lender {
    cores: AtomicUsize,
    arrivals: watch::Sender<u64>,
}

impl Lender {
    fn comes_with(&self, cores: usize) {
        self.cores.store(cores, Relaxed);
        self.arrivals.send_modify(|count| *count += 1);
    }
}

impl RemotePool for Lender {
    fn cores(&self, time: Option<Duration>) -> Vec<usize> {
        if time.is_none_or(|time| time >= LONG) { vec![self.cores.load(Relaxed)] } else { Vec::new() }
    }

    fn arrivals(&self) -> Option<watch::Receiver<u64>> {
        Some(self.arrivals.subscribe())
    }

    fn slot(&self, spec: &ElectorSpec, table: Option<&SharedTable>) -> Option<Box<dyn RemoteSlot>> {
        // What a function makes cannot leave this machine.
        spec.instance().map(|_| Box::new(LentSlot(local_slot(spec, table))) as _)
    }
}

#[derive(Debug)]
struct LentSlot(Box<dyn Slot>);

impl RemoteSlot for LentSlot {
    fn search(&mut self, task: &Task, reports: &Reports, _: Fallback) -> bool {
        self.0.search(task.clone(), reports);
        true
    }

    fn stop(&mut self) {
        self.0.stop();
    }

    fn new_game(&self) {
        self.0.new_game();
    }
}

fn council(lender: &Arc<Lender>, roster: &Roster, settings: &CouncilSettings) -> Council {
    let pool = Pool::with_remote(2, Some(Arc::clone(lender) as Arc<dyn RemotePool>));
    Council::new(&pool, roster, settings, Variant::Standard)
}

/// Decides within a node budget that ends long before the time does.
async fn decides(council: &mut Council, time: Option<Duration>) -> Decision {
    let limits = Limits { nodes: Some(300), ..Limits::default() };
    let timing = time.map(|time| Box::new(move |_: &_| time) as _);
    let line = Arc::new(Line::start(Variant::Standard));
    let question = Question { limits, timing, ..Question::new("g".into(), line) };
    council.decide(question, &CancellationToken::new(), &mut |_| {}).await.expect("a decision")
}

#[tokio::test]
async fn composition_follows_the_machines() {
    let (lender, settings) = (Arc::<Lender>::default(), CouncilSettings { hash: 1, ..CouncilSettings::default() });
    let roster = Roster::from_settings(&settings).expect("a roster");
    let mut council = council(&lender, &roster, &settings);
    for (lent, expected) in [(0, 2), (6, 8), (1, 3), (6, 8), (0, 2)] {
        lender.cores.store(lent, Relaxed);
        let decision = decides(&mut council, None).await;
        assert_eq!(council.electors().len(), expected);
        let electors = decision.votes_cast().count();
        assert_eq!(electors, expected, "all of them vote: {:?}", decision.votes);
    }
}

#[tokio::test]
async fn short_moves_skip_distant_machines() {
    let (lender, settings) = (Arc::<Lender>::default(), CouncilSettings { hash: 1, ..CouncilSettings::default() });
    lender.cores.store(6, Relaxed);
    let roster = Roster::from_settings(&settings).expect("a roster");
    let mut council = council(&lender, &roster, &settings);
    for (time, expected) in [(Duration::from_millis(200), 2), (LONG * 60, 8)] {
        decides(&mut council, Some(time)).await;
        assert_eq!(council.electors().len(), expected);
    }
}

/// Copies for new machines and the second phase, too.
#[tokio::test]
async fn background_council_gives_way() {
    let settings = CouncilSettings { hash: 1, criterion: CriterionName::ReSearch, ..CouncilSettings::default() };
    let lender = Arc::<Lender>::default();
    let roster = Roster::from_settings(&settings).expect("a roster").in_background();
    let mut council = council(&lender, &roster, &settings);
    lender.cores.store(6, Relaxed);
    decides(&mut council, None).await;
    council.composition.compose_second_phase(2);
    let specs: Vec<_> = council.composition.searchers.iter().map(|searcher| &searcher.role.spec).collect();
    assert!(specs.len() > 8 && specs.iter().all(|spec| spec.priority == SearchPriority::Background), "{specs:?}");
}

/// Decides within `time`, while a machine with two cores comes after the first proposal; at once
/// after `electors` proposals. Returns the voters.
async fn decides_while_a_machine_comes(time: Duration, electors: usize, criterion: CriterionName) -> BTreeSet<String> {
    let lender = Arc::<Lender>::default();
    let settings = CouncilSettings { hash: 1, criterion, advisers: String::new(), ..CouncilSettings::default() };
    let roster = Roster::from_settings(&settings).expect("a roster");
    let mut council = council(&lender, &roster, &settings);
    let line = Arc::new(Line::start(Variant::Standard));
    let question = Question { timing: Some(Box::new(move |_| time)), ..Question::new("g".into(), line) };
    let (answer_now, mut heard) = (question.answer_now.clone(), BTreeSet::new());
    let mut watch = |proposal: &Proposal| {
        if heard.is_empty() {
            lender.comes_with(2);
        }
        heard.insert(proposal.elector.to_string());
        if heard.len() == electors {
            answer_now.cancel();
        }
    };
    let never = CancellationToken::new();
    let decided = timeout(TOO_LONG, council.decide(question, &never, &mut watch)).await;
    let votes = decided.expect("in time").expect("a decision").votes;
    votes.iter().map(|vote| vote.proposal.elector.to_string()).collect()
}

#[tokio::test]
async fn late_machine_votes_too() {
    for criterion in [CriterionName::ScoreMargin, CriterionName::ReSearch] {
        let voters = decides_while_a_machine_comes(TOO_LONG * 2, 4, criterion).await;
        let names: Vec<String> = (1..=4).map(|number| format!("learned-{number}")).collect();
        assert!(voters.iter().eq(&names), "{voters:?}");
    }
}

#[tokio::test]
async fn late_machine_is_skipped_if_too_slow() {
    let voters = decides_while_a_machine_comes(LONG / 4, usize::MAX, CriterionName::ScoreMargin).await;
    assert!(voters.iter().all(|voter| ["learned-1", "learned-2"].contains(&voter.as_str())), "{voters:?}");
}

#[tokio::test]
async fn unchanged_elector_keeps_its_engine() {
    let started = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&started);
    let make = ElectorMaker::new(move |_| {
        counted.fetch_add(1, Relaxed);
        ElectorSpec::new("first".into(), ElectorKind::Trivial, 0).start()
    });
    let roster = Roster::of(vec![ElectorSpec::new("made".into(), ElectorKind::Made(make), 1)]);
    let lender = Arc::<Lender>::default();
    let mut council = council(&lender, &roster, &CouncilSettings { hash: 1, ..CouncilSettings::default() });
    for lent in [0, 6, 1, 0] {
        lender.cores.store(lent, Relaxed);
        decides(&mut council, None).await;
    }
    assert_eq!(started.load(Relaxed), 1);
}
