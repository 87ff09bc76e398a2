//! Every ending of a game, and its clocks.

use super::*;
use domain::Variant;

const ZERO: Duration = Duration::ZERO;
const SECOND: Duration = Duration::from_secs(1);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn game_of(start: Line, time_control: &str, patience: GamePatience) -> PracticeGame {
    PracticeGame::new(start, time_control.parse().expect("a time control"), patience, ZERO)
}

fn game(time_control: &str) -> PracticeGame {
    impatient(time_control, GamePatience::default())
}

fn impatient(time_control: &str, patience: GamePatience) -> PracticeGame {
    game_of(Line::start(Variant::Standard), time_control, patience)
}

fn from_fen(fen: &str) -> PracticeGame {
    game_of(Line::from_fen(Variant::FromPosition, fen).expect("a position"), "60+0", GamePatience::default())
}

fn uci(text: &str) -> UciMove {
    text.parse().expect("a move")
}

fn play_all(game: &mut PracticeGame, moves: &str, now: Duration) {
    for text in moves.split_ascii_whitespace() {
        game.play(game.line.turn(), uci(text), now).expect("a legal move");
    }
}

fn ended(game: &PracticeGame) -> Option<(End, Option<Color>)> {
    game.outcome.map(|outcome| (outcome.end, outcome.winner))
}

#[test]
fn checkmate_wins() {
    let mut game = game("60+0");
    play_all(&mut game, "f2f3 e7e5 g2g4 d8h4", ZERO);
    assert_eq!(ended(&game), Some((End::Checkmate, Some(Color::Black))));
    assert_eq!(game.play(Color::White, uci("a2a3"), ZERO), Err(GameRefusal::Over));
}

#[test]
fn positions_are_drawn_in_many_ways() {
    let mut stalemate = from_fen("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1");
    play_all(&mut stalemate, "f1f7", ZERO);
    assert_eq!(ended(&stalemate), Some((End::Stalemate, None)));

    let mut bare = from_fen("7k/8/8/8/8/8/1p6/K7 w - - 0 1");
    play_all(&mut bare, "a1b2", ZERO);
    assert_eq!(ended(&bare), Some((End::InsufficientMaterial, None)));

    let mut repeated = game("60+0");
    play_all(&mut repeated, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1", ZERO);
    assert_eq!(ended(&repeated), None);
    play_all(&mut repeated, "f6g8", ZERO);
    assert_eq!(ended(&repeated), Some((End::Repetition, None)));

    let mut long = from_fen("7k/8/8/8/8/8/8/KR6 w - - 99 80");
    play_all(&mut long, "b1b2", ZERO);
    assert_eq!(ended(&long), Some((End::FiftyMoves, None)));
}

#[test]
fn variants_end_by_their_own_rules() {
    let mut game = game_of(Line::start(Variant::KingOfTheHill), "60+0", GamePatience::default());
    play_all(&mut game, "e2e4 a7a6 e1e2 b7b6 e2e3 c7c6 e3d4", ZERO);
    assert_eq!(ended(&game), Some((End::VariantRule, Some(Color::White))));
    assert_eq!(game.status(), GameStatus::VariantEnd);
}

#[test]
fn clocks_start_after_both_moved() {
    let mut game = game("60+2");
    play_all(&mut game, "e2e4", ms(10_000));
    play_all(&mut game, "e7e5", ms(30_000));
    let clocks = game.clocks(ms(30_000)).expect("clocks");
    assert_eq!((clocks.white.remaining, clocks.black.remaining), (ms(60_000), ms(60_000)));
    assert_eq!(game.clocks(ms(35_000)).map(|clocks| clocks.white.remaining), Some(ms(55_000)));
    play_all(&mut game, "g1f3", ms(36_000));
    assert_eq!(game.clocks(ms(37_000)).map(|clocks| clocks.white.remaining), Some(ms(56_000)));
    assert_eq!(game.clocks(ms(37_000)).map(|clocks| clocks.black.remaining), Some(ms(59_000)));
    assert_eq!(game.next_deadline(), Some(ms(96_000)));
}

#[test]
fn flag_falls_exactly_on_time() {
    let mut game = game("60+0");
    play_all(&mut game, "e2e4 e7e5", ZERO);
    game.tick(ms(59_999));
    assert_eq!(ended(&game), None);
    game.tick(ms(60_000));
    assert_eq!(ended(&game), Some((End::OutOfTime, Some(Color::Black))));
    assert_eq!(game.clocks(ms(70_000)).map(|clocks| clocks.white.remaining), Some(ZERO));
}

#[test]
fn move_after_the_flag_is_late() {
    let mut game = game("60+0");
    play_all(&mut game, "e2e4 e7e5", ZERO);
    assert_eq!(game.play(Color::White, uci("g1f3"), ms(60_001)), Err(GameRefusal::Over));
    assert_eq!(ended(&game), Some((End::OutOfTime, Some(Color::Black))));
}

#[test]
fn bare_king_draws_on_time() {
    let mut game = from_fen("7k/8/8/8/8/8/1P6/K7 w - - 0 1");
    play_all(&mut game, "b2b3 h8h7", ZERO);
    game.tick(ms(60_000));
    assert_eq!(ended(&game), Some((End::OutOfTime, None)));
}

#[test]
fn a_draw_is_agreed_by_two() {
    let mut game = game("60+0");
    game.draw(Color::White, true, ZERO);
    assert_eq!(game.draw_offer, None, "too early to offer");
    play_all(&mut game, "e2e4 e7e5", ZERO);
    game.draw(Color::White, true, ZERO);
    assert_eq!(game.draw_offer, Some(Color::White));
    game.draw(Color::White, true, ZERO);
    assert_eq!(ended(&game), None, "a player cannot accept the own offer");
    play_all(&mut game, "g1f3", ZERO);
    assert_eq!(game.draw_offer, Some(Color::White), "one's own move does not withdraw it");
    game.draw(Color::Black, true, ZERO);
    assert_eq!(ended(&game), Some((End::Agreement, None)));
}

#[test]
fn declined_draw_blocks_new_offers() {
    let mut game = game("60+0");
    play_all(&mut game, "e2e4 e7e5", ZERO);
    game.draw(Color::White, true, ZERO);
    game.draw(Color::Black, false, ZERO);
    assert_eq!(game.draw_offer, None);
    game.draw(Color::White, true, ZERO);
    assert_eq!(game.draw_offer, None);
    play_all(&mut game, "g1f3", ZERO);
    game.draw(Color::Black, true, ZERO);
    assert_eq!(game.draw_offer, Some(Color::Black), "the other side may");
    play_all(&mut game, "b8c6 f1b5", ZERO);
    assert_eq!(game.draw_offer, None, "the opponent's move declines");
}

#[test]
fn takeback_undoes_own_move() {
    let mut game = game("60+0");
    play_all(&mut game, "e2e4 e7e5 g1f3 b8c6", ZERO);
    game.takeback(Color::Black, true, ZERO);
    game.takeback(Color::White, true, ZERO);
    assert_eq!((game.line.ply(), game.line.turn()), (3, Color::Black));
    game.takeback(Color::White, true, ZERO);
    assert_eq!(game.takeback_offer, Some((Color::White, 1)));
    game.takeback(Color::Black, false, ZERO);
    assert_eq!(game.takeback_offer, None);
    play_all(&mut game, "b8c6", ZERO);
    game.takeback(Color::White, true, ZERO);
    game.takeback(Color::Black, true, ZERO);
    assert_eq!((game.line.ply(), game.line.turn()), (2, Color::White));
    assert_eq!(game.move_times.len(), 2);
}

#[test]
fn abort_is_limited_to_two_plies() {
    let mut early = game("60+0");
    play_all(&mut early, "e2e4", ZERO);
    assert_eq!(early.resign(Color::Black, ZERO), Ok(()));
    assert_eq!(ended(&early), Some((End::Aborted, None)));

    let mut late = game("60+0");
    play_all(&mut late, "e2e4 e7e5", ZERO);
    assert_eq!(late.abort(Color::White, ZERO), Err(GameRefusal::CannotAbort));
    assert_eq!(late.resign(Color::Black, ZERO), Ok(()));
    assert_eq!(ended(&late), Some((End::Resignation, Some(Color::White))));
    assert_eq!(late.resign(Color::White, ZERO), Err(GameRefusal::Over));
}

#[test]
fn unstarted_game_is_aborted() {
    let patience = GamePatience { first_move: Some(ms(15_000)), ..GamePatience::default() };
    let mut game = impatient("unlimited", patience);
    play_all(&mut game, "e2e4", ms(10_000));
    assert_eq!(game.next_deadline(), Some(ms(25_000)));
    game.tick(ms(25_000));
    assert_eq!(ended(&game), Some((End::Aborted, None)));
}

#[test]
fn absent_opponent_loses_by_claim() {
    let patience = GamePatience { gone_after: ms(1000), claim_after: ms(8000), ..GamePatience::default() };
    let mut game = impatient("600+0", patience);
    assert_eq!(game.claim_victory(Color::White, ZERO), Err(GameRefusal::CannotClaim));
    play_all(&mut game, "e2e4 e7e5", ZERO);
    game.take_changes();

    game.set_present(Color::Black, false, ms(1000));
    assert_eq!(game.next_deadline(), Some(ms(2000)));
    game.tick(ms(2000));
    assert_eq!(game.take_changes(), [GameChange::Gone(Color::Black, ms(8000))]);
    assert_eq!(game.claim_victory(Color::White, ms(9999)), Ok(()));
    assert_eq!(ended(&game), None, "a claim that comes too early does nothing");
    game.set_present(Color::Black, true, ms(9999));
    assert_eq!(game.take_changes(), [GameChange::Back(Color::Black)]);

    game.set_present(Color::Black, false, ms(20_000));
    game.tick(ms(29_000));
    assert_eq!(game.take_changes(), [GameChange::Gone(Color::Black, ZERO)]);
    assert_eq!(game.claim_victory(Color::Black, ms(29_000)), Ok(()));
    assert_eq!(ended(&game), None, "only the one who is there may claim");
    assert_eq!(game.claim_victory(Color::White, ms(29_000)), Ok(()));
    assert_eq!(ended(&game), Some((End::Abandoned, Some(Color::White))));
}

#[test]
fn correspondence_gives_days_a_move() {
    let mut game = game("2d");
    let day = Duration::from_hours(24);
    play_all(&mut game, "e2e4", day);
    assert_eq!(game.clocks(day * 2).map(|clocks| clocks.black.remaining), Some(day));
    game.tick(day * 3);
    assert_eq!(ended(&game), Some((End::OutOfTime, Some(Color::White))));
}

#[test]
fn an_illegal_move_changes_nothing() {
    let mut game = game("60+0");
    let refused = game.play(Color::White, uci("e2e5"), ZERO);
    assert!(matches!(refused, Err(GameRefusal::Illegal(_))), "{refused:?}");
    assert_eq!(game.play(Color::Black, uci("e7e5"), ZERO), Err(GameRefusal::NotYourTurn));
    assert_eq!((game.line.ply(), game.take_changes()), (0, vec![]));
}

#[test]
fn claimed_flag_falls() {
    let mut game = impatient("60+0", GamePatience { flags_fall: false, ..GamePatience::default() });
    play_all(&mut game, "e2e4 e7e5", ZERO);
    let late = 61 * SECOND;
    assert_eq!(game.claim_flag(Color::Black, 59 * SECOND), Ok(false));
    assert_eq!(game.next_deadline(), None);
    game.tick(late);
    assert_eq!(game.outcome, None);
    assert_eq!(game.claim_flag(Color::White, late), Ok(false), "a player cannot claim the own flag");
    assert_eq!(game.claim_flag(Color::Black, late), Ok(true));
    assert_eq!(game.outcome, Some(GameOutcome::won(Color::Black, End::OutOfTime)));
}

#[test]
fn clocks_stop_while_adjourned() {
    let mut game = game("60+1");
    play_all(&mut game, "e2e4 e7e5", ZERO);
    game.lose_connection(Color::Black, Some(Stop::Adjourn), 10 * SECOND);
    assert_eq!((game.is_adjourned, game.resume_offer, game.left), (true, None, Some(Color::Black)));
    assert_eq!(game.play(Color::White, uci("g1f3"), 11 * SECOND), Err(GameRefusal::Adjourned));
    assert_eq!(game.next_deadline(), None);

    game.resume(Color::White, true, 1000 * SECOND);
    assert!(game.is_adjourned && game.resume_offer == Some(Color::White) && !game.was_resumed);
    game.resume(Color::Black, true, 1001 * SECOND);
    assert_eq!((game.is_adjourned, game.left, game.was_resumed), (false, None, true));
    assert_eq!(game.clocks(1002 * SECOND).expect("clocks").white.remaining, 49 * SECOND);
    assert!(game.take_changes().ends_with(&[GameChange::Adjourned, GameChange::Resumed]));
}

#[test]
fn short_games_are_not_stored() {
    let mut game = game("60+1");
    play_all(&mut game, "e2e4", ZERO);
    game.lose_connection(Color::White, Some(Stop::Adjourn), SECOND);
    assert_eq!(game.outcome, Some(GameOutcome::aborted()));
}

#[test]
fn both_must_want_to_stop() {
    let mut game = game("60+1");
    play_all(&mut game, "e2e4 e7e5 g1f3", ZERO);
    game.stop(Color::White, Stop::Abort, true, SECOND);
    game.stop(Color::White, Stop::Abort, true, SECOND);
    assert!(game.abort_offer == Some(Color::White) && game.outcome.is_none());
    game.play(Color::Black, uci("b8c6"), SECOND).expect("legal");
    assert_eq!(game.abort_offer, None, "a move declines");
    game.stop(Color::White, Stop::Adjourn, true, SECOND);
    game.stop(Color::Black, Stop::Adjourn, true, SECOND);
    assert!(game.is_adjourned && game.left.is_none());
}
