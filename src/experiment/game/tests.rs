use super::*;
use domain::{Clock, Line, UciMove, Variant};

type Chosen = Result<ChosenMove<UciMove>, PlayerFailure>;

/// Plays given moves in one game, then as ordered, and records the clocks.
struct Script {
    moves: &'static [&'static str],
    then: fn() -> Chosen,
    shown: Vec<Clocks>,
}

impl MatchPlayer<Line> for Script {
    fn new_game(&mut self, _: &Line) -> Result<(), PlayerFailure> {
        Ok(())
    }

    fn choose(&mut self, turn: &MoveRequest<Line>) -> Chosen {
        self.shown.extend(turn.clocks);
        let Some((text, rest)) = self.moves.split_first() else { return (self.then)() };
        self.moves = rest;
        Ok(ChosenMove { best: text.parse().expect("a move"), score: Some(Score::Cp(0)), depth: 1, nodes: 1 })
    }
}

/// Plays these moves and crashes then.
fn script(moves: &'static [&'static str]) -> Script {
    Script { moves, then: || Err(PlayerFailure::Failed("ended".to_owned())), shown: Vec::new() }
}

const NODES: Pace = Pace::Nodes(1);

fn rules() -> MatchRules<Line> {
    MatchRules::drawn_after(100, Adjudication::NONE)
}

fn game(opening: &Line, mut white: Script, mut black: Script, pace: Pace, rules: &MatchRules<Line>) -> MatchGame {
    play(opening, (&mut white, pace), (&mut black, pace), rules, &|| false).expect("not stopped")
}

#[test]
fn mate_and_repetition_are_scored() {
    let start = Line::start(Variant::Standard);
    let fools = game(&start, script(&["f2f3", "g2g4"]), script(&["e7e5", "d8h4"]), NODES, &rules());
    assert_eq!((fools.ending, fools.white, fools.moves.len()), (GameEnding::by_rule("checkmate"), 0.0, 4));

    let to_and_fro = script(&["g1f3", "f3g1", "g1f3", "f3g1"]);
    let drawn = game(&start, to_and_fro, script(&["g8f6", "f6g8", "g8f6", "f6g8"]), NODES, &rules());
    assert_eq!((drawn.ending, drawn.white), (GameEnding::by_rule("repetition"), 0.5));
}

#[test]
fn failing_player_loses_with_a_reason() {
    let start = Line::start(Variant::Standard);
    let against_decent = |white| game(&start, white, script(&["g8f6"; 3]), NODES, &rules());
    let crash = against_decent(script(&[]));
    assert_eq!((crash.ending, crash.white), (GameEnding::Fault(PlayerFault::Crash("ended".to_owned())), 0.0));
    let illegal = against_decent(script(&["e2e5"]));
    assert_eq!(illegal.ending, GameEnding::Fault(PlayerFault::IllegalMove("e2e5".to_owned())));
    let panicking = against_decent(Script { then: || panic!("a bug"), ..script(&[]) });
    assert_eq!(panicking.ending, GameEnding::Fault(PlayerFault::Crash("panicked".to_owned())));
    let resigning = Script { then: || Err(PlayerFailure::Resigned), ..script(&[]) };
    let resigns = game(&start, script(&["e2e4"]), resigning, NODES, &rules());
    assert_eq!((resigns.ending, resigns.white), (GameEnding::Resignation, 1.0));
}

#[test]
fn a_clock_that_runs_out_loses() {
    let start = Line::start(Variant::Standard);
    let pace = Pace::MoveTime(Duration::from_nanos(1));
    let late = game(&start, script(&["e2e4"]), script(&[]), pace, &rules());
    assert!(matches!(late.ending, GameEnding::Fault(PlayerFault::TimeLoss(_))), "{:?}", late.ending);
    let generous = MatchRules { margin: Duration::from_secs(60), longest: 1, ..rules() };
    let in_time = game(&start, script(&["e2e4"]), script(&["e7e5"]), pace, &generous);
    assert_eq!((in_time.ending, in_time.white), (GameEnding::Length, 0.5));
}

#[test]
fn clockless_opponent_does_not_flag() {
    let start = Line::start(Variant::Standard);
    let shown_against = |theirs: Pace| {
        let clock = Pace::Clock { initial: Duration::from_secs(3600), increment: Duration::from_secs(1) };
        let (mut watcher, mut other) = (script(&["e2e4", "g1f3"]), script(&["e7e5", "b8c6"]));
        let rules = MatchRules { longest: 2, ..rules() };
        let played = play(&start, (&mut watcher, clock), (&mut other, theirs), &rules, &|| false);
        assert_eq!(played.map(|game| game.moves.len()), Some(4));
        watcher.shown
    };
    for theirs in [NODES, Pace::MoveTime(Duration::from_secs(60))] {
        let shown = shown_against(theirs);
        assert_eq!(shown.len(), 2, "before each of its moves");
        let alike = |clocks: &Clocks| clocks.white == clocks.black && !clocks.white.remaining.is_zero();
        assert!(shown.iter().all(alike), "{shown:?}");
    }
    let (initial, increment) = (Duration::from_secs(60), Duration::ZERO);
    let shown = shown_against(Pace::Clock { initial, increment });
    assert_eq!(shown[0].black, Clock { remaining: initial, increment }, "who has a clock is shown with that");
}

#[test]
fn long_games_are_scored_by_search() {
    let queen_up = Line::from_fen(Variant::Standard, "4k3/8/8/8/8/8/3QPPP1/4K3 b - - 0 1").expect("a position");
    let rules = MatchRules { longest: 1, truncation: Some(2000), ..rules() };
    let cut = game(&queen_up, script(&["d2d1"]), script(&["e8e7"]), NODES, &rules);
    assert!(matches!(cut.ending, GameEnding::Truncated(centipawns) if centipawns > 250), "{:?}", cut.ending);
    assert_eq!(cut.white, 1.0);
}

#[test]
fn a_game_survives_its_file() {
    let start = Line::start(Variant::Standard);
    let played = game(&start, script(&["e2e4"]), script(&["e7e5"]), NODES, &rules());
    let text = serde_json::to_string(&played).expect("JSON");
    assert!(!text.contains("\"t\""), "no time where nodes are counted: {text}");
    assert_eq!(serde_json::from_str::<MatchGame>(&text).expect("the same"), played);
}

#[test]
fn endings_keep_their_words_in_files() {
    for (ending, file, word) in [
        (GameEnding::by_rule("fifty-moves"), r#""fifty-moves""#, "fifty moves"),
        (GameEnding::by_rule("insufficient-material"), r#""insufficient-material""#, "insufficient material"),
        (GameEnding::WonByScore, r#""won-by-score""#, "won by score"),
        (GameEnding::Truncated(-7), r#"{"truncated":-7}"#, "truncated"),
        (GameEnding::Fault(PlayerFault::TimeLoss(3)), r#"{"fault":{"time-loss":3}}"#, "loss on time"),
    ] {
        assert_eq!(serde_json::to_string(&ending).expect("JSON"), file);
        assert_eq!(serde_json::from_str::<GameEnding>(file).expect(file), ending);
        assert_eq!(ending.word(), word);
    }
}
