//! Tests of every event of a search on a worker.

use tokio::sync::mpsc;

use super::*;
use crate::{
    verification::values::AT_ONCE,
    wire::{ProposalText, RemoteElectorKind},
};
use domain::{Bound, GameId, Line, Phase, Score, SearchId, Variant};
use engine::IN_FULL;

const ANN: RunId = RunId(1);
const BOB: RunId = RunId(2);
const LAG: Duration = Duration::from_millis(240);

struct Setting {
    in_flight: InFlight,
    inbox: mpsc::UnboundedReceiver<SearchReport>,
    sent: Instant,
}

fn id(serial: u64) -> SearchId {
    SearchId { game: GameId::new("g"), ply: 0, serial, phase: Phase::First }
}

fn setting() -> Setting {
    let (reports, inbox) = mpsc::unbounded_channel();
    let line = Arc::new(Line::start(Variant::Standard));
    let task = Task::new(id(1), line);
    let (mut in_flight, sent) = (InFlight::default(), Instant::now());
    in_flight.add(RemoteSearch {
        worker: ANN,
        machine: "ann".into(),
        lag: LAG,
        threads: 2,
        measures: true,
        values_men: true,
        table: None,
        elector: "mp".into(),
        progress: ClaimProgress::new(&task),
        task,
        reports,
        fallback: Fallback::new(|_, _| {}),
        sent,
    });
    Setting { in_flight, inbox, sent }
}

impl Setting {
    /// Verifies all waiting moves with this value; returns the workers with untrue claims.
    fn verifies(&mut self, finds: Score) -> Vec<Caught> {
        let mut caught = Vec::new();
        while let NextSearch::Now(next) = self.in_flight.next_search(self.sent) {
            caught.extend(self.finds(&next, finds));
        }
        caught
    }

    fn finds(&mut self, next: &HomeSearch, score: Score) -> Vec<Caught> {
        let value = HomeValue::none(next.length).after(score, 8);
        self.in_flight.verified(self.sent, next, value, Duration::ZERO)
    }

    fn next(&mut self) -> NextSearch {
        self.in_flight.next_search(self.sent)
    }

    fn hears(&mut self, kind: SearchEventKind) -> EventOutcome {
        self.in_flight.on_event(self.sent, ANN, event(1, kind))
    }

    fn search(&mut self) -> &mut RemoteSearch {
        self.in_flight.searches.get_mut(&1).expect("it runs")
    }

    fn says(&mut self, moves: &str, score: Score) -> EventOutcome {
        self.says_at(self.sent, moves, score)
    }

    fn says_at(&mut self, now: Instant, moves: &str, score: Score) -> EventOutcome {
        self.in_flight.on_event(now, ANN, event(1, SearchEventKind::Proposal(ProposalText { score, ..text(moves) })))
    }

    /// Returns the scores passed on since the last call.
    fn heard(&mut self) -> Vec<Score> {
        std::iter::from_fn(|| self.inbox.try_recv().ok()).filter_map(|report| Some(report.proposal()?.score)).collect()
    }
}

fn event(serial: u64, kind: SearchEventKind) -> SearchEvent {
    SearchEvent { search: id(serial), elector: "mp".into(), kind }
}

fn text(moves: &str) -> ProposalText {
    ProposalText {
        moves: moves.to_owned(),
        score: Score::Cp(0),
        bound: Bound::Exact,
        depth: 1,
        selective_depth: 1,
        root_moves_done: 0,
        nodes: 20,
        microseconds: 5,
    }
}

fn proposal(moves: &str) -> SearchEventKind {
    SearchEventKind::Proposal(text(moves))
}

#[test]
fn only_the_assigned_worker_counts() {
    let mut setting = setting();
    let mut other = event(1, proposal("e2e4"));
    other.elector = "ma".into();
    for (from, sent) in [(BOB, event(1, proposal("e2e4"))), (ANN, event(2, proposal("e2e4"))), (ANN, other)] {
        assert!(matches!(setting.in_flight.on_event(setting.sent, from, sent), EventOutcome::Nothing));
    }
    assert!(setting.inbox.try_recv().is_err(), "none of it is passed on");
    setting.hears(proposal("e2e4"));
    assert!(setting.inbox.try_recv().is_err(), "its move is looked at first");
    assert_eq!(setting.verifies(Score::Cp(0)), []);
    let Ok(SearchReport::Proposal(proposal)) = setting.inbox.try_recv() else { panic!("this one is") };
    assert_eq!(proposal.machine, Some("ann".into()));
}

#[test]
fn invalid_proposal_ends_the_search() {
    let mut setting = setting();
    assert!(matches!(setting.hears(proposal("e2e5")), EventOutcome::Invalid(..)));
    assert!(matches!(setting.hears(proposal("e2e4")), EventOutcome::Nothing));
    assert!(setting.in_flight.threads().is_empty());
}

#[test]
fn proposals_are_rate_limited() {
    let mut setting = setting();
    let flood = |setting: &mut Setting, now: Instant| {
        for turn in 0..1000 {
            setting.says_at(now, ["e2e4", "d2d4"][turn % 2], Score::Cp(0));
            setting.verifies(Score::Cp(0));
        }
        setting.heard().len()
    };
    let sent = setting.sent;
    assert_eq!(flood(&mut setting, sent), 256);
    assert_eq!(flood(&mut setting, sent + Duration::from_secs(1)), 0, "what was said too much counts");
    assert_eq!(flood(&mut setting, sent + Duration::from_secs(20)), 256);
}

#[test]
fn a_search_ends_once() {
    let mut setting = setting();
    assert!(matches!(setting.hears(SearchEventKind::Finished(500)), EventOutcome::Worked(_)));
    assert!(matches!(setting.hears(SearchEventKind::Finished(500)), EventOutcome::Nothing));
    assert!(setting.in_flight.stop(setting.sent, 1).is_none());
    assert!(matches!(setting.inbox.try_recv(), Ok(SearchReport::Finished(..))));
    assert!(setting.inbox.try_recv().is_err());
}

#[test]
fn stopped_search_sends_nothing_more() {
    let mut setting = setting();
    let ended = EndedSearch { worker: ANN, conduct: Conduct::Unknown, sample: None };
    assert_eq!(setting.in_flight.stop(setting.sent, 1), Some(ended));
    assert!(matches!(setting.inbox.try_recv(), Ok(SearchReport::Finished(..))));
    setting.hears(proposal("e2e4"));
    assert!(setting.inbox.try_recv().is_err());
}

#[test]
fn speed_is_measured_by_our_clock() {
    for foreign in [false, true] {
        let mut setting = setting();
        setting.search().measures = !foreign;
        let said = SearchEventKind::Proposal(ProposalText { nodes: 60_000, ..text("e2e4") });
        let later = setting.sent + LAG + Duration::from_millis(100);
        setting.in_flight.on_event(later, ANN, event(1, said));
        let sample = SpeedSample { nodes: 60_000, time: Duration::from_millis(100), threads: 2 };
        let stopped = setting.in_flight.stop(later, 1).expect("it runs");
        assert_eq!((stopped.conduct, stopped.sample), (Conduct::Unknown, (!foreign).then_some(sample)));
    }
}

#[test]
fn lost_workers_proposals_stand() {
    let mut setting = setting();
    setting.hears(proposal("e2e4"));
    setting.verifies(Score::Cp(0));
    assert!(setting.in_flight.lost(BOB).is_empty());
    setting.in_flight.lost(ANN).into_iter().for_each(|search| search.lose("is lost"));
    assert!(matches!(setting.inbox.try_recv(), Ok(SearchReport::Proposal(_))));
    let Ok(SearchReport::Failed(_, _, why)) = setting.inbox.try_recv() else { panic!("it has failed") };
    assert!(why.contains("ann is lost"), "{why}");
}

#[test]
fn lost_command_is_noticed() {
    let mut setting = setting();
    assert!(setting.in_flight.compare(setting.sent, ANN, &[]).is_empty(), "it may still be on its way");
    let way = setting.sent + ARRIVED_AFTER + LAG / 2;
    assert!(setting.in_flight.compare(way, ANN, &[]).is_empty(), "from far away it comes later");
    let later = setting.sent + ARRIVED_AFTER + LAG;
    let searching = (BOB, SearchStatus { search: id(1), elector: "mp".into(), threads: 2, nodes: 77 });
    assert!(setting.in_flight.compare(later, ANN, &[searching]).is_empty());
    assert!(setting.in_flight.compare(later, BOB, &[]).is_empty());
    assert_eq!(setting.in_flight.compare(later, ANN, &[]).len(), 1);
}

#[test]
fn end_follows_the_last_proposal() {
    let mut setting = setting();
    setting.says("e2e4 e7e5", Score::Cp(10));
    assert!(matches!(setting.hears(SearchEventKind::Finished(500)), EventOutcome::Worked(_)));
    assert!(setting.inbox.try_recv().is_err());
    assert!(setting.in_flight.compare(setting.sent + ARRIVED_AFTER + LAG, ANN, &[]).is_empty(), "it is over there");
    setting.verifies(Score::Cp(0));
    assert!(matches!(setting.inbox.try_recv(), Ok(SearchReport::Proposal(_))));
    assert!(matches!(setting.inbox.try_recv(), Ok(SearchReport::Finished(..))));
}

#[test]
fn false_score_is_cut_and_caught() {
    let mut setting = setting();
    setting.says("a2a3", Score::Cp(10_000));
    let caught = setting.verifies(Score::Cp(20));
    assert_eq!(setting.heard(), [Score::Cp(230)], "no more than honest searches differ");
    assert_eq!(
        caught.iter().map(|caught| (caught.worker, caught.claim.score)).collect::<Vec<_>>(),
        [(ANN, Score::Cp(10_000))]
    );
    setting.says("a2a3", Score::Cp(9_000));
    assert_eq!(setting.heard(), [], "the same lie once more changes nothing");
}

#[test]
fn false_mate_is_cut_and_caught() {
    for moves in ["e2e4", "e2e4 f7f6 d2d4 g7g5 d1h5"] {
        let mut setting = setting();
        setting.says(moves, Score::Mate(3));
        let caught = setting.verifies(Score::Cp(20));
        assert_eq!((setting.heard(), caught.len()), (vec![Score::Cp(20)], 1), "{moves}");
    }
}

#[test]
fn longer_search_replaces_the_value() {
    let mut setting = setting();
    setting.says("e2e4", Score::Cp(600));
    while let NextSearch::Now(next) = setting.next() {
        let score = if next.length == VerificationLength::Short { Score::Cp(0) } else { Score::Cp(500) };
        assert_eq!(setting.finds(&next, score), []);
    }
    setting.says("e2e4", Score::Cp(610));
    setting.says("e2e4", Score::Cp(2_000));
    let heard = [200, 600, 610, 950].map(Score::Cp);
    assert_eq!(setting.heard(), heard, "a claim counts near the longest search");
}

/// A search whose council compares two moves.
fn contested() -> (Setting, Arc<council::electors::Verification>) {
    let mut setting = setting();
    let verification = council::electors::Verification::new(Arc::default());
    let search = setting.in_flight.searches.remove(&1).expect("it runs");
    let mut task = search.task.clone();
    task.guidance.verification = Some(verification.clone());
    setting.in_flight.add(RemoteSearch { task, ..search });
    (setting, verification)
}

#[test]
fn contested_moves_are_verified() {
    let (mut setting, verification) = contested();
    let [home, theirs] = ["e2e4", "a2a3"].map(|text| text.parse().expect("a move"));
    setting.says("a2a3", Score::Cp(150));
    verification.contest(Some(home), Some(theirs));
    assert_eq!(verification.difference(theirs, Some(home), None), None);
    while let NextSearch::Now(next) = setting.next() {
        setting.finds(&next, Score::Cp(if next.key.best == Some(theirs) { -30 } else { 10 }));
    }
    assert_eq!(verification.difference(theirs, Some(home), None), Some(-40));
}

#[test]
fn verification_uses_an_eighth_core() {
    let (mut setting, _verification) = contested();
    let (mut now, mut spent) = (setting.sent, Duration::ZERO);
    let legal = Line::start(Variant::Standard).legal_moves();
    let mut moves = legal.iter().cycle();
    while now < setting.sent + Duration::from_millis(200) {
        setting.says_at(now, &moves.next().expect("a move").to_string(), Score::Cp(0));
        match setting.in_flight.next_search(now) {
            NextSearch::Now(next) => {
                let took = Duration::from_millis(3);
                let value = HomeValue::none(next.length).after(Score::Cp(0), 8);
                (now, spent) = (now + took, spent + took);
                setting.in_flight.verified(now, &next, value, took);
            }
            NextSearch::Wait(wait) => now += wait,
            NextSearch::Nothing => now += Duration::from_millis(1),
        }
    }
    assert!(spent <= AT_ONCE + (now - setting.sent) / SHARE + Duration::from_millis(3), "{spent:?}");
    assert!(spent >= Duration::from_millis(20), "{spent:?}");
}

#[test]
fn verifications_per_worker_are_bounded() {
    let mut setting = setting();
    let mut verified = 0;
    for best in Line::start(Variant::Standard).legal_moves() {
        setting.says(&best.to_string(), Score::Cp(0));
        verified += setting.heard().len();
        setting.verifies(Score::Cp(0));
    }
    verified += setting.heard().len();
    assert_eq!(verified, VERIFIED_AT_ONCE as usize);
    let NextSearch::Wait(wait) = setting.next() else { panic!("the next one waits") };
    assert_eq!(wait, VERIFIED_EVERY);
}

#[test]
fn silence_counts_after_enough_time() {
    let conduct = |after: Duration, says: Option<&str>| {
        let mut setting = setting();
        let now = setting.sent + after;
        says.into_iter().for_each(|moves| _ = setting.says_at(now, moves, Score::Cp(0)));
        setting.verifies(Score::Cp(0));
        setting.in_flight.stop(now, 1).expect("it runs").conduct
    };
    assert_eq!(conduct(2 * LAG, None), Conduct::Unknown);
    assert_eq!(conduct(2 * LAG + SILENT_AFTER * 2, None), Conduct::Silent);
    assert_eq!(conduct(2 * LAG + SILENT_AFTER * 2, Some("e2e4")), Conduct::Proposed);
}

#[test]
fn elector_without_material_cannot_lie() {
    let kind = |knowledge: &str, noise: u16| RemoteElectorKind::Own {
        knowledge: knowledge.parse().expect("letters"),
        percentages: IN_FULL,
        contempt: 0,
        selectivity: 100,
        noise: (noise, 1),
    };
    assert!(kind("mp", 50).values_men() && kind("n", 0).values_men());
    assert!(!kind("kp", 0).values_men() && !kind("mp", 1000).values_men() && !RemoteElectorKind::Trivial.values_men());
    let mut setting = setting();
    setting.search().values_men = false;
    setting.says("a2a3", Score::Cp(5_000));
    let caught = setting.verifies(Score::Cp(0));
    assert_eq!((setting.heard(), caught.len()), (vec![Score::Cp(0)], 0), "and elects nothing by it");
}

#[test]
fn lie_is_found_after_its_search() {
    let mut setting = setting();
    setting.says("a2a3", Score::Mate(2));
    let NextSearch::Now(next) = setting.next() else { panic!("a next") };
    assert_eq!(setting.finds(&next, Score::Cp(0)), []);
    setting.in_flight.stop(setting.sent, 1);
    assert_eq!(setting.verifies(Score::Cp(0)).len(), 1);
}

#[test]
fn changing_claims_cost_few_searches() {
    let mut setting = setting();
    let mut verified = 0;
    let later = setting.sent + Duration::from_secs(1);
    for best in Line::start(Variant::Standard).legal_moves() {
        setting.says(&best.to_string(), Score::Cp(0));
        while let NextSearch::Now(next) = setting.in_flight.next_search(later) {
            verified += 1;
            setting.finds(&next, Score::Cp(0));
        }
    }
    assert_eq!(verified, MOST_VERIFIED);
    setting.hears(SearchEventKind::Finished(500));
    assert_eq!(setting.heard().len(), MOST_VERIFIED as usize);
    assert!(setting.in_flight.serials().is_empty(), "its end waits for nothing");
}

#[test]
fn claimed_nodes_are_bounded_by_time() {
    let mut setting = setting();
    let (nodes, depth, root_moves_done, microseconds) = (1 << 40, 900, 900, 1 << 40);
    let said = ProposalText { nodes, depth, root_moves_done, microseconds, ..text("e2e4") };
    let now = setting.sent + Duration::from_millis(99);
    setting.in_flight.on_event(now, ANN, event(1, SearchEventKind::Proposal(said)));
    setting.verifies(Score::Cp(0));
    let Ok(SearchReport::Proposal(believed)) = setting.inbox.try_recv() else { panic!("it counts") };
    assert_eq!((believed.nodes, believed.time), (2_000_000, Duration::from_millis(99)));
    assert_eq!(believed.root_moves_done, 20);
}

#[test]
fn heartbeat_nodes_are_bounded_by_time() {
    let mut setting = setting();
    let boast = (BOB, SearchStatus { search: id(1), elector: "mp".into(), threads: 2, nodes: u64::MAX });
    setting.in_flight.compare(setting.sent + Duration::from_millis(99), ANN, &[boast]);
    assert_eq!(setting.search().task.state.nodes(), 2_000_000);
}

#[test]
fn liars_searches_restart() {
    let mut setting = setting();
    let (resumed, mut anew) = mpsc::unbounded_channel();
    setting.search().fallback = Fallback::new(move |task, _| resumed.send(task.id.serial).expect("the receiver waits"));
    setting.says("a2a3", Score::Mate(2));
    assert_eq!(setting.verifies(Score::Cp(0)).len(), 1);
    setting.in_flight.lost(ANN).into_iter().for_each(RemoteSearch::begin_anew);
    assert_eq!(anew.try_recv(), Ok(1));
    assert!(setting.heard().iter().all(|score| *score == Score::Cp(0)), "and no elector is reported as failed");
}
