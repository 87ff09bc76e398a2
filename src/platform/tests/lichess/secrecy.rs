//! The token goes over the wire and nowhere else.

use std::{
    io,
    sync::{Arc, Mutex},
};

use super::*;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Promise 6.
#[tokio::test]
async fn token_is_in_no_log_or_error() {
    let log = Log::default();
    // One thread runs this test and all its tasks, so the thread's own subscriber sees everything.
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let _logging = tracing::subscriber::set_default(subscriber);

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
    story.server.expect("GET /api/stream/event").await.answer(500, "", "lip_secret").await;
    seen += &story.fault().await;
    assert!(!seen.contains("lip_secret"), "{seen}");

    let log = String::from_utf8_lossy(&log.0.lock().expect("no panic")).into_owned();
    assert!(log.contains("no event stream"), "the log was kept");
    assert!(!log.contains("lip_secret"), "{log}");
}
