//! The tour of `docs/tour.md` through a fixed game: what its six pictures show, and, with `CONCILIO_WEB_PICTURES=FOLDER`, the
//! pictures themselves.

use crate::{
    fixed_game::{FixedGame, ID, SERVER},
    journal::judged,
};
use stage::{Browser, PlayStage};

#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn tour_shows_who_disagreed_and_why() {
    let browser = Browser::start().await;
    let stage = PlayStage::open().await;
    browser.resize(1000, 760).await;
    let mut game = FixedGame::begin(&stage);
    game.play_to(1).await;
    browser.go(&stage.url("")).await;
    let sentence = "Both engines and 2 of 3 specialist advisers chose e4; 1 of 3 specialist advisers preferred d4 (king and centre)";
    browser.until(&format!("document.querySelector('.focus .sentence').textContent === '{sentence}'")).await;
    browser.until("document.querySelectorAll('.focus .arrow').length === 2").await;
    browser.part(".focus", "tour-1-vote").await;

    game.play_to(13).await;
    browser.until("document.querySelector('.focus .played').textContent.startsWith('7. N')").await;
    // Every rejected move has its reason: two heuristics with their difference in pawns.
    let reasons =
        "[...document.querySelectorAll('.proposals [data-elected=false] .differs')].map((e) => e.textContent)";
    browser.until(&format!("{reasons}.length === 2")).await;
    browser
        .until(&format!("{reasons}.every((text) => /^[a-z ]+ [+−]\\d+\\.\\d, [a-z ]+ [+−]\\d+\\.\\d$/.test(text))"))
        .await;
    browser.part(".focus .vote", "tour-2-why").await;

    game.finish().await;
    judged(&stage, 2000).await;
    browser.go(&stage.url(&format!("#/games/{SERVER}/{ID}?ply=17"))).await;
    browser.until("document.querySelector('.vote .sentence')?.textContent.includes('preferred g4')").await;
    browser.until("document.querySelector('.over').textContent === '1-0 · White won by checkmate'").await;
    browser.part(".focus", "tour-3-replay").await;
    browser.click(".check input").await;
    browser
        .until("[...document.querySelectorAll('.votelist li')].filter((row) => row.offsetParent).length === 6")
        .await;
    browser.until("document.querySelectorAll('.report .curve').length === 2").await;
    browser.part("main > .columns", "tour-4-votes").await;

    browser.go(&stage.url("#/play")).await;
    browser.until("document.querySelectorAll('optgroup').length === 4").await;
    browser.part(".setup", "tour-5-play").await;

    browser.go(&stage.url(&format!("api/games/{SERVER}/{ID}/report.html"))).await;
    browser.until("document.querySelector('h1').textContent.includes('Concilio')").await;
    browser.until("document.querySelector('.vote').textContent.includes('Compared with ')").await;
    browser.part("main", "tour-6-report").await;
    assert!(!browser.console().await.contains("SEVERE"), "{}", browser.console().await);
    browser.close().await;
}
