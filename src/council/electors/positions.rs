//! Anybody's program that reads positions and prints moves as an elector (docs/own-player.md): a line of JSON in, a move out.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{Elector, ElectorFailure, ElectorResult, EngineGame, EngineProgram, Process, Task, process::POLL};
use domain::{ElectorName, Proposal, Score, moves_text};

/// The time to wait for an answer after the time is up.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// A line that begins so is no answer.
const COMMENT: char = '#';

/// A line that begins so is said to the opponent.
const SAYS: &str = "say ";

/// The position for the program. Fields may be added, never removed.
#[derive(Debug, Serialize)]
struct PositionText {
    variant: &'static str,
    fen: String,
    start: String,
    /// The moves since then, in UCI notation with blanks between them.
    moves: String,
    legal: Vec<String>,
    seconds: Option<f64>,
    opponent: Option<OpponentText>,
    /// Lines of others since the last position.
    chat: Vec<ChatText>,
}

#[derive(Debug, Serialize)]
struct OpponentText {
    name: String,
    title: Option<String>,
    rating: Option<u32>,
}

#[derive(Debug, Serialize)]
struct ChatText {
    from: String,
    text: String,
}

impl PositionText {
    fn of(task: &Task, game: Option<&EngineGame>) -> Self {
        let opponent = game.map(|EngineGame { opponent, .. }| OpponentText {
            name: opponent.name.clone(),
            title: opponent.title.clone(),
            rating: opponent.rating,
        });
        let heard = game.map(|game| game.chat.take_heard()).unwrap_or_default();
        let line = &task.line;
        let legal = if task.root_moves.is_empty() { line.legal_moves() } else { task.root_moves.clone() };
        Self {
            variant: line.variant().key(),
            fen: line.fen(),
            start: line.prefix(0).fen(),
            moves: moves_text(line.moves()),
            legal: legal.iter().map(ToString::to_string).collect(),
            seconds: task.time.into_iter().chain(task.limits.time).min().map(|time| time.as_secs_f64()),
            opponent,
            chat: heard.into_iter().map(|(from, text)| ChatText { from, text }).collect(),
        }
    }
}

pub(super) struct PositionsElector {
    name: ElectorName,
    process: Process,
    game: Option<EngineGame>,
}

impl PositionsElector {
    pub(super) fn start(name: ElectorName, program: &EngineProgram) -> ElectorResult<Self> {
        if !program.options.is_empty() {
            let path = program.path.display();
            return Err(ElectorFailure(format!("{path} speaks no protocol that has options; use arguments")));
        }
        Ok(Self { name, process: Process::spawn(program)?, game: program.game.clone() })
    }

    /// Builds the proposal of an answer: a move, optionally with its value in centipawns for the
    /// mover.
    fn proposal(&self, answer: &str, task: &Task, time: Duration) -> ElectorResult<Proposal> {
        let mut words = answer.split_ascii_whitespace();
        let best = words.next().and_then(|word| task.line.read_move(word));
        let best = best.ok_or_else(|| ElectorFailure(format!("{} gave no legal move: {answer:?}", self.name)))?;
        let score = Score::Cp(words.next().and_then(|word| word.parse().ok()).unwrap_or(0));
        Ok(Proposal { time, ..Proposal::of_one_ply(task.id.clone(), self.name.clone(), best, score) })
    }
}

impl Elector for PositionsElector {
    fn search(&mut self, task: &Task, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> ElectorResult {
        let text = serde_json::to_string(&PositionText::of(task, self.game.as_ref()))
            .map_err(|error| ElectorFailure(error.to_string()))?;
        self.process.send(&text)?;
        let (began, mut stopped) = (Instant::now(), None);
        loop {
            if stop.load(Ordering::Relaxed) {
                stopped.get_or_insert_with(Instant::now);
            }
            if stopped.is_some_and(|since| since.elapsed() > STOP_TIMEOUT) {
                return Err(ElectorFailure(format!("{} gave no move and was killed", self.name)));
            }
            let Some(answer) = self.process.read(POLL)? else { continue };
            if let Some(text) = answer.strip_prefix(SAYS) {
                self.game.iter().for_each(|game| game.chat.say(text));
                continue;
            }
            if !answer.trim().is_empty() && !answer.starts_with(COMMENT) {
                report(self.proposal(&answer, task, began.elapsed())?);
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::electors::{EngineChat, EngineProtocol};
    use domain::{Line, Player, Variant};

    fn program(script: &str) -> EngineProgram {
        EngineProgram { protocol: EngineProtocol::Positions, ..EngineProgram::shell(script) }
    }

    /// Returns the proposals in the starting position of a program that runs this for every line of
    /// input.
    fn answers(script: &str, stopped: bool) -> ElectorResult<Vec<Proposal>> {
        let program = program(&format!("while read -r position; do {script}; done"));
        let mut elector = PositionsElector::start("own".into(), &program)?;
        let task = Task::alone(Arc::new(Line::start(Variant::Standard)));
        let mut proposals = Vec::new();
        elector.search(&task, &AtomicBool::new(stopped), &mut |proposal| proposals.push(proposal))?;
        Ok(proposals)
    }

    #[test]
    fn answer_is_a_move_and_perhaps_value() {
        let told = |script: &str| {
            let proposals = answers(script, false).expect("an answer");
            let [proposal] = proposals.as_slice() else { panic!("one answer: {proposals:?}") };
            (proposal.best.to_string(), proposal.score)
        };
        assert_eq!(told("echo '# thinking'; echo; echo 'g1f3 35'"), ("g1f3".to_owned(), Score::Cp(35)));
        assert_eq!(told("echo Nf3"), ("g1f3".to_owned(), Score::Cp(0)));
        // The position is all there: the first legal move is read from it by the shell itself.
        let first = r#"rest=${position#*'"legal":["'}; echo "${rest%%\"*}""#;
        assert!(Line::start(Variant::Standard).read_move(&told(first).0).is_some());
    }

    #[test]
    fn programs_hear_and_speak() {
        let chat = EngineChat::default();
        chat.hear("Ann", "hello");
        let game = EngineGame { opponent: Player::named("Ann"), our_rating: None, chat: chat.clone() };
        // It says what it heard.
        let script =
            r#"while read -r position; do rest=${position#*'"text":"'}; echo "say ${rest%%\"*} to you"; echo e4; done"#;
        let program = EngineProgram { game: Some(game), ..program(script) };
        let mut elector = PositionsElector::start("own".into(), &program).expect("it starts");
        let task = Task::alone(Arc::new(Line::start(Variant::Standard)));
        let mut moves = Vec::new();
        let searched = elector.search(&task, &AtomicBool::new(false), &mut |proposal| moves.push(proposal.best));
        assert_eq!((searched, moves.len()), (Ok(()), 1));
        assert_eq!(chat.take_said(), ["hello to you"]);
    }

    #[test]
    fn bad_player_answers_are_failures() {
        for (script, stopped, complaint) in [
            ("echo e2e5", false, "gave no legal move: \"e2e5\""),
            (":", true, "gave no move and was killed"),
            ("echo 'no such file' >&2; exit 1", false, "the engine has ended: no such file"),
        ] {
            let failure = answers(script, stopped).expect_err("a failure").to_string();
            assert!(failure.contains(complaint), "{failure}");
        }
        let options = [("Hash".to_owned(), "1".to_owned())].into();
        let failure = PositionsElector::start("own".into(), &EngineProgram { options, ..program("cat") });
        assert!(failure.err().is_some_and(|failure| failure.to_string().contains("use arguments")));
    }
}
