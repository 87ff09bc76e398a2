//! Files of records: a header, the records, and a checksum.
//!
//! Layout, numbers with their lowest byte first: the magic, the version (4 bytes), the length of
//! the description (4), the number of records (8), the description in UTF-8, the records, and the
//! checksum of everything before it (8).

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use engine::checksum;

use crate::training::{Record, RecordError, whole_file::replace};

const MAGIC: &[u8; 8] = b"concdata";
const VERSION: u32 = 1;
/// Bytes before the description.
const HEADER: usize = 24;

/// Records and where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Facts that the records depend on, for a reader.
    pub description: String,
    /// The records in the order of their making.
    pub records: Vec<Record>,
}

#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("{path}: {reason}; make it again")]
    Content { path: PathBuf, reason: &'static str },
}

struct Header {
    text: usize,
    /// The end of the records and start of the checksum.
    end: usize,
}

impl Header {
    /// Reads the header from the start of a file of this length.
    fn read(bytes: &[u8], length: u64) -> Result<Self, &'static str> {
        if !bytes.starts_with(MAGIC) {
            return Err("not a file of labelled positions");
        }
        if number(bytes, 8, 4) != Some(u64::from(VERSION)) {
            return Err("a version of the format that is not known here");
        }
        let short = "cut off";
        let (text, count) = (number(bytes, 12, 4).ok_or(short)? as usize, number(bytes, 16, 8).ok_or(short)?);
        let size = usize::try_from(count).ok().and_then(|count| count.checked_mul(Record::SIZE)).ok_or(short)?;
        let is_whole = |end: &usize| end.checked_add(8).map(|all| all as u64) == Some(length);
        let end = size.checked_add(HEADER + text).filter(is_whole).ok_or(short)?;
        Ok(Self { text, end })
    }
}

/// Reads the number in `len` bytes from `at`, lowest byte first.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let field = bytes.get(at..at + len)?;
    Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

impl Shard {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.description.len() + self.records.len() * Record::SIZE + 8);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(self.description.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&(self.records.len() as u64).to_le_bytes());
        bytes.extend_from_slice(self.description.as_bytes());
        for record in &self.records {
            bytes.extend_from_slice(&record.to_bytes());
        }
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads what [`Self::to_bytes`] writes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, &'static str> {
        let Header { text, end } = Header::read(bytes, bytes.len() as u64)?;
        if number(bytes, end, 8) != Some(checksum(&bytes[..end])) {
            return Err("damaged: its checksum does not hold");
        }
        let description = String::from_utf8_lossy(&bytes[HEADER..HEADER + text]).into_owned();
        let (rows, _) = bytes[HEADER + text..end].as_chunks::<{ Record::SIZE }>();
        let records: Result<_, RecordError> = rows.iter().map(Record::from_bytes).collect();
        Ok(Self { description, records: records.map_err(|_| "a record that is none")? })
    }

    /// Writes it to a file that is there as a whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ShardError> {
        replace(path, self.to_bytes()).map_err(|error| ShardError::File { path: path.to_owned(), error })
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, ShardError> {
        let bytes = fs::read(path).map_err(|error| ShardError::File { path: path.to_owned(), error })?;
        Self::from_bytes(&bytes).map_err(|reason| ShardError::Content { path: path.to_owned(), reason })
    }

    /// Reads the description of a file's records. The records are known to be complete, but not to
    /// be undamaged.
    pub fn read_description(path: &Path) -> Result<String, ShardError> {
        let unreadable = |error| ShardError::File { path: path.to_owned(), error };
        let mut file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut header = Vec::with_capacity(HEADER);
        file.by_ref().take(HEADER as u64).read_to_end(&mut header).map_err(unreadable)?;
        let header = Header::read(&header, length);
        let Header { text, .. } = header.map_err(|reason| ShardError::Content { path: path.to_owned(), reason })?;
        let mut description = vec![0; text];
        file.read_exact(&mut description).map_err(unreadable)?;
        Ok(String::from_utf8_lossy(&description).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use engine::Position;

    use super::*;

    fn shard() -> Shard {
        let board = Position::from_line("startpos", false, ["e2e4"]).expect("a line").board().clone();
        let record = Record::new(&board).expect("standard chess");
        let mut labelled = record;
        labelled.own = Some(31);
        Shard { description: "two records".to_owned(), records: vec![record, labelled] }
    }

    #[test]
    fn a_shard_comes_back_from_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("some.shard");
        shard().write(&path).expect("a writable folder");
        assert_eq!(Shard::read(&path).expect("it was just written"), shard());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn description_is_read_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("some.shard");
        let mut bytes = shard().to_bytes();
        let described = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("writable");
            Shard::read_description(&path).map_err(|error| error.to_string())
        };
        assert_eq!(described(&bytes).as_deref(), Ok("two records"));
        let cut = &bytes[..bytes.len() - 1];
        for (part, reason) in [(cut, "cut off"), (&bytes[..10], "version"), (&b"text"[..], "not a file")] {
            let error = described(part).expect_err(reason);
            assert!(error.contains(reason), "{error} instead of {reason}");
        }
        let record = bytes.len() - 20;
        bytes[record] ^= 1;
        assert!(described(&bytes).is_ok() && Shard::read(&path).is_err(), "a damaged record is found when it is read");
    }

    #[test]
    fn damaged_shard_is_one_clear_error() {
        let good = shard().to_bytes();
        let mut flipped = good.clone();
        flipped[40] ^= 1;
        let mut newer = good.clone();
        newer[8] = 9;
        for (bytes, reason) in [
            (&b"text"[..], "not a file of labelled positions"),
            (&good[..good.len() - 1], "cut off"),
            (&good[..10], "version"),
            (&flipped, "checksum"),
            (&newer, "version"),
        ] {
            let error = Shard::from_bytes(bytes).expect_err(reason);
            assert!(error.contains(reason), "{error} instead of {reason}");
        }
        let missing = Shard::read(Path::new("/no/such/file")).expect_err("it is not there").to_string();
        assert!(missing.starts_with("/no/such/file: "), "{missing}");
    }
}
