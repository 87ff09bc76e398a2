//! A short soak over FICS by the program's own command.

use super::super::lichess::soak::soak;

/// Promises 1, 3, 5, 7 and 8 on FICS: four accounts of one daemon, three kills -9, connections cut and lines lost.
#[test]
fn a_short_soak_loses_nothing() {
    let seen = soak("fics", 8, "seed=1,cut=8s,delay=20ms,lost=0.5%,half-open=0.2%,duplicate=2%,reorder=0.5%");
    assert_eq!((&seen["games"], &seen["kills"], &seen["lost_by_us"]), (&8.into(), &3.into(), &0.into()), "{seen}");
}
