//! The pages of reports in the folder `report` beside the journal. They contain neither scripts nor
//! external content and are sent unchanged.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    extract::{self, State},
    http::header,
    response::{Html, IntoResponse, Response},
};

use super::{JournalReader, find};
use crate::{problem::HttpProblem, security::PageReader};
use report::{
    JudgedGame,
    judge::{GameMaterial, Verdicts},
    output,
};

/// The style is the program's own: the folder may be older, or missing.
const STYLE_FILE: &str = "style.css";
const CSS: &str = "text/css; charset=utf-8";

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

pub(super) async fn game(
    _: PageReader,
    State(reader): State<JournalReader>,
    extract::Path((server, game)): extract::Path<(String, String)>,
) -> Result<Html<String>, HttpProblem> {
    let (path, report) = (Arc::clone(&reader.path), reader.report_address());
    let page = reader.read(move |archive| {
        let material = GameMaterial::read(archive, find(archive, &server, &game)?)?;
        let judges = Verdicts::of_all_judges(&path)?;
        let studied = JudgedGame::study(&material, &judges)?;
        let (judge, study) = studied
            .ok_or_else(|| HttpProblem::not_found("this game has no report yet; `concilio report` makes one"))?;
        let replay = format!("/#/games/{}/{}", encoded(&server), encoded(&game));
        let links = [(replay, "Replay with votes"), ("/#/games".to_owned(), "All games")];
        let report = report.map(|address| (address.to_owned(), "Report on all games"));
        let links: Vec<(String, &str)> = links.into_iter().chain(report).collect();
        Ok(Html(output::study_page(&study, &judge, "/report/style.css", &links)))
    });
    page.await
}

fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

pub(super) async fn page(
    _: PageReader,
    State(reader): State<JournalReader>,
    extract::Path(name): extract::Path<String>,
) -> Result<Response, HttpProblem> {
    if name == STYLE_FILE {
        return Ok(([(header::CONTENT_TYPE, CSS)], output::STYLE).into_response());
    }
    let missing = || HttpProblem::not_found("there is no such page; `concilio report` makes a report of all games");
    let kind = kind_of(&name).ok_or_else(missing)?;
    let text = tokio::fs::read(reader.report_folder().join(&name)).await.map_err(|_| missing())?;
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// Returns the type of a file below the folder; `None` for names of other files.
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
        "css" => Some(CSS),
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
