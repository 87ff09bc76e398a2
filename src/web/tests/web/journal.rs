use std::{num::NonZeroUsize, sync::atomic::AtomicBool};

use reqwest::StatusCode;
use serde_json::Value;

use bot::journal::{Filter, GameKey};
use concilio_web::WebSettings;
use domain::{Color, GameInfo, GameStatus, GameTerms, Player, Variant};
use practice::SparringKind;
use report::{
    ReportRequest,
    judge::{JudgeEffort, JudgeSpec},
    make_report,
};
use stage::{PlayStage, status, whole_game};

/// Judges all games by searches of `nodes` nodes, as `concilio report` does.
pub(crate) async fn judged(stage: &PlayStage, nodes: u64) {
    let journal = stage.runtime.journal.path().to_owned();
    let pages = journal.with_file_name("report");
    let judge = JudgeSpec::own(JudgeEffort::Nodes(nodes));
    let request = ReportRequest {
        journal,
        filter: Filter::default(),
        judge,
        threads: NonZeroUsize::MIN,
        tables: None,
        output: Some(pages),
        suggest: false,
    };
    let make = move || make_report(&request, &AtomicBool::new(false), &mut |_| (), &mut |_| ());
    let made = tokio::task::spawn_blocking(make).await.expect("no panic").expect("a readable journal");
    assert!(made.is_some_and(|made| made.totals.studied > 0));
}

async fn json(stage: &PlayStage, path: &str) -> Value {
    let response = stage.get(path).send().await.expect("an answer");
    assert!(response.status().is_success(), "{path}: {response:?}");
    response.json().await.expect("JSON")
}

#[testkit::test]
async fn played_game_is_found_and_shown() {
    let stage = PlayStage::open().await;
    let bot = stage.bot(SparringKind::Greedy).await;
    let report = whole_game(&bot, "30+0.1").await;
    let address = format!("api/games/practice/{}", report.id);
    // The end is written a moment after the server has told it.
    let listed = testkit::within("the end in the journal", async {
        loop {
            let listed = json(&stage, "api/games?opponent=sparring").await;
            if listed["games"][0]["result"].is_string() {
                return listed;
            }
        }
    });
    let listed = listed.await;
    assert_eq!(listed["found"], 1);
    assert_eq!(json(&stage, "api/games?opponent=unknown").await["found"], 0);
    assert_eq!(listed["report"], Value::Null, "no report was made");

    let sums = json(&stage, "api/results").await;
    let total: u64 = ["won", "drawn", "lost"].iter().filter_map(|word| sums["total"][word].as_u64()).sum();
    assert_eq!((total, &sums["opponents"][0]["name"]), (1, &"Sparring".into()));
    // Every first move has a name.
    let (opening, family) = (&listed["games"][0]["opening"], &sums["openings"][0]["name"]);
    assert!(opening["eco"].as_str().is_some_and(|eco| eco.len() == 3), "{listed}");
    let name = opening["name"].as_str().zip(family.as_str());
    assert!(name.is_some_and(|(name, family)| name.starts_with(family)), "{opening} {family}");

    let replay = json(&stage, &address).await;
    let moves = replay["moves"].as_array().expect("moves");
    assert_eq!(moves.len(), report.line.ply());
    let ours = moves.iter().find(|played| !played["ours"].is_null()).expect("a move of ours");
    assert!(ours["votes"].as_array().is_some_and(|votes| votes.len() >= 3 && votes[0]["san"].is_string()), "{ours}");
    assert!(ours["fen"].is_string() && ours["san"].is_string());
    for played in moves.iter().filter(|played| played["vote"].is_object()) {
        // Each rejected move has its reason.
        let groups = played["vote"]["groups"].as_array().map_or(0, Vec::len);
        assert_eq!(played["vote"]["reasons"].as_array().map(Vec::len), Some(groups.saturating_sub(1)), "{played}");
    }

    assert_eq!((&listed["games"][0]["judged"], &replay["report"]), (&false.into(), &Value::Null), "it was not judged");
    judged(&stage, 50).await;
    assert_eq!(json(&stage, "api/games").await["games"][0]["judged"], true);
    let report = json(&stage, &address).await["report"].take();
    assert!(report["judge"].as_str().is_some_and(|judge| judge.contains("50 nodes")), "{report}");
    assert!(report["accuracy"]["white"].as_f64().is_some_and(|exact| (0.0..=100.0).contains(&exact)), "{report}");
    assert_eq!(report["moves"].as_array().map(Vec::len), Some(moves.len()));

    assert_eq!(json(&stage, "api/games").await["report"], "/report/index.html");
    let page = stage.get("report/index.html").send().await.expect("an answer");
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    let page = page.text().await.expect("text");
    assert!(page.contains("1 game, 1 of them studied") && page.contains("href=\"style.css\""), "{page}");
    for (path, found) in
        [("style.css", true), ("council.html", true), ("report.json", false), ("game/none.html", false)]
    {
        let answer = stage.get(&format!("report/{path}")).send().await.expect("an answer");
        assert_eq!(answer.status().is_success(), found, "{path}");
    }

    let pgn = stage.get(&format!("{address}/game.pgn")).send().await.expect("an answer");
    assert_eq!(pgn.headers()["content-type"], "application/x-chess-pgn");
    assert!(pgn.text().await.expect("text").contains("[White "));
    for (path, words) in [
        (format!("{address}/game.json"), "\"proposals\""),
        (format!("{address}/game.json"), "\"sentence\""),
        (format!("{address}/report.html"), "<h2>Moves</h2>"),
        ("api/export/games.csv".to_owned(), "started_at,"),
    ] {
        let text = stage.get(&path).send().await.expect("an answer").text().await.expect("text");
        assert!(text.contains(words), "{path}: {text}");
    }
}

#[testkit::test]
async fn rating_curve_includes_the_last_game() {
    let stage = PlayStage::open().await;
    let server = "fics".into();
    for (game, rating, change) in [("one", 1500, Some(8)), ("two", 1508, Some(-3)), ("three", 1505, None)] {
        let info = GameInfo::from_start(
            game,
            GameTerms { variant: Variant::Standard, time_control: "180+2".parse().expect("a clock"), rated: true },
            Player { rating: Some(rating), ..Player::named("Concilio") },
            Player::named("Ann"),
        );
        let key = GameKey::new(&server, &info.id);
        stage.runtime.journal.game_started(&server, &info);
        if let Some(change) = change {
            stage.runtime.journal.rated(&key, change);
        }
        stage.runtime.journal.game_over(&key, &GameStatus::Resign, Some(Color::White)).await.expect("written");
    }
    let curve = json(&stage, "api/results").await["ratings"]["fics blitz"].take();
    let points = curve.as_array().expect("a curve").iter().map(|point| point[1].as_u64().expect("points"));
    assert_eq!(points.collect::<Vec<_>>(), [1500, 1508, 1508, 1505, 1505], "{curve}");
    let games = json(&stage, "api/games?sort=started_at").await["games"].take();
    let changes = games.as_array().expect("games").iter().map(|game| game["rating_change"].as_i64());
    assert_eq!(changes.collect::<Vec<_>>(), [Some(8), Some(-3), None], "{games}");
    // They are against one opponent, and no move was made in them.
    for order in ["opponent", "-opponent", "rating", "-rating", "moves", "-moves", "-started_at"] {
        let games = json(&stage, &format!("api/games?sort={order}")).await["games"].take();
        let names = games.as_array().expect("games").iter().map(|game| game["game"].as_str().expect("a name"));
        assert_eq!(names.collect::<Vec<_>>(), ["three", "two", "one"], "{order}: the newest first");
    }
}

#[testkit::test]
async fn invalid_queries_are_explained() {
    let stage = PlayStage::open().await;
    for (path, words) in [
        ("api/games?result=maybe", "won, lost or drawn"),
        ("api/games?speed=light", "ultraBullet"),
        ("api/games?since=yesterday", "2026-11-01"),
        ("api/games?sort=luck", "started_at, opponent, rating or moves"),
        ("api/games?oponent=ann", "oponent"),
        ("api/games?limit=many", "limit: invalid digit"),
    ] {
        let response = stage.get(path).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{path}");
        let problem: Value = response.json().await.expect("JSON");
        assert!(problem["error"].as_str().is_some_and(|error| error.contains(words)), "{path}: {problem}");
    }
    for (request, status, words) in [
        (stage.post("api/status", &Value::Null), StatusCode::METHOD_NOT_ALLOWED, "takes no POST"),
        (
            stage.post("api/play", &serde_json::json!({ "rooster": "mp" })),
            StatusCode::UNPROCESSABLE_ENTITY,
            "unknown field `rooster`",
        ),
        (stage.client.post(stage.url("api/play")).body("{}"), StatusCode::UNSUPPORTED_MEDIA_TYPE, "application/json"),
    ] {
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), status, "{words}");
        let problem: Value = response.json().await.expect("JSON");
        assert!(problem["error"].as_str().is_some_and(|error| error.contains(words)), "{words}: {problem}");
    }
    for path in ["api/games/practice/nosuch", "api/export/games.exe"] {
        assert_eq!(status(stage.get(path)).await, StatusCode::NOT_FOUND, "{path}");
    }
}

/// A journal could not be looked at without an account.
#[testkit::test]
async fn journal_page_needs_no_daemon() {
    let stage = PlayStage::open().await;
    let bot = stage.bot(SparringKind::Greedy).await;
    let report = whole_game(&bot, "30+0.1").await;
    let settings = WebSettings { address: "127.0.0.1:0".to_owned(), ..WebSettings::default() };
    // The bot still writes it.
    let path = stage.runtime.journal.path().to_owned();
    let web =
        concilio_web::serve_journal(&settings, path, &[], stage.shutdown.now.child_token()).await.expect("a page");
    let url = web.url().expect("an address");
    let get = |path: String| stage.client.get(format!("{url}{path}")).send();
    let me: Value = get("api/me".to_owned()).await.expect("an answer").json().await.expect("JSON");
    assert_eq!((&me["daemon"], &me["plays"], &me["operates"]), (&false.into(), &false.into(), &false.into()));
    let replay: Value =
        get(format!("api/games/practice/{}", report.id)).await.expect("an answer").json().await.expect("JSON");
    assert!(replay["moves"].as_array().is_some_and(|moves| moves.iter().any(|played| played["vote"].is_object())));
    for path in ["api/play", "api/draughts", "api/control", "api/demo/game"] {
        let answer = stage.client.post(format!("{url}{path}")).json(&Value::Null).send().await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
    }
    assert!(get("api/events".to_owned()).await.expect("an answer").status().is_success(), "the page hears of its end");
}
