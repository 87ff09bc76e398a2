//! Names of things, each a type of its own so that no two can be confused.

use std::{borrow::Borrow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

macro_rules! name_types {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
            #[serde(transparent)]
            pub struct $name(Arc<str>);

            impl $name {
                /// Wraps the name unchanged; servers decide on its form.
                pub fn new(name: impl AsRef<str>) -> Self {
                    Self(Arc::from(name.as_ref()))
                }

                pub fn as_str(&self) -> &str {
                    &self.0
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.pad(&self.0)
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(f, concat!(stringify!($name), "({})"), self.0)
                }
            }

            impl Borrow<str> for $name {
                fn borrow(&self) -> &str {
                    &self.0
                }
            }

            impl From<&str> for $name {
                fn from(name: &str) -> Self {
                    Self::new(name)
                }
            }

            impl From<String> for $name {
                fn from(name: String) -> Self {
                    Self(Arc::from(name))
                }
            }
        )*
    };
}

name_types! {
    /// A game, as its server names it (Lichess: eight letters and digits).
    GameId,
    /// A challenge, as its server names it. On Lichess an accepted challenge becomes the game of the same name.
    ChallengeId,
    /// An elector within its roster: knowledge letters such as `mpar`, or the name the settings give it.
    ElectorName,
    /// A machine that runs a worker, by the worker's name.
    MachineName,
    /// One server account in the settings, such as `lichess`.
    ServerName
}

impl From<&ChallengeId> for GameId {
    fn from(challenge: &ChallengeId) -> Self {
        Self(Arc::clone(&challenge.0))
    }
}
