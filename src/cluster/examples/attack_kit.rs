//! Every attack on a council with one home core, in fifteen positions each, and what became of them (docs/cluster.md).
//!
//! `cargo run --release -p concilio-cluster --example attack_kit [MOVE_MS] [POSITIONS] [ATTACK]`
//!
//! It starts its own nats-server.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use concilio_cluster::{ClusterClient, ClusterSettings, WorkerSettings, lend};
use council::electors::RemotePool;
use stage::hostile::{
    Attack,
    worker::{Flood, Hostile, POSITIONS, Target, joins, keeps_the_invariant, position, prepare, value},
};
use testkit::nats::Nats;
use util::Shutdown;

/// Attacks beside [`Attack::ALL`]: claimed cores, and floods.
const OTHERS: [(&str, Hostile); 5] = [
    ("64 claimed cores", Hostile { attack: Attack::Silence, cores: 64, flood: Flood::None }),
    ("1024 claimed cores", Hostile { attack: Attack::Silence, cores: 1024, flood: Flood::None }),
    ("heartbeats, 600 of 60 kB a second", flooding(Flood::Heartbeats(600, 60_000))),
    ("messages, 600 of 60 kB a second", flooding(Flood::Messages(600, 60_000))),
    ("messages, 20000 of 100 B a second", flooding(Flood::Messages(20_000, 100))),
];

const fn flooding(flood: Flood) -> Hostile {
    Hostile { attack: Attack::FalseDepth, cores: 1, flood }
}

#[tokio::main(flavor = "multi_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let move_time = Duration::from_millis(arguments.next().map_or(Ok(300), |text| text.parse())?);
    let positions: usize = arguments.next().map_or(Ok(POSITIONS.len()), |text| text.parse())?;
    let only = arguments.next();
    let attacks = Attack::ALL.map(|attack| (format!("{attack:?}"), Hostile { attack, cores: 4, flood: Flood::None }));
    let others = OTHERS.map(|(name, hostile)| (name.to_owned(), hostile));
    println!(
        "{:<36} {:<11} {:>5} {:>9} {:>6} {:>9} {:>8} {:>8}",
        "attack", "roster", "moves", "overruled", "broken", "cp a move", "late ms", "MB more"
    );
    for (name, hostile) in attacks.into_iter().chain(others) {
        if only.as_ref().is_some_and(|only| !name.starts_with(only.as_str())) {
            continue;
        }
        for roster in ["auto", "balanced-3"] {
            let nats = Nats::start();
            let client = async_nats::connect(nats.url()).await?;
            let settings =
                ClusterSettings { nats: nats.url(), name: "daemon".to_owned(), ..ClusterSettings::default() };
            let mut target = Target::new(settings, roster);
            let _attacking = joins(client, "mallory", "daemon", hostile).await;
            answers(&target.cluster).await;
            let before = resident();
            let (mut moves_made, mut overruled, mut broken, mut lost, mut late) = (0, 0, 0, 0, Duration::ZERO);
            for moves in &POSITIONS[..positions.min(POSITIONS.len())] {
                let line = position(moves);
                prepare(&line);
                let outcome = target.decides(&line, move_time).await;
                moves_made += 1;
                late = late.max(outcome.late);
                let best = outcome.decision.best;
                if let Some(home) = outcome.home.filter(|home| *home != best) {
                    overruled += 1;
                    lost += value(&line, home, 100_000) - value(&line, best, 100_000);
                    broken += usize::from(!keeps_the_invariant(&line, &outcome));
                }
            }
            let lost = f64::from(lost) / f64::from(moves_made.max(1));
            let more = resident().saturating_sub(before) as f64 / 1e6;
            let late = late.as_secs_f64() * 1e3;
            println!(
                "{name:<36} {roster:<11} {moves_made:>5} {overruled:>9} {broken:>6} {lost:>9.1} {late:>8.1} {more:>8.1}"
            );
        }
    }
    println!("\n{:<36} {:>12} {:>8} {:>8}", "flood beside an honest worker", "its votes", "late ms", "MB more");
    for flood in [Flood::None].into_iter().chain(OTHERS.map(|(_, hostile)| hostile.flood).into_iter().skip(2)) {
        let (votes, late, more) = honest_votes(flood, move_time).await?;
        let (late, more) = (late.as_secs_f64() * 1e3, more as f64 / 1e6);
        println!("{:<36} {votes:>12} {late:>8.1} {more:>8.1}", format!("{flood:?}"));
    }
    Ok(())
}

/// Returns an honest worker's votes while another floods the daemon, the largest delay of a move,
/// and the memory that it takes.
async fn honest_votes(flood: Flood, move_time: Duration) -> Result<(usize, Duration, u64), Box<dyn Error>> {
    let nats = Nats::start();
    let settings =
        |name: &str| ClusterSettings { nats: nats.url(), name: name.to_owned(), ..ClusterSettings::default() };
    let shutdown = Shutdown::default();
    let _working = shutdown.now.clone().drop_guard();
    let engines = Default::default();
    let lent = WorkerSettings { cluster: settings("attic"), cores: 3, memory: 64, engines, health: None };
    tokio::spawn(lend(lent, shutdown));
    let mut target = Target::new(settings("daemon"), "balanced-4");
    answers(&target.cluster).await;
    // The worker's tables and engines are made by then.
    for moves in &POSITIONS[..5] {
        target.decides(&position(moves), move_time).await;
    }
    let client = async_nats::connect(nats.url()).await?;
    let _flooding = joins(client, "mallory", "daemon", flooding(flood)).await;
    let (before, mut votes, mut late) = (resident(), 0, Duration::ZERO);
    for moves in POSITIONS.iter().cycle().take(60) {
        let outcome = target.decides(&position(moves), move_time).await;
        let is_honest = |name: &domain::MachineName| name.as_str() == "attic";
        votes +=
            outcome.decision.votes.iter().filter(|vote| vote.proposal.machine.as_ref().is_some_and(is_honest)).count();
        late = late.max(outcome.late);
    }
    Ok((votes, late, resident().saturating_sub(before)))
}

/// Waits until the worker is one that may be asked; one that floods may never be.
async fn answers(cluster: &ClusterClient) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) {
        if cluster.machines().iter().any(|machine| machine.lag.is_some()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() * 1024
}
