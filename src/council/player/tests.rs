//! Tests of the player.

use std::time::{Duration, Instant};

use super::{timing::Agreement, *};
use crate::{
    electors::Pool,
    vote::{CouncilSettings, CriterionName, Progress, Roster, tests::settings},
};
use domain::{Clock, Clocks, TimeControl, Variant};

const PATIENCE: Duration = Duration::from_secs(60);

fn line(moves: &str) -> Arc<Line> {
    let mut line = Line::start(Variant::Standard);
    line.play_all(moves).expect("legal moves");
    Arc::new(line)
}

fn topic(number: u64, line: Arc<Line>, time: Time) -> SearchRequest {
    let id = RequestId(number);
    SearchRequest {
        id,
        line,
        others: Vec::new(),
        time,
        limits: Limits::default(),
        excluded: Vec::new(),
        always_search: false,
    }
}

fn player() -> (GamePlayer, mpsc::UnboundedReceiver<PlayerEvent>) {
    player_who_asks(None)
}

fn player_who_asks(online: Option<Box<dyn MoveService>>) -> (GamePlayer, mpsc::UnboundedReceiver<PlayerEvent>) {
    player_with(|config| config.online = online)
}

fn player_with(change: impl FnOnce(&mut PlayerConfig)) -> (GamePlayer, mpsc::UnboundedReceiver<PlayerEvent>) {
    let settings = CouncilSettings { criterion: CriterionName::ReSearch, ..settings("mp ma") };
    let roster = Roster::from_settings(&settings).expect("a roster");
    let council = Council::new(&Pool::new(1), &roster, &settings, Variant::Standard);
    let mut config = PlayerConfig {
        game: "story".into(),
        clock: ClockSettings::default(),
        lag: SharedLag::default(),
        known: None,
        online: None,
    };
    change(&mut config);
    let (events, inbox) = mpsc::unbounded_channel();
    (GamePlayer::start(config, council, events), inbox)
}

async fn until<T>(
    events: &mut mpsc::UnboundedReceiver<PlayerEvent>,
    mut pick: impl FnMut(PlayerEvent) -> Option<T>,
) -> T {
    let search = async {
        loop {
            if let Some(found) = pick(events.recv().await.expect("the player is there")) {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, search).await.expect("in time")
}

fn decided(idea: PlayerEvent) -> Option<(RequestId, Decision)> {
    match idea {
        PlayerEvent::Decided { id, decision, .. } => Some((id, *decision)),
        _ => None,
    }
}

fn proposed(idea: PlayerEvent) -> Option<u32> {
    match idea {
        PlayerEvent::Proposal(_, proposal) => Some(proposal.depth),
        _ => None,
    }
}

#[tokio::test]
async fn a_forced_move_needs_no_search() {
    let (player, mut events) = player();
    let check = Line::from_fen(Variant::Standard, "k7/8/8/8/8/8/1r6/K7 w - - 0 1").expect("a position");
    assert_eq!(check.legal_moves().len(), 1);
    let thinking = player.think(topic(1, Arc::new(check), Time::Unbounded));
    let (_, decision) = until(&mut events, decided).await;
    assert_eq!((decision.source, decision.best.to_string().as_str()), (Source::Forced, "a1b2"));
    drop(thinking);
}

/// Promise 4: nothing but the search takes time. The runtime's clock stands still until the decision is there, so that one which
/// waits for a timer, however short, comes only when the clock is let go, and is late by it.
#[tokio::test(start_paused = true)]
async fn no_timer_delays_a_decision() {
    let (_until_decided, decides) = std::sync::mpsc::channel::<()>();
    spawn_blocking(move || decides.recv_timeout(PATIENCE / 2));
    let limits = Limits { nodes: Some(500), ..Limits::default() };
    let searched = |number, line| SearchRequest { limits, ..topic(number, line, clock_of(PATIENCE)) };
    let (player, mut events) = player();
    for request in [forced(60), searched(2, line("")), searched(3, line("e2e4 e7e5"))] {
        let (id, asked) = (request.id, tokio::time::Instant::now());
        let thinking = player.think(request);
        assert_eq!(until(&mut events, decided).await.0, id);
        assert_eq!(asked.elapsed(), Duration::ZERO, "a timer was on the way of decision {id:?}");
        drop(thinking);
    }
}

/// A position with one legal move, with so much on both clocks.
fn forced(seconds: u64) -> SearchRequest {
    let check = Line::from_fen(Variant::Standard, "k7/8/8/8/8/8/1r6/K7 w - - 0 1").expect("a position");
    topic(1, Arc::new(check), clock_of(Duration::from_secs(seconds)))
}

#[tokio::test]
async fn known_move_may_be_delayed() {
    let pretends = |config: &mut PlayerConfig| {
        config.clock = ClockSettings { fake_think_time: true, first_move: Duration::ZERO, ..ClockSettings::default() };
    };
    let (player, mut events) = player_with(pretends);
    let asked = Instant::now();
    let thinking = player.think(forced(60));
    until(&mut events, decided).await;
    assert!(asked.elapsed() > Duration::from_millis(50), "a minute's game gives a move more than that");
    drop(thinking);
    // Were it not told to answer, this would take seconds; it answers all the same.
    let thinking = player.think(forced(36_000));
    thinking.answer_now();
    until(&mut events, decided).await;
    // A dropped search sends nothing and delays no other.
    drop(player.think(forced(36_000)));
    let check = player.think(SearchRequest { id: RequestId(2), ..forced(1) });
    assert_eq!(until(&mut events, decided).await.0, RequestId(2));
    drop(check);
}

#[tokio::test]
async fn ponder_hit_ends_an_endless_search() {
    let (player, mut events) = player();
    let expected = line("e2e4 e7e5");
    let thinking = player.think(topic(1, Arc::clone(&expected), Time::Unbounded));
    until(&mut events, |idea| proposed(idea).filter(|depth| *depth >= 4)).await;
    thinking.comes_about(&expected, Time::Exactly(Duration::from_millis(10)));
    let (thought, decision) = until(&mut events, decided).await;
    assert_eq!(thought, RequestId(1));
    assert!(expected.is_legal(decision.best));
}

#[tokio::test]
async fn expected_position_is_answered() {
    let (player, mut events) = player();
    let (likeliest, other) = (line("e2e4 e7e5"), line("e2e4 b8c6"));
    let both = SearchRequest { others: vec![Arc::clone(&other)], ..topic(1, likeliest, Time::Unbounded) };
    let thinking = player.think(both);
    until(&mut events, |idea| proposed(idea).filter(|depth| *depth >= 2)).await;
    thinking.comes_about(&other, Time::Exactly(Duration::from_millis(50)));
    let (_, decision) = until(&mut events, decided).await;
    assert!(other.is_legal(decision.best), "{}", decision.best);
}

#[derive(Debug)]
struct OneMove {
    line: Line,
    best: &'static str,
}

impl KnownMoves for OneMove {
    fn look_up(&self, line: &Line) -> Option<Known> {
        let decision = Decision::without_vote(self.best.parse().expect("a move"), Source::Book);
        (*line == self.line).then(|| Known::Decided(Box::new(decision)))
    }
}

/// Books and tablebases wait until one of the positions occurs.
#[tokio::test]
async fn expected_position_is_looked_up() {
    let (likeliest, other) = (line("e2e4 e7e5"), line("e2e4 b8c6"));
    let known = OneMove { line: Line::clone(&other), best: "g1f3" };
    let (player, mut events) = player_with(|config| config.known = Some(Arc::new(known)));
    let both = SearchRequest { others: vec![Arc::clone(&other)], ..topic(1, likeliest, Time::Unbounded) };
    let thinking = player.think(both);
    until(&mut events, proposed).await;
    thinking.comes_about(&other, clock_of(Duration::from_secs(36_000)));
    let (_, decision) = until(&mut events, decided).await;
    assert_eq!((decision.best.to_string().as_str(), decision.source), ("g1f3", Source::Book));
}

#[tokio::test]
async fn dropped_search_frees_the_next() {
    let (player, mut events) = player();
    let missed = player.think(topic(1, line("e2e4 e7e5"), Time::Unbounded));
    until(&mut events, proposed).await;
    drop(missed);
    let thinking = player.think(topic(2, line("e2e4 c7c5"), Time::Exactly(Duration::from_millis(10))));
    assert_eq!(until(&mut events, decided).await.0, RequestId(2));
    drop(thinking);
}

#[tokio::test]
async fn answer_is_given_on_request() {
    let (player, mut events) = player();
    let thinking = player.think(topic(1, line("e2e4"), Time::Unbounded));
    thinking.answer_now();
    let (_, decision) = until(&mut events, decided).await;
    assert!(line("e2e4").is_legal(decision.best));
}

/// Answers with a move as soon as it is asked, or never.
#[derive(Debug)]
struct Oracle(Option<&'static str>);

impl MoveService for Oracle {
    fn ask<'a>(&'a mut self, line: &'a Line, left: Option<Duration>) -> MoveAnswer<'a> {
        assert_eq!(left, Some(Duration::from_secs(60)));
        match self.0 {
            Some(best) => {
                let best = best.parse().expect("a move");
                assert!(line.is_legal(best));
                Box::pin(std::future::ready(Some(Decision::without_vote(best, Source::Cloud))))
            }
            None => Box::pin(std::future::pending()),
        }
    }
}

fn minute() -> Time {
    clock_of(Duration::from_secs(60))
}

fn clock_of(remaining: Duration) -> Time {
    let control = TimeControl::real_time(remaining, Duration::ZERO);
    let clocks = Clocks::both(Clock { remaining, increment: Duration::ZERO });
    Time::Clock { control, clocks: Some(clocks), moves_to_go: None, spent: Duration::ZERO }
}

#[tokio::test]
async fn service_answer_ends_the_search() {
    let (player, mut events) = player_who_asks(Some(Box::new(Oracle(Some("a7a6")))));
    let thinking = player.think(topic(1, line("e2e4"), minute()));
    let (_, decision) = until(&mut events, decided).await;
    assert_eq!((decision.best.to_string().as_str(), decision.source), ("a7a6", Source::Cloud));
    drop(thinking);
    // The council is there for the next move.
    let searched = SearchRequest { always_search: true, ..topic(2, line("e2e4 a7a6"), minute()) };
    let _thinking =
        player.think(SearchRequest { limits: Limits { nodes: Some(500), ..Limits::default() }, ..searched });
    assert_eq!(until(&mut events, decided).await.1.source, Source::Council);
}

#[tokio::test]
async fn silent_service_is_not_awaited() {
    let (player, mut events) = player_who_asks(Some(Box::new(Oracle(None))));
    let limits = Limits { nodes: Some(500), ..Limits::default() };
    let _thinking = player.think(SearchRequest { limits, ..topic(1, line("e2e4"), minute()) });
    assert_eq!(until(&mut events, decided).await.1.source, Source::Council);
}

/// No service is queried in the opponent's time: the position is not known yet.
#[tokio::test]
async fn service_gets_the_actual_position() {
    let (player, mut events) = player_who_asks(Some(Box::new(Oracle(Some("g8f6")))));
    let expected = line("e2e4 b8c6 g1f3");
    let thinking = player.think(topic(1, Arc::clone(&expected), Time::Unbounded));
    until(&mut events, proposed).await;
    thinking.comes_about(&expected, minute());
    assert_eq!(until(&mut events, decided).await.1.source, Source::Cloud);
}

/// Pondering saves at most half of our own time, and never makes a move late.
#[test]
fn ponder_hit_saves_at_most_half() {
    let time = minute();
    let progress = Progress::agreed(9);
    let line = line("e2e4 e7e5");
    // The time pondered is known only within bounds: the search began at some moment of the call.
    let stop_at = |pondered: Duration, time: Time| {
        let asked = Instant::now();
        let (_agree, agreed) = watch::channel(Agreement { line: Arc::clone(&line), time, since: asked + pondered });
        let keeper = Timekeeper::new(&ClockSettings::default(), Lag::default(), &line, true, None, agreed);
        let mut timing = keeper.timing(|_| ());
        let within = asked.elapsed();
        (timing(&progress), within)
    };
    let (unbounded, _) = stop_at(Duration::ZERO, Time::Unbounded);
    assert_eq!(unbounded, Duration::MAX, "no clock runs");
    let (fresh, about) = stop_at(Duration::ZERO, time);
    for pondered in [1, 100, 10_000].map(Duration::from_millis) {
        let (end, within) = stop_at(pondered, time);
        let (after_hit, slack) = (end.saturating_sub(pondered), about + within);
        assert!(after_hit + slack >= fresh / 2 && after_hit <= fresh + slack, "{after_hit:?} of {fresh:?}");
    }
}
