//! A fixed piece of work: its node count is the signature of the search, its speed a figure of the machine.

use std::{
    fmt,
    hint::black_box,
    sync::{OnceLock, atomic::AtomicBool},
    time::{Duration, Instant},
};

use super::{
    Engine, EngineOptions, IN_FULL, Knowledge, Limits, Position,
    evaluation::{Evaluator, Recipe},
};

/// Plies each position is searched by default.
const DEPTH: u32 = 11;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bench {
    /// Nodes over all positions: changes if and only if search or evaluation do.
    pub nodes: u64,
    pub time: Duration,
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_second = self.nodes as f64 / self.time.as_secs_f64().max(1e-9);
        write!(f, "{} nodes {:.0} nodes/s {} ms", self.nodes, per_second, self.time.as_millis())
    }
}

/// Searches every position of the list with a fresh engine, and reports each. With one thread the number of nodes depends on the
/// engine only; with more threads the time to a depth is the result.
pub fn bench(depth: Option<u32>, threads: usize, tell: &mut dyn FnMut(&str)) -> Bench {
    bench_with(&EngineOptions { threads, ..EngineOptions::default() }, depth, tell)
}

/// Returns a bench of few plies, run once at its first use; it takes a tenth of a second. Its node count tells engines of one
/// version with different searches or evaluations apart.
pub fn short_bench() -> &'static Bench {
    const PLIES: u32 = 6;
    static RESULT: OnceLock<Bench> = OnceLock::new();
    RESULT.get_or_init(|| bench(Some(PLIES), 1, &mut |_| {}))
}

pub fn bench_with(options: &EngineOptions, depth: Option<u32>, tell: &mut dyn FnMut(&str)) -> Bench {
    let mut total = Bench { nodes: 0, time: Duration::ZERO };
    let limits = Limits { depth: Some(depth.unwrap_or(DEPTH)), ..Limits::default() };
    for fen in POSITIONS {
        let Ok(position) = Position::from_line(fen, false, []) else { continue };
        let mut engine = Engine::new(options.clone());
        if let Some(found) = engine.search(&position, &[], &limits, &AtomicBool::new(false), &mut |_| {}) {
            tell(&format!("{:9} {:6} {fen}", found.nodes, position.move_to_uci(found.best)));
            total.nodes += found.nodes;
            total.time += found.time;
        }
    }
    total
}

/// The timed knowledge sets: complete knowledge and the balanced seven (docs/method.md §3).
const TIMED: [&str; 8] = ["mbxkcpar", "mpar", "mbxp", "mbkc", "mxar", "mkcp", "mcar", "mbxk"];

/// Returns the time of an evaluation for complete knowledge and for each of the balanced seven,
/// over the positions of [`bench()`]. Pawn structures are cached after the first round, as in a
/// search.
pub fn bench_evaluation() -> Vec<(Knowledge, Duration)> {
    const ROUNDS: u32 = 2_000;
    let positions: Vec<_> = POSITIONS.iter().filter_map(|fen| Position::from_line(fen, false, []).ok()).collect();
    let knowledge = TIMED.iter().filter_map(|letters| letters.parse::<Knowledge>().ok());
    knowledge
        .map(|knowledge| {
            let mut evaluator = Evaluator::new(Recipe::new(knowledge, IN_FULL));
            let began = Instant::now();
            for _ in 0..ROUNDS {
                for position in &positions {
                    black_box(evaluator.evaluate(black_box(position.board())));
                }
            }
            (knowledge, began.elapsed() / (ROUNDS * positions.len().max(1) as u32))
        })
        .collect()
}

/// Positions of games from database.lichess.org (CC0), from the opening to the ending.
const POSITIONS: [&str; 50] = [
    "rnb2rk1/ppp2pnp/4pqp1/3pN3/3P4/4P2P/PPPQBPP1/RN2K2R b KQ - 2 10",
    "1q1r1rk1/pp3p2/2n2p2/2P1p2p/1P2Q1b1/P3PN2/1B3PPP/R2R2K1 w - - 0 21",
    "4r1k1/pp1b2p1/8/3p1p2/2p3p1/8/PPP1BKPP/R7 b - - 1 23",
    "8/8/1p2k3/p1p4p/7P/2P3r1/P1R2K2/8 b - - 1 33",
    "3Qk2r/p3q3/2p1p3/4Rp1p/5np1/2N3P1/PPP2P1P/3R2K1 b k - 0 22",
    "r1bqk1nr/pppnppbp/3p2p1/8/3PP3/2N1B3/PPPQ1PPP/R3KBNR b KQkq - 3 5",
    "2k4r/ppp3pp/4q3/8/8/P3nP2/RbP1Q1PP/1N2K2R w K - 0 18",
    "1r4k1/p5pp/Q1pPp3/3p2r1/PP6/2N1n3/1BP2K2/R3R3 w - - 2 27",
    "r6r/pk1R1ppp/4p3/1p6/1P2pb2/4N3/P3KPPP/R7 b - - 2 20",
    "r1bqkb1r/pppn1ppp/8/1N1QP3/8/8/PPP1PPPP/R3KBNR b KQkq - 0 7",
    "r1br2k1/pp1pbpp1/4p1p1/2p1P3/3P4/PnP3P1/RP3N1P/1NB1RQK1 w - - 0 17",
    "1r1k1br1/1b4qp/3p4/1ppNp3/p2PP3/2P3P1/PP2Q1BP/3RR1K1 b - - 0 24",
    "r3k2r/ppqn1ppp/2p1pn2/1P6/P2P4/2PQbN1P/3N1PP1/R3K2R w KQkq - 0 16",
    "r1bqkb1r/pp1n1ppp/2n1p3/2ppP3/3P4/2N1BP2/PPP3PP/R2QKBNR w KQkq - 1 7",
    "r2q1rk1/ppbn1ppp/2p1pnb1/8/1PBPp3/P1N1B1N1/2PQ1PPP/3R1RK1 w - - 3 13",
    "r6k/p1ppR1Rp/1p4pP/6r1/2b5/2P5/5P2/5K2 w - - 2 28",
    "5nk1/ppq2p1p/2p3p1/3pP3/2P1n3/6PP/PPQ3P1/5RK1 b - - 0 23",
    "r2qkbnr/pp1nppp1/2p4p/3p1b2/3P3B/4PN1P/PPP2PP1/RN1QKB1R b KQkq - 0 6",
    "rnbq1rk1/ppp3pp/5b2/8/4p3/4BN1P/PPP1BPP1/R2Q1RK1 w - - 0 12",
    "3r4/3bkp2/6p1/pp1pP3/2p1n3/PB4P1/1PP1NP1R/2K5 w - - 0 29",
    "q3k1nr/3p1p2/2n1p3/2p3p1/1pP1P2p/1B1P3P/2P2PPB/3Q1RK1 w k - 0 19",
    "r1bqkb1r/5ppp/p1n1p2n/1pppP3/3P1P2/N1PB1N2/PP4PP/R1BQK2R b KQkq - 1 8",
    "r2q1rk1/pb1pbpp1/1p2pn1p/2p5/3nPP2/1PNP1N1P/PBP1B1P1/R2Q1RK1 w - - 3 11",
    "1k4r1/1bpp1p2/1pn4q/p3P1b1/2PNB1p1/P5Pr/1BR1RQ1P/6K1 b - - 1 29",
    "8/R7/2r5/8/PPK2P2/2PRPk2/8/1r6 w - - 3 40",
    "r2r2k1/1b2qpp1/ppn1p2p/4P3/1PPp1P2/P2Q4/1B1N2PP/2R2RK1 w - - 3 21",
    "r2q1rk1/pbpnbp2/1p1p1n1p/4p3/4P3/2NP3N/PPP1BPPP/R2Q1RK1 w - - 0 11",
    "r2qkb1r/3n2pp/p2ppnb1/1pp5/4PB2/P1N2N2/1PP1BPPP/R2QK2R w KQkq - 0 11",
    "5rk1/p4rpp/1pn1q3/3pPpb1/1P3P2/P6Q/1B4PP/2R2RK1 b - - 0 25",
    "5rk1/5pbp/4p1p1/q2b4/2pP1P2/1pP1B2P/1P1QNRP1/rR4K1 w - - 3 25",
    "B2qkb1r/2pppppp/2nn4/p7/3P4/P4P2/1PP3PP/R1BQK1NR w KQk - 1 11",
    "r2q1rk1/ppp5/2npb3/4p1bp/2P1P1p1/1P4P1/PB2BP1P/2RQNRK1 w - - 1 16",
    "2rk2r1/4qp2/p1p1pn1Q/1pPn4/3B4/2P5/PPB2PPP/3RR1K1 b - - 2 22",
    "4k3/ppp1b1pp/4n3/4p3/8/4BPP1/PP4KP/R7 b - - 1 20",
    "r1bqkbnr/5ppp/p1np4/1p1Np3/4P3/N7/PPP2PPP/R1BQKB1R b KQkq - 1 8",
    "r1bq1rk1/pp3pbp/2np1np1/3Pp3/4P3/2PBBP2/4N1PP/RN1Q1RK1 b - - 0 12",
    "r5k1/p5p1/4p2p/8/4N3/2q4P/PR2QrP1/2bK3R b - - 0 26",
    "5rk1/ppp2rp1/7p/3p4/PP1Pp3/2P1RP2/6PP/R5K1 w - - 1 22",
    "r2qkb1r/pppn1ppp/4pn2/3p4/3P1B2/3bPN1P/PPP2PP1/RN1QK2R w KQkq - 0 7",
    "rn1q1rk1/1pp2ppp/p4n2/8/3P1Pb1/P1PB1N2/2Q3PP/R1B2RK1 w - - 4 14",
    "rn4r1/ppp1k3/3bpp1p/8/1PP1N3/P7/R5pP/3R2K1 w - - 2 22",
    "4Q3/p5pk/6P1/3p4/1p3q2/5N2/PP6/1K6 b - - 0 38",
    "r3kb1r/pp1q4/2pp2p1/8/3Pn1b1/8/PPPR1PPP/RN4K1 w kq - 1 20",
    "rn1qkbnr/pp3ppp/2p1p3/3p4/8/5PP1/PPPP1PBP/RNBQR1K1 b kq - 1 6",
    "r2k2r1/pp3p2/8/3P1qpp/3Q4/7P/PPP2P1P/RN4RK w - - 2 20",
    "r1n1k2r/p2p1pb1/1p1Pp1p1/1Pn1P1Pp/2N4P/8/PP3Pb1/R2Q1RK1 w - - 0 22",
    "r2q1b1r/p3k3/2pp1p1n/4p1pB/Pp2P3/1P1P1Q1P/N4PP1/B2K3R b - - 1 18",
    "r2qkb1r/pp1npppp/5n2/3p4/3P4/2NQ1N2/PPP2PPP/R1B1K2R w KQkq - 1 8",
    "2kr3r/ppqn1pp1/1np1p1p1/B1P5/3P4/PQ2P2P/4BPP1/1R2K2R b K - 0 19",
    "6k1/p5pp/1p2pp2/3q4/1P1P3P/P4b2/1B3K2/2Q5 w - - 2 31",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes only with the search or the evaluation: then write the new number here, and into the message of the commit with
    /// the total of the full `bench`.
    #[test]
    fn search_has_its_known_signature() {
        assert_eq!(bench(Some(6), 1, &mut |_| {}).nodes, 94_015);
        let with_net = EngineOptions { knowledge: Knowledge::STRONGEST, ..EngineOptions::default() };
        assert_eq!(bench_with(&with_net, Some(6), &mut |_| {}).nodes, 88_798);
    }
}
