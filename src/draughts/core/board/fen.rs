//! Positions as PDN writes them: `W:W21,22,K30:B1,2,K7`.

use std::{fmt, str::FromStr};

use super::{Board, Color, DraughtsError, Square, Squares};

impl FromStr for Board {
    type Err = DraughtsError;

    fn from_str(text: &str) -> Result<Self, DraughtsError> {
        let wrong = || {
            let shown: String = text.chars().take(80).collect();
            let accepted = "side to move, then both sides' pieces, as in W:W21,K30:B1,2";
            DraughtsError(format!("{shown:?} is no position (accepted: {accepted})"))
        };
        let parts: Vec<&str> = text.trim().trim_end_matches('.').split(':').map(str::trim).collect();
        let [turn, first, second] = parts[..] else { return Err(wrong()) };
        let color = |part: &str| match part.bytes().next() {
            Some(b'W' | b'w') => Ok(Color::White),
            Some(b'B' | b'b') => Ok(Color::Black),
            _ => Err(wrong()),
        };
        if turn.len() != 1 || color(first)? == color(second)? {
            return Err(wrong());
        }
        let (mut pieces, mut kings) = ([Squares::NONE; 2], Squares::NONE);
        for part in [first, second] {
            let side = read_side(&part[1..])?;
            pieces[color(part)? as usize] = side.0;
            kings = kings | side.1;
        }
        Self::new(pieces[0], pieces[1], kings, color(turn)?)
    }
}

/// The pieces of a side, and of these the kings.
fn read_side(list: &str) -> Result<(Squares, Squares), DraughtsError> {
    let (mut pieces, mut kings) = (Squares::NONE, Squares::NONE);
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let wrong = || {
            let shown: String = item.chars().take(20).collect();
            let accepted = "a square from 1 to 32, K before it for a king, or a range as 21-32";
            DraughtsError(format!("{shown:?} is no piece (accepted: {accepted})"))
        };
        let number = item.strip_prefix(['K', 'k']);
        let (first, last) = number.unwrap_or(item).split_once('-').unwrap_or((number.unwrap_or(item), ""));
        let square = |digits: &str| digits.parse().ok().and_then(Square::new).ok_or_else(wrong);
        let first = square(first)?;
        let last = if last.is_empty() && !item.contains('-') { first } else { square(last)? };
        for square in Square::all().filter(|square| (first..=last).contains(square)) {
            if pieces.has(square) {
                return Err(DraughtsError(format!("square {square} is named twice")));
            }
            pieces = pieces | square.set();
            if number.is_some() {
                kings = kings | square.set();
            }
        }
    }
    Ok((pieces, kings))
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |color| if color == Color::White { 'W' } else { 'B' };
        let mut text = String::from(letter(self.to_move()));
        for color in [Color::White, Color::Black] {
            let king = |square: Square| if self.kings(color).has(square) { "K" } else { "" };
            let pieces: Vec<String> = self.pieces(color).map(|square| format!("{}{square}", king(square))).collect();
            text += &format!(":{}{}", letter(color), pieces.join(","));
        }
        f.pad(&text)
    }
}
