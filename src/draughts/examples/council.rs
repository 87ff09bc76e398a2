//! A council decides on the first move: `cargo run -p concilio-draughts --example council`.

use concilio_draughts::game::Game;
use concilio_draughts::player::{DraughtsPlayer, Pace};
use council::electors::Pool;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut player = DraughtsPlayer::new(&"council".parse()?, &Pool::new(0), None);
    let pace = Pace { nodes: Some(2_000), ..Pace::default() };
    let mut watch = |proposal: &_| println!("{proposal:?}");
    let decision = player.decide(&Game::default(), &pace, &mut watch).await;
    assert_eq!(decision.map(|decision| decision.votes.len()), Some(4));
    Ok(())
}
