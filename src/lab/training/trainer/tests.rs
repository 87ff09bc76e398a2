use std::fs;

use engine::{IN_FULL, Knowledge, Position, board::Role, evaluation::Recipe};

use super::*;
use crate::training::{
    Record,
    dataset::{DatasetSelection, Mixture},
};

/// Positions after random moves, labelled as better for the side with more pawns and pieces.
fn synthetic() -> Dataset {
    let mut random = SplitMix::new(5);
    let mut records = Vec::new();
    for game in 0..300 {
        let mut position = Position::from_line("startpos", false, []).expect("a line");
        for _ in 0..60 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play(moves[random.below(moves.len())]);
            let board = position.board();
            let worth = |role: Role, worth: i32| {
                let [own, other] = [board.turn(), !board.turn()].map(|color| board.men(color, role).count() as i32);
                (own - other) * worth
            };
            let score =
                worth(Role::Pawn, 50) + worth(Role::Knight, 150) + worth(Role::Bishop, 150) + worth(Role::Rook, 250);
            let mut record = Record::new(board).expect("standard chess");
            record.own = Some(score as i16);
            record.game = game;
            records.push(record);
        }
    }
    let base = Recipe::new(Knowledge::NONE, IN_FULL);
    let selection = DatasetSelection { validation: 0.1, ..DatasetSelection::default() };
    Dataset::new(records, &Mixture { result: 0.0, ..Mixture::default() }, &selection, &base)
}

fn plan() -> Plan {
    Plan { epochs: 4, batch: 128, rate: 0.004, ..Plan::default() }
}

fn run(
    plan: &Plan,
    dataset: &Dataset,
    threads: usize,
    checkpoint: Option<&Path>,
    stop: &AtomicBool,
) -> TrainingOutcome {
    let threads = NonZeroUsize::new(threads).expect("at least one");
    train(plan, dataset, threads, checkpoint, stop, |_| {}).expect("a usable checkpoint")
}

fn finished(outcome: TrainingOutcome) -> Trained {
    match outcome {
        TrainingOutcome::Finished(trained) => trained,
        TrainingOutcome::Stopped { steps } => panic!("stopped after {steps} steps"),
    }
}

#[test]
fn training_learns_material() {
    let dataset = synthetic();
    let mut losses = Vec::new();
    let stop = AtomicBool::new(false);
    let outcome = train(&plan(), &dataset, NonZeroUsize::MIN, None, &stop, |epoch| losses.push(epoch.validation.all));
    let trained = finished(outcome.expect("no checkpoint"));
    let last = *losses.last().expect("four epochs");
    let base = validate(&trained, &dataset.validation, 200.0).base;
    assert!(last < base / 4.0, "{losses:?} where knowing nothing gives {base}");

    let quantised = quantise(&trained, trained.header(&plan(), &dataset), &dataset.validation).expect("within bounds");
    assert!(quantised.error.root_mean_square < 3.0 && quantised.error.largest < 20.0, "{:?}", quantised.error);
    let played = validate_net(&quantised.net, &dataset.validation, 200.0);
    assert!((played.all - last).abs() < 0.1 * last, "{played:?} instead of {last}");
    assert_eq!(quantised.net.header().positions, dataset.training.len() as u64);
}

#[test]
fn resumed_training_is_identical() {
    let dataset = synthetic();
    let plan = Plan { epochs: 2, ..plan() };
    let never = AtomicBool::new(false);
    let whole = finished(run(&plan, &dataset, 1, None, &never));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("some.checkpoint");
    // Ended after the first epoch, as by a signal.
    let stop = AtomicBool::new(false);
    let stopped = train(&plan, &dataset, NonZeroUsize::MIN, Some(&file), &stop, |_| stop.store(true, Relaxed));
    assert!(
        matches!(stopped, Ok(TrainingOutcome::Stopped { steps }) if steps == dataset.training.len().div_ceil(128) as u64)
    );
    assert_eq!(finished(run(&plan, &dataset, 3, Some(&file), &never)), whole);
}

#[test]
fn training_continues_from_a_net() {
    let dataset = synthetic();
    let stop = AtomicBool::new(false);
    let first = finished(run(&plan(), &dataset, 2, None, &stop));
    let quantised = quantise(&first, first.header(&plan(), &dataset), &dataset.validation);
    let net = quantised.expect("within bounds").net;
    let further = Plan { start: Some(Arc::new(net)), rate: 0.0, decay: 0.0, epochs: 1, ..plan() };
    let second = finished(run(&further, &dataset, 2, None, &stop));
    let known = &dataset.validation[0].record;
    assert!((second.value(known) - first.value(known)).abs() < 5.0, "what it knew it knows");
    let wider = finished(run(&Plan { width: 256, ..further.clone() }, &dataset, 2, None, &stop));
    assert!((wider.value(known) - second.value(known)).abs() < 0.1, "what is new in a wider one counts nothing yet");
    assert_eq!(second.header(&further, &dataset).positions, 2 * dataset.training.len() as u64);
}

#[test]
fn foreign_checkpoint_is_one_error() {
    let dataset = synthetic();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("some.checkpoint");
    run(&plan(), &dataset, 1, Some(&file), &AtomicBool::new(true));
    let other = Plan { seed: 2, ..plan() };
    let read = |plan: &Plan| {
        let failed = train(plan, &dataset, NonZeroUsize::MIN, Some(&file), &AtomicBool::new(true), |_| {});
        failed.expect_err("it cannot be used").to_string()
    };
    assert!(read(&other).contains("another plan"), "{}", read(&other));
    fs::write(&file, "text").expect("a writable folder");
    assert!(read(&plan()).contains("no checkpoint"), "{}", read(&plan()));
}

#[test]
fn masked_net_sees_only_pawns() {
    let dataset = synthetic();
    let mask: Mask = "pk".parse().expect("a mask");
    let trained = finished(run(&Plan { mask, epochs: 1, ..plan() }, &dataset, 2, None, &AtomicBool::new(false)));
    let value = |fen: &str| {
        let board = engine::Board::from_fen(fen).expect("a position");
        trained.value(&Record::new(&board).expect("standard chess"))
    };
    assert_eq!(value("4k3/pp6/8/8/8/8/PPP5/4K2R w - - 0 1"), value("n3k3/pp6/8/8/8/8/PPP5/4K3 w - - 0 1"));
    assert!(value("4k3/8/8/8/8/8/PPPPP3/4K3 w - - 0 1") > value("4k3/ppppp3/8/8/8/8/8/4K3 w - - 0 1"));
}

#[test]
fn gradient_is_the_slope_of_the_value() {
    let dataset = synthetic();
    let shape = Shape { width: 256 };
    let mut numbers = shape.initial(3);
    let inputs = Inputs::new(&dataset.training[40].record, Mask::ALL);
    let mut pass = Pass::new(shape);
    pass.forward(&numbers, &inputs);
    let mut gradient = vec![0.0; shape.count()];
    pass.backward(&numbers, &inputs, 1.0, &mut gradient);
    let mut checked = 0;
    for i in (0..shape.count()).filter(|i| gradient[*i].abs() > 0.5).step_by(97) {
        let step = 0.002;
        let middle = numbers[i];
        let [more, less] = [middle + step, middle - step].map(|number| {
            numbers[i] = number;
            pass.forward(&numbers, &inputs);
            pass.value
        });
        numbers[i] = middle;
        let slope = (more - less) / (2.0 * step);
        assert!((slope - gradient[i]).abs() < 0.05 * gradient[i].abs() + 0.5, "{i}: {slope} and {}", gradient[i]);
        checked += 1;
    }
    assert!(checked > 10);
}

#[test]
fn resumed_training_keeps_epochs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("some.epochs");
    // Without held-out positions there is no loss.
    let validation = Losses { all: 0.1 + 0.2, base: f64::NAN, counts: [3, 2, 1], ..Losses::default() };
    let epoch = |number: u32| Epoch { number, steps: 10, rate: 0.001, training: 1.0 / f64::from(number), validation };
    let mut course = Course::open(&file);
    for number in 1..=3 {
        course.add(epoch(number)).expect("a writable folder");
    }
    let again = Course::open(&file);
    assert_eq!(format!("{:?}", again.epochs()), format!("{:?}", [1, 2, 3].map(epoch)), "to the last bit");
    let mut anew = again;
    anew.add(epoch(1)).expect("a writable folder");
    let numbers: Vec<u32> = Course::open(&file).epochs().iter().map(|epoch| epoch.number).collect();
    assert_eq!(numbers, [1], "one that begins anew has none of another's");
}

#[test]
fn curve_draws_any_number_of_epochs() {
    let epoch = |number: u32| Epoch {
        number,
        steps: 10,
        rate: 0.001,
        training: 0.03 / f64::from(number),
        validation: Losses { all: 0.04 / f64::from(number), base: 0.05, ..Losses::default() },
    };
    for count in [0, 1, 2, 40] {
        let picture = curve(&(1..=count).map(epoch).collect::<Vec<_>>());
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        assert_eq!(picture.matches("<polyline").count(), if count < 1 { 2 } else { 3 });
    }
}
