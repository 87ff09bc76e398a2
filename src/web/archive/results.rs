//! Many games summed up: the rating over time, and the score by opponent, speed, colour, opening and
//! ending.

use std::collections::BTreeMap;

use serde::Serialize;

use bot::journal::GameRecord;
use domain::{Line, UciMove, Variant, color_word};
use report::{openings::NamedOpening, totals::ResultCount};

/// The plies searched for the name of the opening: no family of openings begins later.
pub(super) const OPENING_PLIES: u32 = 16;

const MOST_ROWS: usize = 50;

const MOST_POINTS: usize = 400;

#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Results {
    total: ResultCount,
    /// The bot's rating before each rated game and, if the server reported it, after it, by server
    /// and speed: `[ms since 1970, points]`.
    ratings: BTreeMap<String, Vec<(i64, u32)>>,
    opponents: Vec<ResultRow>,
    speeds: Vec<ResultRow>,
    colours: Vec<ResultRow>,
    openings: Vec<ResultRow>,
    endings: Vec<ResultRow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ResultRow {
    name: String,
    #[serde(flatten)]
    score: ResultCount,
}

impl Results {
    /// Sums up games, the oldest first; `openings` are their first moves.
    pub(super) fn of(games: &[GameRecord], openings: &[Vec<UciMove>]) -> Self {
        let mut results = Self::default();
        let [mut opponents, mut speeds, mut colours, mut begun, mut endings] =
            <[BTreeMap<String, ResultCount>; 5]>::default();
        let count =
            |table: &mut BTreeMap<_, ResultCount>, name: String, result| table.entry(name).or_default().add(result);
        for (game, moves) in games.iter().zip(openings) {
            results.note_rating(game);
            let Some(result) = game.result else { continue };
            results.total.add(result);
            count(&mut opponents, game.opponent().name.clone(), result);
            count(&mut speeds, game.speed.key().to_owned(), result);
            count(&mut colours, color_word(game.our_color).to_owned(), result);
            count(&mut endings, game.status.name().to_owned(), result);
            if let Some(opening) = opening(game, moves) {
                count(&mut begun, opening.family().to_owned(), result);
            }
        }
        for curve in results.ratings.values_mut() {
            // Games may have run side by side.
            curve.sort_by_key(|(at, _)| *at);
            thin_out(curve);
        }
        let [opponents, speeds, colours, openings, endings] = [opponents, speeds, colours, begun, endings].map(rows);
        Self { opponents, speeds, colours, openings, endings, ..results }
    }

    fn note_rating(&mut self, game: &GameRecord) {
        let (Some(rating), true) = (game.us().rating, game.rated) else { return };
        let curve = self.ratings.entry(format!("{} {}", game.server, game.speed)).or_default();
        curve.push((game.started_at.as_millisecond(), rating));
        let after = game.rating_change.and_then(|change| rating.checked_add_signed(change));
        if let (Some(after), Some(ended_at)) = (after, game.ended_at) {
            curve.push((ended_at.as_millisecond(), after));
        }
    }
}

fn opening(game: &GameRecord, moves: &[UciMove]) -> Option<NamedOpening> {
    if game.variant != Variant::Standard || game.start_fen.is_some() {
        return None;
    }
    let mut line = Line::start(Variant::Standard);
    moves.iter().try_for_each(|uci| line.play(*uci)).ok()?;
    NamedOpening::of(&line).map(|(opening, _)| opening)
}

fn rows(table: BTreeMap<String, ResultCount>) -> Vec<ResultRow> {
    let mut rows: Vec<ResultRow> = table.into_iter().map(|(name, score)| ResultRow { name, score }).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.score.games()));
    rows.truncate(MOST_ROWS);
    rows
}

/// Leaves out points of a long curve evenly, but never the last.
fn thin_out(curve: &mut Vec<(i64, u32)>) {
    let step = curve.len().div_ceil(MOST_POINTS).max(1);
    let last = curve.len().saturating_sub(1);
    let mut index = 0;
    curve.retain(|_| {
        index += 1;
        (index - 1) % step == 0 || index - 1 == last
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_thinned() {
        let mut curve: Vec<(i64, u32)> = (0..10_001).map(|index| (index, 1500)).collect();
        thin_out(&mut curve);
        assert!(curve.len() <= MOST_POINTS + 1, "{}", curve.len());
        assert_eq!((curve.first().map(|p| p.0), curve.last().map(|p| p.0)), (Some(0), Some(10_000)));
        let mut short = vec![(1, 1)];
        thin_out(&mut short);
        assert_eq!(short.len(), 1);
    }

    #[test]
    fn rows_have_the_most_games_first() {
        let count = |won, drawn| ResultCount { won, drawn, lost: 0 };
        let table = BTreeMap::from([("a".to_owned(), count(1, 0)), ("b".to_owned(), count(0, 3))]);
        assert_eq!(rows(table).iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    }
}
