//! Evenings of play, with time as the tests give it.

mod hostile;
mod look_up;
mod small_server;

use std::io::Seek as _;

use proptest::prelude::*;

use super::*;
use domain::{Action, ServerEvent};

struct Evening {
    session: FicsSession,
    now: Instant,
    tickets: u64,
}

impl Evening {
    fn new(settings: FicsSettings) -> Self {
        Self { session: FicsSession::new(settings, "run".to_owned()), now: Instant::now(), tickets: 0 }
    }

    /// Logged in, and the questions for lists are answered.
    fn begin(settings: FicsSettings) -> Self {
        let mut evening = Self::new(settings);
        evening.log_in();
        evening
    }

    /// Logged in with the usual settings; then the server says these lines.
    fn after(lines: &[&str]) -> Self {
        let mut evening = Self::begin(FicsSettings::default());
        evening.hear(lines);
        evening
    }

    fn reconnects(&mut self) -> Vec<String> {
        self.session.disconnected("a cable".to_owned());
        self.log_in()
    }

    fn log_in(&mut self) -> Vec<String> {
        let us = Speaker { name: "Somebot".to_owned(), titles: vec!["C".to_owned()], game: None };
        self.session.connected(us, self.now);
        // It answers the questions for lists, one after the other.
        for _ in 0..3 {
            self.session.prompted(self.now);
        }
        self.effects()
    }

    /// The server says these lines; gives what was told, sent and answered, in words.
    fn hear(&mut self, lines: &[&str]) -> Vec<String> {
        for line in lines {
            self.session.on(FicsMessage::read((*line).to_owned()), self.now);
        }
        let effects = self.effects();
        // Whatever was said, the prompt follows.
        self.session.prompted(self.now);
        effects.into_iter().chain(self.effects()).collect()
    }

    fn play(&mut self, uci: &str) -> Vec<String> {
        let game = self.session.current_id().cloned().expect("a game");
        self.act(Action::Move { game, uci: uci.parse().expect("a move"), offer_draw: false })
    }

    fn act(&mut self, action: Action) -> Vec<String> {
        self.tickets += 1;
        self.session.act(action, self.tickets, self.now);
        self.effects()
    }

    /// Time passes, with every timer on its way. What asks whether the game still runs is left out.
    fn pass(&mut self, duration: Duration) -> Vec<String> {
        let mut told = self.pass_all(duration);
        told.retain(|told| told != "> refresh");
        told
    }

    fn pass_all(&mut self, duration: Duration) -> Vec<String> {
        let end = self.now + duration;
        while let Some(wake) = self.session.wake_at().filter(|wake| *wake <= end) {
            self.now = self.now.max(wake);
            self.session.tick(self.now);
            assert!(self.session.wake_at().is_none_or(|next| next > self.now), "a timer that never rests");
        }
        self.now = end;
        self.effects()
    }

    /// Passes `times` times five seconds, each with the prompt of a server that is alive.
    fn pass_with_prompts(&mut self, times: usize) -> Vec<String> {
        let mut told = Vec::new();
        for _ in 0..times {
            told.extend(self.pass(Duration::from_secs(5)));
            told.extend(self.hear(&[]));
        }
        told
    }

    fn effects(&mut self) -> Vec<String> {
        let words = |effect| match effect {
            SessionEffect::Send(command) => format!("> {command}"),
            SessionEffect::Nudge => "> nudge".to_owned(),
            SessionEffect::Answer(_, answer) => format!("= {answer:?}"),
            SessionEffect::Event(ServerEvent::Challenge(challenge)) => format!("challenge {}", challenge.id),
            SessionEffect::Event(ServerEvent::ChallengeCancelled(id)) => format!("cancelled {id}"),
            SessionEffect::Event(ServerEvent::GameStarted(id)) => format!("started {id}"),
            SessionEffect::Event(ServerEvent::Game(info, state)) => format!("game {}: {}", info.id, state.moves),
            SessionEffect::Event(ServerEvent::GameState(_, state)) => {
                format!("state {}: {}", state.status.name(), state.moves)
            }
            SessionEffect::Event(ServerEvent::GameFinished { status, rating_change, .. }) => {
                let change = rating_change.map(|change| format!(" {change:+}")).unwrap_or_default();
                format!("finished {}{change}", status.map_or("?".to_owned(), |status| status.name().to_owned()))
            }
            SessionEffect::Event(ServerEvent::Learned(words)) => format!("learned {words}"),
            SessionEffect::Event(other) => {
                format!("{other:?}").split([' ', '{', '(']).next().unwrap_or_default().to_owned()
            }
        };
        self.session.effects().into_iter().map(words).collect()
    }
}

/// An unrated game of five minutes against this player that an earlier process left running.
fn left_running(opponent: &str, id: &str) -> domain::KnownGame {
    let mut game = look_up::known("", None);
    game.info.white = domain::Player::named(opponent);
    game.info.id = id.into();
    game
}

/// Asserts that a request has failed with an error of this `kind`, and that nothing else happened.
#[track_caller]
fn assert_fails(told: &[String], kind: &str) {
    assert!(matches!(told, [only] if only.starts_with(&format!("= Err({kind}"))), "{told:?}");
}

const ENDS: &str = "You can \"accept\" or \"decline\", or propose different parameters.";
const START: &str = "<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 1 Ann Somebot -1 5 0 39 39 \
                     300 300 1 none (0:00) none 1 0";
const E4: &str = "<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 1 Ann Somebot 1 5 0 39 39 \
                  300 300 1 P/e2-e4 (0:00) e4 1 0";
const E5: &str = "<12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR W 4 1 1 1 1 0 1 Ann Somebot -1 5 0 39 39 \
                  300 300 2 P/e7-e5 (0:00) e5 1 1";
const LIST_TO_E5: [&str; 3] = [
    "Ann (1500) vs. Somebot (1500) --- Fri Nov 20, 21:11 UTC 2026",
    "  1.  e4      (0:00)     e5      (0:00)",
    "      {Still in progress} *",
];

#[test]
fn old_servers_sentences_are_read() {
    let mut evening = Evening::new(FicsSettings::default());
    assert_eq!(evening.log_in(), ["Connected", "> stored", "> history", "> endoflists"]);
    let told = evening.hear(&["Challenge: Ann (----) Somebot (----) unrated blitz 5 0.", ENDS]);
    assert_eq!(told, ["challenge ann-run-1"]);
    assert_eq!(evening.act(Action::Accept("ann-run-1".into())), ["> accept ann"]);
    let told = evening.hear(&[
        "You accept the challenge of Ann.",
        "Ann, who was challenging you, has joined a match with Somebot.",
        "Creating: Ann (0) Somebot (0) unrated blitz 5 0",
        "{Game 1 (Ann vs. Somebot) Creating unrated blitz match.}",
        START,
    ]);
    assert_eq!(told, ["started ann-run-1", "game ann-run-1: ", "= Ok(Done(Taken))"]);
    assert_eq!(evening.hear(&[E4]), ["state started: e2e4"]);
    assert_eq!(evening.play("e7e5"), ["> e7e5"]);
    assert_eq!(evening.hear(&[E5]), ["state started: e2e4 e7e5", "= Ok(Done(Taken))"]);
    // Here there are no numbers for offers; the opponent's name will do.
    assert_eq!(evening.hear(&["Ann offers you a draw."]), ["state started: e2e4 e7e5"]);
    let declined = ["state started: e2e4 e7e5", "> decline Ann", "= Ok(Done(Taken))"];
    assert_eq!(evening.act(Action::Draw("ann-run-1".into(), false)), declined);
    let asked = evening.hear(&["Ann offers you a draw."]);
    assert_eq!(asked, ["state started: e2e4 e7e5"], "it is told once more, to be answered once more");
    for plies in ["1", "2"] {
        let asked = evening.hear(&[&format!("Ann would like to take back {plies} half move(s).")]);
        assert_eq!(asked, ["state started: e2e4 e7e5"], "{plies}");
        assert_eq!(evening.act(Action::Takeback("ann-run-1".into(), false)), declined, "{plies}");
    }
    assert_eq!(evening.hear(&["Ann would like to abort the game; type \"abort\" to accept."]), ["> decline Ann"]);
    assert_eq!(evening.hear(&["Bob would like to abort the game; type \"abort\" to accept."]), [""; 0]);
    let told = evening.hear(&["{Game 1 (Ann vs. Somebot) Somebot resigns} 1-0", "No ratings adjustment done."]);
    assert_eq!(told, ["finished resign", "state resign: e2e4 e7e5", "> history"]);
}

#[test]
fn rated_end_reports_rating_change() {
    const GAME: [&str; 4] = ["{Game 1 (Ann vs. Somebot) Creating rated blitz match.}", START, E4, E5];
    const END: &str = "{Game 1 (Ann vs. Somebot) Ann resigns} 0-1";
    const UP: &str = "blitz rating adjustment: 1500 --> 1508";
    let end = |change: &str| [format!("finished resign{change}"), "state resign: e2e4 e7e5".to_owned()];

    let after_game = || Evening::after(&GAME);
    let mut evening = after_game();
    assert_eq!(evening.hear(&[END]), ["> history"], "the line about the ratings is on its way");
    assert_eq!(evening.hear(&[UP]), end(" +8"));
    assert_eq!(evening.hear(&["blitz rating adjustment: 1508 --> 1520"]), [""; 0], "of no game of ours");

    for (lines, change) in [([END, "No ratings adjustment done."], ""), ([UP, END], " +8")] {
        let mut told = after_game().hear(&lines);
        told.retain(|words| words != "> history");
        assert_eq!(told, end(change), "{lines:?}");
    }

    // Where the line does not come, the end is told all the same: after a moment, or with what comes next.
    let what_comes_next: [fn(&mut Evening) -> Vec<String>; 4] = [
        |evening| evening.pass(Duration::from_secs(1)),
        |evening| {
            evening.session.resync(&"ann-run-1".into(), evening.now);
            evening.effects()
        },
        |evening| {
            evening.session.disconnected("the line is dead".to_owned());
            evening.effects()[..2].to_vec()
        },
        |evening| evening.hear(&GAME[..2])[..2].to_vec(),
    ];
    for next in what_comes_next {
        let mut evening = after_game();
        evening.hear(&[END]);
        assert_eq!(next(&mut evening), end(""));
    }
}

#[test]
fn lagging_opponent_is_not_flagged() {
    let mut evening = Evening::after(&["Creating: Ann (1500) Somebot (1500) rated blitz 5 0", START, E4, E5]);
    assert_eq!(evening.pass(Duration::from_secs(300)), [""; 0]);
    assert_eq!(evening.pass(Duration::from_secs(1)), ["> flag"]);
    assert_eq!(evening.hear(&["Opponent has timeseal; checking if (s)he's lagging."]), [""; 0]);
    assert_eq!(evening.pass(Duration::from_secs(40)), ["> flag"; 2]);
    assert_eq!(evening.pass(Duration::from_secs(30)), ["> adjourn"]);
    assert_eq!(evening.pass(Duration::from_secs(79)), [""; 0], "what is not granted is asked for with patience");
    assert_eq!(evening.pass(Duration::from_secs(1)), ["> flag"], "one who lags for ever loses after all");
    assert_eq!(evening.pass(Duration::from_secs(160)), ["> adjourn"]);
    assert_eq!(evening.hear(&["Both players must be registered to adjorn a game.  Use \"abort\"."]), ["> abort"]);
    assert_eq!(evening.hear(&["All players must be registered to adjourn a game.  Use \"abort\"."]), [""; 0]);
    assert_eq!(evening.pass(Duration::from_secs(960)), ["> flag", "> abort"]);
}

#[test]
fn lagging_guest_gets_an_abort() {
    let mut evening = Evening::after(&["Challenge: Ann (++++) Somebot (1500) unrated blitz 5 0.", ENDS]);
    evening.act(Action::Accept("ann-run-1".into()));
    evening.hear(&["Creating: Ann (0) Somebot (1500) unrated blitz 5 0", START, E4, E5]);
    assert_eq!(evening.pass(Duration::from_secs(371)), ["> flag", "> flag", "> flag", "> abort"]);
}

#[test]
fn clockless_game_has_no_flag() {
    // Some servers tell an increment and run no clock; others say it when we flag.
    let untimed = |board: &str| board.replace(" 5 0 39 39 300 300 ", " 0 1 39 39 0 0 ");
    let mut evening = Evening::after(&[&untimed(START), &untimed(E4), &untimed(E5)]);
    assert_eq!(evening.pass(Duration::from_secs(3600)), [""; 0]);

    let mut evening = Evening::after(&[START, E4, E5]);
    assert_eq!(evening.pass(Duration::from_secs(301)), ["> flag"]);
    evening.hear(&["You can't flag an untimed game."]);
    assert_eq!(evening.pass(Duration::from_secs(3600)), [""; 0]);
}

/// A game with Ann was adjourned; she is here.
fn with_a_game_that_waits() -> Evening {
    Evening::after(&[START, E4, "{Game 1 (Ann vs. Somebot) Ann lost connection; game adjourned} *"])
}

const HERE: &str = "Notification: Ann, who has an adjourned game with you, has arrived.";

/// Promise 8: no game that the policy has not seen.
#[test]
fn only_marked_matches_resume_a_game() {
    let mut evening = with_a_game_that_waits();
    let told = evening.hear(&["Challenge: Ann (1500) Somebot (1500) rated lightning 1 0.", ENDS]);
    assert_eq!(told, ["challenge ann-run-2"], "it is for the policy to decide");
    let declined = evening.act(Action::Decline("ann-run-2".into(), domain::DeclineReason::Generic));
    assert_eq!(declined[0], "> decline ann");
    let told = evening.hear(&["Challenge: Ann (1500) Somebot (1500) unrated blitz 5 0 (adjourned).", ENDS]);
    assert_eq!(told, ["> accept ann"]);
}

#[test]
fn resumption_on_new_terms_is_judged() {
    for terms in
        ["rated blitz 5 0", "unrated blitz 3 0", "unrated suicide 5 0", "unrated blitz suicide 5 0", "unrated wild 5 0"]
    {
        let mut evening = with_a_game_that_waits();
        let told = evening.hear(&[&format!("Challenge: Ann (1500) Somebot (1500) {terms} (adjourned)."), ENDS]);
        assert_eq!(told, ["challenge ann-run-1.2"], "{terms}");
    }
    for terms in ["rated blitz 5 0 (adjourned)", "unrated blitz 5 0 (adjourned)"] {
        let mut evening = Evening::begin(FicsSettings::default());
        let told = evening.hear(&[&format!("Challenge: Ann (1500) Somebot (1500) {terms}."), ENDS]);
        assert_eq!(told, ["challenge ann-run-1"], "nothing waits: {terms}");
    }
}

/// A game that was cut off before both had moved is given up by the server; the next one against the same opponent, whose first board
/// is lost, is another.
#[test]
fn new_game_is_not_the_interrupted_one() {
    let with_white = START.replace("1 Ann Somebot -1", "1 Somebot Ann 1");
    let mut evening = Evening::after(&[&with_white]);
    evening.reconnects();
    evening.hear(&["Challenge: Ann (1500) [white] Somebot (1500) unrated blitz 5 0.", ENDS]);
    evening.act(Action::Accept("ann-run-2".into()));
    let begins = "{Game 1 (Ann vs. Somebot) Creating unrated blitz match.}";
    let told = evening.hear(&[begins, E4]);
    assert_eq!(told[..3], ["GameGone", "started ann-run-2", "> moves"], "{told:?}");
}

#[test]
fn interrupted_games_are_all_settled() {
    for next in ["Bob", "Ann"] {
        let mut evening = Evening::after(&[START, E4]);
        evening.reconnects();
        let begins = format!("{{Game 1 ({next} vs. Somebot) Creating unrated blitz match.}}");
        let told = evening.hear(&[&begins, &START.replace("Ann", next)]);
        assert_eq!(told[..2], ["GameGone".to_owned(), format!("started {}-run-2", next.to_lowercase())], "{told:?}");
    }
}

#[test]
fn games_are_sought_only_if_wanted() {
    const SEEK: &str = "> seek 5 0 rated m";
    let seeks = |told: &[String]| told.iter().any(|words| words == SEEK);
    let mut evening = Evening::begin(FicsSettings { seeks: vec!["5 0 rated".to_owned()], ..FicsSettings::default() });
    assert!(seeks(&evening.pass(Duration::from_secs(10))));
    evening.hear(&[]);
    evening.session.seek_games(false, evening.now);
    assert_eq!(evening.effects(), ["> unseek"]);
    evening.hear(&[]);
    evening.session.seek_games(false, evening.now);
    assert_eq!(evening.effects(), [""; 0], "it knows that");
    assert!(!seeks(&evening.pass(Duration::from_secs(36_000))));

    assert!(!seeks(&evening.reconnects()));
    assert!(!seeks(&evening.pass(Duration::from_secs(36_000))), "nor over the next connection");
    evening.session.seek_games(true, evening.now);
    assert!(seeks(&evening.pass(Duration::from_secs(10))));
}

#[test]
fn unsent_seek_is_withdrawn() {
    let mut evening = Evening::begin(FicsSettings { seeks: vec!["5 0 rated".to_owned()], ..FicsSettings::default() });
    evening.session.send("date");
    evening.session.send_what_waits(evening.now);
    evening.session.seek_at = Some(evening.now);
    evening.session.tick(evening.now);
    evening.session.seek_games(false, evening.now);
    let mut told = evening.effects();
    told.extend(evening.hear(&[]));
    told.extend(evening.hear(&[]));
    told.retain(|words| words.contains("seek"));
    assert_eq!(told, ["> seek 5 0 rated m", "> unseek"]);
}

/// While the bot is about to stop, or rest, the game that ran when the connection was lost goes on, and no other one that waits.
#[test]
fn interrupted_game_resumes_while_closed() {
    let mut evening = Evening::after(&[START, E4]);
    evening.session.open_to_new_games(false, evening.now);
    evening.reconnects();
    assert_eq!(evening.hear(&TWO_ROWS), ["> resume Ann"]);
    let told = evening.hear(&["Challenge: Ann (1500) Somebot (1500) unrated blitz 5 0 (adjourned).", ENDS]);
    assert_eq!(told, ["> accept ann"]);
}

#[test]
fn running_game_resumes_while_closed() {
    let mut evening = Evening::begin(FicsSettings::default());
    evening.session.disconnected("a restart".to_owned());
    evening.session.remember(vec![left_running("Ann", "ann-run-1")]);
    evening.session.open_to_new_games(false, evening.now);
    evening.log_in();
    assert_eq!(evening.hear(&TWO_ROWS), ["> resume Ann"]);
    let told = evening.hear(&["Challenge: Ann (1500) Somebot (1500) unrated blitz 5 0 (adjourned).", ENDS]);
    assert_eq!(told, ["> accept ann"]);
}

/// The list of games that wait cuts long names off.
#[test]
fn long_name_resumes_its_game() {
    let with = |text: &str| text.replace("Ann", "Annabellatheelder");
    let row = " 1: B Annabellatheeld Y [  u  5   0] 39-39 W2   B20 2026-11-20 21:10 UTC";
    let continues = with("{Game 1 (Ann vs. Somebot) Continuing unrated blitz match.}");
    let mut evening = Evening::after(&[&with(START), &with(E4)]);
    evening.reconnects();
    assert_eq!(evening.hear(&[row]), ["> resume Annabellatheelder"]);
    assert_eq!(evening.hear(&["endoflists: Command not found."]), [""; 0], "it waits");
    let told = evening.hear(&[&continues, &with(E4)]);
    assert_eq!(told, ["started annabellatheelder-run-1", "game annabellatheelder-run-1: e2e4"]);

    let mut evening = Evening::begin(FicsSettings::default());
    evening.session.remember(vec![left_running("Annabellatheelder", "ann-old-7")]);
    assert_eq!(evening.hear(&[row]), ["> resume Annabellatheelder"]);
    assert_eq!(evening.hear(&[&continues, &with(E4)])[..1], ["started ann-old-7"]);
}

#[test]
fn missing_games_refuse_no_challenge() {
    for line in ["Player Somebot has no games stored.", "Only registered players may have stored games."] {
        let mut evening = Evening::after(&["Challenge: Ann (1500) Somebot (1500) unrated blitz 5 0.", ENDS]);
        assert_eq!(evening.act(Action::Accept("ann-run-1".into())), ["> accept ann"]);
        assert_eq!(evening.hear(&[line]), [""; 0], "{line}");
        assert_eq!(evening.hear(&[START]).last().map(String::as_str), Some("= Ok(Done(Taken))"), "{line}");
    }
}

/// Promise 8: where challenges have no numbers, another one may take the place of the one that is accepted by name.
#[test]
fn unaccepted_game_is_aborted() {
    for (creating, start, is_aborted) in [
        ("Creating unrated blitz", START.to_owned(), false),
        ("Creating rated blitz", START.to_owned(), true),
        ("Creating unrated wild/fr", START.to_owned(), true),
        ("Creating unrated blitz", START.replace(" 5 0 ", " 1 0 "), true),
    ] {
        let mut evening = Evening::after(&["Challenge: Ann (1500) Somebot (1500) unrated blitz 5 0.", ENDS]);
        evening.act(Action::Accept("ann-run-1".into()));
        let told = evening.hear(&[&format!("{{Game 1 (Ann vs. Somebot) {creating} match.}}"), &start]);
        assert_eq!(told.contains(&"> abort".to_owned()), is_aborted, "{creating}: {told:?}");
    }
}

#[test]
fn vague_game_is_the_accepted_one() {
    for (loaded, variant) in [("wild/fr", domain::Variant::Chess960), ("wild/4", domain::Variant::FromPosition)] {
        let mut evening = Evening::begin(FicsSettings::default());
        let challenge = format!("Challenge: Ann (1500) Somebot (1500) unrated wild 5 0 Loaded from {loaded}.");
        evening.hear(&[&challenge, ENDS]);
        evening.act(Action::Accept("ann-run-1".into()));
        let start = START.replace("rnbqkbnr", "qrnnkbbr").replace("RNBQKBNR W -1 1 1 1 1", "QRNNKBBR W -1 0 0 0 0");
        let told = evening.hear(&["{Game 1 (Ann vs. Somebot) Creating unrated wild match.}", &start]);
        assert!(!told.contains(&"> abort".to_owned()), "{told:?}");
        let CurrentGame::Running(game) = &evening.session.current else { panic!("a game: {told:?}") };
        assert_eq!(game.info.terms.variant, variant);
    }
}

/// The server's list names a game with Bob as well.
const TWO_ROWS: [&str; 2] = [
    " 1: B Bob            Y [  u  5   0] 39-39 W2   B20 2026-11-20 21:10 UTC",
    " 2: B Ann            Y [  u  5   0] 39-39 W2   B20 2026-11-20 21:10 UTC",
];

const ROW: &str = " 1: B Ann            Y [  u  5   0] 39-39 W2   B20 2026-11-20 21:10 UTC";

/// Ann was asked by a match to go on.
fn with_a_match_on_its_way() -> Evening {
    let mut evening = with_a_game_that_waits();
    assert_eq!(evening.hear(&[HERE]), ["> resume Ann"]);
    assert_eq!(evening.hear(&["resume: Command not found."]), ["> stored", "> endoflists"]);
    assert_eq!(evening.hear(&[ROW]), ["> match Ann 5 0 unrated"]);
    evening
}

/// Promise 8: no unwanted challenge.
#[test]
fn match_without_resumption_is_withdrawn() {
    const LEARNED: &str = "learned freechess.org 5000 match is new";
    let asked = |answer: &[&str]| {
        let mut evening = with_a_match_on_its_way();
        let told = evening.hear(answer);
        (evening, told)
    };
    let (mut evening, told) = asked(&["Issuing: Somebot (1500) Ann (1500) unrated blitz 5 0."]);
    assert_eq!(told, ["> withdraw Ann", "Fault", LEARNED]);
    assert_eq!(evening.pass(Duration::from_secs(600)), [""; 0], "it is not asked for again");
    let (_, told) = asked(&["<pt> 7 w=Ann t=match p=Somebot (1500) Ann (1500) unrated blitz 5 0"]);
    assert_eq!(told, ["> withdraw 7", "Fault", LEARNED]);
    let (mut evening, told) = asked(&[]);
    assert!(told.is_empty());
    assert_eq!(evening.pass(Duration::from_secs(600)), ["> withdraw Ann"], "the server marked nothing");
    let (mut evening, told) = asked(&["Issuing: Somebot (1500) Ann (1500) unrated blitz 5 0 (adjourned)."]);
    assert_eq!(told, ["learned freechess.org 5000 match resumes"]);
    assert_eq!(evening.pass(Duration::from_secs(30)), [""; 0]);
    let (_, told) = asked(&["You have an adjourned game with Ann.  You cannot start a new game until you finish it."]);
    assert_eq!(told, ["> match Ann"], "it waits, and takes no other words");
}

/// The opponent gives the stored game up, unseen; no match is sent for it, and none that became a game is played.
#[test]
fn match_follows_only_a_fresh_list() {
    let mut evening = with_a_match_on_its_way();
    evening.hear(&["Issuing: Somebot (1500) Ann (1500) unrated blitz 5 0 (adjourned)."]);
    assert_eq!(evening.pass(Duration::from_secs(61)), ["> stored"], "a minute later it is asked anew");
    evening.hear(&["Somebot has no adjourned games.", "endoflists: Command not found."]);
    assert_eq!(evening.pass(Duration::from_secs(600)), [""; 0]);

    // She gives it up between the list and the match, and accepts at once, before or after the match is withdrawn.
    let issued = "Issuing: Somebot (1500) Ann (1500) unrated blitz 5 0.";
    let begins = "{Game 2 (Ann vs. Somebot) Creating unrated blitz match.}";
    for lines in [&[begins][..], &[issued, begins]] {
        let mut evening = with_a_match_on_its_way();
        evening.hear(lines);
        let told = evening.hear(&[&START.replace(" 1 Ann", " 2 Ann")]);
        assert!(told.contains(&"> abort".to_owned()) && told.contains(&"started ann-run-2".to_owned()), "{told:?}");
        assert!(!told.iter().any(|told| told.starts_with("game ")), "it is not played: {told:?}");
        evening.hear(&[&E4.replace(" 1 Ann", " 2 Ann")]);
        assert_eq!(evening.pass(Duration::from_secs(15)), ["GameUnplayable"], "it is left");
    }
}

#[test]
fn unasked_challenge_is_withdrawn() {
    let mut evening = with_a_match_on_its_way();
    let told = evening.hear(&["Issuing: Somebot (1500) Annabella (1500) unrated blitz 5 0."]);
    assert_eq!(told, ["> withdraw Annabella"]);
}

/// `resume: Command has failed.` says nothing of `match`. If no stored game can go on, no player is
/// challenged for it twice, on any connection or in a later process; the owner is told once.
#[test]
fn impossible_resumption_is_not_tried() {
    let cut_off = |evening: &mut Evening| {
        evening.hear(&[START, E4]);
        evening.reconnects();
        evening.hear(&[ROW])
    };
    const IS_NEW: &str = "learned freechess.org 5000 match is new";
    for failed in ["resume: Command has failed.", "resume: Command not found."] {
        let mut evening = Evening::begin(FicsSettings::default());
        assert_eq!(cut_off(&mut evening), ["> resume Ann"]);
        assert_eq!(evening.hear(&[failed]), ["> match Ann 5 0 unrated"]);
        let told = evening.hear(&["Issuing: Somebot (1500) Ann (1500) unrated blitz 5 0."]);
        assert_eq!(told, ["> withdraw Ann", "Fault", "GameGone", IS_NEW]);
        evening.hear(&["endoflists: Command has failed."]);
        assert_eq!(evening.pass(Duration::from_secs(600)), [""; 0]);
        cut_off(&mut evening);
        let told = evening.hear(&[failed]);
        assert!(!told.iter().any(|told| told.contains("match")), "{told:?}");
        // Until the server shows that it knows of such a game.
        let told = evening.hear(&["Challenge: Ann (1500) Somebot (1500) unrated blitz 5 0 (adjourned).", ENDS]);
        assert_eq!(told, ["> accept ann", "learned freechess.org 5000 match resumes"]);
    }
    // A later process knows it.
    let mut evening = Evening::begin(FicsSettings::default());
    evening.session.recall("freechess.org 5000 match is new");
    assert_eq!(cut_off(&mut evening), ["> resume Ann"]);
    assert_eq!(evening.hear(&["resume: Command has failed."]), ["Fault", "finished adjourned"]);
    // Of another server it knows nothing.
    let mut evening = Evening::begin(FicsSettings::default());
    evening.session.recall("chess.example 5000 match is new");
    assert_eq!(cut_off(&mut evening), ["> resume Ann"]);
    assert_eq!(evening.hear(&["resume: Command has failed."]), ["> match Ann 5 0 unrated"]);
}

#[test]
fn game_of_an_earlier_process_resumes() {
    let adjourned = domain::KnownGame { is_adjourned: true, ..left_running("Ann", "ann-old-7") };
    let mut evening = Evening::begin(FicsSettings::default());
    evening.session.remember(vec![adjourned]);
    assert_eq!(evening.hear(&[ROW]), ["> resume Ann"]);
    let told = evening.hear(&["{Game 1 (Ann vs. Somebot) Continuing unrated blitz match.}", E4]);
    assert_eq!(told, ["started ann-old-7.2", "> moves"]);
}

/// An unknown stored game is for the policy to decide, once for each time its opponent comes.
#[test]
fn unknown_stored_game_is_a_challenge() {
    let mut evening = Evening::begin(FicsSettings::default());
    let row = ROW.replace("[  u", "[ bu");
    assert_eq!(evening.hear(&[&row]), ["challenge ann-run-1"]);
    assert_eq!(evening.hear(&[&row]), [""; 0]);
    let declined = evening.act(Action::Decline("ann-run-1".into(), domain::DeclineReason::Later));
    assert_eq!(declined, ["= Ok(Done(Taken))"], "she has asked for nothing");
    assert_eq!(evening.pass(Duration::from_secs(600)), [""; 0]);
    assert_eq!(evening.hear(&[HERE]), ["> stored", "> endoflists"]);
    assert_eq!(evening.hear(&[&row]), ["challenge ann-run-1"]);
    assert_eq!(evening.act(Action::Accept("ann-run-1".into())), ["> resume Ann", "= Ok(Done(Taken))"]);
    let told = evening.hear(&["{Game 1 (Ann vs. Somebot) Continuing unrated blitz match.}", E4]);
    assert_eq!(told, ["started ann-run-1", "> moves"]);
}

/// No game is played by other rules than its own. One that goes on may be put off again, one that begins may be ended; after
/// that it is told to be left.
#[test]
fn unknown_rules_are_not_played() {
    for (verb, request) in [("Continuing", "> adjourn"), ("Creating", "> abort")] {
        for kind in ["blitz suicide", "suicide", "wild/1", "bughouse", "wild", "losers", "draw"] {
            let mut evening = Evening::begin(FicsSettings::default());
            let begins = format!("{{Game 1 (Ann vs. Somebot) {verb} unrated {kind} match.}}");
            assert_eq!(evening.hear(&[&begins, START, E4]), ["started ann-run-1", request], "{kind}");
            assert_eq!(evening.pass(Duration::from_secs(20)), ["GameUnplayable"], "{kind}");
        }
    }
    // The game that we know went on by other rules.
    let mut evening = with_a_game_that_waits();
    let told = evening.hear(&["{Game 1 (Ann vs. Somebot) Continuing unrated suicide match.}", E4]);
    assert_eq!(told, ["started ann-run-1.2", "> adjourn"]);
}

/// A player may be called like a word of the server's sentences, and the line that ends a game may be lost.
#[test]
fn silent_game_is_asked_for() {
    for name in ["Creating", "Continuing"] {
        let with = |text: &str| text.replace("Ann", name);
        let mut evening = Evening::after(&[&with(START), &with(E4)]);
        let told = evening.hear(&[&with("{Game 1 (Ann vs. Somebot) Ann resigns} 0-1")]);
        assert_eq!(told[..1], ["finished resign"]);
    }
    let to_e5 = || Evening::after(&[START, E4, E5]);
    let mut evening = to_e5();
    assert_eq!(evening.pass_all(Duration::from_secs(60)), ["> refresh"]);
    assert_eq!(evening.hear(&[E5]), ["state started: e2e4 e7e5"], "it runs");
    assert_eq!(evening.pass_all(Duration::from_secs(60)), ["> refresh"]);
    assert_eq!(evening.hear(&["You are neither playing, observing nor examining a game."]), ["GameGone"]);
    assert!(evening.session.current_id().is_none());
    // The answer to something else is not believed at once, but leads to the question.
    let mut evening = to_e5();
    assert_eq!(evening.hear(&["You are not playing a game."]), ["> refresh"]);
    assert_eq!(evening.hear(&["You are not playing a game."]), ["GameGone"]);
    // Where `refresh` is not known, `moves` is asked.
    let mut evening = to_e5();
    evening.pass_all(Duration::from_secs(60));
    assert_eq!(evening.hear(&["refresh: Command not found."]), ["> moves"]);
    evening.hear(&LIST_TO_E5);
    assert!(evening.hear(&["You are not playing a game."]).contains(&"> moves".to_owned()));
    assert_eq!(evening.hear(&["You are not playing or examining a game."]), ["GameGone"]);
}

/// A server may show others' games so as if they were ours.
#[test]
fn other_players_boards_are_ignored() {
    let mut evening = Evening::begin(FicsSettings::default());
    assert_eq!(evening.hear(&[&E4.replace("Somebot", "Bob")]), [""; 0]);
    assert_eq!(evening.hear(&[&E4.replace("Ann", "evil;resign")]), [""; 0], "that is no name");
}

/// Without numbers a server takes `accept draw` for the kind of an offer.
#[test]
fn challenger_may_be_named_like_an_offer() {
    let mut evening = Evening::after(&["Challenge: Draw (----) Somebot (----) unrated blitz 5 0.", ENDS]);
    assert_eq!(evening.act(Action::Accept("draw-run-1".into())), ["> accept dra"]);
    // A name that could be another player as well is left alone.
    evening.hear(&["Challenge: Dragon (----) Somebot (----) unrated blitz 5 0.", ENDS]);
    assert_fails(&evening.act(Action::Accept("draw-run-1".into())), "Refused");
}

#[test]
fn commands_contain_only_valid_names() {
    let mut evening = Evening::begin(FicsSettings::default());
    let told = evening.act(Action::Tell { to: "evil;resign".to_owned(), text: "hello".to_owned() });
    assert_fails(&told, "Refused");
    for line in [
        "<pf> 7 w=evil;resign t=match p=evil;resign (1500) Somebot (1500) unrated blitz 5 0",
        "evil;resign tells you: hello",
        " 1: B evil;resign    Y [ bu  5   0] 39-39 W2   B20 2026-11-20 21:10 UTC",
    ] {
        assert_eq!(evening.hear(&[line]), [""; 0], "{line}");
    }
}

#[test]
fn doubtful_stored_games_are_listed_again() {
    for line in ["Notification: Ann has arrived.", "{Game 5 (Ann vs. Somebot) Ann resigns} 0-1"] {
        let mut evening = with_a_game_that_waits();
        assert_eq!(evening.hear(&[line]), ["> stored", "> endoflists"], "{line}");
        evening.hear(&["Somebot has no adjourned games.", "endoflists: Command not found."]);
        let here = HERE.replace(", who has an adjourned game with you,", "");
        assert_eq!(evening.hear(&[&here]), [""; 0], "{line}");
        assert_eq!(evening.pass(Duration::from_secs(600)), [""; 0], "{line}");
    }
    let mut evening = with_a_game_that_waits();
    evening.hear(&["Notification: Ann has arrived."]);
    assert_eq!(evening.hear(&[ROW, "endoflists: Command not found."]), ["> resume Ann"]);
}

/// A server that was sent two commands at once may do each one only when the next comes.
#[test]
fn stuck_move_is_nudged() {
    let mut evening = Evening::after(&[START, E4]);
    evening.pass(Duration::from_secs(30));
    assert_eq!(evening.play("e7e5"), ["> e7e5"]);
    assert_eq!(evening.pass(Duration::from_millis(900)), [""; 0]);
    assert_eq!(evening.pass(Duration::from_millis(2200)), ["> nudge"; 3]);
    assert_eq!(evening.hear(&[E5]), ["state started: e2e4 e7e5", "= Ok(Done(Taken))"]);
    assert_eq!(evening.pass(Duration::from_secs(5)), [""; 0]);
}

#[test]
fn no_move_stands_behind_talk() {
    let mut evening = Evening::begin(FicsSettings::default());
    let say = |text: &str| Action::Chat("ann-run-1".into(), domain::ChatRoom::Player, text.to_owned());
    evening.hear(&[START, E4]);
    // It is our move: what we have to say waits.
    // The server does not show it to us, so it is told here.
    assert_eq!(evening.act(say("hello")), ["Chat", "= Ok(Done(Taken))"]);
    assert_eq!(evening.act(say("good luck")), ["Chat", "= Ok(Done(Taken))"]);
    assert_eq!(evening.play("e7e5"), ["> e7e5"]);
    assert_eq!(evening.hear(&[]), [""; 0], "a prompt that belongs to something else");
    // The server shows our move, then its prompt; each command waits for the one before.
    evening.session.on(FicsMessage::read(E5.to_owned()), evening.now);
    let told = evening.effects();
    assert!(told.contains(&"> say hello".to_owned()) && !told.contains(&"> say good luck".to_owned()), "{told:?}");
    evening.session.prompted(evening.now);
    assert_eq!(evening.effects(), ["> say good luck"]);
}

#[test]
fn duplicate_move_joins_the_first() {
    let mut evening = Evening::after(&[START, E4]);
    assert_eq!(evening.play("e7e5"), ["> e7e5"]);
    assert_eq!(evening.play("e7e5"), [""; 0]);
    assert_fails(&evening.play("d7d5"), "Unavailable");
    assert_eq!(evening.hear(&[E5]), ["state started: e2e4 e7e5", "= Ok(Done(Taken))", "= Ok(Done(Taken))"]);

    // The second caller waits no longer than the first one.
    let mut evening = Evening::after(&[START, E4]);
    evening.play("e7e5");
    evening.pass(Duration::from_secs(9));
    evening.play("e7e5");
    let told = evening.pass(Duration::from_secs(2));
    assert_eq!(told.iter().filter(|told| told.starts_with("= Err(Unavailable")).count(), 2, "{told:?}");
    assert_eq!(evening.play("e7e5"), ["> e7e5"]);
}

#[test]
fn next_board_answers_a_move() {
    let mut evening = Evening::after(&[START, E4]);
    assert_eq!(evening.play("e7e5"), ["> e7e5"]);
    const NF3: &str = "<12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -----N-- PPPP-PPP RNBQKB-R B -1 1 1 1 1 1 1 Ann Somebot 1 5 0 \
                       39 39 300 300 2 N/g1-f3 (0:01) Nf3 1 1";
    assert_eq!(evening.hear(&[NF3]), ["Fault", "> moves"]);
    assert_fails(&evening.play("e7e5"), "Unavailable");
    let told = evening.hear(&[
        "Ann (1500) vs. Somebot (1500) --- Fri Nov 20, 21:11 UTC 2026",
        "  1.  e4      (0:00)     e5      (0:00)",
        "  2.  Nf3     (0:01)",
        "      {Still in progress} *",
    ]);
    assert_eq!(told, ["game ann-run-1: e2e4 e7e5 g1f3", "= Ok(Done(Taken))"]);
    assert_eq!(evening.play("b8c6"), ["> b8c6"], "nothing is on its way any more");
}

/// Returns the log lines at level WARN during `story`.
fn warnings(story: impl FnOnce()) -> String {
    let file = std::sync::Arc::new(tempfile::tempfile().expect("a temporary file"));
    let log = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_ansi(false);
    let _logging = testkit::log_thread_to(log.with_writer(std::sync::Arc::clone(&file)).finish());
    story();
    let mut file = file.as_ref();
    file.rewind().expect("a file");
    std::io::read_to_string(file).expect("a log of text")
}

#[test]
fn refused_seek_is_logged_once() {
    let log = warnings(|| {
        let settings = FicsSettings { seeks: vec!["5 0 rated".to_owned()], seek_every: 60, ..FicsSettings::default() };
        let mut evening = Evening::begin(settings);
        for _ in 0..3 {
            let sent = evening.pass(Duration::from_secs(70));
            assert!(sent.contains(&"> seek 5 0 rated m".to_owned()), "{sent:?}");
            evening.hear(&["Only registered players can play rated games."]);
        }
    });
    assert_eq!(log.matches("Only registered players can play rated games.").count(), 1, "{log}");
    assert!(log.contains("5 0 rated") && log.contains("remedy"), "{log}");
}

#[test]
fn missing_move_list_is_skipped() {
    let mut evening = Evening::begin(FicsSettings::default());
    assert_eq!(
        evening.hear(&["{Game 1 (Ann vs. Somebot) Continuing rated blitz match.}", E5]),
        ["started ann-run-1", "> moves"]
    );
    assert_eq!(evening.pass(Duration::from_secs(6)), ["> moves"], "it may have been lost");
    let told = evening.pass_with_prompts(4);
    assert!(told.contains(&"Fault".to_owned()) && told.contains(&"game ann-run-1: ".to_owned()), "{told:?}");
}

/// Its moves are not known, but both sides have moved: `abort` would ask the opponent to end a game that we may win.
#[test]
fn game_from_its_board_is_not_aborted() {
    let mut evening = Evening::after(&["{Game 1 (Ann vs. Somebot) Continuing rated blitz match.}", E5]);
    evening.pass_with_prompts(6);
    assert_fails(&evening.act(Action::Abort("ann-run-1".into())), "Refused");
}

#[test]
fn game_without_mating_material_goes_on() {
    const BARE: &str = "<12> ----kb-- -------- -------- -------- -------- -------- -------- --B-K--- W -1 0 0 0 0 0 1 Ann Somebot -1 5 0 \
                        3 3 300 300 1 none (0:00) none 1 0";
    const KD1: &str = "<12> ----kb-- -------- -------- -------- -------- -------- -------- --BK---- B -1 0 0 0 0 1 1 Ann Somebot 1 5 0 \
                       3 3 300 300 1 K/e1-d1 (0:00) Kd1 1 0";
    let mut evening = Evening::begin(FicsSettings::default());
    assert_eq!(evening.hear(&[BARE]), ["started ann-run-1", "game ann-run-1: "]);
    assert_eq!(evening.hear(&[KD1]), ["state started: e1d1"]);
    assert_eq!(evening.play("e8d8"), ["> e8d8"]);
}

/// Some servers begin another command at a semicolon.
#[test]
fn chat_contains_no_second_command() {
    let mut evening = Evening::after(&["endoflists: Command not found.", START]);
    let text = "12 moves; !quiet ends it.".to_owned();
    let told = evening.act(Action::Tell { to: "Ann".to_owned(), text: text.clone() });
    assert!(told.contains(&"> tell Ann 12 moves, !quiet ends it.".to_owned()), "{told:?}");
    evening.session.prompted(evening.now);
    for (room, command) in [(domain::ChatRoom::Player, "say"), (domain::ChatRoom::Spectator, "whisper")] {
        let told = evening.act(Action::Chat("ann-run-1".into(), room, text.clone()));
        assert!(told.contains(&format!("> {command} 12 moves, !quiet ends it.")), "{told:?}");
        evening.session.prompted(evening.now);
    }
}

/// A player's notes may look like a row of the server's lists.
#[test]
fn finger_notes_are_no_list() {
    let mut evening = Evening::begin(FicsSettings::default());
    evening.tickets += 1;
    evening.session.look_for("Ann", evening.tickets, evening.now);
    assert_eq!(evening.effects(), ["> finger Ann"]);
    let note = " 1: B Bob            Y [  u  5   0] 39-39 W2   B20 2026-11-20 21:10 UTC";
    let told = evening.hear(&["Finger of Ann:", "On for: 3 mins   Idle: 0 secs", note]);
    assert_eq!(told, ["= Ok(There(true))"], "no game is resumed");
    assert_eq!(evening.hear(&[&note.replace("[  u", "[ bu")]), ["challenge bob-run-1"], "another answer");
}

#[test]
fn gap_between_boards_requests_moves() {
    let mut evening = Evening::after(&[START]);
    assert_eq!(evening.hear(&[E5]), ["Fault", "> moves"]);
    assert_eq!(evening.hear(&LIST_TO_E5), ["game ann-run-1: e2e4 e7e5"]);
}

#[test]
fn incomplete_move_list_is_repeated() {
    let mut evening = Evening::after(&[START]);
    evening.hear(&[E5]);
    let [players, _, end] = LIST_TO_E5;
    for _ in 0..2 {
        assert_eq!(evening.hear(&[players, end]), ["> moves"]);
    }
    assert_eq!(evening.hear(&LIST_TO_E5), ["game ann-run-1: e2e4 e7e5"]);
}

/// The connection may be lost without a word just when the moves were asked for: the game is not begun from its board for that, but
/// has its moves over the next one.
#[test]
fn silent_server_begins_no_game() {
    let mut evening = Evening::after(&[START]);
    evening.hear(&[E5]);
    let waits = |told: &[String]| told.iter().all(|told| told == "> moves");
    assert!(waits(&evening.pass(Duration::from_secs(21))), "dead or slow, it is asked again");
    evening.reconnects();
    assert_eq!(evening.hear(&[E5]), ["started ann-run-1", "> moves"]);
    assert_eq!(evening.hear(&LIST_TO_E5), ["game ann-run-1: e2e4 e7e5"]);
}

#[test]
fn unwanted_variant_is_left() {
    let mut evening = Evening::begin(FicsSettings::default());
    let no_king = START.replace("RNBQKBNR", "RNBQ-BNR");
    assert_eq!(evening.hear(&[&no_king]), ["started ann-run-1", "GameUnplayable"]);
    assert_eq!(evening.hear(&[&no_king]), [""; 0]);
    assert_eq!(evening.act(Action::Abort("ann-run-1".into())), ["> abort"]);
    let told = evening.hear(&["{Game 1 (Ann vs. Somebot) Game aborted on move 1} *"]);
    assert_eq!(told[0], "finished aborted");
    assert!(told.contains(&"= Ok(Done(Taken))".to_owned()), "{told:?}");
    assert_eq!(evening.hear(&[START]), ["started ann-run-2", "game ann-run-2: "]);
}

/// `abort` ends a game that has hardly begun; later it would only ask the opponent, and a game that we must leave would go on.
#[test]
fn begun_game_is_resigned_not_aborted() {
    let mut evening = Evening::after(&[START, E4, E5]);
    assert_fails(&evening.act(Action::Abort("ann-run-1".into())), "Refused");
    assert_eq!(evening.act(Action::Resign("ann-run-1".into())), ["> resign"]);
    let told = evening.hear(&["{Game 1 (Ann vs. Somebot) Somebot resigns} 1-0"]);
    assert!(told.contains(&"= Ok(Done(Taken))".to_owned()), "{told:?}");
}

/// The move by which both sides have moved may be on its way when we abort: then the server asks the opponent.
#[test]
fn abort_by_agreement_is_refused() {
    let mut evening = Evening::after(&[START, E4]);
    assert_eq!(evening.act(Action::Abort("ann-run-1".into())), ["> abort"]);
    assert_fails(&evening.hear(&["Abort request sent."]), "Refused");
}

#[test]
fn stale_games_are_adjudicated_once() {
    let settings = FicsSettings { adjudicate_after: 30, resume: false, ..FicsSettings::default() };
    let mut evening = Evening::begin(settings);
    let row = " 1: W Ann         N [ wr  2   2] 31-31 W18  --- Wed Dec 23, 06:58 PST 2009";
    let asked = "> message adjudicator Please adjudicate my adjourned game against Ann.";
    assert_eq!(evening.hear(&[row, row]), [asked]);
}

#[test]
fn unanswered_requests_expire() {
    let mut evening = Evening::after(&[START, E4]);
    evening.play("e7e5");
    let told = evening.pass(Duration::from_secs(11));
    assert!(told.iter().any(|told| told.starts_with("= Err(Unavailable")), "{told:?}");
}

/// A player may be gone when declined: that says nothing of a challenge which we accepted.
#[test]
fn refusal_about_others_is_no_answer() {
    for about_bob in [
        "There are no pending offers from Bob.",
        "You have no offers to decline.",
        "No user named \"bob\" is logged in.",
        "Bob is censoring you.",
    ] {
        let mut evening = Evening::begin(FicsSettings::default());
        for name in ["Ann", "Bob"] {
            let challenge = format!("Challenge: {name} (----) Somebot (----) unrated blitz 5 0.");
            evening.hear(&[challenge.as_str(), ENDS]);
        }
        assert_eq!(evening.act(Action::Accept("ann-run-1".into())), ["> accept ann"]);
        evening.act(Action::Decline("bob-run-2".into(), domain::DeclineReason::Later));
        let told = evening.hear(&[about_bob]);
        assert!(!told.iter().any(|told| told.starts_with("= ")), "{about_bob}: {told:?}");
        let told = evening.hear(&["There are no pending offers from Ann."]);
        assert!(told.iter().any(|told| told.starts_with("= Err(NotFound(")), "{told:?}");
    }
}

#[test]
fn other_offers_number_is_no_answer() {
    let mut evening = Evening::after(&["<pf> 4 w=Ann t=match p=Ann (1500) Somebot (1500) rated blitz 5 0"]);
    assert_eq!(evening.act(Action::Accept("ann-run-1".into())), ["> accept 4"]);
    assert_eq!(evening.hear(&["There is no offer 5 to accept."]), [""; 0]);
    assert_fails(&evening.hear(&["There is no offer 4 to accept."]), "NotFound");
}

/// Lines as a server may say them, in an order that it never would.
fn lines() -> impl Strategy<Value = String> {
    let boards = prop_oneof![Just(START), Just(E4), Just(E5)];
    let name = prop_oneof![Just("Ann"), Just("Somebot"), Just("Bob")];
    prop_oneof![
        (boards, 1..3u32).prop_map(|(board, game)| board.replace(" 1 Ann", &format!(" {game} Ann"))),
        (
            name.clone(),
            1..3u32,
            prop_oneof![Just("resigns} 1-0"), Just("lost connection; game adjourned} *"), Just("Creating} *")]
        )
            .prop_map(|(name, game, words)| format!("{{Game {game} (Ann vs. Somebot) {name} {words}")),
        (name.clone(), 1..9u32).prop_map(|(name, index)| format!(
            "<pf> {index} w={name} t=match p={name} (1500) Somebot (1500) rated blitz 5 0"
        )),
        (name.clone(), 1..9u32).prop_map(|(name, index)| format!("<pf> {index} w={name} t=takeback p={index}")),
        (name.clone(), 1..9u32).prop_map(|(name, index)| format!("<pt> {index} w={name} t=draw p=#")),
        (1..9u32).prop_map(|index| format!("<pr> {index}")),
        (name.clone(), any::<bool>()).prop_map(|(name, online)| format!(
            " 1: W {name}  {} [ wr  2   2] 31-31 W18  --- Wed Dec 23, 06:58 PST 2009",
            if online { "Y" } else { "N" }
        )),
        name.clone().prop_map(|name| format!("Notification: {name}, who has an adjourned game with you, has arrived.")),
        name.prop_map(|name| format!("{name} declines the match offer.")),
        Just("  1.  e4  (0:00)  e5  (0:00)".to_owned()),
        Just("Ann (1) vs. Somebot (2) --- now".to_owned()),
        Just("      {Still in progress} *".to_owned()),
        Just("You are not playing a game.".to_owned()),
        Just("Illegal move.".to_owned()),
        "[ -~]{0,40}",
    ]
}

proptest! {
    #[test]
    fn any_order_of_lines_is_safe(
        story in proptest::collection::vec((lines(), 0..20_000u64, 0..12u8), 0..60),
    ) {
        let mut evening = Evening::begin(FicsSettings { seeks: vec!["5 0".to_owned()], ..FicsSettings::default() });
        for (line, millis, turn) in story {
            match turn {
                0 => {
                    evening.reconnects();
                }
                1 => {
                    let game = GameId::new(format!("ann-run-{}", millis % 4));
                    evening.act(Action::Move { game: game.clone(), uci: "e7e5".parse().expect("a move"), offer_draw: true });
                    evening.act(Action::Accept(game.as_str().into()));
                    evening.session.resync(&game, evening.now);
                }
                _ => {
                    evening.hear(&[&line]);
                }
            }
            evening.pass(Duration::from_millis(millis));
        }
        // Every request is answered in the end.
        evening.pass(Duration::from_secs(600));
        prop_assert!(!evening.session.requests.is_open(|_| true));
    }
}
