//! Headers of every answer: no foreign content, no guessed types, no frames.

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest as _, Sha256};

/// No script and no style but the program's own files, and no inline code.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                              manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                              require-trusted-types-for 'script'; style-src 'self'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// Sets the headers of every answer; by default browsers store nothing.
pub(crate) async fn add_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Returns the `Content-Security-Policy` of a page with `style` inline, which is admitted by its hash.
pub(crate) fn content_policy(style: &str) -> HeaderValue {
    let hash = BASE64_STANDARD.encode(Sha256::digest(style));
    let policy = HeaderValue::try_from(format!("{CONTENT_POLICY} 'sha256-{hash}'"));
    policy.unwrap_or(HeaderValue::from_static(CONTENT_POLICY))
}
