//! Means with their errors. Values of one game are not independent, so errors are computed for
//! ratios of sums over games (Cochran, *Sampling Techniques*, 1977, chapter 6).

use serde::Serialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MeanWithError {
    pub mean: f64,
    /// Its standard error over games; 0 with fewer than two games.
    pub error: f64,
    pub count: usize,
}

impl MeanWithError {
    /// Returns half the width of the 95 % interval.
    pub fn margin(&self) -> f64 {
        1.96 * self.error
    }
}

/// Values of many games; written as their mean.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(into = "MeanWithError")]
pub struct GameSums {
    games: Vec<(f64, f64)>,
}

impl From<GameSums> for MeanWithError {
    fn from(sums: GameSums) -> Self {
        sums.mean()
    }
}

impl GameSums {
    pub fn next_game(&mut self) {
        if self.games.last().is_none_or(|(_, count)| *count > 0.0) {
            self.games.push((0.0, 0.0));
        }
    }

    pub fn add(&mut self, value: f64) {
        if self.games.is_empty() {
            self.next_game();
        }
        if let Some((sum, count)) = self.games.last_mut() {
            *sum += value;
            *count += 1.0;
        }
    }

    pub fn count(&self) -> usize {
        self.games.iter().map(|(_, count)| *count as usize).sum()
    }

    pub fn mean(&self) -> MeanWithError {
        let games: Vec<&(f64, f64)> = self.games.iter().filter(|(_, count)| *count > 0.0).collect();
        let (sum, count) = games.iter().fold((0.0, 0.0), |(sums, counts), (sum, count)| (sums + sum, counts + count));
        if count == 0.0 {
            return MeanWithError::default();
        }
        let (mean, games_count) = (sum / count, games.len() as f64);
        let squares: f64 = games.iter().map(|(sum, count)| (sum - mean * count).powi(2)).sum();
        let error = if games.len() < 2 { 0.0 } else { (squares * games_count / (games_count - 1.0)).sqrt() / count };
        MeanWithError { mean, error, count: count as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_values_give_usual_error() {
        let mut sums = GameSums::default();
        for value in [1.0, 2.0, 3.0, 4.0] {
            sums.next_game();
            sums.add(value);
        }
        let mean = sums.mean();
        assert_eq!((mean.mean, mean.count), (2.5, 4));
        let standard_error = (5.0_f64 / 3.0).sqrt() / 2.0;
        assert!((mean.error - standard_error).abs() < 1e-12, "{mean:?}");
    }

    #[test]
    fn correlated_moves_add_nothing() {
        let (mut once, mut often) = (GameSums::default(), GameSums::default());
        for value in [0.0, 10.0, 4.0] {
            once.next_game();
            once.add(value);
            often.next_game();
            (0..20).for_each(|_| often.add(value));
        }
        assert!((once.mean().error - often.mean().error).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_no_figure() {
        assert_eq!(GameSums::default().mean(), MeanWithError::default());
    }
}
