//! Helpers of several packages that know nothing of chess.
//!
//! | subject | items |
//! |---|---|
//! | requests to end, tasks that go on after a panic, delays between attempts | [`Shutdown`], [`Supervisor`], [`Backoff`] |
//! | failures of a command, output on the terminal | [`Failure`], [`print()`], [`printable`], [`outln`] |
//! | values of settings and their faults | [`values`], [`Fault`] |
//! | passwords, tokens, seeds | [`Secret`] |
//! | enums and their words | [`words`] |
//! | items found or grouped in their order | [`find_or_add`], [`grouped`] |
//! | files that are never half written | [`replace_file`] |
//! | FICS: lines that carry the time of their sending | [`timeseal`] |

mod backoff;
mod failure;
mod fault;
mod secret;
mod supervisor;
mod terminal;
pub mod timeseal;
pub mod values;

pub use backoff::Backoff;
pub use failure::Failure;
pub use fault::Fault;
pub use secret::{Secret, SecretError};
pub use supervisor::{Supervisor, caught};
pub use terminal::{print, printable, printable_json, steers};

use std::{fs, io, path::Path};

use tokio_util::sync::CancellationToken;

/// The two requests to end, in the order in which they come. Cheap to clone; clones are the same requests.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Starts nothing new; running games are finished.
    pub drain: CancellationToken,
    pub now: CancellationToken,
}

/// Writes a file beside its place and moves it there, so that it is never half written.
pub fn replace_file(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, content)?;
    fs::rename(&part, path)
}

/// Collects values by their keys, both in the order in which they come.
pub fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Gives an enum the list of its variants, and a function that returns the word of each.
#[macro_export]
macro_rules! words {
    ($type:ident::$function:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            pub const fn $function(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

/// Returns the first item for which `is` returns true, or adds `new` at the end.
pub fn find_or_add<T>(items: &mut Vec<T>, is: impl FnMut(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let place = items.iter().position(is).unwrap_or_else(|| {
        items.push(new());
        items.len() - 1
    });
    &mut items[place]
}
