//! A short soak by the program's own command: faults, kills and load at once, judged by the server's record.

use std::process::Command;

use serde_json::Value;

/// Plays so many games by `concilio lab soak` and gives what it saw; it fails if anything was lost by the daemon's fault.
pub(crate) fn soak(server: &str, games: u32, faults: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_concilio"))
        .args(["--log", "error", "lab", "soak", "--json", "--server", server, "--faults", faults])
        .args(["--games", &games.to_string(), "--places", "4", "--kills", "3", "--load", "1", "--clock", "600+5"])
        .output()
        .expect("the program runs");
    let (said, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complaints}");
    serde_json::from_str(&said).expect("JSON")
}

/// Promises 1, 3, 5, 7 and 8 at once: twelve games, three kills -9, and every kind of fault.
#[test]
fn a_short_soak_loses_nothing() {
    let faults = "seed=1,cut=4s,delay=20ms,429=2%,500=1%,502=2%,lost=1%,half-open=0.5%,duplicate=2%,reorder=1%";
    let seen = soak("lichess", 12, faults);
    assert_eq!((&seen["games"], &seen["kills"], &seen["lost_by_us"]), (&12.into(), &3.into(), &0.into()), "{seen}");
}
