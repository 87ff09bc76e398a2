//! Newline-delimited JSON from a stream of byte chunks: only the lines, not what they mean.
//!
//! Lichess sends one JSON object a line and an empty line every seven seconds to keep the stream alive. Chunks end anywhere,
//! also within a character. The reader holds what it was given and nothing else: no clock, no socket.

/// Cuts byte chunks into lines. However the bytes are split into chunks, the lines are the same.
#[derive(Debug)]
pub struct LineReader {
    /// The beginning of an incomplete line.
    partial: Vec<u8>,
    /// Longer lines are dropped, in bytes.
    limit: usize,
    skipping: bool,
}

/// A line that was longer than the reader keeps. The reader goes on with the next one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line of more than {limit} bytes was dropped")]
pub struct LineTooLong {
    pub limit: usize,
}

impl LineReader {
    /// Longer than any line a server has cause to send: a game of a thousand moves takes five thousand bytes.
    pub const DEFAULT_LIMIT: usize = 256 * 1024;

    pub const fn new(limit: usize) -> Self {
        Self { partial: Vec::new(), limit, skipping: false }
    }

    /// Takes the next bytes and gives the lines that end in them, without their ends (`\n` or `\r\n`) and without the blank
    /// lines that keep the stream alive. Bytes that are not UTF-8 become U+FFFD.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Result<String, LineTooLong>> {
        let mut lines = Vec::new();
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (head, tail) = rest.split_at(end);
            self.extend(head);
            lines.extend(self.take());
            rest = tail.get(1..).unwrap_or_default();
        }
        self.extend(rest);
        lines
    }

    /// Returns the text after the last line end, which may be incomplete.
    pub fn finish(mut self) -> Option<String> {
        self.take().and_then(Result::ok)
    }

    fn extend(&mut self, bytes: &[u8]) {
        // A carriage return more than the limit may still turn out to belong to the line's end.
        if self.skipping || self.partial.len() + bytes.len() > self.limit + 1 {
            self.skipping = true;
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    fn take(&mut self) -> Option<Result<String, LineTooLong>> {
        let line = self.partial.strip_suffix(b"\r").unwrap_or(&self.partial);
        let line = if self.skipping || line.len() > self.limit {
            Some(Err(LineTooLong { limit: self.limit }))
        } else if line.trim_ascii().is_empty() {
            None
        } else {
            let text = String::from_utf8(line.to_vec());
            Some(Ok(text.unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned())))
        };
        self.partial.clear();
        self.skipping = false;
        line
    }
}

impl Default for LineReader {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(limit: usize, chunks: &[&[u8]]) -> (Vec<Result<String, LineTooLong>>, Option<String>) {
        let mut reader = LineReader::new(limit);
        let lines = chunks.iter().flat_map(|chunk| reader.feed(chunk)).collect();
        (lines, reader.finish())
    }

    #[test]
    fn keep_alive_lines_are_no_lines() {
        let (lines, rest) = read(100, &[b"\n\r\n{\"a\"", b":1}\r", b"\n \n\n{}\n"]);
        assert_eq!(lines, [Ok("{\"a\":1}".to_owned()), Ok("{}".to_owned())]);
        assert_eq!(rest, None);
    }

    #[test]
    fn split_and_broken_characters() {
        let (lines, rest) = read(100, &[b"\xe2\x99", b"\x98\n\xff!\nunfinished"]);
        assert_eq!(lines, [Ok("♘".to_owned()), Ok("\u{fffd}!".to_owned())]);
        assert_eq!(rest.as_deref(), Some("unfinished"));
    }

    #[test]
    fn long_line_is_dropped_alone() {
        let (lines, rest) = read(4, &[b"123", b"45678", b"9\n1234\r\n12345\n1\n123456"]);
        let too_long = Err(LineTooLong { limit: 4 });
        assert_eq!(lines, [too_long.clone(), Ok("1234".to_owned()), too_long, Ok("1".to_owned())]);
        assert_eq!(rest, None);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_lines(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), Just(b'{'), any::<u8>()],
                0..200,
            ),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
            limit in 0_usize..20,
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(limit, &chunks), read(limit, &[&bytes]));
        }
    }
}
