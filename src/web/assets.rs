//! The page's files, all of them in this program: nothing is read from a disk and nothing is fetched from elsewhere.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use axum::{
    Extension,
    body::Body,
    extract::Path,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;

use crate::problem::Problem;

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
const FILES: [(&str, &str, &str); 18] = files! {
    "index.html": HTML,
    "style.css": STYLE,
    "board.css": STYLE,
    "app.js": SCRIPT,
    "dom.js": SCRIPT,
    "server.js": SCRIPT,
    "board.js": SCRIPT,
    "chart.js": SCRIPT,
    "council.js": SCRIPT,
    "now.js": SCRIPT,
    "control.js": SCRIPT,
    "games.js": SCRIPT,
    "replay.js": SCRIPT,
    "machines.js": SCRIPT,
    "play.js": SCRIPT,
    "words.js": SCRIPT,
    "icon.svg": PICTURE,
    "board.svg": PICTURE,
};

/// The six shapes, drawn as White's pieces.
const PIECES: [(&str, &str); 6] = [
    ("K", include_str!("page/pieces/king.svg")),
    ("Q", include_str!("page/pieces/queen.svg")),
    ("R", include_str!("page/pieces/rook.svg")),
    ("B", include_str!("page/pieces/bishop.svg")),
    ("N", include_str!("page/pieces/knight.svg")),
    ("P", include_str!("page/pieces/pawn.svg")),
];

/// What is light in a white piece and dark in a black one, and the other way round.
const BODY: (&str, &str) = ("#f7efe0", "#35302c");
const LINE: (&str, &str) = ("#2a2522", "#0f0d0c");
const DETAIL: (&str, &str) = ("#8d8272", "#c9bda9");

/// A file as it is sent.
struct Asset {
    kind: &'static str,
    text: Bytes,
    /// By which a browser asks whether its copy is still good.
    tag: HeaderValue,
}

/// All files, by name.
#[derive(Clone)]
pub(crate) struct Assets(Arc<HashMap<String, Asset>>);

impl Assets {
    pub(crate) fn new() -> Self {
        let files = FILES.into_iter().map(|(name, kind, text)| (name.to_owned(), kind, text.to_owned()));
        let pieces = PIECES.into_iter().flat_map(|(letter, shape)| {
            [(format!("pieces/w{letter}.svg"), shape.to_owned()), (format!("pieces/b{letter}.svg"), black(shape))]
        });
        let pieces = pieces.map(|(name, shape)| (name, PICTURE, shape));
        Self(Arc::new(files.chain(pieces).map(|(name, kind, text)| (name, Asset::new(kind, text))).collect()))
    }

    fn answer(&self, name: &str, headers: &HeaderMap) -> Response {
        let Some(asset) = self.0.get(name) else { return Problem::not_found("there is no such page").into_response() };
        let kept = headers.get(header::IF_NONE_MATCH) == Some(&asset.tag);
        let (status, body) =
            if kept { (StatusCode::NOT_MODIFIED, Body::empty()) } else { (StatusCode::OK, asset.text.clone().into()) };
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::ETAG, asset.tag.clone());
        response
    }
}

impl Asset {
    fn new(kind: &'static str, text: String) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        let tag = HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"0\""));
        Self { kind, text: text.into(), tag }
    }
}

/// Black's piece of the same shape.
fn black(shape: &str) -> String {
    [BODY, LINE, DETAIL].into_iter().fold(shape.to_owned(), |shape, (white, black)| shape.replace(white, black))
}

/// The page itself. Its parts are chosen behind the `#` of the address, which never reaches us.
pub(crate) async fn index(Extension(assets): Extension<Assets>, headers: HeaderMap) -> Response {
    assets.answer("index.html", &headers)
}

/// One of its files.
pub(crate) async fn file(
    Extension(assets): Extension<Assets>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    assets.answer(&name, &headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_page_is_inline_or_elsewhere() {
        for (name, _, text) in FILES {
            let foreign = text.replace("http://www.w3.org/", "");
            assert!(!foreign.contains("http://") && !foreign.contains("https://"), "{name} names another place");
            for inline in ["style=\"", " onclick=", "<style", "innerHTML", "insertAdjacentHTML", "outerHTML", "eval("] {
                assert!(!text.contains(inline), "{name} contains {inline}");
            }
        }
    }

    #[test]
    fn a_black_piece_has_no_colour_of_a_white_one() {
        for (letter, shape) in PIECES {
            let black = black(shape);
            assert!(shape.contains(BODY.0) && !black.contains(BODY.0) && !black.contains(LINE.0), "{letter}");
        }
    }
}
