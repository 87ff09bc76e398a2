//! Players named like words of the protocol, on servers of every dialect.

use platform::fics::{FicsSettings, Timeseal};
use practice::End;

use super::harness::{BOT, Daemon, ended, game_of, newcomer, server, settings};

/// A game with such a player is played, its end is understood, and the next one begins.
#[testkit::test]
async fn protocol_words_may_be_names() {
    for (dialect, timeseal) in
        [("freechess", Timeseal::V2), ("fatics", Timeseal::V2), ("capablanca", Timeseal::V1), ("uhlin", Timeseal::Off)]
    {
        let server = server(&format!("dialect={dialect}")).await;
        let daemon = Daemon::start_with(&server, BOT, FicsSettings { timeseal, ..settings(&server, BOT) }).await;
        for name in ["Creating", "Continuing", "Draw", "Resigns", "Game"] {
            let mut player = newcomer(&server, name).await;
            player.say("match concilio 5 0 unrated white").await;
            player.until(&format!("({name} vs. Concilio) Creating unrated blitz match.}}")).await;
            player.until(&format!("{name} Concilio 1 ")).await;
            player.play("e2e4", "e4").await;
            player.until(&format!("{name} Concilio 1 ")).await;
            let game = game_of(&server, BOT).await;
            player.say("resign").await;
            player.until(&format!("{name} resigns}} 0-1")).await;
            let report = ended(&server, &game).await;
            assert_eq!(report.outcome.as_ref().map(|outcome| outcome.end), Some(End::Resignation), "{dialect} {name}");
            assert_eq!(report.winner(), Some(BOT), "{dialect} {name}");
        }
        daemon.closes().await;
    }
}
