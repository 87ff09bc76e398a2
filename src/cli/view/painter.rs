//! Repaints the same lines of a terminal; earlier lines stay.

use std::io::{self, Write};

use crossterm::{
    QueueableCommand,
    cursor::{Hide, MoveToColumn, MoveUp, Show},
    terminal::{Clear, ClearType, size},
};

/// Default size of a terminal of unknown size, in columns and rows.
const USUAL_SIZE: (u16, u16) = (80, 24);

/// Paints on `out`. The cursor is hidden meanwhile, and shown again when the painter is dropped.
pub(super) struct Painter<W: Write> {
    out: W,
    said: Vec<String>,
    /// Lines on the terminal, and its width then.
    painted: Vec<String>,
    columns: u16,
}

impl<W: Write> Painter<W> {
    /// Begins below the last line of the terminal.
    pub(super) fn new(out: W) -> Self {
        Self { out, said: Vec::new(), painted: Vec::new(), columns: 0 }
    }

    /// Leaves the last picture on the terminal: the next one begins below it.
    pub(super) fn begin_anew(&mut self) {
        self.painted.clear();
    }

    /// Puts lines above the picture when it is painted next. They stay there.
    pub(super) fn say(&mut self, lines: impl IntoIterator<Item = String>) {
        self.said.extend(lines);
    }

    /// Draws the view for the terminal's columns and rows in place of the last one. A closed
    /// terminal stops no games, so errors are ignored.
    pub(super) fn paint(&mut self, draw: impl FnOnce(usize, usize) -> Vec<String>) {
        let (columns, rows) = size().ok().filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(USUAL_SIZE);
        let _ = self.paint_lines(draw(usize::from(columns), usize::from(rows)), columns, rows);
    }

    /// Rewrites the lines that changed. Nothing is cleared as a whole: terminals keep what is cleared in their scrollback.
    fn paint_lines(&mut self, mut lines: Vec<String>, columns: u16, rows: u16) -> io::Result<()> {
        // A picture higher than the terminal could not be repainted in place.
        lines.truncate(usize::from(rows.saturating_sub(1)));
        if columns != self.columns && !self.painted.is_empty() {
            // The terminal has wrapped its lines anew: the begin of the last picture is not known.
            self.painted.clear();
        }
        self.columns = columns;
        self.out.queue(Hide)?.queue(MoveToColumn(0))?;
        if let Some(height) = u16::try_from(self.painted.len()).ok().filter(|height| *height > 0) {
            self.out.queue(MoveUp(height))?;
        }
        // These lines take the place of the picture; all of it is written again below.
        let is_moved = !self.said.is_empty();
        for line in std::mem::take(&mut self.said) {
            write!(self.out, "{line}")?;
            self.out.queue(Clear(ClearType::UntilNewLine))?;
            write!(self.out, "\r\n")?;
        }
        // Lines left over from a higher picture are emptied, and stay part of it.
        lines.resize(lines.len().max(self.painted.len()), String::new());
        for (index, line) in lines.iter().enumerate() {
            if is_moved || self.painted.get(index) != Some(line) {
                write!(self.out, "{line}")?;
                self.out.queue(Clear(ClearType::UntilNewLine))?;
            }
            write!(self.out, "\r\n")?;
        }
        self.painted = lines;
        self.out.flush()
    }
}

impl<W: Write> Drop for Painter<W> {
    fn drop(&mut self) {
        let _ = self.out.queue(Show).and_then(|out| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(pictures: &[&[&str]]) -> String {
        let mut out = Vec::new();
        let mut painter = Painter::new(&mut out);
        for picture in pictures {
            painter.paint_lines(picture.iter().map(|line| (*line).to_owned()).collect(), 80, 24).expect("written");
        }
        drop(painter);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn only_changed_lines_are_redrawn() {
        let out = painted(&[&["board", "clock 1"], &["board", "clock 2"]]);
        assert_eq!(out.matches("board").count(), 1, "{out:?}");
        assert!(out.contains("\x1b[2A") && out.contains("clock 2\x1b[K"), "{out:?}");
    }

    #[test]
    fn nothing_goes_to_the_scrollback() {
        let out = painted(&[&["a", "b", "c"], &["d"], &["e", "f"]]);
        assert!(!out.contains("\x1b[J") && !out.contains("\x1b[0J") && !out.contains("\x1b[2J"), "{out:?}");
        // The picture keeps its height, so that the terminal does not scroll.
        assert_eq!(out.matches("\x1b[3A").count(), 2, "{out:?}");
    }

    #[test]
    fn log_lines_stand_above_the_view() {
        let mut out = Vec::new();
        let mut painter = Painter::new(&mut out);
        painter.paint_lines(vec!["board".to_owned()], 80, 24).expect("written");
        painter.say(["INFO a game begins".to_owned()]);
        painter.paint_lines(vec!["board".to_owned()], 80, 24).expect("written");
        drop(painter);
        let out = String::from_utf8(out).expect("text");
        assert!(out.contains("\x1b[1AINFO a game begins\x1b[K\r\nboard\x1b[K\r\n"), "{out:?}");
    }

    #[test]
    fn the_cursor_is_shown_again() {
        let out = painted(&[&["a"]]);
        assert!(out.contains("\x1b[?25l") && out.ends_with("\x1b[?25h"), "{out:?}");
    }
}
