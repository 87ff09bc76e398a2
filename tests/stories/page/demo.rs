//! Tests of the demo in a browser, from the command to the mate and the next game.

use rustix::process::Signal;
use serde_json::Value;
use stage::{Browser, client};
use testkit::within;

use crate::command_line::terminal::OnTerminal;

/// Starts the demo on a terminal: there it stays after the game. Returns the address of its page as well.
fn start(folder: &tempfile::TempDir, web: &str) -> (OnTerminal, String) {
    let data = folder.path().to_string_lossy().into_owned();
    let arguments = ["demo", "--tc", "6+0.1", "--roster", "mp ma mx", "--web", web, "--data", &data];
    let mut demo = OnTerminal::start(&arguments, "dumb");
    let address = demo.wait_for("the page is at ");
    (demo, address)
}

/// Findings M3 and M4: the page died before the mate, and a split vote was called unanimous. Here a browser follows a game to its
/// end, replays it, wants another one, loses the program and finds it again.
#[testkit::test(needs(CHROMIUM, CHROMEDRIVER, PSEUDO_TERMINAL))]
async fn demo_continues_after_the_mate() {
    let browser = Browser::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let (mut demo, address) = start(&folder, "127.0.0.1:0");

    browser.go(&address).await;
    browser.until("document.querySelectorAll('.focus .board .piece').length > 20").await;
    browser.until("document.querySelectorAll('.focus .council tbody tr:not(.silent)').length === 3").await;
    browser.until("document.querySelector('.focus .vote .sentence').textContent.includes('specialists')").await;
    browser.until("document.querySelector('.focus .council .elector').textContent === 'pawns'").await;
    // The last vote stays while the next is prepared.
    browser.until("document.querySelector('.focus .summary').textContent === 'Thinking …'").await;
    browser.until("!document.querySelector('.focus .vote').hidden").await;

    // The end: the result, the last position, and the next steps.
    browser.until("/^(1-0|0-1|1.2-1.2) · /.test(document.querySelector('.focus .over')?.textContent)").await;
    let links = "return [...document.querySelectorAll('.focus .next > *')].map((element) => element.textContent)";
    let links = browser.script(links).await;
    for offered in ["Another game", "Replay with votes", "Report", "Play against the council"] {
        assert!(links.as_array().is_some_and(|links| links.iter().any(|link| link == offered)), "{offered}: {links}");
    }
    demo.wait_for("What next?");
    let id = browser.script("return document.querySelector('.next a').hash.split('/')[3]").await;
    let id = id.as_str().expect("an id");
    votes_are_called_what_they_are(&address, id).await;

    // The report is made while no game is played.
    browser.script("document.querySelectorAll('.focus .next a')[1].click()").await;
    browser.until("document.querySelector('.report .curve')").await;
    browser.script("location.hash = '#/'").await;
    browser.click(".next button").await;
    browser.until(&format!("document.querySelector('.focus .terms a').textContent !== '{id}'")).await;
    browser.until("document.querySelectorAll('.focus .moves li').length >= 2").await;
    assert!(!browser.console().await.contains("SEVERE"), "{}", browser.console().await);

    // The program is killed and started again.
    demo.send(Signal::KILL);
    browser.until("document.getElementById('offline').textContent.includes('has not answered')").await;
    browser.until("!document.getElementById('offline').hidden").await;
    for tab in ["games", "machines", "play"] {
        browser.script(&format!("location.hash = '#/{tab}'")).await;
        browser.until("document.querySelector('main').textContent.includes('The program does not answer')").await;
    }
    browser.script("location.hash = '#/'").await;
    let (_, _) = demo.end();
    let port = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let (demo, _) = start(&folder, &port);
    browser.until("document.getElementById('offline').hidden").await;
    browser.until("document.querySelectorAll('.focus .moves li').length >= 2").await;
    demo.send(Signal::INT);
    let (status, shown) = demo.end();
    assert!(status.success(), "{shown}");
    browser.close().await;
}

/// No vote is called unanimous if an elector proposed another move.
async fn votes_are_called_what_they_are(address: &str, id: &str) {
    let get = client().get(format!("{address}api/games/practice/{id}")).send();
    let replay: Value = within("the game", get).await.expect("an answer").json().await.expect("JSON");
    let moves = replay["moves"].as_array().expect("moves");
    let mut votes = 0;
    for played in moves.iter().filter(|played| played["vote"].is_object()) {
        let proposed: Vec<&Value> =
            played["votes"].as_array().expect("votes").iter().map(|vote| &vote["uci"]).collect();
        let agree = proposed.len() > 1 && proposed.windows(2).all(|pair| pair[0] == pair[1]);
        let sentence = played["vote"]["sentence"].as_str().expect("a sentence");
        assert_eq!(sentence.contains("unanimous"), agree, "{played}");
        votes += usize::from(!proposed.is_empty());
    }
    assert!(votes > 5, "{replay}");
}
