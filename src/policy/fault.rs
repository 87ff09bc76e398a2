//! What can be wrong with settings whose single values are all well-formed.

/// One thing wrong, named by the keys as they stand below the table that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The value of one key is not acceptable.
    Value {
        /// Which key.
        key: String,
        /// What would be, to follow the word "expected".
        accepted: String,
    },
    /// The value of the first key exceeds that of the second.
    Order {
        /// The key of the lower bound.
        low: String,
        /// The key of the upper bound.
        high: String,
    },
}

impl Fault {
    /// A value that is not acceptable.
    pub fn value(key: impl Into<String>, accepted: impl Into<String>) -> Self {
        Self::Value { key: key.into(), accepted: accepted.into() }
    }

    /// Two bounds of a range, if they are the wrong way round.
    pub fn unless_ordered<T: PartialOrd>(low: (&str, T), high: (&str, T)) -> Option<Self> {
        (low.1 > high.1).then(|| Self::Order { low: low.0.to_owned(), high: high.0.to_owned() })
    }

    /// The same fault seen from the table above.
    #[must_use]
    pub fn below(self, table: &str) -> Self {
        match self {
            Self::Value { key, accepted } => Self::Value { key: format!("{table}.{key}"), accepted },
            Self::Order { low, high } => Self::Order { low: format!("{table}.{low}"), high: format!("{table}.{high}") },
        }
    }
}
