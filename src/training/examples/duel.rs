//! Two kinds of knowledge against each other, by equal nodes:
//! `cargo run --release -p concilio-training --example duel -- FIRST SECOND NODES PAIRS SEED`.
//!
//! `FIRST` and `SECOND` are knowledge sets, `mbxkcpar`, with a net's file behind them where they have one, `n:first.net`. Every
//! opening is played twice with colours reversed. Prints the score of the first and its Elo with the 95 % error.

mod games;

use std::{env, error::Error, fs, sync::Arc};

use concilio_training::SplitMix;
use engine::{Engine, EngineOptions, Limits, Net};
use games::{even_opening, play};

fn player(text: &str) -> Result<Engine, Box<dyn Error>> {
    let (letters, file) = text.split_once(':').unwrap_or((text, ""));
    let net = if file.is_empty() { None } else { Some(Arc::new(Net::from_bytes(&fs::read(file)?)?)) };
    let options = EngineOptions { knowledge: letters.parse()?, net, hash: 8, ..EngineOptions::default() };
    options.check_net()?;
    Ok(Engine::new(options))
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [first, second, nodes, pairs, seed] = words.as_slice() else {
        return Err("usage: duel FIRST SECOND NODES PAIRS SEED".into());
    };
    let mut engines = [player(first)?, player(second)?];
    let limits = Limits { nodes: Some(nodes.parse()?), ..Limits::default() };
    let mut random = SplitMix::new(seed.parse()?);
    let (mut pair_scores, pairs) = (Vec::new(), pairs.parse::<usize>()?);
    let mut counts = [0; 3];
    while pair_scores.len() < pairs {
        let opening = even_opening(&mut engines, &mut random, &limits);
        let mut points = 0.0;
        for first_moves in [true, false] {
            engines.iter_mut().for_each(Engine::new_game);
            let of_mover = play(&mut engines, usize::from(!first_moves), opening.clone(), &limits);
            let of_first = if first_moves { of_mover } else { 1.0 - of_mover };
            counts[(2.0 * of_first) as usize] += 1;
            points += of_first;
        }
        pair_scores.push(points / 2.0);
        if pair_scores.len() % 25 == 0 || pair_scores.len() == pairs {
            report(&pair_scores, counts);
        }
    }
    Ok(())
}

/// The score with its error from the spread of pairs, so that openings which are lost for a side do not count as chance.
fn report(pairs: &[f64], [lost, drawn, won]: [u32; 3]) {
    let count = pairs.len() as f64;
    let mean = pairs.iter().sum::<f64>() / count;
    let variance = pairs.iter().map(|pair| (pair - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let error = 1.96 * (variance / count).sqrt();
    let elo = |score: f64| -400.0 * (1.0 / score.clamp(0.001, 0.999) - 1.0).log10();
    println!(
        "{} games +{won} ={drawn} -{lost}: {:.1} %, Elo {:+.0} [{:+.0}, {:+.0}]",
        2 * pairs.len(),
        100.0 * mean,
        elo(mean),
        elo(mean - error),
        elo(mean + error)
    );
}
