//! The watched games, drawn as text.

use std::{cell::OnceCell, collections::BTreeMap, fmt::Write as _, sync::Arc, time::Instant};

use crossterm::style::{self, Stylize};
use shakmaty::Position;

use super::{
    board::{SquareSize, board},
    result_in_words,
    table::{fit, table, wrapped},
};
use bot::{
    journal::GameKey,
    session::{BotEvent, GameEvent},
};
use council::{
    electors::ElectorSpec,
    player::vote_report::{self, VoteEntry},
};
use domain::{
    Clocks, Color, Decision, GameId, GameInfo, Line, Phase, Proposal,
    vote_words::{ElectorRole, MoveGroup, NamedElector, VoteInWords},
};
use util::grouped;

/// The fewest columns in which anything is shown beside the board.
const NARROWEST_SIDE: usize = 26;

/// The fewest electors in the table, whatever the height of the terminal.
const FEWEST_ELECTORS: usize = 3;
/// The colours of proposed moves, that of the elected one first.
const MOVE_COLORS: [style::Color; 6] = [
    style::Color::Green,
    style::Color::Blue,
    style::Color::Yellow,
    style::Color::Magenta,
    style::Color::Red,
    style::Color::Cyan,
];

#[derive(Default)]
pub(super) struct Scene {
    games: BTreeMap<GameKey, WatchedGame>,
    /// The game on the shown board: the first running one, and after its end the next.
    shown: Option<GameKey>,
    notices: Vec<String>,
    /// Hints for the person at the terminal.
    hints: Vec<String>,
}

struct WatchedGame {
    info: Box<GameInfo>,
    line: Arc<Line>,
    clocks: Option<Clocks>,
    since: Instant,
    /// The newest proposals for the position on the board, the electors by name.
    proposals: Vec<Proposal>,
    decision: Option<DecidedMove>,
    electors: Arc<[ElectorSpec]>,
    over: Option<String>,
}

/// The last move of the bot, and how it was elected.
struct DecidedMove {
    line: Arc<Line>,
    decision: Arc<Decision>,
    /// The vote in words, from the first picture on.
    words: OnceCell<VoteInWords>,
}

impl DecidedMove {
    fn words(&self) -> &VoteInWords {
        self.words.get_or_init(|| VoteInWords::of(&*self.line, &self.decision))
    }
}

impl Scene {
    /// Takes notice of an event, and returns it in lines for an output without pictures.
    pub(super) fn take(&mut self, event: &BotEvent) -> Vec<String> {
        let moved = match event {
            BotEvent::Account(..) => None,
            BotEvent::Game(key, event) => self.in_game(key, event),
        };
        let said = event.sentence().map(|sentence| sentence.text);
        match (event, said) {
            (BotEvent::Game(_, GameEvent::Decided { .. }), Some(said)) => vec![said],
            (_, Some(said)) => self.notice(said),
            (_, None) => moved.into_iter().collect(),
        }
    }

    /// Follows a game; says the move of the opponent, if it is that.
    fn in_game(&mut self, key: &GameKey, event: &GameEvent) -> Option<String> {
        match event {
            GameEvent::Started { info, electors, .. } => {
                let game = WatchedGame {
                    line: Arc::new(info.start.clone()),
                    info: info.clone(),
                    clocks: None,
                    since: Instant::now(),
                    proposals: Vec::new(),
                    decision: None,
                    electors: Arc::clone(electors),
                    over: None,
                };
                self.make_room(key);
                self.games.entry(key.clone()).or_insert(game);
                self.choose();
            }
            GameEvent::Position { line, clocks } => return self.position(key, line, *clocks),
            GameEvent::Proposal(proposal) => self.games.get_mut(key)?.propose(proposal),
            GameEvent::Decided { line, decision, .. } => {
                let (line, decision) = (Arc::clone(line), Arc::clone(decision));
                self.games.get_mut(key)?.decision = Some(DecidedMove { line, decision, words: OnceCell::new() });
            }
            GameEvent::Over { status, winner, .. } => {
                self.games.get_mut(key)?.over = Some(result_in_words(status, *winner));
                self.choose();
            }
            GameEvent::Sent { .. }
            | GameEvent::Chat { .. }
            | GameEvent::OpponentGone { .. }
            | GameEvent::Fault(_)
            | GameEvent::Rated { .. } => (),
        }
        None
    }

    /// Forgets finished games but the shown one; it is forgotten as well if it begins again.
    fn make_room(&mut self, begins: &GameKey) {
        let shown = self.shown.as_ref().filter(|shown| *shown != begins);
        self.games.retain(|known, game| game.over.is_none() || Some(known) == shown);
    }

    fn position(&mut self, key: &GameKey, line: &Arc<Line>, clocks: Option<Clocks>) -> Option<String> {
        let game = self.games.get_mut(key)?;
        let theirs = line.ply() == game.line.ply() + 1 && line.turn() == game.info.our_color;
        let said = theirs.then(|| {
            let (server, id, last) = (&key.server, &key.id, line.moves().last().copied());
            format!("{server}: game {id}: {}", vote_report::numbered(&*game.line, last))
        });
        game.line = Arc::clone(line);
        game.clocks = clocks;
        game.since = Instant::now();
        game.proposals.clear();
        said
    }

    fn notice(&mut self, text: String) -> Vec<String> {
        self.notices.push(text.clone());
        let surplus = self.notices.len().saturating_sub(3);
        self.notices.drain(..surplus);
        vec![text]
    }

    /// Shows these lines below everything else.
    pub(super) fn hint(&mut self, lines: Vec<String>) {
        self.hints = lines;
    }

    /// Keeps showing a game until it is over, if another one runs.
    fn choose(&mut self) {
        let runs = |id: &GameKey| self.games.get(id).is_some_and(|game| game.over.is_none());
        if !self.shown.as_ref().is_some_and(runs)
            && let Some((id, _)) = self.games.iter().find(|(_, game)| game.over.is_none())
        {
            self.shown = Some(id.clone());
        }
    }

    /// The whole picture, in lines no wider than `columns`; on fewer `rows` there are fewer electors in the table.
    pub(super) fn draw(&self, columns: usize, rows: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let others = self.games.iter().filter(|(id, _)| Some(*id) != self.shown.as_ref());
        let below = others.clone().count().min(8) + 1 + self.notices.len();
        if let Some((id, game)) = self.shown.as_ref().and_then(|id| self.games.get_key_value(id)) {
            lines.extend(game.draw(&id.id, columns, rows.saturating_sub(below), self.hints.is_empty()));
        }
        for (GameKey { id, .. }, game) in others.take(8) {
            let (opponent, ply) = (game.info.opponent(), game.line.ply());
            let state = game.over.clone().unwrap_or_else(|| format!("move {}", ply / 2 + 1));
            lines.push(fit(&format!("  {id}  against {opponent}: {state}"), columns));
        }
        lines.push(String::new());
        if self.hints.is_empty() {
            lines.extend(self.notices.iter().map(|notice| fit(&format!("  {notice}"), columns).dim().to_string()));
        }
        lines.extend(self.hints.iter().map(|hint| fit(hint, columns)));
        lines
    }
}

impl WatchedGame {
    fn propose(&mut self, proposal: &Proposal) {
        if proposal.search.ply != self.line.ply() {
            return;
        }
        let known = self
            .proposals
            .iter_mut()
            .find(|known| known.elector == proposal.elector && known.search.phase == proposal.search.phase);
        match known {
            Some(known) => *known = proposal.clone(),
            None => {
                self.proposals.push(proposal.clone());
                // A fixed order, so that electors keep their lines.
                let order = |proposal: &Proposal| (proposal.search.phase == Phase::Second, proposal.elector.clone());
                self.proposals.sort_by_key(order);
            }
        }
    }

    /// The game with its last vote in `rows` if it can be; `in_full` with the proposals and the table of the electors as well,
    /// which leaves no lines for hints.
    fn draw(&self, id: &GameId, columns: usize, rows: usize, in_full: bool) -> Vec<String> {
        let us = self.info.our_color;
        let terms = &self.info.terms;
        let rated = if terms.rated { "rated" } else { "casual" };
        let title = format!("{id} · {} · {} · {rated}", terms.variant, terms.time_control);
        // Below the board: the table of the electors with its titles, between two lines.
        let below = self.electors.len().max(FEWEST_ELECTORS) + 4;
        let size = SquareSize::fitting(columns, rows.saturating_sub(below));
        let board_columns = size.board_columns();
        let beside = columns.checked_sub(board_columns).filter(|beside| *beside >= NARROWEST_SIDE);
        let width = beside.unwrap_or(columns);
        let title = fit(&title, width).dim().to_string();
        let (opponent, ours, moves) = (self.player(!us, width), self.player(us, width), self.recent_moves(width));
        let mut board = board(&self.line, us, size);
        let mut lines: Vec<String>;
        if beside.is_some() {
            let mut side = vec![title, opponent];
            side.extend(self.vote(width, in_full));
            side.resize(side.len().max(board.len() - 2), String::new());
            side.push(ours);
            side.extend(moves.into_iter().filter(|row| !row.is_empty()));
            let height = board.len().max(side.len());
            board.resize(height, " ".repeat(board_columns - 3));
            side.resize(height, String::new());
            lines = board.into_iter().zip(side).map(|(board, side)| format!("{board}   {side}")).collect();
        } else {
            // Too narrow for anything beside the board.
            lines = vec![title, opponent];
            lines.extend(board);
            lines.push(ours);
            lines.extend(moves.into_iter().filter(|row| !row.is_empty()));
            lines.extend(self.vote(width, in_full));
        }
        lines.push(String::new());
        if in_full {
            lines.extend(table(&self.entries(), columns, rows.saturating_sub(lines.len() + 3).max(FEWEST_ELECTORS)));
        }
        lines.push(match &self.over {
            Some(over) => fit(&format!(" {over}"), columns).bold().to_string(),
            None if !self.proposals.is_empty() => {
                fit(&format!(" thinking about {}", vote_report::numbered(&*self.line, None)), columns)
            }
            None => String::new(),
        });
        lines
    }

    fn player(&self, color: Color, columns: usize) -> String {
        let player = if color == Color::White { &self.info.white } else { &self.info.black };
        let on_move = self.over.is_none() && self.line.turn() == color;
        let clock = self.clocks.map_or_else(String::new, |clocks| {
            let elapsed =
                if on_move && self.line.ply() >= 2 { self.since.elapsed() } else { std::time::Duration::ZERO };
            let left = clocks.of(color).remaining.saturating_sub(elapsed).as_secs_f64();
            format!("{}:{:04.1}", (left / 60.0).floor(), left % 60.0)
        });
        let mark = if on_move { "▸" } else { " " };
        let text = fit(&format!("{mark} {clock:>8}  {player}"), columns);
        if color == self.info.our_color { text.bold().to_string() } else { text }
    }

    /// The last moves, in as many columns as given.
    fn recent_moves(&self, columns: usize) -> Vec<String> {
        let mut texts = Vec::new();
        let mut line = self.info.start.clone();
        for (ply, uci) in self.line.moves().iter().enumerate() {
            let san = line.san(*uci);
            if ply % 2 == 0 || texts.is_empty() {
                let dots = if line.turn() == Color::White { "." } else { "…" };
                texts.push(format!("{}{dots} {san}", line.position().fullmoves()));
            } else {
                texts.push(san);
            }
            if line.play(*uci).is_err() {
                break;
            }
        }
        let mut rows = vec![String::new()];
        for text in texts.iter().skip(texts.len().saturating_sub(24)) {
            let full = rows.last().is_some_and(|row| row.chars().count() + text.chars().count() + 1 > columns.min(60));
            if full {
                rows.push(String::new());
            }
            if let Some(row) = rows.last_mut() {
                let _ = write!(row, "{}{text}", if row.is_empty() { "" } else { " " });
            }
        }
        rows.split_off(rows.len().saturating_sub(3))
    }

    /// The last vote in words, kept until the next decision; `in_full` with each proposed move, who wanted it, and what it has
    /// over the elected one and lacks.
    fn vote(&self, columns: usize, in_full: bool) -> Vec<String> {
        let Some(decided) = &self.decision else { return Vec::new() };
        let DecidedMove { line, decision, .. } = decided;
        let words = decided.words();
        let score = decision.score.map_or_else(String::new, |score| format!("  {score}"));
        let played = format!("{}{score}", vote_report::numbered(&**line, Some(decision.best)));
        let mut lines = vec![fit(&played, columns).bold().to_string()];
        lines.extend(wrapped(&words.sentence, columns).iter().map(|row| row.as_str().cyan().to_string()));
        let groups = if in_full && words.groups.len() > 1 { words.groups.as_slice() } else { &[] };
        for (index, group) in groups.iter().enumerate() {
            let reason = words.reasons.iter().find(|reason| reason.uci == group.uci);
            let reason = reason.map_or_else(String::new, |reason| format!(": {}", reason.text));
            let text = format!("{}  {}{reason}", group.mv, supporters(group));
            let color = if group.elected { MOVE_COLORS[0] } else { MOVE_COLORS[1 + index % (MOVE_COLORS.len() - 1)] };
            let rows = wrapped(&text, columns.saturating_sub(2));
            lines.extend(rows.iter().enumerate().map(|(row, text)| {
                let mark = if row == 0 { "▌ " } else { "  " };
                format!("{}{text}", mark.with(color))
            }));
        }
        lines
    }

    /// The proposals of now, or the last votes.
    fn entries(&self) -> Vec<VoteEntry> {
        match &self.decision {
            _ if !self.proposals.is_empty() => self.proposals.iter().map(|proposal| self.entry(proposal)).collect(),
            Some(DecidedMove { line, decision, .. }) => vote_report::entries(&**line, decision),
            None => Vec::new(),
        }
    }

    /// A proposal for the position on the board. An elector outside the roster is an adviser, named after its knowledge.
    fn entry(&self, proposal: &Proposal) -> VoteEntry {
        let name = proposal.elector.as_str();
        let known = self.electors.iter().find(|elector| elector.name == proposal.elector);
        let letters =
            known.map_or_else(|| Some(name.to_owned()), |elector| elector.knowledge().map(|set| set.to_string()));
        let adviser = known.is_none() && !self.electors.is_empty();
        let elector = match proposal.search.phase {
            Phase::Second => NamedElector::second_search(),
            Phase::First => NamedElector::new::<Line>(name, letters.as_deref(), adviser),
        };
        VoteEntry::proposal(&*self.line, &elector, proposal)
    }
}

/// The names of a move's supporters, equal ones counted: `king and centre, 2 × all knowledge (net)`.
fn supporters(group: &MoveGroup) -> String {
    let name = |elector: &NamedElector| {
        let adviser = if elector.adviser && elector.role != ElectorRole::Prover { " (adviser)" } else { "" };
        (format!("{}{adviser}", elector.name), ())
    };
    let names = grouped(group.by.iter().map(name)).into_iter();
    let names = names.map(|(name, all)| if all.len() > 1 { format!("{} × {name}", all.len()) } else { name });
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
