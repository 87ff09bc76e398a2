//! Results of games that have something in common, and the rating they were played at.

use std::collections::BTreeMap;

use bot::journal::{GameRecord, GameResult};
use domain::is_title_of_bot;
use serde::Serialize;

use super::{RATING_STEP, color_word};
use crate::study::GameStudy;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResultCount {
    pub won: usize,
    pub drawn: usize,
    pub lost: usize,
}

impl ResultCount {
    pub fn add(&mut self, result: GameResult) {
        match result {
            GameResult::Won => self.won += 1,
            GameResult::Drawn => self.drawn += 1,
            GameResult::Lost => self.lost += 1,
        }
    }

    pub fn games(&self) -> usize {
        self.won + self.drawn + self.lost
    }

    /// Points, a draw half a one.
    pub fn points(&self) -> f64 {
        self.won as f64 + self.drawn as f64 / 2.0
    }

    /// The share of the points, 0 to 1; `None` without games.
    pub fn share(&self) -> Option<f64> {
        (self.games() > 0).then(|| self.points() / self.games() as f64)
    }

    /// Points less than half of them: what the games cost.
    pub fn points_lost(&self) -> f64 {
        self.games() as f64 / 2.0 - self.points()
    }
}

/// Games that have something in common.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GroupFigure {
    pub name: String,
    #[serde(flatten)]
    pub results: ResultCount,
    /// The rating at which such results would be expected against such opponents, where ratings are known.
    pub performance: Option<f64>,
    /// Our mean accuracy in those that were studied, 0 to 100.
    pub accuracy: Option<f64>,
}

/// Games by several things they have in common; in each, the most games first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Groups {
    pub opponents: Vec<GroupFigure>,
    pub kinds: Vec<GroupFigure>,
    pub speeds: Vec<GroupFigure>,
    pub colors: Vec<GroupFigure>,
    pub servers: Vec<GroupFigure>,
    pub variants: Vec<GroupFigure>,
    /// Steps of the opponent's rating, the lowest first.
    pub ratings: Vec<GroupFigure>,
    pub endings: Vec<GroupFigure>,
}

#[derive(Debug, Default)]
pub(super) struct GroupSums {
    results: ResultCount,
    /// Opponents' ratings, and the results against those that have one.
    ratings: f64,
    rated: ResultCount,
    accuracies: (f64, usize),
}

impl GroupSums {
    pub(super) fn add(&mut self, record: &GameRecord, result: GameResult, accuracy: Option<f64>) {
        self.results.add(result);
        if let Some(rating) = record.opponent().rating {
            self.ratings += f64::from(rating);
            self.rated.add(result);
        }
        if let Some(accuracy) = accuracy {
            self.accuracies.0 += accuracy;
            self.accuracies.1 += 1;
        }
    }

    pub(super) fn figure(&self, name: &str) -> GroupFigure {
        let (sum, count) = self.accuracies;
        GroupFigure {
            name: name.to_owned(),
            results: self.results,
            performance: performance(self.ratings, self.rated),
            accuracy: (count > 0).then(|| sum / count as f64),
        }
    }
}

/// Returns the rating whose expectation by Elo's formula is the score, against the mean of the
/// opponents' ratings (their sum is given). Half a win and half a loss are added, so that clean
/// scores have one too.
fn performance(ratings: f64, results: ResultCount) -> Option<f64> {
    let games = results.games() as f64;
    let share = (results.points() + 0.5) / (games + 1.0);
    (games > 0.0).then(|| ratings / games + 400.0 * (share / (1.0 - share)).log10())
}

#[derive(Debug, Default)]
pub(super) struct GroupedSums {
    by: [BTreeMap<String, GroupSums>; 8],
}

impl GroupedSums {
    pub(super) fn add(
        &mut self,
        record: &GameRecord,
        result: GameResult,
        accuracy: Option<f64>,
        study: Option<&GameStudy>,
    ) {
        let opponent = record.opponent();
        let kind = if opponent.title.as_deref().is_some_and(is_title_of_bot) { "program" } else { "person" };
        let rating = opponent.rating.map(|rating| {
            let from = rating / RATING_STEP * RATING_STEP;
            format!("{from:04} to {:04}", from + RATING_STEP - 1)
        });
        let ending = study.and_then(|study| study.ending).map(|(_, name)| name.to_owned());
        let names = [
            Some(opponent.name.clone()),
            Some(kind.to_owned()),
            Some(record.speed.key().to_owned()),
            Some(color_word(record.our_color).to_owned()),
            Some(record.server.to_string()),
            Some(record.variant.key().to_owned()),
            rating,
            ending,
        ];
        for (groups, name) in self.by.iter_mut().zip(names) {
            if let Some(name) = name {
                groups.entry(name).or_default().add(record, result, accuracy);
            }
        }
    }

    pub(super) fn figures(&self) -> Groups {
        let figures = |index: usize| -> Vec<GroupFigure> {
            self.by[index].iter().map(|(name, sums)| sums.figure(name)).collect()
        };
        let most_first = |index: usize| {
            let mut figures = figures(index);
            figures.sort_by_key(|figure| std::cmp::Reverse(figure.results.games()));
            figures
        };
        Groups {
            opponents: most_first(0),
            kinds: most_first(1),
            speeds: most_first(2),
            colors: most_first(3),
            servers: most_first(4),
            variants: most_first(5),
            ratings: figures(6),
            endings: most_first(7),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_score_performs_at_par() {
        let even = ResultCount { won: 3, drawn: 2, lost: 3 };
        let performance = performance(8.0 * 1900.0, even).expect("games");
        assert!((performance - 1900.0).abs() < 1e-9, "{performance}");
        assert_eq!(super::performance(0.0, ResultCount::default()), None);
    }

    #[test]
    fn perfect_score_has_a_performance() {
        let clean = ResultCount { won: 4, ..ResultCount::default() };
        let performance = performance(4.0 * 2000.0, clean).expect("games");
        assert!(performance > 2300.0 && performance < 2500.0, "{performance}");
        assert_eq!(clean.points_lost(), -2.0);
    }
}
