//! The practice server as people and programs at telnets see it.

extern crate concilio_practice as practice;

mod comforts;
mod dialects;
mod people;

use practice::PracticeServer;
use stage::fics::{newcomer, server};
use testkit::telnet::Telnet;

async fn two_people(faults: &str) -> (PracticeServer, Telnet, Telnet) {
    let server = server(faults).await;
    let (ann, bob) = (newcomer(&server, "Ann").await, newcomer(&server, "Bob").await);
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
