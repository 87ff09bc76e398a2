//! Trains a net on folders of shards:
//! `cargo run --release -p concilio-training --example train -- NET BASE THREADS EPOCHS [NAME=VALUE ...] FOLDER ...`.
//!
//! `BASE` is the letters of the heuristics that the net completes, or `none` for a whole net. Settings: `own`, `teacher`,
//! `result` (weights of the labels), `scale`, `rate`, `batch`, `seed`, `mask`, `most` (positions). The checkpoint and the
//! learning curve are beside the net; a training that was ended goes on from its checkpoint.

use std::{env, error::Error, fs, num::NonZeroUsize, path::Path, sync::atomic::AtomicBool, time::Instant};

use concilio_training::{
    dataset::{Dataset, DatasetSelection, Mixture, read_folder},
    trainer::{Losses, Plan, TrainingOutcome, curve, quantise, train, validate_net},
};
use engine::{Knowledge, evaluation::Recipe, net::Header};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [output, base, threads, epochs, rest @ ..] = words.as_slice() else {
        return Err("usage: train NET BASE THREADS EPOCHS [NAME=VALUE ...] FOLDER ...".into());
    };
    let base: Knowledge = if base == "none" { Knowledge::NONE } else { base.parse()? };
    let (settings, folders): (Vec<&String>, Vec<&String>) = rest.iter().partition(|word| word.contains('='));
    let (mut mixture, mut selection) = (Mixture::default(), DatasetSelection::default());
    let mut plan = Plan { epochs: epochs.parse()?, ..Plan::default() };
    for (name, value) in settings.into_iter().filter_map(|setting| setting.split_once('=')) {
        match name {
            "own" => mixture.own = value.parse()?,
            "teacher" => mixture.teacher = value.parse()?,
            "result" => mixture.result = value.parse()?,
            "scale" => mixture.scale = value.parse()?,
            "rate" => plan.rate = value.parse()?,
            "batch" => plan.batch = value.parse()?,
            "seed" => plan.seed = value.parse()?,
            "mask" => plan.mask = value.parse()?,
            "most" => selection.most = value.parse()?,
            _ => return Err(format!("{name}: no such setting").into()),
        }
    }
    plan.scale = mixture.scale;

    let mut records = Vec::new();
    for folder in folders {
        records.extend(read_folder(Path::new(folder))?);
    }
    let read = records.len();
    let dataset = Dataset::new(records, &mixture, &selection, &Recipe::new(base, [100; 8]));
    let (training, validation) = (dataset.training.len(), dataset.validation.len());
    println!("{read} positions read, {training} to train on, {validation} kept back");

    let began = Instant::now();
    let checkpoint = Path::new(output).with_extension("checkpoint");
    let threads: NonZeroUsize = threads.parse()?;
    let mut epochs = Vec::new();
    let outcome = train(&plan, &dataset, threads, Some(&checkpoint), &AtomicBool::new(false), |epoch| {
        let seconds = began.elapsed().as_secs();
        print!("epoch {} {seconds} s, training {:.5}, ", epoch.number, epoch.training);
        tell(&epoch.validation);
        epochs.push(epoch.clone());
    })?;
    let TrainingOutcome::Finished(trained) = outcome else { return Err("stopped".into()) };
    let labels = format!(
        "own search {}, teacher {}, result {}, sigmoid of {} centipawns",
        mixture.own, mixture.teacher, mixture.result, mixture.scale
    );
    let command = format!("train {}", words.join(" "));
    let header = Header { base, labels, command, ..trained.header(&plan, &dataset) };
    let quantised = quantise(&trained, header, &dataset.validation)?;
    println!("in whole numbers: {:?}", quantised.error);
    tell(&validate_net(&quantised.net, &dataset.validation, plan.scale));
    fs::write(output, quantised.net.to_bytes())?;
    fs::write(Path::new(output).with_extension("svg"), curve(&epochs))?;
    Ok(())
}

fn tell(losses: &Losses) {
    let [opening, middlegame, endgame] = losses.by_stage;
    println!(
        "kept back {:.5} (opening {opening:.5}, middlegame {middlegame:.5}, endgame {endgame:.5}; base alone {:.5})",
        losses.all, losses.base
    );
}
