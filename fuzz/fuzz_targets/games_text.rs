//! Games in PGN and positions in EPD under arbitrary text: reading never panics. Run with `cargo
//! +nightly fuzz run games_text`.

#![no_main]

use domain::{Line, PgnGame, Variant};
use lab::epd;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let start = |game: &PgnGame| match game.tag("FEN") {
        "" => Ok(Line::start(Variant::Standard)),
        fen => Line::from_fen(Variant::FromPosition, fen).map_err(|error| error.to_string()),
    };
    PgnGame::read_all(text.as_bytes(), 1000, start).for_each(drop);
    let (records, _) = epd::read(text);
    for record in &records {
        let _ = record.moves("bm");
    }
});
