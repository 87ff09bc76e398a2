//! Tests of a game on a bad network.

use proptest::prelude::*;

use super::our_move::REFUSALS;
use super::*;
use crate::{
    policy::{DrawSettings, ResignSettings},
    session::PlayerSettings,
};
use council::player::RequestId;
use domain::{
    ActionError, Clock, Clocks, Decision, GameId, GameTerms, Offers, Player, Score, Source, TimeControl, Variant,
};

const SECOND: Duration = Duration::from_secs(1);

fn info(our_color: Color) -> Box<GameInfo> {
    let time_control = TimeControl::real_time(60 * SECOND, SECOND);
    let terms = GameTerms { variant: Variant::Standard, time_control, rated: false };
    let info = GameInfo::from_start("abcdefgh", terms, Player::named("White"), Player::named("Black"));
    Box::new(GameInfo { our_color, ..info })
}

fn state(moves: &str) -> GameState {
    GameState {
        moves: moves.to_owned(),
        clocks: Some(Clocks::both(Clock { remaining: 60 * SECOND, increment: SECOND })),
        status: GameStatus::Started,
        winner: None,
        draw_offers: Offers::default(),
        takeback_offers: Offers::default(),
        received: Instant::now(),
    }
}

/// Returns the rules of a game in which `granted` takebacks were granted before.
fn adjudicator(granted: u32) -> Adjudicator {
    let resign =
        ResignSettings { enabled: true, consecutive_moves: 1, min_game_length: 0, ..ResignSettings::default() };
    let settings = PlayerSettings { resign, takebacks: 1, ..PlayerSettings::default() };
    Adjudicator::new(&settings, granted)
}

/// A game that we found in this state, with what we do first.
fn found(our_color: Color, moves: &str) -> (GameMachine, Vec<GameEffect>) {
    GameMachine::new(Instant::now(), info(our_color), state(moves), adjudicator(0))
}

/// A game with White under these rules for draws.
fn found_with(draw: DrawSettings, moves: &str) -> (GameMachine, Vec<GameEffect>) {
    let settings = PlayerSettings { draw, ..PlayerSettings::default() };
    GameMachine::new(Instant::now(), info(Color::White), state(moves), Adjudicator::new(&settings, 0))
}

impl GameMachine {
    fn on(&mut self, input: GameInput) -> Vec<GameEffect> {
        self.handle(Instant::now(), input)
    }

    fn whole(&mut self, moves: &str) -> Vec<GameEffect> {
        self.whole_at(Instant::now(), moves)
    }

    fn whole_at(&mut self, now: Instant, moves: &str) -> Vec<GameEffect> {
        let info = self.info.clone();
        self.handle(now, GameInput::Full(info, state(moves)))
    }

    /// Shows the whole state, and waits for the pause before the move is sent again.
    fn whole_and_pause(&mut self, moves: &str) -> Vec<GameEffect> {
        let effects = self.whole(moves);
        match wakes(&effects, Timer::Resend) {
            Some(_) => self.on(GameInput::Timer(Timer::Resend)),
            None => effects,
        }
    }

    fn shows(&mut self, moves: &str) -> Vec<GameEffect> {
        self.on(GameInput::State(state(moves)))
    }

    fn is_due(&mut self, timer: Timer) -> Vec<GameEffect> {
        self.on(GameInput::Timer(timer))
    }

    fn decide(&mut self, request: RequestId, best: &str) -> Vec<GameEffect> {
        self.decide_with(request, best, Some(Score::Cp(100)))
    }

    /// Decides for a legal move in `line`, expecting some reply.
    fn decide_any(&mut self, request: RequestId, line: &Line, lot: u8) -> Vec<GameEffect> {
        let draw = |line: &Line| {
            let moves = line.legal_moves();
            moves.get(usize::from(lot) % moves.len().max(1)).copied()
        };
        let Some(best) = draw(line) else { return Vec::new() };
        let mut after = line.clone();
        after.play(best).expect("legal");
        let decision = Decision { ponder: draw(&after), ..Decision::without_vote(best, Source::Council) };
        self.on(GameInput::Decided(request, searched(&Arc::new(line.clone()), decision)))
    }

    /// Returns the position of a request: the board, or the likeliest of the expected positions.
    fn asked_about(&self, request: RequestId) -> Arc<Line> {
        let pondered = self.pondering.as_ref().filter(|pondering| pondering.request == request);
        Arc::clone(pondered.and_then(|pondering| pondering.lines.first()).unwrap_or(&self.line))
    }

    fn decide_with(&mut self, request: RequestId, best: &str, score: Option<Score>) -> Vec<GameEffect> {
        let (line, decision) = (self.asked_about(request), Decision { score, ..decided(best) });
        self.on(GameInput::Decided(request, searched(&line, decision)))
    }
}

fn decided(best: &str) -> Decision {
    Decision::without_vote(best.parse().expect("a move"), Source::Council)
}

fn searched(line: &Arc<Line>, decision: Decision) -> Box<DecidedSearch> {
    Box::new(DecidedSearch { line: Arc::clone(line), decision: Arc::new(decision), budget: None })
}

fn request(effects: &[GameEffect]) -> Option<RequestId> {
    effects.iter().find_map(|effect| match effect {
        GameEffect::Search { request, .. } => Some(*request),
        _ => None,
    })
}

fn sent(effects: &[GameEffect]) -> Option<(u64, String)> {
    effects.iter().find_map(|effect| match effect {
        GameEffect::Send { answer, uci, .. } => Some((*answer, uci.to_string())),
        _ => None,
    })
}

fn resyncs(effects: &[GameEffect]) -> bool {
    effects.contains(&GameEffect::Resync)
}

fn wakes(effects: &[GameEffect], timer: Timer) -> Option<Duration> {
    effects.iter().find_map(|effect| match effect {
        GameEffect::Wake(kind, after) if *kind == timer => Some(*after),
        _ => None,
    })
}

/// We have White and have just sent e2e4.
fn e4_is_on_its_way() -> (GameMachine, u64) {
    let (mut game, effects) = found(Color::White, "");
    let effects = game.decide(request(&effects).expect("our move"), "e2e4");
    let (number, _) = sent(&effects).expect("a move is sent");
    (game, number)
}

/// Promise 2: one search a ply.
#[test]
fn a_position_is_searched_once() {
    let (mut game, effects) = found(Color::White, "");
    assert!(request(&effects).is_some());
    assert_eq!(request(&game.shows("")), None, "the same state again");
    assert_eq!(request(&game.whole("")), None, "the whole state again");
}

/// Promise 5.
#[test]
fn decision_is_recorded_before_sending() {
    let (mut game, effects) = found(Color::White, "");
    let effects = game.decide(request(&effects).expect("our move"), "e2e4");
    let recorded = effects.iter().position(|effect| matches!(effect, GameEffect::RecordDecision(_)));
    let sent = effects.iter().position(|effect| matches!(effect, GameEffect::Send { .. }));
    assert!(recorded.is_some() && recorded < sent, "{effects:?}");
}

/// Promise 2: a result for a position that is no longer on the board is dropped.
#[test]
fn stale_decision_is_dropped() {
    let (mut game, effects) = found(Color::Black, "e2e4");
    let stale = request(&effects).expect("our move");
    let effects = game.whole("d2d4");
    assert!(effects.contains(&GameEffect::StopSearch), "{effects:?}");
    let fresh = request(&effects).expect("another position, another search");
    assert_eq!(game.decide(stale, "e7e5"), []);
    assert!(sent(&game.decide(fresh, "d7d5")).is_some());
}

#[test]
fn move_is_resent_after_429() {
    let (mut game, number) = e4_is_on_its_way();
    let limited = ActionError::Limited { retry_after: None, key: None, opponent: false, detail: "429".to_owned() };
    let effects = game.on(GameInput::Sent(number, Err(limited)));
    let delay = wakes(&effects, Timer::Resend).expect("it waits a little");
    assert!(delay <= 60 * SECOND / 8, "{delay:?} is too long for the clock");
    assert_eq!(sent(&game.is_due(Timer::Resend)), Some((number, "e2e4".to_owned())));
}

/// Promise 2: sending is idempotent.
#[test]
fn lost_answer_is_settled_by_the_state() {
    let lost = || Err(ActionError::Unavailable("timeout".to_owned()));

    let (mut game, number) = e4_is_on_its_way();
    assert!(resyncs(&game.on(GameInput::Sent(number, lost()))));
    assert_eq!(sent(&game.whole("e2e4")), None, "it had arrived");

    let (mut game, number) = e4_is_on_its_way();
    assert!(resyncs(&game.on(GameInput::Sent(number, lost()))));
    assert_eq!(sent(&game.whole("")), Some((number, "e2e4".to_owned())), "it had not");

    let (mut game, number) = e4_is_on_its_way();
    let effects = game.on(GameInput::Sent(number, lost()));
    assert!(wakes(&effects, Timer::Resend).is_some(), "and if no state comes, it is sent again");
}

#[test]
fn unshown_move_requests_the_state() {
    let (mut game, number) = e4_is_on_its_way();
    let effects = game.on(GameInput::Sent(number, Ok(())));
    assert!(wakes(&effects, Timer::Echo).is_some());
    assert!(resyncs(&game.is_due(Timer::Echo)), "the stream may be dead without knowing it");
    let effects = game.whole("");
    assert!(sent(&effects).is_none() && resyncs(&effects), "it may have been asked for before: {effects:?}");
    assert_eq!(sent(&game.whole("")), Some((number, "e2e4".to_owned())), "the server forgot it");
}

/// Promise 2: sending is idempotent.
#[test]
fn old_state_resends_nothing() {
    let (mut game, number) = e4_is_on_its_way();
    game.on(GameInput::Sent(number, Ok(())));
    let effects = game.whole("");
    assert_eq!(sent(&effects), None, "it may have been on its way when the move was taken");
    assert!(wakes(&effects, Timer::Echo).is_some_and(|after| after < ECHO.0), "but it is looked at again soon");
    assert!(resyncs(&game.is_due(Timer::Echo)));
    let effects = game.whole("");
    assert!(sent(&effects).is_none() && resyncs(&effects), "it may have been asked for before: {effects:?}");
    assert_eq!(sent(&game.whole("")), Some((number, "e2e4".to_owned())), "a younger one decides");
}

#[test]
fn early_state_resends_nothing() {
    let (mut game, number) = e4_is_on_its_way();
    assert_eq!(sent(&game.whole("")), None, "the move is still on its way");
    game.shows("e2e4");
    let effects = game.on(GameInput::Sent(number, Err(ActionError::Refused("Not your turn".to_owned()))));
    assert_eq!(effects, [], "the stream has long shown it");
}

/// The opponent resigns while our move is on its way.
#[test]
fn move_after_the_end_is_no_fault() {
    let (mut game, number) = e4_is_on_its_way();
    let over = ActionError::NotFound("the game is over".to_owned());
    let effects = game.on(GameInput::Sent(number, Err(over)));
    assert!(!effects.iter().any(|effect| matches!(effect, GameEffect::Fault(_))), "{effects:?}");
}

/// The server may show a draw offer before the move that carries it.
#[test]
fn early_draw_offer_keeps_the_search() {
    let (mut game, number) = e4_is_on_its_way();
    game.on(GameInput::Sent(number, Ok(())));
    let offered = GameState { draw_offers: Offers { white: true, black: false }, ..state("") };
    let effects = game.on(GameInput::State(offered));
    assert_eq!((request(&effects), sent(&effects)), (None, None));
}

#[test]
fn late_event_is_no_takeback() {
    let (mut game, effects) = found(Color::White, "e2e4 e7e5");
    let thinking = request(&effects).expect("our move");
    let effects = game.shows("e2e4");
    assert!(resyncs(&effects) && request(&effects).is_none(), "only the whole state can tell: {effects:?}");
    assert_eq!(game.whole("e2e4 e7e5"), [GameEffect::Forget(Timer::WholeState)], "it was late: the search goes on");
    assert!(sent(&game.decide(thinking, "g1f3")).is_some());
}

#[test]
fn takeback_needs_the_whole_state() {
    let (mut game, effects) = found(Color::White, "e2e4 e7e5 g1f3 b8c6");
    let stale = request(&effects).expect("our move");
    let asks = GameState { takeback_offers: Offers { white: false, black: true }, ..state("e2e4 e7e5 g1f3 b8c6") };
    let id = game.info().id.clone();
    assert!(game.on(GameInput::State(asks.clone())).contains(&GameEffect::Do(Action::Takeback(id.clone(), true))));
    assert!(resyncs(&game.shows("e2e4 e7e5")));
    let effects = game.whole("e2e4 e7e5");
    assert!(request(&effects).is_some() && effects.contains(&GameEffect::RecordMoves));
    assert_eq!(game.decide(stale, "f1b5"), []);
    let asks = GameState { moves: "e2e4 e7e5".to_owned(), ..asks };
    let again = game.on(GameInput::State(asks));
    assert!(again.contains(&GameEffect::Do(Action::Takeback(id, false))), "one a game is enough: {again:?}");
}

/// A takeback that was granted before a restart counts after it.
#[test]
fn takebacks_count_across_restarts() {
    let asks = GameState { takeback_offers: Offers { white: false, black: true }, ..state("e2e4 e7e5 g1f3 b8c6") };
    let answer = |granted| GameEffect::Do(Action::Takeback(GameId::new("abcdefgh"), granted));
    let (_, effects) = GameMachine::new(Instant::now(), info(Color::White), asks.clone(), adjudicator(0));
    assert!(effects.contains(&answer(true)) && effects.contains(&GameEffect::RecordTakeback), "{effects:?}");
    let (_, effects) = GameMachine::new(Instant::now(), info(Color::White), asks, adjudicator(1));
    assert!(effects.contains(&answer(false)) && !effects.contains(&GameEffect::RecordTakeback), "{effects:?}");
}

/// Promise 1: a lost acceptance of a draw offer would cost half a point.
#[test]
fn lost_offer_answer_is_repeated() {
    let moves = "e2e4 e7e5 g1f3";
    let draw = DrawSettings { min_game_length: 0, consecutive_moves: 1, ..DrawSettings::default() };
    let (mut game, effects) = found_with(draw, "e2e4 e7e5");
    game.decide_with(request(&effects).expect("our move"), "g1f3", Some(Score::Cp(0)));
    game.shows(moves);

    let black = Offers { black: true, ..Offers::default() };
    let offers = GameState { draw_offers: black, takeback_offers: black, ..state(moves) };
    let id = game.info().id.clone();
    let answers = [GameEffect::Do(Action::Takeback(id.clone(), false)), GameEffect::Do(Action::Draw(id, true))];
    let answered = |effects: &[GameEffect]| answers.iter().filter(|answer| effects.contains(answer)).count();
    let effects = game.on(GameInput::State(offers.clone()));
    assert_eq!(answered(&effects), 2, "{effects:?}");
    assert!(wakes(&effects, Timer::Offer).is_some(), "{effects:?}");

    let info = Box::new(game.info().clone());
    let effects = game.on(GameInput::Full(info.clone(), offers.clone()));
    assert_eq!(answered(&effects), 0, "the answers may be on their way: {effects:?}");
    assert!(resyncs(&game.is_due(Timer::Offer)));
    assert_eq!(answered(&game.on(GameInput::State(offers.clone()))), 0, "only the whole state can tell");
    let effects = game.on(GameInput::Full(info.clone(), offers.clone()));
    assert_eq!(answered(&effects), 2, "{effects:?}");
    assert!(wakes(&effects, Timer::Offer).is_some(), "{effects:?}");

    // Neither stands any more.
    game.shows(moves);
    assert_eq!(game.is_due(Timer::Offer), []);
    game.on(GameInput::State(offers));
    let effects = game.shows("e2e4 e7e5 g1f3 b8c6");
    assert!(effects.contains(&GameEffect::Forget(Timer::Offer)), "{effects:?}");
    assert_eq!(game.is_due(Timer::Offer), [], "the position has changed");
}

/// A game as a slow server shows it: its clock, and what was asked of it.
struct SlowServer {
    game: GameMachine,
    now: Instant,
    alarms: Vec<(Timer, Instant)>,
    opening: Duration,
    /// Time at which the opening stream sends the state; another request meanwhile restarts it.
    opens: Option<Instant>,
    openings: u32,
}

impl SlowServer {
    /// We have White and have sent e2e4, which the server has taken and whose echo is lost.
    fn that_loses_an_echo(opening: Duration) -> Self {
        let (mut game, number) = e4_is_on_its_way();
        let now = Instant::now();
        let effects = game.handle(now, GameInput::Sent(number, Ok(())));
        let mut server = Self { game, now, alarms: Vec::new(), opening, opens: None, openings: 0 };
        server.carry_out(effects);
        server
    }

    fn carry_out(&mut self, effects: Vec<GameEffect>) {
        for effect in effects {
            match effect {
                GameEffect::Resync => {
                    self.openings += 1;
                    self.opens = Some(self.now + self.opening);
                }
                GameEffect::Wake(timer, after) => {
                    self.alarms.retain(|(known, _)| *known != timer);
                    self.alarms.push((timer, self.now + after));
                }
                GameEffect::Forget(timer) => self.alarms.retain(|(known, _)| *known != timer),
                _ => (),
            }
        }
    }

    /// Lets time pass until the whole state is shown, with these moves; how long it took.
    fn shows(&mut self, moves: &str) -> Duration {
        let began = self.now;
        loop {
            let alarm = self.alarms.iter().min_by_key(|(_, at)| *at).copied();
            let effects = match (alarm, self.opens) {
                (Some((timer, at)), opens) if opens.is_none_or(|opens| at < opens) => {
                    self.alarms.retain(|(known, _)| *known != timer);
                    self.now = at;
                    self.game.handle(at, GameInput::Timer(timer))
                }
                (_, Some(opens)) => {
                    (self.now, self.opens) = (opens, None);
                    let effects = self.game.whole_at(opens, moves);
                    self.carry_out(effects);
                    return self.now - began;
                }
                (_, None) => panic!("nothing will ever be shown"),
            };
            self.carry_out(effects);
            assert!(self.now - began < 600 * SECOND, "{} openings, and none of them lived", self.openings);
        }
    }
}

/// If each question ends the answer to the last one, the timeout must grow until an answer arrives.
#[test]
fn slow_stream_gets_more_time() {
    for (seconds, most) in [(1, 1), (4, 2), (10, 3), (30, 5)] {
        let mut server = SlowServer::that_loses_an_echo(seconds * SECOND);
        server.shows("e2e4 e7e5");
        assert!(server.openings <= most, "{} openings of {seconds} s", server.openings);
        let before = server.openings;
        // What was learnt holds for the rest of the game.
        let effects = server.game.handle(server.now, GameInput::State(state("d2d4")));
        server.carry_out(effects);
        server.shows("e2e4 e7e5");
        assert_eq!(server.openings, before + 1, "an opening takes {seconds} s");
    }
}

#[test]
fn requests_await_possible_answers() {
    let (mut game, _) = found(Color::White, "e2e4 e7e5");
    assert!(resyncs(&game.shows("d2d4")));
    for _ in 0..10 {
        assert!(!resyncs(&game.shows("d2d4")), "it is under way");
    }
    game.whole("e2e4 e7e5");
    assert!(resyncs(&game.shows("d2d4")), "a new doubt is a new question");
}

/// Every line of the stream comes seconds late: that is no reason to open another stream after every move.
#[test]
fn late_stream_extends_the_timeout() {
    let (mut game, number) = e4_is_on_its_way();
    let mut now = Instant::now();
    let patience = wakes(&game.handle(now, GameInput::Sent(number, Ok(()))), Timer::Echo).expect("it is waited for");
    now += 5 * SECOND;
    game.handle(now, GameInput::State(state("e2e4")));
    let effects = game.handle(now, GameInput::State(state("e2e4 e7e5")));
    let (request, line) = (request(&effects).expect("our move"), Arc::clone(&game.line));
    let effects = game.handle(now, GameInput::Decided(request, searched(&line, decided("g1f3"))));
    let (number, _) = sent(&effects).expect("a move is sent");
    let longer = wakes(&game.handle(now, GameInput::Sent(number, Ok(()))), Timer::Echo).expect("it is waited for");
    assert!(patience < 5 * SECOND && longer > 5 * SECOND, "{patience:?}, then {longer:?}");
}

#[test]
fn invalid_moves_are_requested_again() {
    let (mut game, _) = found(Color::White, "e2e4 e7e5");
    let effects = game.whole("e2e5");
    let first = wakes(&effects, Timer::WholeState).expect("another look");
    assert!(!resyncs(&effects), "not at once");
    assert!(resyncs(&game.is_due(Timer::WholeState)));
    let second = wakes(&game.whole("e2e5"), Timer::WholeState).expect("another look");
    assert!(second > first, "{first:?}, then {second:?}");
}

fn limited_for(seconds: u64) -> ActionError {
    let retry_after = Some(Duration::from_secs(seconds));
    ActionError::Limited { retry_after, key: None, opponent: false, detail: "429".to_owned() }
}

#[test]
fn retry_after_is_obeyed_if_time_allows() {
    let (mut game, number) = e4_is_on_its_way();
    let effects = game.on(GameInput::Sent(number, Err(limited_for(10))));
    assert_eq!(wakes(&effects, Timer::Resend), Some(10 * SECOND));
    let whole = game.whole("");
    assert_eq!(sent(&whole), None, "a reopened stream is no reason to send it before");
    assert!(wakes(&whole, Timer::Resend).is_some_and(|after| after > 9 * SECOND), "{whole:?}");

    let (mut game, number) = e4_is_on_its_way();
    let effects = game.on(GameInput::Sent(number, Err(limited_for(50))));
    let delay = wakes(&effects, Timer::Resend).expect("it is sent again");
    assert!(delay <= 60 * SECOND / 8, "{delay:?}: 50 of 60 seconds would lose the game");
}

/// Plays rounds of a knight on either side in which we, White, always have this score; our moves with which a draw was offered or claimed.
fn draws_in_a_quiet_game(draw: DrawSettings, score: i32, white: &[&str], black: &[&str], moves: usize) -> Vec<usize> {
    let (mut game, mut effects) = found_with(draw, "");
    let mut played: Vec<&str> = Vec::new();
    let mut offers = Vec::new();
    for number in 0..moves {
        let ours = white[number % white.len()];
        effects = game.decide_with(request(&effects).expect("our move"), ours, Some(Score::Cp(score)));
        if effects.iter().any(|effect| matches!(effect, GameEffect::Send { offer_draw: true, .. })) {
            offers.push(number);
        }
        played.push(ours);
        played.push(black[number % black.len()]);
        effects = game.on(GameInput::State(state(&played.join(" "))));
    }
    offers
}

#[test]
fn draw_offers_are_spaced() {
    let draw = DrawSettings { min_game_length: 0, consecutive_moves: 1, ..DrawSettings::default() };
    // The same position stands on the board every twelfth move, and for the third time after the last one that is played here.
    let white = ["g1f3", "f3g5", "g5h3", "h3g1"];
    let black = ["b8c6", "c6a5", "a5b3", "b3c5", "c5a6", "a6b8"];
    assert_eq!(draws_in_a_quiet_game(draw, 0, &white, &black, 24), [0, 10, 20]);
}

/// FICS ends no game by repetition without a claim.
#[test]
fn repetition_is_claimed_unless_better() {
    let draw = DrawSettings { offer: false, accept: false, ..DrawSettings::default() };
    let (white, black) = (["g1f3", "f3g1"], ["g8f6", "f6g8"]);
    assert_eq!(draws_in_a_quiet_game(draw.clone(), 0, &white, &black, 6), [4, 5]);
    assert_eq!(draws_in_a_quiet_game(draw.clone(), -80, &white, &black, 6), [4, 5]);
    assert_eq!(draws_in_a_quiet_game(draw, 80, &white, &black, 6), [0; 0]);
}

#[test]
fn rejected_move_is_replaced() {
    let (mut game, mut number) = e4_is_on_its_way();
    let replaced = (0..REFUSALS).find_map(|_| {
        game.on(GameInput::Sent(number, Err(ActionError::Refused("Piece on e2 cannot move to e4".to_owned()))));
        let effects = game.whole_and_pause("");
        match sent(&effects) {
            Some((again, _)) => {
                number = again;
                None
            }
            None => effects.into_iter().find_map(|effect| match effect {
                GameEffect::Search { excluded, .. } => Some(excluded),
                _ => None,
            }),
        }
    });
    assert_eq!(replaced, Some(vec!["e2e4".parse().expect("a move")]));
}

/// A server that cannot take a move now, say because it is on its way already, does not refuse it.
#[test]
fn deferred_move_is_never_replaced() {
    let (mut game, mut number) = e4_is_on_its_way();
    for _ in 0..3 * REFUSALS {
        let on_its_way = ActionError::Unavailable("another move is already on its way".to_owned());
        game.on(GameInput::Sent(number, Err(on_its_way)));
        let effects = game.whole_and_pause("");
        let again = sent(&effects).expect("the same move once more");
        assert_eq!(again.1, "e2e4");
        number = again.0;
    }
}

/// A server that answers every move with 502 and shows the same board again at once must not be flooded.
#[test]
fn failing_server_gets_few_moves() {
    let (mut game, mut number) = e4_is_on_its_way();
    let start = Instant::now();
    let mut now = start;
    let mut attempts = 1;
    while now < start + 10 * SECOND {
        game.handle(now, GameInput::Sent(number, Err(ActionError::Unavailable("Bad gateway (502)".to_owned()))));
        now += Duration::from_millis(1);
        let mut effects = game.whole_at(now, "");
        if let Some(pause) = wakes(&effects, Timer::Resend) {
            now += pause;
            effects = game.handle(now, GameInput::Timer(Timer::Resend));
        }
        number = sent(&effects).expect("it does not give up").0;
        attempts += 1;
    }
    assert!((5..60).contains(&attempts), "{attempts} attempts in ten seconds");
}

/// A reconnection is no new patience for an opponent who does not begin.
#[test]
fn reopened_stream_keeps_absence_time() {
    let start = Instant::now();
    let (mut game, effects) = GameMachine::new(start, info(Color::Black), state(""), adjudicator(0));
    let patience = wakes(&effects, Timer::Abort).expect("it waits");
    let effects = game.whole_at(start + 3 * SECOND, "");
    assert_eq!(wakes(&effects, Timer::Abort), Some(patience - 3 * SECOND));
}

#[test]
fn first_move_extension_is_given_once() {
    let start = Instant::now();
    let (mut game, effects) = GameMachine::new(start, info(Color::Black), state(""), adjudicator(0));
    let patience = wakes(&effects, Timer::Abort).expect("it waits");
    for asked in [3 * SECOND, 5 * SECOND] {
        let (longer, effects) = game.wait_longer(start + asked);
        assert_eq!((longer, wakes(&effects, Timer::Abort)), (Some(2 * patience), Some(2 * patience - asked)));
    }
    assert_eq!(found(Color::White, "").0.wait_longer(start), (None, Vec::new()), "it is our move");
    let mut begun = found(Color::Black, "e2e4 e7e5 g1f3 b8c6").0;
    assert_eq!(begun.wait_longer(start), (None, Vec::new()), "all have begun");
}

/// Promise 1.
#[test]
fn restart_resumes_a_running_game() {
    assert!(request(&found(Color::White, "e2e4 e7e5").1).is_some(), "our move");
    assert_eq!(request(&found(Color::Black, "e2e4 e7e5").1), None, "theirs");
}

#[test]
fn game_end_stops_the_search() {
    let (mut game, _) = found(Color::White, "");
    let effects = game.on(GameInput::State(GameState { status: GameStatus::Aborted, ..state("") }));
    assert_eq!(effects[0], GameEffect::StopSearch);
    assert!(matches!(effects.last(), Some(GameEffect::Over(GameOver::Shown(GameStatus::Aborted, None)))));
    assert_eq!(game.whole(""), [], "what comes later does not matter");
}

#[test]
fn end_may_precede_the_last_move() {
    let (mut game, _) = found(Color::White, "e2e4 e7e5");
    let effects = game.on(GameInput::Finished(Some(GameStatus::Resign), Some(Color::White)));
    assert_eq!(effects[0], GameEffect::StopSearch);
    assert!(wakes(&effects, Timer::LastWord).is_some(), "{effects:?}");
    let effects = game.shows("e2e4 e7e5 g1f3");
    assert!(effects.contains(&GameEffect::RecordMoves) && request(&effects).is_none(), "{effects:?}");
    let last = GameState { status: GameStatus::Resign, ..state("e2e4 e7e5 g1f3 b8c6") };
    let effects = game.on(GameInput::State(last));
    assert!(effects.contains(&GameEffect::RecordMoves), "{effects:?}");
    assert!(matches!(effects.last(), Some(GameEffect::Over(GameOver::Shown(GameStatus::Resign, _)))));
}

#[test]
fn unexplained_end_is_looked_up() {
    let ends = |moves: &str, status: GameStatus, winner| {
        let (mut game, _) = found(Color::White, "");
        let effects = game.on(GameInput::State(GameState { status, winner, ..state(moves) }));
        matches!(effects.last(), Some(GameEffect::Over(GameOver::Shown(..))))
    };
    assert!(ends("f2f3 e7e5 g2g4 d8h4", GameStatus::Mate, Some(Color::Black)));
    assert!(!ends("f2f3 e7e5 g2g4", GameStatus::Mate, Some(Color::Black)), "the mating move was not shown");

    let answered = |status: GameStatus, winner| {
        // The event stream may tell the end before the game's own, or not at all.
        let [first, later] = [true, false].map(|told_first| {
            let (mut game, effects) = found(Color::White, "");
            game.decide(request(&effects).expect("a search"), "e2e4");
            if told_first {
                game.on(GameInput::Finished(Some(status.clone()), winner));
                assert_eq!(game.is_due(Timer::Resend), [], "nothing is sent to a game that has ended");
            }
            let effects = game.on(GameInput::State(GameState { status: status.clone(), winner, ..state("") }));
            matches!(effects.last(), Some(GameEffect::Over(GameOver::Shown(..))))
        });
        assert_eq!(first, later);
        first
    };
    assert!(!answered(GameStatus::Resign, Some(Color::White)), "our move may have been taken before they resigned");
    assert!(!answered(GameStatus::OutOfTime, Some(Color::Black)), "it may have been taken in time for another clock");
    assert!(answered(GameStatus::Resign, Some(Color::Black)), "who resigns does not move");
    assert!(answered(GameStatus::Aborted, None));
}

#[test]
fn dead_stream_game_still_ends() {
    let (mut game, _) = found(Color::White, "");
    game.on(GameInput::Finished(Some(GameStatus::Resign), Some(Color::White)));
    assert!(resyncs(&game.is_due(Timer::LastWord)), "it is asked for once");
    let effects = game.is_due(Timer::LastWord);
    assert!(matches!(effects.last(), Some(GameEffect::Over(GameOver::Told(_, Some(Color::White))))), "{effects:?}");

    let (mut game, _) = found(Color::White, "");
    let effects = game.on(GameInput::Gone);
    assert!(matches!(effects.last(), Some(GameEffect::Over(GameOver::Unknown))), "the end is unknown: {effects:?}");

    let (mut game, _) = found(Color::White, "");
    game.on(GameInput::Finished(Some(GameStatus::Resign), Some(Color::White)));
    let effects = game.on(GameInput::Gone);
    assert!(matches!(effects.last(), Some(GameEffect::Over(GameOver::Told(GameStatus::Resign, _)))), "{effects:?}");
}

/// The event stream may say that a game is over and not how, a moment before the game's own stream shows it.
#[test]
fn end_without_status_awaits_the_stream() {
    let (mut game, _) = found(Color::Black, "e2e4 e7e5");
    let effects = game.on(GameInput::Finished(None, None));
    assert!(wakes(&effects, Timer::LastWord).is_some(), "{effects:?}");
    let last = GameState { status: GameStatus::Resign, winner: Some(Color::Black), ..state("e2e4 e7e5") };
    let effects = game.on(GameInput::State(last));
    assert_eq!(effects.last(), Some(&GameEffect::Over(GameOver::Shown(GameStatus::Resign, Some(Color::Black)))));

    let (mut game, _) = found(Color::Black, "e2e4 e7e5");
    game.on(GameInput::Finished(None, None));
    assert!(resyncs(&game.is_due(Timer::LastWord)), "it is asked for once");
    assert_eq!(game.on(GameInput::Finished(None, None)), [], "it says the same again");
    let effects = game.is_due(Timer::LastWord);
    assert_eq!(effects.last(), Some(&GameEffect::Over(GameOver::Unknown)));
}

/// Promise 5: a won game is not recorded as one without a result.
#[test]
fn unnamed_winner_is_derived() {
    let ends = |moves: &str, status: GameStatus, told: Option<Color>| {
        let (mut game, _) = found(Color::Black, "");
        if told.is_some() {
            game.on(GameInput::Finished(Some(status.clone()), told));
        }
        let effects = game.on(GameInput::State(GameState { status, ..state(moves) }));
        match effects.last() {
            Some(GameEffect::Over(end)) => end.clone(),
            other => panic!("{other:?}"),
        }
    };
    let (mate, resign) = (GameStatus::Mate, GameStatus::Resign);
    assert_eq!(ends("f2f3 e7e5 g2g4 d8h4", mate.clone(), None), GameOver::Shown(mate, Some(Color::Black)));
    let told = Some(Color::White);
    assert_eq!(ends("e2e4 e7e5", resign.clone(), told), GameOver::Shown(resign, told), "the event stream said so");
    for status in [GameStatus::Resign, GameStatus::Timeout, GameStatus::OutOfTime] {
        assert_eq!(ends("e2e4 e7e5", status.clone(), None), GameOver::Told(status, None), "it is looked up");
    }
    assert_eq!(ends("e2e4 e7e5", GameStatus::Draw, None), GameOver::Shown(GameStatus::Draw, None));
}

#[test]
fn win_is_claimed_from_absent_player() {
    let (mut game, _) = found(Color::Black, "");
    let effects = game.on(GameInput::OpponentGone(true, Some(8 * SECOND)));
    assert_eq!(wakes(&effects, Timer::Claim), Some(8 * SECOND));
    let effects = game.is_due(Timer::Claim);
    assert!(effects.contains(&GameEffect::Do(Action::ClaimVictory(game.info().id.clone()))));
    assert!(wakes(&effects, Timer::Claim).is_some(), "a server says yes and does nothing when it was too early");
    assert_eq!(game.on(GameInput::OpponentGone(false, None)), [GameEffect::Forget(Timer::Claim)]);

    // The opponent may come back while our stream is cut; only their move shows it.
    game.on(GameInput::OpponentGone(true, Some(8 * SECOND)));
    assert!(game.whole("e2e4").contains(&GameEffect::Forget(Timer::Claim)));
}

#[test]
fn unstarted_game_is_aborted() {
    let (mut game, effects) = found(Color::Black, "");
    assert!(wakes(&effects, Timer::Abort).is_some());
    let id = game.info().id.clone();
    let effects = game.is_due(Timer::Abort);
    assert_eq!(effects[0], GameEffect::Do(Action::Abort(id)));
    assert!(wakes(&effects, Timer::Abort).is_some(), "the request may get lost");
    game.shows("e2e4");
    assert_eq!(game.is_due(Timer::Abort), [], "it has begun");
}

#[test]
fn a_lost_game_is_resigned() {
    let (mut game, effects) = found(Color::Black, "e2e4 e7e5 g1f3 b8c6 f1b5");
    let effects = game.decide_with(request(&effects).expect("our move"), "a7a6", Some(Score::Mate(-2)));
    assert!(effects.contains(&GameEffect::Do(Action::Resign(game.info().id.clone()))), "{effects:?}");
    assert_eq!(sent(&effects), None);
}

/// An offer that is made while we think goes with the move; while the opponent thinks it is made at once.
#[test]
fn operators_draw_joins_the_next_move() {
    let offers = |effects: &[GameEffect]| {
        effects.iter().find_map(|effect| match effect {
            GameEffect::Send { offer_draw, .. } => Some(*offer_draw),
            _ => None,
        })
    };
    let (mut game, effects) = found(Color::White, "e2e4 e7e5");
    assert_eq!(game.wants_draw(), DrawCourse::WithNextMove);
    let effects = game.decide(request(&effects).expect("our move"), "g1f3");
    assert_eq!(offers(&effects), Some(true));
    let (number, _) = sent(&effects).expect("a move");
    // The move is on its way and says nothing more.
    assert_eq!(game.wants_draw(), DrawCourse::Offer);
    game.on(GameInput::Sent(number, Err(limited_for(1))));
    assert_eq!(game.wants_draw(), DrawCourse::WithNextMove, "it will be sent again");
    game.shows("e2e4 e7e5 g1f3");
    assert_eq!(game.wants_draw(), DrawCourse::Offer, "they think");
    let effects = game.shows("e2e4 e7e5 g1f3 b8c6");
    let effects = game.decide(request(&effects).expect("our move"), "f1b5");
    assert_eq!(offers(&effects), Some(false), "it was wanted once");

    let offered = GameState { draw_offers: Offers { black: true, white: false }, ..state("e2e4 e7e5 g1f3 b8c6") };
    game.on(GameInput::State(offered));
    assert_eq!(game.wants_draw(), DrawCourse::Take);
    let (mut game, _) = found(Color::White, "");
    assert_eq!(game.wants_draw(), DrawCourse::TooSoon);
}

/// Nothing is searched or sent in a game that the operator has given up, whatever comes before the server shows its end.
#[test]
fn resigned_game_is_not_continued() {
    let (mut game, effects) = found(Color::White, "e2e4 e7e5");
    let search = request(&effects).expect("our move");
    let (may_abort, effects) = game.give_up();
    assert_eq!((may_abort, game.wants_draw()), (false, DrawCourse::TooLate));
    assert!(effects.contains(&GameEffect::StopSearch), "{effects:?}");
    assert_eq!(game.decide(search, "g1f3"), []);
    let wish = Offers { black: true, white: false };
    let wishes = GameState { draw_offers: wish, takeback_offers: wish, ..state("e2e4 e7e5") };
    assert_eq!(game.on(GameInput::State(wishes)), []);
    for timer in [Timer::Resend, Timer::Echo, Timer::Claim, Timer::Abort] {
        assert_eq!(game.is_due(timer), []);
    }
    let effects = game.whole("e2e4 e7e5");
    assert!(request(&effects).is_none() && sent(&effects).is_none(), "{effects:?}");
    let end = GameState { status: GameStatus::Resign, winner: Some(Color::Black), ..state("e2e4 e7e5") };
    let effects = game.on(GameInput::State(end));
    assert_eq!(effects, [GameEffect::Over(GameOver::Shown(GameStatus::Resign, Some(Color::Black)))]);
    assert!(found(Color::White, "").0.give_up().0, "it may be aborted");
}

/// If the server refuses, the game goes on from the state that it shows.
#[test]
fn rejected_resignation_loses_nothing() {
    let (mut game, _) = e4_is_on_its_way();
    game.give_up();
    assert!(resyncs(&game.on(GameInput::NotGivenUp)));
    assert_eq!(request(&game.whole("e2e4")), None, "our move had arrived");
    assert!(request(&game.shows("e2e4 e7e5")).is_some());
}

/// We have Black, have answered 1. e4 with e5, expect 2. Nf3, and think about it.
fn thinking_ahead() -> (GameMachine, u64, RequestId) {
    let (mut game, effects) = found(Color::Black, "e2e4");
    game.ponder_replies(1);
    let (request, line) = (request(&effects).expect("our move"), Arc::clone(&game.line));
    let decision = Decision { ponder: Some("g1f3".parse().expect("a move")), ..decided("e7e5") };
    let effects = game.on(GameInput::Decided(request, searched(&line, decision)));
    let send = effects.iter().position(|effect| matches!(effect, GameEffect::Send { .. }));
    let pondering = effects.iter().position(|effect| matches!(effect, GameEffect::Ponder { .. }));
    assert!(send.is_some() && send < pondering, "the move goes first: {effects:?}");
    match (sent(&effects), effects.into_iter().nth(pondering.unwrap_or_default())) {
        (Some((number, _)), Some(GameEffect::Ponder { request, lines })) => {
            assert_eq!(lines.iter().map(|line| line.ply()).collect::<Vec<_>>(), [3]);
            (game, number, request)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn ponder_hit_continues_the_search() {
    let (mut game, number, pondering) = thinking_ahead();
    game.on(GameInput::Sent(number, Ok(())));
    let effects = game.shows("e2e4 e7e5");
    assert!(!effects.contains(&GameEffect::StopSearch), "our own move is no surprise: {effects:?}");
    let effects = game.shows("e2e4 e7e5 g1f3");
    assert!(effects.iter().any(|effect| matches!(effect, GameEffect::PonderHit { .. })), "{effects:?}");
    assert!(request(&effects).is_none() && !effects.contains(&GameEffect::StopSearch), "{effects:?}");
    let effects = game.decide(pondering, "b8c6");
    assert_eq!(sent(&effects).map(|(_, uci)| uci).as_deref(), Some("b8c6"));
}

/// The stream may show our move and the reply to it at once.
#[test]
fn ponder_hit_without_own_echo() {
    let (mut game, _, pondering) = thinking_ahead();
    let effects = game.whole("e2e4 e7e5 g1f3");
    assert!(effects.iter().any(|effect| matches!(effect, GameEffect::PonderHit { .. })), "{effects:?}");
    assert!(sent(&game.decide(pondering, "b8c6")).is_some());
}

#[test]
fn pondered_move_is_sent_at_once() {
    let (mut game, _, pondering) = thinking_ahead();
    assert_eq!(game.decide(pondering, "b8c6"), [], "it is not the bot's move");
    let effects = game.shows("e2e4 e7e5 g1f3");
    assert_eq!(sent(&effects).map(|(_, uci)| uci).as_deref(), Some("b8c6"));
}

/// The search may end for one of the pondered replies in the moment in which another one is played.
#[test]
fn move_for_another_reply_is_dropped() {
    let (mut game, _, pondering) = thinking_ahead();
    let effects = game.whole("e2e4 e7e5 g1f3");
    assert!(effects.iter().any(|effect| matches!(effect, GameEffect::PonderHit { .. })), "{effects:?}");
    let mut other = Line::start(Variant::Standard);
    other.play_all("e2e4 e7e5 d2d4").expect("legal");
    let effects = game.on(GameInput::Decided(pondering, searched(&Arc::new(other), decided("e5d4"))));
    let again = request(&effects).expect("our move is searched");
    assert!(again != pondering && sent(&effects).is_none(), "{effects:?}");
    assert!(sent(&game.decide(again, "b8c6")).is_some());
}

#[test]
fn ponder_miss_stops_the_search_first() {
    let (mut game, _, pondering) = thinking_ahead();
    let effects = game.shows("e2e4 e7e5 d2d4");
    let stop = effects.iter().position(|effect| *effect == GameEffect::StopSearch);
    let think = effects.iter().position(|effect| matches!(effect, GameEffect::Search { .. }));
    assert!(stop.is_some() && stop < think, "{effects:?}");
    assert_eq!(game.decide(pondering, "b8c6"), [], "it comes too late");
    assert!(sent(&game.decide(request(&effects).expect("our move"), "e5d4")).is_some());
}

#[test]
fn takeback_and_end_stop_pondering() {
    let (mut game, _, pondering) = thinking_ahead();
    let effects = game.whole("");
    assert!(effects.contains(&GameEffect::StopSearch), "a takeback: {effects:?}");
    assert_eq!(game.decide(pondering, "b8c6"), []);

    let (mut game, mut number, pondering) = thinking_ahead();
    let effects = loop {
        game.on(GameInput::Sent(number, Err(ActionError::Refused("not to its taste".to_owned()))));
        let effects = game.whole_and_pause("e2e4");
        match sent(&effects) {
            Some((again, _)) => number = again,
            None => break effects,
        }
    };
    assert!(request(&effects).is_some(), "a refused move is replaced: {effects:?}");
    assert_eq!(game.decide(pondering, "b8c6"), []);

    let (mut game, _, pondering) = thinking_ahead();
    let effects = game.on(GameInput::State(GameState { status: GameStatus::Resign, ..state("e2e4 e7e5") }));
    assert!(effects.contains(&GameEffect::StopSearch), "the end: {effects:?}");
    assert_eq!(game.decide(pondering, "b8c6"), []);
}

fn any_input() -> impl Strategy<Value = (u8, &'static str, u64, u8)> {
    let moves =
        ["", "e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3", "e2e4 e7e5 g1f3 b8c6", "e2e4 e7e6", "d2d4", "e2e5", "nonsense"];
    (0..12_u8, prop::sample::select(moves.to_vec()), 0..12_u64, 0..7_u8)
}

proptest! {
    /// Moves that are sent are ours and legal on the shown board, and no position is searched twice in a row.
    #[test]
    fn illegal_moves_are_never_sent(white in any::<bool>(), inputs in prop::collection::vec(any_input(), 0..60)) {
        let color = if white { Color::White } else { Color::Black };
        let (mut game, mut effects) = found(color, "");
        game.ponder_replies(1);
        let mut thinking: Option<(RequestId, Arc<Line>)> = None;
        for (kind, moves, number, detail) in inputs {
            for effect in &effects {
                if let GameEffect::Search { line, request, .. } = effect {
                    prop_assert_eq!(line.turn(), color);
                    prop_assert_eq!(line.fen(), game.line().fen());
                    thinking = Some((*request, Arc::clone(line)));
                }
                if let GameEffect::Ponder { lines, request } = effect {
                    prop_assert!(lines.iter().all(|line| line.turn() == color));
                    thinking = lines.first().map(|line| (*request, Arc::clone(line)));
                }
                if let GameEffect::Send { uci, .. } = effect {
                    prop_assert_eq!(game.line().turn(), color);
                    prop_assert!(game.line().is_legal(*uci), "{} in {}", uci, game.line().fen());
                }
            }
            let error = match detail {
                0 => ActionError::Unavailable(String::new()),
                1 => ActionError::Refused(String::new()),
                2 => ActionError::NotFound(String::new()),
                3 => ActionError::Unauthorised(String::new()),
                _ => ActionError::Limited { retry_after: None, key: None, opponent: false, detail: String::new() },
            };
            let timers =
                [Timer::Resend, Timer::Echo, Timer::Claim, Timer::Abort, Timer::WholeState, Timer::LastWord, Timer::Offer];
            effects = match kind {
                0 | 1 => game.whole(moves),
                2 | 3 => game.shows(moves),
                4 => game.on(GameInput::Sent(number, Ok(()))),
                5 => game.on(GameInput::Sent(number, Err(error))),
                6 => game.on(GameInput::Timer(timers[usize::from(detail) % timers.len()])),
                7 if detail == 5 => game.on(GameInput::Finished(Some(GameStatus::Mate), None)),
                7 if detail == 6 => game.on(GameInput::Finished(None, None)),
                7 => game.on(GameInput::OpponentGone(detail % 2 == 0, Some(SECOND))),
                8 if detail == 4 => game.give_up().1,
                8 if detail == 5 => game.on(GameInput::NotGivenUp),
                8 => {
                    game.wants_draw();
                    Vec::new()
                }
                _ => match &thinking {
                    Some((request, line)) => game.decide_any(*request, line, detail),
                    None => Vec::new(),
                },
            };
        }
    }
}
