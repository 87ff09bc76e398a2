//! An axis: from figures to pixels, with round figures marked.

/// A linear axis over some figures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    step: f64,
    /// The pixels of `low` and `high`.
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis that all finite figures are on, its ends at round ones, from one pixel to another.
    pub(super) fn over(figures: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        // Beyond this the distance of neighbouring figures cannot be drawn any more.
        let drawable = figures.filter(|figure| figure.abs() < 1e12);
        let (low, high) = drawable
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), figure| (low.min(figure), high.max(figure)));
        let (low, high) = if low.is_finite() { (low, high) } else { (0.0, 1.0) };
        let (low, high) = if high - low > 1e-9 * high.abs().max(1e-3) { (low, high) } else { (low - 1.0, high + 1.0) };
        let step = round_step((high - low) / 6.0);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step, from, to }
    }

    /// The pixel of a figure; one beyond the axis is drawn at its end.
    pub(super) fn at(&self, figure: f64) -> f64 {
        let figure = if figure.is_nan() { self.low } else { figure.clamp(self.low, self.high) };
        self.from + (figure - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Round figures from end to end.
    pub(super) fn ticks(&self) -> impl Iterator<Item = f64> {
        let (low, step) = (self.low, self.step);
        let count = ((self.high - self.low) / step).round() as u32;
        (0..=count).map(move |index| low + f64::from(index) * step)
    }
}

/// 1, 2 or 5 times a power of ten, not less than `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

/// A round figure without the noise of its last digits.
pub(super) fn label(figure: f64) -> String {
    let text = format!("{figure:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_round_figures() {
        let scale = Axis::over([-13.0, 41.5].into_iter(), 0.0, 100.0);
        let labels: Vec<String> = scale.ticks().map(label).collect();
        assert_eq!(labels, ["-20", "-10", "0", "10", "20", "30", "40", "50"]);
        assert!((scale.at(15.0) - 50.0).abs() < 1e-9);
        assert_eq!((scale.at(f64::INFINITY), scale.at(-99.0)), (100.0, 0.0));
    }

    #[test]
    fn equal_figures_have_an_axis_too() {
        let scale = Axis::over([0.25, 0.25].into_iter(), 0.0, 100.0);
        assert!((scale.at(0.25) - 50.0).abs() < 30.0);
        assert_eq!(label(0.1 + 0.2), "0.3");
    }
}
