//! A practice server with an opponent and an account for a bot, until Ctrl-C: `cargo run -p concilio-practice --example server`.

use practice::{PracticeError, PracticeServer, PracticeSettings, SparringKind};

extern crate concilio_practice as practice;

#[tokio::main]
async fn main() -> Result<(), PracticeError> {
    let server = PracticeServer::start(PracticeSettings::default()).await?;
    let token = server.add_account("my-bot", true).await?;
    server.sparring("sparring", SparringKind::Greedy).await?;
    println!("point your bot to {} with the token {token}", server.url());
    std::future::pending().await
}
