use std::{net::SocketAddr, sync::Arc, time::Duration};

use concilio_web::{WebError, WebSettings};
use reqwest::StatusCode;
use serde_json::json;
use stage::{PlayStage, SECRET, status};
use testkit::{StoppedClock, within};
use tokio::sync::Notify;

/// The commands and pages that are not for everybody.
const READ: [&str; 5] = ["api/status", "api/events", "api/games", "api/machines", "metrics"];

#[testkit::test]
async fn answers_forbid_foreign_content() {
    let stage = PlayStage::open().await;
    for path in ["", "assets/any/app.js", "assets/any/pieces/bN.svg", "api/me", "api/nothing", "live"] {
        let response = stage.get(path).send().await.expect("an answer");
        let policy = response.headers()["content-security-policy"].to_str().expect("text").to_owned();
        for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff", "{path}");
    }
    let page = stage.get("").send().await.expect("a page");
    let policy = page.headers()["content-security-policy"].to_str().expect("text").to_owned();
    assert!(policy.ends_with("='") && policy.contains("style-src 'self' 'sha256-"), "one inline style: {policy}");
    assert_eq!(page.text().await.expect("text").matches("<style").count(), 1);
}

#[testkit::test]
async fn other_origins_are_rejected() {
    let stage = PlayStage::open().await;
    let evil = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
    for (name, value) in evil {
        for path in READ {
            assert_eq!(status(stage.get(path).header(name, value)).await, StatusCode::FORBIDDEN, "{path} {name}");
        }
        let play = stage.post("api/play", &json!({})).header(name, value);
        assert_eq!(status(play).await, StatusCode::FORBIDDEN, "{name}");
    }
    // DNS rebinding: the browser believes to talk to evil.example, and so takes us for the same site.
    let rebound = stage.get("api/status").header("host", "evil.example:8080").header("sec-fetch-site", "same-origin");
    let response = rebound.send().await.expect("an answer");
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert!(response.text().await.expect("text").contains("web.hosts"));
}

#[testkit::test]
async fn secret_guards_reading_and_changes() {
    let stage = PlayStage::with_secret(false).await;
    for path in READ {
        assert_eq!(status(stage.get(path)).await, StatusCode::UNAUTHORIZED, "{path}");
    }
    let pause = json!({ "command": "pause" });
    assert_eq!(status(stage.post("api/control", &pause)).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(stage.post("api/login", &json!({ "secret": "open sesame!" }))).await, StatusCode::UNAUTHORIZED);

    let login = stage.post("api/login", &json!({ "secret": SECRET })).send().await.expect("an answer");
    assert_eq!(login.status(), StatusCode::NO_CONTENT);
    let cookie = login.headers()["set-cookie"].to_str().expect("text").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains("sesame"), "the secret itself stays with us");
    // Browsers send a cookie to every port of a host: another page there has one of its own.
    let port = stage.url("").trim_end_matches('/').rsplit(':').next().expect("a port").to_owned();
    assert!(cookie.starts_with(&format!("concilio-{port}=")), "{cookie}");
    let session = cookie.split(';').next().expect("a pair").to_owned();
    assert_eq!(status(stage.get("api/status").header("cookie", &session)).await, StatusCode::OK);
    // It reaches the bot, which has no account here.
    let told = stage.post("api/control", &pause).header("cookie", &session).send().await.expect("an answer");
    assert!(told.status() != StatusCode::UNAUTHORIZED && told.status() != StatusCode::FORBIDDEN, "{told:?}");

    stage.post("api/logout", &json!({})).header("cookie", &session).send().await.expect("an answer");
    assert_eq!(status(stage.get("api/status").header("cookie", &session)).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(stage.get("api/status").bearer_auth(SECRET)).await, StatusCode::OK);
}

/// The daemon starts again with the files that the last one left.
#[testkit::test]
async fn login_survives_a_restart() {
    const FILE: &str = "journal.db.sessions";
    let first = PlayStage::with_secret(false).await;
    let login = first.post("api/login", &json!({ "secret": SECRET })).send().await.expect("an answer");
    let cookie = login.headers()["set-cookie"].to_str().expect("text").to_owned();
    let session = cookie.split([';', '=']).nth(1).expect("a session").to_owned();
    let left = first.folder.path().join(FILE);
    let restarted = |secret: &'static str| {
        let left = left.clone();
        PlayStage::with(move |settings, folder| {
            settings.secret_file = folder.path().join("secret");
            std::fs::write(&settings.secret_file, secret).expect("a file");
            std::fs::copy(left, folder.path().join(FILE)).expect("sessions");
        })
    };
    let asked = async |stage: &PlayStage| {
        let port = stage.url("").trim_end_matches('/').rsplit(':').next().expect("a port").to_owned();
        let cookie = format!("concilio-{port}={session}");
        (status(stage.get("api/status").header("cookie", &cookie)).await, cookie)
    };

    let again = restarted(SECRET).await;
    let (read, cookie) = asked(&again).await;
    assert_eq!(read, StatusCode::OK);
    let changed = restarted("open barley").await;
    assert_eq!(asked(&changed).await.0, StatusCode::UNAUTHORIZED);
    again.post("api/logout", &json!({})).header("cookie", cookie).send().await.expect("an answer");
    assert!(!again.folder.path().join(FILE).exists(), "no session is left");
}

/// Settings that are read again hold for all accounts or for none.
#[testkit::test]
async fn command_survives_a_hang_up() {
    let stage = PlayStage::with_secret(true).await;
    let steps = [(); 3].map(|()| Arc::new(Notify::new()));
    let [begun, hung_up, done] = steps.clone();
    stage.runtime.control.reloads_by(Arc::new(move || {
        let [begun, hung_up, done] = steps.clone();
        Box::pin(async move {
            begun.notify_one();
            hung_up.notified().await;
            done.notify_one();
            Ok::<_, String>("the settings are read again".to_owned())
        })
    }));
    let asked = stage.post("api/control", &json!({ "command": "reload" })).bearer_auth(SECRET);
    let asked = tokio::spawn(asked.send());
    within("the command to begin", begun.notified()).await;
    asked.abort();
    assert!(asked.await.is_err_and(|error| error.is_cancelled()));
    // The server has had its turn to notice it.
    assert!(stage.get("live").send().await.expect("an answer").status().is_success());
    hung_up.notify_one();
    within("the command to be done", done.notified()).await;
}

#[testkit::test]
async fn public_page_needs_secret_for_changes() {
    let stage = PlayStage::with_secret(true).await;
    assert_eq!(status(stage.get("api/status")).await, StatusCode::OK);
    for (path, body) in [("api/control", json!({ "command": "pause" })), ("api/play", json!({}))] {
        assert_eq!(status(stage.post(path, &body)).await, StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[testkit::test]
async fn no_changes_without_a_secret() {
    let stage = PlayStage::open().await;
    let response = stage.post("api/control", &json!({ "command": "drain" })).send().await.expect("an answer");
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert!(response.text().await.expect("text").contains("web.secret_file"));
}

#[testkit::test]
async fn public_address_needs_a_secret() {
    let stage = PlayStage::open().await;
    let settings = WebSettings { address: "0.0.0.0:0".to_owned(), ..WebSettings::default() };
    let error = concilio_web::serve(&settings, stage.context.clone(), None, stage.shutdown.now.child_token())
        .await
        .expect_err("refused");
    assert!(matches!(error, WebError::NoSecret(address) if address == SocketAddr::from(([0, 0, 0, 0], 0))), "{error}");
}

#[testkit::test]
async fn body_and_watcher_limits_hold() {
    let stage = PlayStage::with(|settings, _| settings.watchers = 2).await;
    // Too long for the page, but short enough to be sent whole before the refusal closes the connection.
    let long = json!({ "secret": "x".repeat(17_000) });
    assert_eq!(status(stage.post("api/login", &long)).await, StatusCode::PAYLOAD_TOO_LARGE);
    let first = stage.get("api/events").send().await.expect("an answer");
    let second = stage.get("api/events").send().await.expect("an answer");
    assert!(first.status().is_success() && second.status().is_success());
    assert_eq!(status(stage.get("api/events")).await, StatusCode::SERVICE_UNAVAILABLE);
    drop(first);
    let free = async {
        while !stage.get("api/events").send().await.expect("an answer").status().is_success() {
            tokio::task::yield_now().await;
        }
    };
    within("a free place", free).await;
}

/// The configured number of watchers may watch, and other requests are answered beside them.
#[testkit::test]
async fn watchers_do_not_block_other_users() {
    let most = 260;
    let stage = PlayStage::with(|settings, _| settings.watchers = most).await;
    let mut watching = Vec::new();
    for _ in 0..most {
        let answer = within("a place for a watcher", stage.get("api/events").send()).await.expect("an answer");
        assert!(answer.status().is_success());
        watching.push(answer);
    }
    let alive = within("another request", stage.get("live").send()).await.expect("an answer");
    assert!(alive.status().is_success());
}

#[cfg(unix)]
#[testkit::test]
async fn socket_of_the_user_needs_no_secret() {
    use std::os::unix::fs::PermissionsExt;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::UnixStream,
    };

    let stage = PlayStage::with_secret(false).await;
    let path = stage.folder.path().join("control.sock");
    assert_eq!(std::fs::metadata(&path).expect("a socket").permissions().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&path).await.expect("a connection");
    let request = "GET /api/me HTTP/1.1\r\nHost: concilio\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    within("the answer", stream.read_to_string(&mut answer)).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""operates":true"#), "{answer}");
    // A second program does not take it away.
    let settings = WebSettings::default();
    let second =
        concilio_web::serve(&settings, stage.context.clone(), Some(&path), stage.shutdown.now.child_token()).await;
    assert!(matches!(second, Err(WebError::Socket { .. })));
    assert!(UnixStream::connect(&path).await.is_ok());
}

#[testkit::test]
async fn health_needs_no_login() {
    let stage = PlayStage::open().await;
    for (path, words) in [("live", "alive"), ("ready", "ready"), ("metrics", "concilio_games")] {
        let response = stage.get(path).send().await.expect("an answer");
        assert!(response.status().is_success() && response.text().await.expect("text").contains(words), "{path}");
    }
}

/// Waits for half a second at most.
async fn soon<T>(clock: &StoppedClock, what: &str, future: impl Future<Output = T>) -> T {
    clock.within(Duration::from_millis(500), what, future).await
}

/// Runs a test on one thread, where the clock can be stopped.
fn with_a_stopped_clock(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(test);
}

/// An idle connection gives up its place for a new one.
#[testkit::test]
fn idle_connections_do_not_delay() {
    with_a_stopped_clock(many_idle_connections());
}

async fn many_idle_connections() {
    let stage = PlayStage::open().await;
    let clock = StoppedClock::stop();
    let address = stage.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut idle = Vec::new();
    for _ in 0..359 {
        idle.push(tokio::net::TcpStream::connect(&address).await.expect("a connection"));
    }
    // Less than the head of a request may take altogether.
    clock.pass(30, Duration::from_millis(100)).await;
    for path in ["live", "", "api/me"] {
        let answer = soon(&clock, path, stage.get(path).send()).await.expect("an answer");
        assert!(answer.status().is_success(), "{path}");
    }
}

/// Wrong secrets delay no other request, not even one from the same address.
#[testkit::test]
fn wrong_logins_delay_no_request() {
    with_a_stopped_clock(many_wrong_logins());
}

async fn many_wrong_logins() {
    let stage = PlayStage::with_secret(false).await;
    let clock = StoppedClock::stop();
    let wrong = json!({ "secret": "open sesame!" });
    let attempts = (0..300).map(|_| stage.post("api/login", &wrong).send());
    // One address has fewer places than that.
    let attempts = futures_util::future::join_all(attempts);
    let attempts = clock.within(Duration::from_secs(2), "three hundred refusals", attempts).await;
    assert!(attempts.into_iter().flatten().all(|answer| answer.status() == StatusCode::UNAUTHORIZED));
    let login = soon(&clock, "the login", stage.post("api/login", &json!({ "secret": SECRET })).send()).await;
    assert_eq!(login.expect("an answer").status(), StatusCode::NO_CONTENT);
    let read = soon(&clock, "the status", stage.get("api/status").bearer_auth(SECRET).send()).await;
    assert_eq!(read.expect("an answer").status(), StatusCode::OK);
    // An address that goes on is not listened to for a while.
    loop {
        let answer = soon(&clock, "a refusal", stage.post("api/login", &wrong).send()).await.expect("an answer");
        if answer.status() == StatusCode::TOO_MANY_REQUESTS {
            break;
        }
    }
    let right = soon(&clock, "the login", stage.post("api/login", &json!({ "secret": SECRET })).send()).await;
    assert_eq!(right.expect("an answer").status(), StatusCode::TOO_MANY_REQUESTS);
}
