//! The token goes over the wire and nowhere else.

use std::{io::Seek as _, sync::Arc};

use super::*;

/// Promise 6.
#[tokio::test]
async fn token_is_in_no_log_or_error() {
    let log = Arc::new(tempfile::tempfile().expect("a temporary file"));
    // One thread runs this test and all its tasks, so the thread's own subscriber sees everything.
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(Arc::clone(&log));
    let _logging = testkit::log_thread_to(subscriber.finish());

    let (mut story, mut events, game) = Story::in_game(|_| {}).await;
    assert!(!format!("{:?}", story.bot).contains("lip_secret"));
    let echo = r#"{"error":"Bearer lip_secret is no good"}"#;
    for status in [400, 401, 404, 429, 500] {
        let error = story.refused(play("e2e4"), MOVE, status, echo).await;
        assert!(!format!("{error} {error:?}").contains("lip_secret"), "{error}");
    }
    events.line(echo).await;
    assert!(!story.fault().await.contains("lip_secret"));
    events.line(r#"{"type":"lip_secret"}"#).await;
    game.reset();
    assert!(!story.fault().await.contains("lip_secret"));
    events.end().await;
    let mut seen = format!("{:?}", story.event().await);
    story.server.expect(EVENTS).await.answer(500, "", "lip_secret").await;
    seen += &story.fault().await;
    assert!(!seen.contains("lip_secret"), "{seen}");

    let mut log = log.as_ref();
    log.rewind().expect("a file");
    let log = std::io::read_to_string(log).expect("a log of text");
    assert!(log.contains("no event stream"), "the log was kept");
    assert!(!log.contains("lip_secret"), "{log}");
}
