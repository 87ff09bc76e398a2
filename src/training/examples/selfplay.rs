//! Fills a folder with labelled positions of own games:
//! `cargo run --release -p concilio-training --example selfplay -- FOLDER SHARDS NODES SEED THREADS`.
//!
//! It can be ended at any time; the same command goes on from there.

use std::{env, error::Error, num::NonZeroUsize, path::PathBuf, sync::atomic::AtomicBool, time::Instant};

use concilio_training::selfplay::{Plan, generate};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [folder, shards, nodes, seed, threads] = words.as_slice() else {
        return Err("usage: selfplay FOLDER SHARDS NODES SEED THREADS".into());
    };
    let plan = Plan { nodes: nodes.parse()?, seed: seed.parse()?, ..Plan::default() };
    let threads: NonZeroUsize = threads.parse()?;
    println!("{}", plan.description());
    let began = Instant::now();
    generate(&plan, &PathBuf::from(folder), shards.parse()?, threads, &AtomicBool::new(false), |done| {
        let rate = done.positions as f64 / began.elapsed().as_secs_f64();
        println!("{} shards, {} positions, {rate:.0} a second", done.shards, done.positions);
    })?;
    Ok(())
}
