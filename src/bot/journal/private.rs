//! Files that are nobody's business but their owner's: the one file that knows how a system says so.

use std::fs::OpenOptions;

/// Opens files so that those it makes can be read and written by their owner alone (0600). What exists keeps the permissions
/// that somebody gave it.
#[cfg(unix)]
pub(super) fn open() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Elsewhere the folder's permissions are inherited.
#[cfg(not(unix))]
pub(super) fn open() -> OpenOptions {
    OpenOptions::new()
}
