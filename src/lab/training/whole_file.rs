//! Files that are never half written.

use std::{fs, io, path::Path};

/// Writes a file beside its place and moves it there: it is there as a whole, or as it was before.
pub(crate) fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, content)?;
    fs::rename(&unfinished, path)
}
