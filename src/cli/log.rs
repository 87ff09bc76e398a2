//! The log: on standard error, and in a file of every day where one is wanted. As text, one plain sentence a line; as JSON, one
//! object a line with every field.

use std::{
    fmt::{self, Write as _},
    io::{self, IsTerminal, Write as _},
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::{Timestamp, Zoned};
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter, format::Writer},
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use super::{Failure, daily_log::DailyLog};
use crate::settings::{LogFormat, LogSettings};
use util::{printable, printable_json};

/// Parses the filter of `--log`.
pub(super) fn parse_filter(text: &str) -> Result<String, String> {
    if LogSettings::is_filter(text) { Ok(text.to_owned()) } else { Err(format!("expected {}", LogSettings::ACCEPTED)) }
}

/// Logs from now on what the settings say.
pub(super) fn init(settings: &LogSettings) -> Result<(), Failure> {
    // What this library says of every connection is said by us; how often tasks are woken is for tests.
    let filter = EnvFilter::new(format!("async_nats=error,concilio::task=off,{}", settings.level));
    let file =
        if settings.file.as_os_str().is_empty() { None } else { Some(DailyLog::open(&settings.file, settings.days)?) };
    let file = file.map(|file| layer(settings.format, file, false));
    let terminal = layer(settings.format, || StandardError, io::stderr().is_terminal());
    tracing_subscriber::registry().with(filter).with(file.into_iter().chain([terminal]).collect::<Vec<_>>()).init();
    Ok(())
}

/// Logs on standard error alone, as text.
pub(super) fn init_simply(level: &str, format: LogFormat) {
    let settings = LogSettings { level: level.to_owned(), format, ..LogSettings::default() };
    // Without a file nothing can fail.
    let _ = init(&settings);
}

/// Log output held back while a view is drawn on the terminal; `None` without a view.
static HELD_BACK: Mutex<Option<Vec<u8>>> = Mutex::new(None);

fn held_back() -> MutexGuard<'static, Option<Vec<u8>>> {
    HELD_BACK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds the log back from the terminal: the view takes its lines and shows them.
pub(super) fn hold_back() {
    held_back().get_or_insert_default();
}

/// The lines that were held back since this was asked last.
pub(super) fn lines_held_back() -> Vec<String> {
    let text = held_back().as_mut().map(std::mem::take).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

/// Logs on the terminal again, what is still held back first.
pub(super) fn hold_back_no_longer() {
    let rest = held_back().take().unwrap_or_default();
    let _ = io::stderr().write_all(&rest);
}

/// Standard error, while nothing is held back.
struct StandardError;

impl io::Write for StandardError {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match held_back().as_mut() {
            Some(text) => text.write(bytes),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn layer<W>(format: LogFormat, writer: W, ansi: bool) -> Box<dyn Layer<WithFilter> + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // A terminal that is gone takes no complaints either.
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).log_internal_errors(false);
    match format {
        LogFormat::Text => layer.with_ansi(ansi).event_format(Sentences).boxed(),
        LogFormat::Json => layer.with_ansi(false).event_format(Objects).boxed(),
    }
}

type WithFilter = tracing_subscriber::layer::Layered<EnvFilter, Registry>;

/// Target of events of accounts and games: their sentences contain their fields.
const TOLD: &str = "concilio_bot::event";

/// One line an event: `2026-11-22 12:30:01  INFO lichess: connected as BOT Concilio`. What else is known of it follows in words: an
/// error behind a colon, other fields in brackets. Names and texts of servers are among all this, and must not steer the
/// terminal.
struct Sentences;

impl<S, N> FormatEvent<S, N> for Sentences
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut said = EventText { told: event.metadata().target() == TOLD, ..EventText::default() };
        event.record(&mut said);
        let (level, time) = (*event.metadata().level(), Zoned::now());
        let time = time.strftime("%Y-%m-%d %H:%M:%S");
        if writer.has_ansi_escapes() {
            write!(writer, "\x1b[2m{time}\x1b[0m {}{level:>5}\x1b[0m ", color(level))?;
        } else {
            write!(writer, "{time} {level:>5} ")?;
        }
        let EventText { message, error, others, .. } = said;
        write!(writer, "{}", printable(&message))?;
        if !error.is_empty() {
            write!(writer, ": {}", printable(&error))?;
        }
        if !others.is_empty() {
            write!(writer, " ({})", printable(&others))?;
        }
        writeln!(writer)
    }
}

/// One object an event, with every field; what would steer a terminal is escaped in it.
struct Objects;

impl<S, N> FormatEvent<S, N> for Objects
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = EventFields(Map::new());
        fields.0.insert("timestamp".to_owned(), Timestamp::now().to_string().into());
        fields.0.insert("level".to_owned(), event.metadata().level().as_str().into());
        event.record(&mut fields);
        fields.0.retain(|name, _| !is_of_log(name));
        writeln!(writer, "{}", printable_json(&Value::Object(fields.0).to_string()))
    }
}

/// Returns true for a field that messages of libraries with the crate `log` carry: places in their
/// source.
fn is_of_log(name: &str) -> bool {
    name.starts_with("log.")
}

/// The fields of an event, as JSON has them.
struct EventFields(Map<String, Value>);

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

const fn color(level: Level) -> &'static str {
    match level {
        Level::ERROR => "\x1b[31m",
        Level::WARN => "\x1b[33m",
        Level::INFO => "\x1b[32m",
        _ => "\x1b[2m",
    }
}

/// The fields of an event, in words.
#[derive(Default)]
struct EventText {
    /// True if the message contains all fields.
    told: bool,
    message: String,
    error: String,
    others: String,
}

impl EventText {
    fn take(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // Writing to a text does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value}"),
            "error" => write!(self.error, "{value}"),
            _ if self.told => Ok(()),
            name if is_of_log(name) => Ok(()),
            name => {
                let separator = if self.others.is_empty() { "" } else { ", " };
                write!(self.others, "{separator}{} {value}", name.replace('_', " "))
            }
        };
    }
}

impl Visit for EventText {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn logged(format: LogFormat, events: impl FnOnce()) -> String {
        let written = Arc::new(Mutex::new(Vec::new()));
        let writer = Arc::clone(&written);
        let writer = move || Shared(Arc::clone(&writer));
        let subscriber = tracing_subscriber::registry().with(EnvFilter::new("info")).with(layer(format, writer, false));
        tracing::subscriber::with_default(subscriber, events);
        let bytes = written.lock().expect("no panic").clone();
        String::from_utf8(bytes).expect("text")
    }

    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn hostile() {
        tracing::info!(opponent = %"\x1b]0;owned\x07", games_played = 3, "a game against {}", "\u{9b}2J\n  INFO forged");
    }

    /// Promise 7: nor does it reach a log on a terminal as more than text.
    #[test]
    fn server_text_is_escaped_in_the_log() {
        let text = logged(LogFormat::Text, hostile);
        let said =
            "INFO a game against \\u{9b}2J\\u{a}  INFO forged (opponent \\u{1b}]0;owned\\u{7}, games played 3)\n";
        assert!(text.ends_with(said) && text.lines().count() == 1, "{text:?}");
    }

    #[test]
    fn error_follows_the_failed_action() {
        let text = logged(LogFormat::Text, || tracing::warn!(error = %"no such file", "the book cannot be read"));
        assert!(text.ends_with(" WARN the book cannot be read: no such file\n"), "{text:?}");
    }

    #[test]
    fn library_source_lines_are_not_logged() {
        let warn = || tracing::warn!(log.target = "rustls", log.file = "/home/me/tls.rs", log.line = 7, "no TLS");
        let text = logged(LogFormat::Text, warn);
        assert!(text.ends_with(" WARN no TLS\n"), "{text:?}");
        assert!(!logged(LogFormat::Json, warn).contains("tls.rs"));
    }

    #[test]
    fn account_events_are_logged_once() {
        let tell =
            || tracing::info!(target: "concilio_bot::event", account = "lichess", event = "closed", "lichess: closed");
        assert!(logged(LogFormat::Text, tell).ends_with("INFO lichess: closed\n"));
        let json: serde_json::Value = serde_json::from_str(&logged(LogFormat::Json, tell)).expect("JSON");
        assert_eq!(
            (&json["account"], &json["event"], &json["level"]),
            (&"lichess".into(), &"closed".into(), &"INFO".into())
        );
    }

    #[test]
    fn as_json_every_line_is_an_object() {
        let text = logged(LogFormat::Json, || {
            hostile();
            hostile();
        });
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["opponent"], "\x1b]0;owned\x07");
        assert!(!text.contains(['\x1b', '\x07', '\u{9b}']), "{text:?}");
    }

    #[test]
    fn log_waits_while_the_view_is_drawn() {
        hold_back();
        io::Write::write_all(&mut StandardError, b"one\ntwo\n").expect("kept");
        assert_eq!(lines_held_back(), ["one", "two"]);
        assert!(lines_held_back().is_empty(), "each is told once");
        hold_back_no_longer();
        assert!(held_back().is_none());
    }

    #[test]
    fn filter_without_effect_is_an_error() {
        for good in ["", "info", "WARN", "off", "concilio=debug", "info,concilio_bot=trace,hyper=off"] {
            assert_eq!(parse_filter(good).as_deref(), Ok(good));
        }
        for bad in ["nosense", "info,nosense", "concilio=nosense", "=", "debug info"] {
            assert!(parse_filter(bad).is_err(), "{bad}");
        }
    }
}
