//! Files for their owner alone, on every system.

use std::fs::OpenOptions;

/// Opens files so that new ones can be read and written by their owner alone (0600). Existing files
/// keep their permissions.
#[cfg(unix)]
pub(super) fn open() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// On other systems the folder's permissions are inherited.
#[cfg(not(unix))]
pub(super) fn open() -> OpenOptions {
    OpenOptions::new()
}
