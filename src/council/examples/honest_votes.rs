//! Measures the cost of verification with honest workers: games of a council whose distant votes
//! count as home cores verify them against one whose distant votes count as they come, at equal
//! nodes, in virtual time.
//!
//!     cargo run --release -p concilio-council --example honest_votes [GAMES] [NODES] [SEED]
//!     cargo run --release -p concilio-council --example honest_votes positions [POSITIONS] [NODES] [SEED]
//!
//! The second form plays no games: it compares the moves that both rules elect in positions by searches of ten times the nodes.
//!
//! Each council has one home elector and three distant ones, all with the evaluation of the roster
//! `auto` and some noise, each with a table of its own. Verification has what a daemon gives it: an
//! eighth of the nodes of a move, and those of ten milliseconds at once.

extern crate concilio_council as council;

use std::sync::{Arc, atomic::AtomicBool};

use council::{
    Ballots, CouncilSettings, Roster, Rule,
    electors::{ElectorSpec, Verification, VerificationLength},
};
use domain::{
    Knowledge, Line, MachineName, Phase, Proposal, Score, SearchId, UciMove, Variant, engine_move, engine_position,
};
use engine::{Engine, EngineOptions, Limits, Noise};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const ELECTORS: usize = 4;
/// Nodes that verification has at once, those of ten milliseconds; and the share of a move's nodes that it has beside them.
const AT_ONCE: u64 = 3_000;
const SHARE: u64 = 8;
/// Amplitude of the noise by which the electors differ, centipawns.
const NOISE: u16 = 6;
/// Plies drawn at random at the beginning of a pair of games.
const OPENING: usize = 8;
/// A score that decides a game when it is reached so often in a row.
const DECIDED: (i32, usize) = (700, 4);
const LONGEST: usize = 240;

/// One side: its electors, and its verifier.
struct Side {
    engines: Vec<Engine>,
    verifier: Engine,
    verifies: bool,
    settings: CouncilSettings,
    electors: Vec<ElectorSpec>,
    overruled: usize,
    refused: usize,
    moves: usize,
}

fn engine(seed: u64) -> Engine {
    let noise = Noise { amplitude: if seed == 0 { 0 } else { NOISE }, seed };
    let (hash, threads, knowledge) = (8, 1, Knowledge::LEARNED);
    Engine::new(EngineOptions { hash, threads, knowledge, noise, ..EngineOptions::default() })
}

fn search(engine: &mut Engine, line: &Line, only: Option<UciMove>, nodes: u64) -> Option<(UciMove, Score, u32)> {
    let position = engine_position(line).ok()?;
    let root: Vec<_> = only.and_then(|uci| engine_move(&position, uci)).into_iter().collect();
    let limits = Limits { nodes: Some(nodes), time: None, depth: None, mate: None };
    let found = engine.search(&position, &root, &limits, &AtomicBool::new(false), &mut |_| {})?;
    let best = line.legal_moves().into_iter().find(|uci| engine_move(&position, *uci) == Some(found.best))?;
    Some((best, found.score, found.depth))
}

impl Side {
    fn new(verifies: bool, seed: u64) -> Self {
        let settings = CouncilSettings { roster: format!("learned-{ELECTORS}"), ..CouncilSettings::default() };
        let electors = Roster::<Line>::from_settings(&settings).map(|roster| roster.electors().to_vec());
        Self {
            engines: (1..=ELECTORS as u64).map(|elector| engine(seed * 100 + elector)).collect(),
            verifier: engine(0),
            verifies,
            settings,
            electors: electors.unwrap_or_default(),
            overruled: 0,
            refused: 0,
            moves: 0,
        }
    }

    fn moves(&mut self, line: &Line, nodes: u64) -> Option<(UciMove, i32)> {
        let mut proposals = Vec::new();
        for (place, engine) in self.engines.iter_mut().enumerate() {
            let found = search(engine, line, None, nodes).map(|(best, score, depth)| Proposal {
                machine: (place > 0).then(|| MachineName::new("attic")),
                bound: domain::Bound::Exact,
                depth,
                selective_depth: depth,
                nodes,
                ..Proposal::of_one_ply(
                    SearchId { game: "honest".into(), ply: line.ply(), serial: 0, phase: Phase::First },
                    self.electors[place].name.clone(),
                    best,
                    score,
                )
            });
            proposals.push(found);
        }
        let home = proposals[0].clone()?;
        let seed = line.ply() as u64;
        let rule = Rule::of(&self.settings);
        let as_they_come = rule.elected_move(&Ballots::recorded(line, &self.electors, &proposals), seed)?;
        let mut elected = as_they_come;
        if self.verifies {
            elected = self.verified(line, &proposals, &home, nodes, seed)?;
            self.moves += 1;
            self.overruled += usize::from(elected != home.best);
            self.refused += usize::from(elected != as_they_come);
        }
        let speaker = proposals.iter().flatten().find(|proposal| proposal.best == elected)?;
        Some((elected, speaker.score.as_centipawns()))
    }

    /// Verifies the distant votes on home cores, with a daemon's share of a core.
    fn verified(
        &mut self,
        line: &Line,
        proposals: &[Option<Proposal>],
        home: &Proposal,
        nodes: u64,
        seed: u64,
    ) -> Option<UciMove> {
        let verification = Verification::new(Arc::default());
        let mut left = AT_ONCE + nodes / SHARE;
        let mut spend = |engine: &mut Engine, moved: Option<UciMove>, length: VerificationLength| {
            let cost = length.nodes();
            if cost > left {
                return false;
            }
            left -= cost;
            let score = search(engine, line, moved, cost).map(|(_, score, _)| score);
            verification.found(moved, length, score);
            true
        };
        let mut moves: Vec<UciMove> = proposals.iter().flatten().map(|proposal| proposal.best).collect();
        moves.dedup();
        if moves.iter().any(|best| *best != home.best) {
            for best in moves {
                spend(&mut self.verifier, Some(best), VerificationLength::Short);
            }
        }
        let elect = |verification: &Verification| {
            let ballots = Ballots::recorded(line, &self.electors, proposals).verified_by(Some(verification.clone()));
            Rule::of(&self.settings).elected_move(&ballots, seed)
        };
        let mut elected = elect(&verification)?;
        loop {
            verification.contest(Some(home.best), Some(elected));
            let Some((moved, length)) = verification.next().filter(|_| elected != home.best) else {
                return Some(elected);
            };
            if !spend(&mut self.verifier, moved, length) {
                return Some(elected);
            }
            elected = elect(&verification)?;
        }
    }
}

/// The score of White: 2 for a win, 1 for a draw.
fn game(opening: &Line, sides: [&mut Side; 2], nodes: u64) -> usize {
    let (mut line, mut decided) = (opening.clone(), (0_usize, 0_i32));
    while line.ply() < LONGEST {
        if line.legal_moves().is_empty() {
            let white_to_move = line.ply().is_multiple_of(2);
            return if !line.is_checkmate() {
                1
            } else if white_to_move {
                0
            } else {
                2
            };
        }
        if line.occurrences() >= 3 {
            return 1;
        }
        let white_to_move = line.ply().is_multiple_of(2);
        let Some((best, score)) = sides[line.ply() % 2].moves(&line, nodes) else { return 1 };
        let for_white = if white_to_move { score } else { -score };
        let sign = if for_white.abs() < DECIDED.0 { 0 } else { for_white.signum() };
        decided = if sign != 0 && sign == decided.1 { (decided.0 + 1, sign) } else { (0, sign) };
        if decided.0 >= DECIDED.1 {
            return if sign > 0 { 2 } else { 0 };
        }
        if line.play(best).is_err() {
            return 1;
        }
    }
    1
}

/// A position of the middlegame, played by short searches from a random opening.
fn middlegame(random: &mut StdRng) -> Result<Line, Box<dyn std::error::Error>> {
    loop {
        let (mut line, mut player) = (Line::start(Variant::Standard), engine(random.random_range(1..1_000_000)));
        let plies = random.random_range(14..60);
        while line.ply() < plies && !line.legal_moves().is_empty() {
            let legal = line.legal_moves();
            let best = match line.ply() {
                ..6 => legal[random.random_range(0..legal.len())],
                _ => search(&mut player, &line, None, 300).map_or(legal[0], |(best, ..)| best),
            };
            line.play(best)?;
        }
        let even =
            search(&mut player, &line, None, 3_000).is_some_and(|(_, score, _)| score.as_centipawns().abs() < 300);
        if even && line.legal_moves().len() > 4 {
            return Ok(line);
        }
    }
}

/// Compares the rules by the moves that they elect.
fn positions(count: usize, nodes: u64, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut losses: Vec<[f64; 3]> = Vec::new();
    let mut differ = [0_usize; 3];
    for number in 1..=count {
        let line = middlegame(&mut random)?;
        let (mut new, mut old) = (Side::new(true, number as u64), Side::new(false, number as u64));
        let home = search(&mut new.engines[0], &line, None, nodes).map(|(best, ..)| best);
        new.engines.iter_mut().for_each(Engine::new_game);
        let elected =
            [new.moves(&line, nodes).map(|(best, _)| best), old.moves(&line, nodes).map(|(best, _)| best), home];
        let [Some(new), Some(old), Some(home)] = elected else { continue };
        let mut judge = engine(0);
        let mut known: Vec<(UciMove, f64)> = Vec::new();
        for best in [new, old, home] {
            if known.iter().all(|(other, _)| *other != best) && (new != old || new != home) {
                judge.new_game();
                let score =
                    search(&mut judge, &line, Some(best), 10 * nodes).map_or(0, |(_, score, _)| score.as_centipawns());
                known.push((best, f64::from(score.clamp(-1_000, 1_000))));
            }
        }
        let value = |best: UciMove| known.iter().find(|(other, _)| *other == best).map_or(0.0, |(_, value)| *value);
        losses.push([value(old) - value(new), value(old) - value(home), value(home) - value(new)]);
        for (place, pair) in [(new, old), (home, old), (home, new)].into_iter().enumerate() {
            differ[place] += usize::from(pair.0 != pair.1);
        }
        if number.is_multiple_of(20) {
            let count = losses.len() as f64;
            let words = ["new against old", "home alone against old", "new against home alone"];
            for (place, words) in words.iter().enumerate() {
                let mean = losses.iter().map(|loss| loss[place]).sum::<f64>() / count;
                let variance =
                    losses.iter().map(|loss| (loss[place] - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
                let error = 1.96 * (variance / count).sqrt();
                println!(
                    "{number} positions, {words}: {} differ, {mean:.2} +- {error:.2} cp lost a move",
                    differ[place]
                );
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if_eq("positions").is_some() {
        let mut number = |usual: u64| arguments.next().map_or(Ok(usual), |text| text.parse());
        let (count, nodes, seed) = (number(200)?, number(50_000)?, number(1)?);
        return positions(usize::try_from(count)?, nodes, seed);
    }
    let games: u64 = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let nodes: u64 = arguments.next().map_or(Ok(3_000), |text| text.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let mut pairs = Vec::new();
    let (mut overruled, mut refused, mut moves) = (0, 0, 0);
    for pair in 0..games / 2 {
        let mut random = StdRng::seed_from_u64(seed * 1_000_003 + pair);
        let mut opening = Line::start(Variant::Standard);
        while opening.ply() < OPENING {
            let legal = opening.legal_moves();
            opening.play(legal[random.random_range(0..legal.len())])?;
        }
        let (mut new, mut old) = (Side::new(true, 2 * pair + 1), Side::new(false, 2 * pair + 2));
        let first = game(&opening, [&mut new, &mut old], nodes);
        let second = 2 - game(&opening, [&mut old, &mut new], nodes);
        pairs.push((first + second) as f64 / 4.0);
        (overruled, refused, moves) = (overruled + new.overruled, refused + new.refused, moves + new.moves);
        let count = pairs.len() as f64;
        let mean = pairs.iter().sum::<f64>() / count;
        let variance = pairs.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let error = 1.96 * (variance / count).sqrt();
        let elo = |score: f64| -400.0 * (1.0 / score.clamp(0.001, 0.999) - 1.0).log10();
        if pairs.len().is_multiple_of(10) {
            println!(
                "{} games: {:.1} %, Elo {:+.0} [{:+.0}, {:+.0}]; of {moves} moves {overruled} overruled the home elector, {refused} differ from the old rule",
                2 * pairs.len(),
                100.0 * mean,
                elo(mean),
                elo(mean - error),
                elo(mean + error)
            );
        }
    }
    Ok(())
}
