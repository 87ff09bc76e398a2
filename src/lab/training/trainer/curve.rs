//! The course of a training as a picture.

use std::fmt::Write as _;

use super::Epoch;

const SIZE: (f64, f64) = (720.0, 400.0);
/// The margin for numbers at the left and below.
const MARGIN: f64 = 64.0;

/// An SVG of the losses by epoch: of the positions learnt from, of those kept back, and of the base alone where it is near
/// enough to be compared with.
pub fn curve(epochs: &[Epoch]) -> String {
    let training: Vec<f64> = epochs.iter().map(|epoch| epoch.training).collect();
    let kept_back: Vec<f64> = epochs.iter().map(|epoch| epoch.validation.all).collect();
    let losses = || training.iter().chain(&kept_back).copied().filter(|loss| loss.is_finite());
    let (low, high) = (losses().fold(f64::INFINITY, f64::min), losses().fold(0.0, f64::max));
    let base = epochs.last().map(|epoch| epoch.validation.base).filter(|base| (low..=2.0 * high).contains(base));
    let high = base.map_or(high, |base| high.max(base));
    let (low, high) = if low < high { (low, high) } else { (0.0, high.max(1e-6)) };

    let (width, height) = SIZE;
    let x = |epoch: usize| {
        let share = epoch as f64 / epochs.len().saturating_sub(1).max(1) as f64;
        MARGIN + share * (width - MARGIN - 20.0)
    };
    let y = |loss: f64| 20.0 + (high - loss) / (high - low) * (height - MARGIN - 20.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for part in 0..=4 {
        let loss = low + (high - low) * f64::from(part) / 4.0;
        let _ = writeln!(
            svg,
            "<line x1=\"{MARGIN}\" x2=\"{}\" y1=\"{1:.1}\" y2=\"{1:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{2}\" y=\"{1:.1}\" text-anchor=\"end\">{loss:.4}</text>",
            width - 20.0,
            y(loss),
            MARGIN - 6.0
        );
    }
    for (i, epoch) in epochs.iter().enumerate().step_by(epochs.len().div_ceil(12).max(1)) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(i),
            height - MARGIN + 18.0,
            epoch.number
        );
    }
    let mut line = |name: &str, color: &str, losses: &[f64], at: f64| {
        let points: Vec<String> =
            losses.iter().enumerate().map(|(i, loss)| format!("{:.1},{:.1}", x(i), y(*loss))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\
             <text x=\"{at}\" y=\"{}\" fill=\"{color}\">{name}</text>",
            points.join(" "),
            height - 16.0
        );
    };
    line("training", "#888", &training, MARGIN);
    line("kept back", "#06c", &kept_back, MARGIN + 120.0);
    if let Some(base) = base {
        line("base alone", "#c60", &vec![base; epochs.len()], MARGIN + 240.0);
    }
    svg + "</svg>\n"
}
