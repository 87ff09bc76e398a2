//! The step: Adam with decoupled decay (Kingma and Ba 2015; Loshchilov and Hutter 2019), with weights kept within bounds.

use super::model::Shape;

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
    pub(super) fn step(&mut self, gradient: &[f32], shape: Shape, rate: f32, decay: f32) {
        self.steps += 1;
        let steps = self.steps.min(1 << 20) as i32;
        let (unbias_first, unbias_second) = (1.0 / (1.0 - FIRST.powi(steps)), 1.0 / (1.0 - SECOND.powi(steps)));
        let [first, second] = &mut self.means;
        let means = first.iter_mut().zip(second);
        for (i, ((number, (first, second)), gradient)) in self.numbers.iter_mut().zip(means).zip(gradient).enumerate() {
            let largest = shape.largest(i);
            *first = FIRST * *first + (1.0 - FIRST) * *gradient;
            *second = SECOND * *second + (1.0 - SECOND) * *gradient * *gradient;
            let change = *first * unbias_first / ((*second * unbias_second).sqrt() + TINY);
            let moved = *number * (1.0 - decay * rate) - rate * change;
            *number = moved.clamp(-largest, largest);
        }
    }
}
