//! Games and votes on a terminal, redrawn in place; and as plain lines where the output is no terminal.
//!
//! [`Scene`] gathers events and draws itself as text, without knowing what it is drawn on; [`watch`] is the painter.

mod scene;

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
    time::Duration,
};

use crossterm::{
    QueueableCommand,
    cursor::{Hide, MoveToColumn, MoveUp, Show},
    terminal::{Clear, ClearType, size},
};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use bot::session::BotEvent;
pub(super) use scene::Scene;

/// How often the picture is redrawn at most.
const FRAME: Duration = Duration::from_millis(100);

/// Shows what happens until `done`; on a terminal as a picture, elsewhere as lines.
pub(super) async fn watch(mut events: Receiver<Arc<BotEvent>>, done: CancellationToken) {
    let mut stdout = io::stdout();
    let mut painter = stdout.is_terminal().then(Painter::default);
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
                        for line in lines {
                            let _ = writeln!(stdout, "{line}");
                        }
                    }
                }
                // Falling behind costs a frame, nothing more.
                Err(RecvError::Lagged(_)) => (),
                Err(RecvError::Closed) => finished = true,
            },
            () = done.cancelled() => finished = true,
            _ = frames.tick(), if painter.is_some() => {
                if let Some(painter) = &mut painter {
                    let _ = painter.paint(&mut stdout, &scene);
                }
            }
        }
    }
    if let Some(painter) = &mut painter {
        let _ = painter.paint(&mut stdout, &scene);
        let _ = stdout.queue(Show);
    }
    let _ = stdout.flush();
}

/// Repaints the same lines, so that what stood on the terminal before stays there.
#[derive(Default)]
struct Painter {
    height: u16,
}

impl Painter {
    fn paint(&mut self, out: &mut impl Write, scene: &Scene) -> io::Result<()> {
        let (columns, rows) = size().unwrap_or((80, 24));
        let mut lines = scene.draw(usize::from(columns));
        // A picture higher than the terminal could not be repainted in place.
        lines.truncate(usize::from(rows.saturating_sub(1)));
        out.queue(Hide)?.queue(MoveToColumn(0))?;
        if self.height > 0 {
            out.queue(MoveUp(self.height))?;
        }
        out.queue(Clear(ClearType::FromCursorDown))?;
        for line in &lines {
            writeln!(out, "{line}")?;
        }
        self.height = u16::try_from(lines.len()).unwrap_or(0);
        out.flush()
    }
}
