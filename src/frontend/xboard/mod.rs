//! The council behind the Chess Engine Communication Protocol, version 2 (T. Mann and H. G.
//! Muller), and the console of GNU Chess 4.0 (docs/method.md §10) for people at a terminal.
//!
//! ```text
//! commands (the input) ──▶ XboardSession ──▶ engine_session ──▶ player
//!   play: moves, clocks, offers · console: for people · files: games and positions
//! ```
//! One `XboardSession` owns the state; the files of this folder each add one kind of command to it.
//! After every command it decides on the search (`XboardSession::consider`), so that no command
//! depends on the running one.
//!
//! `docs/xboard.md` lists every command, and the missing ones of GNU Chess 4.0 with the reason.

mod chess_clock;
mod commands;
mod console;
mod edit;
mod files;
mod play;
mod record;
mod words;

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
    time::Instant,
};

use tokio::sync::mpsc;

use super::{Setup, board::BoardStyle, engine_session::EngineSession, lines_of, search_progress::SearchProgress};
use chess_clock::ChessClock;
use council::player::{PlayerEvent, RequestId, SearchHandle};
use domain::{Color, Decision, Line, UciMove};
use edit::Edit;
use record::MoveNotes;

/// Serves CECP until `quit` or the end of `input`.
pub async fn run(input: impl BufRead + Send + 'static, output: impl Write, setup: Setup) -> io::Result<()> {
    let mut lines = lines_of(input)?;
    let (engine, events) = EngineSession::new(setup);
    let mut session = XboardSession::new(output, engine, events);
    loop {
        tokio::select! {
            biased;
            line = lines.recv() => match line {
                Some(line) if line == "quit" => return Ok(()),
                Some(line) => session.obey(&line).await?,
                None => return session.finish_move().await,
            },
            Some(event) = session.events.recv() => session.player_event(event)?,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Purpose {
    Move,
    /// The opponent's time, after this expected move.
    Ponder(UciMove),
    Analysis,
    Hint,
}

struct XboardSearch {
    request: RequestId,
    handle: SearchHandle,
    purpose: Purpose,
    line: Arc<Line>,
    progress: SearchProgress,
    /// The start of the own clock for this search; while pondering, the start of the search.
    since: Instant,
    /// A decision made before it may be sent.
    held: Option<Box<Decision>>,
}

/// Switches that people and programs turn.
#[derive(Clone, Debug, Default)]
struct Switches {
    /// True to show the leading proposal during a search.
    post: bool,
    /// True to think in the opponent's time.
    hard: bool,
    /// True to show votes as comments.
    debug: bool,
    /// True to ring a bell with every own move.
    beep: bool,
    /// True to play both sides.
    both: bool,
    /// True for Chess960 castling.
    chess960: bool,
    look: BoardStyle,
}

struct XboardSession<W> {
    output: W,
    engine: EngineSession,
    events: mpsc::UnboundedReceiver<PlayerEvent>,
    search: Option<XboardSearch>,
    switches: Switches,
    /// The usual random seed, while this game has another.
    usual_seed: Option<u64>,
    clock: ChessClock,
    record: MoveNotes,
    /// The side we play; `None` in force mode.
    ours: Option<Color>,
    analyzing: bool,
    paused: bool,
    /// True once a result has ended the game.
    ended: bool,
    edit: Option<Edit>,
    /// Pings that must wait for our move.
    pings: Vec<String>,
    /// The expected reply to the last own move.
    expected: Option<UciMove>,
    /// The number of moves of both sides at the last own draw offer.
    offered_at: Option<usize>,
    opponent: Opponent,
}

/// The opponent, as the program describes it.
#[derive(Clone, Debug, Default)]
struct Opponent {
    name: Option<String>,
    rating: Option<u32>,
    computer: bool,
}

impl<W: Write> XboardSession<W> {
    fn new(output: W, engine: EngineSession, events: mpsc::UnboundedReceiver<PlayerEvent>) -> Self {
        Self {
            output,
            engine,
            events,
            search: None,
            switches: Switches::default(),
            usual_seed: None,
            clock: ChessClock::default(),
            record: MoveNotes::default(),
            ours: Some(Color::Black),
            analyzing: false,
            paused: false,
            ended: false,
            edit: None,
            pings: Vec::new(),
            expected: None,
            offered_at: None,
            opponent: Opponent::default(),
        }
    }

    fn say(&mut self, line: impl std::fmt::Display) -> io::Result<()> {
        writeln!(self.output, "{line}")?;
        self.output.flush()
    }

    /// Returns true if it is the own move in a running game.
    fn is_our_move(&self) -> bool {
        self.ours == Some(self.engine.line.turn()) && !self.analyzing && !self.paused && !self.ended
    }

    /// Returns true during a search for the own move.
    fn is_thinking(&self) -> bool {
        self.search.as_ref().is_some_and(|search| search.purpose == Purpose::Move)
    }

    /// Begins, continues or drops a search, as position and switches require.
    fn consider(&mut self) -> io::Result<()> {
        let purpose = self.purpose();
        let running = self.search.as_ref().map(|search| (&search.purpose, &search.line));
        let wanted = purpose.as_ref().map(|purpose| (purpose, self.line_for(purpose)));
        match (running, wanted) {
            (Some((Purpose::Hint, line)), None) if *line == self.engine.line => Ok(()),
            (None, None) => Ok(()),
            (Some((is, about)), Some((purpose, line))) if is == purpose && **about == *line => Ok(()),
            // The expected move has been played. Where nodes are the clock, the search has none to end at and begins anew.
            (Some((Purpose::Ponder(_), about)), Some((Purpose::Move, line)))
                if **about == *line && self.clock.nodes_per_second.is_none() =>
            {
                self.hit()
            }
            _ => {
                self.search = None;
                purpose.map_or(Ok(()), |purpose| self.think(purpose))
            }
        }
    }

    /// Returns the purpose of thinking now, if there is one.
    fn purpose(&self) -> Option<Purpose> {
        if self.edit.is_some() || self.paused {
            None
        } else if self.analyzing {
            Some(Purpose::Analysis)
        } else if self.is_our_move() {
            Some(Purpose::Move)
        } else if self.switches.hard && self.ours.is_some() && !self.ended {
            self.expected.map(Purpose::Ponder)
        } else {
            None
        }
        .filter(|purpose| !self.line_for(purpose).legal_moves().is_empty())
    }

    fn line_for(&self, purpose: &Purpose) -> Arc<Line> {
        let Purpose::Ponder(expected) = purpose else { return Arc::clone(&self.engine.line) };
        let mut line = Line::clone(&self.engine.line);
        // The expected move was legal when it was proposed; other positions are not pondered.
        let _ = line.play(*expected);
        Arc::new(line)
    }

    /// Completes a running search for a move after the end of the input.
    async fn finish_move(&mut self) -> io::Result<()> {
        while self.is_thinking() {
            let Some(event) = self.events.recv().await else { break };
            self.player_event(event)?;
            if self.switches.both {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use bot::policy::ResignSettings;
    use council::{CouncilSettings, clock::ClockSettings};
    use domain::Limits;

    /// Returns a small council's answer to these lines.
    async fn answer(lines: &str, change: impl FnOnce(&mut Setup)) -> String {
        let (roster, advisers) = ("mp ma".to_owned(), String::new());
        let council = CouncilSettings { roster, advisers, hash: 1, ..CouncilSettings::default() };
        let mut setup = Setup::new(council, &ClockSettings::default());
        setup.limits = Limits { nodes: Some(2000), ..Limits::default() };
        change(&mut setup);
        let mut output = Vec::new();
        run(Cursor::new(lines.to_owned()), &mut output, setup).await.expect("it takes everything");
        String::from_utf8(output).expect("text")
    }

    #[tokio::test]
    async fn ping_is_answered_on_resignation() {
        let lost = "force\nsetboard 7k/8/8/8/8/Q7/8/K1Q5 b - - 0 1\ngo\nping 7\n";
        let resign = ResignSettings { enabled: true, score: -500, consecutive_moves: 1, ..ResignSettings::default() };
        let said = answer(lost, |setup| setup.resign = resign).await;
        assert!(said.ends_with("resign\npong 7\n"), "{said}");
    }
}
