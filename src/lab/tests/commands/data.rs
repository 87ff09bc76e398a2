//! Tests of the chain from own games to labels, weights and a net, by the program's commands.

use std::{fs, path::Path, process::Output};

use super::{concilio, concilio_lab, text};

fn make(output: &Path, games: &str, threads: &str) -> Output {
    let output = output.to_string_lossy();
    let few = ["--nodes", "30", "--games-per-file", "4", "--threads", threads];
    concilio_lab(&[&["data", "--output", &output, "--games", games], &few[..]].concat())
}

fn label(from: &Path, output: &Path) -> Output {
    let (from, output, program) = (from.to_string_lossy(), output.to_string_lossy(), concilio());
    let program = program.to_string_lossy();
    let teacher = ["--teacher", &program, "--teacher-argument", "uci", "--teacher-argument", "--single"];
    concilio_lab(&[&["label", &from, "--output", &output, "--teacher-nodes", "50"], &teacher[..]].concat())
}

fn done(output: Output) -> Output {
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            let entry = entry.expect("an entry");
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

fn kept_back(said: &str) -> Vec<f64> {
    let numbers = said.lines().filter(|line| line.starts_with("epoch ")).map(|line| {
        let (_, number) = line.split_once("kept back ").expect(line);
        number.split(' ').next().and_then(|number| number.parse().ok()).expect(line)
    });
    numbers.collect()
}

#[test]
fn training_chain_runs_end_to_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    done(make(&path("through"), "200", "2"));
    done(make(&path("in two"), "8", "1"));
    done(make(&path("in two"), "200", "2"));
    assert_eq!(files(&path("through")), files(&path("in two")));
    // With fewer games too few positions would be kept back to tell learning from chance.
    done(make(&path("through"), "1600", "2"));

    done(label(&path("through"), &path("labelled")));
    assert_eq!(files(&path("labelled")).len(), 400);
    // There is nothing left to do.
    done(label(&path("through"), &path("labelled")));

    let names = ["labelled", "positions", "weights.rs", "n.net"];
    let [labels, positions, weights, net] = names.map(|name| path(name).to_string_lossy().into_owned());
    done(concilio_lab(&["tune", "--positions", &labels, "--output", &weights, "--epochs", "2"]));

    let early = concilio_lab(&["train", &labels, "--output", &net]);
    let said = text(&early.stderr);
    assert!(said.lines().count() == 1 && said.contains("concilio-lab shuffle"), "{said}");
    let shuffled = done(concilio_lab(&["shuffle", &labels, "--output", &positions]));
    let again = concilio_lab(&["shuffle", &labels, "--output", &positions]);
    assert_eq!(text(&again.stdout), text(&shuffled.stdout), "there is nothing left to do");
    let epochs = ["--epochs", "4", "--batch", "256", "--threads", "2"];
    let trained = done(concilio_lab(&[&["train", &positions, "--output", &net], &epochs[..]].concat()));
    let losses = kept_back(&text(&trained.stderr));
    assert!(losses.len() == 4 && losses[3] < losses[0], "{losses:?}");
    let untrained = path("untrained.net").to_string_lossy().into_owned();
    let untrained = done(concilio_lab(&["train", &positions, "--output", &untrained, "--epochs", "1", "--rate", "0"]));
    let knows_nothing = kept_back(&text(&untrained.stderr))[0];
    assert!(losses[3] < knows_nothing / 2.0, "{losses:?} where knowing nothing gives {knows_nothing}");
    assert!(path("n.svg").exists(), "the learning curve");

    let further = path("further.net").to_string_lossy().into_owned();
    let go_on = ["train", &positions, "--output", &further, "--epochs", "1", "--rate", "0.0002", "--start", &net];
    let trained = done(concilio_lab(&go_on));
    assert!(kept_back(&text(&trained.stderr))[0] < losses[0], "it begins where the other has ended");
    let wider = path("wider.net").to_string_lossy().into_owned();
    let train = ["train", &positions, "--epochs", "1", "--output"];
    done(concilio_lab(&[&train[..], &[&wider, "--start", &net, "--width", "256"]].concat()));
    let narrower = concilio_lab(&[&train[..], &[&further, "--start", &wider, "--width", "128"]].concat());
    let said = text(&narrower.stderr);
    assert!(said.ends_with("--width 128: the net of --start has 256 numbers; give --width 256 or more\n"), "{said}");
}

#[test]
fn missing_teacher_leaves_no_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, output) = (folder.path().join("games"), folder.path().join("labelled"));
    done(make(&from, "1", "1"));
    let [from, to] = [&from, &output].map(|path| path.to_string_lossy().into_owned());
    let made = concilio_lab(&["label", &from, "--teacher", "no-such-engine", "--output", &to]);
    assert_eq!(text(&made.stderr).lines().count(), 1);
    assert!(text(&made.stderr).contains("teacher: cannot start the engine no-such-engine"));
    assert!(!output.exists());
}

#[test]
fn empty_folder_error_names_the_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().to_string_lossy().into_owned();
    for (command, remedy) in [("shuffle", "concilio-lab data"), ("train", "concilio-lab shuffle")] {
        let tried = concilio_lab(&[command, &empty, "--output", &format!("{empty}/to")]);
        let said = text(&tried.stderr);
        assert!(said.lines().count() == 1 && said.contains(&empty) && said.contains(remedy), "{said}");
    }
}
