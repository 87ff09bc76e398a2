//! Lines of the Universal Chess Interface under arbitrary text: reading never panics, and a
//! position that is read can be written and read again. Run with `cargo +nightly fuzz run
//! uci_lines`.

#![no_main]

use council::electors::uci::protocol;
use engine::uci::Go;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = protocol::info(text);
    let _ = protocol::best_move(text);
    let _ = protocol::option(text);
    let go = Go::read(text, |uci| uci.parse::<domain::UciMove>().ok());
    let _ = go.complaint();
    if let Ok(line) = domain::Line::from_fen(domain::Variant::Standard, text) {
        let again = domain::Line::from_fen(domain::Variant::Standard, &line.fen().to_string()).expect("what was written");
        assert_eq!(again.fen().to_string(), line.fen().to_string());
    }
});
