//! Plots as SVG, without any library of the system: figures with their errors, and curves.
//!
//! A plot is plain text that a browser and a repository show alike. Coordinates are rounded to a tenth of a pixel, so
//! that the same figures give the same bytes on any machine.

use std::fmt::Write;

use super::stats::Estimate;

/// Colours that can be told apart, also by the colour-blind (Okabe and Ito 2008).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

const WIDTH: f64 = 760.0;
/// Left of the plot, for names or figures.
const LEFT: f64 = 230.0;
const LETTER: f64 = 6.6;
const RIGHT: f64 = 30.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 46.0;
const ROW: f64 = 22.0;

/// Draws named figures under each other, each a dot with the line of its error, whose infinite ends run to the edge. The
/// dashed line is at `reference`.
pub fn figures(title: &str, unit: &str, bars: &[(String, Estimate)], reference: Option<f64>) -> String {
    let ends = bars.iter().flat_map(|(_, estimate)| [estimate.low, estimate.value, estimate.high]);
    let longest = bars.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let left = (20.0 + LETTER * longest as f64).clamp(LEFT, WIDTH / 2.0);
    let scale = Axis::over(ends.chain(reference), left, WIDTH - RIGHT);
    let height = TOP + ROW * bars.len() as f64 + BOTTOM;
    let mut svg = Svg::new(title, height);
    let floor = height - BOTTOM;
    svg.vertical_grid(&scale, floor);
    svg.text(f64::midpoint(left, WIDTH - RIGHT), height - 8.0, "middle", unit);
    if let Some(at) = reference {
        let x = scale.at(at);
        svg.line([x, TOP, x, floor], "#444444", " stroke-dasharray=\"4 3\"");
    }
    for (index, (name, estimate)) in bars.iter().enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5);
        svg.text(left - 10.0, y + 4.0, "end", name);
        svg.line([scale.at(estimate.low), y, scale.at(estimate.high), y], COLOURS[0], " stroke-width=\"2\"");
        svg.dot(scale.at(estimate.value), y, COLOURS[0]);
    }
    svg.end()
}

/// Draws curves, each a name and its points, over the same axis, with their names on the left.
pub fn curves(title: &str, x_unit: &str, y_unit: &str, curves: &[(String, Vec<(f64, f64)>)]) -> String {
    const HEIGHT: f64 = 420.0;
    let points = || curves.iter().flat_map(|(_, points)| points);
    let across = Axis::over(points().map(|point| point.0), LEFT, WIDTH - RIGHT);
    let up = Axis::over(points().map(|point| point.1), HEIGHT - BOTTOM, TOP);
    let mut svg = Svg::new(title, HEIGHT);
    svg.vertical_grid(&across, HEIGHT - BOTTOM);
    for tick in up.ticks() {
        let y = up.at(tick);
        svg.line([LEFT, y, WIDTH - RIGHT, y], "#dddddd", "");
        svg.text(LEFT - 6.0, y + 4.0, "end", &label(tick));
    }
    svg.text(f64::midpoint(LEFT, WIDTH - RIGHT), HEIGHT - 8.0, "middle", x_unit);
    svg.text(LEFT, TOP - 8.0, "middle", y_unit);
    for (index, (name, points)) in curves.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let placed: Vec<(f64, f64)> = points.iter().map(|(x, y)| (across.at(*x), up.at(*y))).collect();
        svg.polyline(&placed, colour);
        placed.iter().for_each(|(x, y)| svg.dot(*x, *y, colour));
        let y = TOP + ROW * (index as f64 + 0.5);
        svg.line([10.0, y, 34.0, y], colour, " stroke-width=\"2\"");
        svg.text(40.0, y + 4.0, "start", name);
    }
    svg.end()
}

/// An SVG text that grows. Writing to a string cannot fail.
struct Svg(String);

impl Svg {
    fn new(title: &str, height: f64) -> Self {
        let mut svg = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        ));
        let _ = writeln!(
            svg.0,
            "<text x=\"{:.1}\" y=\"20.0\" text-anchor=\"middle\" font-size=\"15\">{}</text>",
            WIDTH / 2.0,
            escaped(title)
        );
        svg
    }

    fn vertical_grid(&mut self, scale: &Axis, floor: f64) {
        for tick in scale.ticks() {
            let x = scale.at(tick);
            self.line([x, TOP, x, floor], "#dddddd", "");
            self.text(x, floor + 16.0, "middle", &label(tick));
        }
    }

    fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], colour: &str, more: &str) {
        let _ = writeln!(
            self.0,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"{more}/>"
        );
    }

    fn polyline(&mut self, points: &[(f64, f64)], colour: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.0,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.join(" ")
        );
    }

    fn dot(&mut self, x: f64, y: f64, colour: &str) {
        let _ = writeln!(self.0, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>");
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let _ = writeln!(self.0, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escaped(text));
    }

    fn end(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    low: f64,
    high: f64,
    step: f64,
    /// The pixels of `low` and `high`.
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis that all finite figures are on, its ends at round ones, from one pixel to another.
    fn over(figures: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
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
    fn at(&self, figure: f64) -> f64 {
        let figure = if figure.is_nan() { self.low } else { figure.clamp(self.low, self.high) };
        self.from + (figure - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Round figures from end to end.
    fn ticks(&self) -> impl Iterator<Item = f64> {
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
fn label(figure: f64) -> String {
    let text = format!("{figure:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bar(name: &str, low: f64, value: f64, high: f64) -> (String, Estimate) {
        (name.to_owned(), Estimate { value, low, high })
    }

    #[test]
    fn plots_show_names_and_errors() {
        let svg = figures(
            "Elo",
            "Elo against <the base>",
            &[bar("a & b", -20.0, 5.0, 30.0), bar("c", 0.0, 1.0, 2.0)],
            Some(0.0),
        );
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("a &amp; b") && svg.contains("&lt;the base&gt;") && svg.contains("stroke-dasharray"));
    }

    #[test]
    fn curves_share_their_axes() {
        let curve = |name: &str, slope: f64| {
            (name.to_owned(), (1..=5).map(|x| (f64::from(x), slope * f64::from(x))).collect::<Vec<_>>())
        };
        let svg = curves("Speed-up", "processes", "Svr", &[curve("base", 0.5), curve("peer", 0.8)]);
        assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (2, 10));
    }

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

    proptest! {
        #[test]
        fn nothing_is_drawn_outside(values in prop::collection::vec(prop::num::f64::ANY, 0..12)) {
            let bars: Vec<_> = values.iter().map(|value| bar("x", value - 1.0, *value, value + 1.0)).collect();
            let svg = figures("t", "u", &bars, None);
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
