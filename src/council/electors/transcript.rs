//! The conversation with an engine, in a file.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use super::{ElectorFailure, ElectorResult};

/// A file to which every line is added, with its time, the number of the engine's process and a
/// sign for the sender: `>` for the bot, `<` for the engine, `!` for its standard error. Engines
/// that run at the same time may share a file. Without a file nothing is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcript {
    file: Option<Arc<Mutex<File>>>,
    process: u32,
}

impl Transcript {
    pub(super) fn open(path: Option<&Path>) -> ElectorResult<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| ElectorFailure(format!("the transcript {}: {error}", path.display())))?;
        Ok(Self { file: Some(Arc::new(Mutex::new(file))), process: 0 })
    }

    pub(super) fn of_process(self, process: u32) -> Self {
        Self { process, ..self }
    }

    /// Adds a line. A line that cannot be written, because a disk is full, is lost: the game goes on.
    pub(super) fn add(&self, sign: char, line: &str) {
        let Some(file) = &self.file else { return };
        let text = format!("{:.3} {} {sign} {line}\n", jiff::Timestamp::now(), self.process);
        let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes());
    }
}
