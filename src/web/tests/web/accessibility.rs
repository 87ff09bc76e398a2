//! Pages that everyone can use: by axe-core's rules, by keyboard alone, without anything that moves while it is read.

use crate::{
    fixed_game::{FixedGame, ID, SERVER},
    journal::judged,
    page::opened,
};
use stage::{Browser, PlayStage};

/// Every page with what shows that it is there.
fn pages() -> [(String, &'static str); 10] {
    let game = format!("{SERVER}/{ID}");
    let page = |address: &str, ready| (address.to_owned(), ready);
    [
        page("", "document.querySelector('.focus .over')?.offsetParent"),
        page("#/games", "document.querySelector('tbody .tag')"),
        page(&format!("#/games/{game}?ply=17"), "document.querySelector('.votelist')"),
        page("#/games/told/nothing", "document.querySelector('h1')?.textContent === 'No such game'"),
        page("#/machines", "document.querySelector('.machine')"),
        page("#/play", "document.querySelector('.setup')"),
        page(&format!("api/games/{game}/report.html"), "document.querySelector('.moves')"),
        page("report/index.html", "document.querySelector('h1')"),
        page("report/council.html", "document.querySelector('h1')"),
        page("report/games-1.html", "document.querySelector('h1')"),
    ]
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER, AXE))]
async fn axe_finds_no_violation_on_any_page() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    let mut game = FixedGame::begin(&stage);
    game.finish().await;
    judged(&stage, 50).await;
    let mut wrong = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme).await;
        for (address, ready) in pages() {
            browser.resize(1400, 900).await;
            browser.go("about:blank").await;
            browser.go(&stage.url(&address)).await;
            browser.until(ready).await;
            for (width, height) in [(1400, 900), (360, 780)] {
                browser.resize(width, height).await;
                let found = browser.violations().await;
                let wide = browser.script("return document.documentElement.scrollWidth - innerWidth").await;
                if !found.is_empty() || wide != 0 {
                    wrong.push(format!("{address:?} {scheme} {width}: {wide} px too wide; {found}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    browser.close().await;
}

/// Parts of a page that jump while they are read, or are about to be clicked.
#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn nothing_moves_while_a_page_loads() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    let mut game = FixedGame::begin(&stage);
    game.finish().await;
    judged(&stage, 50).await;
    for (width, height) in [(1400, 900), (360, 780)] {
        for (address, ready) in pages() {
            browser.resize(width, height).await;
            browser.go("about:blank").await;
            browser.go(&stage.url(&address)).await;
            browser.until(ready).await;
            let shift = browser.layout_shift().await;
            assert!(shift < 0.02, "{address:?} {width}: {shift}");
        }
    }
    browser.close().await;
}

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
const UP: &str = "\u{e013}";

/// Tabs on until the focus is on what a selector names.
pub(crate) async fn tab_to(browser: &Browser, selector: &str) {
    for _ in 0..40 {
        let there = browser.script(&format!("return document.activeElement.matches({selector:?})")).await;
        if there == true {
            return;
        }
        browser.press(TAB).await;
    }
    panic!("{selector} cannot be reached by Tab");
}

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn keyboard_alone_plays_a_game() {
    let (browser, _stage) = opened("").await;
    browser.until("document.getElementById('connection').dataset.state === 'connected'").await;
    browser.press("4").await;
    browser.until("document.querySelector('.setup')").await;
    tab_to(&browser, ".setup button.main").await;
    browser.press(ENTER).await;
    browser.until("document.querySelector('.board.playable')").await;
    tab_to(&browser, ".board").await;
    let said = "document.getElementById('announcer').textContent";
    browser.press(ENTER).await;
    browser.until(&format!("{said} === 'e2, white pawn, selected'")).await;
    browser.press(&format!("{UP}{UP}")).await;
    browser.until(&format!("{said} === 'e4'")).await;
    browser.press(ENTER).await;
    browser.until("document.querySelectorAll('.moves li').length === 2").await;
    browser.until(&format!("{said}.startsWith('The council plays ')")).await;
    tab_to(&browser, "button.bad").await;
    browser.script("window.confirm = () => true").await;
    browser.press(ENTER).await;
    browser.until("/won by resignation/.test(document.querySelector('.side .over').textContent)").await;
    tab_to(&browser, "a.button[href^='#/games/page/']").await;
    browser.close().await;
}
