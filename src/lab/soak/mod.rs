//! A long run of the daemon on the practice server, under faults, kills and load, with a record of
//! everything that must not happen.
//!
//! The daemon is a process of its own. A partner challenges it until all games are played;
//! strangers propose games that its policy forbids; at random moments it is killed (SIGKILL) and
//! started again; other processes search beside it. The server's record alone judges the daemon,
//! and its journal and PGN files are compared with that record.
//!
//! | subject | where |
//! |---|---|
//! | the server, the partners, the daemon's process and the load beside it | `stage` |
//! | the journal and the PGN files against the server's record | `audit` |
//! | counts and their output | `report` |

mod audit;
mod report;
mod stage;

pub use report::{SoakMemory, SoakReport};

use std::{
    collections::BTreeSet,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum, builder::RangedU64ValueParser};
use futures_util::{StreamExt, stream::FuturesUnordered};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use domain::{Color, TimeControl};
use practice::{GameReport, faults::FaultPlan};
use stage::{SoakPlace, SoakStage};
use util::Failure;

/// A game that has not begun, or not ended, after this time counts as unfinished.
const LONGEST: Duration = Duration::from_secs(900);
/// The time for filling all places at the end.
const FILLING: Duration = Duration::from_secs(120);
/// The longest pause between the end of a game and the kill that was due with it.
const KILL_WITHIN: Duration = Duration::from_secs(2);
/// The interval, in games, of proposals that the policy forbids.
const FORBIDDEN_EVERY: usize = 5;
/// The game from which on memory must stay constant.
const WARM: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SoakProtocol {
    /// The Lichess Bot API: one account plays several games at once
    Lichess,
    /// The language of FICS: several accounts play one game each
    Fics,
}

/// The games of a soak, and what goes wrong meanwhile.
#[derive(Clone, Debug, Args)]
pub struct SoakPlan {
    /// The protocol that is spoken
    #[arg(long = "server", value_enum, default_value = "lichess")]
    pub protocol: SoakProtocol,
    /// Games to play
    #[arg(long, default_value_t = 100, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000), value_name = "N")]
    pub games: usize,
    /// Faults of the server, as for `concilio practice --faults`
    #[arg(long, default_value = "", value_name = "PLAN")]
    pub faults: FaultPlan,
    /// Number of times that the daemon is killed (SIGKILL) and restarted, at random moments
    #[arg(long, default_value_t = 0, value_name = "K")]
    pub kills: usize,
    /// Processes that search beside it
    #[arg(long, default_value_t = 0, value_name = "L")]
    pub load: usize,
    /// Let the daemon ask the services that know moves, all of which the server plays, with the same faults
    #[arg(long)]
    pub online: bool,
    /// Games at once: of one account on Lichess, of as many accounts on FICS
    #[arg(long, default_value_t = 8, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100), value_name = "N")]
    pub places: usize,
    /// The clock of each game, seconds
    #[arg(long, default_value = "60+1", value_name = "INITIAL+INCREMENT")]
    pub clock: TimeControl,
    /// Decides colours, faults and the moments of the kills
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub seed: u64,
}

/// Runs a plan in a folder, which keeps the daemon's settings, log, journal and games. `progress`
/// is called after every game. When `stop` is cancelled, the results so far are reported.
///
/// # Errors
/// [`Failure`] if the practice server or the daemon does not start.
pub async fn soak(
    plan: &SoakPlan,
    program: &Path,
    folder: &Path,
    stop: &CancellationToken,
    progress: impl FnMut(&SoakReport),
) -> Result<SoakReport, Failure> {
    let began = Instant::now();
    let mut stage = SoakStage::set(plan, program, folder).await?;
    let (unasked, mut proposed) = mpsc::unbounded_channel();
    let watching = stage::watch_challenges(Arc::clone(&stage.server), stage.bots(), unasked);
    let mut random = StdRng::seed_from_u64(plan.seed);
    let mut kills: Vec<usize> = (0..plan.kills).map(|_| random.random_range(0..plan.games.max(1))).collect();
    kills.sort_unstable_by(|a, b| b.cmp(a));
    let mut soak = Soak { plan, report: SoakReport::default(), random, kills };
    let playing = async {
        stage.start_daemon()?;
        let online = timeout(LONGEST, stage.wait_until_online()).await;
        online.map_err(|_| {
            let (seconds, log) = (LONGEST.as_secs(), stage.log_path());
            Failure::failed(format_args!("the daemon did not connect within {seconds} s; its log: {}", log.display()))
        })??;
        soak.report.memory.begin = stage.resident();
        soak.play(&mut stage, stop, progress).await?;
        if stop.is_cancelled() {
            stage.kill_daemon();
        } else {
            soak.fill_all_places(&stage).await?;
            if !stage.end_daemon().await {
                soak.report.find("the daemon did not stop on request".to_owned());
            }
        }
        soak.judge(&stage).await
    };
    tokio::select! {
        played = playing => played?,
        watched = watching => watched?,
    }
    let mut unasked = BTreeSet::new();
    while let Ok(challenge) = proposed.try_recv() {
        unasked.insert(challenge);
    }
    soak.report.unasked = unasked.len();
    for challenge in unasked {
        soak.report.find(format!("the daemon made the challenge {challenge} unasked"));
    }
    soak.report.elapsed = began.elapsed();
    Ok(soak.report)
}

struct Soak<'a> {
    plan: &'a SoakPlan,
    report: SoakReport,
    random: StdRng,
    /// The games after which a kill is due, the next one last.
    kills: Vec<usize>,
}

impl Soak<'_> {
    async fn play(
        &mut self,
        stage: &mut SoakStage,
        stop: &CancellationToken,
        mut progress: impl FnMut(&SoakReport),
    ) -> Result<(), Failure> {
        let server = Arc::clone(&stage.server);
        let places = stage.places.clone();
        let mut begun = 0;
        let mut running = FuturesUnordered::new();
        let mut free: Vec<usize> = (0..places.len()).rev().collect();
        while self.report.games < self.plan.games {
            while begun < self.plan.games
                && let Some(place) = free.pop()
            {
                begun += 1;
                if begun % FORBIDDEN_EVERY == 0 {
                    stage.propose_forbidden(&places[place], begun / FORBIDDEN_EVERY).await;
                }
                let color = Color::from_white(self.random.random());
                running.push(one_game(&server, &places[place], place, self.plan, color));
            }
            while self.kills.last().is_some_and(|after| *after <= self.report.games) {
                self.kills.pop();
                let pause = self.random.random_range(Duration::ZERO..KILL_WITHIN);
                tokio::select! {
                    () = sleep(pause) => (),
                    () = stop.cancelled() => return Ok(()),
                }
                self.kill(stage).await?;
            }
            let (place, undone) = tokio::select! {
                Some(played) = running.next() => played?,
                () = stop.cancelled() => return Ok(()),
            };
            free.push(place);
            self.report.games += 1;
            if let Some(what) = undone {
                self.report.unfinished += 1;
                self.report.find(format!("{what} within {} s", LONGEST.as_secs()));
            }
            self.report.memory.sample(stage.resident(), self.report.games >= WARM);
            progress(&self.report);
        }
        Ok(())
    }

    async fn kill(&mut self, stage: &mut SoakStage) -> Result<(), Failure> {
        stage.kill_daemon();
        self.report.kills += 1;
        let games = stage.server.games().await?;
        let running: Vec<GameReport> = games.into_iter().filter(|game| game.outcome.is_none()).collect();
        audit::after_kill(stage, &running, &mut self.report);
        stage.start_daemon()
    }

    /// Fills all places at once, without faults; a place that cannot be filled was never given back.
    async fn fill_all_places(&mut self, stage: &SoakStage) -> Result<(), Failure> {
        let server = Arc::clone(&stage.server);
        server.faults().set_plan(FaultPlan { dialect: self.plan.faults.dialect, ..FaultPlan::default() });
        stage.hold_partners(true);
        let clock = TimeControl::real_time(LONGEST, Duration::ZERO);
        let places = stage.places.clone();
        let mut begun = FuturesUnordered::new();
        for place in &places {
            // The daemon has White, so that every game begins at once.
            begun.push(stage::begin(&server, place, clock, Color::Black));
        }
        let mut games = Vec::new();
        let filled = timeout(FILLING, async {
            while let Some(game) = begun.next().await {
                games.push(game?);
            }
            Ok::<(), Failure>(())
        });
        if let Ok(failed) = filled.await {
            failed?;
        }
        let leaked = places.len() - games.len();
        if leaked > 0 {
            self.report.places_leaked = leaked;
            self.report.find(format!("{leaked} of {} places were not filled again", places.len()));
        }
        drop(begun);
        stage.hold_partners(false);
        for game in &games {
            if timeout(LONGEST, server.wait_for_end(game)).await.is_err() {
                self.report.unfinished += 1;
                self.report.find(format!("{game} of the last round did not end within {} s", LONGEST.as_secs()));
            }
        }
        Ok(())
    }

    /// Counts the server's record, and compares journal and PGN with it.
    async fn judge(&mut self, stage: &SoakStage) -> Result<(), Failure> {
        self.report.memory.settle();
        let games = stage.server.games().await?;
        for game in &games {
            let Some((place, color)) = stage.ours(game) else { continue };
            self.report.count(game, color);
            if place.is_forbidden(game) {
                self.report.against_policy += 1;
                self.report.find(format!("{} was played against the policy: {:?}", game.id, game.terms));
            }
        }
        audit::at_end(stage, &games, &mut self.report);
        Ok(())
    }
}

/// Challenges until a game comes of it, and waits until it is over. Returns the number of the place, and what did not happen
/// in time.
async fn one_game(
    server: &practice::PracticeServer,
    place: &SoakPlace,
    number: usize,
    plan: &SoakPlan,
    color: Color,
) -> Result<(usize, Option<String>), Failure> {
    let Ok(game) = timeout(LONGEST, stage::begin(server, place, plan.clock, color)).await else {
        return Ok((number, Some(format!("no challenge to {} was taken", place.bot))));
    };
    let game = game?;
    let over = timeout(LONGEST, stage::wait_until_over(server, &game, plan.faults.dialect)).await;
    Ok((number, over.is_err().then(|| format!("{game} did not end"))))
}
