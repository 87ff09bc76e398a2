//! The epochs of a training in a file beside its checkpoint, so that the curve of one that was taken up again begins where it began.
//!
//! A line an epoch, its numbers with blanks between them. Rust prints a float so that it reads back as the same one.

use std::{
    fs, io,
    path::{Path, PathBuf},
    str::{FromStr, SplitAsciiWhitespace},
};

use super::{Epoch, Losses};
use crate::plot::curves;
use util::replace_file;

/// The epochs of a training so far, and their file.
#[derive(Debug)]
pub struct Course {
    path: PathBuf,
    pub epochs: Vec<Epoch>,
}

impl Course {
    /// Reads a file up to the first invalid line; empty without a file.
    pub fn open(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        Self { path: path.to_owned(), epochs: text.lines().map_while(read).collect() }
    }

    /// Adds an epoch. Those of its number and after it are of a training before, and go.
    pub fn add(&mut self, epoch: Epoch) -> io::Result<()> {
        self.epochs.retain(|before| before.number < epoch.number);
        self.epochs.push(epoch);
        replace_file(&self.path, self.epochs.iter().map(written).collect::<String>())
    }
}

/// An SVG of the losses by epoch: of the positions learnt from and of those kept back.
pub fn curve(epochs: &[Epoch]) -> String {
    let line = |name: &str, loss: &dyn Fn(&Epoch) -> f64| {
        let points = epochs.iter().map(|epoch| (f64::from(epoch.number), loss(epoch)));
        (name.to_owned(), points.filter(|(_, loss)| loss.is_finite()).collect::<Vec<_>>())
    };
    let lines = [line("training", &|epoch| epoch.training), line("kept back", &|epoch| epoch.validation.all)];
    curves("The learning curve", "epoch", "loss", &lines)
}

fn written(epoch: &Epoch) -> String {
    let Epoch { number, steps, rate, training, validation } = epoch;
    let Losses { all, by_stage: [a, b, c], counts: [d, e, f] } = validation;
    format!("{number} {steps} {rate} {training} {all} {a} {b} {c} {d} {e} {f}\n")
}

fn read(line: &str) -> Option<Epoch> {
    let words = &mut line.split_ascii_whitespace();
    Some(Epoch {
        number: next(words)?,
        steps: next(words)?,
        rate: next(words)?,
        training: next(words)?,
        validation: Losses {
            all: next(words)?,
            by_stage: [next(words)?, next(words)?, next(words)?],
            counts: [next(words)?, next(words)?, next(words)?],
        },
    })
}

fn next<T: FromStr>(words: &mut SplitAsciiWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}
