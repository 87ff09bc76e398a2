//! Numbers and times within bounds. A field names its range where it is declared: `#[serde(with = "WholeNumber::<0, 4000>")]` reads and
//! writes a whole number.

use std::{fmt, time::Duration};

use serde::{Deserializer, Serialize, Serializer, de};

pub struct WholeNumber<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> WholeNumber<MIN, MAX> {
    pub fn deserialize<'de, T: TryFrom<i64>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let range = Range::whole(MIN, MAX, false, "");
        deserializer.deserialize_i64(range)?.map_or_else(|| fitting(MIN as f64), fitting)
    }

    pub fn serialize<T: Serialize, S: Serializer>(number: &T, serializer: S) -> Result<S::Ok, S::Error> {
        number.serialize(serializer)
    }
}

/// A whole number from `MIN` to `MAX`, or `"none"` for no limit.
pub struct WholeNumberOrNone<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> WholeNumberOrNone<MIN, MAX> {
    pub fn deserialize<'de, T: TryFrom<i64>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        let range = Range::whole(MIN, MAX, true, "");
        deserializer.deserialize_any(range)?.map(fitting).transpose()
    }

    pub fn serialize<T: Serialize, S: Serializer>(number: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match number {
            Some(number) => number.serialize(serializer),
            None => serializer.serialize_str(NONE),
        }
    }
}

/// A time of whole seconds from `MIN` to `MAX`.
pub struct Seconds<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> Seconds<MIN, MAX> {
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let range = Range::whole(MIN, MAX, false, " (seconds)");
        deserializer.deserialize_i64(range).map(|seconds| Duration::from_secs_f64(seconds.unwrap_or_default()))
    }

    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(time.as_secs())
    }
}

/// A time of whole seconds from `MIN` to `MAX`, or `"none"` for no limit.
pub struct SecondsOrNone<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> SecondsOrNone<MIN, MAX> {
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let range = Range::whole(MIN, MAX, true, " (seconds)");
        deserializer.deserialize_any(range).map(|seconds| seconds.map(Duration::from_secs_f64))
    }

    pub fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        WholeNumberOrNone::<MIN, MAX>::serialize(&time.map(|time| time.as_secs()), serializer)
    }
}

/// A time in seconds with fractions; `MIN` and `MAX` are milliseconds.
pub struct FractionalSeconds<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> FractionalSeconds<MIN, MAX> {
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let range = Range::decimal(MIN, MAX, false, "seconds");
        deserializer.deserialize_f64(range).map(|seconds| Duration::from_secs_f64(seconds.unwrap_or_default()))
    }

    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(time.as_secs_f64())
    }
}

/// A time in seconds with fractions, or `"none"` for no limit; `MIN` and `MAX` are milliseconds.
pub struct FractionalSecondsOrNone<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> FractionalSecondsOrNone<MIN, MAX> {
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let range = Range::decimal(MIN, MAX, true, "seconds");
        deserializer.deserialize_any(range).map(|seconds| seconds.map(Duration::from_secs_f64))
    }

    pub fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        WholeNumberOrNone::<MIN, MAX>::serialize(&time.map(|time| time.as_secs_f64()), serializer)
    }
}

/// A number with fractions; `MIN` and `MAX` are thousandths.
pub struct Decimal<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> Decimal<MIN, MAX> {
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        deserializer.deserialize_f64(Range::decimal(MIN, MAX, false, "a number")).map(Option::unwrap_or_default)
    }

    pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(*number)
    }
}

/// The word for "no limit" in settings.
const NONE: &str = "none";

fn fitting<T: TryFrom<i64>, E: de::Error>(number: f64) -> Result<T, E> {
    T::try_from(number as i64).map_err(|_| E::custom("the number does not fit"))
}

struct Range {
    /// Bounds, of decimals in thousandths: types cannot have fractions for parameters.
    bounds: (i64, i64),
    is_whole: bool,
    /// True if [`NONE`] is accepted as well.
    none: bool,
    what: &'static str,
    unit: &'static str,
}

impl Range {
    const fn whole(min: i64, max: i64, none: bool, unit: &'static str) -> Self {
        Self { bounds: (min, max), is_whole: true, none, what: "a whole number", unit }
    }

    const fn decimal(min: i64, max: i64, none: bool, what: &'static str) -> Self {
        Self { bounds: (min, max), is_whole: false, none, what, unit: "" }
    }
}

/// Whole numbers within bounds fit a floating-point number.
impl de::Visitor<'_> for Range {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bounds: (min, max), what, unit, .. } = self;
        if self.is_whole {
            write!(f, "{what} from {min} to {max}{unit}")?;
        } else {
            write!(f, "{what} from {} to {}", *min as f64 / 1000.0, *max as f64 / 1000.0)?;
        }
        if self.none { write!(f, ", or {NONE:?}") } else { Ok(()) }
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        let (min, max) = (self.bounds.0 as f64, self.bounds.1 as f64);
        if self.is_whole {
            Err(E::invalid_type(de::Unexpected::Float(number), &self))
        } else if (min..=max).contains(&(number * 1000.0)) {
            Ok(Some(number))
        } else {
            Err(E::invalid_value(de::Unexpected::Float(number), &self))
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        if !self.is_whole {
            self.visit_f64(number as f64)
        } else if (self.bounds.0..=self.bounds.1).contains(&number) {
            Ok(Some(number as f64))
        } else {
            Err(E::invalid_value(de::Unexpected::Signed(number), &self))
        }
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if self.none && text == NONE { Ok(None) } else { Err(E::invalid_type(de::Unexpected::Str(text), &self)) }
    }
}
