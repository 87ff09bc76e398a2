use proptest::prelude::*;

use super::*;

/// Lines of every family, to be cut and mixed.
const LINES: [&str; 16] = [
    "<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 7 Ann Bob -1 5 2 39 39 300000 298000 1 P/e2-e4 (0:00.352) e4 0 1 12",
    "<g1> 14 p=0 t=blitz r=1 u=1,1 it=120,12 i=120,12 pt=0 rt=2128E,0P ts=1,0",
    "<pf> 59 w=Ann(C) t=match p=Ann (1945) Bob (1729) rated wild 6 1 Loaded from wild/4 (adjourned)",
    "<pt> 60 w=Ann t=takeback p=2",
    "<pr> 5 9",
    "{Game 14 (Ann vs. Bob) Creating rated blitz match.}",
    "{Game 14 (Ann vs. Bob) Bob ran out of time and Ann has no material to mate} 1/2-1/2 [3]",
    "Challenge: Guest ( 943) [white] Bob (1500) unrated non-standard 5 0 : 3 12 Loaded from wild/fr (adjourned).",
    "Ann(TM)(C)( 943)[14] kibitzes: hello",
    "**** Starting FICS session as Bob(C)(TM) ****",
    "Ann would like to take back 2 half move(s).",
    " 1: W Ann            N [ wr  2   2] 31-31 W18  --- Wed Dec 23, 06:58 PST 2009",
    " 9: + ---- B ---- Ann      [bnr  3   0] C20 Dis 2026-11-20 21:11 UTC",
    "  1.  e4      (0:00.000)     e5      (0:00.000)",
    "1 player, who has an adjourned game with you, is online: Ann",
    "Press return to enter the server as \"Guest\":",
];

fn line() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(LINES.to_vec());
    let cut = (known.clone(), 0..200usize, known.clone(), 0..200usize).prop_map(|(head, keep, tail, skip)| {
        head.chars().take(keep).chain(tail.chars().skip(skip)).collect::<String>()
    });
    let changed = (known, any::<prop::sample::Index>(), any::<char>()).prop_map(|(line, at, character)| {
        let at = at.index(line.len());
        format!("{}{character}{}", &line[..at], &line[at + 1..])
    });
    prop_oneof![cut, changed, ".{0,80}"]
}

#[test]
fn names_are_letters_and_digits() {
    for name in ["Ann", "GuestZHMG", "resign", "Bob2"] {
        assert!(is_name(name), "{name}");
    }
    let long = "a".repeat(LONGEST_NAME + 1);
    for text in ["", "17", "evil;resign", "an n", "-", "Ann\n", "Ann(C)", "\u{e9}ve", long.as_str()] {
        assert!(!is_name(text), "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_line_breaks_the_reading(line in line()) {
        let _ = FicsMessage::read(line);
    }
}
