//! A worker that means harm, to see what becomes of it (docs/cluster.md).
//!
//! `cargo run --release -p concilio-cluster --example hostile_worker -- nats://127.0.0.1:4222 mallory nats/mallory.nk Mate`
//!
//! Without the name of an attack it lists them all.

use std::error::Error;

use async_nats::ConnectOptions;
use concilio_cluster::Subjects;
use stage::hostile::{
    Attack,
    worker::{Flood, Hostile, joins},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, key, attack] = &arguments[..] else {
        let attacks: Vec<String> = Attack::ALL.iter().map(|attack| format!("{attack:?}")).collect();
        return Err(format!("expected URL NAME KEY_FILE ATTACK; attacks: {}", attacks.join(" ")).into());
    };
    let attack = Attack::named(attack).ok_or("no such attack")?;
    let seed = std::fs::read_to_string(key)?.trim().to_owned();
    let options =
        ConnectOptions::with_nkey(seed).event_callback(|event| async move { println!("the server: {event}") });
    let client = options.connect(url).await?;
    // What it has no right to is refused.
    let subjects = Subjects::below("concilio");
    let _others = client.subscribe(subjects.to_worker("daemon", "attic")).await?;
    client.publish(subjects.beat("attic"), "x".into()).await?;
    let _attacking = joins(client, name, "daemon", Hostile { attack, cores: 64, flood: Flood::None }).await;
    std::future::pending().await
}
