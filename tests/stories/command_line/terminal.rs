//! The demo on a terminal, and the signals that stop it.

use std::{
    fs::File,
    io::Read,
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

/// How long something may take before a test counts as hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program on a terminal of its own.
struct OnTerminal {
    child: Child,
    output: mpsc::Receiver<Vec<u8>>,
    shown: String,
}

impl OnTerminal {
    fn start(arguments: &[&str], term: &str) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a pseudo-terminal");
        let name = ptsname(&controller, Vec::new()).expect("its name");
        let terminal: OwnedFd =
            rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other side");
        let child = concilio(arguments)
            .env("TERM", term)
            .stdin(Stdio::null())
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
        Self { child, output, shown: String::new() }
    }

    /// Waits until this was shown.
    fn wait_for(&mut self, text: &str) {
        while !self.shown.contains(text) {
            let Ok(bytes) = self.output.recv_timeout(PATIENCE) else { panic!("no {text:?} in {:?}", self.shown) };
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Waits for its end: how it ended, and all it has shown.
    fn end(mut self) -> (ExitStatus, String) {
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

#[test]
fn a_signal_ends_the_demo_and_shows_the_cursor_again() {
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

#[test]
fn a_terminal_that_cannot_move_its_cursor_is_shown_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut demo = start_demo(&folder, "dumb");
    demo.wait_for("Sparring");
    demo.send(Signal::TERM);
    let (status, shown) = demo.end();
    assert!(status.success() && !shown.contains('\x1b'), "{status}: {shown:?}");
}

#[test]
fn a_terminal_that_closes_stops_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut demo = start_demo(&folder, "dumb");
    demo.wait_for("Sparring");
    demo.send(Signal::HUP);
    // Signals arrive in their order, so that the program would be dead by now.
    demo.send(Signal::TERM);
    let (status, shown) = demo.end();
    assert_eq!((status.signal(), status.code()), (None, Some(0)), "{shown:?}");
}
