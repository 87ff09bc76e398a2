//! A forced mate by depth-first proof-number search (A. Nagai, *Df-pn algorithm for searching
//! AND/OR trees and its applications*, 2002; proof numbers: L. V. Allis, M. van der Meulen and H.
//! J. van den Herik, *Proof-number search*, 1994).
//!
//! Every position has two numbers: the least number of positions that the attacker has still to win
//! to prove it, and that the defender has to hold to disprove it. The next position searched is
//! always one that both numbers depend on. A repetition, the fifty-move rule and a line that is too
//! long count as held, so a disproof says little; a proof is played through again by `verify`
//! before it is reported.

use std::collections::HashMap;

use super::{Attack, Effort, verify::Mate, verify::Proof};
use crate::board::{Board, Move, Position};

/// A number above any proof number that is still open.
const INFINITE: u32 = 1 << 30;

/// A child is searched until its number exceeds the second best one by one part in `PATIENCE`, because every change to
/// another child makes positions again (J. Pawlewicz and Ł. Lew, *Improving depth-first PN-search: 1+ε trick*, 2006).
const PATIENCE: u32 = 4;

/// The table's memory for a position, bytes: key, numbers and move, with the free space of a hash
/// map.
const ENTRY_SIZE: usize = 64;

/// The numbers of a position from the attacker's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    /// Positions that have to be won for a proof; 0 where it is proved.
    proof: u32,
    /// Positions that have to be held for a disproof; 0 where it is disproved.
    disproof: u32,
}

impl Numbers {
    const WON: Self = Self { proof: 0, disproof: INFINITE };
    const HELD: Self = Self { proof: INFINITE, disproof: 0 };
    const UNKNOWN: Self = Self { proof: 1, disproof: 1 };

    const fn is_settled(self) -> bool {
        self.proof == 0 || self.disproof == 0
    }

    /// Returns the numbers of the attacker's position from those after his moves: one has to be
    /// won, or all held.
    fn of_attacker(children: impl Iterator<Item = Self>) -> Self {
        children.fold(Self::HELD, |sum, child| Self {
            proof: sum.proof.min(child.proof),
            disproof: (sum.disproof + child.disproof).min(INFINITE),
        })
    }

    /// Returns the numbers of the defender's position likewise.
    fn of_defender(children: impl Iterator<Item = Self>) -> Self {
        children.fold(Self::WON, |sum, child| Self {
            proof: (sum.proof + child.proof).min(INFINITE),
            disproof: sum.disproof.min(child.disproof),
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    numbers: Numbers,
    /// The attacker's move, if he is to move and the position is proved.
    best: Option<Move>,
}

impl Entry {
    /// Returns true if the attacker mates from here.
    const fn is_proved(&self) -> bool {
        self.numbers.proof == 0
    }
}

/// The result of an attempt at a mate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The player to move mates by force.
    Mate(Mate),
    /// There is no mate by these moves within the solver's limits.
    None,
    /// The nodes, or the memory, did not suffice; another call continues the search.
    Open,
}

/// Searches for forced mates. Results stay valid from position to position, as long as the attacker's allowed moves are the
/// same.
#[derive(Debug)]
pub struct MateSolver {
    attack: Attack,
    /// Plies of the longest mate searched for.
    longest: u32,
    table: HashMap<u64, Entry>,
    most_entries: usize,
}

impl MateSolver {
    /// Creates a solver whose attacker tries these moves, with a table of at most `hash` MiB.
    pub fn new(attack: Attack, hash: usize) -> Self {
        let most_entries = (hash.max(1) << 20) / ENTRY_SIZE;
        Self { attack, longest: attack.longest(), table: HashMap::new(), most_entries }
    }

    /// Forgets everything, and tries these moves from now on.
    pub fn begin(&mut self, attack: Attack) {
        (self.attack, self.longest) = (attack, attack.longest());
        self.table.clear();
    }

    /// Begins a search for mates in at most `moves` moves.
    pub fn begin_within(&mut self, attack: Attack, moves: u32) {
        self.begin(attack);
        self.longest = self.longest.min((2 * moves).saturating_sub(1));
    }

    /// Searches a mate by the player to move, with `nodes` of the effort's nodes. Only `moves` are
    /// tried first, if there are any.
    pub fn solve(&mut self, position: &Position, moves: &[Move], nodes: u64, effort: &mut Effort) -> Verdict {
        effort.allow(nodes);
        let barred = barred(position);
        let numbers = Solving {
            solver: self,
            effort,
            moves,
            barred: &barred,
            path: Vec::new(),
            start: u32::from(position.board().halfmoves()),
        }
        .look_into(position.board(), Numbers { proof: INFINITE, disproof: INFINITE });
        match numbers {
            Numbers { proof: 0, .. } => {
                let proved = |key: u64| self.table.get(&key).filter(|entry| entry.is_proved())?.best;
                Proof::new(&proved, &barred).verify(position.board()).map_or(Verdict::None, Verdict::Mate)
            }
            Numbers { disproof: 0, .. } => Verdict::None,
            _ => Verdict::Open,
        }
    }

    /// Returns true if the table takes no more positions: an open question stays open.
    pub fn is_full(&self) -> bool {
        self.table.len() >= self.most_entries
    }
}

/// The positions that have been on the board twice: they would be drawn.
fn barred(position: &Position) -> Vec<u64> {
    let past = position.past();
    let here = [position.board().keys().position];
    let mut keys: Vec<u64> = past.iter().chain(&here).copied().collect();
    keys.sort_unstable();
    let mut barred: Vec<u64> = keys.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    barred.dedup();
    // The root is on the path already, so its return counts as a repetition there.
    barred.retain(|key| *key != here[0]);
    barred
}

struct Solving<'a, 'e> {
    solver: &'a mut MateSolver,
    effort: &'a mut Effort<'e>,
    /// The attacker's first moves; all if there are none.
    moves: &'a [Move],
    barred: &'a [u64],
    /// Keys of the positions from the root to the current one.
    path: Vec<u64>,
    /// Plies without a capture or a pawn's move at the root.
    start: u32,
}

struct Child {
    mv: Move,
    board: Board,
    /// The numbers until the table has better ones.
    at_first: Numbers,
}

impl Solving<'_, '_> {
    /// Searches a position until one of its numbers reaches its threshold, or the effort is spent.
    fn look_into(&mut self, board: &Board, thresholds: Numbers) -> Numbers {
        self.effort.spend();
        let key = board.keys().position;
        let attacking = self.path.len().is_multiple_of(2);
        self.path.push(key);
        let children = self.children(board, attacking);
        let mut numbers = Numbers::UNKNOWN;
        while !self.effort.is_spent() {
            let known: Vec<Numbers> = children.iter().map(|child| self.numbers_of(child)).collect();
            let (next, limits);
            (numbers, next, limits) =
                if attacking { choose_attack(&known, thresholds) } else { choose_defence(&known, thresholds) };
            let best = children.get(next).filter(|_| attacking).map(|child| child.mv);
            self.store(key, Entry { numbers, best });
            let over =
                numbers.is_settled() || numbers.proof >= thresholds.proof || numbers.disproof >= thresholds.disproof;
            if over || self.solver.is_full() {
                break;
            }
            let Some(child) = children.get(next) else { break };
            self.look_into(&child.board, limits);
        }
        self.path.pop();
        numbers
    }

    fn store(&mut self, key: u64, entry: Entry) {
        // The entry of a restricted root is of no use elsewhere, but the proof needs it.
        if !self.solver.is_full() || self.solver.table.contains_key(&key) {
            self.solver.table.insert(key, entry);
        }
    }

    fn children(&mut self, board: &Board, attacking: bool) -> Vec<Child> {
        let moves = if attacking {
            let mut moves = self.solver.attack.moves(board, self.effort);
            if self.path.len() == 1 && !self.moves.is_empty() {
                moves.retain(|(mv, _)| self.moves.contains(mv));
            }
            moves
        } else {
            let after = |mv| {
                self.effort.spend();
                (mv, board.after(mv))
            };
            board.legal_moves().into_iter().map(after).collect()
        };
        let child = |(mv, board): (Move, Board)| Child { mv, at_first: self.at_first(&board, attacking), board };
        moves.into_iter().map(child).collect()
    }

    /// Returns the first numbers of a position; `defending` if the defender is to move.
    fn at_first(&self, board: &Board, defending: bool) -> Numbers {
        let replies = if defending { board.legal_moves().len() } else { 1 };
        if replies == 0 {
            return if board.in_check() { Numbers::WON } else { Numbers::HELD };
        }
        let plies = self.path.len() as u32;
        if plies >= self.solver.longest || self.start + plies >= 100 || board.is_insufficient() {
            return Numbers::HELD;
        }
        Numbers { proof: replies as u32, disproof: 1 }
    }

    fn numbers_of(&self, child: &Child) -> Numbers {
        let key = child.board.keys().position;
        if child.at_first.is_settled() {
            return child.at_first;
        }
        match self.solver.table.get(&key) {
            Some(entry) if entry.is_proved() => entry.numbers,
            _ if self.path.contains(&key) || self.barred.contains(&key) => Numbers::HELD,
            Some(entry) => entry.numbers,
            None => child.at_first,
        }
    }
}

/// The attacker's position: its numbers, the child with the least to prove, and how far to look into that.
fn choose_attack(children: &[Numbers], thresholds: Numbers) -> (Numbers, usize, Numbers) {
    let numbers = Numbers::of_attacker(children.iter().copied());
    let (next, second) = least(children, |child| child.proof);
    let chosen = children.get(next).copied().unwrap_or(Numbers::HELD);
    let limits = Numbers {
        proof: thresholds.proof.min(a_little_more(second)),
        disproof: thresholds.disproof.saturating_sub(numbers.disproof).saturating_add(chosen.disproof),
    };
    (numbers, next, limits)
}

/// The defender's position: its numbers, the child with the least to disprove, and how far to look into that.
fn choose_defence(children: &[Numbers], thresholds: Numbers) -> (Numbers, usize, Numbers) {
    let numbers = Numbers::of_defender(children.iter().copied());
    let (next, second) = least(children, |child| child.disproof);
    let chosen = children.get(next).copied().unwrap_or(Numbers::WON);
    let limits = Numbers {
        proof: thresholds.proof.saturating_sub(numbers.proof).saturating_add(chosen.proof),
        disproof: thresholds.disproof.min(a_little_more(second)),
    };
    (numbers, next, limits)
}

/// The place of the least number, and the second least.
fn least(children: &[Numbers], of: impl Fn(&Numbers) -> u32) -> (usize, u32) {
    let mut best = (usize::MAX, INFINITE);
    let mut second = INFINITE;
    for (place, number) in children.iter().map(of).enumerate() {
        if best.0 == usize::MAX || number < best.1 {
            second = if best.0 == usize::MAX { INFINITE } else { best.1 };
            best = (place, number);
        } else if number < second {
            second = number;
        }
    }
    (best.0, second)
}

const fn a_little_more(number: u32) -> u32 {
    number.saturating_add(number / PATIENCE).saturating_add(1)
}
