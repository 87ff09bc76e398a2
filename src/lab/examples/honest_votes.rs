//! Measures the cost of verification with honest workers: games of a council whose distant votes
//! count as home cores verify them against one whose distant votes count as they come, at equal
//! nodes, in virtual time.
//!
//!     cargo run --release -p concilio-lab --example honest_votes [GAMES] [NODES] [SEED]
//!     cargo run --release -p concilio-lab --example honest_votes positions [POSITIONS] [NODES] [SEED]
//!
//! Games come in pairs with sides exchanged, until SPRT(-10, 0) of logistic Elo is decided. Both sides of a pair have the same
//! electors with the same seeds and empty tables, so that only the rule makes a pair uneven. The second form plays no games:
//! it compares the moves that both rules elect in positions by searches of ten times the nodes.
//!
//! Each council has one home elector and three distant ones, all with the evaluation of the roster
//! `auto` and some noise, each with a table of its own. Verification has what a daemon gives it: an
//! eighth of the nodes of a move, and those of twenty milliseconds at once.

use std::{
    num::NonZeroUsize,
    sync::{Arc, atomic::AtomicBool},
    thread,
};

use council::{
    Ballots, CouncilSettings, Roster, Rule,
    electors::{ElectorSpec, Verification, VerificationLength},
};
use domain::{
    Knowledge, Line, MachineName, Phase, Proposal, Score, SearchId, UciMove, Variant, engine_move, engine_position,
};
use engine::{Engine, EngineOptions, Limits, Noise};
use experiment::{
    in_parallel,
    stats::{self, EloScale, Sprt, SprtVerdict},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const ELECTORS: usize = 4;
/// Nodes that verification has at once, those of twenty milliseconds; and the share of a move's later nodes that it has beside them.
const AT_ONCE: u64 = 6_000;
const SHARE: u64 = 8;
/// Amplitude of the noise by which the electors differ, centipawns.
const NOISE: u16 = 6;
/// Plies drawn at random at the beginning of a pair of games.
const OPENING: usize = 8;
/// The greatest score of an opening either way, centipawns.
const EVEN: i32 = 150;
/// A game is won when the scores of both sides reach this many centipawns for this many plies in a row.
const WON: (i32, usize) = (600, 4);
/// A game is drawn when after this ply both sides' scores stay within this many centipawns for this many plies in a row.
const DRAWN: (usize, i32, usize) = (70, 10, 10);
const LONGEST: usize = 240;

/// One side: its electors, and its verifier.
struct Side {
    engines: Vec<Engine>,
    verifier: Engine,
    verifies: bool,
    settings: CouncilSettings,
    electors: Vec<ElectorSpec>,
    /// Verified moves, those that overruled the home elector, and those that differ from the old rule.
    counts: [usize; 3],
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
            counts: [0; 3],
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
            let noted = [1, usize::from(elected != home.best), usize::from(elected != as_they_come)];
            self.counts = sums(self.counts, noted);
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
        // A search begins as soon as the share allows, and must end before the move.
        let (mut spent, mut ended) = (0_u64, 0);
        let mut spend = |engine: &mut Engine, moved: Option<UciMove>, length: VerificationLength| {
            let begins = ended.max(spent.saturating_sub(AT_ONCE) * SHARE);
            if begins + length.nodes() > nodes {
                return false;
            }
            spent += length.nodes();
            ended = begins + length.nodes();
            // As in a daemon, earlier searches have no part in it.
            engine.new_game();
            let score = search(engine, line, moved, length.nodes()).map(|(_, score, _)| score);
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
        let elect = |verification: &Arc<Verification>| {
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
    let (mut line, mut won, mut drawn) = (opening.clone(), (0_usize, 0_i32), 0);
    while line.ply() < LONGEST && line.occurrences() < 3 {
        let white_to_move = line.ply().is_multiple_of(2);
        if line.is_checkmate() {
            return if white_to_move { 0 } else { 2 };
        }
        let Some((best, score)) = sides[line.ply() % 2].moves(&line, nodes) else { return 1 };
        let for_white = if white_to_move { score } else { -score };
        let sign = if for_white.abs() < WON.0 { 0 } else { for_white.signum() };
        won = if sign != 0 && sign == won.1 { (won.0 + 1, sign) } else { (usize::from(sign != 0), sign) };
        if won.0 >= WON.1 {
            return if sign > 0 { 2 } else { 0 };
        }
        drawn = if line.ply() > DRAWN.0 && score.abs() <= DRAWN.1 { drawn + 1 } else { 0 };
        if drawn >= DRAWN.2 || line.play(best).is_err() {
            return 1;
        }
    }
    1
}

fn sums(one: [usize; 3], other: [usize; 3]) -> [usize; 3] {
    [0, 1, 2].map(|place| one[place] + other[place])
}

/// Plays a pair of games. Returns the score of the new rule, 0 to 1, and its counts.
fn pair(seed: u64, nodes: u64) -> Result<(f64, [usize; 3]), String> {
    let mut random = StdRng::seed_from_u64(seed);
    let opening = loop {
        let mut line = Line::start(Variant::Standard);
        while line.ply() < OPENING {
            let legal = line.legal_moves();
            line.play(legal[random.random_range(0..legal.len())]).map_err(|error| error.to_string())?;
        }
        let found = search(&mut engine(0), &line, None, AT_ONCE);
        if found.is_some_and(|(_, score, _)| score.as_centipawns().abs() <= EVEN) {
            break line;
        }
    };
    let sides = || (Side::new(true, seed), Side::new(false, seed));
    let ((mut new, mut old), (mut new_again, mut old_again)) = (sides(), sides());
    let first = game(&opening, [&mut new, &mut old], nodes);
    let second = 2 - game(&opening, [&mut old_again, &mut new_again], nodes);
    Ok(((first + second) as f64 / 4.0, sums(new.counts, new_again.counts)))
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

fn games(pairs: u64, nodes: u64, seed: u64) -> Result<(), String> {
    let test = Sprt::new(-10.0, 0.0).on(EloScale::Logistic);
    let seeds: Vec<u64> = (0..pairs).map(|pair| seed * 1_000_003 + pair).collect();
    let (mut scores, mut counts) = (Vec::new(), [0; 3]);
    let workers = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    in_parallel(
        &seeds,
        workers,
        || false,
        || (),
        |(), seed| pair(*seed, nodes),
        |_, (score, of_pair)| {
            scores.push(score);
            counts = sums(counts, of_pair);
            let verdict = test.verdict(&scores);
            if scores.len().is_multiple_of(10) || verdict != SprtVerdict::Open {
                let elo = stats::score(&scores).map_or_else(String::new, |score| score.map(stats::elo).signed());
                let quarters = [0.0, 0.25, 0.5, 0.75, 1.0];
                let by_score = quarters.map(|quarter| scores.iter().filter(|score| **score == quarter).count());
                let [moves, overruled, refused] = counts;
                println!(
                    "{} games, pairs by score {by_score:?}: Elo {elo}, LLR of {test} {:.2}; of {moves} moves {overruled} overruled the \
                 home elector, {refused} differ from the old rule",
                    2 * scores.len(),
                    test.log_likelihood_ratio(&scores),
                );
            }
            if verdict == SprtVerdict::Open { Ok(()) } else { Err(format!("decided: {verdict:?}")) }
        },
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let positions_only = arguments.next_if_eq("positions").is_some();
    let mut number = |usual: u64| arguments.next().map_or(Ok(usual), |text| text.parse());
    if positions_only {
        let (count, nodes, seed) = (number(200)?, number(50_000)?, number(1)?);
        return positions(usize::try_from(count)?, nodes, seed);
    }
    let (count, nodes, seed) = (number(10_000)?, number(10_000)?, number(1)?);
    games(count / 2, nodes, seed)?;
    Ok(())
}
