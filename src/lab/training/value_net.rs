//! Stockfish's net as a teacher: the value of a position without a search, some fifty times as fast as asking the program.
//!
//! Reads the file that Stockfish 15.1 writes with `export_net FILE`. The inputs are man and square for each of 32 squares
//! of the own king ("HalfKAv2_hm"); a first layer of 1,024 numbers a side, multiplied in pairs; then, by the number of men,
//! one of eight stacks of three small layers. Each input has eight values of its own besides, which skip the layers.

use std::{fs, path::Path};

use engine::{
    Board,
    board::{Bitboard, Color, Piece, Role, Square},
    checksum,
};
use util::Failure;

/// Numbers of the first layer for each player.
const WIDTH: usize = 1024;
const PAIRS: usize = WIDTH / 2;
/// Men, with one kind of king for both players, times squares.
const MEN: usize = 11 * 64;
const KINGS: usize = 32;
const STACKS: usize = 8;
/// Outputs of the first small layer: 15 for the second, and one that is added to the value.
const FIRST: usize = 16;
const SECOND: usize = 32;
const VERSION: u32 = 0x7AF3_2F20;
/// A pawn of its protocol in the net's unit.
const PAWN: i32 = 361;

type Row = [i16; WIDTH];

/// The numbers of the net.
pub struct ValueNet {
    bias: Box<Row>,
    rows: Vec<Row>,
    /// The values of an input, by stack.
    direct: Vec<[i32; STACKS]>,
    stacks: Vec<Stack>,
    /// Identifies the net.
    pub checksum: u64,
}

/// The small layers for positions with a certain number of men. The weights of the first come input by input.
struct Stack {
    bias: [i32; FIRST],
    weights: Vec<[i8; FIRST]>,
    second_bias: [i32; SECOND],
    second: Vec<[i8; SECOND]>,
    value_bias: i32,
    value: [i8; SECOND],
}

/// Numbers of a file, lowest byte first.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn shorts(&mut self) -> Option<Row> {
        let bytes: [u8; 2 * WIDTH] = self.bytes()?;
        Some(std::array::from_fn(|i| i16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])))
    }

    fn longs<const N: usize>(&mut self) -> Option<[i32; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.u32()?.cast_signed();
        }
        Some(numbers)
    }

    fn small<const N: usize>(&mut self) -> Option<[i8; N]> {
        self.bytes().map(|bytes: [u8; N]| bytes.map(u8::cast_signed))
    }

    fn stack(&mut self) -> Option<Stack> {
        self.u32()?;
        let bias = self.longs()?;
        let mut weights = vec![[0; FIRST]; WIDTH];
        for output in 0..FIRST {
            let row: [i8; WIDTH] = self.small()?;
            weights.iter_mut().zip(row).for_each(|(input, weight)| input[output] = weight);
        }
        let second_bias = self.longs()?;
        let second = (0..SECOND).map(|_| self.small()).collect::<Option<_>>()?;
        let [value_bias] = self.longs()?;
        Some(Stack { bias, weights, second_bias, second, value_bias, value: self.small()? })
    }

    fn net(&mut self, checksum: u64) -> Option<ValueNet> {
        self.u32().filter(|version| *version == VERSION)?;
        self.u32()?;
        let described = self.u32()?;
        self.0 = self.0.get(described as usize..)?;
        self.u32()?;
        let bias = Box::new(self.shorts()?);
        let rows = (0..KINGS * MEN).map(|_| self.shorts()).collect::<Option<_>>()?;
        let direct = (0..KINGS * MEN).map(|_| self.longs()).collect::<Option<_>>()?;
        let stacks = (0..STACKS).map(|_| self.stack()).collect::<Option<_>>()?;
        self.0.is_empty().then_some(ValueNet { bias, rows, direct, stacks, checksum })
    }
}

impl ValueNet {
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |reason: &dyn std::fmt::Display| Failure::failed(format_args!("{}: {reason}", path.display()));
        let bytes = fs::read(path).map_err(|error| failed(&error))?;
        Numbers(&bytes)
            .net(checksum(&bytes))
            .ok_or_else(|| failed(&"not a net of Stockfish 15.1 (its command `export_net FILE` writes one)"))
    }
}

/// The first layer for one player and one square of the own king, and the men it is the sum of.
struct Side {
    men: [Bitboard; 12],
    sum: Row,
    direct: [i32; STACKS],
}

/// A net at work, with the first layers of recent positions.
pub struct Valuer<'a> {
    net: &'a ValueNet,
    /// By player, and by the king's square and half of the board.
    sides: [[Option<Box<Side>>; 2 * KINGS]; 2],
}

impl<'a> Valuer<'a> {
    pub fn new(net: &'a ValueNet) -> Self {
        Self { net, sides: [(); 2].map(|()| [const { None }; 2 * KINGS]) }
    }

    /// The value of a position without a check, in centipawns for the player to move. It depends on the position alone, where
    /// Stockfish's also depends on what it found before.
    pub fn value(&mut self, board: &Board) -> i32 {
        let count = board.occupied().count();
        let stack = (count - 1) / 4;
        let players = [board.turn(), !board.turn()];
        let [own, other] = players.map(|player| {
            let side = side_of(self.net, &mut self.sides[player.index()], player, board);
            (multiplied(&side.sum), side.direct[stack])
        });
        let direct = (own.1 - other.1) / 2;
        let layered = self.net.stacks[stack].value(&own.0, &other.0);
        let pieces = material(board);
        let lean = 24 - pieces / 9560;
        let value = ((1024 - lean) * direct + (1024 + lean) * layered) / (1024 * 16);
        value * (1064 + 106 * pieces / 5120) / 1024 * 195 / 211 * 100 / PAWN
    }
}

/// The value of the pieces besides pawns, in the net's unit.
fn material(board: &Board) -> i32 {
    [(Role::Knight, 781), (Role::Bishop, 825), (Role::Rook, 1276), (Role::Queen, 2538)]
        .into_iter()
        .map(|(role, value)| board.role(role).count() as i32 * value)
        .sum()
}

fn side_of<'s>(
    net: &ValueNet,
    sides: &'s mut [Option<Box<Side>>; 2 * KINGS],
    player: Color,
    board: &Board,
) -> &'s Side {
    let king = board.king(player);
    // Each player sees the board from the own side, with the king on the right half.
    let is_left = king.file() < 4;
    let turned = if player == Color::White { 0 } else { 56 } | if is_left { 7 } else { 0 };
    let seen = king.index() ^ turned;
    let place = (7 - seen / 8) * 4 + 7 - seen % 8;
    let side = sides[if is_left { KINGS } else { 0 } + place]
        .get_or_insert_with(|| Box::new(Side { men: [Bitboard::EMPTY; 12], sum: *net.bias, direct: [0; STACKS] }));
    for (piece, before) in Piece::ALL.into_iter().zip(&mut side.men) {
        let now = board.men(piece.color(), piece.role());
        let kind = match piece.role() {
            Role::King => 10,
            role => 2 * role.index() + usize::from(piece.color() != player),
        };
        let input = |square: Square| place * MEN + kind * 64 + (square.index() ^ turned);
        for square in now & !*before {
            let input = input(square);
            add(&mut side.sum, &net.rows[input], i16::wrapping_add);
            side.direct.iter_mut().zip(net.direct[input]).for_each(|(sum, value)| *sum += value);
        }
        for square in *before & !now {
            let input = input(square);
            add(&mut side.sum, &net.rows[input], i16::wrapping_sub);
            side.direct.iter_mut().zip(net.direct[input]).for_each(|(sum, value)| *sum -= value);
        }
        *before = now;
    }
    side
}

fn add(sum: &mut Row, row: &Row, by: impl Fn(i16, i16) -> i16) {
    sum.iter_mut().zip(row).for_each(|(sum, number)| *sum = by(*sum, *number));
}

/// Each number times its partner of the other half, both cut to 0 and 127.
fn multiplied(sum: &Row) -> [u8; PAIRS] {
    let (first, second) = sum.split_at(PAIRS);
    std::array::from_fn(|i| (first[i].clamp(0, 127) as u16 * second[i].clamp(0, 127) as u16 / 128) as u8)
}

impl Stack {
    fn value(&self, own: &[u8; PAIRS], other: &[u8; PAIRS]) -> i32 {
        let mut first = self.bias;
        // Most inputs are 0.
        for (input, weights) in own.iter().chain(other).zip(&self.weights).filter(|(input, _)| **input > 0) {
            first.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += i32::from(*input) * i32::from(*weight));
        }
        let mut inputs = [0; SECOND];
        for (i, sum) in first[..FIRST - 1].iter().enumerate() {
            inputs[i] = ((i64::from(*sum) * i64::from(*sum)) >> 19).min(127) as i32;
            inputs[FIRST - 1 + i] = (sum >> 6).clamp(0, 127);
        }
        let dot = |weights: &[i8; SECOND], inputs: &[i32; SECOND]| -> i32 {
            weights.iter().zip(inputs).map(|(weight, input)| i32::from(*weight) * input).sum()
        };
        let second: [i32; SECOND] =
            std::array::from_fn(|i| ((self.second_bias[i] + dot(&self.second[i], &inputs)) >> 6).clamp(0, 127));
        self.value_bias + dot(&self.value, &second) + first[FIRST - 1] * (600 * 16) / (127 * 64)
    }
}
