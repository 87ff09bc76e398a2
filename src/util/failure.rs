use std::{fmt::Display, process::ExitCode};

/// The failure of a command: one line for the user, and an exit code.
#[derive(Debug)]
pub struct Failure {
    what: String,
    code: ExitCode,
}

impl Failure {
    pub fn usage(what: impl Display) -> Self {
        Self { what: what.to_string(), code: ExitCode::from(2) }
    }

    /// A failure with its reason already in the log.
    pub fn logged() -> Self {
        Self { what: String::new(), code: ExitCode::FAILURE }
    }

    pub fn failed(what: impl Display) -> Self {
        Self { what: what.to_string(), code: ExitCode::FAILURE }
    }

    pub fn is_logged(&self) -> bool {
        self.what.is_empty()
    }

    pub fn code(&self) -> ExitCode {
        self.code
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::failed(error)
    }
}
