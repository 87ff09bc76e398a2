//! The time of each move, by the server's clocks.

use std::time::Duration;

use bot::journal::GameRecord;
use domain::TimeControl;

use super::MoveStudy;
use crate::judge::GameMaterial;

/// Adds clocks and times to the moves. A move of the bot without known clocks has the time of its
/// search.
pub(super) fn add_times(record: &GameRecord, material: &GameMaterial, moves: &mut [MoveStudy]) {
    for ((played, _), studied) in material.moves.iter().zip(moves) {
        studied.taken = played.ours.as_ref().map(|ours| ours.elapsed);
        let TimeControl::RealTime { increment, .. } = record.time_control else { continue };
        studied.clock = played.clock_after;
        if let (Some(before), Some(after)) = (played.clock_before, played.clock_after) {
            // The first move of either side costs nothing and earns no increment.
            let increment = if played.ply < 2 { Duration::ZERO } else { increment };
            studied.taken = Some((before + increment).saturating_sub(after));
        }
    }
}
