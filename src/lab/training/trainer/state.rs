//! The state of a training: its step, Adam with decoupled decay (Kingma and Ba 2015; Loshchilov and Hutter 2019) within bounds,
//! and its checkpoint.
//!
//! Layout, numbers with their lowest byte first: the magic (8 bytes), the length of the plan's description (4), the
//! description, the steps made (8), the numbers and the two means (4 each), and a checksum (8).

use std::{fs, io, num::NonZeroUsize, path::Path, thread};

use engine::checksum;
use util::{Failure, replace_file};

use super::model::Shape;
use crate::training::data_file::unreadable;

const MAGIC: &[u8; 8] = b"conctrn1";
const FIRST: f32 = 0.9;
const SECOND: f32 = 0.999;
const TINY: f32 = 1e-8;

/// The numbers that are trained and what the optimiser remembers of each.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub numbers: Vec<f32>,
    /// Running means of the gradient and of its square.
    pub means: [Vec<f32>; 2],
    pub steps: u64,
}

impl State {
    pub(super) fn new(numbers: Vec<f32>) -> Self {
        let means = [vec![0.0; numbers.len()], vec![0.0; numbers.len()]];
        Self { numbers, means, steps: 0 }
    }

    /// Makes one step against `gradient`; all weights lose `decay` times `rate` of themselves.
    pub(super) fn step(&mut self, gradient: &[f32], shape: Shape, rate: f32, decay: f32, threads: NonZeroUsize) {
        self.steps += 1;
        let rows = self.numbers.len().div_ceil(shape.width).div_ceil(threads.get());
        let part = rows * shape.width;
        let rate = Rate::new(self.steps, rate, decay);
        let [first, second] = &mut self.means;
        let numbers = self.numbers.chunks_mut(part).zip(gradient.chunks(part));
        let means = first.chunks_mut(part).zip(second.chunks_mut(part));
        thread::scope(|scope| {
            for (i, ((numbers, gradient), (first, second))) in numbers.zip(means).enumerate() {
                scope.spawn(move || {
                    let numbers = numbers.chunks_mut(shape.width).zip(gradient.chunks(shape.width));
                    let means = first.chunks_mut(shape.width).zip(second.chunks_mut(shape.width));
                    for (row, ((numbers, gradient), (first, second))) in numbers.zip(means).enumerate() {
                        rate.step(numbers, gradient, first, second, shape.largest(i * part + row * shape.width));
                    }
                });
            }
        });
    }
}

/// The factors of one step.
#[derive(Clone, Copy)]
struct Rate {
    unbias: [f32; 2],
    rate: f32,
    kept: f32,
}

impl Rate {
    fn new(steps: u64, rate: f32, decay: f32) -> Self {
        let steps = steps.min(1 << 20) as i32;
        Self { unbias: [FIRST, SECOND].map(|mean| 1.0 / (1.0 - mean.powi(steps))), rate, kept: 1.0 - decay * rate }
    }

    /// Moves the numbers of a row, none beyond `largest`.
    fn step(self, numbers: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32], largest: f32) {
        for ((number, gradient), (first, second)) in numbers.iter_mut().zip(gradient).zip(first.iter_mut().zip(second))
        {
            *first = FIRST * *first + (1.0 - FIRST) * *gradient;
            *second = SECOND * *second + (1.0 - SECOND) * *gradient * *gradient;
            let change = *first * self.unbias[0] / ((*second * self.unbias[1]).sqrt() + TINY);
            let moved = *number * self.kept - self.rate * change;
            *number = moved.clamp(-largest, largest);
        }
    }
}

fn to_bytes(state: &State, plan: &str) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&(plan.len() as u32).to_le_bytes());
    bytes.extend_from_slice(plan.as_bytes());
    bytes.extend_from_slice(&state.steps.to_le_bytes());
    for numbers in [&state.numbers, &state.means[0], &state.means[1]] {
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
    let sum = checksum(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// Returns the state if the bytes are complete, of this plan, and of `count` numbers.
fn from_bytes(bytes: &[u8], plan: &str, count: usize) -> Result<State, &'static str> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("no checkpoint of a training")?;
    let (body, sum) = bytes.split_last_chunk::<8>().ok_or("cut off")?;
    if checksum(body) != u64::from_le_bytes(*sum) {
        return Err("damaged or cut off: its checksum does not hold; remove it to begin anew");
    }
    let (len, rest) = rest.split_first_chunk::<4>().ok_or("cut off")?;
    let (description, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or("cut off")?;
    if description != plan.as_bytes() {
        return Err("of a training with another plan or other data; name another file, or remove it to begin anew");
    }
    let (steps, rest) = rest.split_first_chunk::<8>().ok_or("cut off")?;
    let (numbers, _) = rest[..rest.len() - 8].as_chunks::<4>();
    if numbers.len() != 3 * count {
        return Err("of a net of another shape");
    }
    let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let part = |i: usize| numbers[i * count..(i + 1) * count].to_vec();
    Ok(State { numbers: part(0), means: [part(1), part(2)], steps: u64::from_le_bytes(*steps) })
}

/// Writes a file that is there as a whole or not at all.
pub(super) fn write(path: &Path, state: &State, plan: &str) -> Result<(), Failure> {
    replace_file(path, to_bytes(state, plan)).map_err(unreadable(path))
}

/// Reads the state of a plan of `count` numbers from a file; `None` without a file.
pub(super) fn read(path: &Path, plan: &str, count: usize) -> Result<Option<State>, Failure> {
    match fs::read(path) {
        Ok(bytes) => from_bytes(&bytes, plan, count)
            .map(Some)
            .map_err(|reason| Failure::failed(format_args!("{}: {reason}", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path)(error)),
    }
}
