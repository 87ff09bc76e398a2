//! The log: on standard error, and in daily files if these are wanted. As text, one plain sentence a line; as JSON, one
//! object a line with every field.

use std::{
    fmt,
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
    Layer, Registry,
    filter::Targets,
    fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter, format::Writer},
    layer::{Layered, SubscriberExt as _},
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use super::{Failure, daily_log::DailyLog};
use crate::settings::{LogFormat, LogSettings};
use util::{printable, printable_json, values::named};

pub(super) fn parse_filter(text: &str) -> Result<String, String> {
    if LogSettings::is_filter(text) { Ok(text.to_owned()) } else { Err(format!("expected {}", LogSettings::ACCEPTED)) }
}

pub(super) fn init(settings: &LogSettings) -> Result<(), Failure> {
    // The cluster client logs its connections itself; the wake-ups of tasks are for tests.
    let filter = format!("async_nats=error,concilio::task=off,{}", settings.level);
    let filter = LogSettings::filter(&filter).unwrap_or_default();
    let file = named(&settings.file).map(|file| DailyLog::open(file, settings.days)).transpose()?;
    let file = file.map(|file| layer(settings.format, Mutex::new(file), false));
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

/// Returns the lines held back since the last call.
pub(super) fn lines_held_back() -> Vec<String> {
    let text = held_back().as_mut().map(std::mem::take).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

/// Logs on the terminal again, beginning with the lines held back.
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

fn layer<W>(format: LogFormat, writer: W, ansi: bool) -> Box<dyn Layer<Layered<Targets, Registry>> + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // A closed terminal takes no complaints either.
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).log_internal_errors(false);
    layer.with_ansi(ansi && format == LogFormat::Text).event_format(format).boxed()
}

/// Target of events of accounts and games: their sentences contain their fields.
const TOLD: &str = "concilio_bot::event";

impl<S, N> FormatEvent<S, N> for LogFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        match self {
            Self::Text => write_sentence(writer, event),
            Self::Json => write_object(writer, event),
        }
    }
}

/// One line an event: `2026-11-22 12:30:01  INFO lichess: connected as BOT Concilio`. Its fields follow: an error behind a colon,
/// all others in brackets. Names and texts of servers are among them, and must not steer the terminal.
fn write_sentence(mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
    let (level, time) = (*event.metadata().level(), Zoned::now());
    let time = time.strftime("%Y-%m-%d %H:%M:%S");
    if writer.has_ansi_escapes() {
        write!(writer, "\x1b[2m{time}\x1b[0m {}{level:>5}\x1b[0m ", color(level))?;
    } else {
        write!(writer, "{time} {level:>5} ")?;
    }
    let (mut message, mut error, mut others) = (String::new(), String::new(), Vec::new());
    for (name, value) in EventFields::of(event) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match name {
            "message" => message = text,
            "error" => error = text,
            _ => others.push(format!("{} {text}", name.replace('_', " "))),
        }
    }
    write!(writer, "{}", printable(&message))?;
    if !error.is_empty() {
        write!(writer, ": {}", printable(&error))?;
    }
    if !others.is_empty() && event.metadata().target() != TOLD {
        write!(writer, " ({})", printable(&others.join(", ")))?;
    }
    writeln!(writer)
}

/// One object an event, with every field. Terminal controls are escaped.
fn write_object(mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
    let mut object = Map::new();
    object.insert("timestamp".to_owned(), Timestamp::now().to_string().into());
    object.insert("level".to_owned(), event.metadata().level().as_str().into());
    object.extend(EventFields::of(event).map(|(name, value)| (name.to_owned(), value)));
    writeln!(writer, "{}", printable_json(&Value::Object(object).to_string()))
}

/// The fields of an event, in their order.
#[derive(Default)]
struct EventFields(Vec<(&'static str, Value)>);

impl EventFields {
    /// Returns them without those that messages of libraries with the crate `log` carry: places in their source.
    fn of(event: &Event<'_>) -> impl Iterator<Item = (&'static str, Value)> {
        let mut fields = Self::default();
        event.record(&mut fields);
        fields.0.into_iter().filter(|(name, _)| !name.starts_with("log."))
    }
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push((field.name(), format!("{value:?}").into()));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), value.into()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.push((field.name(), value.into()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.push((field.name(), value.into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.push((field.name(), value.into()));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.push((field.name(), value.into()));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(format: LogFormat, events: impl FnOnce()) -> String {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let subscriber = tracing_subscriber::registry()
            .with(LogSettings::filter("info").expect("a filter"))
            .with(layer(format, file.reopen().expect("a file"), false));
        let _logging = testkit::log_thread_to(subscriber);
        events();
        std::fs::read_to_string(file).expect("text")
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
