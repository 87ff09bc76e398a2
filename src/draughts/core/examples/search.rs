//! A move and a search: `cargo run -p concilio-draughts-core --example search`.

use std::sync::atomic::AtomicBool;

use concilio_draughts_core::{
    board::MoveError,
    game::Game,
    search::{Limits, SearchOptions, Searcher},
};

fn main() -> Result<(), MoveError> {
    let mut game = Game::default();
    game.play_text("22-18")?;
    let mut searcher = Searcher::new(SearchOptions::default());
    let limits = Limits { depth: Some(5), ..Limits::default() };
    let stop = AtomicBool::new(false);
    let found = searcher.search(&game, &limits, &stop, |it| println!("{} {:?}", it.depth, it.pv));
    assert!(found.is_some_and(|it| game.legal_moves().contains(&it.best)));
    Ok(())
}
