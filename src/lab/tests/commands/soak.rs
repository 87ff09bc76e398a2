//! Short soaks: faults, kills and load at once, judged by the server's record.

use serde_json::Value;

use super::{concilio, concilio_lab, text};

/// Plays `games` games and returns the report; fails if the daemon lost anything by its own fault.
fn soak(server: &str, games: u32, faults: &str) -> Value {
    let (games, program) = (games.to_string(), concilio());
    let program = program.to_string_lossy();
    let plan = ["--log", "error", "soak", "--json", "--binary", &program, "--server", server, "--faults", faults];
    let size = ["--games", &games, "--places", "4", "--kills", "3", "--load", "1", "--clock", "600+5"];
    let output = concilio_lab(&[&plan[..], &size].concat());
    let (said, complaints) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}\n{complaints}");
    serde_json::from_str(&said).expect("JSON")
}

/// Promises 1, 3, 5, 7 and 8 at once: twelve games, three kills -9, and every kind of fault.
#[test]
fn short_lichess_soak_loses_nothing() {
    let faults = "seed=1,cut=4s,delay=20ms,429=2%,500=1%,502=2%,lost=1%,half-open=0.5%,duplicate=2%,reorder=1%";
    let seen = soak("lichess", 12, faults);
    assert_eq!((&seen["games"], &seen["kills"], &seen["lost_by_us"]), (&12.into(), &3.into(), &0.into()), "{seen}");
}

/// Promises 1, 3, 5, 7 and 8 on FICS: four accounts of one daemon, three kills -9, connections cut and lines lost.
#[test]
fn short_fics_soak_loses_nothing() {
    let seen = soak("fics", 8, "seed=1,cut=8s,delay=20ms,lost=0.5%,half-open=0.2%,duplicate=2%,reorder=0.5%");
    assert_eq!((&seen["games"], &seen["kills"], &seen["lost_by_us"]), (&8.into(), &3.into(), &0.into()), "{seen}");
}
