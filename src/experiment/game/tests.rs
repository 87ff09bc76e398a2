use super::*;
use domain::{Clock, Line, UciMove, Variant};

/// Plays given moves, then as ordered.
struct Script {
    moves: Vec<&'static str>,
    then: fn() -> Result<ChosenMove<UciMove>, PlayerFailure>,
    next: usize,
}

impl Script {
    fn new(moves: &[&'static str], then: fn() -> Result<ChosenMove<UciMove>, PlayerFailure>) -> Self {
        Self { moves: moves.to_vec(), then, next: 0 }
    }
}

fn choice(text: &str) -> Result<ChosenMove<UciMove>, PlayerFailure> {
    Ok(ChosenMove { best: text.parse().expect("a move"), score: Some(Score::Cp(0)), depth: 1, nodes: 1 })
}

impl MatchPlayer<Line> for Script {
    fn new_game(&mut self, _: &Line) -> Result<(), PlayerFailure> {
        self.next = 0;
        Ok(())
    }

    fn choose(&mut self, _: &MoveRequest<Line>) -> Result<ChosenMove<UciMove>, PlayerFailure> {
        self.next += 1;
        self.moves.get(self.next - 1).map_or_else(|| (self.then)(), |text| choice(text))
    }
}

/// Plays as ordered, and records the clocks.
struct Watcher {
    script: Script,
    shown: Vec<Clocks>,
}

impl MatchPlayer<Line> for Watcher {
    fn new_game(&mut self, opening: &Line) -> Result<(), PlayerFailure> {
        self.script.new_game(opening)
    }

    fn choose(&mut self, turn: &MoveRequest<Line>) -> Result<ChosenMove<UciMove>, PlayerFailure> {
        self.shown.extend(turn.clocks);
        self.script.choose(turn)
    }
}

const NODES: Pace = Pace::Nodes(1);

fn rules() -> MatchRules<Line> {
    let adjudication = Adjudication::NONE;
    MatchRules { adjudication, tables: None, longest: 100, truncation: None, margin: Duration::ZERO }
}

fn game(opening: &Line, white: &mut Script, black: &mut Script, pace: Pace, rules: &MatchRules<Line>) -> MatchGame {
    play(opening, (white, pace), (black, pace), rules, &|| false).expect("not stopped")
}

fn broken() -> Result<ChosenMove<UciMove>, PlayerFailure> {
    Err(PlayerFailure::Failed("ended".to_owned()))
}

#[test]
fn mate_and_repetition_are_scored() {
    let start = Line::start(Variant::Standard);
    let fools = game(
        &start,
        &mut Script::new(&["f2f3", "g2g4"], broken),
        &mut Script::new(&["e7e5", "d8h4"], broken),
        NODES,
        &rules(),
    );
    assert_eq!((fools.ending, fools.white, fools.moves.len()), (GameEnding::Checkmate, 0.0, 4));

    let to_and_fro = ["g1f3", "f3g1", "g1f3", "f3g1"];
    let back = ["g8f6", "f6g8", "g8f6", "f6g8"];
    let drawn = game(&start, &mut Script::new(&to_and_fro, broken), &mut Script::new(&back, broken), NODES, &rules());
    assert_eq!((drawn.ending, drawn.white), (GameEnding::Repetition, 0.5));
}

#[test]
fn failing_player_loses_with_a_reason() {
    let start = Line::start(Variant::Standard);
    let decent = || Script::new(&["g8f6"; 3], broken);
    let crash = game(&start, &mut Script::new(&[], broken), &mut decent(), NODES, &rules());
    assert_eq!((crash.ending, crash.white), (GameEnding::Fault(PlayerFault::Crash("ended".to_owned())), 0.0));
    let illegal = game(&start, &mut Script::new(&["e2e5"], broken), &mut decent(), NODES, &rules());
    assert_eq!(illegal.ending, GameEnding::Fault(PlayerFault::IllegalMove("e2e5".to_owned())));
    let panicking = game(&start, &mut Script::new(&[], || panic!("a bug")), &mut decent(), NODES, &rules());
    assert_eq!(panicking.ending, GameEnding::Fault(PlayerFault::Crash("panicked".to_owned())));
    let resigns = game(
        &start,
        &mut Script::new(&["e2e4"], broken),
        &mut Script::new(&[], || Err(PlayerFailure::Resigned)),
        NODES,
        &rules(),
    );
    assert_eq!((resigns.ending, resigns.white), (GameEnding::Resignation, 1.0));
}

#[test]
fn a_clock_that_runs_out_loses() {
    let start = Line::start(Variant::Standard);
    let pace = Pace::MoveTime(Duration::from_nanos(1));
    let late = game(&start, &mut Script::new(&["e2e4"], broken), &mut Script::new(&[], broken), pace, &rules());
    assert!(matches!(late.ending, GameEnding::Fault(PlayerFault::TimeLoss(_))), "{:?}", late.ending);
    let generous = MatchRules { margin: Duration::from_secs(60), longest: 1, ..rules() };
    let in_time =
        game(&start, &mut Script::new(&["e2e4"], broken), &mut Script::new(&["e7e5"], broken), pace, &generous);
    assert_eq!((in_time.ending, in_time.white), (GameEnding::Length, 0.5));
}

#[test]
fn clockless_opponent_does_not_flag() {
    let start = Line::start(Variant::Standard);
    let shown_against = |theirs: Pace| {
        let clock = Pace::Clock { initial: Duration::from_secs(3600), increment: Duration::from_secs(1) };
        let mut watcher = Watcher { script: Script::new(&["e2e4", "g1f3"], broken), shown: Vec::new() };
        let mut other = Script::new(&["e7e5", "b8c6"], broken);
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
    let cut = game(&queen_up, &mut Script::new(&["d2d1"], broken), &mut Script::new(&["e8e7"], broken), NODES, &rules);
    assert!(matches!(cut.ending, GameEnding::Truncated(centipawns) if centipawns > 250), "{:?}", cut.ending);
    assert_eq!(cut.white, 1.0);
}

#[test]
fn a_game_survives_its_file() {
    let start = Line::start(Variant::Standard);
    let played =
        game(&start, &mut Script::new(&["e2e4"], broken), &mut Script::new(&["e7e5"], broken), NODES, &rules());
    let text = serde_json::to_string(&played).expect("JSON");
    assert!(!text.contains("\"t\""), "no time where nodes are counted: {text}");
    assert_eq!(serde_json::from_str::<MatchGame>(&text).expect("the same"), played);
}
