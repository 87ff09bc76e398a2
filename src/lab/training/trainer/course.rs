//! The epochs of a training in a file beside its checkpoint, so that the curve of one that was taken up again begins where it began.
//!
//! A line an epoch, its numbers with blanks between them. Rust prints a float so that it reads back as the same one.

use std::{
    fs, io,
    path::{Path, PathBuf},
    str::{FromStr, SplitAsciiWhitespace},
};

use super::{Epoch, Losses};
use crate::training::whole_file::replace;

/// The epochs of a training so far, and their file.
#[derive(Debug)]
pub struct Course {
    path: PathBuf,
    epochs: Vec<Epoch>,
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
        replace(&self.path, self.epochs.iter().map(written).collect::<String>())
    }

    pub fn epochs(&self) -> &[Epoch] {
        &self.epochs
    }
}

fn written(epoch: &Epoch) -> String {
    let Epoch { number, steps, rate, training, validation } = epoch;
    let Losses { all, by_stage: [a, b, c], counts: [d, e, f], base } = validation;
    format!("{number} {steps} {rate} {training} {all} {a} {b} {c} {d} {e} {f} {base}\n")
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
            base: next(words)?,
        },
    })
}

fn next<T: FromStr>(words: &mut SplitAsciiWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}
