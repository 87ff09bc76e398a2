//! Measures what correspondence games cost the blitz games beside them.
//!
//! The default council plays two blitz games at a time on a practice server, first without other games, then beside
//! correspondence games, then without them again, each time as a new process. A move's time runs from the line with the
//! opponent's move to the arrival of the request with ours.

use std::{collections::HashSet, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use rand::RngExt;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::{daemon_program::daemon_on, own_process::OwnProcess};
use domain::{Color, GameId, GameTerms, TimeControl, UciMove, Variant};
use practice::{ChallengeTerms, GameView, PracticeServer, PracticeSettings, Sparring, SparringKind};
use util::Failure;

const BOT: &str = "Measured";
const BLITZ: &str = "Blitz";
const DAYS: &str = "Days";
/// Blitz games at a time, one for each of two cores.
const BLITZ_GAMES: usize = 2;
/// The daemon's time for a blitz move, seconds.
const BLITZ_MOVE: &str = "player.clock.move_time=0.25";
/// The daemon's time for a correspondence move, seconds.
const SLOW_MOVE: &str = "player.clock.correspondence_move_time=2";
/// Shortest and longest time of a blitz opponent's move, ms.
const BLITZ_ANSWERS: [u64; 2] = [300, 1_700];
/// Shortest and longest time of a correspondence opponent's move, ms: with a hundred games one of them is always due.
const SLOW_ANSWERS: [u64; 2] = [120_000, 300_000];
/// Timeout for the last correspondence moves.
const LAST_MOVES: Duration = Duration::from_secs(900);

/// Plays blitz for a time, beside `correspondence` games, and waits until every correspondence move is made. Returns the times
/// of the daemon's blitz moves, shortest first, and the number of its correspondence moves.
///
/// # Errors
/// [`Failure`] if the server or the daemon does not start, or a correspondence move is not made within 15 minutes.
pub(crate) async fn play(
    program: &Path,
    time: Duration,
    correspondence: usize,
) -> Result<(Vec<Duration>, usize), Failure> {
    let server = PracticeServer::start(PracticeSettings::default()).await?;
    let token = server.add_account(BOT, true).await?;
    let stop = CancellationToken::new();
    for (name, answers) in [(BLITZ, BLITZ_ANSWERS), (DAYS, SLOW_ANSWERS)] {
        let partner = SlowPartner { stop: stop.clone(), ..SlowPartner::new(SparringKind::Greedy.player(), answers) };
        server.sparring_person(name, Arc::new(partner)).await?;
    }
    let folder = tempfile::tempdir()?;
    let _daemon = start_daemon(program, &server, &token, folder.path(), correspondence)?;
    server.wait_until_online(BOT).await?;
    let mut slow = Vec::new();
    for number in 0..correspondence {
        slow.push(begin(&server, DAYS, TimeControl::Correspondence { days: 3 }, number).await?);
    }
    let end = Instant::now() + time;
    let pool = (0..BLITZ_GAMES).map(|number| play_blitz(&server, end, number));
    futures_util::future::try_join_all(pool).await?;
    stop.cancel();
    let games = slow.clone();
    let answered = server.wait(move |state| {
        let waits = |game| {
            state
                .report(game)
                .is_none_or(|report| report.outcome.is_none() && report.color_of(BOT) == Some(report.line.turn()))
        };
        (!games.iter().any(waits)).then_some(())
    });
    timeout(LAST_MOVES, answered).await.map_err(|_| Failure::failed("a correspondence move was not made"))??;
    let (slow, mut correspondence) = (slow.into_iter().collect::<HashSet<_>>(), 0);
    for game in server.games().await?.iter().filter(|game| slow.contains(&game.id)) {
        let begins = usize::from(game.color_of(BOT) == Some(Color::White));
        correspondence += (game.line.ply() + begins) / 2;
    }
    let times = server.take_response_times();
    let mut blitz: Vec<Duration> =
        times.into_iter().filter(|(game, _)| !slow.contains(game)).map(|(_, time)| time).collect();
    blitz.sort_unstable();
    Ok((blitz, correspondence))
}

fn start_daemon(
    program: &Path,
    server: &PracticeServer,
    token: &str,
    folder: &Path,
    correspondence: usize,
) -> Result<OwnProcess, Failure> {
    let mut command = daemon_on(server, program, token, folder);
    command.args(["--set", BLITZ_MOVE, "--set", SLOW_MOVE]);
    for setting in [
        format!("challenge.concurrency={BLITZ_GAMES}"),
        format!("challenge.correspondence_games={correspondence}"),
        format!("challenge.friends=[\"{BLITZ}\", \"{DAYS}\"]"),
        "challenge.max_games_per_opponent=100".to_owned(),
        "challenge.time_controls=[\"blitz\", \"correspondence\"]".to_owned(),
        "player.resign.enabled=false".to_owned(),
        "player.ponder=0".to_owned(),
    ] {
        command.args(["--set", &setting]);
    }
    OwnProcess::start_daemon(&mut command)
}

/// Challenges the daemon, and returns the game. The colour goes by its `number`.
async fn begin(server: &PracticeServer, from: &str, clock: TimeControl, number: usize) -> Result<GameId, Failure> {
    let terms = GameTerms { variant: Variant::Standard, time_control: clock, rated: false };
    let terms = ChallengeTerms::new(terms).with_color(Color::from_white(number.is_multiple_of(2)));
    Ok(server.game_between(from, BOT, terms).await?)
}

/// Plays one blitz game after the other until the time is over.
async fn play_blitz(server: &PracticeServer, end: Instant, first: usize) -> Result<(), Failure> {
    let clock = TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2));
    for number in first.. {
        let game = begin(server, BLITZ, clock, number).await?;
        if tokio::time::timeout_at(end, server.wait_for_end(&game)).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// A partner that answers after a random time, until it is stopped.
pub(crate) struct SlowPartner {
    player: Arc<dyn Sparring>,
    /// Shortest and longest time of a move, ms.
    answers: [u64; 2],
    stop: CancellationToken,
}

impl SlowPartner {
    /// A partner that moves like `player`; `answers` are its shortest and longest time of a move, ms.
    pub(crate) fn new(player: Arc<dyn Sparring>, answers: [u64; 2]) -> Self {
        Self { player, answers, stop: CancellationToken::new() }
    }
}

#[async_trait]
impl Sparring for SlowPartner {
    async fn choose(&self, game: &GameView) -> Option<UciMove> {
        let [shortest, longest] = self.answers;
        let time = Duration::from_millis(rand::rng().random_range(shortest..=longest));
        self.stop.run_until_cancelled(sleep(time)).await?;
        self.player.choose(game).await
    }
}
