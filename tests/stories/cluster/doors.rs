//! Tests of every way to authenticate at a server: token, nkey, credentials, certificates. (User
//! and password: `deploy.rs`.) Daemon and worker use the same way, and play.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use cluster::ClusterSettings;
use nkeys::KeyPair;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    processes::{Nats, Worker},
    table::Table,
};

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("written");
    path
}

/// Sets a key of the cluster's settings, by the flag that stands for it, to a file.
fn set(settings: &mut ClusterSettings, (key, file): (&str, &Path)) {
    let place = match key {
        "token-file" => &mut settings.token_file,
        "nkey-file" => &mut settings.nkey_file,
        "credentials-file" => &mut settings.credentials_file,
        "ca-file" => &mut settings.ca_file,
        "certificate-file" => &mut settings.certificate_file,
        "key-file" => &mut settings.key_file,
        other => panic!("no such key: {other}"),
    };
    file.clone_into(place);
}

fn worker(url: &str, keys: &[(&str, &Path)]) -> Worker {
    let flags = keys.iter().flat_map(|(key, file)| [format!("--{key}"), file.display().to_string()]);
    let flags: Vec<String> = flags.chain(["--cores".to_owned(), "3".to_owned()]).collect();
    Worker::start_with(url, "attic", &flags.iter().map(String::as_str).collect::<Vec<_>>(), &[])
}

/// Asserts that both ends connect with these keys, and play.
async fn are_let_in(url: &str, keys: &[(&str, &Path)]) {
    let _worker = worker(url, keys);
    let mut table = Table::with(url, |settings| keys.iter().for_each(|key| set(settings, *key)));
    table.knows(&["attic"]).await;
    table.plays_until_heard("attic").await;
}

/// Asserts that a client with only these keys is rejected and does not retry for ever.
async fn is_sent_away(url: &str, keys: &[(&str, &Path)]) {
    leaves_because(url, keys, "refuses the login").await;
}

/// Asserts that a client with only these keys exits with the message `why`.
async fn leaves_because(url: &str, keys: &[(&str, &Path)], why: &str) {
    let mut worker = worker(url, keys);
    let status = worker.ends().await;
    let log = worker.log();
    assert!(status.code() == Some(1) && log.contains(why) && log.contains(url), "{status}: {log}");
}

#[testkit::test(needs(NATS_SERVER))]
async fn a_token_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let nats = Nats::start_with(Some("authorization { token: sesame }".to_owned()));
    are_let_in(&nats.url(), &[("token-file", &file(&folder, "good", "sesame\n"))]).await;
    is_sent_away(&nats.url(), &[("token-file", &file(&folder, "bad", "barley\n"))]).await;
    is_sent_away(&nats.url(), &[]).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn an_nkey_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let (known, unknown) = (KeyPair::new_user(), KeyPair::new_user());
    let configuration = format!("authorization {{ users: [{{ nkey: {} }}] }}", known.public_key());
    let nats = Nats::start_with(Some(configuration));
    let seed = |name: &str, key: &KeyPair| file(&folder, name, &key.seed().expect("a seed"));
    are_let_in(&nats.url(), &[("nkey-file", &seed("known", &known))]).await;
    is_sent_away(&nats.url(), &[("nkey-file", &seed("unknown", &unknown))]).await;
}

/// A signed statement about a key, as NATS wants it (<https://docs.nats.io/running-a-nats-service/configuration/securing_nats/jwt>).
fn statement(issuer: &KeyPair, subject: &KeyPair, nats: &Value) -> String {
    let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let header = encode(&json!({ "typ": "JWT", "alg": "ed25519-nkey" }));
    let (issuer_key, subject_key) = (issuer.public_key(), subject.public_key());
    let claims =
        json!({ "jti": subject_key, "iat": 1, "iss": issuer_key, "name": "story", "sub": subject_key, "nats": nats });
    let signed = format!("{header}.{}", encode(&claims));
    let signature = BASE64_URL_SAFE_NO_PAD.encode(issuer.sign(signed.as_bytes()).expect("a signature"));
    format!("{signed}.{signature}")
}

#[testkit::test(needs(NATS_SERVER))]
async fn credentials_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let (operator, account) = (KeyPair::new_operator(), KeyPair::new_account());
    let unlimited = json!({ "subs": -1, "data": -1, "payload": -1, "conn": -1, "leaf": -1, "imports": -1, "exports": -1, "wildcards": true });
    let of_operator = statement(&operator, &operator, &json!({ "type": "operator", "version": 2 }));
    let of_account = statement(&operator, &account, &json!({ "type": "account", "version": 2, "limits": unlimited }));
    let nats = Nats::start_with(Some(format!(
        "operator: {of_operator}\nresolver: MEMORY\nresolver_preload: {{ {}: {of_account} }}",
        account.public_key()
    )));
    let credentials = |name: &str, account: &KeyPair| {
        let user = KeyPair::new_user();
        let limits = json!({ "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1 });
        let text = format!(
            "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            statement(account, &user, &limits),
            user.seed().expect("a seed"),
        );
        file(&folder, name, &text)
    };
    are_let_in(&nats.url(), &[("credentials-file", &credentials("good.creds", &account))]).await;
    is_sent_away(&nats.url(), &[("credentials-file", &credentials("bad.creds", &KeyPair::new_account()))]).await;
}

/// An authority that signs certificates.
fn authority() -> CertifiedIssuer<'static, rcgen::KeyPair> {
    let mut parameters = CertificateParams::new(Vec::new()).expect("parameters");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, rcgen::KeyPair::generate().expect("a key")).expect("a certificate")
}

/// Writes a certificate for this address, and its key.
fn certificate(authority: &CertifiedIssuer<'_, rcgen::KeyPair>, folder: &TempDir, name: &str) -> (PathBuf, PathBuf) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let parameters = CertificateParams::new(["127.0.0.1".to_owned()]).expect("parameters");
    let certificate = parameters.signed_by(&key, authority).expect("a certificate");
    let file = |kind: &str, text: &str| file(folder, &format!("{name}.{kind}"), text);
    (file("pem", &certificate.pem()), file("key", &key.serialize_pem()))
}

#[testkit::test(needs(NATS_SERVER))]
async fn both_sides_verify_certificates() {
    let folder = tempfile::tempdir().expect("a folder");
    let (known, other) = (authority(), authority());
    let (ca, other_ca) = (file(&folder, "ca.pem", &known.pem()), file(&folder, "other-ca.pem", &other.pem()));
    let (server, server_key) = certificate(&known, &folder, "server");
    let (ours, our_key) = certificate(&known, &folder, "ours");
    let (strange, strange_key) = certificate(&other, &folder, "strange");
    let configuration = format!(
        "tls {{ cert_file: {:?}, key_file: {:?}, ca_file: {:?}, verify: true }}",
        server.display().to_string(),
        server_key.display().to_string(),
        ca.display().to_string()
    );
    let nats = Nats::start_with(Some(configuration));
    let url = nats.url().replace("nats://", "tls://");
    let as_us = [("certificate-file", ours.as_path()), ("key-file", &our_key)];
    let as_stranger = [("certificate-file", strange.as_path()), ("key-file", &strange_key)];
    are_let_in(&url, &[("ca-file", &ca), as_us[0], as_us[1]]).await;
    // We know no such server; it knows no such client; it wants to know one at all.
    leaves_because(&url, &[("ca-file", &other_ca), as_us[0], as_us[1]], "is not trusted").await;
    is_sent_away(&url, &[("ca-file", &ca), as_stranger[0], as_stranger[1]]).await;
    is_sent_away(&url, &[("ca-file", &ca)]).await;
}
