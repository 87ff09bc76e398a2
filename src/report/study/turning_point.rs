//! The decisive move of a game.

use domain::Color;

use super::MoveStudy;

/// Below this expectation, per cent, a side stands worse.
const STANDS_WORSE: f64 = 40.0;

/// Returns the loser's move after its last good position. Without a winner, the most
/// costly move with a label. An index of `moves`; `None` if no move decided, as in a game lost on
/// time in a good position.
pub(super) fn find(moves: &[MoveStudy], winner: Option<Color>) -> Option<usize> {
    let Some(winner) = winner else {
        let labelled = moves.iter().enumerate().filter(|(_, played)| played.label.is_some());
        return labelled.max_by(|(_, a), (_, b)| a.loss.total_cmp(&b.loss)).map(|(index, _)| index);
    };
    let stands_worse = |played: &MoveStudy| {
        let loser = if played.mover == winner { 100.0 - played.expected_after } else { played.expected_after };
        loser < STANDS_WORSE
    };
    let last_good = moves.iter().rposition(|played| !stands_worse(played)).map_or(0, |index| index + 1);
    moves.get(last_good).filter(|played| played.mover != winner).map(|_| last_good)
}
