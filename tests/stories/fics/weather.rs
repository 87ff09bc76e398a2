//! Many games while connections are cut every few seconds.

use std::time::{Duration, Instant};

use practice::{End, SparringKind};

use super::harness::{Daemon, ended, game_between, partner_of, server, was_played_out};
use crate::lichess::harness::thoughtful;

/// Variable with the number of games of the long story (default 200).
const GAMES: &str = "CONCILIO_WEATHER_GAMES";
/// Number of accounts side by side: on FICS an account plays one game at a time.
const ACCOUNTS: u8 = 8;

/// Thinking time of the partners for each move, so that a game takes long enough for its connection
/// to be cut.
const PARTNERS_THINK: Duration = Duration::from_millis(250);

async fn are_played_in(weather: &str, games: usize) {
    let server = server(weather).await;
    let began = Instant::now();
    let mut daemons = Vec::new();
    for number in 0..ACCOUNTS {
        let (partner, _) = thoughtful(SparringKind::Greedy, PARTNERS_THINK);
        server.sparring_with(&partner_of(number), partner).await.expect("a new account");
        daemons.push(Daemon::start(&server, &format!("Concilio{}", char::from(b'A' + number))).await);
    }
    let each = games.div_ceil(usize::from(ACCOUNTS));
    let reports = futures_util::future::join_all((0..ACCOUNTS).zip(&daemons).map(|(number, daemon)| {
        let server = &server;
        async move {
            let mut reports = Vec::new();
            for _ in 0..each {
                let game = game_between(server, &partner_of(number), &daemon.name, None).await;
                reports.push(ended(server, &game).await);
            }
            reports
        }
    }))
    .await
    .concat();
    let with = |end: End| {
        reports.iter().filter(|report| report.outcome.as_ref().is_some_and(|outcome| outcome.end == end)).count()
    };
    let ours = |name: &str| name.starts_with("Concilio");
    let plies: usize = reports.iter().map(|report| report.line.ply()).sum();
    // Each side sits down once, and once more after every adjournment; but not where a cut connection took the game with it.
    let resumed: u32 = reports
        .iter()
        .map(|report| if ours(&report.white) { report.streams_opened.white } else { report.streams_opened.black })
        .map(|seats| seats.saturating_sub(1))
        .sum();
    println!(
        "{} games in {weather}: {plies} plies in {:.0?}, {resumed} times resumed; {} mates ({} won), {} on time, {} \
         aborted before they began",
        reports.len(),
        began.elapsed(),
        with(End::Checkmate),
        reports.iter().filter(|report| report.winner().is_some_and(ours)).count(),
        with(End::OutOfTime),
        with(End::Aborted),
    );
    for report in &reports {
        // A connection that is cut before both sides have moved takes the game with it, as on FICS.
        if !(report.line.ply() < 2 && report.outcome.as_ref().is_some_and(|outcome| outcome.end == End::Aborted)) {
            was_played_out(report);
        }
    }
    server.faults().set_plan("".parse().expect("no faults"));
    for daemon in daemons {
        daemon.closes().await;
    }
}

/// Promise 1 on FICS: every connection is cut every few seconds, and every command is delayed.
#[testkit::test]
async fn fast_games_survive_cut_connections() {
    let games = std::env::var(GAMES).ok().and_then(|number| number.parse().ok()).unwrap_or(24);
    are_played_in("cut=3s,delay=20ms", games).await;
}

/// Promise 1 on FICS: all other faults, too: lost answers, half-open connections, lines twice and in the wrong order.
#[testkit::test]
async fn games_survive_all_faults_at_once() {
    are_played_in("cut=3s,delay=20ms,lost=0.5%,half-open=0.2%,duplicate=2%,reorder=0.5%", 8).await;
}
