//! The council behind the Universal Chess Interface.
//!
//! `go nodes N` and the option `Nodes per Elector` are limits of each elector; everything else
//! follows the protocol. The votes are shown in `info string` lines before every move.

mod words;

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
};

use shakmaty::Position as _;
use tokio::sync::mpsc;

use super::{
    Setup,
    board::{self, BoardStyle},
    engine_session::{self, EngineSession},
    lines_of, options,
    search_progress::SearchProgress,
};
use council::player::{PlayerEvent, RequestId, Time};
use domain::{Clock, Color, Decision, Limits, Line, Score, Source, UciMove, Variant, engine_position};
use engine::{
    Breakdown,
    uci::{Go, best_move, name_and_value, over, start_and_moves},
};

/// Serves UCI until `quit` or the end of `input`.
pub async fn run(input: impl BufRead + Send + 'static, output: impl Write, setup: Setup) -> io::Result<()> {
    let mut lines = lines_of(input)?;
    let (engine, events) = EngineSession::new(setup);
    let mut session = UciSession { output, engine, events, search: None, chess960: false, debug: false };
    loop {
        tokio::select! {
            biased;
            line = lines.recv() => match line {
                Some(line) if line.split_whitespace().next() == Some("quit") => return session.finish().await,
                Some(line) => session.obey(&line).await?,
                None => return session.end().await,
            },
            Some(event) = session.events.recv() => session.player_event(event)?,
        }
    }
}

/// The most that a move with a fixed time takes of a clock that runs beside it.
const MOST_OF_A_CLOCK: f64 = 0.4;

/// The number of searches without a council; a council's searches have others.
const NO_COUNCIL: RequestId = RequestId(0);

struct UciSearch {
    request: RequestId,
    line: Arc<Line>,
    progress: SearchProgress,
    /// True if it must not be answered before `stop`.
    infinite: bool,
    /// True if only a command ends it.
    endless: bool,
    /// The time that it will have from `ponderhit` on.
    pondering: Option<Time>,
    /// A mate in this number of moves ends it.
    mate: Option<i32>,
    /// An answer found before it may be sent.
    held: Option<Answer>,
}

enum Answer {
    NoMove,
    Move(Box<Decision>),
}

struct UciSession<W> {
    output: W,
    engine: EngineSession,
    events: mpsc::UnboundedReceiver<PlayerEvent>,
    search: Option<UciSearch>,
    chess960: bool,
    debug: bool,
}

impl<W: Write> UciSession<W> {
    fn say(&mut self, line: impl std::fmt::Display) -> io::Result<()> {
        writeln!(self.output, "{line}")?;
        self.output.flush()
    }

    /// Executes one command; a faulty one is answered and changes nothing.
    async fn obey(&mut self, line: &str) -> io::Result<()> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if matches!(command, "ucinewgame" | "setoption" | "position" | "go") {
            self.finish().await?;
        }
        let done = match command {
            "" | "register" => Ok(()),
            "uci" => self.identify().map(Ok)?,
            "isready" => {
                // During a search the answer is immediate.
                let started = if self.search.is_none() { self.engine.start_council().await } else { Ok(()) };
                self.say("readyok").map(|()| started)?
            }
            "debug" => self.set_debug(rest),
            "stop" => self.stop().map(Ok)?,
            "ponderhit" => self.ponder_hit().map(Ok)?,
            "ucinewgame" => {
                self.engine.new_game();
                Ok(())
            }
            "setoption" => self.set_option(rest),
            "position" => read_position(rest, self.chess960).map(|line| self.engine.line = Arc::new(line)),
            "go" => self.go(rest).map(Ok)?,
            "d" => {
                let drawing = board::draw(&self.engine.line, BoardStyle { coordinates: true, ..BoardStyle::default() });
                self.say(drawing).map(Ok)?
            }
            "eval" => match engine_position(&self.engine.line) {
                Ok(position) => self.say(Breakdown::as_played(position.board()).to_string().trim_end()).map(Ok)?,
                Err(error) => Err(error.to_string()),
            },
            other => Err(format!("unknown command {other:?}")),
        };
        if let Err(problem) = done {
            self.say(format_args!("info string {problem}"))?;
        }
        Ok(())
    }

    fn identify(&mut self) -> io::Result<()> {
        self.say(concat!("id name concilio ", env!("CARGO_PKG_VERSION"), " council"))?;
        self.say("id author the concilio authors")?;
        for choice in options::list(&self.engine.setup) {
            self.say(words::option(&choice))?;
        }
        self.say("uciok")
    }

    fn set_debug(&mut self, rest: &str) -> Result<(), String> {
        self.debug = match rest {
            "on" => true,
            "off" => false,
            _ => return Err(format!("debug {rest:?} (accepted: on, off)")),
        };
        Ok(())
    }

    fn set_option(&mut self, rest: &str) -> Result<(), String> {
        let (name, value) = name_and_value(rest)?;
        let takes_another = options::set(&mut self.engine.setup, name, value)?;
        if name.eq_ignore_ascii_case("UCI_Chess960") {
            self.chess960 = matches!(value.to_lowercase().as_str(), "true" | "1");
        }
        if takes_another {
            self.engine.replace_council();
        }
        Ok(())
    }

    // --- Searching -----------------------------------------------------------------------------------------------------

    fn go(&mut self, rest: &str) -> io::Result<()> {
        let line = Arc::clone(&self.engine.line);
        let go = Go::read(rest, |text| legal(&line, text));
        if let Some(complaint) = go.complaint() {
            self.say(format_args!("info string {complaint}"))?;
        }
        let time = self.time(&go, line.turn());
        let limits = self.limits(&go);
        let endless = matches!(time, Time::Unbounded) && limits.nodes.is_none() && limits.depth.is_none();
        let search = |request| UciSearch {
            request,
            line: Arc::clone(&line),
            progress: SearchProgress::new(),
            infinite: go.infinite,
            endless: go.infinite || endless,
            pondering: go.ponder.then_some(time),
            mate: go.limits.mate.map(|moves| i32::try_from(moves).unwrap_or(i32::MAX)),
            held: None,
        };
        if line.legal_moves().is_empty() {
            self.say(over(line.position().is_check()))?;
            let held = Some(Answer::NoMove);
            self.search = Some(UciSearch { held, ..search(NO_COUNCIL) });
            return self.answer_if_asked();
        }
        let time_now = if go.ponder { Time::Unbounded } else { time };
        let excluded = excluded(&line, &go.search_moves);
        match self.engine.think(Arc::clone(&line), time_now, limits, excluded, go.infinite) {
            Ok(request) => self.search = Some(search(request)),
            // The program waits for a move, even if the settings name no elector.
            Err(problem) => {
                self.say(format_args!("info string {problem}; some legal move is played"))?;
                let some = line.legal_moves().first().copied();
                let held = some.map(|some| Answer::Move(Box::new(Decision::without_vote(some, Source::Fallback))));
                self.search = Some(UciSearch { held, ..search(NO_COUNCIL) });
                self.answer_if_asked()?;
            }
        }
        Ok(())
    }

    /// The time of a search that is not for pondering. A budget of nodes has no time limit.
    fn time(&self, go: &Go<UciMove>, us: Color) -> Time {
        let by_nodes = self.engine.setup.limits.nodes.is_some();
        let index = |color: Color| usize::from(color == Color::Black);
        let clock = |color| Clock {
            remaining: go.clock(index(color)).unwrap_or_default(),
            increment: go.increment[index(color)],
        };
        match (go.limits.time, go.clock(index(us))) {
            _ if go.infinite || by_nodes => Time::Unbounded,
            (Some(most), clock) => {
                let bearable = clock.map(|left| left.mul_f64(MOST_OF_A_CLOCK));
                Time::Exactly(self.engine.setup.searchable(bearable.map_or(most, |bearable| most.min(bearable))))
            }
            (None, Some(_)) => engine_session::clock(us, clock(us), clock(!us), go.moves_to_go),
            (None, None) => Time::Unbounded,
        }
    }

    fn limits(&self, go: &Go<UciMove>) -> Limits {
        let usual = self.engine.setup.limits;
        Limits { nodes: go.limits.nodes.or(usual.nodes), depth: go.limits.depth.or(usual.depth), ..usual }
    }

    fn player_event(&mut self, event: PlayerEvent) -> io::Result<()> {
        let Some(search) = &mut self.search else { return Ok(()) };
        match event {
            PlayerEvent::Proposal(request, proposal) if request == search.request => {
                let spoken = self.debug.then(|| words::proposal(&search.line, &proposal));
                search.progress.propose(proposal);
                spoken.map_or(Ok(()), |spoken| self.say(spoken))
            }
            PlayerEvent::Leader(request, leader) if request == search.request => {
                let Some(standing) = search.progress.lead(leader) else { return Ok(()) };
                let info = words::info(&standing);
                if let (Score::Mate(moves @ 1..), Some(wanted)) = (standing.proposal.score, search.mate)
                    && moves <= wanted
                {
                    self.engine.answer_now();
                }
                self.say(info)
            }
            PlayerEvent::Decided { id, decision, .. } if id == search.request => {
                search.held = Some(Answer::Move(decision));
                self.answer_if_asked()
            }
            _ => Ok(()),
        }
    }

    /// Sends the move that was found, unless it must be held back.
    fn answer_if_asked(&mut self) -> io::Result<()> {
        let ready = |search: &mut UciSearch| !search.infinite && search.pondering.is_none() && search.held.is_some();
        let Some(UciSearch { line, mut progress, held: Some(answer), .. }) = self.search.take_if(ready) else {
            return Ok(());
        };
        let Answer::Move(decision) = answer else { return self.say("bestmove 0000") };
        if let Some(standing) = progress.decide(&decision) {
            self.say(words::info(&standing))?;
        } else if let Some(score) = decision.score.filter(|_| progress.is_silent()) {
            self.say(words::unproposed(&decision, score))?;
        }
        for line in words::votes(&line, &decision) {
            self.say(line)?;
        }
        self.say(best_move(&decision.best, decision.ponder.as_ref()))
    }

    fn stop(&mut self) -> io::Result<()> {
        if let Some(search) = &mut self.search {
            (search.infinite, search.pondering) = (false, None);
            self.engine.answer_now();
        }
        self.answer_if_asked()
    }

    /// The expected move was played: the clock runs from now on.
    fn ponder_hit(&mut self) -> io::Result<()> {
        if let Some(time) = self.search.as_mut().and_then(|search| search.pondering.take()) {
            self.engine.ponder_hit(time);
        }
        self.answer_if_asked()
    }

    /// Stops a running search and waits for its answer.
    async fn finish(&mut self) -> io::Result<()> {
        self.stop()?;
        self.await_answer().await
    }

    /// Handles the end of the input: no further command can stop an endless search.
    async fn end(&mut self) -> io::Result<()> {
        match &self.search {
            Some(search) if search.endless || search.pondering.is_some() => self.finish().await,
            _ => self.await_answer().await,
        }
    }

    async fn await_answer(&mut self) -> io::Result<()> {
        while self.search.is_some() {
            let Some(event) = self.events.recv().await else { return Ok(()) };
            self.player_event(event)?;
        }
        Ok(())
    }
}

fn legal(line: &Line, text: &str) -> Option<UciMove> {
    text.parse().ok().filter(|uci| line.is_legal(*uci))
}

/// Returns all legal moves but those to be considered.
fn excluded(line: &Line, considered: &[UciMove]) -> Vec<UciMove> {
    if considered.is_empty() {
        return Vec::new();
    }
    let mut considered_here = line.clone();
    let written = |uci: &UciMove| {
        considered_here.truncate(line.ply());
        considered_here.play(*uci).ok().and_then(|()| considered_here.moves().last().copied())
    };
    let considered: Vec<UciMove> = considered.iter().filter_map(written).collect();
    line.legal_moves().into_iter().filter(|uci| !considered.contains(uci)).collect()
}

fn read_position(text: &str, chess960: bool) -> Result<Line, String> {
    let (fen, moves) = start_and_moves(text)?;
    let variant = if chess960 { Variant::Chess960 } else { Variant::Standard };
    let fen = if fen == "startpos" { Line::start(Variant::Standard).fen() } else { fen.to_owned() };
    let mut line = Line::from_fen(variant, &fen).map_err(|error| error.to_string())?;
    line.play_all(moves).map_err(|error| error.to_string())?;
    Ok(line)
}
