use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use serde_json::Value;

use super::*;
use bot::{journal::ChallengeOutcome, session::AccountMode};
use domain::{
    Account, Challenge, ChatLine, ChatRoom, Clock, Clocks, Color, Decision, GameInfo, GameStatus, GameTerms, Line,
    Phase, Player, Proposal, Score, SearchId, Source, TimeControl, Variant, Vote,
};

/// An overview with the time that its events came.
struct Told {
    overview: Overview,
    now: Instant,
}

impl Told {
    fn new() -> Self {
        Self { overview: Overview::default(), now: Instant::now() }
    }

    fn account(&mut self, event: AccountEvent) {
        self.overview.take(&BotEvent::Account("lichess".into(), event), self.now, Timestamp::UNIX_EPOCH);
    }

    fn game(&mut self, id: &str, event: GameEvent) {
        let key = GameKey::new(&"lichess".into(), &id.into());
        self.overview.take(&BotEvent::Game(key, event), self.now, Timestamp::UNIX_EPOCH);
    }

    fn begin(&mut self, id: &str) {
        let time_control = TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2));
        let info = GameInfo {
            our_color: Color::Black,
            ..GameInfo::from_start(
                id,
                GameTerms { variant: Variant::Standard, time_control, rated: true },
                Player::named("Ann"),
                Player::named("Concilio"),
            )
        };
        self.game(id, GameEvent::Started { info: Box::new(info), electors: Arc::new([]), ply: 0 });
    }

    fn position(&mut self, id: &str, line: &Line) {
        let clock = |seconds| Clock { remaining: Duration::from_secs(seconds), increment: Duration::ZERO };
        let clocks = Some(Clocks { white: clock(100), black: clock(90) });
        self.game(id, GameEvent::Position { line: Arc::new(line.clone()), clocks });
    }

    fn decided(&mut self, id: &str, line: Line, decision: Decision) {
        let (line, decision) = (Arc::new(line), Arc::new(decision));
        self.game(id, GameEvent::Decided { line, decision, budget: None, lag: Duration::ZERO, left_book: false });
    }

    fn over(&mut self, id: &str, status: GameStatus, winner: Option<Color>) {
        self.game(id, GameEvent::Over { info: None, status, winner, plies: 0, pgn: None, rating_change: None });
    }

    fn whole(&mut self) -> Value {
        serde_json::to_value(self.overview.whole(self.now)).expect("JSON")
    }

    fn changes(&mut self) -> Value {
        let changes = serde_json::to_value(self.overview.changes(self.now)).expect("JSON");
        self.overview.forget_changes();
        changes
    }
}

fn line(moves: &str) -> Line {
    let mut line = Line::start(Variant::Standard);
    line.play_all(moves).expect("legal moves");
    line
}

fn proposal(ply: usize, elector: &str, best: &str) -> Proposal {
    let best = best.parse().expect("a move");
    Proposal {
        machine: Some("attic".into()),
        depth: 9,
        selective_depth: 12,
        nodes: 4000,
        ..Proposal::of_one_ply(
            SearchId { game: "g".into(), ply, serial: 1, phase: Phase::First },
            elector.into(),
            best,
            Score::Cp(-12),
        )
    }
}

#[test]
fn an_account_is_shown_as_it_stands() {
    let mut told = Told::new();
    let account = || Account { player: Player::named("Concilio"), is_bot: true, ratings: vec![], games_played: 0 };
    told.account(AccountEvent::Connected { account: account(), away: None });
    told.account(AccountEvent::Mode(AccountMode::Paused));
    told.account(AccountEvent::Disconnected { reason: "the stream ended".to_owned() });
    let shown = told.whole()["accounts"]["lichess"].clone();
    assert_eq!((&shown["state"], &shown["reason"]), (&"disconnected".into(), &"the stream ended".into()));
    told.account(AccountEvent::Connected { account: account(), away: Some(Duration::from_secs(3)) });
    let shown = told.whole()["accounts"]["lichess"].clone();
    assert_eq!(
        (&shown["state"], &shown["mode"], &shown["reconnections"]),
        (&"connected".into(), &"paused".into(), &1.into())
    );
    assert!(shown["reason"].is_null());
    let until = "2026-11-25T12:00:00Z".parse().expect("a time");
    told.account(AccountEvent::Limited { what: "no challenges are sent".to_owned(), until });
    let shown = told.whole()["accounts"]["lichess"].clone();
    assert_eq!((&shown["reason"], &shown["until"]), (&"no challenges are sent".into(), &"2026-11-25T12:00:00Z".into()));
    told.account(AccountEvent::Disconnected { reason: "the stream ended".to_owned() });
    assert!(told.whole()["accounts"]["lichess"]["until"].is_null());
}

#[test]
fn the_title_of_an_account_is_text() {
    let mut told = Told::new();
    let player = Player { title: Some("\x1b]0;owned\x07".repeat(1000)), ..Player::named("Concilio") };
    let account = Account { player, is_bot: true, ratings: Vec::new(), games_played: 0 };
    told.account(AccountEvent::Connected { account, away: None });
    let whole = told.whole();
    let title = whole["accounts"]["lichess"]["title"].as_str().expect("a title");
    assert!(title.starts_with("\\u{1b}]0;owned") && title.len() < 10_000, "{title}");
}

#[test]
fn only_changes_are_sent() {
    let mut told = Told::new();
    told.begin("g");
    assert!(told.overview.has_changed());
    assert!(told.changes()["games"]["lichess/g"]["head"].is_object());
    assert!(!told.overview.has_changed());

    told.position("g", &line("e2e4"));
    let parts = told.changes()["games"]["lichess/g"].clone();
    assert_eq!((&parts["board"]["moves"], &parts["board"]["turn"]), (&serde_json::json!(["e4"]), &"black".into()));
    assert!(parts["head"].is_null() && parts["votes"].is_null());

    told.game("g", GameEvent::Proposal(proposal(1, "mp", "e7e5")));
    told.game("g", GameEvent::Proposal(proposal(1, "ma", "c7c5")));
    let votes = told.changes()["games"]["lichess/g"]["votes"].clone();
    assert_eq!((&votes["fresh"], votes["rows"].as_array().map(Vec::len)), (&true.into(), Some(2)));
    assert_eq!((&votes["rows"][0]["san"], &votes["rows"][0]["machine"]), (&"e5".into(), &"attic".into()));
    told.game("g", GameEvent::Proposal(proposal(1, "ma", "e7e5")));
    let votes = told.changes()["games"]["lichess/g"]["votes"].clone();
    assert_eq!((&votes["fresh"], votes["rows"].as_array().map(Vec::len)), (&false.into(), Some(1)));
}

#[test]
fn pondering_shows_no_vote() {
    let mut told = Told::new();
    told.begin("g");
    told.position("g", &line("e2e4 e7e5"));
    told.changes();
    told.game("g", GameEvent::Proposal(proposal(2, "mp", "g1f3")));
    told.game("g", GameEvent::Proposal(proposal(3, "mp", "b8c6")));
    assert!(!told.overview.has_changed());
}

#[test]
fn decision_shows_weighted_votes() {
    let mut told = Told::new();
    told.begin("g");
    let position = line("e2e4");
    told.position("g", &position);
    told.game("g", GameEvent::Proposal(proposal(1, "mp", "c7c5")));
    let vote =
        |elector, best, weight| Vote { proposal: proposal(1, elector, best), knowledge: None, weight: Some(weight) };
    let decision = Decision {
        score: Some(Score::Cp(-12)),
        votes: vec![vote("mp", "e7e5", 51.0), vote("ma", "e7e5", 45.0)],
        ..Decision::without_vote("e7e5".parse().expect("a move"), Source::Council)
    };
    told.decided("g", position, decision);
    let game = told.whole()["games"]["lichess/g"].clone();
    assert_eq!((&game["decision"]["san"], &game["decision"]["score"]), (&"e5".into(), &"-0.12".into()));
    let weights: Vec<f64> =
        game["votes"]["rows"].as_array().expect("rows").iter().filter_map(|row| row["weight"].as_f64()).collect();
    assert_eq!(weights, [51.0, 45.0]);
}

#[test]
fn takeback_removes_its_moves() {
    let mut told = Told::new();
    told.begin("g");
    told.position("g", &line("e2e4 e7e5 g1f3"));
    told.position("g", &line("e2e4"));
    told.position("g", &line("e2e4 c7c5"));
    assert_eq!(told.whole()["games"]["lichess/g"]["board"]["moves"], serde_json::json!(["e4", "c5"]));
}

#[test]
fn a_takeback_takes_the_votes_along() {
    let mut told = Told::new();
    told.begin("g");
    told.position("g", &line("e2e4"));
    told.game("g", GameEvent::Proposal(proposal(1, "mp", "e7e5")));
    told.game("g", GameEvent::Proposal(proposal(1, "ma", "c7c5")));
    told.position("g", &line("e2e4 e7e5"));
    told.position("g", &line(""));
    let votes = told.changes()["games"]["lichess/g"]["votes"].clone();
    assert_eq!((&votes["fresh"], &votes["rows"]), (&true.into(), &serde_json::json!([])));
    // Another move, and as many as before.
    told.position("g", &line("d2d4"));
    told.game("g", GameEvent::Proposal(proposal(1, "mp", "d7d5")));
    let rows = told.whole()["games"]["lichess/g"]["votes"]["rows"].clone();
    assert_eq!((rows.as_array().map(Vec::len), &rows[0]["san"]), (Some(1), &"d5".into()), "{rows}");
}

#[test]
fn fault_is_shown_until_resolved() {
    let mut told = Told::new();
    told.begin("g");
    told.position("g", &line("e2e4"));
    told.changes();
    told.game("g", GameEvent::Fault("move e7e5: no answer".to_owned()));
    assert_eq!(told.changes()["games"]["lichess/g"]["fault"], "move e7e5: no answer");
    told.position("g", &line("e2e4 e7e5"));
    assert_eq!(told.changes()["games"]["lichess/g"]["fault"], "");
    told.position("g", &line("e2e4 e7e5 g1f3"));
    assert!(told.changes()["games"]["lichess/g"]["fault"].is_null(), "nothing has changed about it");
}

#[test]
fn finished_game_stops_its_clocks() {
    let mut told = Told::new();
    told.begin("g");
    told.position("g", &line("e2e4 e7e5"));
    told.now += Duration::from_secs(10);
    told.over("g", GameStatus::Resign, Some(Color::Black));
    told.game("g", GameEvent::Rated { change: 7 });
    told.now += Duration::from_secs(60);
    let game = told.whole()["games"]["lichess/g"].clone();
    let over = &game["over"];
    assert_eq!(
        (&over["words"], &over["ours"], &over["rating_change"]),
        (&"Black won by resignation".into(), &"won".into(), &7.into())
    );
    assert_eq!((&game["board"]["clocks"][0], &game["board"]["running"]), (&90_000.into(), &false.into()));
}

#[test]
fn shown_history_is_bounded() {
    let mut told = Told::new();
    let terms = GameTerms { variant: Variant::Standard, time_control: TimeControl::Unlimited, rated: false };
    let challenge = Challenge::to_us("c".into(), Player::named("Ann"), terms);
    for round in 0..500 {
        let id = format!("game{round}");
        told.begin(&id);
        for _ in 0..3 {
            let line = ChatLine { room: ChatRoom::Player, username: "Ann".to_owned(), text: "x".repeat(10_000) };
            told.game(&id, GameEvent::Chat { line, ours: false });
        }
        told.over(&id, GameStatus::Draw, None);
        let (challenge, why) = (Box::new(challenge.clone()), "rated games only".to_owned());
        told.account(AccountEvent::Challenge { challenge, outcome: ChallengeOutcome::Declined, why });
    }
    let whole = told.whole();
    assert_eq!(whole["games"].as_object().map(serde_json::Map::len), Some(MOST_ENDED));
    assert_eq!(whole["challenges"].as_array().map(Vec::len), Some(MOST_CHALLENGES));
    assert_eq!(whole["log"].as_array().map(Vec::len), Some(MOST_LINES));
    assert!(whole.to_string().len() < 200_000, "{}", whole.to_string().len());
    let declined = &whole["challenges"][0];
    assert_eq!((&declined["outcome"], &declined["why"]), (&"declined".into(), &"rated games only".into()));
}

/// A vote was called unanimous although advisers had proposed other moves.
#[test]
fn decision_says_who_wanted_what() {
    let mut told = Told::new();
    told.begin("abcdefgh");
    let line = line("e2e4");
    let vote = |elector: &str, letters: &str, best: &str, weight| Vote {
        proposal: proposal(1, elector, best),
        knowledge: letters.parse().ok(),
        weight,
    };
    let votes = vec![
        vote("learned-1", "n", "c7c5", Some(1.0)),
        vote("learned-2", "n", "c7c5", Some(1.0)),
        vote("mbkc", "mbkc", "e7e5", None),
    ];
    let best = "c7c5".parse().expect("a move");
    let decision = Decision { votes, ..Decision::without_vote(best, Source::Council) };
    told.position("abcdefgh", &line);
    told.decided("abcdefgh", line, decision);
    let shown = told.whole()["games"]["lichess/abcdefgh"].clone();
    let decision = &shown["decision"];
    assert_eq!(decision["sentence"], "both engines chose c5; the specialist adviser preferred e5 (king and centre)");
    assert_eq!(decision["agreement"], serde_json::json!([2, 3]));
    assert_eq!(decision["groups"][1]["by"][0]["name"], "king and centre");
    let row = &shown["votes"]["rows"][2];
    assert_eq!(
        (&row["words"], &row["short"], &row["adviser"]),
        (&"king and centre".into(), &"mbkc".into(), &true.into())
    );
    assert!(!decision["summary"].as_str().is_some_and(|summary| summary.contains("unanimous")), "{decision}");
}

/// An account is paused since it was paused, however often it connects again.
#[test]
fn pause_has_its_own_start() {
    let mut overview = Overview::default();
    let account = Account { player: Player::named("Concilio"), is_bot: true, ratings: Vec::new(), games_played: 1 };
    let connected = || AccountEvent::Connected { account: account.clone(), away: None };
    for (second, event) in [(1, connected()), (2, AccountEvent::Mode(AccountMode::Paused)), (3, connected())] {
        let time = Timestamp::from_second(second).expect("a time");
        overview.take(&BotEvent::Account("lichess".into(), event), Instant::now(), time);
    }
    let whole = serde_json::to_value(overview.whole(Instant::now())).expect("JSON");
    let row = &whole["accounts"]["lichess"];
    assert_eq!((&row["mode_since"], &row["since"]), (&"1970-01-01T00:00:02Z".into(), &"1970-01-01T00:00:03Z".into()));
}
