use serde::Serialize;
use serde_json::Value;

use super::Totals;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    pub figure: &'static str,
    pub before: f64,
    pub now: f64,
}

/// The compared figures, and their places in a report's totals.
const COMPARED: [(&str, &str); 9] = [
    ("games", "/studied"),
    ("games won", "/all/won"),
    ("games drawn", "/all/drawn"),
    ("games lost", "/all/lost"),
    ("performance", "/all/performance"),
    ("accuracy", "/all/accuracy"),
    ("inaccuracies a game", "/labels/0"),
    ("mistakes a game", "/labels/1"),
    ("blunders a game", "/labels/2"),
];

/// Returns the figures of `now` beside those of an earlier report, whose totals are given as
/// written. Figures missing in one of them are left out.
pub fn changes(earlier: &Value, now: &Totals) -> Vec<Change> {
    let Ok(now) = serde_json::to_value(now) else { return Vec::new() };
    let figure = |report: &Value, path: &str| report.pointer(path).and_then(Value::as_f64);
    let compared = COMPARED.into_iter().filter_map(|(name, path)| {
        Some(Change { figure: name, before: figure(earlier, path)?, now: figure(&now, path)? })
    });
    compared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_figures_are_compared() {
        let earlier = serde_json::json!({"studied": 3, "all": {"won": 2}, "labels": [1.5]});
        let now = Totals { studied: 5, labels: [1.0, 0.0, 0.0], ..Totals::default() };
        let changes = changes(&earlier, &now);
        let names: Vec<&str> = changes.iter().map(|change| change.figure).collect();
        assert_eq!(names, ["games", "games won", "inaccuracies a game"]);
        assert_eq!((changes[0].before, changes[0].now), (3.0, 5.0));
    }
}
