//! Openings by ECO code and name, found by position, transpositions included.
//!
//! `names.txt` holds the names of Lichess (github.com/lichess-org/chess-openings, CC0 1.0), sorted by
//! moves. Each line omits the moves shared with the line before.

use std::{collections::HashMap, sync::LazyLock};

use domain::{Line, UciMove, Variant};
use serde::Serialize;
use shakmaty::{EnPassantMode, Position as _, zobrist::Zobrist64};

const NAMES: &str = include_str!("names.txt");

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct NamedOpening {
    /// The code of the Encyclopaedia of Chess Openings, `A00` to `E99`.
    pub eco: &'static str,
    /// The English name: the opening, after a colon its variation.
    pub name: &'static str,
}

impl NamedOpening {
    /// Returns the name before the colon, common to all variations.
    pub fn family(&self) -> &'static str {
        self.name.split_once(':').map_or(self.name, |(family, _)| family)
    }

    /// Iterates over the names after the colon, the broadest variation first.
    pub fn variations(&self) -> impl Iterator<Item = &'static str> {
        let variations = self.name.split_once(':').map(|(_, variations)| variations);
        variations.into_iter().flat_map(|variations| variations.split(',')).map(str::trim)
    }

    /// Returns the last named opening on a line, with the ply of its position; `None` for a line
    /// that starts elsewhere, or without a named position.
    pub fn of(line: &Line) -> Option<(Self, usize)> {
        if line.start_fen().is_some() || !line.variant().is_standard_rules() {
            return None;
        }
        let mut position = line.start_position().clone();
        let mut last = None;
        for (ply, uci) in line.moves().iter().enumerate() {
            position.play_unchecked(uci.to_move(&position).ok()?);
            if let Some(opening) = TABLE.get(&position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0) {
                last = Some((*opening, ply + 1));
            }
        }
        last
    }
}

/// Every opening by the key of its last position, read at its first use.
static TABLE: LazyLock<HashMap<u64, NamedOpening>> = LazyLock::new(|| read(NAMES));

fn read(names: &'static str) -> HashMap<u64, NamedOpening> {
    let mut table = HashMap::new();
    let mut line = Line::start(Variant::Standard);
    for text in names.lines().filter(|line| !line.starts_with('#')) {
        let Some((shared, opening, moves)) = read_line(text) else { continue };
        line.truncate(shared);
        if moves.iter().all(|uci| line.play(*uci).is_ok()) {
            let key = line.position().zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0;
            table.insert(key, opening);
        }
    }
    table
}

/// `2 C20 g1f3 b8c6|Name`: moves shared with the line before, code, further moves, name.
fn read_line(text: &'static str) -> Option<(usize, NamedOpening, Vec<UciMove>)> {
    let (head, name) = text.split_once('|')?;
    let mut words = head.split_ascii_whitespace();
    let shared = words.next()?.parse().ok()?;
    let eco = words.next()?;
    let moves = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    Some((shared, NamedOpening { eco, name }, moves))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(moves: &str) -> Option<(NamedOpening, usize)> {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal moves");
        NamedOpening::of(&line)
    }

    #[test]
    fn every_line_of_the_list_is_read() {
        let lines = NAMES.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(lines, 3807);
        assert!(NAMES.lines().filter(|line| !line.starts_with('#')).all(|line| read_line(line).is_some()));
        assert!(TABLE.len() > 3700, "{} positions", TABLE.len());
    }

    #[test]
    fn transposed_openings_are_known() {
        let (najdorf, plies) =
            opening("e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6 h2h3 h7h5").expect("a known opening");
        assert_eq!((najdorf.eco, najdorf.family(), plies), ("B90", "Sicilian Defense", 11));
        assert_eq!(najdorf.variations().next(), Some("Najdorf Variation"));
        let (slav, _) = opening("c2c4 c7c6 d2d4 d7d5").expect("a known opening");
        assert_eq!(slav.family(), "Slav Defense");
    }

    #[test]
    fn other_starts_have_no_opening() {
        let line = Line::from_fen(Variant::Standard, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").expect("a position");
        assert_eq!(NamedOpening::of(&line), None);
        assert_eq!(opening(""), None);
    }
}
