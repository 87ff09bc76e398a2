use std::{fs, sync::atomic::AtomicBool};

use engine::{Position, board::Role};
use tempfile::TempDir;

use super::*;
use crate::training::{
    GameResult, SplitMix,
    dataset::Mixture,
    game::{Game, Games, Ply},
    shuffle::{ShufflePlan, shuffle},
};

/// Positions after random moves, labelled as better for the side with more pawns and pieces, in several files.
fn synthetic() -> (TempDir, Dataset) {
    let mut random = SplitMix::new(5);
    let mut games = Vec::new();
    for id in 0..460 {
        let start = Position::from_line("startpos", false, []).expect("a line");
        let mut game = Game { id, start, opening: Vec::new(), plies: Vec::new(), result: GameResult::Draw };
        let mut position = game.start.clone();
        for _ in 0..60 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let board = position.board();
            let worth = |role: Role, worth: i32| {
                let [own, other] = [board.turn(), !board.turn()].map(|color| board.men(color, role).count() as i32);
                (own - other) * worth
            };
            let score =
                worth(Role::Pawn, 50) + worth(Role::Knight, 150) + worth(Role::Bishop, 150) + worth(Role::Rook, 250);
            let mv = moves[random.below(moves.len())];
            game.plies.push(Ply { mv, own: score as i16, teacher: None });
            position.play(mv);
        }
        games.push(game);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).expect("a folder");
    Games { description: "material".to_owned(), games }.write(&from.join("some.games")).expect("writable");
    let plan = ShufflePlan { validation: 0.1, bytes_a_file: 10_000, ..ShufflePlan::default() };
    shuffle(&plan, &[from], &to, &AtomicBool::new(false), |_, _| ()).expect("positions").expect("not stopped");
    let mixture = Mixture { own: 1.0, teacher: 0.0, result: 0.0, scale: 200.0 };
    (folder, Dataset::open(&to, &mixture, u64::MAX).expect("a finished shuffle"))
}

fn never(_: u64) -> bool {
    false
}

fn plan() -> Plan {
    Plan { epochs: 4, batch: 128, rate: 0.004, scale: 200.0, ..Plan::default() }
}

fn run(
    plan: &Plan,
    dataset: &Dataset,
    threads: usize,
    checkpoint: Option<&Path>,
    stop: impl Fn(u64) -> bool,
) -> Option<Trained> {
    let threads = NonZeroUsize::new(threads).expect("at least one");
    train(plan, dataset, threads, checkpoint, stop, |_| {}).expect("a usable checkpoint")
}

fn finished(outcome: Option<Trained>) -> Trained {
    outcome.expect("not stopped")
}

#[test]
fn training_learns_material() {
    let (_folder, dataset) = synthetic();
    let mut losses = Vec::new();
    let outcome = train(&plan(), &dataset, NonZeroUsize::MIN, None, never, |epoch| losses.push(epoch.validation.all));
    let trained = finished(outcome.expect("no checkpoint"));
    let last = *losses.last().expect("four epochs");
    let squares = dataset.validation.iter().map(|sample| f64::from(sample.target - 0.5).powi(2));
    let ignorant = squares.sum::<f64>() / dataset.validation.len() as f64;
    assert!(last < ignorant / 4.0, "{losses:?} where knowing nothing gives {ignorant}");

    let net = quantise(&trained, trained.header(&plan(), &dataset), &dataset.validation).expect("within bounds");
    let errors: Vec<f64> = quantise::differences(&trained, &net, &dataset.validation).map(|(_, error)| error).collect();
    let mean_square = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
    let largest = errors.iter().map(|error| error.abs()).fold(0.0, f64::max);
    assert!(mean_square < 9.0 && largest < 20.0, "{mean_square} {largest}");
    let played = validate_net(&net, &dataset.validation, 200.0);
    assert!((played.all - last).abs() < 0.1 * last, "{played:?} instead of {last}");
    assert_eq!(net.header().positions, dataset.positions);
}

#[test]
fn resumed_training_is_identical() {
    let (folder, dataset) = synthetic();
    let plan = Plan { epochs: 2, ..plan() };
    let whole = finished(run(&plan, &dataset, 1, None, never));
    let file = folder.path().join("some.checkpoint");
    let per_epoch = dataset.positions.div_ceil(128);
    // Ended in the middle of the first epoch, at its end and near that of the second.
    for at in [per_epoch / 2, per_epoch, 2 * per_epoch - 1] {
        assert_eq!(run(&plan, &dataset, 2, Some(&file), |steps| steps == at), None);
    }
    assert_eq!(finished(run(&plan, &dataset, 3, Some(&file), never)), whole);
}

#[test]
fn rate_rises_and_falls() {
    let rates = [0, 200, 1000, 50_500, 99_999].map(|step| plan().rate(step, 100_000) / plan().rate);
    for (rate, expected) in rates.into_iter().zip([0.001, 0.2, 1.0, 0.505, 0.01]) {
        assert!((rate - expected).abs() < 0.002, "{rates:?}");
    }
}

#[test]
fn training_continues_from_a_net() {
    let (_folder, dataset) = synthetic();
    let first = finished(run(&plan(), &dataset, 2, None, never));
    let net = quantise(&first, first.header(&plan(), &dataset), &dataset.validation).expect("within bounds");
    let further = Plan { start: Some(Arc::new(net)), rate: 0.0, decay: 0.0, epochs: 1, ..plan() };
    let second = finished(run(&further, &dataset, 2, None, never));
    let known = &dataset.validation[0].record;
    assert!((second.value(known) - first.value(known)).abs() < 5.0, "what it knew it knows");
    let wider = finished(run(&Plan { width: 256, ..further.clone() }, &dataset, 2, None, never));
    assert!((wider.value(known) - second.value(known)).abs() < 0.1, "what is new in a wider one counts nothing yet");
    assert_eq!(second.header(&further, &dataset).positions, 2 * dataset.positions);
}

#[test]
fn foreign_checkpoint_is_one_error() {
    let (folder, dataset) = synthetic();
    let file = folder.path().join("some.checkpoint");
    run(&plan(), &dataset, 1, Some(&file), |_| true);
    let other = Plan { seed: 2, ..plan() };
    let read = |plan: &Plan| {
        let failed = train(plan, &dataset, NonZeroUsize::MIN, Some(&file), |_| true, |_| {});
        failed.expect_err("it cannot be used").to_string()
    };
    assert!(read(&other).contains("another plan"), "{}", read(&other));
    fs::write(&file, "text").expect("a writable folder");
    assert!(read(&plan()).contains("no checkpoint"), "{}", read(&plan()));
}

#[test]
fn gradient_is_the_slope_of_the_value() {
    let (_folder, dataset) = synthetic();
    let shape = Shape { width: 256 };
    let mut numbers = shape.initial(3);
    let inputs = Inputs::new(&dataset.validation[40].record);
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
    let validation = Losses { all: 0.1 + 0.2, by_stage: [f64::NAN; 3], counts: [3, 2, 1] };
    let epoch = |number: u32| Epoch { number, steps: 10, rate: 0.001, training: 1.0 / f64::from(number), validation };
    let mut course = Course::open(&file);
    for number in 1..=3 {
        course.add(epoch(number)).expect("a writable folder");
    }
    let again = Course::open(&file);
    assert_eq!(format!("{:?}", again.epochs), format!("{:?}", [1, 2, 3].map(epoch)), "to the last bit");
    let mut anew = again;
    anew.add(epoch(1)).expect("a writable folder");
    let numbers: Vec<u32> = Course::open(&file).epochs.iter().map(|epoch| epoch.number).collect();
    assert_eq!(numbers, [1], "one that begins anew has none of another's");
}

#[test]
fn curve_draws_any_number_of_epochs() {
    let epoch = |number: u32| Epoch {
        number,
        steps: 10,
        rate: 0.001,
        training: 0.03 / f64::from(number),
        validation: Losses { all: 0.04 / f64::from(number), ..Losses::default() },
    };
    for count in [0, 1, 2, 40] {
        let epochs: Vec<Epoch> = (1..=count).map(epoch).collect();
        let picture = curve(&epochs);
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        assert_eq!(picture.matches("<polyline").count(), 2);
    }
}
