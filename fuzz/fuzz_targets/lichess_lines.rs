//! The NDJSON reader under arbitrary bytes: it never panics, and cutting the bytes elsewhere changes nothing.
//! Run with `cargo +nightly fuzz run lichess_lines`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use platform::lichess::ndjson::LineReader;

fuzz_target!(|input: (Vec<u8>, u8)| {
    let (bytes, size) = input;
    let read = |size: usize| {
        let mut reader = LineReader::new(64);
        let lines: Vec<_> = bytes.chunks(size).flat_map(|chunk| reader.feed(chunk)).collect();
        (lines, reader.finish())
    };
    assert_eq!(read(usize::from(size).max(1)), read(usize::MAX));
});
