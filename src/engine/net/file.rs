//! The file format of a net.
//!
//! Layout, numbers with their lowest byte first: the magic (8 bytes), the version (2), inputs and width (2 each), zero (2;
//! formerly the heuristics that it adds to), 63 and 0 (1 each; formerly the roles and the part of the board that it sees),
//! seed and positions (8 each), labels and command (length in 2 bytes, UTF-8 each), then the weights (input row by row, bias,
//! outputs of mover and other bucket by bucket, 1 or 2 each; the outputs' biases, 4 each), and the checksum of everything
//! before it (8). Versions 1 and 2 have the same inputs wherever the own king is, and 2 bytes a weight; version 1 has one
//! output, which serves every bucket.

use super::{BLOCK, BUCKETS, Header, INPUTS, LARGEST_WIDTH, MEN, Net, Weights};
use crate::checksum;

const MAGIC: &[u8; 8] = b"concnet\n";
const VERSION: u16 = 3;
/// All roles, everywhere on the board.
const WHOLE_BOARD: [u8; 2] = [0b11_1111, 0];
/// The version whose inputs did not depend on the king.
const ONE_KING_BUCKET: u16 = 2;
/// The version that had, besides, one output.
const ONE_OUTPUT: u16 = 1;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    #[error("not a net of concilio")]
    Magic,
    #[error("a net of format {0}; this program reads formats {ONE_OUTPUT} to {VERSION}")]
    Version(u16),
    #[error(
        "a net of {0} inputs and width {1}; this program needs {INPUTS} or {MEN}, and a multiple of {BLOCK} up to {LARGEST_WIDTH}"
    )]
    Shape(u16, u16),
    /// The file is too short or too long.
    #[error("a net that is cut off or has something behind it")]
    Length,
    #[error("a damaged net: its checksum does not hold")]
    Checksum,
    #[error("a net whose header makes no sense")]
    Header,
    /// The numbers would overflow.
    #[error("a net with weights beyond their bounds")]
    Weights,
    #[error("a net that adds to other heuristics, which is no longer played; train one that judges alone")]
    Addition,
    #[error("a net of a part of the board, which is no longer played; train one of the whole board")]
    Part,
}

/// Bytes that are read from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], NetError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(NetError::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], NetError> {
        self.take(N).map(|bytes| std::array::from_fn(|i| bytes[i]))
    }

    fn short(&mut self) -> Result<u16, NetError> {
        self.array().map(u16::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64, NetError> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String, NetError> {
        let len = self.short()?;
        String::from_utf8(self.take(usize::from(len))?.to_vec()).map_err(|_| NetError::Header)
    }

    fn numbers<'b>(&mut self, numbers: impl Iterator<Item = &'b mut i16>) -> Result<(), NetError> {
        for number in numbers {
            *number = i16::from_le_bytes(self.array()?);
        }
        Ok(())
    }

    fn packed<'b>(&mut self, mut numbers: impl Iterator<Item = &'b mut i16>) -> Result<(), NetError> {
        let mut bytes = self.0.iter();
        let read = numbers.try_for_each(|number| {
            let mut packed = u16::from(*bytes.next()?);
            if packed >= LONG {
                packed = packed - LONG + LONG * u16::from(*bytes.next()?);
            }
            *number = (packed >> 1) as i16 ^ -((packed & 1) as i16);
            Some(())
        });
        self.0 = bytes.as_slice();
        read.ok_or(NetError::Length)
    }
}

/// The first byte of a weight that has a second one.
const LONG: u16 = 128;

/// Adds a weight in a byte if it is small, or in two. Its sign goes to the lowest bit.
fn pack(bytes: &mut Vec<u8>, weight: i16) {
    let packed = (weight << 1 ^ weight >> 15) as u16;
    if packed < LONG {
        bytes.push(packed as u8);
    } else {
        bytes.extend([(packed % LONG + LONG) as u8, (packed / LONG) as u8]);
    }
}

impl Net {
    /// Writes the file. Texts longer than 65,535 bytes are cut.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.body();
        bytes.extend_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    pub(super) fn body(&self) -> Vec<u8> {
        let mut bytes = self.front(VERSION, INPUTS);
        self.weights.numbers().for_each(|weight| pack(&mut bytes, *weight));
        bytes.extend(self.weights.output_bias.iter().flat_map(|bias| bias.to_le_bytes()));
        bytes
    }

    /// The part of a file before its weights, for a version and its inputs.
    pub(super) fn front(&self, version: u16, inputs: usize) -> Vec<u8> {
        let header = &self.header;
        let mut bytes = MAGIC.to_vec();
        for number in [version, inputs as u16, self.weights.width() as u16, 0] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&WHOLE_BOARD);
        for number in [header.seed, header.positions] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for text in [&header.labels, &header.command] {
            let end = text.floor_char_boundary(usize::from(u16::MAX));
            bytes.extend_from_slice(&(end as u16).to_le_bytes());
            bytes.extend_from_slice(&text.as_bytes()[..end]);
        }
        bytes
    }

    /// Reads the output of [`Self::to_bytes`], of this version or one before.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetError> {
        let net = Self::from_own_bytes(bytes)?;
        let (body, _) = bytes.split_last_chunk::<8>().ok_or(NetError::Length)?;
        if net.checksum == checksum(body) { Self::new(net.header, net.weights) } else { Err(NetError::Checksum) }
    }

    /// Reads a file that is known to be whole: it takes the checksum and the bounds of weights on trust.
    pub(super) fn from_own_bytes(bytes: &[u8]) -> Result<Self, NetError> {
        let mut reader = Reader(bytes);
        if reader.take(MAGIC.len()).ok() != Some(MAGIC) {
            return Err(NetError::Magic);
        }
        let version = reader.short()?;
        let (inputs, outputs) = match version {
            VERSION => (INPUTS, BUCKETS),
            ONE_KING_BUCKET => (MEN, BUCKETS),
            ONE_OUTPUT => (MEN, 1),
            other => return Err(NetError::Version(other)),
        };
        let shape = [reader.short()?, reader.short()?];
        let width = usize::from(shape[1]);
        let weights = Weights::zero(width).filter(|_| usize::from(shape[0]) == inputs);
        let mut weights = weights.ok_or(NetError::Shape(shape[0], shape[1]))?;
        if reader.short()? != 0 {
            return Err(NetError::Addition);
        }
        if reader.array()? != WHOLE_BOARD {
            return Err(NetError::Part);
        }
        let header =
            Header { seed: reader.long()?, positions: reader.long()?, labels: reader.text()?, command: reader.text()? };
        if version == VERSION {
            reader.packed(weights.numbers_mut())?;
        } else {
            reader.numbers(weights.numbers_mut().take(MEN * width))?;
            reader.numbers(weights.numbers_mut().skip(INPUTS * width).take((1 + 2 * outputs) * width))?;
            weights.repeat_first_inputs();
        }
        for bias in &mut weights.output_bias[..outputs] {
            *bias = i32::from_le_bytes(reader.array()?);
        }
        if outputs == 1 {
            weights.repeat_first_output();
        }
        let checksum = reader.long()?;
        if reader.0.is_empty() { Ok(Self { header, weights, checksum }) } else { Err(NetError::Length) }
    }
}
