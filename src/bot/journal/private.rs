//! Files for their owner alone, and names beside the journal's.

use std::{
    fs::OpenOptions,
    path::{Path, PathBuf},
};

/// Returns options for files of their owner alone (0600). Existing files keep their permissions.
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

/// Returns the path with this text after its name.
pub(super) fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
