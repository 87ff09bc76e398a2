use std::{
    io::{self, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::Position as _;

use super::{Purpose, XboardSearch, XboardSession, words};
use crate::frontend::search_progress::SearchProgress;
use bot::{
    journal::GameResult,
    policy::adjudication::{self, GameFacts},
};
use council::{
    clock::Moment,
    player::{PlayerEvent, Time},
};
use domain::{Decision, Limits, Line, Score, Source, UciMove, values::Kind};

const HINT: Duration = Duration::from_secs(1);

impl<W: Write> XboardSession<W> {
    pub(super) fn think(&mut self, purpose: Purpose) -> io::Result<()> {
        let line = self.line_for(&purpose);
        let usual = self.engine.setup.limits;
        let mut limits = Limits { depth: self.clock.depth.or(usual.depth), ..usual };
        let mut time = match purpose {
            Purpose::Move => self.time(&line),
            Purpose::Ponder(_) | Purpose::Analysis => Time::Unbounded,
            Purpose::Hint => Time::Exactly(HINT),
        };
        if purpose == Purpose::Move && limits.nodes.is_some() {
            time = Time::Unbounded;
        } else if let (Purpose::Move, Some(speed)) = (&purpose, self.clock.nodes_per_second) {
            limits.nodes = Some(self.nodes(time, &line, speed));
            time = Time::Unbounded;
        }
        if purpose == Purpose::Analysis {
            limits = Limits::default();
        }
        let always_search = purpose == Purpose::Analysis;
        match self.engine.think(Arc::clone(&line), time, limits, Vec::new(), always_search) {
            Ok((request, handle)) => {
                let (progress, since) = (SearchProgress::new(), Instant::now());
                self.search = Some(XboardSearch { request, handle, purpose, line, progress, since, held: None });
                Ok(())
            }
            Err(problem) => {
                self.say(format_args!("Error ({problem}): go"))?;
                // A program that has asked for a move waits for one, even if the settings name no
                // elector.
                let some = line.legal_moves().first().copied().filter(|_| purpose == Purpose::Move);
                let decision = some.map(|some| Decision::without_vote(some, Source::Fallback));
                decision.map_or(Ok(()), |decision| self.make_our_move(&line, &decision, Duration::ZERO))
            }
        }
    }

    fn time(&self, line: &Line) -> Time {
        match self.clock.time(line.turn(), line.ply()) {
            Time::Exactly(most) => Time::Exactly(self.engine.setup.searchable(most)),
            time => time,
        }
    }

    /// Converts a time into nodes of each elector, if nodes are the clock.
    fn nodes(&self, time: Time, line: &Line, speed: u64) -> u64 {
        let time = match time {
            Time::Clock { control, clocks, moves_to_go, spent } => {
                let moment = Moment { control, clocks, color: line.turn(), ply: line.ply(), moves_to_go, spent };
                self.engine.setup.clock.budget(&moment, &self.engine.setup.lag()).response
            }
            Time::Exactly(time) => time,
            Time::Unbounded => Duration::MAX,
        };
        let electors = self.engine.setup.electors() as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let nodes = (time.as_secs_f64() * speed as f64 / electors) as u64;
        nodes.max(1)
    }

    /// Starts the clock: the expected move has been played.
    pub(super) fn hit(&mut self) -> io::Result<()> {
        let by_nodes = self.engine.setup.limits.nodes.is_some();
        let time = if by_nodes { Time::Unbounded } else { self.time(&self.engine.line) };
        if let Some(search) = &mut self.search {
            search.handle.comes_about(&search.line, time);
            (search.purpose, search.since) = (Purpose::Move, Instant::now());
        }
        self.answer_if_asked()
    }

    pub(super) fn player_event(&mut self, event: PlayerEvent) -> io::Result<()> {
        let Some(search) = &mut self.search else { return Ok(()) };
        match event {
            PlayerEvent::Proposal(request, proposal) if request == search.request => {
                search.progress.propose(proposal);
                Ok(())
            }
            PlayerEvent::Leader(request, leader) if request == search.request => {
                let news = search.progress.lead(leader);
                let shown = self.switches.post && search.purpose != Purpose::Hint;
                let Some(standing) = news.filter(|_| shown) else { return Ok(()) };
                let text = words::thinking(&search.line, &standing);
                self.say(text)
            }
            PlayerEvent::Decided { id, decision, .. } if id == search.request => {
                search.held = Some(decision);
                self.answer_if_asked()
            }
            _ => Ok(()),
        }
    }

    /// Makes the move that was found, if it is wanted now.
    fn answer_if_asked(&mut self) -> io::Result<()> {
        let ready = |search: &mut XboardSearch| {
            matches!(search.purpose, Purpose::Move | Purpose::Hint) && search.held.is_some()
        };
        let Some(XboardSearch { purpose, line, since, held: Some(decision), .. }) = self.search.take_if(ready) else {
            return Ok(());
        };
        if purpose == Purpose::Hint {
            return self.say(format_args!("Hint: {}", decision.best));
        }
        self.make_our_move(&line, &decision, since.elapsed())
    }

    fn make_our_move(&mut self, line: &Line, decision: &Decision, took: Duration) -> io::Result<()> {
        if self.switches.debug {
            for comment in words::votes(line, decision) {
                self.say(comment)?;
            }
        }
        let bell = if self.switches.beep { "\x07" } else { "" };
        let scores = [self.record.scores(), vec![decision.score]].concat();
        let facts = self.facts(line, &scores, adjudication::tablebase_result(decision));
        if adjudication::resigns(&self.engine.setup.resign, &facts) {
            self.ended = true;
            self.say("resign")?;
            return self.answer_pings();
        }
        let offers_draw = adjudication::offers_draw(&self.engine.setup.draw, &facts);
        self.say(format_args!("move {}{bell}", words::written(line, decision.best, self.switches.chess960)))?;
        if self.play(decision.best).is_err() {
            // The council answers for the position on the board, in which its move is legal.
            return self.say(format_args!("Error (the position has changed): {}", decision.best));
        }
        self.record.moved(self.engine.line.ply(), decision, took);
        self.clock.moved(self.engine.line.ply().div_ceil(2), took);
        self.expected = decision.ponder;
        if offers_draw {
            self.offered_at = Some(line.ply());
            self.say("offer draw")?;
        }
        self.announce_result()?;
        self.answer_pings()?;
        if self.switches.both {
            self.ours = Some(self.engine.line.turn());
            self.clock.swap();
            // The council plays both sides, so no opponent claims the draw.
            self.ended = words::result(&self.engine.line).is_some();
        }
        self.consider()
    }

    /// Plays a move of either side on the board.
    pub(super) fn play(&mut self, uci: UciMove) -> Result<(), String> {
        Arc::make_mut(&mut self.engine.line).play(uci).map_err(|error| error.to_string())?;
        self.expected = None;
        Ok(())
    }

    /// Announces the result, or that a draw may be claimed.
    pub(super) fn announce_result(&mut self) -> io::Result<()> {
        words::result(&self.engine.line).map_or(Ok(()), |result| self.say(result))
    }

    pub(super) fn consider_draw(&mut self) -> io::Result<()> {
        let scores = self.record.scores();
        let accepted =
            adjudication::accepts_draw(&self.engine.setup.draw, &self.facts(&self.engine.line, &scores, None));
        if accepted { self.say("offer draw") } else { Ok(()) }
    }

    /// The game as the rules of offering and resigning see it.
    fn facts<'a>(&self, line: &Line, scores: &'a [Option<Score>], tablebase: Option<GameResult>) -> GameFacts<'a> {
        GameFacts {
            scores,
            moves: moves(line.ply()),
            pieces: line.position().board().occupied().count(),
            tablebase,
            moves_since_offer: self.offered_at.map(|ply| moves(line.ply().saturating_sub(ply))),
            opponent: if self.opponent.computer { Kind::Bot } else { Kind::Human },
            opponent_rating: self.opponent.rating,
            opponent_clock: self.clock.theirs(),
            increment: self.clock.increment(moves(line.ply())),
        }
    }
}

fn moves(plies: usize) -> u32 {
    u32::try_from(plies / 2).unwrap_or(u32::MAX)
}
