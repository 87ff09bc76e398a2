//! What can be wrong with settings whose single values are all well-formed.

/// One thing that is wrong. Keys are paths below the table that was checked, a name for each table on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The value of one key is not acceptable.
    Value {
        /// The key whose value it is.
        key: Vec<String>,
        /// What would be, to follow the word "expected".
        accepted: String,
    },
    /// The value of the first key exceeds that of the second.
    Order {
        /// The key of the lower bound.
        low: Vec<String>,
        /// The key of the upper bound.
        high: Vec<String>,
    },
}

impl Fault {
    /// A value that is not acceptable.
    pub fn value(key: &str, accepted: impl Into<String>) -> Self {
        Self::Value { key: vec![key.to_owned()], accepted: accepted.into() }
    }

    /// Two bounds of a range, if they are the wrong way round.
    pub fn unless_ordered<T: PartialOrd>(low: (&str, T), high: (&str, T)) -> Option<Self> {
        (low.1 > high.1).then(|| Self::Order { low: vec![low.0.to_owned()], high: vec![high.0.to_owned()] })
    }

    /// The same fault seen from the table above, which calls this one `table`.
    #[must_use]
    pub fn below(mut self, table: &str) -> Self {
        match &mut self {
            Self::Value { key, .. } => key.insert(0, table.to_owned()),
            Self::Order { low, high } => [low, high].into_iter().for_each(|key| key.insert(0, table.to_owned())),
        }
        self
    }
}
