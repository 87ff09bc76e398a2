use serde_json::json;

use crate::{
    events::{ToldGame, connect, connect_as},
    journal::judged,
};
use concilio_web::WebSettings;
use domain::Player;
use practice::SparringKind;
use stage::{Browser, PlayStage, SECRET, game, whole_game};
use testkit::within;

/// Opens a stage, and an address of it in a browser.
pub(crate) async fn opened(address: &str) -> (Browser, PlayStage) {
    let (browser, stage) = (Browser::start().await, PlayStage::open().await);
    browser.go(&stage.url(address)).await;
    (browser, stage)
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn hostile_names_and_chat_are_text() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    let hostile = "<img src=x onerror=\"document.title='owned'\">";
    let title = "\u{1b}]0;owned\u{7}\u{202e}<img src=x onerror=\"document.title='owned'\">";
    let player = Player { title: Some(title.to_owned()), ..Player::named(hostile) };
    connect_as(&stage.runtime.event_bus, player.clone());
    let game = ToldGame::begin_against(&stage.runtime.event_bus, "hostile", player);
    game.say(hostile, "<script>document.title='owned'</script>");
    browser.go(&stage.url("")).await;
    browser.until("document.querySelector('.focus .player .name')?.textContent.includes('<img')").await;
    browser.until("document.querySelector('.chat')?.textContent.includes('<script>')").await;
    for place in [".account", ".focus .player"] {
        browser
            .until(&format!("document.querySelector('{place}')?.textContent.includes('\\\\u{{1b}}]0;owned\\\\u{{7}}')"))
            .await;
    }
    let made = browser.script("return document.querySelectorAll('main img, main script').length").await;
    assert_eq!(made, 0);
    // An address of a game becomes a link only if it is one of the web.
    let link = browser.script("return document.querySelector('.terms a')?.getAttribute('href')").await;
    assert_eq!(link, "#/");
    assert_ne!(browser.script("return document.title").await, "owned");
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn board_moves_for_a_watcher() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    connect(&stage.runtime.event_bus, "Concilio");
    let mut game = ToldGame::begin(&stage.runtime.event_bus, "abcdefgh", "Ann");
    browser.go(&stage.url("")).await;
    browser.until("document.querySelectorAll('.focus .piece').length === 32").await;
    for (index, uci) in ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"].into_iter().enumerate() {
        game.play(uci);
        browser.until(&format!("document.querySelectorAll('.focus .moves li').length === {}", index + 1)).await;
    }
    let label = browser.script("return document.querySelector('.focus .board').getAttribute('aria-label')").await;
    assert_eq!(label, "Board, black to move, last move f1b5");
    game.play("a7a6");
    for (index, elector) in ["mp", "ma", "mx"].into_iter().enumerate() {
        game.propose(elector, 5 + u32::try_from(index).unwrap_or(0));
    }
    browser.until("document.querySelectorAll('.council tbody tr').length === 3").await;
    browser.until("document.querySelectorAll('.focus .arrow').length === 1").await;
    assert!(!browser.console().await.contains("SEVERE"), "{}", browser.console().await);
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn colours_follow_system_until_chosen() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    let ground = "return getComputedStyle(document.body).backgroundColor";
    browser.prefer("light").await;
    browser.go(&stage.url("")).await;
    browser.until("document.documentElement.dataset.theme").await;
    let light = browser.script(ground).await;
    println!("the first time: {}", browser.speed().await);
    browser.go("about:blank").await;
    browser.go(&stage.url("")).await;
    browser.until("document.documentElement.dataset.theme").await;
    println!("the second time: {}", browser.speed().await);
    browser.prefer("dark").await;
    let dark = browser.script(ground).await;
    assert_ne!(light, dark);
    browser.click("#theme").await;
    assert_eq!(browser.script(ground).await, light, "light is chosen, whatever the system says");
    browser.go(&stage.url("#/machines")).await;
    browser.until("document.documentElement.dataset.theme === 'light'").await;
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn chess_accepts_every_input() {
    let (browser, _stage) = opened("#/play").await;
    browser.click("form button.main").await;
    browser.until("document.querySelector('.board.playable')").await;
    let (from, to) = (browser.square("e2").await, browser.square("e4").await);
    browser.point(&[from], false).await;
    browser.until("document.querySelectorAll('.square.go').length === 2").await;
    browser.point(&[to], false).await;
    browser.until("document.querySelectorAll('.moves li').length === 2").await;
    browser.until("document.querySelector('.board.playable')").await;
    let (from, to) = (browser.square("g1").await, browser.square("f3").await);
    browser.point(&[from, ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0), to], true).await;
    browser.until("document.querySelectorAll('.moves li').length === 4").await;
    browser.until("document.querySelector('.board.playable')").await;
    browser.write("input[aria-label='Write a move']", "a3\u{e007}").await;
    browser.until("document.querySelectorAll('.moves li').length === 6").await;
    let words = browser.script("return [...document.querySelectorAll('.moves .san')].map((e) => e.textContent)").await;
    assert_eq!((&words[0], &words[2], &words[4]), (&json!("e4"), &json!("Nf3"), &json!("a3")));
    browser.until("document.querySelectorAll('.council tbody tr').length >= 3").await;
    browser.pictures("play").await;
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn operator_logs_in_for_commands() {
    let browser = Browser::start().await;
    let stage = PlayStage::with_secret(true).await;
    let _bot = stage.bot(SparringKind::Greedy).await;
    browser.go(&stage.url("")).await;
    browser.until("document.querySelector('.account')").await;
    assert_eq!(browser.script("return document.querySelectorAll('.commands').length").await, 0);
    browser.click("#login").await;
    browser.write("dialog input", &format!("{SECRET}\u{e007}")).await;
    browser.until("document.querySelector('.commands')").await;
    let pause = "[...document.querySelectorAll('.commands button')].find((b) => b.textContent === 'Pause')";
    browser.script(&format!("{pause}.click()")).await;
    browser.until("document.querySelector('.account').textContent.includes('paused')").await;
    browser.pictures("operator").await;
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn every_page_has_something_to_show() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    let bot = stage.bot(SparringKind::Engine { nodes: 60 }).await;
    for _ in 0..3 {
        whole_game(&bot, "20+0.1").await;
    }
    browser.go(&stage.url("#/games")).await;
    browser.until("document.querySelectorAll('tbody tr .tag').length >= 1").await;
    judged(&stage, 200).await;
    browser.go("about:blank").await;
    browser.go(&stage.url("#/games")).await;
    browser.until("[...document.querySelectorAll('tbody a')].some((link) => link.textContent === 'report')").await;
    browser.pictures("games").await;
    browser.click("tbody tr a").await;
    browser.until("document.querySelectorAll('.moves li').length > 10").await;
    browser.until("document.querySelector('.report .curve') && document.querySelector('.opening')").await;
    browser.click(".steps button:nth-child(2)").await;
    browser.until("document.querySelectorAll('.moves li.here').length === 1").await;
    // One of two neighbouring moves is ours, with votes.
    let ours = "const moves = document.querySelectorAll('.moves button');
        moves[16].click();
        if (!document.querySelector('.council').offsetParent) moves[17].click();";
    browser.script(ours).await;
    browser.until("document.querySelector('.council').offsetParent").await;
    browser.pictures("game").await;
    assert!(!browser.console().await.contains("SEVERE"), "{}", browser.console().await);
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn running_games_are_live_boards() {
    let browser = Browser::start().await;
    let mut stage = PlayStage::open().await;
    stage.seat("balanced-7");
    let bot = stage.bot(SparringKind::Engine { nodes: 60 }).await;
    for _ in 0..5 {
        game(&bot, "180+2").await;
    }
    browser.go(&stage.url("")).await;
    browser.until("document.querySelectorAll('.small').length === 4").await;
    browser.until("document.querySelectorAll('.focus .council tbody tr:not(.silent)').length === 7").await;
    let divided = "document.querySelectorAll('.focus .moves li').length >= 8
        && document.querySelectorAll('.focus .council tbody tr:not(.silent)').length === 7
        && document.querySelectorAll('.focus .arrow').length >= 2";
    browser.still(divided).await;
    browser.pictures("now").await;
    browser.go("about:blank").await;
    browser.go(&stage.url("#/machines")).await;
    browser.until("document.querySelectorAll('.machine tbody tr').length >= 3").await;
    let named = "[...document.querySelectorAll('.electors .name')].map((name) => name.textContent)";
    let known = "[...document.querySelectorAll('.electors .knows')].map((knows) => knows.textContent)";
    browser.until(&format!("{named}.some((name) => / and /.test(name)) && {known}.length > 0")).await;
    browser.pictures("machines").await;
    assert!(!browser.console().await.contains("SEVERE"), "{}", browser.console().await);
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn keys_move_and_promote() {
    let (browser, stage) = opened("#/play").await;
    browser.click("form button.main").await;
    browser.until("document.querySelector('.board.playable')").await;
    // Enter takes up the pawn at the cursor on e2, two steps up, Enter puts it down.
    browser.write(".board", "\u{e007}\u{e013}\u{e013}\u{e007}").await;
    browser.until("document.querySelector('.moves .san')?.textContent === 'e4'").await;

    browser.script("localStorage.clear()").await;
    browser.go("about:blank").await;
    browser.go(&stage.url("#/play")).await;
    begin_with_promotion(&browser).await;
    let (from, to) = (browser.square("a7").await, browser.square("a8").await);
    browser.point(&[from, to], false).await;
    browser.click("button[aria-label='Promote to knight']").await;
    browser.until("document.querySelector('.moves .san')?.textContent === 'a8=N'").await;
    browser.until("document.querySelector('.board .piece.wN')").await;
    browser.close().await;
}

/// Begins a game from a position with a pawn on a7.
async fn begin_with_promotion(browser: &Browser) {
    browser.until("document.querySelector('form input[placeholder=\"the starting position\"]')").await;
    browser.write("input[placeholder='the starting position']", "8/P6k/8/8/8/8/7K/8 w - - 0 1").await;
    browser.click("form button.main").await;
    browser.until("document.querySelector('.board.playable')").await;
}

/// The chooser's keys are its own: Enter on the board opens it and chooses nothing, Enter on one of its pieces chooses that.
#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn keys_choose_the_promotion() {
    let (browser, _stage) = opened("#/play").await;
    begin_with_promotion(&browser).await;
    let chooser = "document.activeElement.getAttribute('aria-label') === 'Promote to queen'";
    // From e2 to the pawn on a7, which is taken up there and put down on a8.
    browser.write(".board", &format!("{}{}\u{e007}\u{e013}\u{e007}", "\u{e012}".repeat(4), "\u{e013}".repeat(5))).await;
    browser.until(chooser).await;
    browser.write("button[aria-label='Promote to queen']", "\u{e00c}").await;
    browser.until("!document.querySelector('.promotion')").await;
    browser.write(".board", "\u{e015}\u{e007}\u{e013}\u{e007}").await;
    browser.until(chooser).await;
    browser.write("button[aria-label='Promote to knight']", "\u{e007}").await;
    browser.until("document.querySelector('.moves .san')?.textContent === 'a8=N'").await;
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn skip_link_stays_on_the_page() {
    let (browser, _stage) = opened("#/play").await;
    browser.until("document.querySelector('main form')").await;
    browser.script("document.querySelector('.skip').click()").await;
    browser.until("document.activeElement.id === 'page'").await;
    assert_eq!(browser.script("return location.hash").await, "#/play");
    browser.close().await;
}

/// A link that the operator keeps may be older than the secret.
#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn old_secret_link_leads_to_login() {
    let browser = Browser::start().await;
    let stage = PlayStage::with_secret(true).await;
    for old in ["close%20sesame", "100%"] {
        browser.go("about:blank").await;
        browser.go(&stage.url(&format!("#secret={old}"))).await;
        browser.until("document.querySelector('.notice') && document.querySelector('.empty')").await;
        browser.until("!document.getElementById('login').hidden").await;
    }
    browser.close().await;
}

/// A failed answer, such as a proxy's, takes no game from its player.
#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn failed_board_request_is_repeated() {
    let (browser, _stage) = opened("#/play").await;
    browser.until("document.querySelector('form button.main')").await;
    let once = "const Real = window.EventSource;
        window.EventSource = class extends EventTarget {
          static CLOSED = 2;
          constructor() {
            super();
            this.readyState = 2;
            window.EventSource = Real;
            setTimeout(() => this.dispatchEvent(new Event('error')));
          }
          close() {}
        };";
    browser.script(once).await;
    browser.click("form button.main").await;
    browser.until("document.querySelector('.board.playable')").await;
    browser.close().await;
}

/// A browser opens six connections to a host, so a hidden page holds none: there is a place for
/// another watcher.
#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn hidden_page_holds_no_stream() {
    let browser = Browser::start().await;
    let stage = PlayStage::with(|settings, _| settings.watchers = 1).await;
    let becomes = async |hidden: bool| {
        let script = format!(
            "Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }});
             document.dispatchEvent(new Event('visibilitychange'));"
        );
        browser.script(&script).await;
    };
    let connected = "document.getElementById('connection').dataset.state === 'connected'";
    browser.go(&stage.url("")).await;
    browser.until(connected).await;
    becomes(true).await;
    let other = within("a place for another watcher", async {
        loop {
            let answer = stage.get("api/events").send().await.expect("an answer");
            if answer.status().is_success() {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    });
    drop(other.await);
    connect(&stage.runtime.event_bus, "Concilio");
    becomes(false).await;
    browser.until("document.querySelector('.account')").await;
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn journal_page_says_no_daemon() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    let settings = WebSettings { address: "127.0.0.1:0".to_owned(), ..WebSettings::default() };
    let path = stage.runtime.journal.path().to_owned();
    let web =
        concilio_web::serve_journal(&settings, path, &[], stage.shutdown.now.child_token()).await.expect("a page");
    let url = web.url().expect("an address");
    for tab in ["", "machines", "play"] {
        browser.go(&format!("{url}#/{tab}")).await;
        browser.until("document.querySelector('main h1')?.textContent === 'No daemon is connected'").await;
    }
    browser.until("document.getElementById('connection').textContent === 'journal'").await;
    browser.until("[...document.querySelectorAll('.tabs a')].filter((link) => link.offsetWidth).length === 2").await;
    browser.click(".nodaemon a").await;
    browser.until("document.querySelector('main h1')?.textContent === 'Games'").await;
    assert!(!browser.console().await.contains("SEVERE"), "{}", browser.console().await);
    browser.close().await;
}

/// A program that hangs, or a network that swallows everything, closes no connection: the page notices the silence.
#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn silent_program_counts_as_lost() {
    let (browser, _stage) = opened("").await;
    browser.until("document.getElementById('connection').dataset.state === 'connected'").await;
    // A stream that opens and says nothing stands in for the program's.
    let silent = "window.EventSource = class extends EventTarget { close() {} };
        document.dispatchEvent(new Event('visibilitychange'));";
    browser.script(silent).await;
    browser.until("!document.getElementById('offline').hidden").await;
    browser.close().await;
}
