//! The request that carries a move goes wrong.

use std::{ops::RangeInclusive, time::Duration};

use domain::Color;
use practice::faults::{RequestFault, RequestKind, Span, StreamFault, Streams, When};

use super::harness::{BOT, Story, our_moves};

/// Lets requests for moves fail from the second ply on, when no game can be over yet, and plays it to its end, with this number of
/// requests in vain.
async fn a_game_survives(span: Span, fault: RequestFault, in_vain: RangeInclusive<u64>) {
    let story = Story::begin(|_| ()).await;
    let game = story.challenge().await;
    story.ply(&game, 2).await;
    story.server.faults().fail_requests(RequestKind::Move, span, fault);
    let report = story.played(&game).await;
    assert!(report.refused.is_empty(), "{report:#?}");
    let seen = story.server.faults().requests_seen(RequestKind::Move) - our_moves(&report);
    assert!(in_vain.contains(&seen), "{seen} requests in vain");
    story.goes_on_and_closes().await;
}

/// Promise 1: "too many requests" is no verdict on the move.
#[testkit::test]
async fn a_game_survives_429_on_its_moves() {
    a_game_survives(Span::Times(3), RequestFault::Answer(429), 3..=3).await;
}

/// Promise 1.
#[testkit::test]
async fn game_survives_502_on_moves() {
    a_game_survives(Span::Times(3), RequestFault::Answer(502), 3..=3).await;
}

/// A server that is in trouble for a while is asked again and again, but not flooded.
#[testkit::test]
async fn game_survives_rejected_moves() {
    a_game_survives(Span::For(Duration::from_secs(4)), RequestFault::Answer(502), 1..=30).await;
}

/// Promise 2: a move that was accepted without an answer is not sent a second time.
#[testkit::test]
async fn move_with_a_late_answer_is_sent_once() {
    a_game_survives(Span::Times(1), RequestFault::DelayAnswer(Duration::from_secs(6)), 0..=0).await;
}

/// Promise 2: the same, where the connection breaks instead of an answer.
#[testkit::test]
async fn move_with_a_lost_answer_is_sent_once() {
    a_game_survives(Span::Times(2), RequestFault::LoseAnswer, 0..=0).await;
}

/// Promise 2: where neither an answer nor the stream says that a move was taken, the server is asked before it is sent again.
#[testkit::test]
async fn unacknowledged_move_is_sent_once() {
    let story = Story::begin(|plan| plan.partner_thinks = Duration::from_millis(200)).await;
    let game = story.challenge().await;
    let report = story.ply(&game, 4).await;
    // The stream falls silent at the line with the bot's move; the answers to some moves before and after are lost.
    let ours = if report.color_of(BOT) == Some(Color::White) { 9 } else { 8 };
    let stream = Streams::Board(game.clone(), BOT.to_owned());
    story.server.faults().break_stream(stream, When::AtPly(ours), StreamFault::Silence);
    story.server.faults().fail_requests(RequestKind::Move, Span::Times(4), RequestFault::LoseAnswer);
    let report = story.played(&game).await;
    assert!(report.refused.is_empty(), "{report:#?}");
    assert_eq!(story.server.faults().requests_seen(RequestKind::Move), our_moves(&report));
    story.goes_on_and_closes().await;
}

/// Promise 1: a move that was lost on its way is sent again.
#[testkit::test]
async fn lost_move_is_sent_again() {
    a_game_survives(Span::Times(2), RequestFault::LoseRequest, 2..=2).await;
}

/// Promise 1: a request that is never answered is not waited for.
#[testkit::test]
async fn unanswered_move_is_sent_again() {
    a_game_survives(Span::Times(1), RequestFault::Ignore, 1..=1).await;
}

/// Talk is not on the way of a move, nor of the next challenge: a chat that hangs costs nothing.
#[testkit::test]
async fn hanging_chat_delays_nothing() {
    let story = Story::begin(|_| ()).await;
    story.server.faults().fail_requests(RequestKind::Chat, Span::Times(100), RequestFault::Ignore);
    let game = story.challenge().await;
    let report = story.played(&game).await;
    assert_eq!(story.server.faults().requests_seen(RequestKind::Move), our_moves(&report));
    story.goes_on_and_closes().await;
}
