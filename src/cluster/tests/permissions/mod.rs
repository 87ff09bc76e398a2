//! Tests of a server with keys: access, permissions, and the messages to refused processes.

use concilio_cluster::{ClusterClient, ClusterSettings, ConnectionError, LendError, MemberKind, Survey, lend, survey};
use council::electors::RemotePool;
use testkit::{PATIENCE, until};
use tokio_util::sync::{CancellationToken, DropGuard};
use util::Shutdown;

use super::support::{Keyed, worker};

/// A daemon without a council, until the guard is dropped.
fn joins(settings: ClusterSettings) -> (ClusterClient, DropGuard) {
    let stop = CancellationToken::new();
    (ClusterClient::join(settings, stop.clone()), stop.drop_guard())
}

#[testkit::test(needs(NATS_SERVER))]
async fn removed_member_is_cut_off_at_once() {
    let mut keyed = Keyed::with(&["leaver", "stayer"]);
    let _workers = [keyed.lends("leaver"), keyed.lends("stayer")];
    let daemon = keyed.daemon(&["leaver", "stayer"]).await;
    keyed.members.remove(MemberKind::Worker, "leaver").expect("removed");
    keyed.reload();
    until("it is lost", || daemon.cluster.workers().iter().all(|(name, _)| name == "stayer")).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn waiting_worker_stops_at_once() {
    let shutdown = Shutdown::default();
    let nowhere = ClusterSettings { nats: "nats://127.0.0.1:1".to_owned(), ..ClusterSettings::default() };
    let waiting = tokio::spawn(lend(worker(nowhere), shutdown.clone()));
    shutdown.drain.cancel();
    let ended = tokio::time::timeout(PATIENCE, waiting).await.expect("it leaves").expect("no panic");
    assert!(ended.is_ok());
}

#[testkit::test(needs(NATS_SERVER))]
async fn name_of_another_key_is_reported() {
    let keyed = Keyed::with(&["attic"]);
    let as_daemon = ClusterSettings { nkey_file: keyed.key("daemon"), ..keyed.settings("attic") };
    let ended = lend(worker(as_daemon), Shutdown::default()).await;
    let Err(LendError::Connection(error @ ConnectionError::NotAllowed { .. })) = ended else { panic!("{ended:?}") };
    assert!(error.to_string().contains("does not let attic"), "{error}");
    assert!(error.to_string().contains("names each daemon that it serves: --daemon NAME"), "{error}");

    let daemons = vec!["daemon".to_owned()];
    let named = ClusterSettings { nkey_file: keyed.key("daemon"), daemons, ..keyed.settings("attic") };
    let error = lend(worker(named), Shutdown::default()).await.expect_err("it has another's key").to_string();
    assert!(error.contains("--name, which is the one its key was made for"), "{error}");

    let daemons = vec!["demon".to_owned()];
    let mistyped = ClusterSettings { daemons, ..keyed.settings("attic") };
    let error = lend(worker(mistyped), Shutdown::default()).await.expect_err("no such daemon").to_string();
    assert!(error.contains("check --daemon") && error.contains("daemon.demon."), "{error}");

    let as_worker = ClusterSettings { nkey_file: keyed.key("attic"), ..keyed.settings("daemon") };
    let asked = survey(&as_worker).await.expect_err("it may not listen");
    assert!(matches!(asked, ConnectionError::NotAllowed { .. }), "{asked}");
}

#[testkit::test(needs(NATS_SERVER))]
async fn status_tells_silent_from_absent() {
    let keyed = Keyed::with(&["silent"]);
    let seen = survey(&keyed.settings("daemon")).await.expect("a server");
    assert!(seen.workers.is_empty() && seen.silent.is_empty());

    let silent = keyed.forger("silent").await;
    let _beats = silent.keeps_beating();
    let seen = survey(&keyed.settings("daemon")).await.expect("a server");
    assert_eq!(names(&seen), ["silent"], "it lends, but to others");

    let _listening = silent.client.subscribe(silent.subjects.call("daemon")).await.expect("subscribed");
    silent.client.flush().await.expect("subscribed");
    let seen = survey(&keyed.settings("daemon")).await.expect("a server");
    assert!(seen.workers.is_empty());
    assert_eq!(names(&seen), ["silent"]);
}

fn names(seen: &Survey) -> Vec<&str> {
    seen.silent.iter().map(String::as_str).collect()
}

/// A daemon whose key was revoked does not take from the others the workers that also served it.
#[testkit::test(needs(NATS_SERVER))]
async fn worker_serves_the_other_daemons() {
    let mut keyed = Keyed::with(&["shared"]);
    keyed.members.add(MemberKind::Daemon, "guest").expect("a key");
    keyed.reload();
    let (guest, _stop) = joins(keyed.settings("guest"));
    keyed.log.says(&["connected; waiting for workers", &keyed.nats.url()]).await;
    let worker = keyed.lends_to(&["daemon", "guest"], "shared");
    let daemon = keyed.daemon(&["shared"]).await;
    let cores = |cluster: &ClusterClient| cluster.cores(None).iter().sum::<usize>();
    until("both are served", || cores(&daemon.cluster) == 2 && cores(&guest) == 2).await;

    keyed.members.remove(MemberKind::Daemon, "guest").expect("removed");
    keyed.reload();
    keyed.log.says(&["forbids serving the daemon guest"]).await;
    drop(worker);
    until("the worker has left", || cores(&daemon.cluster) == 0).await;
    let _again = keyed.lends_to(&["guest", "daemon"], "shared");
    until("it serves as before", || cores(&daemon.cluster) == 2).await;
}

/// A daemon that connects before its key is known logs it once, and gets its workers later.
#[testkit::test(needs(NATS_SERVER))]
async fn refused_daemon_joins_with_a_known_key() {
    let mut keyed = Keyed::with(&["patient"]);
    let _worker = keyed.lends("patient");
    keyed.members.add(MemberKind::Daemon, "early").expect("a key");
    let (cluster, _stop) = joins(keyed.settings("early"));
    let url = keyed.nats.url();
    keyed.log.says(&["refuses the login", "Playing without workers", &url]).await;
    keyed.reload();
    until("it hears the worker", || !cluster.workers().is_empty()).await;
    assert_eq!(keyed.log.lines(&["Playing without workers", &url]).len(), 1, "it is told once");
}

/// A daemon that is connected and may not subscribe retries, and logs it once.
#[testkit::test(needs(NATS_SERVER))]
async fn forbidden_subscription_fills_no_log() {
    let mut keyed = Keyed::with(&["lender"]);
    let _worker = keyed.lends("lender");
    let (cluster, _stop) = joins(ClusterSettings { nkey_file: keyed.key("lender"), ..keyed.settings("stranger") });
    let url = keyed.nats.url();
    keyed.log.says(&["does not let stranger", "Playing without workers", &url]).await;
    let seed = std::fs::read_to_string(keyed.key("lender")).expect("a key");
    let public = nkeys::KeyPair::from_seed(seed.trim()).expect("a seed").public_key();
    keyed.nats.reads_again(format!("authorization {{ users = [{{ nkey: {public} }}] }}"));
    until("it hears the worker", || !cluster.workers().is_empty()).await;
    for words in ["connected; waiting for workers", "Playing without workers"] {
        assert_eq!(keyed.log.lines(&[words, &url]).len(), 1, "{words}");
    }
}
