//! A fit between two epochs, and the file it survives in.
//!
//! Text, because Rust prints a float so that it reads back as the same one: a line of facts, then a line a value with its
//! two moments.

use std::{
    fmt::{Display, Write},
    fs, io,
    path::Path,
};

use super::positions::TaperedPair;
use engine::evaluation::Weights;
use util::{Failure, replace_file};

const FORMAT: &str = "concilio-tune-2";

fn unusable(path: &Path, reason: &dyn Display) -> Failure {
    Failure::failed(format_args!("state {}: {reason}", path.display()))
}

/// State that the next epoch depends on besides the positions and the plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TuneState {
    pub(super) fingerprint: u64,
    pub(super) epoch: u32,
    pub(super) steps: i32,
    /// The change of the logit of the expected score by a centipawn.
    pub(super) scaling: f64,
    pub(super) weights: Vec<TaperedPair>,
    pub(super) first: Vec<TaperedPair>,
    pub(super) second: Vec<TaperedPair>,
}

impl TuneState {
    /// The state in a file; `None` if there is no such file.
    pub(super) fn load(path: &Path, fingerprint: u64) -> Result<Option<Self>, Failure> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(path, &error)),
        };
        let state = Self::parse(&text);
        let foreign = "not the state of a fit of this version; name another file";
        let state = state.ok_or_else(|| unusable(path, &foreign))?;
        if state.fingerprint != fingerprint {
            let other = "of a fit with other positions, knowledge, starting weights, epochs, rate, pull or seed";
            return Err(unusable(path, &format_args!("{other}; name another file")));
        }
        Ok(Some(state))
    }

    /// Writes the file; it is never half written.
    pub(super) fn save(&self, path: &Path) -> Result<(), Failure> {
        replace_file(path, self.to_text()).map_err(|error| unusable(path, &error))
    }

    fn to_text(&self) -> String {
        let Self { fingerprint, epoch, steps, scaling, .. } = self;
        let mut text = format!("{FORMAT} {fingerprint} {epoch} {steps} {scaling:?}\n");
        for ((weight, first), second) in self.weights.iter().zip(&self.first).zip(&self.second) {
            for phase in 0..2 {
                let _ = writeln!(text, "{:?} {:?} {:?}", weight[phase], first[phase], second[phase]);
            }
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        if words.next()? != FORMAT {
            return None;
        }
        let mut state = Self {
            fingerprint: words.next()?.parse().ok()?,
            epoch: words.next()?.parse().ok()?,
            steps: words.next()?.parse().ok()?,
            scaling: words.next()?.parse().ok()?,
            weights: vec![[0.0; 2]; Weights::COUNT],
            first: vec![[0.0; 2]; Weights::COUNT],
            second: vec![[0.0; 2]; Weights::COUNT],
        };
        for index in 0..Weights::COUNT {
            for phase in 0..2 {
                for values in [&mut state.weights, &mut state.first, &mut state.second] {
                    values[index][phase] = words.next()?.parse().ok()?;
                }
            }
        }
        words.next().is_none().then_some(state)
    }
}
