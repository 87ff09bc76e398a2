//! The file format of a net.
//!
//! Layout, numbers with their lowest byte first: the magic (8 bytes), the version (2), inputs and
//! width (2 each), zero (2; formerly the heuristics that it adds to), 63 and 0 (1 each; formerly the
//! roles and the part of the board that it sees), seed and positions (8 each), labels and command (length in 2 bytes, UTF-8 each), then the weights (input
//! row by row, bias, outputs of mover and other bucket by bucket, 2 each; the outputs' biases, 4
//! each), and the checksum of everything before it (8). Version 1 has one output, which serves
//! every bucket.

use super::{BLOCK, BUCKETS, Header, INPUTS, LARGEST_WIDTH, Net, ROWS, Weights};
use crate::checksum;

const MAGIC: &[u8; 8] = b"concnet\n";
const VERSION: u16 = 2;
/// All roles, everywhere on the board.
const WHOLE_BOARD: [u8; 2] = [0b11_1111, 0];
/// The version that had one output.
const ONE_OUTPUT: u16 = 1;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    #[error("not a net of concilio")]
    Magic,
    #[error("a net of format {0}; this program reads formats {ONE_OUTPUT} and {VERSION}")]
    Version(u16),
    #[error(
        "a net of {0} inputs and width {1}; this program needs {INPUTS}, and a multiple of {BLOCK} up to {LARGEST_WIDTH}"
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

    fn numbers<'b>(&mut self, count: usize, numbers: impl Iterator<Item = &'b mut i16>) -> Result<(), NetError> {
        let (pairs, _) = self.take(2 * count)?.as_chunks::<2>();
        numbers.zip(pairs).for_each(|(number, pair)| *number = i16::from_le_bytes(*pair));
        Ok(())
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
        let (header, weights) = (&self.header, &self.weights);
        let mut bytes = MAGIC.to_vec();
        for number in [VERSION, INPUTS as u16, weights.width() as u16, 0] {
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
        bytes.extend(weights.numbers().flat_map(|weight| weight.to_le_bytes()));
        bytes.extend(weights.output_bias.iter().flat_map(|bias| bias.to_le_bytes()));
        bytes
    }

    /// Reads the output of [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetError> {
        let mut reader = Reader(bytes);
        if reader.take(MAGIC.len()).ok() != Some(MAGIC) {
            return Err(NetError::Magic);
        }
        let version = reader.short()?;
        let outputs = match version {
            VERSION => BUCKETS,
            ONE_OUTPUT => 1,
            other => return Err(NetError::Version(other)),
        };
        let (inputs, width) = (reader.short()?, reader.short()?);
        let weights = Weights::zero(usize::from(width)).filter(|_| usize::from(inputs) == INPUTS);
        let mut weights = weights.ok_or(NetError::Shape(inputs, width))?;
        if reader.short()? != 0 {
            return Err(NetError::Addition);
        }
        if reader.array()? != WHOLE_BOARD {
            return Err(NetError::Part);
        }
        let header =
            Header { seed: reader.long()?, positions: reader.long()?, labels: reader.text()?, command: reader.text()? };
        let rows = ROWS - 2 * (BUCKETS - outputs);
        reader.numbers(rows * usize::from(width), weights.numbers_mut())?;
        for bias in &mut weights.output_bias[..outputs] {
            *bias = i32::from_le_bytes(reader.array()?);
        }
        if version == ONE_OUTPUT {
            weights.repeat_first_output();
        }
        let body = &bytes[..bytes.len() - reader.0.len()];
        let sum = reader.long()?;
        if !reader.0.is_empty() {
            return Err(NetError::Length);
        }
        if sum != checksum(body) {
            return Err(NetError::Checksum);
        }
        Self::new(header, weights)
    }
}
