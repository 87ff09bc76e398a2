//! Names and chat of other users are shown as plain text everywhere: they forge no line, send no
//! controls to a terminal, and are no markup in a browser.

use domain::{ChatRoom, GameId, GameTerms, Variant};
use practice::{AccountId, ChallengeTerms, SparringKind};
use util::steers;

use super::{
    harness::{BOT, Story, tc, within},
    operator::{ctl, log, logged},
    restart::Daemon,
};
use stage::Browser;

/// A name that would be a window's title, a cleared screen, a line turned round, another line of the log, and a picture. What stands
/// before a blank would be taken for a title.
const NAME: &str = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\r\n2026-01-01\u{2028}<img/src=x/onerror=\"document.title=1\">";

/// Returns hostile names and chat lines.
fn sayings() -> [String; 4] {
    [
        "\u{1b}[2J\u{1b}]52;c;b3duZWQ=\u{7}cleared".to_owned(),
        "one\r\n2026-01-01 00:00:00 ERROR forged\ntwo".to_owned(),
        "\u{2067}turned\u{2069}\u{61c}\u{200f} \u{85}\u{2029}<script>document.title=1</script>".to_owned(),
        format!("long {}", "\u{1b}[31mx".repeat(1000)),
    ]
}

/// Fails unless all letters of a text can be printed; `what` names the text.
#[track_caller]
fn steers_nothing(text: &str, what: &str) {
    let found = text.chars().find(|letter| *letter != '\n' && steers(*letter));
    assert_eq!(found, None, "{what}: {text:?}");
}

/// A game with the opponent of that name, after all these chat lines.
async fn hostile_game(log_format: &str) -> (Story, Daemon, GameId) {
    let story = Story::set_the_stage(|_| ()).await;
    story.server.sparring(NAME, SparringKind::Greedy).await.expect("a new account");
    let settings = "[player.council]\nroster = 'mp ma'\nhash = 1\n[player.limits]\nnodes = 2000
[web]\naddress = '127.0.0.1:0'\n";
    let daemon = Daemon::run_with(story.folder.path(), &story, settings, &["--log-format", log_format]);
    let terms = GameTerms { variant: Variant::Standard, time_control: tc("600+5"), rated: false };
    let game = story.server.game_between(NAME, BOT, ChallengeTerms::new(terms));
    let game = within("a game", game).await.expect("a game");
    story.ply(&game, 2).await;
    for text in sayings() {
        let (game, by) = (game.clone(), AccountId::of(NAME));
        let said = story.server.ask(move |state| state.say(&game, &by, ChatRoom::Player, &text)).await;
        said.expect("a server").expect("it is their game");
    }
    logged(&story, &["in the player chat", "long"]).await;
    (story, daemon, game)
}

#[testkit::test]
async fn hostile_names_and_chat_are_escaped() {
    for format in ["text", "json"] {
        let (story, daemon, game) = hostile_game(format).await;
        let status = ctl(&story, &["status"]).await.expect("it runs");
        steers_nothing(&status, "ctl status");
        steers_nothing(&ctl(&story, &["status", "--json"]).await.expect("it runs"), "ctl status --json");
        daemon.terminate();
        story.played(&game).await;
        assert!(daemon.ends().await.success());
        let lines = log(&story);
        for line in &lines {
            steers_nothing(line, "the log");
            match format {
                "json" => drop(serde_json::from_str::<serde_json::Value>(line).expect("an object a line")),
                _ => assert!(
                    line.starts_with("20") && line.get(20..25).is_some_and(|level| level.trim().len() >= 4),
                    "{line}"
                ),
            }
        }
        let forged = lines.iter().filter(|line| line.starts_with("2026-01-01"));
        assert_eq!(forged.count(), 0, "{lines:#?}");
        let told = |words: &[&str]| lines.iter().filter(|line| words.iter().all(|word| line.contains(word))).count();
        assert_eq!(
            (told(&["challenge from", "owned"]), told(&["begun", "owned"]), told(&[" over: ", "owned"])),
            (1, 1, 1)
        );
        assert_eq!(told(&["in the player chat"]), sayings().len());
    }
}

/// The page shows the game now and from the journal, with every letter as text.
#[testkit::test(needs(CHROMIUM, CHROMEDRIVER))]
async fn hostile_names_are_text_on_the_page() {
    let (story, daemon, game) = hostile_game("text").await;
    let browser = Browser::start().await;
    let line = logged(&story, &["the page is at http://127.0.0.1:"]).await;
    let (_, address) = line.split_once("the page is at ").expect("an address");
    browser.go(address).await;
    browser.until("document.querySelector('.chat')?.textContent.includes('long')").await;
    let journal = format!("{address}#/games/practice/{game}");
    for (page, ready) in [(address, ".chat"), (&format!("{address}#/games"), "td.opponent"), (&journal, ".columns")] {
        browser.go("about:blank").await;
        browser.go(page).await;
        browser.until(&format!("document.querySelector('{ready}')?.textContent.includes('owned')")).await;
        let text = browser.script("return document.body.textContent").await;
        steers_nothing(text.as_str().expect("a text"), page);
        let made = "return [document.querySelectorAll('main img, main script').length, document.title.includes('1')]";
        assert_eq!(browser.script(made).await, serde_json::json!([0, false]), "{page}");
    }
    browser.close().await;
    daemon.terminate();
    story.played(&game).await;
    assert!(daemon.ends().await.success());
}
