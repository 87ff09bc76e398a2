//! The practice server as people and programs at telnets see it.

extern crate concilio_practice as practice;

mod comforts;
mod dialects;
mod people;
mod telnet;

use std::net::SocketAddr;

use domain::GameId;
use practice::{AccountId, FicsEndpoint, PracticeServer, PracticeSettings};
use telnet::PATIENCE;

/// A server that speaks FICS, under a plan of faults.
pub async fn server(faults: &str) -> PracticeServer {
    let fics = FicsEndpoint::at(SocketAddr::from(([127, 0, 0, 1], 0)));
    let faults = faults.parse().expect("a plan of faults");
    let settings = PracticeSettings { faults, fics: Some(fics), seed: Some(1), ..PracticeSettings::default() };
    PracticeServer::start(settings).await.expect("a free port")
}

pub async fn game_of(server: &PracticeServer, name: &str) -> GameId {
    let id = AccountId::of(name);
    let game = server.wait(move |state| state.games_of(&id).first().map(|view| view.pairing.id.clone()));
    tokio::time::timeout(PATIENCE, game).await.expect("a game").expect("a server")
}
