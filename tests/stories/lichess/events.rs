//! The event stream breaks: challenges and games must be heard of all the same.

use std::time::Duration;

use practice::{
    AccountId, ChallengeState,
    faults::{RequestFault, RequestKind, Span, StreamFault, Streams, When},
};
use tokio::time::Instant;

use super::harness::{BOT, PARTNER, Story, tc, within};

/// Breaks the event stream; a challenge made after that is taken and played, and so is one made while a game runs.
async fn the_daemon_hears_again_after(fault: StreamFault) {
    let story = Story::begin(|_| ()).await;
    let events = Streams::Events(BOT.to_owned());
    assert_eq!(story.server.faults().break_stream(events.clone(), When::Now, fault), 1);
    let first = story.challenge().await;
    story.ply(&first, 4).await;
    story.server.faults().break_stream(events, When::Now, fault);
    let second = story.challenge().await;
    story.played(&first).await;
    story.played(&second).await;
    story.goes_on_and_closes().await;
}

/// Promise 1.
#[testkit::test]
async fn event_stream_reopens_after_clean_end() {
    the_daemon_hears_again_after(StreamFault::CleanEnd).await;
}

/// Promise 1.
#[testkit::test]
async fn event_stream_reopens_after_a_reset() {
    the_daemon_hears_again_after(StreamFault::AbortMidLine).await;
}

/// Promise 1.
#[testkit::test]
async fn event_stream_reopens_after_silence() {
    the_daemon_hears_again_after(StreamFault::Silence).await;
}

/// A server in trouble is not flooded, the games go on, and afterwards everything is as before.
#[testkit::test]
async fn event_stream_retries_back_off() {
    let story = Story::begin(|plan| plan.time_control = tc("60+0.1")).await;
    let faults = story.server.faults();
    let game = story.challenge().await;
    story.ply(&game, 4).await;
    let requests = || faults.requests_seen(RequestKind::EventStream) + faults.requests_seen(RequestKind::Account);
    let before = requests();
    let outage = Duration::from_secs(20);
    let begun = Instant::now();
    faults.fail_requests(RequestKind::EventStream, Span::For(outage), RequestFault::Answer(502));
    faults.break_stream(Streams::Events(BOT.to_owned()), When::Now, StreamFault::Abort);
    story.played(&game).await;
    // The story is about the outage, so it waits for all of it.
    tokio::time::sleep_until(begun + outage).await;
    let spent = requests() - before;
    assert!((2..=10).contains(&spent), "{spent} requests in {outage:?}");
    story.goes_on_and_closes().await;
}

/// Promise 1: an answer to a challenge that is lost, late or limited leaks no place and takes on no second game.
#[testkit::test]
async fn lost_accept_answer_still_starts_a_game() {
    let faults = [
        RequestFault::Answer(429),
        RequestFault::Answer(502),
        RequestFault::LoseAnswer,
        RequestFault::LoseRequest,
        RequestFault::DelayAnswer(Duration::from_secs(3)),
    ];
    let story = Story::begin(|plan| plan.lichess.request_timeout = Duration::from_secs(1)).await;
    for fault in faults {
        story.server.faults().fail_requests(RequestKind::Challenge, Span::Times(1), fault);
        let game = story.challenge().await;
        story.played(&game).await;
    }
    story.goes_on_and_closes().await;
}

/// Promise 1: a game that was never announced is played, because we know that we accepted it.
#[testkit::test]
async fn unannounced_game_is_played() {
    let story = Story::begin(|_| ()).await;
    let events = || Streams::Events(BOT.to_owned());
    // The challenge is heard; with the next line, the start of its game, the stream falls silent.
    story.server.faults().fail_requests(
        RequestKind::Challenge,
        Span::Times(1),
        RequestFault::Delay(Duration::from_secs(1)),
    );
    let game = story.challenge().await;
    within("the acceptance", story.server.faults().wait_for_requests(RequestKind::Challenge, 1)).await;
    story.server.faults().break_stream(events(), When::NextLine, StreamFault::Drop);
    story.played(&game).await;
    story.goes_on_and_closes().await;
}

/// A challenge that is withdrawn again and again while it is being accepted leaks no place.
#[testkit::test]
async fn withdrawn_challenges_free_their_slot() {
    let story = Story::begin(|_| ()).await;
    for _ in 0..10 {
        let id = story.challenge().await.as_str().into();
        let _ = story.server.ask(move |state| state.cancel(&id, &AccountId::of(PARTNER))).await.expect("a server");
    }
    // Those that were accepted before they were withdrawn are games now, and are aborted or played.
    within("all games", story.server.wait(|state| (state.game_counts().1 == 0).then_some(()))).await.expect("a server");
    story.goes_on_and_closes().await;
}

/// A challenger that still waits when the daemon stops is declined with the reason.
#[testkit::test]
async fn stopping_daemon_declines_challenges() {
    let mut story = Story::begin(|_| ()).await;
    let game = story.challenge().await;
    story.ply(&game, 2).await;
    let waiting = story.challenge().await.as_str().into();
    story.closes().await;
    story.played(&game).await;
    let state = story.server.ask(move |state| state.challenge_view(&waiting).map(|view| view.state)).await;
    assert!(matches!(state, Ok(Some(ChallengeState::Declined(_)))), "{state:?}");
}
