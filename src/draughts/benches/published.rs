//! The search of today against that of 2010 at its documented best: `fully-guarded`, three full moves deep, quiescence
//! verified twice.
//!
//! `cargo bench -p concilio-draughts --bench published -- [games] [times faster] [evaluation]`, by default 200 games in which
//! the search of today has a hundredth of the other's time a move. Ballots of eleven men, each played with both colours,
//! official rules. The time that counts is what both really took, printed at the end.

use std::{
    env::args,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use concilio_draughts::{
    board::{Color, Rules},
    endgame::EndgameTables,
    evaluation::Evaluation,
    game::{Game, Outcome, ballots},
    search::{
        Limits, SearchOptions, Searcher,
        published::{Published, Settings},
    },
};

/// Time and moves of a player.
#[derive(Default)]
struct Clock {
    time: Duration,
    moves: u32,
}

impl Clock {
    fn mean(&self) -> Duration {
        self.time / self.moves.max(1)
    }
}

fn main() {
    let numbers: Vec<String> = args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number = |at: usize, usual: usize| numbers.get(at).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (games, faster) = (number(0, 200), number(1, 100) as u32);
    let evaluation: Evaluation =
        numbers.get(2).map_or_else(Evaluation::default, |name| name.parse().expect("an evaluation"));
    let tables = Some(Arc::new(EndgameTables::build(4, |_, _| {})));
    let mut today = Searcher::new(SearchOptions { evaluation, tables, hash: 64 });
    let stop = AtomicBool::new(false);
    let (mut ours, mut theirs) = (Clock::default(), Clock::default());
    let (mut won, mut drawn, mut lost) = (0, 0, 0);
    let openings = ballots::draw(games.div_ceil(2), 2010);
    for played in 0..games {
        let color = if played % 2 == 0 { Color::White } else { Color::Black };
        let mut game = Game::new(openings[played / 2], Rules::Official);
        let mut published = Published::new(Settings::default(), played as u64);
        today.clear();
        let mut opponent = Clock::default();
        let outcome = loop {
            if let Some(outcome) = game.outcome() {
                break outcome;
            }
            let started = Instant::now();
            let best = if game.board().to_move() == color {
                // The opponent's mean in this game; before its first move, that of the match.
                let mean = if opponent.moves > 0 { opponent.mean() } else { theirs.mean() };
                let limits = Limits { time: Some(mean / faster), ..Limits::default() };
                let found = today.search(&game, &limits, &stop, |_| {}).expect("the game is not over");
                ours.time += started.elapsed();
                ours.moves += 1;
                found.best
            } else {
                let choice = published.choose(&game, &stop).expect("the game is not over");
                for clock in [&mut opponent, &mut theirs] {
                    clock.time += started.elapsed();
                    clock.moves += 1;
                }
                choice.best
            };
            game.play(best).expect("searches play legal moves");
        };
        match outcome {
            Outcome::Won(winner) if winner == color => won += 1,
            Outcome::Won(_) => lost += 1,
            Outcome::Drawn(_) => drawn += 1,
        }
        if (played + 1) % 10 == 0 {
            println!("{:4} games: +{won} ={drawn} -{lost}", played + 1);
        }
    }
    let share = (f64::from(won) + f64::from(drawn) / 2.0) / games as f64;
    println!("{evaluation}: {:.1} % of {games} games (+{won} ={drawn} -{lost})", 100.0 * share);
    println!(
        "mean time a move: today {:?}, published {:?}, one {:.0}th",
        ours.mean(),
        theirs.mean(),
        theirs.mean().as_secs_f64() / ours.mean().as_secs_f64().max(1e-9)
    );
}
