//! Games and votes on a terminal, redrawn in place; and as plain lines where the output is no terminal, or one that cannot
//! move its cursor.
//!
//! [`Scene`] gathers events and draws itself as text, without knowing what it is drawn on; `painter` puts the text on the
//! terminal; [`Viewer`] is the task that does both.

mod board;
mod painter;
mod scene;
mod table;

use std::{
    env,
    io::{self, IsTerminal, Write},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{
        broadcast::{Receiver, error::RecvError},
        mpsc,
    },
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::log;
use bot::session::{BotEvent, how_it_ended};
use domain::{Color, GameStatus};
use painter::Painter;
use scene::Scene;
use util::printable;

/// Minimum interval between redraws.
const FRAME: Duration = Duration::from_millis(100);

pub(super) struct Viewer {
    done: CancellationToken,
    /// Hints, or `None` where another picture begins.
    messages: mpsc::UnboundedSender<Option<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Viewer {
    /// Shows the games from now on: on a terminal as a picture, elsewhere as lines.
    pub(super) fn start(events: Receiver<Arc<BotEvent>>) -> Self {
        let done = CancellationToken::new();
        let (messages, heard) = mpsc::unbounded_channel();
        Self { task: tokio::spawn(watch(events, heard, done.clone())), messages, done }
    }

    /// Shows these lines below the games until others take their place.
    pub(super) fn hint(&self, lines: Vec<String>) {
        let _ = self.messages.send(Some(lines));
    }

    /// Leaves the last picture as it is and begins another one below it.
    pub(super) fn begin_anew(&self) {
        let _ = self.messages.send(None);
    }

    /// Shows the last picture and gives the terminal back as it was.
    pub(super) async fn close(self) {
        self.done.cancel();
        let _ = self.task.await;
    }
}

async fn watch(
    mut events: Receiver<Arc<BotEvent>>,
    mut messages: mpsc::UnboundedReceiver<Option<Vec<String>>>,
    done: CancellationToken,
) {
    let mut painter = can_paint().then(|| Painter::new(io::stdout()));
    if painter.is_some() && io::stderr().is_terminal() {
        log::hold_back();
    }
    let mut scene = Scene::default();
    let mut frames = interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut finished = false;
    while !finished {
        tokio::select! {
            biased;
            event = events.recv() => match event {
                Ok(event) => {
                    let lines = scene.take(&event);
                    if painter.is_none() {
                        print_lines(&lines);
                    }
                }
                // Falling behind costs a frame, nothing more.
                Err(RecvError::Lagged(_)) => (),
                Err(RecvError::Closed) => finished = true,
            },
            Some(message) = messages.recv() => match message {
                Some(lines) => {
                    if painter.is_none() {
                        print_lines(&lines);
                    }
                    scene.hint(lines);
                }
                None => {
                    scene.hint(Vec::new());
                    painter.iter_mut().for_each(Painter::begin_anew);
                }
            },
            () = done.cancelled() => finished = true,
            _ = frames.tick(), if painter.is_some() => {
                if let Some(painter) = &mut painter {
                    painter.say(log::lines_held_back());
                    painter.paint(|columns, rows| scene.draw(columns, rows));
                }
            }
        }
    }
    if let Some(painter) = &mut painter {
        painter.say(log::lines_held_back());
        painter.paint(|columns, rows| scene.draw(columns, rows));
        log::hold_back_no_longer();
    }
}

/// A view redrawn in place on a terminal; plain lines elsewhere.
pub(super) struct Picture(Option<Painter<io::Stdout>>);

impl Picture {
    pub(super) fn new() -> Self {
        Self(can_paint().then(|| Painter::new(io::stdout())))
    }

    /// Paints these lines in place of the last ones, on a terminal.
    pub(super) fn paint(&mut self, draw: &dyn Fn() -> Vec<String>) {
        if let Some(painter) = &mut self.0 {
            painter.paint(|_, _| draw());
        }
    }

    /// Prints lines, elsewhere.
    pub(super) fn print(&self, lines: &[String]) {
        if self.0.is_none() {
            print_lines(lines);
        }
    }
}

/// Returns true if standard output is a terminal that can be redrawn.
fn can_paint() -> bool {
    io::stdout().is_terminal() && env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// A closed output stops no games, so errors are ignored.
fn print_lines(lines: &[String]) {
    let mut stdout = io::stdout();
    for line in lines {
        let _ = writeln!(stdout, "{}", printable(line));
    }
}

pub(super) fn result_in_words(status: &GameStatus, winner: Option<Color>) -> String {
    let how = how_it_ended(status);
    match winner {
        Some(Color::White) => format!("1-0, White won {how}"),
        Some(Color::Black) => format!("0-1, Black won {how}"),
        None if status.is_drawn() => format!("½-½, drawn {how}"),
        None => how,
    }
}
