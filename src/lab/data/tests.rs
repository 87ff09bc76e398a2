use std::fs;

use super::*;
use engine::Board;

fn play(seed: u64, number: u64) -> game::SelfPlayGame {
    DataPlayer::new(50).play(seed, number, 1.0, &AtomicBool::new(false)).expect("nobody stops it")
}

#[test]
fn a_game_is_the_same_whenever_it_is_played() {
    let mut player = DataPlayer::new(50);
    let nobody = AtomicBool::new(false);
    let games: Vec<_> = (0..3).filter_map(|number| player.play(7, number, 1.0, &nobody)).collect();
    let alone = play(7, 2);
    assert_eq!((&games[2].quiet, games[2].result), (&alone.quiet, alone.result));
    assert_ne!(games[1].quiet, games[2].quiet);
    assert_ne!(play(8, 2).quiet, alone.quiet);
}

#[test]
fn positions_in_check_are_left_out() {
    for fen in play(1, 0).quiet {
        assert!(!Board::from_fen(&fen).expect("a FEN of ours").in_check(), "{fen}");
    }
}

#[test]
fn a_file_that_was_cut_off_goes_on_after_its_last_whole_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.txt");
    let open = || DataFile::open(&path, "# one\n# two\n").expect("a writable folder");
    let mut file = open().expect("a new file");
    file.append(&["a;0.5".to_owned(), "b;1".to_owned()]).expect("it can be written");
    file.append(&[]).expect("it can be written");
    let whole = fs::read_to_string(&path).expect("text");
    assert!(whole.contains("           2 positions of            2 games"), "{whole}");

    for rest in ["c;0.5\n", "c;0.5\n# gam", "# game 2"] {
        fs::write(&path, format!("{whole}{rest}")).expect("it can be written");
        let file = open().expect("the same file");
        assert_eq!((file.positions(), file.games()), (2, 2), "{rest:?}");
        assert_eq!(fs::read_to_string(&path).expect("text"), whole);
    }
    fs::write(&path, &whole[..20]).expect("it can be written");
    assert_eq!(open().map(|file| (file.positions(), file.games())), Some((0, 0)));
    assert!(DataFile::open(&path, "# another\n").expect("readable").is_none());
}

/// One position at the least effort.
fn plan(teacher: &str) -> DataPlan {
    DataPlan {
        teacher: UciProgram { path: teacher.into(), ..UciProgram::default() },
        effort: TeacherEffort::Nodes(1),
        positions: 1,
        nodes: 1,
        result_share: 0.2,
        scale: 100.0,
        keep: 1.0,
        seed: 1,
        threads: NonZeroUsize::MIN,
    }
}

#[test]
fn a_label_is_between_the_teacher_and_the_result() {
    let plan = plan("nobody");
    assert!((plan.label(0, 0.5) - 0.5).abs() < 1e-9);
    assert!((plan.label(100, 0.0) - 0.8 * 0.731).abs() < 1e-3);
    assert!((plan.label(-100, 1.0) - (0.2 + 0.8 * 0.269)).abs() < 1e-3);
}

#[test]
fn a_teacher_that_is_not_there_is_one_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan("no-such-engine");
    let failure = generate(&plan, &folder.path().join("games.txt"), &AtomicBool::new(false), |_| {});
    let text = failure.expect_err("there is no teacher").to_string();
    assert!(text.starts_with("teacher: cannot start the engine no-such-engine"), "{text}");
}
