use std::fmt::Write;

use rand::RngExt;

use super::*;
use engine::{
    IN_FULL, Position,
    evaluation::{Recipe, evaluate},
};

/// White's expectation for a centipawn, in the data of these tests.
const SCALING: f64 = 0.005;

/// Games of random moves, each position labelled by what the engine with the weights it plays with thinks of it.
fn random_games(games: u64) -> String {
    let mut text = String::new();
    for game in 0..games {
        let mut rng = StdRng::seed_from_u64(game);
        let mut position = Position::from_line("startpos", false, []).expect("the start");
        for _ in 0..60 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play(moves[rng.random_range(0..moves.len())]);
            let board = position.board();
            let value = evaluate(board, &Recipe::COMPLETE) * board.turn().sign();
            let _ = writeln!(text, "{}; {}", board.to_fen(), sigmoid(SCALING * f64::from(value)));
        }
    }
    text
}

fn read(text: &str) -> LabelledPositions {
    let (positions, skipped) = LabelledPositions::read(text.as_bytes(), &Recipe::COMPLETE).expect("memory is readable");
    assert!(skipped.is_empty(), "{skipped:?}");
    positions
}

fn plan(epochs: u32, threads: usize) -> TunePlan {
    TunePlan { epochs, rate: 3.0, pull: 0.0, threads: NonZeroUsize::new(threads).expect("some"), seed: 7 }
}

fn failure(fitted: Result<Weights, Failure>) -> String {
    fitted.expect_err("no weights").to_string()
}

#[test]
fn tuned_evaluation_is_the_played_one() {
    let text = random_games(10);
    let weights = pairs(&WEIGHTS);
    for (line, sample) in text.lines().zip(read(&text).samples) {
        let played = (sample.label / (1.0 - sample.label)).ln() / SCALING;
        // Play rounds the scaled endgame value and then the tapered one. Near 0 and 1 a label
        // carries little information.
        if (0.001..0.999).contains(&sample.label) {
            assert!((sample.value(&weights) - played).abs() < 2.01, "{line}: {} {played}", sample.value(&weights));
        }
    }
}

#[test]
fn disturbed_weight_is_fitted_back() {
    let positions = read(&random_games(40));
    let mut disturbed = WEIGHTS.clone();
    disturbed.threat[0] = Packed::new(WEIGHTS.threat[0].middlegame() + 60, WEIGHTS.threat[0].endgame() + 60);
    let mut seen = Vec::new();
    let stop = AtomicBool::new(false);
    let fitted = tune(&positions, &disturbed, &plan(60, 2), None, &stop, |progress| seen.push(progress.clone()));
    let fitted = fitted.expect("not stopped").threat[0];

    let off = fitted.middlegame().abs_diff(WEIGHTS.threat[0].middlegame());
    assert!(off < 40, "{off} of 60 centipawns off");
    let [before, after] = [seen.first(), seen.last()].map(|progress| progress.expect("61 of them"));
    assert_eq!((before.epoch, after.epoch), (0, 60));
    assert!(after.training < before.training / 2.0 && after.held_out < before.held_out / 2.0, "{before:?} {after:?}");
}

#[test]
fn a_subset_is_fitted_alone() {
    let text = random_games(5);
    let recipe = Recipe::new("mpar".parse().expect("letters"), IN_FULL);
    let (positions, _) = LabelledPositions::read(text.as_bytes(), &recipe).expect("memory is readable");
    let fitted = tune(&positions, &WEIGHTS, &plan(5, 1), None, &AtomicBool::new(false), |_| {}).expect("not stopped");
    assert_eq!(fitted.knight_mobility, WEIGHTS.knight_mobility, "x is not in it");
    assert_ne!(fitted.material, WEIGHTS.material);
    assert_ne!(positions.fingerprint, read(&text).fingerprint, "it is another fit than that of all");
}

#[test]
fn strong_pull_keeps_the_weights() {
    let positions = read(&random_games(5));
    let mut disturbed = WEIGHTS.clone();
    disturbed.threat[0] = Packed::new(80, 80);
    let plan = TunePlan { pull: 1000.0, rate: 0.1, ..plan(20, 1) };
    let fitted = tune(&positions, &disturbed, &plan, None, &AtomicBool::new(false), |_| {}).expect("not stopped");
    assert_eq!(fitted, disturbed);
}

#[test]
fn resumed_tuning_equals_uninterrupted() {
    let positions = read(&random_games(20));
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    let mut start = WEIGHTS.clone();
    start.pair[1] = Packed::ZERO;

    let through = tune(&positions, &start, &plan(4, 1), None, &AtomicBool::new(false), |_| {}).expect("not stopped");
    let stop = AtomicBool::new(false);
    let stop_at_two = |progress: &TuneProgress| stop.store(progress.epoch == 2, Ordering::Relaxed);
    let stopped = tune(&positions, &start, &plan(4, 2), Some(&state), &stop, stop_at_two);
    assert_eq!(failure(stopped), "stopped after 2 epochs; the same command goes on from there");
    let mut epochs = Vec::new();
    let note = |progress: &TuneProgress| epochs.push(progress.epoch);
    let resumed = tune(&positions, &start, &plan(4, 3), Some(&state), &AtomicBool::new(false), note);
    assert_eq!(resumed.expect("not stopped"), through);
    assert_eq!(epochs, [2, 3, 4]);

    let text = std::fs::read_to_string(&state).expect("it is there");
    let other = tune(&read(&random_games(19)), &start, &plan(4, 1), Some(&state), &AtomicBool::new(false), |_| {});
    assert!(failure(other).contains("of a fit with other positions"));
    for epochs in [2, 6] {
        let longer = tune(&positions, &start, &plan(epochs, 1), Some(&state), &AtomicBool::new(false), |_| {});
        assert!(failure(longer).contains("of a fit with other positions"), "with {epochs} epochs the rates are others");
    }
    std::fs::write(&state, &text[..text.len() / 2]).expect("it can be written");
    let cut = tune(&positions, &start, &plan(4, 1), Some(&state), &AtomicBool::new(false), |_| {});
    assert!(failure(cut).contains("not the state of a fit"));
}

#[test]
fn invalid_lines_are_named_and_skipped() {
    let text = "# from one game\n\
        rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1;0.53 # the start\n\
        \n\
        rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 0.5\n\
        rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1;35\n\
        rnbqkbnr/pppppppp/8/8;0.5\n\
        \u{fffd}\r\n\
        rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1; 1\r\n";
    let (positions, skipped) = LabelledPositions::read(text.as_bytes(), &Recipe::COMPLETE).expect("memory is readable");
    assert_eq!(positions.samples.iter().map(|sample| sample.label).collect::<Vec<_>>(), [0.53, 1.0]);
    assert_eq!(skipped.iter().map(|line| line.number).collect::<Vec<_>>(), [4, 5, 6, 7]);
    assert!(skipped[1].reason.starts_with("\"35\" is no expected score"), "{skipped:?}");
    let too_few = tune(&positions, &WEIGHTS, &plan(1, 1), None, &AtomicBool::new(false), |_| {});
    assert!(failure(too_few).starts_with("2 positions are too few"));
}
