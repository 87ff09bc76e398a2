//! The log on standard error.

use std::{
    fmt::Debug,
    io::{self, IsTerminal},
};

use tracing::field::Field;
use tracing_subscriber::{
    EnvFilter,
    field::MakeExt as _,
    fmt::{
        FormatFields,
        format::{Writer, debug_fn},
    },
};

use crate::settings::LogSettings;
use chess::printable;

/// What `--log` accepts.
pub(super) fn parse_filter(text: &str) -> Result<String, String> {
    if LogSettings::is_filter(text) { Ok(text.to_owned()) } else { Err(format!("expected {}", LogSettings::ACCEPTED)) }
}

/// Logs from now on what `filter` lets through.
pub(super) fn init(filter: &str) {
    // What this library says of every connection is said by us.
    let filter = EnvFilter::new(format!("async_nats=error,{filter}"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .fmt_fields(fields())
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        // A terminal that is gone takes no complaints either.
        .log_internal_errors(false)
        .init();
}

/// How the fields of an event are written: names and texts of servers are among them, and must not steer the terminal.
fn fields() -> impl for<'a> FormatFields<'a> + Send + Sync + 'static {
    let field = |writer: &mut Writer<'_>, field: &Field, value: &dyn Debug| {
        let value = format!("{value:?}");
        match field.name() {
            "message" => write!(writer, "{}", printable(&value)),
            name => write!(writer, "{name}={}", printable(&value)),
        }
    };
    debug_fn(field).delimited(" ")
}

#[cfg(test)]
mod tests {
    use std::{io::Seek as _, sync::Mutex};

    use super::*;

    #[test]
    fn what_a_server_says_does_not_steer_the_terminal() {
        let mut file = tempfile::tempfile().expect("a file");
        let written = file.try_clone().expect("the same");
        let log = tracing_subscriber::fmt().fmt_fields(fields()).with_ansi(false).with_writer(Mutex::new(written));
        tracing::subscriber::with_default(log.finish(), || {
            tracing::info!(opponent = %"\x1b]0;owned\x07", game = 3, "a game against {}", "\u{9b}2J");
        });
        file.rewind().expect("a file");
        let text = io::read_to_string(file).expect("text");
        assert!(text.ends_with("a game against \\u{9b}2J opponent=\\u{1b}]0;owned\\u{7} game=3\n"), "{text:?}");
    }

    #[test]
    fn a_filter_that_would_log_nothing_is_refused() {
        for good in ["", "info", "WARN", "off", "concilio=debug", "info,concilio_bot=trace,hyper=off"] {
            assert_eq!(parse_filter(good).as_deref(), Ok(good));
        }
        for bad in ["nosense", "info,nosense", "concilio=nosense", "=", "debug info"] {
            assert!(parse_filter(bad).is_err(), "{bad}");
        }
    }
}
