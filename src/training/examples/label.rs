//! Labels the shards of a folder by a UCI program:
//! `cargo run --release -p concilio-training --example label -- FROM TO PROGRAM NODES THREADS`.
//!
//! It can be ended at any time; the same command goes on from there, and takes shards that have come to `FROM` since.

use std::{
    env,
    error::Error,
    num::NonZeroUsize,
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

use concilio_training::{TeacherPlan, label};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [from, to, program, nodes, threads] = words.as_slice() else {
        return Err("usage: label FROM TO PROGRAM NODES THREADS".into());
    };
    let plan = TeacherPlan { program: program.into(), nodes: nodes.parse()? };
    let threads: NonZeroUsize = threads.parse()?;
    let (began, labelled) = (Instant::now(), AtomicUsize::new(0));
    label(&plan, Path::new(from), Path::new(to), threads, &AtomicBool::new(false), |count| {
        let total = labelled.fetch_add(count, Relaxed) + count;
        println!("{total} positions, {:.0} a second", total as f64 / began.elapsed().as_secs_f64());
    })?;
    Ok(())
}
