//! The secret by which the server knows us. It has no way into a log: its `Debug` and `Display` show nothing, and it is
//! neither serialised nor read from settings.

use std::{ffi::OsString, fmt, fs, io, path::Path, path::PathBuf};

pub const TOKEN_VARIABLE: &str = "CONCILIO_LICHESS_TOKEN";

/// The name of the systemd credential that may hold the token (`LoadCredential=lichess-token:...`).
pub const TOKEN_CREDENTIAL: &str = "lichess-token";

#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(
        "no Lichess token: put it into a file and name that as `token_file`, set {TOKEN_VARIABLE}, or load the systemd credential `{TOKEN_CREDENTIAL}`"
    )]
    Missing,
    #[error("cannot read the Lichess token from {}: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: io::Error },
    #[error("{place} holds no Lichess token: letters, digits and underscores are expected, nothing else")]
    Malformed { place: String },
}

impl Token {
    /// Looks for the token in the file of the settings, else in the environment, else among systemd's credentials.
    ///
    /// # Errors
    /// [`TokenError`]: nothing there, unreadable, or no token. A place that is named but bad is an error, not a reason to look further.
    pub fn load(token_file: Option<&Path>) -> Result<Self, TokenError> {
        Self::find(token_file, |name| std::env::var_os(name))
    }

    fn find(token_file: Option<&Path>, environment: impl Fn(&str) -> Option<OsString>) -> Result<Self, TokenError> {
        if let Some(path) = token_file {
            warn_if_public(path);
            return Self::read(path);
        }
        if let Some(text) = environment(TOKEN_VARIABLE) {
            return Self::parse(&text.to_string_lossy(), TOKEN_VARIABLE);
        }
        match environment("CREDENTIALS_DIRECTORY").map(|directory| PathBuf::from(directory).join(TOKEN_CREDENTIAL)) {
            Some(path) if path.exists() => Self::read(&path),
            _ => Err(TokenError::Missing),
        }
    }

    fn read(path: &Path) -> Result<Self, TokenError> {
        let text =
            fs::read_to_string(path).map_err(|reason| TokenError::Unreadable { path: path.to_owned(), reason })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Takes a text, trimmed, as the token; `place` names its origin in the error.
    pub fn parse(text: &str, place: &str) -> Result<Self, TokenError> {
        // Some editors begin a file with a mark of its encoding.
        let text = text.trim_start_matches('\u{feff}').trim();
        let plausible = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if plausible { Ok(Self(text.to_owned())) } else { Err(TokenError::Malformed { place: place.to_owned() }) }
    }

    /// The secret itself, for the wire only.
    pub(super) fn secret(&self) -> &str {
        &self.0
    }
}

#[cfg(unix)]
fn warn_if_public(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    if fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0) {
        tracing::warn!("others may read the token in {0}; close it with `chmod 600 {0}`", path.display());
    }
}

#[cfg(not(unix))]
fn warn_if_public(_path: &Path) {}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_never_shows_itself() {
        let token = Token::parse("\u{feff} lip_Secret1\r\n", "test").expect("a token");
        assert_eq!(token.secret(), "lip_Secret1");
        assert!(!format!("{token} {token:?} {token:#?}").contains("Secret"));
        let error = Token::parse("lip_Secret 1", "the test").expect_err("no token");
        assert!(!format!("{error} {error:?}").contains("Secret"));
    }

    #[test]
    fn token_file_precedes_environment() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("written");
            path
        };
        let file = write("token", "from_file\n");
        write(TOKEN_CREDENTIAL, "from_systemd");
        let credentials = folder.path().as_os_str().to_owned();
        let find = |token_file: Option<&Path>, variable: Option<&str>, systemd: bool| {
            Token::find(token_file, |name| match name {
                TOKEN_VARIABLE => variable.map(OsString::from),
                "CREDENTIALS_DIRECTORY" => systemd.then(|| credentials.clone()),
                _ => None,
            })
            .map(|token| token.0)
        };
        assert_eq!(find(Some(&file), Some("from_variable"), true).ok().as_deref(), Some("from_file"));
        assert_eq!(find(None, Some("from_variable"), true).ok().as_deref(), Some("from_variable"));
        assert_eq!(find(None, None, true).ok().as_deref(), Some("from_systemd"));
        assert!(matches!(find(None, None, false), Err(TokenError::Missing)));
        assert!(matches!(find(None, Some("  "), true), Err(TokenError::Malformed { .. })));
        let nowhere = folder.path().join("nowhere");
        assert!(matches!(find(Some(&nowhere), Some("x"), true), Err(TokenError::Unreadable { .. })));
    }
}
