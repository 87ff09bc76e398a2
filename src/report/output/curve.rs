use std::fmt::Write as _;

use super::html::escaped;
use crate::{formulas::MoveLabel, statistics::MeanWithError, study::GameStudy, totals::RatingPoint};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 40.0;

/// The colours of labels, the mildest first.
const LABEL_COLORS: [&str; 3] = ["#b8860b", "#d2691e", "#c0392b"];

/// White's expectation after every move, with a dot for every label and a line at the start of the ending.
pub(super) fn expectation_curve(game: &GameStudy) -> String {
    let count = game.moves.len().max(1) as f64;
    let x = |index: f64| LEFT + (WIDTH - LEFT - 10.0) * index / count;
    let y = |expected: f64| 10.0 + (HEIGHT - 20.0) * (1.0 - expected / 100.0);
    let mut svg = open(HEIGHT, "White's expectation");
    // Writing to a string cannot fail, here and below.
    for (at, name) in [(100.0, "1-0"), (50.0, "½"), (0.0, "0-1")] {
        let _ = write!(
            svg,
            "<path stroke=\"#8886\" d=\"M{LEFT} {y:.0}H{WIDTH}\"/><text x=\"4\" y=\"{t:.0}\">{name}</text>",
            y = y(at),
            t = y(at) + 4.0
        );
    }
    if let Some((ply, _)) = game.ending {
        let at = x(ply as f64);
        let _ = write!(svg, "<path stroke=\"#8888\" stroke-dasharray=\"4 3\" d=\"M{at:.1} 10V{:.0}\"/>", HEIGHT - 10.0);
    }
    let _ =
        write!(svg, "<path fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.8\" d=\"M{:.1} {:.1}", x(0.0), y(50.8));
    for (index, played) in game.moves.iter().enumerate() {
        let _ = write!(svg, "L{:.1} {:.1}", x(index as f64 + 1.0), y(played.expected_for_white()));
    }
    svg.push_str("\"/>");
    for (index, played) in game.moves.iter().enumerate() {
        let Some(label) = played.label else { continue };
        let color = LABEL_COLORS[MoveLabel::ALL.iter().position(|known| *known == label).unwrap_or(0)];
        let (x, y) = (x(index as f64 + 1.0), y(played.expected_for_white()));
        let _ = write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{color}\"><title>{}{}</title></circle>",
            escaped(&played.san),
            label.sign()
        );
    }
    svg + "</svg>\n"
}

/// Figures below each other, each a dot with its error bar; a dashed line marks zero.
pub(super) fn figures(title: &str, rows: &[(String, MeanWithError)]) -> String {
    const ROW: f64 = 20.0;
    const NAMES: f64 = 200.0;
    let rows: Vec<_> = rows.iter().filter(|(_, mean)| mean.count > 0).collect();
    let low = rows.iter().map(|(_, mean)| mean.mean - mean.margin()).fold(0.0, f64::min);
    let high = rows.iter().map(|(_, mean)| mean.mean + mean.margin()).fold(0.0, f64::max);
    let span = (high - low).max(1e-9);
    let x = |value: f64| NAMES + (WIDTH - NAMES - 70.0) * (value - low) / span;
    let height = ROW * (rows.len() as f64 + 1.0);
    let mut svg = open(height, title);
    let _ = write!(svg, "<path stroke=\"#888\" stroke-dasharray=\"4 3\" d=\"M{:.1} 0V{height:.0}\"/>", x(0.0));
    for (index, (name, mean)) in rows.iter().enumerate() {
        let y = ROW * (index as f64 + 0.7);
        let (from, to) = (x(mean.mean - mean.margin()), x(mean.mean + mean.margin()));
        let _ = write!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>\
             <path stroke=\"#0072b2\" stroke-width=\"2\" d=\"M{from:.1} {y:.0}H{to:.1}\"/>\
             <circle cx=\"{:.1}\" cy=\"{y:.0}\" r=\"4\" fill=\"#0072b2\"/><text x=\"{:.0}\" y=\"{:.0}\">{:.2}</text>",
            NAMES - 10.0,
            y + 4.0,
            escaped(name),
            x(mean.mean),
            to.max(x(mean.mean)) + 8.0,
            y + 4.0,
            mean.mean,
        );
    }
    svg + "</svg>\n"
}

/// Ratings over games, a curve for each server and speed.
pub(super) fn ratings(points: &[RatingPoint]) -> String {
    const COLORS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
    let mut names: Vec<&str> = points.iter().map(|point| point.of.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if points.len() < 2 {
        return String::new();
    }
    let of = |pick: fn(f64, f64) -> f64, from: f64| points.iter().map(|point| f64::from(point.rating)).fold(from, pick);
    let (low, high) = (of(f64::min, f64::INFINITY), of(f64::max, 0.0));
    let y = |rating: u32| HEIGHT - 15.0 - (HEIGHT - 30.0) * (f64::from(rating) - low) / (high - low).max(1.0);
    let mut svg = open(HEIGHT, "rating");
    for at in [low, high] {
        let height = y(at as u32);
        let _ = write!(
            svg,
            "<path stroke=\"#8886\" d=\"M{LEFT} {height:.0}H{WIDTH}\"/><text x=\"0\" y=\"{:.0}\">{at:.0}</text>",
            height + 4.0
        );
    }
    for (index, name) in names.iter().enumerate() {
        let own: Vec<&RatingPoint> = points.iter().filter(|point| point.of == *name).collect();
        let x = |place: usize| LEFT + (WIDTH - LEFT - 10.0) * place as f64 / own.len().saturating_sub(1).max(1) as f64;
        let path: Vec<String> =
            own.iter().enumerate().map(|(place, point)| format!("{:.1} {:.1}", x(place), y(point.rating))).collect();
        let color = COLORS[index % COLORS.len()];
        let _ = write!(
            svg,
            "<path fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\" d=\"M{}\"/>\
             <text x=\"{:.0}\" y=\"12\" fill=\"{color}\">{}</text>",
            path.join("L"),
            LEFT + 130.0 * index as f64,
            escaped(name)
        );
    }
    svg + "</svg>\n"
}

fn open(height: f64, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" width=\"{WIDTH:.0}\" role=\"img\" font-size=\"12\" \
         fill=\"currentColor\"><title>{}</title>",
        escaped(title)
    )
}
