//! A plan of faults, and how it is written.

use std::{fmt, num::NonZeroU32, str::FromStr, time::Duration};

use super::StreamFault;
use crate::dialect::Dialect;

/// The frequencies of faults, in percent where they are numbers.
///
/// As text:
/// `seed=7,cut=3s,delay=50ms,429=5%,502=5%,half-open=1%,duplicate=2%,reorder=1%,drop=1%,restart=60s,slow=100B/s`;
/// every part is optional. The fields explain each. `Display` writes the form that `FromStr` reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    /// `seed=7`: where the random numbers begin; otherwise at the server's own seed.
    pub seed: Option<u64>,
    /// `cut=3s`: every stream is cut after about this time (between half and one and a half of it): cleanly, in the
    /// middle of a line, or by resetting the connection.
    pub cut: Option<Duration>,
    /// `delay=50ms`: every request waits up to this time before it is done.
    pub delay: Option<Duration>,
    /// `429=5%`: requests answered "Too many requests" and not done.
    pub too_many: f64,
    /// `500=1%`: requests answered with an internal error and not done.
    pub internal_error: f64,
    /// `502=5%`: requests answered "Bad gateway" and not done.
    pub bad_gateway: f64,
    /// `lost=1%`: requests that are done but never answered; the connection is reset.
    pub lost: f64,
    /// `half-open=1%`: lines at which a stream falls silent for ever.
    pub half_open: f64,
    /// `duplicate=2%`: lines sent twice.
    pub duplicate: f64,
    /// `reorder=1%`: lines sent after the one that follows them.
    pub reorder: f64,
    /// `drop=1%`: lines not sent at all. (A player cannot know about them until it asks.)
    pub drop: f64,
    /// `restart=60s`: the interval of restarts: all connections drop, the state is kept.
    pub restart: Option<Duration>,
    /// `stall-move=1%`: moves that are neither made nor answered; the connection stands.
    pub stall_move: f64,
    /// `slow=100B/s`: the rate of every stream.
    pub slow: Option<NonZeroU32>,
    /// `open=4s`: every stream opens this late: not even the answer's headers come before (on FICS: the banner).
    pub open: Option<Duration>,
    /// `first-line=4s`: the headers of a stream come at once and its first line this late. HTTP only.
    pub first_line: Option<Duration>,
    /// `late=5s`: every line of a stream comes this late.
    pub late: Option<Duration>,
    /// `echo=3s`, `echo=never`: the echo of a player's own move comes late, or not at all ([`StreamFault::Drop`]); the next
    /// line shows the move as well.
    pub echo: Option<StreamFault>,
    /// `streams=10`: simultaneous requests a connection, streams and moves together; further ones
    /// wait. HTTP/2 only, where the limit is announced as `SETTINGS_MAX_CONCURRENT_STREAMS`; an
    /// HTTP/1.1 connection carries one anyway.
    pub streams: Option<NonZeroU32>,
    /// `dialect=uhlin`: which server of its family the FICS side behaves like.
    pub dialect: Dialect,
}

impl FaultPlan {
    fn percents(&mut self) -> [(&'static str, &mut f64); 9] {
        [
            ("429", &mut self.too_many),
            ("500", &mut self.internal_error),
            ("502", &mut self.bad_gateway),
            ("lost", &mut self.lost),
            ("stall-move", &mut self.stall_move),
            ("half-open", &mut self.half_open),
            ("duplicate", &mut self.duplicate),
            ("reorder", &mut self.reorder),
            ("drop", &mut self.drop),
        ]
    }

    fn durations(&mut self) -> [(&'static str, &mut Option<Duration>); 6] {
        [
            ("cut", &mut self.cut),
            ("delay", &mut self.delay),
            ("restart", &mut self.restart),
            ("open", &mut self.open),
            ("first-line", &mut self.first_line),
            ("late", &mut self.late),
        ]
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let wrong = |expected: &str| format!("fault {key}={value:?}: {expected} is expected");
        if let Some((_, field)) = self.percents().into_iter().find(|(name, _)| *name == key) {
            let percent = value.strip_suffix('%').and_then(|number| number.parse().ok());
            *field = percent
                .filter(|percent| (0.0..=100.0).contains(percent))
                .ok_or_else(|| wrong("a percentage such as 5%"))?;
            return Ok(());
        }
        if let Some((_, field)) = self.durations().into_iter().find(|(name, _)| *name == key) {
            *field = Some(parse_delay(value).ok_or_else(|| wrong("a time such as 3s or 50ms"))?);
            return Ok(());
        }
        match key {
            "seed" => self.seed = Some(value.parse().map_err(|_| wrong("a whole number"))?),
            "streams" => self.streams = Some(value.parse().map_err(|_| wrong("a whole number above 0"))?),
            "slow" => {
                let number = value.trim_end_matches("/s").trim_end_matches('B').parse();
                self.slow = Some(number.map_err(|_| wrong("bytes a second, such as 100B/s"))?);
            }
            "echo" if value == "never" => self.echo = Some(StreamFault::Drop),
            "echo" => {
                let late = parse_delay(value).map(StreamFault::Late);
                self.echo = Some(late.ok_or_else(|| wrong("a time such as 3s, or the word never"))?);
            }
            "dialect" => {
                let known = Dialect::ALL.into_iter().find(|dialect| dialect.key() == value);
                self.dialect = known.ok_or_else(|| wrong("freechess, fatics, capablanca or uhlin"))?;
            }
            _ => {
                return Err(format!(
                    "unknown fault {key:?} (known: seed, cut, delay, 429, 500, 502, lost, half-open, duplicate, reorder, \
                     drop, restart, stall-move, slow, open, first-line, late, echo, streams, dialect)"
                ));
            }
        }
        Ok(())
    }
}

impl FromStr for FaultPlan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut plan = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            plan.set(key.trim(), value.trim())?;
        }
        Ok(plan)
    }
}

impl fmt::Display for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plan = self.clone();
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.seed.map(|seed| format!("seed={seed}")));
        for (key, duration) in plan.durations() {
            parts.extend(duration.map(|duration| format!("{key}={}ms", duration.as_millis())));
        }
        for (key, percent) in plan.percents() {
            if *percent > 0.0 {
                parts.push(format!("{key}={percent}%"));
            }
        }
        parts.extend(self.slow.map(|rate| format!("slow={rate}B/s")));
        parts.extend(self.streams.map(|most| format!("streams={most}")));
        parts.extend(self.echo.map(|echo| match echo {
            StreamFault::Late(time) => format!("echo={}ms", time.as_millis()),
            _ => "echo=never".to_owned(),
        }));
        if self.dialect != Dialect::default() {
            parts.push(format!("dialect={}", self.dialect.key()));
        }
        f.write_str(&parts.join(","))
    }
}

/// Reads `3s`, `0.5s`, `50ms` or `2m`; no delay at all is none.
fn parse_delay(text: &str) -> Option<Duration> {
    let (number, unit) = match text {
        _ if text.ends_with("ms") => (text.strip_suffix("ms")?, 0.001),
        _ if text.ends_with('s') => (text.strip_suffix('s')?, 1.0),
        _ => (text.strip_suffix('m')?, 60.0),
    };
    let seconds = number.parse::<f64>().ok()? * unit;
    let delay = (0.0..1e6).contains(&seconds).then(|| Duration::from_secs_f64(seconds))?;
    (!delay.is_zero()).then_some(delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_back_what_it_prints() {
        let text = "seed=7, cut=3s,delay=50ms,429=5%,502=0.5%,half-open=1%,duplicate=2%,reorder=1%,drop=1%,restart=1m,\
                    stall-move=1%,slow=100B/s,open=4s,first-line=3s,late=5s,echo=never,streams=10,dialect=uhlin";
        let plan: FaultPlan = text.parse().expect("a plan");
        assert_eq!(
            (plan.seed, plan.cut, plan.restart),
            (Some(7), Some(Duration::from_secs(3)), Some(Duration::from_secs(60)))
        );
        assert_eq!(
            (plan.slow.map(NonZeroU32::get), plan.open, plan.echo, plan.dialect),
            (Some(100), Some(Duration::from_secs(4)), Some(StreamFault::Drop), Dialect::Uhlin)
        );
        assert_eq!(plan.to_string().parse(), Ok(plan));
        assert_eq!(
            "echo=2s".parse::<FaultPlan>().expect("a plan").echo,
            Some(StreamFault::Late(Duration::from_secs(2)))
        );
        assert_eq!("".parse(), Ok(FaultPlan::default()));
    }

    #[test]
    fn what_is_no_plan_is_named() {
        for (text, named) in [
            ("cuts=3s", "unknown fault \"cuts\""),
            ("429=5", "a percentage such as 5%"),
            ("429=101%", "a percentage such as 5%"),
            ("cut=0s", "a time such as 3s"),
            ("restart=soon", "a time such as 3s"),
            ("seed", "a whole number"),
            ("slow=0B/s", "bytes a second, such as 100B/s"),
            ("streams=0", "a whole number above 0"),
            ("echo=sometimes", "or the word never"),
            ("dialect=icc", "freechess, fatics, capablanca or uhlin"),
        ] {
            let error = text.parse::<FaultPlan>().expect_err(text).to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
