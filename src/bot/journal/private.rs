//! Files for their owner alone, and names beside the journal's.

use std::{
    fs::OpenOptions,
    path::{Path, PathBuf},
};

/// Returns options for files of their owner alone (0600). Existing files keep their permissions.
/// On other systems than Unix the folder's permissions are inherited.
pub(super) fn open() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns the path with this text after its name.
pub(super) fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
