//! Faults of settings with well-formed single values.

/// One fault. Keys are paths below the table that was checked, one name for each table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    Value {
        key: Vec<String>,
        /// The accepted values, to follow the word "expected".
        accepted: String,
    },
    /// The value of the first key exceeds that of the second.
    Order { low: Vec<String>, high: Vec<String> },
}

impl Fault {
    pub fn value(key: &str, accepted: impl Into<String>) -> Self {
        Self::Value { key: vec![key.to_owned()], accepted: accepted.into() }
    }

    /// Two bounds of a range, if they are the wrong way round.
    pub fn unless_ordered<T: PartialOrd>(low: (&str, T), high: (&str, T)) -> Option<Self> {
        (low.1 > high.1).then(|| Self::Order { low: vec![low.0.to_owned()], high: vec![high.0.to_owned()] })
    }

    /// Returns the same fault seen from the enclosing table, in which this one is called `table`.
    #[must_use]
    pub fn below(mut self, table: &str) -> Self {
        match &mut self {
            Self::Value { key, .. } => key.insert(0, table.to_owned()),
            Self::Order { low, high } => [low, high].into_iter().for_each(|key| key.insert(0, table.to_owned())),
        }
        self
    }
}
