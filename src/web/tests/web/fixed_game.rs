//! One game of the default council that is always the same, told on the bus and written to the journal.
//!
//! `fixed_game.txt` has a move a line, with the milliseconds that the bot took for its own; below it the proposals: elector,
//! knowledge, weight, value, depth, nodes, expected line.

use std::{sync::Arc, time::Duration};

use bot::{
    journal::{DecidedMove, GameKey, Journal},
    session::{BotEvent, EventBus, GameEvent},
};
use council::electors::ElectorSpec;
use domain::{
    Clock, Clocks, Color, CriterionName, Decision, GameInfo, GameStatus, GameTerms, Knowledge, Line, Phase, Player,
    Proposal, Score, SearchId, Source, TimeControl, UciMove, Variant, Vote,
};

use crate::events::connect;
use stage::PlayStage;

/// The name of the game, and of its server.
pub(crate) const ID: &str = "fixed";
pub(crate) const SERVER: &str = "told";

struct ScriptedMove {
    uci: UciMove,
    elapsed: Duration,
    votes: Vec<Vote>,
}

pub(crate) struct FixedGame {
    bus: EventBus,
    journal: Journal,
    key: GameKey,
    line: Arc<Line>,
    clocks: Clocks,
    script: Vec<ScriptedMove>,
}

impl FixedGame {
    pub(crate) fn begin(stage: &PlayStage) -> Self {
        let time_control = TimeControl::real_time(Duration::from_secs(90), Duration::from_secs(1));
        let titled =
            |name: &str, rating| Player { title: Some("BOT".to_owned()), rating: Some(rating), ..Player::named(name) };
        let info = GameInfo::from_start(
            ID,
            GameTerms { variant: Variant::Standard, time_control, rated: false },
            titled("Concilio", 2101),
            titled("Sparring", 2200),
        );
        let clock = Clock { remaining: Duration::from_secs(90), increment: Duration::from_secs(1) };
        let game = Self {
            bus: stage.runtime.event_bus.clone(),
            journal: stage.runtime.journal.clone(),
            key: GameKey::new(&SERVER.into(), &info.id),
            line: Arc::new(info.start.clone()),
            clocks: Clocks::both(clock),
            script: script(),
        };
        connect(&game.bus, "Concilio");
        game.journal.game_started(&SERVER.into(), &info);
        let electors: Vec<ElectorSpec> =
            game.script[0].votes.iter().filter(|vote| vote.weight.is_some()).map(elector).collect();
        game.tell(GameEvent::Started { info: Box::new(info), electors: electors.into(), ply: 0 });
        game.position();
        game
    }

    fn tell(&self, event: GameEvent) {
        self.bus.tell(BotEvent::Game(self.key.clone(), event));
    }

    fn position(&self) {
        self.tell(GameEvent::Position { line: Arc::clone(&self.line), clocks: Some(self.clocks) });
        self.journal.line_seen(&self.key, &self.line, Some(self.clocks));
    }

    pub(crate) async fn play_to(&mut self, ply: usize) {
        while self.line.ply() < ply {
            self.play().await;
        }
    }

    /// The electors propose moves for the position on the board; none is decided upon.
    pub(crate) fn think(&self) {
        for vote in &self.script[self.line.ply()].votes {
            self.tell(GameEvent::Proposal(vote.proposal.clone()));
        }
    }

    pub(crate) async fn finish(&mut self) {
        self.play_to(self.script.len()).await;
        let winner = Some(Color::White);
        self.journal.game_over(&self.key, &GameStatus::Mate, winner).await.expect("written");
        let over = GameEvent::Over {
            info: None,
            status: GameStatus::Mate,
            winner,
            plies: self.line.ply(),
            pgn: None,
            rating_change: None,
        };
        self.tell(over);
    }

    async fn play(&mut self) {
        let ScriptedMove { uci, elapsed, votes } = &self.script[self.line.ply()];
        let spent = if votes.is_empty() { Duration::from_secs(2) } else { *elapsed };
        if !votes.is_empty() {
            let decision = Arc::new(decision(*uci, *elapsed, votes));
            let line = Arc::clone(&self.line);
            for vote in votes {
                self.tell(GameEvent::Proposal(vote.proposal.clone()));
            }
            let decided = DecidedMove {
                game: self.key.clone(),
                line: Arc::clone(&line),
                decision: Arc::clone(&decision),
                clock: None,
                spent,
                response: Duration::from_secs(2),
                extra: Duration::from_secs(3),
                lag: Duration::from_millis(20),
            };
            self.journal.move_decided(decided).await.expect("written");
            let lag = Duration::from_millis(20);
            self.tell(GameEvent::Decided { line, decision, budget: None, lag, left_book: false });
        }
        let clock = self.clocks.of_mut(self.line.turn());
        clock.remaining = clock.remaining + clock.increment - spent;
        let mut longer = Line::clone(&self.line);
        longer.play(*uci).expect("a legal move");
        self.line = Arc::new(longer);
        self.position();
    }
}

fn elector(vote: &Vote) -> ElectorSpec {
    let name = vote.proposal.elector.clone();
    ElectorSpec { name, ..ElectorSpec::own(vote.knowledge.expect("letters"), 1) }
}

fn decision(best: UciMove, elapsed: Duration, votes: &[Vote]) -> Decision {
    let of_best = votes.iter().find(|vote| vote.proposal.best == best).expect("the elected move was proposed");
    Decision {
        score: Some(of_best.proposal.score),
        criterion: Some(CriterionName::ScoreMargin),
        votes: votes.to_vec(),
        elapsed,
        ..Decision::without_vote(best, Source::Council)
    }
}

fn script() -> Vec<ScriptedMove> {
    let mut moves: Vec<ScriptedMove> = Vec::new();
    for row in include_str!("fixed_game.txt").lines() {
        let words: Vec<&str> = row.split_whitespace().collect();
        if row.starts_with(' ') {
            let ply = moves.len() - 1;
            moves[ply].votes.push(vote(ply, &words));
        } else {
            let elapsed = words.get(1).map_or(0, |ms| ms.parse().expect("milliseconds"));
            let uci = words[0].parse().expect("a move");
            moves.push(ScriptedMove { uci, elapsed: Duration::from_millis(elapsed), votes: Vec::new() });
        }
    }
    moves
}

fn vote(ply: usize, words: &[&str]) -> Vote {
    let [elector, knowledge, weight, unit, value, depth, nodes, pv @ ..] = words else { panic!("{words:?}") };
    let value: i32 = value.parse().expect("a value");
    let pv: Vec<UciMove> = pv.iter().map(|uci| uci.parse().expect("a move")).collect();
    let depth: u32 = depth.parse().expect("a depth");
    let search = SearchId { game: ID.into(), ply, serial: 1, phase: Phase::First };
    let score = if *unit == "mate" { Score::Mate(value) } else { Score::Cp(value) };
    let proposal = Proposal {
        depth,
        selective_depth: depth + 4,
        nodes: nodes.parse().expect("nodes"),
        time: Duration::from_millis(900),
        ..Proposal::of_one_ply(search, (*elector).into(), pv[0], score)
    };
    let proposal = Proposal { pv, ..proposal };
    let knowledge: Knowledge = knowledge.parse().expect("letters");
    Vote { proposal, knowledge: Some(knowledge), weight: weight.parse().ok() }
}
