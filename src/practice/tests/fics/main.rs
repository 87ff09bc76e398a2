//! The practice server as people and programs at telnets see it.

extern crate concilio_practice as practice;

mod comforts;
mod dialects;
mod people;
mod telnet;

use std::net::SocketAddr;

use domain::GameId;
use practice::{AccountId, FicsEndpoint, PracticeServer, PracticeSettings};
use telnet::{PATIENCE, Telnet};

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

async fn two_people(faults: &str) -> (PracticeServer, Telnet, Telnet) {
    let server = server(faults).await;
    let (ann, bob) = (Telnet::newcomer(&server, "Ann").await, Telnet::newcomer(&server, "Bob").await);
    (server, ann, bob)
}

/// Ann, with White, begins a game of five minutes against Bob.
async fn begin(ann: &mut Telnet, bob: &mut Telnet) {
    ann.say("match Bob 5 0 unrated white").await;
    bob.until("Challenge: Ann").await;
    bob.say("accept Ann").await;
    for telnet in [ann, bob] {
        telnet.until("{Game 1 (Ann vs. Bob) Creating").await;
        telnet.until("<12> ").await;
        telnet.until("fics% ").await;
    }
}
