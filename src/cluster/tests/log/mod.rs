//! Captures the log of a test, and waits for lines in it.

// No target uses all of it.
#![allow(dead_code)]

use std::{
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use testkit::until;

/// All that is logged in these tests; each looks for names of its own.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Returns the log of this process, captured from the first call on.
    pub(crate) fn of_all() -> Self {
        static LOG: OnceLock<Log> = OnceLock::new();
        LOG.get_or_init(|| {
            let log = Self::default();
            let writer = log.clone();
            tracing_subscriber::fmt()
                .with_ansi(false)
                .with_max_level(tracing::Level::INFO)
                .with_writer(move || writer.clone())
                .init();
            log
        })
        .clone()
    }

    pub(crate) fn lines(&self, words: &[&str]) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
        let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
        text.lines().filter(has_all).map(str::to_owned).collect()
    }

    pub(crate) async fn says(&self, words: &[&str]) {
        until(&format!("the log has {words:?}"), || !self.lines(words).is_empty()).await;
    }
}
