//! The evaluation spread out for a reader.

use std::{fmt, sync::Arc};

use super::{
    Board, Color, Context, FULL_PHASE, Heuristic, IN_FULL, Knowledge, Net, NoTrace, Packed, Recipe, WEIGHTS, evaluate,
    phase, side,
};

#[derive(Clone, Debug)]
pub struct Breakdown {
    /// Heuristic, then middlegame and endgame centipawns for white and for black, each from its own side.
    pub rows: [(Heuristic, [Packed; 2]); 8],
    /// 24 with all pieces on the board, 0 with none.
    pub phase: i32,
    /// The whole value, with the net if there is one, centipawns from the player to move.
    pub value: i32,
    /// A net and its value, centipawns for White.
    pub net: Option<(Arc<Net>, i32)>,
}

/// Evaluates a position heuristic by heuristic, with a line for `net`.
pub fn breakdown(board: &Board, net: Option<Arc<Net>>) -> Breakdown {
    let context = Context::new(board);
    let see = |heuristic, color| side(board, Some(&context), heuristic, color, &WEIGHTS, &mut NoTrace);
    let learned = |net| Recipe::new(Knowledge::LEARNED, IN_FULL).with_net(Arc::clone(net));
    let recipe = net.as_ref().map_or(Recipe::COMPLETE, learned);
    Breakdown {
        rows: Heuristic::ALL.map(|heuristic| (heuristic, Color::ALL.map(|color| see(heuristic, color)))),
        phase: phase(board),
        value: evaluate(board, &recipe),
        net: net.map(|net| (Arc::clone(&net), net.evaluate(board) * board.turn().sign())),
    }
}

impl Breakdown {
    /// Adds a row for the default evaluation.
    pub fn as_played(board: &Board) -> Self {
        breakdown(board, Net::shipped())
    }

    /// The value of each heuristic at this phase of the game, centipawns for White, without what acts on their sum.
    pub fn parts(&self) -> [(Heuristic, i32); 8] {
        self.rows.map(|(heuristic, [white, black])| (heuristic, (white - black).taper(self.phase)))
    }
}

impl fmt::Display for Breakdown {
    /// A table: heuristic by white and black, middlegame and endgame, in pawns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pawns = |centipawns: i32| f64::from(centipawns) / 100.0;
        writeln!(f, "{:14} {:>15} {:>15} {:>15}", "", "white mg  eg", "black mg  eg", "sum mg  eg")?;
        let mut row = |name: &str, white: Packed, black: Packed| {
            write!(f, "{name:14}")?;
            for value in [white, black, white - black] {
                write!(f, " {:+7.2} {:+7.2}", pawns(value.middlegame()), pawns(value.endgame()))?;
            }
            writeln!(f)
        };
        let mut sum = [Packed::ZERO; 2];
        for (heuristic, [white, black]) in &self.rows {
            row(&format!("{} {}", heuristic.letter(), heuristic.name()), *white, *black)?;
            sum = [sum[0] + *white, sum[1] + *black];
        }
        row("sum", sum[0], sum[1])?;
        if let Some((_, value)) = &self.net {
            writeln!(f, "{:14} {:47} {:+7.2}  instead of the sum", "n net", "", pawns(*value))?;
        }
        writeln!(f, "phase {} of {FULL_PHASE}, value for the player to move {:+.2}", self.phase, pawns(self.value))
    }
}
