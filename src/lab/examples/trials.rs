//! Many changes of the search tried at once, by games of equal nodes:
//! `cargo run --release -p concilio-lab --example trials -- KNOWLEDGE NODES PAIRS SEED NAME=VALUE ...`.
//!
//! For every pair of games each change is given by lot to one of the two players; every opening is played twice with colours
//! reversed. What a change is worth is the mean over all pairs from the side of the player that has it: as sure as if it had been
//! tried alone, as long as changes do not need each other (a factorial experiment; Fisher, *The Arrangement of Field Experiments*,
//! 1926). Prints Elo with one standard deviation, every hundred pairs and at the end.

mod games;

use std::{env, error::Error, f64::consts::LN_10, slice};

use concilio_lab::training::SplitMix;
use engine::{Engine, EngineOptions, Limits};
use games::{even_opening, play};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [knowledge, nodes, pairs, seed, changes @ ..] = words.as_slice() else {
        return Err("usage: trials KNOWLEDGE NODES PAIRS SEED NAME=VALUE ...".into());
    };
    let options = EngineOptions { knowledge: knowledge.parse()?, hash: 8, ..EngineOptions::default() };
    options.check_net()?;
    let limits = Limits { nodes: Some(nodes.parse()?), ..Limits::default() };
    let mut random = SplitMix::new(seed.parse()?);
    let mut referee = Engine::new(options.clone());
    let mut sums = vec![0.0; changes.len()];
    let mut squares = 0.0;
    let pairs = pairs.parse::<u32>()?;
    for pair in 1..=pairs {
        let opening = even_opening(slice::from_mut(&mut referee), &mut random, &limits);
        let first_has: Vec<bool> = changes.iter().map(|_| random.share() < 0.5).collect();
        let player = |first: bool| -> Result<Engine, Box<dyn Error>> {
            let chosen = changes.iter().zip(&first_has).filter(|(_, has)| **has == first);
            let words: Vec<&str> = chosen.map(|(change, _)| change.as_str()).collect();
            Ok(Engine::new(EngineOptions { parameters: words.join(" ").parse()?, ..options.clone() }))
        };
        let mut engines = [player(true)?, player(false)?];
        let as_white = play(&mut engines, 0, opening.clone(), &limits);
        engines.iter_mut().for_each(Engine::new_game);
        let as_black = 1.0 - play(&mut engines, 1, opening, &limits);
        let result = (as_white + as_black) / 2.0 - 0.5;
        for (sum, has) in sums.iter_mut().zip(&first_has) {
            *sum += if *has { result } else { -result };
        }
        squares += result * result;
        if pair.is_multiple_of(100) || pair == pairs {
            // Elo for a point, near a score of one half.
            let elo = |part: f64| 1600.0 / LN_10 * part / f64::from(pair);
            let worths = changes.iter().zip(&sums).map(|(change, sum)| format!("  {change} {:+.1}", elo(*sum)));
            println!("{pair} pairs, ± {:.1}:{}", elo(f64::sqrt(squares)), worths.collect::<String>());
        }
    }
    Ok(())
}
