//! The legal moves, by the rules of the Italian federation.

use super::{Board, Color, Direction, Move, MoveList, Rules, Squares};

impl Board {
    /// Returns all legal moves, captures only if there are any; none if the side to move has lost.
    pub fn legal_moves(&self, rules: Rules) -> MoveList {
        if self.must_capture() { Captures::of(self, rules) } else { self.quiet_moves() }
    }

    /// Returns true if the side to move can capture, and so must.
    pub fn must_capture(&self) -> bool {
        let (own, other) = (self.to_move, !self.to_move);
        let empty = !self.occupied();
        let can = |movers: Squares, targets: Squares, direction: Direction| {
            !((movers.step(direction) & targets).step(direction) & empty).is_empty()
        };
        own.forward().into_iter().any(|direction| can(self.men(own), self.men(other), direction))
            || Direction::ALL.into_iter().any(|direction| can(self.kings(own), self.pieces(other), direction))
    }

    /// The number of sequences of `depth` legal moves, in plies, from here, by which generators are compared.
    pub fn perft(&self, depth: u32, rules: Rules) -> u64 {
        let moves = self.legal_moves(rules);
        match depth {
            0 => 1,
            1 => moves.len() as u64,
            _ => moves.iter().map(|mv| self.after(mv).perft(depth - 1, rules)).sum(),
        }
    }

    fn quiet_moves(&self) -> MoveList {
        let empty = !self.occupied();
        let mut moves = MoveList::new();
        for from in self.pieces(self.to_move) {
            for &direction in directions(self.to_move, self.kings.has(from)) {
                if let Some(to) = from.step(direction).filter(|to| empty.has(*to)) {
                    moves.push(Move::quiet(from, to));
                }
            }
        }
        moves
    }
}

fn directions(color: Color, king: bool) -> &'static [Direction] {
    const BY_WHITE: [Direction; 2] = Color::White.forward();
    const BY_BLACK: [Direction; 2] = Color::Black.forward();
    match (king, color) {
        (true, _) => &Direction::ALL,
        (false, Color::White) => &BY_WHITE,
        (false, Color::Black) => &BY_BLACK,
    }
}

/// The captures found so far that no other found so far precedes.
struct Captures<'a> {
    board: &'a Board,
    rules: Rules,
    best: MoveList,
    rank: u32,
}

impl<'a> Captures<'a> {
    fn of(board: &'a Board, rules: Rules) -> MoveList {
        let mut captures = Self { board, rules, best: MoveList::new(), rank: 0 };
        for from in board.pieces(board.to_move) {
            captures.extend(Move::standing(from), 0, 0);
        }
        captures.best
    }

    /// Goes on with a capture as long as it can, and keeps it where it ends. `kings` has a bit for each jump, from the
    /// highest of nine down: whether a king was taken there. Pieces that are taken stay on the board, and block it, until
    /// the move is over.
    fn extend(&mut self, so_far: Move, jumps: u32, kings: u32) {
        let (from, here) = (so_far.from(), so_far.to());
        let king = self.board.kings.has(from);
        let other = !self.board.to_move;
        let targets = if king { self.board.pieces(other) } else { self.board.men(other) } & !so_far.taken();
        let empty = !self.board.occupied() | from.set();
        let mut ended = true;
        for &direction in directions(self.board.to_move, king) {
            let over = here.set().step(direction) & targets;
            let Some(to) = (over.step(direction) & empty).next() else { continue };
            ended = false;
            let took_king = u32::from(!(over & self.board.kings).is_empty());
            self.extend(so_far.jump(over, to), jumps + 1, kings | took_king << (8 - jumps.min(8)));
        }
        if ended && jumps > 0 {
            self.keep(so_far, jumps, king, kings);
        }
    }

    /// The four priorities are one number, the first in its highest digits: most pieces, by a king, most kings, kings
    /// earliest.
    fn keep(&mut self, capture: Move, jumps: u32, king: bool, kings: u32) {
        let rank = match self.rules {
            Rules::Official => jumps << 16 | u32::from(king) << 15 | kings.count_ones() << 10 | kings,
            Rules::Relaxed => jumps,
        };
        if rank > self.rank {
            self.best.clear();
            self.rank = rank;
        }
        if rank == self.rank {
            self.best.push(capture);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn man_on_last_row_cannot_move() {
        for (color, row) in [(Color::White, 0), (Color::Black, 7)] {
            for square in Squares::row(row) {
                assert!(directions(color, false).iter().all(|direction| square.step(*direction).is_none()));
            }
        }
    }
}
