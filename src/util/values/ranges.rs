//! Numbers and times within bounds. A field names its range where it is declared: `#[serde(with = "WholeNumber::<0, 4000>")]` reads and
//! writes a whole number.

use std::{fmt, time::Duration};

use serde::{Deserializer, Serialize, Serializer, de};

/// A whole number from `MIN` to `MAX`: `#[serde(with = "WholeNumber::<0, 4000>")]`.
pub struct WholeNumber<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> WholeNumber<MIN, MAX> {
    /// Reads one.
    ///
    /// # Errors
    /// When it is no whole number or out of the range.
    pub fn deserialize<'de, T: TryFrom<i64>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let range = WholeRange { min: MIN, max: MAX, none: false, unit: "" };
        fitting(deserializer.deserialize_i64(range)?.unwrap_or(MIN))
    }

    /// Writes it as it is.
    pub fn serialize<T: Serialize, S: Serializer>(number: &T, serializer: S) -> Result<S::Ok, S::Error> {
        number.serialize(serializer)
    }
}

/// A whole number from `MIN` to `MAX`, or `"none"` for no limit.
pub struct WholeNumberOrNone<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> WholeNumberOrNone<MIN, MAX> {
    /// Reads one.
    pub fn deserialize<'de, T: TryFrom<i64>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        let range = WholeRange { min: MIN, max: MAX, none: true, unit: "" };
        deserializer.deserialize_any(range)?.map(fitting).transpose()
    }

    /// Writes the number or `"none"`.
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
    /// Reads one.
    ///
    /// # Errors
    /// When it is no whole number or out of the range.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let range = WholeRange { min: MIN, max: MAX, none: false, unit: " (seconds)" };
        Ok(duration(deserializer.deserialize_i64(range)?.unwrap_or(MIN)))
    }

    /// Writes the seconds.
    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(time.as_secs())
    }
}

/// A time of whole seconds from `MIN` to `MAX`, or `"none"` for no limit.
pub struct SecondsOrNone<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> SecondsOrNone<MIN, MAX> {
    /// Reads one.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let range = WholeRange { min: MIN, max: MAX, none: true, unit: " (seconds)" };
        Ok(deserializer.deserialize_any(range)?.map(duration))
    }

    /// Writes the seconds or `"none"`.
    pub fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        WholeNumberOrNone::<MIN, MAX>::serialize(&time.map(|time| time.as_secs()), serializer)
    }
}

/// A time in seconds with fractions; `MIN` and `MAX` are milliseconds.
pub struct FractionalSeconds<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> FractionalSeconds<MIN, MAX> {
    /// Reads one.
    ///
    /// # Errors
    /// When it is no number or out of the range.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let range = DecimalRange { min: MIN, max: MAX, what: "seconds" };
        deserializer.deserialize_f64(range).map(Duration::from_secs_f64)
    }

    /// Writes the seconds.
    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(time.as_secs_f64())
    }
}

/// A time in seconds with fractions, or `"none"` for no limit; `MIN` and `MAX` are milliseconds.
pub struct FractionalSecondsOrNone<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> FractionalSecondsOrNone<MIN, MAX> {
    /// Reads one.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let range = DecimalRange { min: MIN, max: MAX, what: "seconds" };
        deserializer.deserialize_any(DecimalOrNone(range)).map(|seconds| seconds.map(Duration::from_secs_f64))
    }

    /// Writes the seconds or `"none"`.
    pub fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => serializer.serialize_f64(time.as_secs_f64()),
            None => serializer.serialize_str(NONE),
        }
    }
}

/// A number with fractions; `MIN` and `MAX` are thousandths.
pub struct Decimal<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> Decimal<MIN, MAX> {
    /// Reads one.
    ///
    /// # Errors
    /// When it is no number or out of the range.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        deserializer.deserialize_f64(DecimalRange { min: MIN, max: MAX, what: "a number" })
    }

    /// Writes it as it is.
    pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(*number)
    }
}

/// The word for "no limit" in settings.
const NONE: &str = "none";

fn fitting<T: TryFrom<i64>, E: de::Error>(number: i64) -> Result<T, E> {
    T::try_from(number).map_err(|_| E::custom("the number does not fit"))
}

fn duration(seconds: i64) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

struct WholeRange {
    min: i64,
    max: i64,
    none: bool,
    unit: &'static str,
}

impl de::Visitor<'_> for WholeRange {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {} to {}{}", self.min, self.max, self.unit)?;
        if self.none { write!(f, ", or {NONE:?}") } else { Ok(()) }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        if (self.min..=self.max).contains(&number) {
            Ok(Some(number))
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

/// Bounds in thousandths, as types cannot have fractions for parameters.
struct DecimalOrNone(DecimalRange);

impl de::Visitor<'_> for DecimalOrNone {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)?;
        write!(f, ", or \"{NONE}\"")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        self.0.visit_f64(number).map(Some)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        self.0.visit_i64(number).map(Some)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        self.0.visit_u64(number).map(Some)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match text {
            NONE => Ok(None),
            other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
        }
    }
}

struct DecimalRange {
    min: i64,
    max: i64,
    what: &'static str,
}

impl de::Visitor<'_> for DecimalRange {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {} to {}", self.what, self.min as f64 / 1000.0, self.max as f64 / 1000.0)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<f64, E> {
        if (self.min as f64..=self.max as f64).contains(&(number * 1000.0)) {
            Ok(number)
        } else {
            Err(E::invalid_value(de::Unexpected::Float(number), &self))
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<f64, E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<f64, E> {
        self.visit_f64(number as f64)
    }
}
