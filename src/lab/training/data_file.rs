//! Files of training data: a header, a body, and a checksum.
//!
//! Layout, numbers with their lowest byte first: the magic (8 bytes), the version (4), the length of the description (4), the
//! number of items (8), the length of the body (8), the description in UTF-8, the body, and the checksum of everything before
//! it (8).

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use engine::checksum;
use util::{Failure, replace_file};

const VERSION: u32 = 2;
/// Bytes before the description.
const HEADER: usize = 32;

#[derive(Clone, Copy, Debug)]
pub struct DataKind {
    magic: &'static [u8; 8],
    pub extension: &'static str,
    foreign: &'static str,
    unfilled: &'static str,
}

impl DataKind {
    /// Whole games, of different lengths.
    pub const GAMES: Self = Self {
        magic: b"concgame",
        extension: "games",
        foreign: "not a file of games",
        unfilled: "there is no file of games in this folder (`concilio-lab data` makes them)",
    };
    /// Positions in random order, of the same length each.
    pub const POSITIONS: Self = Self {
        magic: b"concdata",
        extension: "positions",
        foreign: "not a file of labelled positions",
        unfilled: "no shuffled positions in this folder (`concilio-lab shuffle` makes them)",
    };
}

/// Items of one kind as bytes, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    pub description: String,
    pub count: u64,
    pub body: Vec<u8>,
}

/// Everything about a file but its body. The file is known to be complete, but not to be undamaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataHead {
    pub description: String,
    pub count: u64,
    pub checksum: u64,
}

pub(super) fn unreadable(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::failed(format_args!("{}: {error}", path.display()))
}

/// Returns the failure of a file whose content is not what it should be.
pub(super) fn unusable(path: &Path) -> impl Fn(&'static str) -> Failure {
    move |reason| Failure::failed(format_args!("{}: {reason}; make it again", path.display()))
}

pub(super) fn unfilled(kind: DataKind, folder: &Path) -> Failure {
    Failure::failed(format_args!("{}: {}", folder.display(), kind.unfilled))
}

/// Reads the header from the start of a file of this length: the length of the description, the number of items, and the end
/// of the body, where the checksum starts.
fn read_header(kind: DataKind, bytes: &[u8], length: u64) -> Result<(usize, u64, usize), &'static str> {
    if !bytes.starts_with(kind.magic) {
        return Err(kind.foreign);
    }
    if number(bytes, 8, 4) != Some(u64::from(VERSION)) {
        return Err("a version of the format that is not known here");
    }
    let field = |at, len| number(bytes, at, len).ok_or("cut off");
    let (text, count, body) = (field(12, 4)?, field(16, 8)?, field(24, 8)?);
    let end = body.checked_add(HEADER as u64 + text).filter(|end| end.checked_add(8) == Some(length));
    Ok((text as usize, count, end.ok_or("cut off")? as usize))
}

/// Reads the number in `len` bytes from `at`, lowest byte first.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let field = bytes.get(at..at + len)?;
    Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

impl DataFile {
    fn to_bytes(&self, kind: DataKind) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.description.len() + self.body.len() + 8);
        bytes.extend_from_slice(kind.magic);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(self.description.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.count.to_le_bytes());
        bytes.extend_from_slice(&(self.body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(self.description.as_bytes());
        bytes.extend_from_slice(&self.body);
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn from_bytes(kind: DataKind, bytes: &[u8]) -> Result<Self, &'static str> {
        let (text, count, end) = read_header(kind, bytes, bytes.len() as u64)?;
        if number(bytes, end, 8) != Some(checksum(&bytes[..end])) {
            return Err("damaged: its checksum does not hold");
        }
        let description = String::from_utf8_lossy(&bytes[HEADER..HEADER + text]).into_owned();
        Ok(Self { description, count, body: bytes[HEADER + text..end].to_vec() })
    }

    /// Writes it to a file that is there as a whole or not at all.
    pub fn write(&self, kind: DataKind, path: &Path) -> Result<(), Failure> {
        replace_file(path, self.to_bytes(kind)).map_err(unreadable(path))
    }

    pub fn read(kind: DataKind, path: &Path) -> Result<Self, Failure> {
        let bytes = fs::read(path).map_err(unreadable(path))?;
        Self::from_bytes(kind, &bytes).map_err(unusable(path))
    }
}

impl DataHead {
    pub fn read(kind: DataKind, path: &Path) -> Result<Self, Failure> {
        let unreadable = unreadable(path);
        let mut file = File::open(path).map_err(&unreadable)?;
        let length = file.metadata().map_err(&unreadable)?.len();
        let mut header = Vec::with_capacity(HEADER);
        file.by_ref().take(HEADER as u64).read_to_end(&mut header).map_err(&unreadable)?;
        let (text, count, end) = read_header(kind, &header, length).map_err(unusable(path))?;
        let (mut description, mut sum) = (vec![0; text], [0; 8]);
        file.read_exact(&mut description).map_err(&unreadable)?;
        file.seek(SeekFrom::Start(end as u64)).map_err(&unreadable)?;
        file.read_exact(&mut sum).map_err(&unreadable)?;
        let description = String::from_utf8_lossy(&description).into_owned();
        Ok(Self { description, count, checksum: u64::from_le_bytes(sum) })
    }
}

/// The files of a kind in `folder`, in the order of their names.
pub(crate) fn files_of(kind: DataKind, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = unreadable(folder);
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(&unreadable)? {
        let path = entry.map_err(&unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == kind.extension) {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() { Err(unfilled(kind, folder)) } else { Ok(paths) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: DataKind = DataKind::GAMES;

    fn data() -> DataFile {
        DataFile { description: "two games".to_owned(), count: 2, body: vec![7; 50] }
    }

    #[test]
    fn data_comes_back_from_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("some.games");
        data().write(KIND, &path).expect("a writable folder");
        assert_eq!(DataFile::read(KIND, &path).expect("it was just written"), data());
        let head = DataHead::read(KIND, &path).expect("it was just written");
        assert_eq!((head.description.as_str(), head.count), ("two games", 2));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn damaged_file_is_one_clear_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("some.games");
        let good = data().to_bytes(KIND);
        let (mut flipped, mut newer) = (good.clone(), good.clone());
        flipped[45] ^= 1;
        newer[8] = 9;
        for (bytes, reason) in [
            (&b"text"[..], "not a file of games"),
            (&good[..good.len() - 1], "cut off"),
            (&good[..10], "version"),
            (&good[..20], "cut off"),
            (&flipped, "checksum"),
            (&newer, "version"),
        ] {
            fs::write(&path, bytes).expect("writable");
            let error = DataFile::read(KIND, &path).expect_err(reason).to_string();
            assert!(error.contains(reason) && error.lines().count() == 1, "{error} instead of {reason}");
            let of_head = DataHead::read(KIND, &path).map_err(|error| error.to_string());
            assert!(reason == "checksum" || of_head == Err(error), "the head tells the same");
        }
        assert!(DataFile::from_bytes(DataKind::POSITIONS, &good).is_err(), "games are no positions");
        let missing = DataFile::read(KIND, Path::new("/no/such/file")).expect_err("it is not there").to_string();
        assert!(missing.starts_with("/no/such/file: "), "{missing}");
    }
}
