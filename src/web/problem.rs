//! Answers to failed requests: a status, and one sentence with the remedy.

use axum::{
    Json,
    body::to_bytes,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::Serialize;

/// A failed request. As JSON: `{"error": "..."}`, with the `field` at fault, if one is.
#[derive(Debug, Serialize)]
pub struct HttpProblem {
    #[serde(skip)]
    status: StatusCode,
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
}

impl HttpProblem {
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), field: None }
    }

    pub fn about(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }

    pub fn refused(error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    pub fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    pub fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }

    pub fn busy(error: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }

    pub fn internal(error: impl ToString) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl IntoResponse for HttpProblem {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut response = (status, Json(self)).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

/// The longest plain text copied into a problem, in bytes.
const LONGEST_TEXT: usize = 4096;

/// Beginnings of plain texts with only the kind of error.
const PREAMBLES: [&str; 2] =
    ["Failed to deserialize the JSON body into the target type: ", "Failed to deserialize query string: "];

/// Turns errors found before a handler runs into problems: an unreadable query, a body other than
/// JSON, a wrong method. Such errors are plain text or empty.
pub(crate) async fn in_one_form(request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let response = next.run(request).await;
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_plain = kind.is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if !(status.is_client_error() || status.is_server_error()) || !is_plain {
        return response;
    }
    let (parts, body) = response.into_parts();
    let text = to_bytes(body, LONGEST_TEXT).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let words = PREAMBLES.iter().find_map(|preamble| text.strip_prefix(preamble)).unwrap_or(&text);
    let error = match words {
        "" if status == StatusCode::METHOD_NOT_ALLOWED => format!("this address takes no {method}"),
        "" => status.canonical_reason().unwrap_or_default().to_owned(),
        words => words.to_owned(),
    };
    let mut problem = HttpProblem::new(status, error).into_response();
    for (name, value) in &parts.headers {
        if ![header::CONTENT_TYPE, header::CONTENT_LENGTH].contains(name) {
            problem.headers_mut().insert(name, value.clone());
        }
    }
    problem
}
