//! Refusal of requests from other pages, by the headers of the browser, and of requests under a
//! foreign host name: a foreign page would reach this one under its own name by DNS rebinding.

use std::{net::IpAddr, sync::Arc};

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{listen::Visitor, problem::HttpProblem};

/// Returns true if the owner lists this name, in any case of letters, in `names`.
fn lists(names: &[String], host: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(without_port(host)))
}

/// Returns true if a `Host` header names us. Rebinding needs a name, so every numeric address
/// does.
fn knows(names: &[String], host: &str) -> bool {
    let name = without_port(host).to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        || lists(names, host)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

/// Accepts requests of our own page, of the address bar, and of programs other than browsers. `names` are the host names of the
/// page, beside numeric addresses and `localhost`.
pub(crate) async fn refuse_foreign(
    State(names): State<Arc<[String]>>,
    Extension(visitor): Extension<Visitor>,
    request: Request,
    next: Next,
) -> Response {
    match check(&names, visitor, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(names: &[String], visitor: Visitor, request: &Request) -> Result<(), HttpProblem> {
    let headers = request.headers();
    let host = text(headers, header::HOST.as_str()).or_else(|| request.uri().authority().map(|host| host.as_str()));
    let host = host.ok_or_else(|| HttpProblem::refused("the request names no host"))?;
    if visitor != Visitor::OwnUser && !knows(names, host) {
        return Err(HttpProblem::refused(
            "the page is not known by this name; if it is yours, add it to web.hosts in the settings",
        ));
    }
    let is_visit = request.method() == Method::GET && text(headers, "sec-fetch-mode") == Some("navigate");
    let site = text(headers, "sec-fetch-site");
    if !matches!(site, None | Some("same-origin" | "none")) && !is_visit {
        return Err(HttpProblem::refused("another page asked for this"));
    }
    if let Some(origin) = text(headers, header::ORIGIN.as_str()) {
        // A proxy may call us by another name than the browser calls the proxy.
        let is_ours = |theirs: &str| theirs.eq_ignore_ascii_case(host) || lists(names, theirs);
        if !origin.split_once("://").is_some_and(|(_, theirs)| is_ours(theirs)) {
            return Err(HttpProblem::refused(
                "another page asked for this; if it is this page behind a proxy, add its name to web.hosts in the settings",
            ));
        }
    }
    Ok(())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn allowed(host: &str, headers: &[(&str, &str)]) -> bool {
        let names = ["Bot.Example.org".to_owned()];
        let request = headers.iter().fold(Request::builder().header("host", host), |r, (k, v)| r.header(*k, *v));
        check(&names, Visitor::Remote([192, 0, 2, 1].into()), &request.body(Body::empty()).expect("a request")).is_ok()
    }

    #[test]
    fn only_names_of_ours_are_answered() {
        for host in
            ["127.0.0.1", "127.0.0.1:8080", "[::1]:8080", "[::1]", "localhost:1", "bot.example.org", "10.0.0.7:1"]
        {
            assert!(allowed(host, &[]), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:8080", "bot.example.org.evil", "127.0.0.1.evil:80", ""] {
            assert!(!allowed(host, &[]), "{host}");
        }
    }

    #[test]
    fn other_pages_are_refused() {
        let host = "127.0.0.1:8080";
        for good in [
            vec![("sec-fetch-site", "same-origin"), ("origin", "http://127.0.0.1:8080")],
            vec![("sec-fetch-site", "none")],
            vec![("sec-fetch-site", "same-origin"), ("origin", "https://bot.example.org")],
            vec![("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
        ] {
            assert!(allowed(host, &good), "{good:?}");
        }
        for bad in [
            vec![("sec-fetch-site", "cross-site")],
            vec![("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
            vec![("origin", "http://127.0.0.1:9090")],
            vec![("origin", "null")],
            vec![("origin", "https://evil.example")],
        ] {
            assert!(!allowed(host, &bad), "{bad:?}");
        }
    }
}
