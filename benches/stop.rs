//! Measures the time that a search takes to stop: `cargo bench --bench stop`.
//!
//! From the moment the flag is set to the moment [`Engine::search`] has returned, over positions of different kinds, with one
//! thread and with two.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use engine::{Engine, EngineOptions, Limits, Position};

const POSITIONS: [&str; 4] = [
    "startpos",
    "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 10",
    // More captures than anything that is played.
    "q2k2q1/2nqn2b/1n1P1n1b/2rnr2Q/1NQ1QN1Q/3Q3B/2RQR2B/Q2K2Q1 w - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];
const ROUNDS: u64 = 25;

fn main() {
    println!(
        "{:>8} {:>8} {:>8} {:>8} {:>8}   ms from being told to having stopped",
        "threads", "stops", "p50", "p99", "max"
    );
    for threads in [1, 2] {
        let mut delays: Vec<Duration> = Vec::new();
        for fen in POSITIONS {
            let mut engine = Engine::new(EngineOptions { threads, ..EngineOptions::default() });
            let position = Position::from_line(fen, false, []).expect("a good FEN");
            delays.extend(
                (0..ROUNDS).map(|round| stop_once(&mut engine, &position, Duration::from_millis(20 + 3 * round))),
            );
        }
        delays.sort_unstable();
        let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        println!("{threads:>8} {:>8} {:>8.3} {:>8.3} {:>8.3}", delays.len(), at(0.5), at(0.99), at(1.0));
    }
}

/// Searches without a limit, stops after a while, and says how long that took.
fn stop_once(engine: &mut Engine, position: &Position, after: Duration) -> Duration {
    let stop = AtomicBool::new(false);
    let (told, told_at) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(after);
            let _ = told.send(Instant::now());
            stop.store(true, SeqCst);
        });
        engine.search(position, &[], &Limits::default(), &stop, &mut |_| {});
        let stopped = Instant::now();
        let told_at = told_at.recv().expect("it was told");
        stopped.saturating_duration_since(told_at)
    })
}
