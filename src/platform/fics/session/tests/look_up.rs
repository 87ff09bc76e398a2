//! Tests of looking up past games in the server's lists.

use super::*;
use domain::{GameInfo, GameTerms, KnownGame, Line, Player, TimeControl, Variant};

/// A game against Ann in which we had Black, as the journal knows it.
pub(super) fn known(shown: &str, decided: Option<&str>) -> KnownGame {
    let mut line = Line::start(Variant::Standard);
    line.play_all(shown).expect("legal");
    let time_control = TimeControl::real_time(Duration::from_secs(300), Duration::ZERO);
    let info = GameInfo {
        our_color: domain::Color::Black,
        ..GameInfo::from_start(
            "ann-old-7",
            GameTerms { variant: Variant::Standard, time_control, rated: false },
            Player::named("Ann"),
            Player::named("Somebot"),
        )
    };
    let decided = decided.map(|uci| uci.parse().expect("a move"));
    KnownGame { info, shown: line.moves().to_vec(), decided, started: None, is_adjourned: false }
}

impl Evening {
    /// Logged in, and the lists of the login have been told.
    fn settled() -> Self {
        Self::after(&["endoflists: Command not found."])
    }

    /// The same, with a game to be looked up.
    fn looks_up(game: KnownGame) -> Self {
        let mut evening = Self::settled();
        evening.look_up(game);
        evening
    }

    fn look_up(&mut self, game: KnownGame) -> Vec<String> {
        self.tickets += 1;
        self.session.look_up(game, self.tickets, self.now);
        let effects = self.effects();
        self.prompts(effects)
    }

    /// The server shows its prompt until nothing more is sent.
    fn prompts(&mut self, mut effects: Vec<String>) -> Vec<String> {
        loop {
            self.session.prompted(self.now);
            let more = self.effects();
            if more.is_empty() {
                return effects;
            }
            effects.extend(more);
        }
    }

    fn answers(&mut self, lines: &[&str]) -> Vec<String> {
        let effects = self.hear(lines);
        self.prompts(effects)
    }

    /// The server says these lines, which end the list of this number.
    fn lists(&mut self, lines: &[&str], number: u32) -> Vec<String> {
        let end = format!("endoflookup{number}: Command not found.");
        self.answers(&[lines, &[&end]].concat())
    }
}

const ROWS: [&str; 4] = [
    "37: - ---- B ---- Ann           [ bu  5   0] C20 Res Fri Nov 20, 21:00 UTC 2026",
    "38: + ---- W ---- Ann           [ bu  5   0] C20 Mat Fri Nov 20, 21:05 UTC 2026",
    "39: + ---- B ---- Ann           [ bu  5   0] C20 Mat Fri Nov 20, 21:10 UTC 2026",
    "40: + ---- B ---- Bob           [ bu  5   0] C20 Mat Fri Nov 20, 21:11 UTC 2026",
];
const MATE: [&str; 4] = [
    "Ann (UNR) vs. Somebot (1500) --- Fri Nov 20, 21:11 UTC 2026",
    "  1.  f3      (0:00)     e5      (0:00)",
    "  2.  g4      (0:01)     Qh4#    (0:01)",
    "      {White checkmated} 0-1",
];
const LONGER: [&str; 4] = [
    "Ann (UNR) vs. Somebot (1500) --- Fri Nov 20, 21:11 UTC 2026",
    "  1.  f3      (0:00)     e5      (0:00)",
    "  2.  g4      (0:01)     d5      (0:01)",
    "      {Black resigned} 1-0",
];

/// The connection was lost, or we were killed, when our mating move was on its way.
#[test]
fn game_is_found_by_opponent_and_moves() {
    let mut evening = Evening::settled();
    let asked = evening.look_up(known("f2f3 e7e5 g2g4", Some("d8h4")));
    assert_eq!(asked, ["> stored", "> date", "> history", "> endoflookup1"]);
    assert_eq!(evening.lists(&ROWS, 1), ["> smoves Somebot 39", "> endoflookup2"]);
    assert_eq!(evening.lists(&MATE, 2), ["= Ok(Found(\"f2f3 e7e5 g2g4 d8h4\", Mate, Some(Black)))"]);
}

/// An older game with the same opponent, colour and first moves, or one of another kind, is another game.
#[test]
fn older_games_are_not_confused() {
    // The server's clock is five hours behind, in a zone of its letters.
    let shown = |minutes_ago: i64, zone: &str| {
        let behind = if zone == "XST" { 300 } else { 0 };
        let at = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes_ago + behind);
        at.to_zoned(jiff::tz::TimeZone::UTC).strftime(&format!("%a %b %e, %H:%M {zone} %Y")).to_string()
    };
    for (kind, minutes_ago, is_it) in [
        (" bu  5   0", 5, true),
        ("bnu  5   0", 5, true),
        (" bu  5   0", 15, false),
        (" br  5   0", 5, false),
        (" bu  3   0", 5, false),
        (" bu  5  12", 5, false),
        (" wu  5   0", 5, false),
        (" Su  5   0", 5, false),
    ] {
        for zone in ["UTC", "XST"] {
            let mut evening = Evening::settled();
            let mut game = known("f2f3 e7e5", None);
            game.started = Some(jiff::Timestamp::now() - jiff::SignedDuration::from_mins(10));
            evening.look_up(game);
            let clock = format!("Local time     - {}", shown(0, zone));
            let row = format!("39: + ---- B ---- Ann           [{kind}] C20 Mat {}", shown(minutes_ago, zone));
            let told = evening.lists(&[&clock, &row], 1);
            let is_asked = told.contains(&"> smoves Somebot 39".to_owned());
            assert_eq!(is_asked, is_it, "[{kind}] {minutes_ago} minutes ago, {zone}: {told:?}");
            assert!(is_it || told[0].starts_with("= Err(NotFound"), "{told:?}");
        }
    }
}

/// The list cuts long names off, each server at another letter.
#[test]
fn long_name_game_is_found() {
    for shown in ["Annabellathee [", "Annabellatheel["] {
        let mut game = known("f2f3 e7e5 g2g4", Some("d8h4"));
        game.info.white = Player::named("Annabellatheelder");
        let mut evening = Evening::looks_up(game);
        let row = ROWS[2].replace("Ann           [", shown);
        assert_eq!(evening.lists(&[&row], 1), ["> smoves Somebot 39", "> endoflookup2"], "{shown}");
    }
}

#[test]
fn last_move_tells_equal_starts_apart() {
    let mut evening = Evening::looks_up(known("f2f3 e7e5", None));
    evening.lists(&ROWS, 1);
    // What comes from a list with a gap is not believed: the end is said to be a mate.
    let gap = [MATE[0], MATE[1], MATE[3]];
    assert_eq!(evening.lists(&gap, 2), ["> smoves Somebot 37", "> endoflookup3"]);
    assert_eq!(evening.lists(&LONGER, 3), ["= Ok(Found(\"f2f3 e7e5 g2g4 d7d5\", Resign, Some(White)))"]);

    let mut evening = Evening::looks_up(known("f2f3 e7e5", None));
    evening.lists(&[], 1);
    let told = evening.effects();
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn unlisted_game_is_unknown() {
    let mut evening = Evening::looks_up(known("d2d4", None));
    assert_fails(&evening.lists(&["Somebot has no history games."], 1), "NotFound");
    evening.look_up(known("d2d4", None));
    evening.lists(&ROWS[..1], 2);
    assert_fails(&evening.lists(&LONGER, 3), "NotFound");
}

/// A game that was aborted before both sides had moved stands in no list, and every other game begins like it.
#[test]
fn one_move_game_is_not_an_older_one() {
    for shown in ["", "f2f3"] {
        let mut evening = Evening::looks_up(known(shown, None));
        evening.lists(&ROWS[..1], 1);
        assert_fails(&evening.lists(&LONGER, 2), "NotFound");
    }
}

/// Our mating move and a listed win are enough.
#[test]
fn end_by_rules_needs_no_move_list() {
    let unknown = ["smoves: Command not found."];
    let mut evening = Evening::looks_up(known("f2f3 e7e5 g2g4", Some("d8h4")));
    evening.lists(&ROWS, 1);
    assert_eq!(evening.lists(&unknown, 2), ["= Ok(Found(\"f2f3 e7e5 g2g4 d8h4\", Mate, Some(Black)))"]);
    let mut evening = Evening::looks_up(known("f2f3 e7e5 g2g4", Some("d7d5")));
    evening.lists(&ROWS, 1);
    assert_fails(&evening.lists(&unknown, 2), "NotFound");
}

/// Promise 5: a game that was cut off by the end of our process goes on under its old name.
#[test]
fn stored_game_is_not_over() {
    let mut evening = Evening::begin(FicsSettings::default());
    evening.session.remember(vec![left_running("Ann", "ann-old-7")]);
    evening.look_up(known("e2e4", None));
    assert_eq!(evening.answers(&[ROW]), ["> resume Ann"]);
    assert_eq!(evening.lists(&["endoflists: Command not found.", ROW], 1), ["= Ok(Found(\"e2e4\", Adjourned, None))"]);
    let told = evening.hear(&["{Game 1 (Ann vs. Somebot) Continuing unrated blitz match.}", E4]);
    assert_eq!(told, ["started ann-old-7", "> moves"]);

    // It goes on before it could be looked up.
    let mut evening = Evening::begin(FicsSettings::default());
    evening.session.remember(vec![left_running("Ann", "ann-old-7")]);
    evening.look_up(known("e2e4", None));
    let told = evening.answers(&["{Game 1 (Ann vs. Somebot) Continuing unrated blitz match.}", E4]);
    assert!(told.contains(&"= Ok(Found(\"e2e4\", Started, None))".to_owned()), "{told:?}");
    assert_eq!(evening.look_up(known("e2e4", None)), ["= Ok(Found(\"e2e4\", Started, None))"]);
}

/// Promise 1: nothing is asked that could hold up a move.
#[test]
fn lists_do_not_disturb_a_game() {
    let mut evening = Evening::settled();
    evening.hear(&[&START.replace("Ann", "Bob"), &E4.replace("Ann", "Bob")]);
    assert_eq!(evening.look_up(known("d2d4", None)), [""; 0], "it is our move");
    assert_eq!(evening.play("e7e5"), ["> e7e5"]);
    let told = evening.answers(&[&E5.replace("Ann", "Bob")]);
    assert!(
        told.ends_with(&["> stored".into(), "> date".into(), "> history".into(), "> endoflookup1".into()]),
        "{told:?}"
    );
    evening.lists(&ROWS[..1], 1);
    // A board is missed; the moves of the game on the board are wanted, and those of the other game come first.
    const NC6: &str = "<12> r-bqkbnr pppp-ppp --n----- ----p--- ----P--- -----N-- PPPP-PPP RNBQKB-R W -1 1 1 1 1 2 1 Bob Somebot -1 5 0 \
                       39 39 300 300 3 N/b8-c6 (0:01) Nc6 1 1";
    assert_eq!(evening.answers(&[NC6]), ["Fault", "> moves"]);
    assert_eq!(evening.lists(&LONGER, 2), [""; 0]);
    let told = evening.answers(&[
        "Bob (1500) vs. Somebot (1500) --- Fri Nov 20, 21:11 UTC 2026",
        "  1.  e4      (0:00)     e5      (0:00)",
        "  2.  Nf3     (0:01)     Nc6     (0:01)",
        "      {Still in progress} *",
    ]);
    assert_eq!(told[0], "game ann-run-1: e2e4 e7e5 g1f3 b8c6".replace("ann", "bob"));
    assert_eq!(told[1..], ["> stored", "> date", "> history", "> endoflookup3"], "the look-up begins anew");
}

/// Promise 1: nor with so little time that the list could cost the next move.
#[test]
fn lists_wait_on_a_short_clock() {
    let mut evening = Evening::settled();
    evening.hear(&[&START.replace("Ann", "Bob"), &E4.replace("Ann", "Bob")]);
    evening.look_up(known("d2d4", None));
    assert_eq!(evening.play("e7e5"), ["> e7e5"]);
    let told = evening.answers(&[&E5.replace("Ann", "Bob").replace("300 300 2", "300 30 2")]);
    assert!(!told.iter().any(|told| told.contains("stored")), "{told:?}");
}

#[test]
fn look_up_survives_a_lost_connection() {
    let mut evening = Evening::looks_up(known("d2d4", None));
    let sent = evening.reconnects();
    let sent = evening.prompts(sent);
    assert!(sent.contains(&"> endoflookup2".to_owned()), "{sent:?}");
    let told = evening.pass(Duration::from_secs(120));
    assert!(told.iter().any(|told| told.starts_with("= Err(Unavailable")), "{told:?}");
}
