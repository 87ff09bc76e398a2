//! Faults that a worker must bear, each as the events it would see.

use std::time::{Duration, Instant};

use super::{
    super::{
        identity::RunId,
        wire::{Call, Elector, Order, Says, SearchOrder},
    },
    tenancy::{Effect, Lent, Tenancy},
};
use chess::{GameId, Knowledge, Limits, Phase, SearchId, Variant};
use council::pool::ElectorSpec;

const ANN: RunId = RunId(1);
const BOB: RunId = RunId(2);

fn tenancy(cores: usize) -> Tenancy {
    Tenancy::new(Lent { cores, memory: 100, engines: [("fish".to_owned(), "/bin/fish".into())].into() })
}

fn order(seat: u32, serial: u64) -> SearchOrder {
    let spec = ElectorSpec::own(Knowledge::COMPLETE, 16);
    SearchOrder {
        id: SearchId { game: GameId::new("g"), ply: 2, serial, phase: Phase::First },
        seat,
        elector: Elector::of(&spec, None).expect("it travels"),
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

fn search(tenancy: &mut Tenancy, daemon: RunId, order: SearchOrder) -> Vec<String> {
    shown(&tenancy.order(Instant::now(), daemon, Order::Search(Box::new(order))))
}

/// Effects in a few letters each.
fn shown(effects: &[Effect]) -> Vec<String> {
    let show = |effect: &Effect| match effect {
        Effect::Open((daemon, seat), spec, None) => format!("open {}/{seat} {} MiB", daemon.0, spec.hash),
        Effect::Open((daemon, seat), spec, Some((_, table))) => {
            format!("open {}/{seat} on table {table} of {} MiB", daemon.0, spec.hash)
        }
        Effect::Close((daemon, seat)) => format!("close {}/{seat}", daemon.0),
        Effect::Search((daemon, seat), job) => format!("search {}/{seat} #{}", daemon.0, job.task.id.serial),
        Effect::Stop((daemon, seat)) => format!("stop {}/{seat}", daemon.0),
        Effect::NewGame((daemon, seat)) => format!("new game {}/{seat}", daemon.0),
        Effect::Say(daemon, word) => match &word.says {
            Says::GivenBack => format!("give back to {}", daemon.0),
            Says::Failed(why) => format!("tell {}: {why}", daemon.0),
            other => format!("{other:?}"),
        },
    };
    effects.iter().map(show).collect()
}

#[test]
fn an_elector_keeps_its_seat_from_search_to_search() {
    let mut tenancy = tenancy(2);
    assert_eq!(search(&mut tenancy, ANN, order(1, 10)), ["open 1/1 16 MiB", "search 1/1 #10"]);
    tenancy.over((ANN, 1), &order(1, 10).id);
    assert!(tenancy.is_idle());
    assert_eq!(search(&mut tenancy, ANN, order(1, 11)), ["search 1/1 #11"]);
    assert_eq!(search(&mut tenancy, ANN, order(1, 12)), ["stop 1/1", "search 1/1 #12"], "the one before is over");
    let stop = tenancy.order(Instant::now(), ANN, Order::Stop(12));
    assert_eq!(shown(&stop), ["stop 1/1"]);
    assert_eq!(shown(&tenancy.order(Instant::now(), ANN, Order::Stop(12))), [""; 0]);
    let forget = tenancy.order(Instant::now(), ANN, Order::NewGame(1));
    assert_eq!(shown(&forget), ["new game 1/1"]);
    assert_eq!(shown(&tenancy.order(Instant::now(), ANN, Order::Leave(1))), ["close 1/1"]);
    assert_eq!(tenancy.tenants(), []);
}

#[test]
fn a_late_end_of_an_old_search_does_not_end_the_new_one() {
    let mut tenancy = tenancy(2);
    search(&mut tenancy, ANN, order(1, 10));
    search(&mut tenancy, ANN, order(1, 11));
    tenancy.over((ANN, 1), &order(1, 10).id);
    assert!(!tenancy.is_idle());
}

#[test]
fn what_does_not_fit_is_given_back() {
    let mut tenancy = tenancy(2);
    search(&mut tenancy, ANN, order(1, 10));
    search(&mut tenancy, ANN, order(2, 11));
    assert_eq!(search(&mut tenancy, ANN, order(3, 12)), ["give back to 1"]);
}

#[test]
fn every_daemon_gets_its_part_even_if_another_has_all() {
    let mut tenancy = tenancy(2);
    search(&mut tenancy, ANN, order(1, 10));
    search(&mut tenancy, ANN, order(2, 11));
    assert_eq!(search(&mut tenancy, BOB, order(1, 5)), ["open 2/1 16 MiB", "search 2/1 #5"]);
    assert_eq!(search(&mut tenancy, BOB, order(2, 6)), ["give back to 2"]);
    // Ann's next search finds that half of the cores is Bob's.
    assert_eq!(search(&mut tenancy, ANN, order(1, 12)), ["stop 1/1", "give back to 1"]);
    tenancy.over((ANN, 2), &order(2, 11).id);
    assert_eq!(search(&mut tenancy, ANN, order(1, 13)), ["search 1/1 #13"]);
}

#[test]
fn one_that_drains_finishes_what_it_has_and_takes_nothing_more() {
    let mut tenancy = tenancy(2);
    search(&mut tenancy, ANN, order(1, 10));
    tenancy.drain();
    assert_eq!(search(&mut tenancy, ANN, order(2, 11)), ["give back to 1"]);
    assert!(!tenancy.is_idle());
    tenancy.over((ANN, 1), &order(1, 10).id);
    assert!(tenancy.is_idle());
}

#[test]
fn what_a_daemon_does_not_wait_for_any_more_is_stopped() {
    let mut tenancy = tenancy(4);
    search(&mut tenancy, ANN, order(1, 10));
    search(&mut tenancy, ANN, order(2, 11));
    search(&mut tenancy, BOB, order(1, 10));
    let call = Call { number: 1, searches: vec![11] };
    assert_eq!(shown(&tenancy.call(Instant::now(), ANN, &call)), ["stop 1/1"]);
    let stranger = tenancy.call(Instant::now(), RunId(9), &call);
    assert_eq!(shown(&stranger), [""; 0]);
    assert_eq!(tenancy.tenants(), [ANN, BOB]);
}

#[test]
fn the_seats_of_a_daemon_that_has_gone_are_closed() {
    let (mut tenancy, begin) = (tenancy(4), Instant::now());
    tenancy.order(begin, ANN, Order::Search(Box::new(order(1, 10))));
    tenancy.order(begin, BOB, Order::Search(Box::new(order(1, 10))));
    let later = begin + Duration::from_secs(4);
    tenancy.call(later, BOB, &Call { number: 1, searches: vec![10] });
    assert_eq!(shown(&tenancy.tick(later)), [""; 0]);
    assert_eq!(shown(&tenancy.tick(begin + Duration::from_secs(6))), ["close 1/1"]);
    assert_eq!(tenancy.tenants(), [BOB]);
}

#[test]
fn tables_take_no_more_memory_than_is_lent() {
    let mut tenancy = tenancy(16);
    for seat in 1..=5 {
        let opened = search(&mut tenancy, ANN, order(seat, u64::from(seat)));
        assert_eq!(opened[0], format!("open 1/{seat} 16 MiB"));
    }
    for seat in 1..=5 {
        tenancy.over((ANN, seat), &order(seat, u64::from(seat)).id);
    }
    let hog = SearchOrder { elector: Elector { hash: 60, ..order(6, 6).elector }, ..order(6, 6) };
    let opened = search(&mut tenancy, ANN, hog);
    assert_eq!(opened, ["close 1/1", "close 1/2", "close 1/3", "open 1/6 60 MiB", "search 1/6 #6"]);
    let glutton = SearchOrder { elector: Elector { hash: 1 << 20, ..order(7, 7).elector }, ..order(7, 7) };
    let opened = search(&mut tenancy, ANN, glutton);
    assert_eq!(opened, ["close 1/4", "close 1/5", "open 1/7 40 MiB", "search 1/7 #7"]);
}

#[test]
fn electors_that_share_a_table_share_it_here_too() {
    let mut tenancy = tenancy(16);
    let sharing = |seat: u32, hash: u32, table: u64| {
        let order = order(seat, u64::from(seat));
        SearchOrder { elector: Elector { hash, table: Some(table), ..order.elector }, ..order }
    };
    let first = search(&mut tenancy, ANN, sharing(1, 80, 5));
    assert_eq!(first, ["open 1/1 on table 5 of 80 MiB", "search 1/1 #1"]);
    let second = search(&mut tenancy, ANN, sharing(2, 80, 5));
    assert_eq!(second, ["open 1/2 on table 5 of 80 MiB", "search 1/2 #2"], "it takes no more memory");
    let another = search(&mut tenancy, BOB, sharing(1, 80, 5));
    assert_eq!(another, ["open 2/1 on table 5 of 20 MiB", "search 2/1 #1"], "another daemon's table of that number");
    tenancy.order(Instant::now(), ANN, Order::Leave(1));
    assert!(tenancy.has_table((ANN, 5)));
    tenancy.order(Instant::now(), ANN, Order::Leave(2));
    assert!(!tenancy.has_table((ANN, 5)) && tenancy.has_table((BOB, 5)));
}

#[test]
fn an_order_that_makes_no_sense_is_refused_with_a_reason() {
    let change = |change: &dyn Fn(&mut SearchOrder)| {
        let mut order = order(1, 10);
        change(&mut order);
        search(&mut tenancy(2), ANN, order).join("; ")
    };
    let uci = |engine: &str, value: &str| {
        let options = vec![("Skill".to_owned(), value.to_owned())];
        super::super::wire::Kind::Uci { engine: engine.to_owned(), options }
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
