use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use clap::Subcommand;

use super::Failure;
use sources::book::BookMaker;
use util::{outln, replace_file};

/// The most that is read of one text, in bytes.
const LONGEST: u64 = 64 << 20;

#[derive(Debug, Subcommand)]
pub(super) enum BookCommand {
    /// Make a Polyglot book of lines of play in text
    #[command(after_help = "In a text, ! and a name begin a line of play from the starting position; its moves follow:
  ! Four Knights
  e2e4 e7e5 g1f3 b8c6
  b1c3 g8f6 f1b5 f8b4 o-o o-o
A move weighs as often as it occurs. Positions are known however they came about.")]
    Make {
        /// The texts
        #[arg(required = true, value_name = "TEXT")]
        texts: Vec<PathBuf>,
        /// Output file of the book; the lines are added to an existing one
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
    },
}

impl BookCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Self::Make { texts, output } = self;
        let mut maker = BookMaker::default();
        let at = |path: &Path| path.display().to_string();
        match File::open(&output) {
            Ok(mut book) => maker
                .add_book(&mut book)
                .map_err(|error| Failure::failed(format_args!("{}: {error}; name another file", at(&output))))?,
            Err(error) if error.kind() == ErrorKind::NotFound => (),
            Err(error) => return Err(Failure::failed(format_args!("{}: {error}", at(&output)))),
        }
        let before = maker.len();
        for path in &texts {
            let text = read(path).map_err(|error| Failure::usage(format_args!("{}: {error}", at(path))))?;
            maker.add_text(&text).map_err(|error| Failure::failed(format_args!("{}:{error}", at(path))))?;
        }
        replace_file(&output, maker.to_bytes())
            .map_err(|error| Failure::failed(format_args!("{}: {error}", at(&output))))?;
        outln!("{}: {} moves, {} of them new", at(&output), maker.len(), maker.len() - before);
        Ok(())
    }
}

/// A text of lines of play, if it is not too long to be one. Whatever its names are written in, the moves are ASCII.
fn read(path: &Path) -> io::Result<String> {
    let mut text = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut text)?;
    if text.len() as u64 == LONGEST {
        return Err(io::Error::other(format!("longer than {} MiB; split it", LONGEST >> 20)));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
