//! The practice server with its FICS face, and people at telnets.

use std::net::SocketAddr;

use domain::GameId;
use practice::{AccountId, FicsEndpoint, PracticeServer, PracticeSettings};
use testkit::{
    telnet::{PASSWORD, Telnet},
    within,
};

/// A server that speaks FICS, under a plan of faults.
pub async fn server(faults: &str) -> PracticeServer {
    testkit::show_log();
    let faults = faults.parse().expect("a plan of faults");
    let fics = FicsEndpoint::at(SocketAddr::from(([127, 0, 0, 1], 0)));
    let settings = PracticeSettings { faults, fics: Some(fics), seed: Some(1), ..PracticeSettings::default() };
    PracticeServer::start(settings).await.expect("a free port")
}

pub async fn connect(server: &PracticeServer) -> Telnet {
    Telnet::connect(server.fics_address().expect("a FICS face")).await
}

pub async fn login(server: &PracticeServer, name: &str) -> Telnet {
    Telnet::login(server.fics_address().expect("a FICS face"), name).await
}

pub async fn newcomer(server: &PracticeServer, name: &str) -> Telnet {
    server.add_fics_account(name, false, PASSWORD).await.expect("a new account");
    login(server, name).await
}

pub async fn game_of(server: &PracticeServer, name: &str) -> GameId {
    let id = AccountId::of(name);
    let game = server.wait(move |state| state.games_of(&id).first().map(|view| view.pairing.id.clone()));
    within("a game", game).await.expect("a server")
}
