//! Anybody's engine that speaks the Chess Engine Communication Protocol (xboard's, version 2; Mann and Muller, *Chess Engine
//! Communication Protocol*).
//!
//! The engine is kept in force mode and told every move, so that it only ever searches when we say `go`.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{ChosenMove, MatchPlayer, MoveRequest, Pace, PlayerFailure};
use crate::epd::read_move;
use chess::{Clocks, Line, Score, UciMove};
use council::pool::{UciProgram, uci::Process};

/// How long an engine of version 1, which announces nothing, is waited for.
const FEATURES_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a banner is waited for: GNU Chess overlooks what is said before it has shown its own.
const BANNER_TIMEOUT: Duration = Duration::from_millis(300);

pub(super) struct XboardPlayer {
    process: Process,
    features: BTreeMap<String, String>,
    /// What the engine has on its board; `None` before the first position.
    known: Option<Line>,
    pings: u32,
}

impl XboardPlayer {
    pub(super) fn start(program: &UciProgram) -> Result<Self, PlayerFailure> {
        let mut process = Process::spawn(program)?;
        process.send("xboard")?;
        process.read(BANNER_TIMEOUT)?;
        process.send("protover 2")?;
        let mut features = BTreeMap::new();
        let deadline = Instant::now() + FEATURES_TIMEOUT;
        while features.get("done").is_none_or(|done| done == "0") {
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(line) = process.read(left)? else { break };
            let Some(announced) = line.trim().strip_prefix("feature ") else { continue };
            for (name, value) in pairs(announced) {
                process.send(&format!("accepted {name}"))?;
                features.insert(name, value);
            }
        }
        for (name, value) in &program.options {
            process.send(&format!("option {name}={value}"))?;
        }
        Ok(Self { process, features, known: None, pings: 0 })
    }

    fn has(&self, feature: &str) -> bool {
        self.features.get(feature).is_some_and(|value| value == "1")
    }

    /// Brings the engine's board to where the game stands.
    fn follow(&mut self, line: &Line) -> Result<(), PlayerFailure> {
        let mut known = match self.known.take().filter(|known| line.moves().starts_with(known.moves())) {
            Some(known) => known,
            None => {
                let start = line.prefix(0);
                if let Some(fen) = line.start_fen() {
                    if self.features.get("setboard").is_some_and(|value| value == "0") {
                        let reason = "cannot be given a position (feature setboard=0)";
                        return Err(PlayerFailure::Failed(reason.to_owned()));
                    }
                    self.process.send(&format!("setboard {fen}"))?;
                }
                start
            }
        };
        for mv in &line.moves()[known.ply()..] {
            let text = if self.has("san") { known.san(*mv) } else { mv.to_string() };
            let command = if self.has("usermove") { format!("usermove {text}") } else { text };
            self.process.send(&command)?;
            known.play(*mv).map_err(|error| PlayerFailure::Failed(error.to_string()))?;
        }
        self.known = Some(known);
        Ok(())
    }

    /// Waits until the engine has read everything, so that what it says afterwards is about what comes afterwards.
    fn settle(&mut self) -> Result<(), PlayerFailure> {
        if !self.has("ping") {
            while self.process.read(Duration::ZERO)?.is_some() {}
            return Ok(());
        }
        self.pings += 1;
        let pings = self.pings;
        self.process.send(&format!("ping {pings}"))?;
        Ok(self.process.read_until(&format!("pong {pings}"), FEATURES_TIMEOUT, |_| ())?)
    }

    /// Tells the engine what it may take.
    fn set_time(&mut self, turn: &MoveRequest) -> Result<(), PlayerFailure> {
        let centiseconds = |time: Duration| (time.as_millis() / 10).max(1);
        match turn.pace {
            Pace::Nodes(_) => {
                let reason = "CECP knows no node budget; give it tc= or movetime=";
                Err(PlayerFailure::Failed(reason.to_owned()))
            }
            Pace::MoveTime(time) => {
                // `st` takes whole seconds; engines that understand fractions are few, so the clock says it as well.
                self.process.send(&format!("st {}", time.as_secs_f64().ceil().max(1.0)))?;
                Ok(self.process.send(&format!("time {}", centiseconds(time)))?)
            }
            Pace::Clock { .. } => {
                let clocks: Clocks = turn.clocks.unwrap_or_default();
                let (ours, theirs) = (clocks.of(turn.line.turn()), clocks.of(!turn.line.turn()));
                self.process.send(&format!("time {}", centiseconds(ours.remaining)))?;
                Ok(self.process.send(&format!("otim {}", centiseconds(theirs.remaining)))?)
            }
        }
    }
}

impl MatchPlayer for XboardPlayer {
    fn new_game(&mut self) -> Result<(), PlayerFailure> {
        self.known = None;
        // `easy`: it does not think in our time.
        ["new", "force", "easy", "post"].iter().try_for_each(|command| self.process.send(command))?;
        Ok(())
    }

    fn choose(&mut self, turn: &MoveRequest) -> Result<ChosenMove, PlayerFailure> {
        if let (true, Pace::Clock { initial, increment }) = (self.known.is_none(), turn.pace) {
            let (minutes, seconds) = (initial.as_secs() / 60, initial.as_secs() % 60);
            self.process.send(&format!("level 0 {minutes}:{seconds:02} {}", increment.as_secs_f64()))?;
        }
        self.follow(&turn.line)?;
        self.settle()?;
        self.set_time(turn)?;
        self.process.send("go")?;
        let deadline = Instant::now() + turn.patience();
        let mut choice = ChosenMove { best: UciMove::Null, score: None, depth: 0, nodes: 0 };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(line) = self.process.read(left)? else {
                return Err(PlayerFailure::Failed("hangs".to_owned()));
            };
            match answer(&line, &turn.line) {
                EngineAnswer::Thinking { depth, score, nodes } => {
                    choice = ChosenMove { score: Some(score), depth, nodes: choice.nodes.max(nodes), ..choice };
                }
                EngineAnswer::Move(best) => {
                    self.process.send("force")?;
                    if let Some(known) = &mut self.known {
                        // One that is not legal ends the game; the board is not needed any more.
                        let _ = known.play(best);
                    }
                    return Ok(ChosenMove { best, ..choice });
                }
                EngineAnswer::Unreadable(text) => return Err(PlayerFailure::Illegal(text)),
                EngineAnswer::Complaint(text) => return Err(PlayerFailure::Failed(text)),
                EngineAnswer::Resigns => return Err(PlayerFailure::Resigned),
                EngineAnswer::Nothing => {}
            }
        }
    }
}

/// What a line of an engine means while it is searching.
#[derive(Debug, PartialEq)]
enum EngineAnswer {
    Thinking {
        depth: u32,
        score: Score,
        nodes: u64,
    },
    Move(UciMove),
    /// A move that is not legal.
    Unreadable(String),
    /// It does not accept what we sent.
    Complaint(String),
    Resigns,
    Nothing,
}

fn answer(text: &str, line: &Line) -> EngineAnswer {
    let text = text.trim();
    // GNU Chess still says it in the words of version 1.
    if let Some(word) = text.strip_prefix("move ").or(text.strip_prefix("My move is")) {
        let word = word.trim_start_matches([' ', ':']).trim_end();
        return read_move(line, word).map_or_else(|| EngineAnswer::Unreadable(word.to_owned()), EngineAnswer::Move);
    }
    if text == "resign" {
        return EngineAnswer::Resigns;
    }
    if text.starts_with("Illegal move") || text.starts_with("Error") || text.starts_with("tellusererror Illegal") {
        return EngineAnswer::Complaint(text.to_owned());
    }
    let mut words = text.split_ascii_whitespace();
    let depth = words.next().and_then(|word| word.trim_end_matches(['.', '+', '-', '&']).parse().ok());
    let numbers: Option<Vec<i64>> = words.take(3).map(|word| word.parse().ok()).collect();
    match (depth, numbers.as_deref()) {
        (Some(depth), Some([centipawns, _, nodes])) => EngineAnswer::Thinking {
            depth,
            score: score((*centipawns).clamp(-200_000, 200_000) as i32),
            nodes: (*nodes).max(0).unsigned_abs(),
        },
        _ => EngineAnswer::Nothing,
    }
}

/// Version 2 announces mates as 100000 and the number of moves.
fn score(centipawns: i32) -> Score {
    match centipawns.abs() - 100_000 {
        moves @ 0..=1000 => Score::Mate(moves * centipawns.signum()),
        _ => Score::Cp(centipawns),
    }
}

/// `name=value name="a value"`
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while let Some((name, value)) = rest.split_once('=') {
        let (value, left) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => value.split_once(' ').unwrap_or((value, "")),
        };
        pairs.push((name.trim().to_owned(), value.to_owned()));
        rest = left.trim_start();
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess::Variant;

    #[test]
    fn features_are_read_with_their_quotes() {
        let pairs = pairs(r#"ping=1 myname="GNU Chess 6.2.7" variants="normal,suicide" san=0 done=1"#);
        let names: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        assert_eq!(names, ["ping:1", "myname:GNU Chess 6.2.7", "variants:normal,suicide", "san:0", "done:1"]);
    }

    #[test]
    fn thinking_and_moves_are_told_from_chatter() {
        let line = Line::start(Variant::Standard);
        assert_eq!(
            answer(" 9.  -15 120 48211 d7d5 e2e4", &line),
            EngineAnswer::Thinking { depth: 9, score: Score::Cp(-15), nodes: 48211 }
        );
        assert_eq!(
            answer("12 -100003 5 900", &line),
            EngineAnswer::Thinking { depth: 12, score: Score::Mate(-3), nodes: 900 }
        );
        assert_eq!(answer("move Nf3", &line), EngineAnswer::Move("g1f3".parse().expect("a move")));
        assert_eq!(answer("move e2e4", &line), EngineAnswer::Move("e2e4".parse().expect("a move")));
        assert_eq!(answer("My move is : b1c3", &line), EngineAnswer::Move("b1c3".parse().expect("a move")));
        assert_eq!(answer("move e2e5", &line), EngineAnswer::Unreadable("e2e5".to_owned()));
        assert_eq!(answer("resign", &line), EngineAnswer::Resigns);
        for chatter in ["", "1. e2e4", "Chess", "# 1 2 3 4", "Hint: e7e5"] {
            assert_eq!(answer(chatter, &line), EngineAnswer::Nothing, "{chatter:?}");
        }
    }
}
