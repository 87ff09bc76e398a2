//! Tests of the registry with heartbeats, polls and silence.

use super::*;

const US: RunId = RunId(1);

fn sender(run: u64) -> Sender {
    Sender { name: format!("machine-{run}"), run: RunId(run) }
}

fn heartbeat(state: WorkerState) -> Heartbeat {
    Heartbeat { state, ..Heartbeat::idle(4, 1000) }
}

fn offers(registry: &Registry, now: Instant) -> usize {
    registry.offers(now, US, &BTreeMap::new(), None).len()
}

/// Checks as often as a process does that is not held up, and tells who is lost.
fn checks(registry: &mut Registry, from: Instant, to: Instant) -> Vec<WorkerChange> {
    let times = std::iter::successors(Some(from), |now| Some(*now + CHECK_EVERY)).take_while(|now| *now < to);
    times.chain([to]).flat_map(|now| registry.expire(now)).collect()
}

/// The answer of a worker that is near.
const SOON: Option<Duration> = Some(Duration::from_millis(1));

#[test]
fn heartbeats_keep_a_worker() {
    let (mut registry, begin) = (Registry::default(), Instant::now());
    assert_eq!(
        registry.heard(begin, &sender(7), heartbeat(WorkerState::Lending), None),
        Some(WorkerChange::Came(RunId(7)))
    );
    for count in 1..20 {
        let now = begin + HEARTBEAT_EVERY * count;
        assert_eq!(registry.heard(now, &sender(7), heartbeat(WorkerState::Lending), None), None);
        assert_eq!(registry.expire(now), []);
    }
    let last = begin + HEARTBEAT_EVERY * 19;
    assert_eq!(checks(&mut registry, last, last + LOST_AFTER), []);
    let lost = registry.expire(last + LOST_AFTER + Duration::from_millis(1));
    assert_eq!(lost, [WorkerChange::Lost(RunId(7), "machine-7".into())]);
    let back = registry.heard(last + Duration::from_secs(60), &sender(7), heartbeat(WorkerState::Lending), None);
    assert_eq!(back, Some(WorkerChange::Came(RunId(7))), "one that was only cut off comes back");
}

#[test]
fn departing_worker_is_gone_at_once() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    registry.heard(now, &sender(7), heartbeat(WorkerState::Lending), None);
    let lost = Some(WorkerChange::Lost(RunId(7), "machine-7".into()));
    assert_eq!(registry.heard(now, &sender(7), heartbeat(WorkerState::Gone), None), lost);
    assert_eq!(registry.heard(now, &sender(8), heartbeat(WorkerState::Gone), None), None);
    assert_eq!(registry.iter().count(), 0);
}

#[test]
fn unusable_workers_get_nothing() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    registry.heard(now, &sender(1), heartbeat(WorkerState::Draining), None);
    registry.heard(now, &sender(3), heartbeat(WorkerState::Lending), Some(Duration::from_secs(6)));
    registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), None);
    assert_eq!(offers(&registry, now), 0, "nor one that was not measured yet");
    registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), SOON);
    assert_eq!(offers(&registry, now), 1);
    registry.failed(now, RunId(2));
    assert_eq!(offers(&registry, now), 1, "the first failure is forgiven");
    registry.failed(now, RunId(2));
    assert_eq!(offers(&registry, now), 0);
    assert_eq!(offers(&registry, now + Duration::from_secs(1)), 1, "it gets another chance");
}

#[test]
fn first_answer_opens_a_worker() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    let mut hears = |state, lag| {
        registry.heard(now, &sender(1), heartbeat(state), lag);
        registry.is_open(now, RunId(1))
    };
    assert!(!hears(WorkerState::Lending, None) && hears(WorkerState::Lending, SOON));
    assert!(!hears(WorkerState::Draining, SOON) && hears(WorkerState::Lending, None));
}

#[test]
fn distant_worker_offers_nothing() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), SOON);
    registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), Some(Duration::from_millis(240)));
    let asked = |milliseconds| {
        let time = Some(Duration::from_millis(milliseconds));
        registry.offers(now, US, &BTreeMap::new(), time).iter().map(|offer| offer.worker.0).collect::<Vec<_>>()
    };
    assert_eq!((asked(200), asked(1000)), (vec![1], vec![1, 2]));
    assert_eq!(offers(&registry, now), 2, "a search without end has time for everybody");
}

#[test]
fn claimed_speed_has_no_weight() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    let boast = Heartbeat { speed: 9_999, ..heartbeat(WorkerState::Lending) };
    registry.heard(now, &sender(1), boast, SOON);
    let speed = |registry: &Registry| registry.offers(now, US, &BTreeMap::new(), None)[0].speed;
    registry.home_speed(400);
    assert_eq!(speed(&registry), 400, "as at home");
    let sample = SpeedSample { nodes: 30_000, time: Duration::from_millis(300), threads: 1 };
    registry.measured(now, RunId(1), Some(sample));
    assert_eq!((speed(&registry), registry.views(now, US)[0].speed), (100, Some(100)));
    let boast = SpeedSample { nodes: 1 << 40, ..sample };
    registry.measured(now, RunId(1), Some(boast));
    assert_eq!(speed(&registry), 800, "nodes are its own word");
}

#[test]
fn views_name_the_reason_for_idling() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), Some(Duration::from_millis(3)));
    registry.heard(now, &sender(2), heartbeat(WorkerState::Draining), None);
    registry.heard(now, &sender(3), heartbeat(WorkerState::Lending), Some(Duration::from_secs(6)));
    let views = registry.views(now, US);
    let closed: Vec<bool> = views.iter().map(|view| view.closed.is_some()).collect();
    assert_eq!(closed, [false, true, true]);
    assert_eq!((views[0].cores, views[0].speed, views[0].here), (4, Some(USUAL_SPEED), false));
}

#[test]
fn forger_is_named_once() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), SOON);
    registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), SOON);
    let forged = Sender { run: RunId(1), ..sender(2) };
    let named = Some(WorkerChange::Forged { forger: "machine-2".into(), victim: "machine-1".into() });
    assert_eq!(registry.heard(now, &forged, heartbeat(WorkerState::Gone), None), named);
    assert_eq!(registry.heard(now, &forged, heartbeat(WorkerState::Gone), None), None);
    assert!(registry.speaks_for_itself(&sender(1)) && !registry.speaks_for_itself(&forged));
    assert_eq!((registry.iter().count(), offers(&registry, now)), (2, 1), "the forger gets nothing");
    let anew = Sender { run: RunId(3), ..sender(2) };
    registry.heard(now, &sender(2), heartbeat(WorkerState::Gone), None);
    registry.heard(now, &anew, heartbeat(WorkerState::Lending), SOON);
    assert_eq!(offers(&registry, now), 1, "nor does it in another run");
    let later = now + SHORTEST_DISTRUST * 3;
    for sender in [sender(1), anew] {
        registry.heard(later, &sender, heartbeat(WorkerState::Lending), SOON);
    }
    assert_eq!(offers(&registry, later), 2, "it gets another chance");
}

#[test]
fn first_of_two_namesakes_is_used() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    let twin = Sender { run: RunId(2), ..sender(1) };
    let mut beat = |sender: &Sender| registry.heard(now, sender, heartbeat(WorkerState::Lending), None);
    assert_eq!(beat(&sender(1)), Some(WorkerChange::Came(RunId(1))));
    assert_eq!(beat(&twin), None, "the first may have been killed and started anew");
    assert_eq!(beat(&sender(1)), Some(WorkerChange::Twins("machine-1".into())));
    assert_eq!((beat(&twin), beat(&sender(1))), (None, None));
    let later = now + LOST_AFTER + Duration::from_millis(1);
    checks(&mut registry, now, later);
    let came = registry.heard(later, &twin, heartbeat(WorkerState::Lending), None);
    assert_eq!(came, Some(WorkerChange::Came(RunId(2))));
}

#[test]
fn cores_count_after_a_proposal() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    let boast = Heartbeat { cores: 64, ..heartbeat(WorkerState::Lending) };
    registry.heard(now, &sender(1), boast.clone(), SOON);
    let cores = |registry: &Registry| registry.offers(now, US, &BTreeMap::new(), None)[0].cores;
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(cores(&registry));
        (0..cores(&registry)).for_each(|_| registry.conducted(now, RunId(1), Conduct::Proposed));
    }
    assert_eq!(seen, [4, 8, 16, 32, 64]);
    registry.conducted(now, RunId(1), Conduct::Silent);
    assert_eq!(cores(&registry), 32);
    registry.heard(now, &sender(1), Heartbeat { state: WorkerState::Gone, ..boast.clone() }, None);
    registry.heard(now, &Sender { run: RunId(9), ..sender(1) }, boast, SOON);
    assert_eq!(cores(&registry), 32, "it is known by its name");
}

#[test]
fn silent_worker_rests_ever_longer() {
    let (mut registry, mut now) = (Registry::default(), Instant::now());
    let mut rests = Vec::new();
    for _ in 0..12 {
        registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), SOON);
        registry.conducted(now, RunId(1), Conduct::Silent);
        let begun = now;
        while offers(&registry, now) == 0 {
            now += Duration::from_millis(100);
            registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), SOON);
        }
        rests.push((now - begun).as_secs());
    }
    assert_eq!(&rests[..2], [0, 0], "a worker may be busy");
    assert!(rests[2..].windows(2).all(|pair| pair[0] < pair[1]), "{rests:?}");
    assert!(rests.last() > Some(&500), "{rests:?}");
    registry.conducted(now, RunId(1), Conduct::Proposed);
    registry.conducted(now, RunId(1), Conduct::Silent);
    assert_eq!(offers(&registry, now), 1, "it has proposed since");
}

/// Promise 7: what workers say does not grow without bound here.
#[test]
fn flood_of_names_is_bounded() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    let changes = (0..5_000).filter_map(|run| registry.heard(now, &sender(run), heartbeat(WorkerState::Lending), None));
    assert_eq!(changes.count(), Registry::MOST + 1);
    assert_eq!(registry.iter().count(), Registry::MOST);
}

#[test]
fn claimed_cores_are_bounded() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    let boast = Heartbeat { cores: u16::MAX, speed: u32::MAX, ..heartbeat(WorkerState::Lending) };
    registry.heard(now, &sender(1), boast, None);
    let views = registry.views(now, US);
    assert_eq!((views[0].cores, views[0].speed), (1024, Some(USUAL_SPEED)));
}

#[test]
fn lost_server_loses_all_workers() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    for run in 1..4 {
        registry.heard(now, &sender(run), heartbeat(WorkerState::Lending), None);
    }
    assert_eq!(registry.all_lost().len(), 3);
    assert_eq!(registry.all_lost(), []);
}

#[test]
fn unheard_poll_loses_its_receivers() {
    let (mut registry, now) = (Registry::default(), Instant::now());
    registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), SOON);
    registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), None);
    assert_eq!(registry.unheard(now), [WorkerChange::Lost(RunId(1), "machine-1".into())]);
    assert_eq!(registry.unheard(now), [], "one that never listens does not come and go with every poll");
    assert_eq!(registry.iter().count(), 1);
}

/// The process was held up, or read a hostile worker's flood, in which an honest one's heartbeats were late or dropped.
#[test]
fn own_delay_is_no_silence() {
    let (mut registry, begin) = (Registry::default(), Instant::now());
    registry.heard(begin, &sender(7), heartbeat(WorkerState::Lending), None);
    let last = begin + LOST_AFTER / 2;
    assert_eq!(checks(&mut registry, begin, last), []);
    let later = last + Duration::from_secs(10);
    assert_eq!(registry.expire(later), []);
    assert_eq!(checks(&mut registry, later, later + LOST_AFTER / 2), []);
    assert_eq!(checks(&mut registry, later, later + LOST_AFTER).len(), 1, "what was silence before is still");
}
