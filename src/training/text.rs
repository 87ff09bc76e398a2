//! Reads the text that `concilio lab data` writes: a position a line with the label, the teacher's centipawns and the result,
//! both from white's side, and a line that closes each game.

use std::io::{self, BufRead};

use engine::{Board, board::Color};

use crate::{GameResult, Record, random::mix};

/// A text that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The source.
    #[error(transparent)]
    Source(#[from] io::Error),
    /// A line is not `FEN;label # centipawns result`.
    #[error("line {line}: {reason} (expected: FEN;label # centipawns result)")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// The positions of a text. `source` is any number that tells its games from those of other texts.
///
/// # Errors
/// [`TextError`] names the first line that is wrong.
pub fn read_text(input: impl BufRead, source: u64) -> Result<Vec<Record>, TextError> {
    let mut records = Vec::new();
    let mut game = 0_u64;
    for (i, line) in input.lines().enumerate() {
        let line = line?;
        if line.starts_with("# game ") {
            game += 1;
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            let mut record = read_line(&line).map_err(|reason| TextError::Line { line: i + 1, reason })?;
            record.game = mix(mix(source) ^ game) as u32;
            records.push(record);
        }
    }
    Ok(records)
}

fn read_line(line: &str) -> Result<Record, String> {
    let (fen, rest) = line.split_once(';').ok_or("no semicolon")?;
    let board = Board::from_fen(fen).map_err(|error| format!("FEN {fen:?}: {error}"))?;
    let mut record = Record::new(&board).map_err(|error| error.to_string())?;
    let number: u16 = fen.split(' ').nth(5).and_then(|number| number.parse().ok()).unwrap_or(1);
    record.ply = number.saturating_sub(1).saturating_mul(2).saturating_add(board.turn() as u16);
    let (_, comment) = rest.split_once('#').ok_or("neither centipawns nor result")?;
    let mut words = comment.split_ascii_whitespace();
    let white: i32 = words.next().and_then(|word| word.parse().ok()).ok_or("no centipawns")?;
    let sign = if board.turn() == Color::White { 1 } else { -1 };
    record.teacher = Some((white * sign).clamp(-32_000, 32_000) as i16);
    record.result = Some(match words.next() {
        Some("0") => GameResult::Black,
        Some("0.5") => GameResult::Draw,
        Some("1") => GameResult::White,
        other => return Err(format!("result {:?} (accepted: 0, 0.5, 1)", other.unwrap_or_default())),
    });
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# concilio lab data, seed 1\n# FEN;label\n#            3 positions of            2 games\n\
        rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1;0.5400 # 31 1\n\
        8/8/1K6/1P6/8/4k3/8/8 w - - 0 60;0.9 # 480 0.5\n# game 0\n\
        8/8/1K6/1P6/8/4k3/8/8 w - - 0 60;0.9 # 480 0\n# game 1\n";

    #[test]
    fn labels_are_turned_to_the_side_of_who_moves() {
        let records = read_text(TEXT.as_bytes(), 1).expect("a text of ours");
        let labels: Vec<_> =
            records.iter().map(|record| (record.teacher, record.result, record.own, record.ply)).collect();
        assert_eq!(labels[0], (Some(-31), Some(GameResult::White), None, 1));
        assert_eq!(labels[1], (Some(480), Some(GameResult::Draw), None, 118));
        assert!(records[0].game == records[1].game && records[1].game != records[2].game);
        assert_ne!(read_text(TEXT.as_bytes(), 2).expect("a text of ours")[0].game, records[0].game);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (line, says) in [
            ("no position", "line 1: no semicolon"),
            ("8/8 w - -;0.5 # 1 1", "line 1: FEN"),
            ("8/8/1K6/1P6/8/4k3/8/8 w - - 0 60;0.9", "line 1: neither"),
            ("8/8/1K6/1P6/8/4k3/8/8 w - - 0 60;0.9 # 3 2", "line 1: result \"2\""),
        ] {
            let error = read_text(line.as_bytes(), 1).expect_err(line).to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
