//! Faults that a worker must bear, each as the events it would see.

use std::time::{Duration, Instant};

use super::{
    super::{
        identity::RunId,
        settings::ClusterSettings,
        wire::{Poll, RemoteElector, RemoteElectorKind, SearchCommand, SearchEventKind, WorkerCommand},
    },
    WorkerSettings,
    scheduler::{Scheduler, SchedulerEffect},
};
use council::electors::ElectorSpec;
use domain::{GameId, Knowledge, Limits, Phase, SearchId, Variant};

const ANN: RunId = RunId(1);
const BOB: RunId = RunId(2);

fn scheduler(cores: usize) -> Scheduler {
    let (cluster, engines) = (ClusterSettings::default(), [("fish".to_owned(), "/bin/fish".into())].into());
    Scheduler::new(WorkerSettings { cluster, cores, memory: 100, engines, health: None })
}

fn order(slot: u32, serial: u64) -> SearchCommand {
    let spec = ElectorSpec::own(Knowledge::COMPLETE, 16);
    SearchCommand {
        id: SearchId { game: GameId::new("g"), ply: 2, serial, phase: Phase::First },
        slot,
        elector: RemoteElector::of(&spec, None).expect("it travels"),
        threads: 1,
        variant: Variant::Standard,
        start: None,
        moves: "e2e4 e7e5".to_owned(),
        root_moves: String::new(),
        hints: String::new(),
        window: None,
        limits: Limits::default(),
    }
}

fn search(scheduler: &mut Scheduler, daemon: RunId, order: SearchCommand) -> Vec<String> {
    shown(&scheduler.command(Instant::now(), daemon, WorkerCommand::Search(Box::new(order))))
}

fn shown(effects: &[SchedulerEffect]) -> Vec<String> {
    let show = |effect: &SchedulerEffect| match effect {
        SchedulerEffect::Open((daemon, slot), spec, None) => format!("open {}/{slot} {} MiB", daemon.0, spec.hash),
        SchedulerEffect::Open((daemon, slot), spec, Some((_, table))) => {
            format!("open {}/{slot} on table {table} of {} MiB", daemon.0, spec.hash)
        }
        SchedulerEffect::Close((daemon, slot)) => format!("close {}/{slot}", daemon.0),
        SchedulerEffect::Search((daemon, slot), task) => format!("search {}/{slot} #{}", daemon.0, task.id.serial),
        SchedulerEffect::Stop((daemon, slot)) => format!("stop {}/{slot}", daemon.0),
        SchedulerEffect::NewGame((daemon, slot), _) => format!("new game {}/{slot}", daemon.0),
        SchedulerEffect::Hear((daemon, table), _) => format!("hear {} of table {table}", daemon.0),
        SchedulerEffect::Tell(daemon, event) => match &event.kind {
            SearchEventKind::GivenBack => format!("give back to {}", daemon.0),
            SearchEventKind::Failed(why) => format!("tell {}: {why}", daemon.0),
            other => format!("{other:?}"),
        },
    };
    effects.iter().map(show).collect()
}

/// Promise 7: what is lent is all that is taken, however many daemons there are or one of them says that it is.
#[test]
fn tables_fit_the_remaining_memory() {
    let mut scheduler = scheduler(1);
    let mut opened = 0;
    for daemon in 0..200 {
        let effects = search(&mut scheduler, RunId(100 + daemon), order(1, daemon));
        let hash = effects.iter().filter_map(|effect| effect.split(' ').nth(2)?.parse::<usize>().ok()).sum::<usize>();
        opened += hash;
        assert!(hash > 0 || effects == [format!("give back to {}", 100 + daemon)], "{effects:?}");
    }
    assert!(opened <= 100, "{opened} MiB");
}

#[test]
fn elector_keeps_its_slot() {
    let mut scheduler = scheduler(2);
    assert_eq!(search(&mut scheduler, ANN, order(1, 10)), ["open 1/1 16 MiB", "search 1/1 #10"]);
    scheduler.ended((ANN, 1), &order(1, 10).id);
    assert!(scheduler.is_idle());
    assert_eq!(search(&mut scheduler, ANN, order(1, 11)), ["search 1/1 #11"]);
    assert_eq!(search(&mut scheduler, ANN, order(1, 12)), ["stop 1/1", "search 1/1 #12"], "the one before is over");
    let stop = scheduler.command(Instant::now(), ANN, WorkerCommand::Stop(12));
    assert_eq!(shown(&stop), ["stop 1/1"]);
    assert_eq!(shown(&scheduler.command(Instant::now(), ANN, WorkerCommand::Stop(12))), [""; 0]);
    let forget = scheduler.command(Instant::now(), ANN, WorkerCommand::NewGame(1));
    assert_eq!(shown(&forget), ["new game 1/1"]);
    assert_eq!(shown(&scheduler.command(Instant::now(), ANN, WorkerCommand::Leave(1))), ["close 1/1"]);
    assert_eq!(scheduler.daemons(), []);
}

#[test]
fn late_stop_spares_the_new_search() {
    let mut scheduler = scheduler(2);
    search(&mut scheduler, ANN, order(1, 10));
    search(&mut scheduler, ANN, order(1, 11));
    scheduler.ended((ANN, 1), &order(1, 10).id);
    assert!(!scheduler.is_idle());
}

#[test]
fn what_does_not_fit_is_given_back() {
    let mut scheduler = scheduler(2);
    search(&mut scheduler, ANN, order(1, 10));
    search(&mut scheduler, ANN, order(2, 11));
    assert_eq!(search(&mut scheduler, ANN, order(3, 12)), ["give back to 1"]);
}

#[test]
fn every_daemon_gets_its_part() {
    let mut scheduler = scheduler(2);
    search(&mut scheduler, ANN, order(1, 10));
    search(&mut scheduler, ANN, order(2, 11));
    assert_eq!(search(&mut scheduler, BOB, order(1, 5)), ["open 2/1 16 MiB", "search 2/1 #5"]);
    assert_eq!(search(&mut scheduler, BOB, order(2, 6)), ["give back to 2"]);
    // Ann's next search finds that half of the cores is Bob's.
    assert_eq!(search(&mut scheduler, ANN, order(1, 12)), ["stop 1/1", "give back to 1"]);
    scheduler.ended((ANN, 2), &order(2, 11).id);
    assert_eq!(search(&mut scheduler, ANN, order(1, 13)), ["search 1/1 #13"]);
}

#[test]
fn draining_worker_completes_searches() {
    let mut scheduler = scheduler(2);
    search(&mut scheduler, ANN, order(1, 10));
    scheduler.drain();
    assert_eq!(search(&mut scheduler, ANN, order(2, 11)), ["give back to 1"]);
    assert!(!scheduler.is_idle());
    scheduler.ended((ANN, 1), &order(1, 10).id);
    assert!(scheduler.is_idle());
}

#[test]
fn unwanted_searches_are_stopped() {
    let mut scheduler = scheduler(4);
    search(&mut scheduler, ANN, order(1, 10));
    search(&mut scheduler, ANN, order(2, 11));
    search(&mut scheduler, BOB, order(1, 10));
    let poll = Poll { number: 1, searches: vec![11] };
    assert_eq!(shown(&scheduler.poll(Instant::now(), ANN, &poll)), ["stop 1/1"]);
    let unknown = scheduler.poll(Instant::now(), RunId(9), &poll);
    assert_eq!(shown(&unknown), [""; 0]);
    assert_eq!(scheduler.daemons(), [ANN, BOB]);
}

#[test]
fn slots_of_lost_daemons_are_closed() {
    let (mut scheduler, begin) = (scheduler(4), Instant::now());
    scheduler.command(begin, ANN, WorkerCommand::Search(Box::new(order(1, 10))));
    scheduler.command(begin, BOB, WorkerCommand::Search(Box::new(order(1, 10))));
    let later = begin + Duration::from_secs(4);
    scheduler.poll(later, BOB, &Poll { number: 1, searches: vec![10] });
    assert_eq!(shown(&scheduler.tick(later)), [""; 0]);
    assert_eq!(shown(&scheduler.tick(begin + Duration::from_secs(6))), ["close 1/1"]);
    assert_eq!(scheduler.daemons(), [BOB]);
}

#[test]
fn tables_keep_the_memory_limit() {
    let mut scheduler = scheduler(16);
    for slot in 1..=5 {
        let opened = search(&mut scheduler, ANN, order(slot, u64::from(slot)));
        assert_eq!(opened[0], format!("open 1/{slot} 16 MiB"));
    }
    for slot in 1..=5 {
        scheduler.ended((ANN, slot), &order(slot, u64::from(slot)).id);
    }
    let hog = SearchCommand { elector: RemoteElector { hash: 60, ..order(6, 6).elector }, ..order(6, 6) };
    let opened = search(&mut scheduler, ANN, hog);
    assert_eq!(opened, ["close 1/1", "close 1/2", "close 1/3", "open 1/6 60 MiB", "search 1/6 #6"]);
    let glutton = SearchCommand { elector: RemoteElector { hash: 1 << 20, ..order(7, 7).elector }, ..order(7, 7) };
    let opened = search(&mut scheduler, ANN, glutton);
    assert_eq!(opened, ["close 1/4", "close 1/5", "open 1/7 40 MiB", "search 1/7 #7"]);
}

#[test]
fn shared_tables_stay_shared() {
    let mut scheduler = scheduler(16);
    let sharing = |slot: u32, hash: u32, table: u64| {
        let order = order(slot, u64::from(slot));
        SearchCommand { elector: RemoteElector { hash, table: Some(table), ..order.elector }, ..order }
    };
    let first = search(&mut scheduler, ANN, sharing(1, 80, 5));
    assert_eq!(first, ["open 1/1 on table 5 of 80 MiB", "search 1/1 #1"]);
    let second = search(&mut scheduler, ANN, sharing(2, 80, 5));
    assert_eq!(second, ["open 1/2 on table 5 of 80 MiB", "search 1/2 #2"], "it takes no more memory");
    let another = search(&mut scheduler, BOB, sharing(1, 80, 5));
    assert_eq!(another, ["open 2/1 on table 5 of 20 MiB", "search 2/1 #1"], "another daemon's table of that number");
    scheduler.command(Instant::now(), ANN, WorkerCommand::Leave(1));
    assert!(scheduler.has_table((ANN, 5)));
    scheduler.command(Instant::now(), ANN, WorkerCommand::Leave(2));
    assert!(!scheduler.has_table((ANN, 5)) && scheduler.has_table((BOB, 5)));
}

/// An own elector that shares table 5 of 16 MiB.
fn on_table_five(slot: u32, serial: u64) -> SearchCommand {
    let order = order(slot, serial);
    SearchCommand { elector: RemoteElector { table: Some(5), ..order.elector }, ..order }
}

#[test]
fn unshared_tables_take_memory() {
    let mut scheduler = scheduler(16);
    let asking = |slot: u32, serial: u64, kind: RemoteElectorKind| {
        let order = on_table_five(slot, serial);
        SearchCommand { elector: RemoteElector { hash: 60, kind, ..order.elector }, ..order }
    };
    let own = order(1, 1).elector.kind;
    let RemoteElectorKind::Own { knowledge, percentages, selectivity, noise, .. } = own.clone() else { panic!("own") };
    let other = RemoteElectorKind::Own { knowledge, percentages, contempt: 50, selectivity, noise };
    let first = search(&mut scheduler, ANN, asking(1, 1, own));
    assert_eq!(first, ["open 1/1 on table 5 of 60 MiB", "search 1/1 #1"]);
    let second = search(&mut scheduler, ANN, asking(2, 2, other.clone()));
    assert_eq!(second, ["open 1/2 40 MiB", "search 1/2 #2"], "it evaluates otherwise");
    let foreign = RemoteElectorKind::Uci { engine: "fish".to_owned(), options: Vec::new() };
    assert_eq!(search(&mut scheduler, ANN, asking(3, 3, foreign)), ["give back to 1"], "no memory is left");
    let again = search(&mut scheduler, ANN, asking(2, 4, other));
    assert_eq!(again, ["stop 1/2", "search 1/2 #4"], "it keeps its seat");
}

#[test]
fn oldest_slot_is_closed_first() {
    let mut scheduler = scheduler(2);
    for slot in 1..=512 {
        search(&mut scheduler, ANN, on_table_five(slot, u64::from(slot)));
        scheduler.ended((ANN, slot), &order(slot, u64::from(slot)).id);
    }
    let one_more = search(&mut scheduler, ANN, on_table_five(513, 513));
    assert_eq!(one_more, ["close 1/1", "open 1/513 on table 5 of 16 MiB", "search 1/513 #513"]);
    let another = search(&mut scheduler, BOB, on_table_five(1, 1));
    assert_eq!(another, ["open 2/1 on table 5 of 16 MiB", "search 2/1 #1"], "that is not for others to give");
}

#[test]
fn unused_slot_is_closed() {
    let (mut scheduler, begin) = (scheduler(4), Instant::now());
    for slot in [1, 2] {
        scheduler.command(begin, ANN, WorkerCommand::Search(Box::new(order(slot, u64::from(slot)))));
    }
    scheduler.ended((ANN, 1), &order(1, 1).id);
    let mut after = |seconds: u64| {
        let now = begin + Duration::from_secs(seconds);
        scheduler.poll(now, ANN, &Poll { number: 1, searches: vec![2] });
        shown(&scheduler.tick(now))
    };
    assert_eq!(after(590), [""; 0]);
    assert_eq!(after(610), ["close 1/1"], "the other one searches");
    scheduler.ended((ANN, 2), &order(2, 2).id);
    let later = begin + Duration::from_secs(1000);
    scheduler.poll(later, ANN, &Poll { number: 2, searches: Vec::new() });
    assert_eq!(shown(&scheduler.tick(later)), [""; 0], "it was used until lately");
}

#[test]
fn senseless_command_has_a_reason() {
    let change = |change: &dyn Fn(&mut SearchCommand)| {
        let mut order = order(1, 10);
        change(&mut order);
        search(&mut scheduler(2), ANN, order).join("; ")
    };
    let uci = |engine: &str, value: &str| {
        let options = vec![("Skill".to_owned(), value.to_owned())];
        RemoteElectorKind::Uci { engine: engine.to_owned(), options }
    };
    for (refused, why) in [
        (change(&|order| order.moves = "e2e4 e2e4".to_owned()), "not legal"),
        (change(&|order| order.moves = "e2e4".to_owned()), "number of moves"),
        (change(&|order| order.root_moves = "a1a8".to_owned()), "root move"),
        (change(&|order| order.start = Some("8/8/8/8/8/8/8/8 w - - 0 1".to_owned())), "not a legal"),
        (change(&|order| order.threads = 0), "threads"),
        (change(&|order| order.elector.hash = u32::MAX), "table"),
        (change(&|order| order.elector.name = "".into()), "without a name"),
        (change(&|order| order.elector.kind = uci("rm", "1")), "no engine \"rm\" here"),
        (change(&|order| order.elector.kind = uci("fish", "/etc/passwd")), "option"),
    ] {
        assert!(refused.starts_with("tell 1:") && refused.contains(why), "{refused:?}: {why}");
    }
    assert!(change(&|order| order.elector.kind = uci("fish", "3")).contains("search 1/1"));
}
