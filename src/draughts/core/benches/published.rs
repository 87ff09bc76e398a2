//! The modern search against that of 2010 at its documented best: `fully-guarded`, three full moves
//! deep, quiescence verified twice.
//!
//! `cargo bench -p concilio-draughts-core --bench published -- [games] [times faster] [evaluation] [left
//! out]`, by default 200 games in which the modern search has a hundredth of the other's time a
//! move. To resume a stopped run, leave out the games already played; every line counts those of
//! its own run. Ballots of eleven men, each played with both colours, official rules.
//!
//! The program of 2010 searched its whole tree. This bench omits the part that alpha-beta cuts,
//! which gives the same moves; the ratio of both trees is measured first, in positions of a game,
//! and the omitted part counts as searched.
//!
//! The budget of a move is counted in nodes, at the speeds both have shown so far, so that a
//! machine that is busy for a moment does not shorten a move. The real times are printed at the
//! end.

use std::{
    env::args,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use concilio_draughts_core::{
    board::{Color, Rules},
    endgame::EndgameTables,
    evaluation::Evaluation,
    game::{Game, Outcome, ballots},
    search::{
        Limits, SearchOptions, Searcher,
        published::{Published, PublishedSettings},
    },
};

#[derive(Default)]
struct Used {
    time: Duration,
    nodes: u64,
    moves: u32,
}

impl Used {
    fn add(&mut self, time: Duration, nodes: u64) {
        self.time += time;
        self.nodes += nodes;
        self.moves += 1;
    }

    fn per_move(&self) -> Duration {
        self.time / self.moves.max(1)
    }

    /// Nodes a second; before there is any, that of neither player is known.
    fn speed(&self) -> f64 {
        if self.moves == 0 { 1.0 } else { self.nodes as f64 / self.time.as_secs_f64().max(1e-9) }
    }
}

/// Returns the ratio of the whole tree to its part after alpha-beta, in nodes: the ratio of both
/// sums over positions of games between modern searches.
fn whole_tree_factor(today: &mut Searcher, positions: usize) -> f64 {
    let stop = AtomicBool::new(false);
    let mut sums = [0, 0];
    for (seed, ballot) in (0..).zip(ballots::draw(positions, 1910)) {
        let mut game = Game::new(ballot, Rules::Official);
        // Each opening is measured after another number of moves.
        for _ in 0..(3 * seed) % 40 {
            let limits = Limits { nodes: Some(2_000), ..Limits::default() };
            let Some(found) = today.search(&game, &limits, &stop, |_| {}) else { break };
            game.play(found.best).expect("searches play legal moves");
        }
        for (sum, whole_tree) in sums.iter_mut().zip([true, false]) {
            let settings = PublishedSettings { whole_tree, ..PublishedSettings::default() };
            let chosen = Published::new(settings, seed).choose(&game, &stop);
            *sum += chosen.map_or(0, |choice| choice.nodes);
        }
    }
    sums[0] as f64 / sums[1] as f64
}

/// Returns the nodes of the modern search for the other's cost in this game, or in earlier games
/// before its first move.
fn budget(ours: &Used, theirs: &Used, in_this_game: &Used, faster: f64) -> u64 {
    let played = if in_this_game.moves > 0 { in_this_game } else { theirs };
    let mean = played.nodes as f64 / f64::from(played.moves.max(1));
    (mean / faster * ours.speed() / theirs.speed()) as u64
}

fn main() {
    let numbers: Vec<String> = args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number = |at: usize, usual: usize| numbers.get(at).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (games, hundredth) = (number(0, 200), number(1, 100) as f64);
    let evaluation: Evaluation =
        numbers.get(2).map_or_else(Evaluation::default, |name| name.parse().expect("an evaluation"));
    let left_out = number(3, 0);
    let tables = Some(Arc::new(EndgameTables::build(4, |_, _| {})));
    let mut today = Searcher::new(SearchOptions { evaluation, tables, hash: 64, ..SearchOptions::default() });
    let factor = whole_tree_factor(&mut today, 24);
    println!("the whole tree takes {factor:.1} times what alpha-beta leaves of it");
    let faster = hundredth / factor;
    let stop = AtomicBool::new(false);
    let (mut ours, mut theirs) = (Used::default(), Used::default());
    let (mut won, mut drawn, mut lost) = (0, 0, 0);
    let openings = ballots::draw(games.div_ceil(2), 2010);
    for played in left_out..games {
        let color = if played % 2 == 0 { Color::White } else { Color::Black };
        let mut game = Game::new(openings[played / 2], Rules::Official);
        let mut published =
            Published::new(PublishedSettings { whole_tree: false, ..PublishedSettings::default() }, played as u64);
        today.clear();
        let mut in_this_game = Used::default();
        let outcome = loop {
            if let Some(outcome) = game.outcome() {
                break outcome;
            }
            let started = Instant::now();
            let best = if game.board().to_move() == color {
                let limits = Limits { nodes: Some(budget(&ours, &theirs, &in_this_game, faster)), ..Limits::default() };
                let found = today.search(&game, &limits, &stop, |_| {}).expect("the game is not over");
                ours.add(started.elapsed(), found.nodes);
                found.best
            } else {
                let choice = published.choose(&game, &stop).expect("the game is not over");
                let time = started.elapsed();
                theirs.add(time, choice.nodes);
                in_this_game.add(time, choice.nodes);
                choice.best
            };
            game.play(best).expect("searches play legal moves");
        };
        match outcome {
            Outcome::Won(winner) if winner == color => won += 1,
            Outcome::Won(_) => lost += 1,
            Outcome::Drawn(_) => drawn += 1,
        }
        // For a drawn game, the final position explains the draw.
        let end =
            if let Outcome::Drawn(why) = outcome { format!("  {why:?} at {}", game.board()) } else { String::new() };
        println!("{:4}: {} plies, +{won} ={drawn} -{lost}{end}", played + 1, game.moves().len());
    }
    let games = games - left_out.min(games);
    let share = (f64::from(won) + f64::from(drawn) / 2.0) / games.max(1) as f64;
    println!("{evaluation}: {:.1} % of {games} games (+{won} ={drawn} -{lost})", 100.0 * share);
    let (today, published) = (ours.per_move(), theirs.per_move());
    let share = published.as_secs_f64() / today.as_secs_f64().max(1e-9);
    println!(
        "time a move: today {today:?}, published {published:?}: one {share:.1}th, of its whole tree one {:.0}th",
        share * factor
    );
}
