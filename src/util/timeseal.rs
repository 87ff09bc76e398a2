//! timeseal: every line from the client carries the time of its sending, so that the server counts
//! thinking time without network delay.
//!
//! The cipher is public and hides nothing. One line becomes one packet: the line, a mark, the time
//! in decimal milliseconds, a mark; filled up to blocks of twelve bytes; six bytes of each block
//! swapped; the whole mixed with a fixed key. No packet contains a byte that telnet would
//! interpret, and only its last byte is a line feed.
//!
//! The server sends `[G]` now and then, and with every board to the side to move; the answer
//! ([`PONG`]) must leave at once, because thinking time counts from it.

use std::time::Instant;

/// The answer to the server's `[G]`.
pub const PONG: &[u8] = b"\x029";

pub const PING: &[u8] = b"[G]";

const KEY: &[u8; 50] = b"Timestamp (FICS) v1.0 - programmed by Henrik Gram.";
const BLOCK: usize = 12;
const SWAPS: [(usize, usize); 3] = [(0, 11), (2, 9), (4, 7)];
const TIME_FOLLOWS: u8 = 0x18;
const TIME_ENDS: u8 = 0x19;
const FILLER: u8 = b'1';

/// The two dialects. They differ in the first line and in the form of the server's `[G]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `[G]` comes as a line of its own. The older servers know only this.
    One,
    /// `[G]` ends in a zero byte and may occur anywhere.
    Two,
}

impl Version {
    /// Returns the first line of the connection, which asks the server to read sealed lines from
    /// then on.
    pub fn hello(self) -> String {
        format!("{}concilio {}|{}|", self.first_word(), env!("CARGO_PKG_VERSION"), std::env::consts::OS)
    }

    pub fn of_hello(line: &[u8]) -> Option<Self> {
        [Self::One, Self::Two].into_iter().find(|version| line.starts_with(version.first_word().as_bytes()))
    }

    const fn first_word(self) -> &'static str {
        match self {
            Self::One => "TIMESTAMP|",
            Self::Two => "TIMESEAL2|",
        }
    }
}

/// Returns the stamp of a line that leaves now: milliseconds since the connection `began`, never zero, which older servers take
/// for "no timeseal".
pub fn stamp(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

/// Seals one line (without its line end) that leaves at `millis`, and appends the packet with its line feed to `packet`.
pub fn seal(line: &[u8], millis: u64, packet: &mut Vec<u8>) {
    let start = packet.len();
    packet.extend_from_slice(line);
    packet.push(TIME_FOLLOWS);
    packet.extend_from_slice(millis.to_string().as_bytes());
    packet.push(TIME_ENDS);
    while !(packet.len() - start).is_multiple_of(BLOCK) {
        packet.push(FILLER);
    }
    let sealed = &mut packet[start..];
    swap(sealed);
    for (byte, key) in sealed.iter_mut().zip(KEY.iter().cycle()) {
        *byte = ((*byte | 0x80) ^ key).wrapping_sub(32);
    }
    // The low bits of this byte give the start in the key: 0.
    packet.extend_from_slice(b"\x80\n");
}

/// Opens one packet, given without its line feed: the line, and its sending time by the sender's clock, ms.
pub fn open(packet: &[u8]) -> Result<(Vec<u8>, u64), String> {
    let no_time = || "a sealed line without a time".to_owned();
    let (offset, sealed) = match packet.split_last() {
        Some((offset, sealed)) if !sealed.is_empty() && sealed.len().is_multiple_of(BLOCK) => (offset & 0x7f, sealed),
        _ => return Err(format!("a sealed line of {} bytes (expected a multiple of 12, and one)", packet.len())),
    };
    let key = KEY.iter().cycle().skip(usize::from(offset));
    let mut line: Vec<u8> = sealed.iter().zip(key).map(|(byte, key)| (byte.wrapping_add(32) ^ key) & 0x7f).collect();
    swap(&mut line);
    let mark = line.iter().position(|byte| *byte == TIME_FOLLOWS).ok_or_else(no_time)?;
    let digits = line[mark + 1..].split(|byte| *byte == TIME_ENDS).next().ok_or_else(no_time)?;
    let millis = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or_else(no_time)?;
    line.truncate(mark);
    Ok((line, millis))
}

fn swap(bytes: &mut [u8]) {
    for block in bytes.chunks_exact_mut(BLOCK) {
        for (one, other) in SWAPS {
            block.swap(one, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digit = |byte: u8| char::from(byte).to_digit(16).expect("a hex digit") as u8;
        text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
    }

    /// Lines, stamps and packets as the helper programs of the chess servers produce them.
    const VECTORS: [(&str, u64, &str); 9] = [
        (
            "TIMESTAMP|openseal|Running on an operating system|",
            6_702_761,
            "848071809e80809e80cda772808d9dacd27aadafa5b3a3a5757560687ca16c63a5a4b06c7ca19b6c7d75a965b9936673bcb2c5bfbab5a1a3b7d5c9ad800a",
        ),
        (
            "TIMESEAL2|probe|loopback|",
            1,
            "868071809f91809ea2cdb872828192b5b079bea2b2a5aeafa1cabedea3b0bcbcb4b5717e800a",
        ),
        ("guest", 12_345, "ad7cb976a1ccb079a3a57d81800a"),
        ("", 12_345, "c5b8bcb6a2a1d8b9a17279be800a"),
        ("\u{2}9", 12_346, "c5b0bcb4a5a7b5bfc99879a4800a"),
        ("e2e4", 987_654, "adbbb8b1a4adb9d5a6a57c83800a"),
        ("e7e8=Q", 9_999_999, "cdbeb4bdaa85d9b0a9a57183d8dac27871a7607f61997c79800a"),
        ("abcd", 123_456, "ad6bb861a0a5b3d5a4a37e87800a"),
        ("set style 12", 123, "c66cada57f60787e75b47995d8d2c27a71a7609761727c98800a"),
    ];

    #[test]
    fn sealed_lines_match_the_servers() {
        for (line, millis, packet) in VECTORS {
            let mut sealed = Vec::new();
            seal(line.as_bytes(), millis, &mut sealed);
            assert_eq!(sealed, hex(packet), "{line:?} at {millis}");
            assert_eq!(open(&sealed[..sealed.len() - 1]), Ok((line.into(), millis)));
        }
    }

    #[test]
    fn packets_of_others_are_opened() {
        // Some packets fill a whole block where none is needed; some start elsewhere in the key.
        for (packet, line, millis) in [
            ("ad6bb861a0a5b3d5a4a37e87d8d2c27871a7607f61717c7180", "abcd", 123_456),
            ("d46574bbd4b1d2877aa5a3b67f61717c71a1a3beb6a3b0bc87", "guest", 12_345),
            ("97c6bcb9b2aaacd9bb7574add7d8d2c27871a7607f61717cb1", "e2e4", 987_654),
        ] {
            assert_eq!(open(&hex(packet)), Ok((line.into(), millis)));
        }
    }

    /// The algorithm once more, as its description tells it: block by block, byte by byte.
    fn sealed_as_described(line: &str, millis: u64) -> Vec<u8> {
        let mut text: Vec<u8> = format!("{line}\u{18}{millis}\u{19}").into_bytes();
        text.resize(text.len().div_ceil(12) * 12, b'1');
        let key = b"Timestamp (FICS) v1.0 - programmed by Henrik Gram.";
        let mut packet = Vec::new();
        for (index, block) in text.chunks(12).enumerate() {
            // Bytes 0, 2, 4, 7, 9 and 11 of a block change their places with those opposite.
            let order = [11, 1, 9, 3, 7, 5, 6, 4, 8, 2, 10, 0];
            for (place, from) in order.into_iter().enumerate() {
                packet.push(((block[from] | 0x80) ^ key[(index * 12 + place) % 50]) - 32);
            }
        }
        packet.extend([0x80, b'\n']);
        packet
    }

    #[test]
    fn vectors_follow_the_description() {
        for (line, millis, packet) in VECTORS {
            assert_eq!(sealed_as_described(line, millis), hex(packet), "{line:?} at {millis}");
        }
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens_again(line in "[ -~]{0,200}", millis in 1u64..) {
            let mut packet = Vec::new();
            seal(line.as_bytes(), millis, &mut packet);
            prop_assert_eq!(&packet, &sealed_as_described(&line, millis));
            prop_assert_eq!(packet.pop(), Some(b'\n'));
            prop_assert!(packet.iter().all(|byte| !matches!(byte, b'\n' | b'\r' | 0 | 0xff)));
            prop_assert_eq!(open(&packet), Ok((line.into_bytes(), millis)));
        }

        #[test]
        fn no_bytes_break_the_opening(packet: Vec<u8>) {
            let _ = open(&packet);
        }
    }
}
