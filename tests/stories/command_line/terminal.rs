//! The demo on a terminal, and the signals that stop it.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::{fd::OwnedFd, unix::process::ExitStatusExt as _},
    process::{Child, ExitStatus, Stdio},
    sync::mpsc,
    time::Duration,
};

use rustix::{
    fs::{Mode, OFlags},
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};

use super::concilio;

/// Time after which a test counts as hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program on a terminal of its own.
pub(crate) struct OnTerminal {
    child: Child,
    keyboard: File,
    output: mpsc::Receiver<Vec<u8>>,
    shown: String,
}

impl OnTerminal {
    pub(crate) fn start(arguments: &[&str], term: &str) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a pseudo-terminal");
        let name = ptsname(&controller, Vec::new()).expect("its name");
        let terminal: OwnedFd =
            rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other side");
        let keyboard = File::from(controller.try_clone().expect("a second handle"));
        let child = concilio(arguments)
            .env("TERM", term)
            .stdin(terminal.try_clone().expect("a second handle"))
            .stdout(terminal)
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut controller = File::from(controller);
            let mut bytes = [0; 4096];
            // Reading fails when the program and with it the last other side is gone.
            while let Ok(count @ 1..) = controller.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keyboard, output, shown: String::new() }
    }

    /// Waits until this was shown, and returns the rest of the line behind it.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        loop {
            let found = self.shown.split_once(text).and_then(|(_, rest)| rest.split_once('\n'));
            if let Some((rest, _)) = found {
                return rest.trim().to_owned();
            }
            let Ok(bytes) = self.output.recv_timeout(PATIENCE) else { panic!("no {text:?} in {:?}", self.shown) };
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    /// Forgets the output until now.
    fn forget(&mut self) {
        self.shown.clear();
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("a terminal");
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Waits for its end: how it ended, and all it has shown.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        while let Ok(bytes) = self.output.recv_timeout(PATIENCE) {
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
        (self.child.wait().expect("it ends"), std::mem::take(&mut self.shown))
    }
}

fn demo(folder: &tempfile::TempDir) -> [String; 5] {
    ["demo", "--tc", "900+10", "--data", &folder.path().to_string_lossy()].map(str::to_owned)
}

fn start_demo(folder: &tempfile::TempDir, term: &str) -> OnTerminal {
    let arguments = demo(folder);
    OnTerminal::start(&arguments.each_ref().map(String::as_str), term)
}

#[testkit::test(needs(PSEUDO_TERMINAL))]
fn signal_ends_demo_and_restores_cursor() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut demo = start_demo(&folder, "xterm");
        demo.wait_for("Sparring");
        demo.send(signal);
        let (status, shown) = demo.end();
        assert!(status.success(), "{signal:?}: {status}: {shown:?}");
        let (_, after_hiding) = shown.rsplit_once("\x1b[?25l").expect("the cursor is hidden meanwhile");
        assert!(after_hiding.contains("\x1b[?25h"), "{shown:?}");
        assert!(!shown.contains("\x1b[J"), "{shown:?}");
    }
}

#[testkit::test(needs(PSEUDO_TERMINAL))]
fn dumb_terminal_gets_plain_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut demo = start_demo(&folder, "dumb");
    demo.wait_for("Sparring");
    demo.send(Signal::TERM);
    let (status, shown) = demo.end();
    assert!(status.success() && !shown.contains('\x1b'), "{status}: {shown:?}");
}

#[testkit::test(needs(PSEUDO_TERMINAL))]
fn closed_terminal_stops_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut demo = start_demo(&folder, "dumb");
    demo.wait_for("Sparring");
    demo.send(Signal::HUP);
    // Signals arrive in their order, so that the program would be dead by now.
    demo.send(Signal::TERM);
    let (status, shown) = demo.end();
    assert_eq!((status.signal(), status.code()), (None, Some(0)), "{shown:?}");
}

/// The games of a journal, newest last: how each ended.
fn endings(folder: &tempfile::TempDir) -> Vec<String> {
    let journal = folder.path().join("journal.db");
    let games = concilio(&["games", "--csv", "--journal", &journal.to_string_lossy()]).output().expect("it starts");
    let csv = String::from_utf8_lossy(&games.stdout).into_owned();
    let mut lines = csv.lines();
    let column = lines.next().expect("titles").split(',').position(|title| title == "status").expect("a status");
    lines.map(|line| line.split(',').nth(column).expect("a status").to_owned()).collect()
}

/// The program used to end with the game, and took the page along.
#[testkit::test(needs(PSEUDO_TERMINAL))]
fn demo_stays_and_plays_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().to_string_lossy().into_owned();
    let mut demo = OnTerminal::start(&["demo", "--tc", "3+0.1", "--roster", "mp ma", "--data", &data], "dumb");
    demo.wait_for("What next?");
    let replay = demo.wait_for("replay, votes");
    assert!(replay.contains("/#/games/practice/"), "{replay}");
    demo.wait_for("Ctrl-C");
    demo.forget();
    demo.press("\n");
    demo.wait_for(" begun: ");
    demo.wait_for(": 2. ");
    demo.send(Signal::INT);
    let (status, shown) = demo.end();
    assert!(status.success(), "{status}: {shown}");
    assert_eq!(endings(&folder).len(), 2, "{shown}");
}

/// The terminal and the journal agree on the end of the game: it was resigned.
#[testkit::test(needs(PSEUDO_TERMINAL))]
fn interrupted_demo_resigns_its_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut demo = start_demo(&folder, "dumb");
    demo.wait_for(": 2. ");
    demo.send(Signal::INT);
    let (status, shown) = demo.end();
    assert!(status.success() && shown.contains("won by resignation"), "{status}: {shown}");
    assert_eq!(endings(&folder), ["resign"], "{shown}");
}

#[testkit::test(needs(PSEUDO_TERMINAL))]
fn demo_ends_after_n_games() {
    for limit in [["--games", "1"].as_slice(), &["--exit"]] {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().to_string_lossy().into_owned();
        let arguments = ["demo", "--tc", "1+0.1", "--roster", "mp ma", "--data", &data];
        let (status, shown) = OnTerminal::start(&[&arguments, limit].concat(), "dumb").end();
        assert!(status.success() && !shown.contains("What next?"), "{status}: {shown}");
        assert!(shown.contains("White won") || shown.contains("Black won") || shown.contains("drawn"), "{shown}");
    }
}
