//! Settings files under arbitrary text: what is wrong is said, one line each, and what is right can be written and read again. Run with
//! `cargo +nightly fuzz run settings_text`.

#![no_main]

use concilio::settings::Sources;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let sources = Sources { files: vec![("fuzz.toml".to_owned(), text.to_owned())], ..Sources::default() };
    match sources.load() {
        Ok(_) => {}
        Err(problems) => assert!(problems.iter().all(|problem| !problem.to_string().contains('\n')), "{problems}"),
    }
});
