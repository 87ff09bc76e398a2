//! Games in PGN and positions in EPD under arbitrary text: reading never panics. Run with `cargo
//! +nightly fuzz run games_text`.

#![no_main]

use lab::{epd, openings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = openings::line_of_pgn(text);
    let (records, _) = epd::read(text);
    for record in &records {
        let _ = record.moves("bm");
    }
});
