//! The last vote and its expected line, while the game goes on.

use crate::{
    accessibility::tab_to,
    fixed_game::{FixedGame, ID, SERVER},
};
use stage::{Browser, PlayStage};

const ESCAPE: &str = "\u{e00c}";
const ENTER: &str = "\u{e007}";
const RIGHT: &str = "\u{e014}";

/// Colours of the moves in the panel of the last vote, by move.
const SWATCHES: &str = "return [...document.querySelectorAll('.proposals .move')].map((move) => \
    [move.textContent, move.dataset.move, getComputedStyle(move).borderLeftColor])";

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn moves_keep_their_colours() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    let mut game = FixedGame::begin(&stage);
    game.play_to(12).await;
    browser.go(&stage.url("")).await;
    browser.until("document.querySelectorAll('.focus .moves li').length === 12").await;
    game.think();
    browser.until("document.querySelectorAll('.council td[data-move^=m]').length === 5").await;
    let proposed = browser
        .script(
            "return Object.fromEntries([...document.querySelectorAll('.council td[data-move]')].map((cell) => \
             [cell.textContent, cell.dataset.move]))",
        )
        .await;
    game.play_to(13).await;
    browser.until("document.querySelector('.focus .played').textContent.startsWith('7. N')").await;
    let colours = browser.script(SWATCHES).await;
    for row in colours.as_array().expect("swatches") {
        let [mv, colour] = [0, 1].map(|index| row[index].as_str().expect("text"));
        assert!(colour == "elected" || proposed[mv] == colour, "{row}: {proposed}");
    }

    game.play_to(14).await;
    game.think();
    browser.until("document.querySelector('.votes .summary').textContent === 'Thinking …'").await;
    browser.until("document.querySelectorAll('.focus .arrow.proposed').length > 0").await;
    assert_eq!(browser.script(SWATCHES).await, colours, "the next search changes none");
    let shared = browser
        .script(
            "const of = (all) => [...all].map((one) => one.className.baseVal?.split(' ').at(-1) ?? one.dataset.move);
             const last = new Set(of(document.querySelectorAll('.proposals .move')));
             return of(document.querySelectorAll('.arrow.proposed')).filter((color) => last.has(color))",
        )
        .await;
    assert_eq!(shared, serde_json::json!([]), "no colour stands for two moves");
    browser.close().await;
}

/// The position on the board, as a screen reader hears it.
const BOARD: &str = "document.querySelector('.focus .board').getAttribute('aria-label')";

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER, AXE))]
async fn expected_line_can_be_studied() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    let mut game = FixedGame::begin(&stage);
    game.play_to(1).await;
    browser.go(&stage.url("")).await;
    browser.until(&format!("{BOARD} === 'Board, black to move, last move e2e4'")).await;
    let line = "[...document.querySelectorAll('.expected .sans button')].map((move) => move.textContent).join(' ')";
    browser.until(&format!("{line}.startsWith('1. e4 c5 2. Nf3 Nc6 3. ')")).await;
    browser.click(".expected .sans button:nth-child(3)").await;
    browser.until(&format!("{BOARD} === 'Board, black to move, last move g1f3'")).await;
    assert_eq!(browser.violations().await, "");

    // The game goes on beside it.
    game.play_to(2).await;
    browser.until("document.querySelectorAll('.focus .moves li').length === 2").await;
    assert_eq!(browser.script(&format!("return {BOARD}")).await, "Board, black to move, last move g1f3");
    browser.press(ESCAPE).await;
    browser.until(&format!("{BOARD} === 'Board, white to move, last move e7e5'")).await;

    // By keys, and in a replay, whose own keys hold again afterwards.
    game.play_to(5).await;
    browser.go(&stage.url(&format!("#/games/{SERVER}/{ID}?ply=1"))).await;
    browser.until("document.querySelector('.votelist')").await;
    tab_to(&browser, ".expected button").await;
    browser.press(ENTER).await;
    browser.press(RIGHT).await;
    browser.until(&format!("{BOARD} === 'Board, white to move, last move c7c5'")).await;
    browser.press(ESCAPE).await;
    browser.until(&format!("{BOARD} === 'Board, black to move, last move e2e4'")).await;
    browser.press(RIGHT).await;
    browser.until(&format!("{BOARD} === 'Board, white to move, last move e7e5'")).await;
    browser.close().await;
}
