use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use axum::{
    Extension,
    extract::Path,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;

use crate::{problem::HttpProblem, security::content_policy};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:expr),* $(,)?) => {
        [$(($name, $kind, include_str!(concat!("page/", $name)))),*]
    };
}

/// Every file by its name, with its content type.
const FILES: [(&str, &str, &str); 19] = files! {
    "index.html": HTML,
    "start.js": SCRIPT,
    "app.js": SCRIPT,
    "dom.js": SCRIPT,
    "server.js": SCRIPT,
    "squares.js": SCRIPT,
    "board.js": SCRIPT,
    "chart.js": SCRIPT,
    "council.js": SCRIPT,
    "now.js": SCRIPT,
    "control.js": SCRIPT,
    "games.js": SCRIPT,
    "replay.js": SCRIPT,
    "machines.js": SCRIPT,
    "play.js": SCRIPT,
    "kept.js": SCRIPT,
    "words.js": SCRIPT,
    "icon.svg": PICTURE,
    "board.svg": PICTURE,
};

/// The styles, sent as one file because the first paint waits for it.
const STYLES: [&str; 3] = [report::output::PALETTE, include_str!("page/style.css"), include_str!("page/board.css")];

/// The folder of the files in the page's source; the page as sent adds the edition to it.
const EDITION: &str = "/assets/";

/// The pieces, drawn as White's.
const PIECES: [(&str, &str); 6] = [
    ("K", include_str!("page/pieces/king.svg")),
    ("Q", include_str!("page/pieces/queen.svg")),
    ("R", include_str!("page/pieces/rook.svg")),
    ("B", include_str!("page/pieces/bishop.svg")),
    ("N", include_str!("page/pieces/knight.svg")),
    ("P", include_str!("page/pieces/pawn.svg")),
];

/// Colours of a white piece, and their replacements in a black one.
const BODY: (&str, &str) = ("#f7efe0", "#35302c");
const LINE: (&str, &str) = ("#2a2522", "#0f0d0c");
const DETAIL: (&str, &str) = ("#8d8272", "#c9bda9");

/// The places in the page for the files and tabs of parts.
const PRELOADS: &str = "  <!-- scripts of parts -->\n";
const TABS: &str = "      <!-- tabs of parts -->\n";
const STYLE_PLACE: &str = "/* style */";

/// A part of the page from another package: a tab with its files.
#[derive(Clone, Copy, Debug)]
pub struct PagePart {
    /// Name of the tab in addresses, such as `#/draughts`.
    pub name: &'static str,
    pub title: &'static str,
    /// Scripts by name. The first one is the module of the tab and exports `open`.
    pub scripts: &'static [(&'static str, &'static str)],
    /// Pictures (SVG) by name.
    pub pictures: &'static [(&'static str, &'static str)],
    /// White's pieces by letter or word; Black's are coloured after them.
    pub pieces: &'static [(&'static str, &'static str)],
    /// Style, added to the page's.
    pub style: &'static str,
}

impl PagePart {
    pub fn faults(&self) -> Vec<String> {
        let style = ("style", self.style);
        self.scripts
            .iter()
            .chain(self.pictures)
            .chain([&style])
            .flat_map(|(name, text)| faults_of(name, text))
            .collect()
    }

    fn preloads(&self) -> String {
        let line = |(name, _): &(&str, &str)| format!("  <link rel=\"later\" href=\"{EDITION}{name}\">\n");
        self.scripts.iter().map(line).collect()
    }

    fn tab(&self) -> String {
        let Self { name, title, scripts, .. } = self;
        let module = scripts.first().map_or("", |(name, _)| *name);
        format!("      <a href=\"#/{name}\" data-tab=\"{name}\" data-script=\"{EDITION}{module}\">{title}</a>\n")
    }
}

/// Returns the faults of a file: inline code, or an address of another site.
fn faults_of(name: &str, text: &str) -> Vec<String> {
    const INLINE: [&str; 7] =
        ["style=\"", " onclick=", "<style", "innerHTML", "insertAdjacentHTML", "outerHTML", "eval("];
    let inline =
        INLINE.iter().filter(|inline| text.contains(**inline)).map(|inline| format!("{name} contains {inline}"));
    let foreign = text.replace("http://www.w3.org/", "");
    let elsewhere = foreign.contains("http://") || foreign.contains("https://");
    inline.chain(elsewhere.then(|| format!("{name} names another site"))).collect()
}

#[derive(Clone)]
pub(crate) struct Assets {
    files: Arc<HashMap<String, (&'static str, Bytes)>>,
    edition: Arc<str>,
    /// The page's `Content-Security-Policy`, which admits the style in it.
    index_policy: HeaderValue,
}

impl Assets {
    pub(crate) fn new(parts: &[PagePart]) -> Self {
        let preloads: String = parts.iter().map(PagePart::preloads).collect();
        let tabs: String = parts.iter().map(PagePart::tab).collect();
        let scripts = parts.iter().flat_map(|part| part.scripts).map(|(name, text)| (*name, SCRIPT, *text));
        let pictures = parts.iter().flat_map(|part| part.pictures).map(|(name, text)| (*name, PICTURE, *text));
        let style = parts.iter().fold(STYLES.concat(), |style, part| style + part.style);
        let style = style.replace("url(", &format!("url({EDITION}"));
        let files = FILES.into_iter().chain(scripts).chain(pictures).map(|(name, kind, text)| {
            let text = match kind {
                HTML => text.replace(PRELOADS, &preloads).replace(TABS, &tabs).replace(STYLE_PLACE, &style),
                _ => text.to_owned(),
            };
            (name.to_owned(), kind, text)
        });
        let pieces = PIECES.iter().chain(parts.iter().flat_map(|part| part.pieces)).flat_map(|(letter, shape)| {
            [(format!("pieces/w{letter}.svg"), (*shape).to_owned()), (format!("pieces/b{letter}.svg"), black(shape))]
        });
        let pieces = pieces.map(|(name, shape)| (name, PICTURE, shape));
        let all: Vec<(String, &str, String)> = files.chain(pieces).collect();
        let mut hasher = DefaultHasher::new();
        all.hash(&mut hasher);
        let edition: Arc<str> = format!("{:016x}", hasher.finish()).into();
        let folder = format!("{EDITION}{edition}/");
        let files = all.into_iter().map(|(name, kind, text)| {
            let text = if kind == HTML { text.replace(EDITION, &format!("{EDITION}{edition}/")) } else { text };
            (name, (kind, text.into()))
        });
        let index_policy = content_policy(&style.replace(EDITION, &folder));
        Self { files: Arc::new(files.collect()), edition, index_policy }
    }

    pub(crate) fn edition(&self) -> &str {
        &self.edition
    }

    /// Answers with a file of an edition. Browsers keep files of the current edition; an older page
    /// gets the current file.
    fn answer(&self, edition: &str, name: &str) -> Response {
        let Some((kind, text)) = self.files.get(name) else {
            return HttpProblem::not_found("there is no such page").into_response();
        };
        let keep = if edition == &*self.edition { "private, max-age=31536000, immutable" } else { "no-cache" };
        let headers = [(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, keep)];
        (headers, text.clone()).into_response()
    }
}

fn black(shape: &str) -> String {
    [BODY, LINE, DETAIL].into_iter().fold(shape.to_owned(), |shape, (white, black)| shape.replace(white, black))
}

/// Answers with the page. Its script chooses the tab by the part of the address behind `#`.
pub(crate) async fn index(Extension(assets): Extension<Assets>) -> Response {
    let mut response = assets.answer("", "index.html");
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, assets.index_policy);
    response
}

pub(crate) async fn file(
    Extension(assets): Extension<Assets>,
    Path((edition, name)): Path<(String, String)>,
) -> Response {
    assets.answer(&edition, &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_has_no_inline_or_foreign_code() {
        let files = FILES.map(|(name, _, text)| (name, text.replacen("<style>", "", 1)));
        for (name, text) in files.into_iter().chain(STYLES.map(|part| ("style", part.to_owned()))) {
            assert_eq!(faults_of(name, &text), Vec::<String>::new());
        }
        assert_eq!(faults_of("a.js", "element.innerHTML = 'https://example.org'").len(), 2);
    }

    #[test]
    fn page_requests_versioned_files() {
        let part =
            PagePart { name: "tab", title: "Tab", scripts: &[("tab.js", "")], pictures: &[], pieces: &[], style: "" };
        let assets = Assets::new(&[part]);
        let page = String::from_utf8_lossy(&assets.files["index.html"].1).into_owned();
        let ours = format!("/assets/{}/", assets.edition);
        assert_eq!(page.matches("/assets/").count(), page.matches(&ours).count());
        for part in page.split(&ours).skip(1) {
            let name = part.split(['"', ')']).next().unwrap_or_default();
            assert!(assets.files.contains_key(name), "the page asks for {name}");
        }
        assert!(!page.contains("preload"), "the first paint waits for the style alone");
        assert!(page.contains(&format!("data-script=\"{ours}tab.js\">Tab</a>")), "{page}");
    }

    #[test]
    fn pieces_share_no_colours() {
        for (letter, shape) in PIECES {
            let black = black(shape);
            assert!(shape.contains(BODY.0) && !black.contains(BODY.0) && !black.contains(LINE.0), "{letter}");
        }
    }
}
