//! The council behind the Universal Chess Interface.
//!
//! `go nodes N` and the option `Nodes per Elector` are limits of each elector; everything else
//! follows the protocol. The votes are shown in `info string` lines before every move.

mod words;

use std::{
    io::{BufRead, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use shakmaty::Position as _;
use tokio::{runtime::Handle, sync::mpsc, task::block_in_place};

use super::{
    Setup,
    engine_session::{self, EngineSession},
    options,
    search_progress::SearchProgress,
};
use council::player::{PlayerEvent, RequestId, SearchHandle, Time};
use domain::{Clock, Color, Decision, Limits, Line, Score, Source, UciMove, Variant, engine_position};
use engine::{
    Position,
    uci::{Go, Output, Player, best_move, over, serve},
};

/// Serves UCI until `quit` or the end of `input`. Must be called within a runtime of several threads, one of which it blocks.
pub fn run(input: impl BufRead, output: impl Write + Send + 'static, setup: Setup) {
    let output = Output::new(output);
    let (engine, events) = EngineSession::new(setup);
    let mut council = CouncilPlayer { output: Arc::clone(&output), engine, search: Arc::default(), chess960: false };
    tokio::spawn(report(events, Arc::clone(&output), Arc::clone(&council.search)));
    block_in_place(|| serve(input, &output, &mut council));
}

/// The most that a move with a fixed time takes of a clock that runs beside it.
const MOST_OF_A_CLOCK: f64 = 0.4;

struct UciSearch {
    request: RequestId,
    handle: SearchHandle,
    line: Arc<Line>,
    progress: SearchProgress,
    /// The time of the search once it is not for pondering.
    time: Time,
    /// A mate in this number of moves ends it.
    mate: Option<i32>,
}

type RunningSearch = Mutex<Option<UciSearch>>;

struct CouncilPlayer {
    output: Arc<Output>,
    engine: EngineSession,
    /// The search that the council has not decided yet; [`report`] has it too.
    search: Arc<RunningSearch>,
    chess960: bool,
}

impl Player for CouncilPlayer {
    const NAME: &'static str = concat!("concilio ", env!("CARGO_PKG_VERSION"), " council");

    fn options(&self) -> Vec<String> {
        options::list(&self.engine.setup).iter().map(words::option).collect()
    }

    fn prepare(&mut self) -> Result<(), String> {
        Handle::current().block_on(self.engine.start_council())
    }

    fn new_game(&mut self) {
        self.engine.new_game();
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        let takes_another = options::set(&mut self.engine.setup, name, value)?;
        if name.eq_ignore_ascii_case("UCI_Chess960") {
            self.chess960 = matches!(value.to_lowercase().as_str(), "true" | "1");
        }
        if takes_another {
            self.engine.replace_council();
        }
        Ok(())
    }

    fn set_position(&mut self, start: &str, moves: &str) -> Result<(), String> {
        let variant = if self.chess960 { Variant::Chess960 } else { Variant::Standard };
        let start = if start == "startpos" { Line::start(Variant::Standard).fen() } else { start.to_owned() };
        let mut line = Line::from_fen(variant, &start).map_err(|error| error.to_string())?;
        line.play_all(moves).map_err(|error| error.to_string())?;
        self.engine.line = Arc::new(line);
        Ok(())
    }

    fn position(&self) -> Result<Position, String> {
        engine_position(&self.engine.line).map_err(|error| error.to_string())
    }

    fn go(&mut self, arguments: &str) {
        let line = Arc::clone(&self.engine.line);
        let go = Go::read(arguments, |text| text.parse().ok().filter(|uci| line.is_legal(*uci)));
        let (time, limits) = (self.time(&go, line.turn()), self.limits(&go));
        let bounded = !matches!(time, Time::Unbounded) || limits.nodes.is_some() || limits.depth.is_some();
        self.output.begin(&go, bounded);
        let Some(some) = line.legal_moves().first().copied() else {
            self.output.say(over(line.position().is_check()));
            return self.output.answer("bestmove 0000".to_owned());
        };
        let time_now = if go.ponder { Time::Unbounded } else { time };
        let excluded = excluded(&line, &go.search_moves);
        // Reports wait until the search is known.
        let mut search = lock(&self.search);
        match self.engine.think(Arc::clone(&line), time_now, limits, excluded, go.infinite) {
            Ok((request, handle)) => {
                let mate = go.limits.mate.map(|moves| i32::try_from(moves).unwrap_or(i32::MAX));
                *search = Some(UciSearch { request, handle, line, progress: SearchProgress::new(), time, mate });
            }
            // The program waits for a move, even if the settings name no elector.
            Err(problem) => {
                self.output.say(format_args!("info string {problem}; some legal move is played"));
                let decision = Decision::without_vote(some, Source::Fallback);
                self.output.answer(answer(&line, &mut SearchProgress::new(), &decision));
            }
        }
    }

    fn answer_now(&mut self) {
        if let Some(search) = &*lock(&self.search) {
            search.handle.answer_now();
        }
    }

    fn ponder_hit(&mut self) {
        if let Some(search) = &*lock(&self.search) {
            search.handle.comes_about(&search.line, search.time);
        }
    }
}

impl CouncilPlayer {
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
}

/// Reports the events of all searches.
async fn report(mut events: mpsc::UnboundedReceiver<PlayerEvent>, output: Arc<Output>, search: Arc<RunningSearch>) {
    while let Some(event) = events.recv().await {
        let mut running = lock(&search);
        let Some(search) = &mut *running else { continue };
        match event {
            PlayerEvent::Proposal(request, proposal) if request == search.request => {
                if output.debugs() {
                    output.say(words::proposal(&search.line, &proposal));
                }
                search.progress.propose(proposal);
            }
            PlayerEvent::Leader(request, leader) if request == search.request => {
                let Some(standing) = search.progress.lead(leader) else { continue };
                output.say(words::info(&standing));
                if let (Score::Mate(moves @ 1..), Some(wanted)) = (standing.proposal.score, search.mate)
                    && moves <= wanted
                {
                    search.handle.answer_now();
                }
            }
            PlayerEvent::Decided { id, decision, .. } if id == search.request => {
                let answer = answer(&search.line, &mut search.progress, &decision);
                *running = None;
                output.answer(answer);
            }
            _ => (),
        }
    }
}

/// Writes a decision: the part of it that has not been shown, the votes, and the move.
fn answer(line: &Line, progress: &mut SearchProgress, decision: &Decision) -> String {
    let unshown = match progress.decide(decision) {
        Some(standing) => Some(words::info(&standing)),
        None => decision.score.filter(|_| progress.is_silent()).map(|score| words::unproposed(decision, score)),
    };
    let mut lines = Vec::from_iter(unshown);
    lines.extend(words::votes(line, decision));
    lines.push(best_move(&decision.best, decision.ponder.as_ref()));
    lines.join("\n")
}

fn lock(search: &RunningSearch) -> MutexGuard<'_, Option<UciSearch>> {
    search.lock().unwrap_or_else(PoisonError::into_inner)
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
