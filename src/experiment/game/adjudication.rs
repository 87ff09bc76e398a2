//! Games that are decided before their end.
//!
//! Both players must agree: one that misjudges a position cannot lose or win a game by it.

use std::{fmt, str::FromStr};

use super::{GameEnding, Ruling};
use domain::{Color, Score};

/// Rules that decide a game before its end by the players' scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjudication {
    /// A win: the centipawns that both players see for one side, and the number of moves each.
    pub win: Option<(i32, usize)>,
    /// A draw: the most centipawns that both see, the moves each, and the least number of moves of each side.
    pub draw: Option<(i32, usize, usize)>,
}

impl Adjudication {
    pub const NONE: Self = Self { win: None, draw: None };
}

impl Default for Adjudication {
    fn default() -> Self {
        Self { win: Some((600, 4)), draw: Some((8, 5, 40)) }
    }
}

impl FromStr for Adjudication {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || {
            let accepted = "none, or win=CENTIPAWNS:MOVES and draw=CENTIPAWNS:MOVES:AFTER with a comma between them";
            format!("{text:?}: expected {accepted}")
        };
        let mut adjudication = Self::NONE;
        if text == "none" {
            return Ok(adjudication);
        }
        for rule in text.split(',') {
            let (name, values) = rule.split_once('=').ok_or_else(error)?;
            let values: Vec<usize> =
                values.split(':').map(|value| value.trim().parse().map_err(|_| error())).collect::<Result<_, _>>()?;
            let centipawns = |value: usize| i32::try_from(value).map_err(|_| error());
            match (name.trim(), values.as_slice()) {
                ("win", &[value, moves]) if moves > 0 => adjudication.win = Some((centipawns(value)?, moves)),
                ("draw", &[value, moves, after]) if moves > 0 => {
                    adjudication.draw = Some((centipawns(value)?, moves, after));
                }
                _ => return Err(error()),
            }
        }
        Ok(adjudication)
    }
}

impl fmt::Display for Adjudication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let win = self.win.map(|(value, moves)| format!("win={value}:{moves}"));
        let draw = self.draw.map(|(value, moves, after)| format!("draw={value}:{moves}:{after}"));
        let rules: Vec<String> = win.into_iter().chain(draw).collect();
        f.write_str(if rules.is_empty() { "none".to_owned() } else { rules.join(",") }.as_str())
    }
}

pub(super) struct Watch<'a> {
    rules: &'a Adjudication,
    /// Numbers of moves in a row, by player, in which it has seen White win, Black win, and neither.
    counts: [[usize; 2]; 3],
}

impl<'a> Watch<'a> {
    pub(super) fn new(rules: &'a Adjudication) -> Self {
        Self { rules, counts: [[0; 2]; 3] }
    }

    pub(super) fn note(&mut self, color: Color, score: Option<Score>) {
        let seen = score.map(|score| if color.is_white() { score } else { score.flipped() }.as_centipawns());
        let (win, draw) = (self.rules.win.map_or(i32::MAX, |(win, _)| win), self.rules.draw.map_or(-1, |rule| rule.0));
        let holds = seen.map_or([false; 3], |seen| [seen >= win, seen <= -win, seen.abs() <= draw]);
        for (counts, holds) in self.counts.iter_mut().zip(holds) {
            let count = &mut counts[color as usize];
            *count = if holds { *count + 1 } else { 0 };
        }
    }

    /// Returns the ruling, if the scores decide a game after `plies` plies.
    pub(super) fn verdict(&self, plies: usize) -> Option<Ruling> {
        let [white, black, level] = self.counts.map(|[one, other]| one.min(other));
        if let Some((_, moves)) = self.rules.win
            && white.max(black) >= moves
        {
            return Some((GameEnding::WonByScore, if white >= moves { 1.0 } else { 0.0 }));
        }
        let (_, moves, after) = self.rules.draw?;
        (level >= moves && plies >= 2 * after).then_some((GameEnding::DrawnByScore, 0.5))
    }
}

/// docs/method.md §8: the points of a cut game for a player who is `centipawns` better.
pub fn truncated_points(centipawns: i32) -> f64 {
    let share = |centipawns: i32| f64::from(centipawns + 150) / 400.0;
    match centipawns {
        251.. => 1.0,
        50..=250 => share(centipawns),
        -49..=49 => 0.5,
        -250..=-50 => 1.0 - share(-centipawns),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn truncated_games_score_as_in_the_theses() {
        for (centipawns, points) in [(300, 1.0), (250, 1.0), (150, 0.75), (50, 0.5), (49, 0.5), (0, 0.5), (-150, 0.25)]
        {
            assert!((truncated_points(centipawns) - points).abs() < 1e-12, "{centipawns}");
        }
    }

    #[test]
    fn a_win_needs_the_word_of_both() {
        let rules = Adjudication { win: Some((600, 2)), draw: None };
        let mut watch = Watch::new(&rules);
        for _ in 0..5 {
            watch.note(Color::White, Some(Score::Cp(900)));
            watch.note(Color::Black, Some(Score::Cp(-300)));
        }
        assert_eq!(watch.verdict(0), None, "Black does not see it");
        for _ in 0..2 {
            watch.note(Color::Black, Some(Score::Mate(-3)));
        }
        assert_eq!(watch.verdict(0), Some((GameEnding::WonByScore, 1.0)));
        watch.note(Color::White, None);
        assert_eq!(watch.verdict(0), None, "a move without a word begins anew");
    }

    #[test]
    fn adjudication_rules_round_trip() {
        for text in ["none", "win=600:4,draw=8:5:40", "draw=10:3:0"] {
            assert_eq!(text.parse::<Adjudication>().map(|rules| rules.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "win", "win=600", "win=600:0", "draw=1:2", "lose=3:4", "win=-5:3"] {
            assert!(text.parse::<Adjudication>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn adjudicated_scores_sum_to_one(centipawns in -40_000..40_000) {
            prop_assert!((truncated_points(centipawns) + truncated_points(-centipawns) - 1.0).abs() < 1e-12);
            prop_assert!(truncated_points(centipawns) <= truncated_points(centipawns + 1));
        }
    }
}
