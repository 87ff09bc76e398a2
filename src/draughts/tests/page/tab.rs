//! Italian draughts in the browser.

use serde_json::{Value, json};
use stage::{Browser, PlayStage};

use crate::opened;

async fn dark_square(browser: &Browser, number: u8) -> (f64, f64) {
    let (row, index) = ((number - 1) / 4, (number - 1) % 4);
    browser.middle(f64::from(2 * index + row % 2), f64::from(row)).await
}

async fn open(browser: &Browser, stage: &PlayStage) {
    browser.go(&stage.url("#/draughts")).await;
    browser.until("document.querySelector('.board.draughts.playable')").await;
}

async fn begin(browser: &Browser, position: &str, color: &str) {
    let script = format!(
        "const form = document.querySelector('details form');
         form.querySelector('input[placeholder]').value = {position:?};
         form.querySelector('[value={color}]').checked = true;
         form.requestSubmit();"
    );
    browser.script(&script).await;
}

async fn choose_opponent(browser: &Browser, name: &str, depth: u32) {
    let script = format!(
        "const [name, depth] = document.querySelectorAll('form[aria-label=\"The opponent\"] select');
         name.value = {name:?};
         depth.value = {depth};
         name.dispatchEvent(new Event('change', {{ bubbles: true }}));"
    );
    browser.script(&script).await;
}

async fn click_square(browser: &Browser, number: u8) {
    let square = dark_square(browser, number).await;
    browser.point(&[square], false).await;
}

async fn drag(browser: &Browser, from: u8, to: u8) {
    let (from, to) = (dark_square(browser, from).await, dark_square(browser, to).await);
    browser.point(&[from, ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0), to], true).await;
}

/// A move that is legal in the game of the page, whatever the opponent played.
async fn any_move(browser: &Browser, stage: &PlayStage) -> String {
    let game = browser.script("return JSON.parse(localStorage.getItem('draughts')).game").await;
    let response = stage.post("api/draughts", &game).send().await.expect("an answer");
    let view: Value = response.json().await.expect("JSON");
    let legal = view["legal"].as_array().expect("moves");
    legal[legal.len() / 2]["text"].as_str().expect("a move").to_owned()
}

fn moves(count: usize) -> String {
    format!("document.querySelectorAll('.moves li').length === {count} && document.querySelector('.board.playable')")
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn draughts_accepts_every_input() {
    let browser = Browser::start().await;
    let stage = opened().await;
    open(&browser, &stage).await;
    browser.until("document.querySelectorAll('.piece.wman').length === 12").await;
    choose_opponent(&browser, "peso-pedine", 2).await;
    // A man that cannot move is not lifted, and lights nothing.
    click_square(&browser, 29).await;
    assert_eq!(browser.script("return document.querySelectorAll('.square.go').length").await, 0);
    click_square(&browser, 22).await;
    browser.until("document.querySelectorAll('.square.go').length === 2").await;
    click_square(&browser, 18).await;
    browser.until(&moves(2)).await;
    let first = browser.script("return document.querySelector('.moves .san').textContent").await;
    assert_eq!(first, "22-18");
    browser.until("document.querySelector('.council tbody th .elector').textContent === 'peso-pedine'").await;

    // Another opponent, from the next move on.
    choose_opponent(&browser, "fully-guarded", 1).await;
    let text = any_move(&browser, &stage).await;
    browser.write("input[aria-label='Write a move']", &format!("{text}\u{e007}")).await;
    browser.until(&moves(4)).await;
    browser.until("document.querySelector('.council tbody th .elector').textContent === 'fully-guarded'").await;
    // A reload keeps the game.
    browser.go("about:blank").await;
    open(&browser, &stage).await;
    browser.until(&moves(4)).await;
    browser.script("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Take back').click()").await;
    browser.until(&moves(2)).await;

    // Enter takes up the man at the cursor on 22, a step up, Enter puts it down.
    begin(&browser, "", "white").await;
    browser.until(&moves(0)).await;
    browser.write(".board", "\u{e007}\u{e013}\u{e007}").await;
    browser.until(&moves(2)).await;
    let first = browser.script("return document.querySelector('.moves .san').textContent").await;
    assert_eq!(first, "22-18");
    assert!(!browser.console().await.contains("SEVERE"), "{}", browser.console().await);
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn capture_is_made_step_by_step() {
    let browser = Browser::start().await;
    let stage = opened().await;
    open(&browser, &stage).await;
    choose_opponent(&browser, "spettacolo", 2).await;
    begin(&browser, "W:W14,18,31:B2,11,20,28", "white").await;
    browser
        .until("document.querySelectorAll('.pieces .piece').length === 7 && document.querySelector('.board.playable')")
        .await;
    let marked = "return document.querySelectorAll('.square.must').length";
    assert_eq!(browser.script(marked).await, 1, "the man that has to take");
    click_square(&browser, 14).await;
    assert_eq!(browser.script("return document.querySelectorAll('.square.selected').length").await, 0);
    click_square(&browser, 31).await;
    click_square(&browser, 24).await;
    browser.until("document.querySelector('.over').textContent.includes('31x24x …')").await;
    drag(&browser, 24, 15).await;
    browser.until("document.querySelectorAll('.piece.taken').length === 2").await;
    // The same button gives up a setup that is half done.
    let back = "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Take back')";
    browser.script(&format!("{back}.click()")).await;
    browser.until("document.querySelectorAll('.piece.taken').length === 0").await;
    drag(&browser, 31, 24).await;
    click_square(&browser, 15).await;
    drag(&browser, 15, 6).await;
    browser.until(&moves(2)).await;
    let words = "return [...document.querySelectorAll('.moves .san')].map((e) => e.textContent)";
    // The man on 6 is all that Black's last man can take.
    assert_eq!(browser.script(words).await, json!(["31x24x15x6", "2x11"]));
    browser.until("document.querySelector('.over').textContent === 'Your move: you must capture 14x7'").await;
    let counts = "return [...document.querySelectorAll('.pieces-taken')].map((e) => e.textContent).join(' ')";
    assert_eq!(browser.script(counts).await, "×1 ×3");

    // The browser saves the blob that the page gives it.
    let listen = "const make = URL.createObjectURL;
         URL.createObjectURL = (blob) => (blob.text().then((text) => (document.body.dataset.saved = text)), make(blob));
         [...document.querySelectorAll('button')].find((b) => b.textContent === 'PDN').click();";
    browser.script(listen).await;
    browser.until("document.body.dataset.saved?.includes('1. 31x24x15x6 2x11 *')").await;
    browser.until("document.body.dataset.saved.includes('concilio (spettacolo, 2 moves ahead)')").await;
    click_square(&browser, 14).await;
    click_square(&browser, 7).await;
    browser.until("document.querySelector('.over').textContent === 'White won: Black has no piece left'").await;
    browser.script(&format!("{back}.click()")).await;
    browser.until(&moves(2)).await;
    browser.script(&format!("{back}.click()")).await;
    browser.until(&moves(0)).await;
    begin(&browser, "W:W99:B1", "white").await;
    browser.until("document.querySelector('.notice[data-kind=bad]')").await;
    assert_eq!(
        browser.script("return document.querySelectorAll('.pieces .piece').length").await,
        7,
        "the game that was goes on"
    );
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn opponent_begins_against_black() {
    let browser = Browser::start().await;
    let stage = opened().await;
    open(&browser, &stage).await;
    choose_opponent(&browser, "council", 4).await;
    // The search of today is always quiescent; a council elects.
    let shown = "return [...document.querySelectorAll('form[aria-label=\"The opponent\"] :is(.check, select)')]
        .filter((part) => part.offsetParent).length";
    assert_eq!(browser.script(shown).await, 3);
    begin(&browser, "", "black").await;
    browser.until(&moves(1)).await;
    // The first move is free, so there was a vote; a later one may be forced.
    browser.until("document.querySelectorAll('.council tbody tr').length >= 4").await;
    // Black's base is below now: square 1 is the lower right corner.
    let corner =
        "return [...document.querySelectorAll('.labels text')].find((e) => e.textContent === '1').getAttribute('x')";
    assert_eq!(browser.script(corner).await, "7.03");
    for ply in [3, 5, 7, 9] {
        let text = any_move(&browser, &stage).await;
        browser.write("input[aria-label='Write a move']", &format!("{text}\u{e007}")).await;
        browser.until(&moves(ply)).await;
    }
    browser.pictures("draughts").await;
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn tab_without_a_daemon_says_so() {
    let (browser, stage) = (Browser::start().await, opened().await);
    let settings = web::WebSettings { address: "127.0.0.1:0".to_owned(), ..Default::default() };
    let (path, stop) = (stage.runtime.journal.path().to_owned(), stage.shutdown.now.child_token());
    let web = web::serve_journal(&settings, path, &[concilio_draughts::page::PART], stop).await.expect("a page");
    browser.go(&format!("{}#/draughts", web.url().expect("an address"))).await;
    browser.until("document.querySelector('main h1')?.textContent === 'No daemon is connected'").await;
    browser.until("document.title === 'Draughts · concilio'").await;
    browser.close().await;
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER, AXE))]
async fn tab_is_accessible_and_does_not_move() {
    let (browser, stage) = (Browser::start().await, opened().await);
    for scheme in ["light", "dark"] {
        browser.prefer(scheme).await;
        for (width, height) in [(1400, 900), (360, 780)] {
            browser.resize(width, height).await;
            browser.go("about:blank").await;
            browser.go(&stage.url("#/draughts")).await;
            browser.until("document.querySelector('h1')").await;
            let (found, shift) = (browser.violations().await, browser.layout_shift().await);
            let wide = browser.script("return document.documentElement.scrollWidth - innerWidth").await;
            assert!(found.is_empty() && wide == 0 && shift < 0.02, "{scheme} {width}: {wide} px, {shift}, {found}");
        }
    }
    browser.close().await;
}
