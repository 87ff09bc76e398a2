//! A climate of faults, and how it is written.

use std::{fmt, str::FromStr, time::Duration};

/// A share of a hundred.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Percent(f64);

impl Percent {
    /// `None` unless between 0 and 100.
    pub fn new(percent: f64) -> Option<Self> {
        (0.0..=100.0).contains(&percent).then_some(Self(percent))
    }

    /// Between 0 and 1.
    pub fn probability(self) -> f64 {
        self.0 / 100.0
    }
}

/// How often what goes wrong.
///
/// As text: `seed=7,cut=3s,delay=50ms,429=5%,502=5%,half-open=1%,duplicate=2%,reorder=1%,drop=1%,restart=60s`; every
/// part may be left out. See the fields for what each means. `Display` writes what `FromStr` reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    /// `seed=7`: where the lots begin; otherwise at the server's own seed.
    pub seed: Option<u64>,
    /// `cut=3s`: every stream is cut after about this time (between half and one and a half of it): cleanly, in the
    /// middle of a line, or by resetting the connection.
    pub cut: Option<Duration>,
    /// `delay=50ms`: every request waits up to this time before it is done.
    pub delay: Option<Duration>,
    /// `429=5%`: requests answered "Too many requests" and not done.
    pub too_many: Percent,
    /// `500=1%`: requests answered with an internal error and not done.
    pub internal_error: Percent,
    /// `502=5%`: requests answered "Bad gateway" and not done.
    pub bad_gateway: Percent,
    /// `lost=1%`: requests that are done but never answered; the connection is reset.
    pub lost: Percent,
    /// `half-open=1%`: with so many of the lines a stream falls silent for ever.
    pub half_open: Percent,
    /// `duplicate=2%`: lines sent twice.
    pub duplicate: Percent,
    /// `reorder=1%`: lines sent after the one that follows them.
    pub reorder: Percent,
    /// `drop=1%`: lines not sent at all. (A player cannot know what it was not told until it asks.)
    pub drop: Percent,
    /// `restart=60s`: so often the server restarts: all connections drop, its state is kept.
    pub restart: Option<Duration>,
}

/// A text that is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultPlanError {
    /// The name of a fault is not known.
    #[error(
        "unknown fault {0:?} (known: seed, cut, delay, 429, 500, 502, lost, half-open, duplicate, reorder, drop, restart)"
    )]
    Unknown(String),
    /// The value does not fit.
    #[error("fault {key}={value:?}: {expected} is expected")]
    Value {
        /// Which fault.
        key: String,
        /// As it was given.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
}

impl FaultPlan {
    fn percents(&mut self) -> [(&'static str, &mut Percent); 8] {
        [
            ("429", &mut self.too_many),
            ("500", &mut self.internal_error),
            ("502", &mut self.bad_gateway),
            ("lost", &mut self.lost),
            ("half-open", &mut self.half_open),
            ("duplicate", &mut self.duplicate),
            ("reorder", &mut self.reorder),
            ("drop", &mut self.drop),
        ]
    }

    fn durations(&mut self) -> [(&'static str, &mut Option<Duration>); 3] {
        [("cut", &mut self.cut), ("delay", &mut self.delay), ("restart", &mut self.restart)]
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), FaultPlanError> {
        let wrong = |expected| FaultPlanError::Value { key: key.to_owned(), value: value.to_owned(), expected };
        if key == "seed" {
            self.seed = Some(value.parse().map_err(|_| wrong("a whole number"))?);
            return Ok(());
        }
        if let Some((_, field)) = self.percents().into_iter().find(|(name, _)| *name == key) {
            let percent = value.strip_suffix('%').and_then(|number| number.parse().ok()).and_then(Percent::new);
            *field = percent.ok_or_else(|| wrong("a percentage such as 5%"))?;
            return Ok(());
        }
        if let Some((_, field)) = self.durations().into_iter().find(|(name, _)| *name == key) {
            let duration = parse_duration(value).filter(|duration| !duration.is_zero());
            *field = Some(duration.ok_or_else(|| wrong("a time such as 3s or 50ms"))?);
            return Ok(());
        }
        Err(FaultPlanError::Unknown(key.to_owned()))
    }
}

impl FromStr for FaultPlan {
    type Err = FaultPlanError;

    fn from_str(text: &str) -> Result<Self, FaultPlanError> {
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
            if percent.0 > 0.0 {
                parts.push(format!("{key}={}%", percent.0));
            }
        }
        f.write_str(&parts.join(","))
    }
}

/// Reads `3s`, `0.5s`, `50ms` or `2m`.
fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = match text {
        _ if text.ends_with("ms") => (text.strip_suffix("ms")?, 0.001),
        _ if text.ends_with('s') => (text.strip_suffix('s')?, 1.0),
        _ => (text.strip_suffix('m')?, 60.0),
    };
    let seconds = number.parse::<f64>().ok()? * unit;
    (0.0..1e6).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_back_what_it_prints() {
        let text = "seed=7, cut=3s,delay=50ms,429=5%,502=0.5%,half-open=1%,duplicate=2%,reorder=1%,drop=1%,restart=1m";
        let plan: FaultPlan = text.parse().expect("a plan");
        assert_eq!(
            (plan.seed, plan.cut, plan.restart),
            (Some(7), Some(Duration::from_secs(3)), Some(Duration::from_secs(60)))
        );
        assert_eq!(plan.to_string().parse(), Ok(plan));
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
        ] {
            let error = text.parse::<FaultPlan>().expect_err(text).to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
