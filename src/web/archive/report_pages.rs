//! The pages of reports in the folder `report` beside the journal. They contain neither scripts nor
//! external content, so they are sent as they are.

use std::path::{Path, PathBuf};

use axum::{
    extract::{self, State},
    http::header,
    response::{IntoResponse, Response},
};

use super::JournalReader;
use crate::{problem::HttpProblem, security::PageReader};

const FIRST_PAGE: &str = "/report/index.html";

impl JournalReader {
    fn report_folder(&self) -> PathBuf {
        self.path.with_file_name("report")
    }

    /// The address of the report's first page, if there is a report.
    pub(super) fn report_address(&self) -> Option<&'static str> {
        self.report_folder().join("index.html").is_file().then_some(FIRST_PAGE)
    }
}

pub(super) async fn page(
    _: PageReader,
    State(door): State<JournalReader>,
    extract::Path(name): extract::Path<String>,
) -> Result<Response, HttpProblem> {
    let missing = || HttpProblem::not_found("there is no such page; `concilio report` makes a report of all games");
    let kind = kind_of(&name).ok_or_else(missing)?;
    let text = tokio::fs::read(door.report_folder().join(&name)).await.map_err(|_| missing())?;
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// Returns the type of a file below the folder; `None` for a name that no report page has.
fn kind_of(name: &str) -> Option<&'static str> {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if name.split('/').count() > 2 || !name.split('/').all(plain) {
        return None;
    }
    match Path::new(name).extension()?.to_str()? {
        "html" => Some("text/html; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::kind_of;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for name in ["index.html", "style.css", "game/lichess_abcdefgh.html"] {
            assert!(kind_of(name).is_some(), "{name}");
        }
        for name in
            ["../journal.html", "game/../../x.html", "/etc/x.html", ".hidden.html", "report.json", "", "a/b/c.html"]
        {
            assert!(kind_of(name).is_none(), "{name}");
        }
    }
}
