use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use serde::Serialize;
use shakmaty::Position as _;

use super::rows::{BoardRow, ChatRow, DecisionRow, GameHead, LineMove, OverRow, VoteRow, short};
use bot::session::{GameEvent, how_it_ended};
use council::{clock::Budget, electors::ElectorSpec, player::vote_report};
use domain::{
    ChatLine, Clocks, Color, Decision, GameInfo, GameStatus, Line, Phase, Proposal, Score, color_word,
    vote_words::{self, NamedElector, VoteInWords},
};

const MOST_CHAT: usize = 60;

const MOST_ROWS: usize = 256;

const MOST_NEWS: usize = 2 * MOST_ROWS;

#[derive(Debug)]
pub(super) struct GameOverview {
    head: GameHead,
    our_color: Color,
    line: Arc<Line>,
    board: BoardRow,
    since: Instant,
    votes: Vec<(VoteRow, bool)>,
    /// Number of moves in the position of `votes`.
    votes_ply: usize,
    decision: Option<DecisionRow>,
    chat: Vec<ChatRow>,
    over: Option<OverRow>,
    fault: Option<String>,
    changed: Changed,
    is_over: bool,
    /// Events since the game was last shown, with their times.
    news: Vec<(GameEvent, Instant, Timestamp)>,
}

/// Changed parts; single votes are marked in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Changed {
    head: bool,
    board: bool,
    /// True if watchers must forget earlier votes.
    votes: bool,
    decision: bool,
    chat: bool,
    over: bool,
    fault: bool,
}

impl Changed {
    const ALL: Self =
        Self { head: true, board: true, votes: true, decision: true, chat: true, over: true, fault: true };
}

/// Changes of a game. A missing part has not changed.
#[derive(Debug, Serialize)]
pub struct GameFrame<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<&'a GameHead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<&'a BoardRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    votes: Option<VotesFrame<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a DecisionRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat: Option<&'a [ChatRow]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    over: Option<&'a OverRow>,
    /// Empty once the fault is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct VotesFrame<'a> {
    /// The ply of the position of the votes.
    ply: usize,
    /// True if earlier proposals must be dropped.
    fresh: bool,
    rows: Vec<&'a VoteRow>,
}

impl GameOverview {
    pub(super) fn new(server: &str, info: &GameInfo, electors: &[ElectorSpec], now: Instant, time: Timestamp) -> Self {
        let line = Arc::new(info.start.clone());
        Self {
            head: GameHead::new(server, info, electors, time),
            our_color: info.our_color,
            board: board(&line, &[], None),
            line,
            since: now,
            votes: Vec::new(),
            votes_ply: 0,
            decision: None,
            chat: Vec::new(),
            over: None,
            fault: None,
            changed: Changed::ALL,
            is_over: false,
            news: Vec::new(),
        }
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes an event. Moves are put into words only when the game is shown: a game without watchers
    /// costs next to nothing.
    pub(super) fn take(&mut self, event: &GameEvent, now: Instant, time: Timestamp) {
        let is_position = |known: &GameEvent| matches!(known, GameEvent::Position { .. });
        let is_vote = |known: &GameEvent| matches!(known, GameEvent::Proposal(_) | GameEvent::Decided { .. });
        match event {
            GameEvent::Position { .. } => self.news.retain(|(event, ..)| !is_position(event)),
            GameEvent::Decided { .. } => self.news.retain(|(event, ..)| !is_vote(event)),
            GameEvent::Over { .. } => self.is_over = true,
            // Texts from outside are cut before they are kept.
            GameEvent::Chat { line, .. } => return self.say(line),
            GameEvent::Started { .. } | GameEvent::Sent { .. } | GameEvent::OpponentGone { .. } => return,
            _ => {}
        }
        let event = match event {
            GameEvent::Fault(what) => GameEvent::Fault(short(what)),
            event => event.clone(),
        };
        self.news.push((event, now, time));
        if self.news.len() > MOST_NEWS {
            self.digest();
        }
    }

    pub(super) fn digest(&mut self) {
        for (event, now, time) in std::mem::take(&mut self.news) {
            match &event {
                GameEvent::Position { line, clocks } => self.position(line, *clocks, now),
                GameEvent::Proposal(proposal) => self.propose(proposal),
                GameEvent::Decided { line, decision, budget, lag, .. } => self.decide(line, decision, *budget, *lag),
                GameEvent::Fault(what) => {
                    self.fault = Some(what.clone());
                    self.changed.fault = true;
                }
                GameEvent::Over { status, winner, rating_change, .. } => {
                    self.end(status, *winner, now, time);
                    self.rated(*rating_change);
                }
                GameEvent::Rated { change } => self.rated(Some(*change)),
                GameEvent::Started { .. }
                | GameEvent::Sent { .. }
                | GameEvent::OpponentGone { .. }
                | GameEvent::Chat { .. } => {}
            }
        }
    }

    fn rated(&mut self, change: Option<i32>) {
        if let (Some(over), Some(_)) = (&mut self.over, change) {
            over.rating_change = change;
            self.changed.over = true;
        }
    }

    fn position(&mut self, line: &Arc<Line>, clocks: Option<Clocks>, now: Instant) {
        if !line.moves().starts_with(self.line.moves()) {
            // Moves were taken back, so the votes on them are void: new ones may have the same ply.
            self.votes.clear();
            self.votes_ply = line.ply();
            self.changed.votes = true;
        }
        self.changed.fault |= self.fault.take().is_some();
        self.board = board(line, &self.moves_before(line), clocks);
        self.line = Arc::clone(line);
        self.since = now;
        self.changed.board = true;
    }

    /// Returns the known words of the line's first moves, so that each move is put into words once.
    fn moves_before(&mut self, line: &Line) -> Vec<String> {
        let same = self.line.moves().iter().zip(line.moves()).take_while(|(a, b)| a == b).count();
        let mut known = std::mem::take(&mut self.board.moves);
        known.truncate(same);
        known
    }

    fn propose(&mut self, proposal: &Proposal) {
        // Proposals in the opponent's time are on expected positions only.
        if proposal.search.ply != self.line.ply() || self.line.turn() != self.our_color {
            return;
        }
        if self.votes_ply != proposal.search.ply {
            self.votes.clear();
            self.votes_ply = proposal.search.ply;
            self.changed.votes = true;
        }
        let row = VoteRow::new(self.named(proposal), self.line.san(proposal.best), proposal, None);
        let known = self.votes.iter().position(|(known, _)| known.elector == row.elector && known.second == row.second);
        match known {
            Some(index) => self.votes[index] = (row, true),
            None if self.votes.len() < MOST_ROWS => self.votes.push((row, true)),
            None => {}
        }
    }

    /// Returns the proposer in words. An elector missing on the roster is an adviser, named by its
    /// knowledge.
    fn named(&self, proposal: &Proposal) -> NamedElector {
        if proposal.search.phase == Phase::Second {
            return NamedElector::second_search();
        }
        let name = proposal.elector.as_str();
        match self.head.electors.iter().find(|elector| elector.name == name) {
            Some(elector) => NamedElector::new::<Line>(name, elector.knowledge.as_deref(), false),
            None => NamedElector::new::<Line>(name, Some(name), !self.head.electors.is_empty()),
        }
    }

    fn decide(&mut self, line: &Line, decision: &Decision, budget: Option<Budget>, lag: Duration) {
        let opinions = vote_words::opinions(line, decision);
        let weights = decision.votes.iter().map(|vote| (&vote.proposal, vote.weight));
        let second = decision.second_phase.iter().map(|second| (&second.proposal, None));
        let rows = weights.chain(second).zip(&opinions).take(MOST_ROWS).map(|((proposal, weight), opinion)| {
            (VoteRow::new(opinion.elector.clone(), opinion.mv.clone(), proposal, weight), true)
        });
        self.votes = rows.collect();
        self.votes_ply = line.ply();
        self.decision = Some(DecisionRow {
            ply: line.ply(),
            words: VoteInWords::of(line, decision),
            san: line.san(decision.best),
            uci: decision.best.to_string(),
            score: decision.score.map(|score| score.to_string()),
            cp: decision.score.map(Score::as_centipawns),
            chosen_by: decision.chosen_by(),
            summary: vote_report::summary(line, decision),
            split: decision.split,
            nodes: decision.nodes(),
            elapsed: milliseconds(decision.elapsed),
            budget: budget.map(|budget| [milliseconds(budget.response), milliseconds(budget.hard)]),
            lag: milliseconds(lag),
            line: LineMove::all(line, decision.expected().iter().copied()),
        });
        (self.changed.votes, self.changed.decision) = (true, true);
    }

    fn say(&mut self, line: &ChatLine) {
        self.chat.push(ChatRow { name: short(&line.username), text: short(&line.text), room: line.room.key() });
        let surplus = self.chat.len().saturating_sub(MOST_CHAT);
        self.chat.drain(..surplus);
        self.changed.chat = true;
    }

    fn end(&mut self, status: &GameStatus, winner: Option<Color>, now: Instant, time: Timestamp) {
        let result = match winner {
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
            None if status.is_drawn() => "1/2-1/2",
            None => "*",
        };
        let ours = match winner {
            Some(winner) if winner == self.our_color => Some("won"),
            Some(_) => Some("lost"),
            None => status.is_drawn().then_some("drawn"),
        };
        let elapsed = self.elapsed(now);
        if let (true, Some(clocks)) = (self.board.running, &mut self.board.clocks) {
            let side = usize::from(self.board.turn == color_word(Color::Black));
            clocks[side] = clocks[side].saturating_sub(elapsed);
        }
        self.board.running = false;
        let words = ending(status, winner);
        self.over = Some(OverRow { words, result, ours, rating_change: None, at: time });
        (self.changed.over, self.changed.board) = (true, true);
    }

    fn elapsed(&self, now: Instant) -> u64 {
        milliseconds(now.saturating_duration_since(self.since))
    }

    pub(super) fn has_changed(&self) -> bool {
        self.changed != Changed::default() || self.votes.iter().any(|(_, new)| *new)
    }

    pub(super) fn forget_changes(&mut self) {
        self.changed = Changed::default();
        self.votes.iter_mut().for_each(|(_, new)| *new = false);
    }

    /// Returns the whole game, or the changes since they were last forgotten.
    pub(super) fn frame(&mut self, whole: bool, now: Instant) -> GameFrame<'_> {
        let parts = if whole { Changed::ALL } else { self.changed };
        self.board.elapsed = self.elapsed(now);
        let rows: Vec<&VoteRow> =
            self.votes.iter().filter(|(_, new)| parts.votes || *new).map(|(row, _)| row).collect();
        let votes = VotesFrame { ply: self.votes_ply, fresh: parts.votes, rows };
        GameFrame {
            head: parts.head.then_some(&self.head),
            board: parts.board.then_some(&self.board),
            votes: (parts.votes || !votes.rows.is_empty()).then_some(votes),
            decision: self.decision.as_ref().filter(|_| parts.decision),
            chat: (parts.chat && !self.chat.is_empty()).then_some(&self.chat),
            over: self.over.as_ref().filter(|_| parts.over),
            fault: parts.fault.then(|| self.fault.as_deref().unwrap_or_default()),
        }
    }
}

/// Returns the end of a game in words: `White won by resignation`.
pub(crate) fn ending(status: &GameStatus, winner: Option<Color>) -> String {
    let how = how_it_ended(status);
    match winner {
        Some(Color::White) => format!("White won {how}"),
        Some(Color::Black) => format!("Black won {how}"),
        None if status.is_drawn() => format!("drawn {how}"),
        None => how,
    }
}

/// Returns the last position of the line; `known` are its first moves in words.
fn board(line: &Line, known: &[String], clocks: Option<Clocks>) -> BoardRow {
    let mut moves = known.to_vec();
    moves.extend(line.prefix(known.len()).sans(line.moves()[known.len()..].iter().copied()));
    BoardRow {
        fen: line.fen(),
        ply: line.ply(),
        moves,
        last: line.moves().last().map(ToString::to_string),
        turn: color_word(line.turn()),
        check: line.position().is_check(),
        clocks: clocks.map(|clocks| [clocks.white, clocks.black].map(|clock| milliseconds(clock.remaining))),
        // On most servers clocks start with the second move of each side.
        running: clocks.is_some() && line.ply() >= 2,
        elapsed: 0,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
