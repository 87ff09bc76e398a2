//! Lines of Lichess's streams, and its record of a game, under arbitrary text: reading never
//! panics, and an accepted game has only legal moves. Run with `cargo +nightly fuzz run
//! lichess_events`.

#![no_main]

use std::time::Instant;

use domain::{GameId, ServerEvent};
use libfuzzer_sys::fuzz_target;
use platform::lichess::{ServerUrl, lines};

fuzz_target!(|text: &str| {
    let url: ServerUrl = "https://lichess.org".parse().expect("an address");
    let _ = lines::event(text, "us");
    if let Ok(ServerEvent::Game(info, state)) =
        lines::game_event(text, &GameId::new("abcdefgh"), "us", &url, Instant::now())
    {
        let _ = info.start.clone().play_all(&state.moves);
    }
    if let Ok((info, state)) = lines::exported_game(text, "us", &url, Instant::now()) {
        assert!(info.start.clone().play_all(&state.moves).is_ok());
    }
});
