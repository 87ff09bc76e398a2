//! The file of labelled positions: a description, the counts, then game after game, each closed by a line that names it.

use std::{
    fmt::Write as _,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write as _},
    path::Path,
};

/// Begins the line that closes a game.
const GAME: &str = "# game ";

/// An open file that ends after a whole game.
pub(super) struct DataFile {
    file: File,
    /// Where the line of counts stands.
    counts_at: u64,
    positions: u64,
    games: u64,
}

impl DataFile {
    /// Begins a file, or opens one to continue; what follows its last whole game is cut off. `None` if it begins with
    /// another description.
    pub(super) fn open(path: &Path, description: &str) -> io::Result<Option<Self>> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut output = Self { counts_at: description.len() as u64, positions: 0, games: 0, file: file.try_clone()? };
        if file.metadata()?.len() == 0 {
            file.write_all(description.as_bytes())?;
            output.write_counts()?;
            return Ok(Some(output));
        }
        let end = {
            let mut reader = BufReader::new(&mut file);
            let mut line = Vec::new();
            for expected in description.split_inclusive('\n') {
                line.clear();
                reader.read_until(b'\n', &mut line)?;
                if line != expected.as_bytes() {
                    return Ok(None);
                }
            }
            output.count(&mut reader)?
        };
        file.set_len(end)?;
        output.write_counts()?;
        Ok(Some(output))
    }

    /// Counts whole games and their positions; returns where the last one ends.
    fn count(&mut self, reader: &mut impl BufRead) -> io::Result<u64> {
        let mut at = self.counts_at;
        let mut end = at + self.counts().len() as u64;
        let mut pending = 0;
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            at += line.len() as u64;
            if line.starts_with(GAME.as_bytes()) {
                self.games += 1;
                self.positions += std::mem::take(&mut pending);
                end = at;
            } else if !line.starts_with(b"#") {
                pending += 1;
            }
            line.clear();
        }
        Ok(end)
    }

    /// Of a fixed length, so that it can be written over.
    fn counts(&self) -> String {
        format!("# {:12} positions of {:12} games\n", self.positions, self.games)
    }

    fn write_counts(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.counts_at))?;
        let counts = self.counts();
        self.file.write_all(counts.as_bytes())?;
        self.file.seek(SeekFrom::End(0)).map(drop)
    }

    /// Adds the next game.
    pub(super) fn append(&mut self, lines: &[String]) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "{GAME}{}", self.games);
        self.file.write_all(text.as_bytes())?;
        self.games += 1;
        self.positions += lines.len() as u64;
        self.write_counts()
    }

    /// Positions in whole games.
    pub(super) fn positions(&self) -> u64 {
        self.positions
    }

    /// Whole games, which is the number of the next one.
    pub(super) fn games(&self) -> u64 {
        self.games
    }
}
