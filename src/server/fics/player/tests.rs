//! Evenings of play, with time as the tests give it.

use proptest::prelude::*;

use super::*;
use chess::{Action, ServerEvent};

/// A player, the time, and what came of both.
struct Evening {
    player: Player,
    now: Instant,
    tickets: u64,
}

impl Evening {
    fn begin(settings: FicsSettings) -> Self {
        let mut evening = Self { player: Player::new(settings, "run".to_owned()), now: Instant::now(), tickets: 0 };
        evening.log_in();
        evening
    }

    fn log_in(&mut self) {
        let us = Speaker { name: "Somebot".to_owned(), titles: vec!["C".to_owned()], game: None };
        self.player.connected(us, self.now);
    }

    /// The server says these lines; gives what was told, sent and answered, in words.
    fn hear(&mut self, lines: &[&str]) -> Vec<String> {
        for line in lines {
            self.player.on(Message::read((*line).to_owned()), self.now);
        }
        self.effects()
    }

    fn act(&mut self, action: Action) -> Vec<String> {
        self.tickets += 1;
        self.player.act(action, Ticket(self.tickets), self.now);
        self.effects()
    }

    /// Time passes, with every timer on its way.
    fn pass(&mut self, duration: Duration) -> Vec<String> {
        let end = self.now + duration;
        while let Some(wake) = self.player.wake_at().filter(|wake| *wake <= end) {
            self.now = self.now.max(wake);
            self.player.tick(self.now);
            assert!(self.player.wake_at().is_none_or(|next| next > self.now), "a timer that never rests");
        }
        self.now = end;
        self.effects()
    }

    fn effects(&mut self) -> Vec<String> {
        let words = |effect| match effect {
            Effect::Send(command) => format!("> {command}"),
            Effect::Answer(_, answer) => format!("= {answer:?}"),
            Effect::Event(ServerEvent::Challenge(challenge)) => format!("challenge {}", challenge.id),
            Effect::Event(ServerEvent::ChallengeCancelled(id)) => format!("cancelled {id}"),
            Effect::Event(ServerEvent::GameStarted(id)) => format!("started {id}"),
            Effect::Event(ServerEvent::Game(info, state)) => format!("game {}: {}", info.id, state.moves),
            Effect::Event(ServerEvent::GameState(_, state)) => {
                format!("state {}: {}", state.status.name(), state.moves)
            }
            Effect::Event(ServerEvent::GameFinished { status, .. }) => {
                format!("finished {}", status.map_or("?".to_owned(), |status| status.name().to_owned()))
            }
            Effect::Event(other) => format!("{other:?}").split([' ', '{', '(']).next().unwrap_or_default().to_owned(),
        };
        self.player.effects().into_iter().map(words).collect()
    }
}

const START: &str = "<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 1 Ann Somebot -1 5 0 39 39 \
                     300 300 1 none (0:00) none 1 0";
const E4: &str = "<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 1 Ann Somebot 1 5 0 39 39 \
                  300 300 1 P/e2-e4 (0:00) e4 1 0";
const E5: &str = "<12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR W 4 1 1 1 1 0 1 Ann Somebot -1 5 0 39 39 \
                  300 300 2 P/e7-e5 (0:00) e5 1 1";

#[test]
fn an_older_server_is_understood_by_its_sentences() {
    let mut evening = Evening::begin(FicsSettings::default());
    assert_eq!(evening.effects(), ["Connected", "> stored", "> history", "> endoflists"]);
    let told = evening.hear(&[
        "Challenge: Ann (----) Somebot (----) unrated blitz 5 0.",
        "You can \"accept\" or \"decline\", or propose different parameters.",
    ]);
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
    let uci = "e7e5".parse().expect("a move");
    assert_eq!(evening.act(Action::Move { game: "ann-run-1".into(), uci, offer_draw: false }), ["> e7e5"]);
    assert_eq!(evening.hear(&[E5]), ["state started: e2e4 e7e5", "= Ok(Done(Taken))"]);
    // Here there are no numbers for offers; the opponent's name will do.
    assert_eq!(evening.hear(&["Ann offers you a draw."]), ["state started: e2e4 e7e5"]);
    assert_eq!(evening.act(Action::Draw("ann-run-1".into(), false)), ["> decline Ann", "= Ok(Done(Taken))"]);
    assert_eq!(evening.hear(&["Ann would like to abort the game; type \"abort\" to accept."]), ["> decline Ann"]);
    assert_eq!(evening.hear(&["Bob would like to abort the game; type \"abort\" to accept."]), [""; 0]);
    let told = evening.hear(&["{Game 1 (Ann vs. Somebot) Somebot resigns} 1-0", "No ratings adjustment done."]);
    assert_eq!(told, ["state resign: e2e4 e7e5", "finished resign", "> history"]);
}

#[test]
fn an_opponent_out_of_time_is_flagged_and_one_who_lags_is_spared() {
    let mut evening = Evening::begin(FicsSettings::default());
    evening.hear(&["Creating: Ann (1500) Somebot (1500) rated blitz 5 0", START, E4, E5]);
    assert_eq!(evening.pass(Duration::from_secs(300)), [""; 0]);
    assert_eq!(evening.pass(Duration::from_secs(1)), ["> flag"]);
    assert_eq!(evening.hear(&["Opponent has timeseal; checking if (s)he's lagging."]), [""; 0]);
    assert_eq!(evening.pass(Duration::from_secs(40)), ["> flag"; 4]);
    assert_eq!(evening.pass(Duration::from_secs(10)), ["> adjourn"]);
}

#[test]
fn a_list_of_moves_that_does_not_come_is_done_without() {
    let mut evening = Evening::begin(FicsSettings::default());
    evening.effects();
    assert_eq!(
        evening.hear(&["{Game 1 (Ann vs. Somebot) Continuing rated blitz match.}", E5]),
        ["started ann-run-1", "> moves"]
    );
    let told = evening.pass(Duration::from_secs(6));
    assert!(told.contains(&"Fault".to_owned()) && told.contains(&"game ann-run-1: ".to_owned()), "{told:?}");
}

#[test]
fn boards_that_do_not_follow_make_us_ask_for_the_moves() {
    let mut evening = Evening::begin(FicsSettings::default());
    evening.effects();
    evening.hear(&[START]);
    assert_eq!(evening.hear(&[E5]), ["Fault", "> moves"]);
    let told = evening.hear(&[
        "Ann (1500) vs. Somebot (1500) --- Fri Nov 20, 21:11 UTC 2026",
        "  1.  e4      (0:00)     e5      (0:00)",
        "      {Still in progress} *",
    ]);
    assert_eq!(told, ["game ann-run-1: e2e4 e7e5"]);
}

#[test]
fn a_variant_nobody_asked_for_is_left_alone() {
    let mut evening = Evening::begin(FicsSettings::default());
    evening.effects();
    let no_king = START.replace("RNBQKBNR", "RNBQ-BNR");
    assert_eq!(evening.hear(&[&no_king]), ["started ann-run-1", "Fault", "GameGone", "> abort"]);
    assert_eq!(evening.hear(&[&no_king]), [""; 0]);
    evening.hear(&["{Game 1 (Ann vs. Somebot) Game aborted on move 1} *"]);
    assert_eq!(evening.hear(&[START]), ["started ann-run-2", "game ann-run-2: "]);
}

#[test]
fn stale_games_are_put_before_an_adjudicator_once() {
    let settings = FicsSettings { adjudicate_after: 30, resume: false, ..FicsSettings::default() };
    let mut evening = Evening::begin(settings);
    evening.effects();
    let row = " 1: W Ann         N [ wr  2   2] 31-31 W18  --- Wed Dec 23, 06:58 PST 2009";
    let asked = "> message adjudicator Please adjudicate my adjourned game against Ann.";
    assert_eq!(evening.hear(&[row, row]), [asked]);
}

#[test]
fn requests_without_an_answer_are_given_up() {
    let mut evening = Evening::begin(FicsSettings::default());
    evening.hear(&[START, E4]);
    let uci = "e7e5".parse().expect("a move");
    evening.act(Action::Move { game: "ann-run-1".into(), uci, offer_draw: false });
    let told = evening.pass(Duration::from_secs(11));
    assert!(told.iter().any(|told| told.starts_with("= Err(Unavailable")), "{told:?}");
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
    fn no_order_of_lines_and_times_leads_astray(
        story in proptest::collection::vec((lines(), 0..20_000u64, 0..12u8), 0..60),
    ) {
        let mut evening = Evening::begin(FicsSettings { seeks: vec!["5 0".to_owned()], ..FicsSettings::default() });
        for (line, millis, turn) in story {
            match turn {
                0 => {
                    evening.player.disconnected("a cable".to_owned());
                    evening.log_in();
                }
                1 => {
                    let game = GameId::new(format!("ann-run-{}", millis % 4));
                    evening.act(Action::Move { game: game.clone(), uci: "e7e5".parse().expect("a move"), offer_draw: true });
                    evening.act(Action::Accept(game.as_str().into()));
                    evening.player.resync(&game, evening.now);
                }
                _ => {
                    evening.hear(&[&line]);
                }
            }
            evening.pass(Duration::from_millis(millis));
        }
        // Every request is answered in the end.
        evening.pass(Duration::from_secs(600));
        prop_assert!(!evening.player.requests.is_open(|_| true));
    }
}
