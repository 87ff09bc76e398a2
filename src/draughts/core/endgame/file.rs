//! Tables in a file: a header that describes the content, the bytes, and a checksum over them.
//!
//! ```text
//! 8 bytes  "CONCDAMA"
//! 4 bytes  version of this layout, 1        (all numbers little-endian)
//! 4 bytes  most pieces on the board
//! 8 bytes  how many bytes of tables follow
//! 4 bytes  CRC-32 of these bytes
//! ```

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{EndgameTables, shape::Shape};
use crate::board::DraughtsError;

const MAGIC: &[u8; 8] = b"CONCDAMA";
const VERSION: u32 = 1;
const HEADER: usize = 28;

fn unusable(path: &Path, error: &io::Error) -> DraughtsError {
    DraughtsError(format!("{}: {error}", path.display()))
}

impl EndgameTables {
    /// Writes the tables, first beside the file and then in its place, so that there is never half a file.
    pub fn save(&self, path: &Path) -> Result<(), DraughtsError> {
        let failed = |error| unusable(path, &error);
        let bytes = self.values.concat();
        let mut name = path.as_os_str().to_owned();
        name.push(".partial");
        let partial = PathBuf::from(name);
        let write = || -> io::Result<()> {
            let mut file = fs::File::create(&partial)?;
            file.write_all(MAGIC)?;
            file.write_all(&VERSION.to_le_bytes())?;
            file.write_all(&(self.pieces as u32).to_le_bytes())?;
            file.write_all(&(bytes.len() as u64).to_le_bytes())?;
            file.write_all(&crc32fast::hash(&bytes).to_le_bytes())?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&partial, path)
        };
        write().map_err(failed)
    }

    /// Reads tables that were saved, if they are of this version and undamaged.
    pub fn load(path: &Path) -> Result<Self, DraughtsError> {
        let file = fs::read(path).map_err(|error| unusable(path, &error))?;
        Self::from_bytes(&file, path)
    }

    fn from_bytes(file: &[u8], path: &Path) -> Result<Self, DraughtsError> {
        let path = path.display();
        let foreign = || DraughtsError(format!("{path} holds no endgame tables of draughts: build them anew"));
        let (header, bytes) = file.split_at_checked(HEADER).ok_or_else(foreign)?;
        if &header[..8] != MAGIC {
            return Err(foreign());
        }
        let word = |at: usize| header[at..at + 4].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let (version, pieces) = (word(8), word(12) as usize);
        let (length, checksum) = (u64::from(word(20)) << 32 | u64::from(word(16)), word(24));
        if version != VERSION {
            return Err(DraughtsError(format!(
                "{path} has layout {version}, this program reads {VERSION}: build the tables anew"
            )));
        }
        let sizes: Vec<usize> = Shape::all().filter(|shape| shape.pieces() <= pieces).map(Shape::positions).collect();
        let expected: usize = sizes.iter().sum();
        if !(2..=Self::MOST_PIECES).contains(&pieces) || length != expected as u64 {
            return Err(foreign());
        }
        if bytes.len() != expected || crc32fast::hash(bytes) != checksum {
            return Err(DraughtsError(format!("{path} is damaged (its checksum is wrong): build the tables anew")));
        }
        let mut rest = bytes;
        let values = sizes
            .into_iter()
            .map(|size| {
                let (shape, after) = rest.split_at(size);
                rest = after;
                shape.to_vec()
            })
            .collect();
        Ok(Self { pieces, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endgame::tests::THREE;

    #[test]
    fn damaged_table_files_are_detected() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("three.tables");
        THREE.save(&path).expect("saved");
        assert_eq!(EndgameTables::load(&path).expect("loaded"), *THREE);
        let whole = fs::read(&path).expect("the file");
        let message = |change: fn(&mut Vec<u8>)| {
            let mut file = whole.clone();
            change(&mut file);
            EndgameTables::from_bytes(&file, &path).expect_err("it was changed").to_string()
        };
        assert!(message(|file| file[100] ^= 1).contains("damaged"));
        assert!(message(|file| file.truncate(1_000)).contains("damaged"));
        assert!(message(|file| file.truncate(9)).contains("no endgame tables"));
        assert!(message(|file| file[0] = b'X').contains("no endgame tables"));
        assert!(message(|file| file[12] = 9).contains("no endgame tables"));
        assert!(message(|file| file[8] = 2).contains("layout 2"));
        assert!(EndgameTables::load(&folder.path().join("none")).is_err());
    }
}
