//! Games in PGN and positions in EPD under arbitrary text: reading never panics. Run with `cargo
//! +nightly fuzz run games_text`.

#![no_main]

use domain::{Line, PgnGame, Variant};
use lab::epd;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let start = |_: &PgnGame| Ok(Line::start(Variant::Standard));
    PgnGame::read_all(text.as_bytes(), 1000, start).for_each(drop);
    let (records, _) = epd::read(text);
    for record in &records {
        let _ = record.moves("bm");
    }
});
