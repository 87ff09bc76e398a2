//! The page's files, all of them in this program: nothing is read from a disk and nothing is fetched from elsewhere.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use axum::{
    Extension,
    extract::Path,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;

use crate::problem::HttpProblem;

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:expr),* $(,)?) => {
        [$(($name, $kind, include_str!(concat!("page/", $name)))),*]
    };
}

/// Every file by its name below the page, with its kind.
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

/// The style, in one piece, because the first picture waits for it.
const STYLES: [&str; 3] = [report::output::PALETTE, include_str!("page/style.css"), include_str!("page/board.css")];

/// Below this name of a folder the page asks for its files; it becomes the name of this very edition of them.
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

/// Colour that is light in a white piece and dark in a black one, and the other way round.
const BODY: (&str, &str) = ("#f7efe0", "#35302c");
const LINE: (&str, &str) = ("#2a2522", "#0f0d0c");
const DETAIL: (&str, &str) = ("#8d8272", "#c9bda9");

/// The places in the page where files and tabs of parts are named.
const PRELOADS: &str = "  <!-- scripts of parts -->\n";
const TABS: &str = "      <!-- tabs of parts -->\n";

/// A part of the page from another package: a tab with its files.
#[derive(Clone, Copy, Debug)]
pub struct PagePart {
    /// Name of the tab in addresses, such as `#/draughts`.
    pub name: &'static str,
    /// Title of the tab.
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
    /// Returns what is wrong with its files: anything inline, or an address of another place.
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
        let line = |(name, _): &(&str, &str)| format!("  <link rel=\"modulepreload\" href=\"{EDITION}{name}\">\n");
        self.scripts.iter().map(line).collect()
    }

    fn tab(&self) -> String {
        let Self { name, title, scripts, .. } = self;
        let module = scripts.first().map_or("", |(name, _)| *name);
        format!("      <a href=\"#/{name}\" data-room=\"{name}\" data-script=\"{EDITION}{module}\">{title}</a>\n")
    }
}

/// Returns what a file of the page must not contain: anything inline, or an address of another place.
fn faults_of(name: &str, text: &str) -> Vec<String> {
    const INLINE: [&str; 7] =
        ["style=\"", " onclick=", "<style", "innerHTML", "insertAdjacentHTML", "outerHTML", "eval("];
    let inline =
        INLINE.iter().filter(|inline| text.contains(**inline)).map(|inline| format!("{name} contains {inline}"));
    let foreign = text.replace("http://www.w3.org/", "");
    let elsewhere = foreign.contains("http://") || foreign.contains("https://");
    inline.chain(elsewhere.then(|| format!("{name} names another place"))).collect()
}

struct Asset {
    kind: &'static str,
    text: Bytes,
}

#[derive(Clone)]
pub(crate) struct Assets {
    files: Arc<HashMap<String, Asset>>,
    /// The name of this edition: as soon as any file is another one, it is another name.
    edition: Arc<str>,
}

impl Assets {
    pub(crate) fn new(parts: &[PagePart]) -> Self {
        let preloads: String = parts.iter().map(PagePart::preloads).collect();
        let tabs: String = parts.iter().map(PagePart::tab).collect();
        let scripts = parts.iter().flat_map(|part| part.scripts).map(|(name, text)| (*name, SCRIPT, *text));
        let pictures = parts.iter().flat_map(|part| part.pictures).map(|(name, text)| (*name, PICTURE, *text));
        let files = FILES.into_iter().chain(scripts).chain(pictures).map(|(name, kind, text)| {
            let text =
                if kind == HTML { text.replace(PRELOADS, &preloads).replace(TABS, &tabs) } else { text.to_owned() };
            (name.to_owned(), kind, text)
        });
        let styles = parts.iter().fold(STYLES.concat(), |styles, part| styles + part.style);
        let styles = ("style.css".to_owned(), STYLE, styles);
        let pieces = PIECES.iter().chain(parts.iter().flat_map(|part| part.pieces)).flat_map(|(letter, shape)| {
            [(format!("pieces/w{letter}.svg"), (*shape).to_owned()), (format!("pieces/b{letter}.svg"), black(shape))]
        });
        let pieces = pieces.map(|(name, shape)| (name, PICTURE, shape));
        let all: Vec<(String, &str, String)> = files.chain([styles]).chain(pieces).collect();
        let mut hasher = DefaultHasher::new();
        all.hash(&mut hasher);
        let edition: Arc<str> = format!("{:016x}", hasher.finish()).into();
        let files = all.into_iter().map(|(name, kind, text)| {
            let text = if kind == HTML { text.replace(EDITION, &format!("{EDITION}{edition}/")) } else { text };
            (name, Asset { kind, text: text.into() })
        });
        Self { files: Arc::new(files.collect()), edition }
    }

    pub(crate) fn edition(&self) -> &str {
        &self.edition
    }

    /// A file of an edition. Files of this one never change; a page that is older than this program gets what there is now.
    fn answer(&self, edition: &str, name: &str) -> Response {
        let Some(asset) = self.files.get(name) else {
            return HttpProblem::not_found("there is no such page").into_response();
        };
        let keep = if edition == &*self.edition { "private, max-age=31536000, immutable" } else { "no-cache" };
        let headers = [(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, keep)];
        (headers, asset.text.clone()).into_response()
    }
}

/// Black's piece of the same shape.
fn black(shape: &str) -> String {
    [BODY, LINE, DETAIL].into_iter().fold(shape.to_owned(), |shape, (white, black)| shape.replace(white, black))
}

/// The page itself. Its parts are chosen behind the `#` of the address, which never reaches us.
pub(crate) async fn index(Extension(assets): Extension<Assets>) -> Response {
    assets.answer("", "index.html")
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
        let styles = STYLES.map(|part| ("style.css", STYLE, part));
        for (name, _, text) in FILES.into_iter().chain(styles) {
            assert_eq!(faults_of(name, text), Vec::<String>::new());
        }
        assert_eq!(faults_of("a.js", "element.innerHTML = 'https://example.org'").len(), 2);
    }

    #[test]
    fn page_requests_versioned_files() {
        let part =
            PagePart { name: "tab", title: "Tab", scripts: &[("tab.js", "")], pictures: &[], pieces: &[], style: "" };
        let assets = Assets::new(&[part]);
        let page = String::from_utf8_lossy(&assets.files["index.html"].text).into_owned();
        let ours = format!("/assets/{}/", assets.edition);
        assert_eq!(page.matches("/assets/").count(), page.matches(&ours).count());
        for part in page.split(&ours).skip(1) {
            let name = part.split('"').next().unwrap_or_default();
            assert!(assets.files.contains_key(name), "the page asks for {name}");
        }
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
