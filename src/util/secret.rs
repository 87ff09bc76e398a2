//! Secrets for servers. They stay out of logs: `Debug` shows nothing, and settings contain none.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// A password, a token, a seed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the {what} from {}: {reason}", file.display())]
pub struct SecretError {
    pub what: &'static str,
    pub file: PathBuf,
    pub reason: String,
}

impl Secret {
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The secret itself, for the wire only.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Searches the first line of the file, if one is named, else the environment, else systemd's
    /// credentials. Returns `None` if the secret is in none of them. `what` is its name in errors.
    ///
    /// # Errors
    /// [`SecretError`] if a named file cannot be read or is empty.
    pub fn find(
        what: &'static str,
        file: Option<&Path>,
        variable: &str,
        credential: &str,
    ) -> Result<Option<Self>, SecretError> {
        if let Some(file) = file {
            return Self::read(what, file).map(Some);
        }
        if let Some(secret) = std::env::var(variable).ok().filter(|secret| !secret.is_empty()) {
            return Ok(Some(Self(secret)));
        }
        let folder = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
        let loaded = folder.map(|folder| folder.join(credential)).filter(|file| file.exists());
        loaded.map(|file| Self::read(what, &file)).transpose()
    }

    /// The first line of a file.
    pub fn read(what: &'static str, file: &Path) -> Result<Self, SecretError> {
        let error = |reason: String| SecretError { what, file: file.to_owned(), reason };
        let text = fs::read_to_string(file).map_err(|reason| error(reason.to_string()))?;
        // Some editors begin a file with a mark of its encoding.
        match text.trim_start_matches('\u{feff}').lines().next().map(str::trim) {
            Some(secret) if !secret.is_empty() => Ok(Self(secret.to_owned())),
            _ => Err(error("its first line is empty".to_owned())),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_shown() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("password");
        fs::write(&file, "\u{feff}sesame\r\nsecond line\n").expect("writable");
        let secret = Secret::read("password", &file).expect("a secret");
        assert_eq!((secret.reveal(), format!("{secret:?}").as_str()), ("sesame", "Secret(***)"));
        fs::write(&file, "\n").expect("writable");
        let error = Secret::read("password", &file).expect_err("an empty file").to_string();
        assert!(error.contains("the password from") && error.contains("first line is empty"), "{error}");
    }
}
