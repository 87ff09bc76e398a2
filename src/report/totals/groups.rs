use bot::journal::{GameRecord, GameResult};
use domain::is_title_of_bot;
use serde::Serialize;
use util::find_or_add;

use super::RATING_STEP;
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

    /// Returns the points; a draw counts a half.
    pub fn points(&self) -> f64 {
        self.won as f64 + self.drawn as f64 / 2.0
    }

    /// The share of the points, 0 to 1; `None` without games.
    pub fn share(&self) -> Option<f64> {
        (self.games() > 0).then(|| self.points() / self.games() as f64)
    }

    /// Returns the points lost against an even score.
    pub fn points_lost(&self) -> f64 {
        self.games() as f64 / 2.0 - self.points()
    }
}

#[derive(Debug, Default, Serialize)]
pub struct GroupFigure {
    pub name: String,
    #[serde(flatten)]
    pub results: ResultCount,
    /// The rating with the same expected results against these opponents, if ratings are known.
    pub performance: Option<f64>,
    /// The bot's mean accuracy in studied games, 0 to 100; the sum until the end.
    pub accuracy: Option<f64>,
    #[serde(skip)]
    studied: usize,
    /// The sum of the opponents' known ratings, and the results against these opponents.
    #[serde(skip)]
    ratings: f64,
    #[serde(skip)]
    rated: ResultCount,
}

/// Games in several groupings; in each, the largest group first.
#[derive(Debug, Default, Serialize)]
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

impl GroupFigure {
    pub(super) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    pub(super) fn add(&mut self, record: &GameRecord, result: GameResult, accuracy: Option<f64>) {
        self.results.add(result);
        if let Some(rating) = record.opponent().rating {
            self.ratings += f64::from(rating);
            self.rated.add(result);
        }
        if let Some(accuracy) = accuracy {
            *self.accuracy.get_or_insert(0.0) += accuracy;
            self.studied += 1;
        }
    }

    pub(super) fn finish(&mut self) {
        self.performance = performance(self.ratings, self.rated);
        self.accuracy = self.accuracy.map(|sum| sum / self.studied as f64);
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

impl Groups {
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
        let ending = study.and_then(|study| study.ending).map(|(_, name)| name);
        let count = |groups: &mut Vec<GroupFigure>, name: &str| {
            find_or_add(groups, |group| group.name == name, || GroupFigure::named(name)).add(record, result, accuracy);
        };
        count(&mut self.opponents, &opponent.name);
        count(&mut self.kinds, kind);
        count(&mut self.speeds, record.speed.key());
        count(&mut self.colors, &record.our_color.to_string());
        count(&mut self.servers, record.server.as_str());
        count(&mut self.variants, record.variant.key());
        if let Some(rating) = rating {
            count(&mut self.ratings, &rating);
        }
        if let Some(ending) = ending {
            count(&mut self.endings, ending);
        }
    }

    pub(super) fn finish(&mut self) {
        let Self { opponents, kinds, speeds, colors, servers, variants, ratings, endings } = self;
        for groups in [&mut *opponents, kinds, speeds, colors, servers, variants, ratings, endings] {
            groups.iter_mut().for_each(GroupFigure::finish);
            groups.sort_by(|a, b| a.name.cmp(&b.name));
        }
        for groups in [opponents, kinds, speeds, colors, servers, variants, endings] {
            groups.sort_by_key(|figure| std::cmp::Reverse(figure.results.games()));
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
