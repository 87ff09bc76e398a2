//! What lies in `deploy/`, looked at without a cluster: the configurations are valid, and what they say of our program is true.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use rustix::process::Signal;
use serde_json::Value;

use super::{
    processes::{Nats, Worker},
    table::Table,
};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name)
}

/// The documents of a YAML file.
fn documents(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(path(name)).expect("readable");
    serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All texts in a value.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| [vec![key.clone()], texts(value)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

/// Every variable of the environment that a file sets is read, by our program or by the server's configuration.
#[test]
fn the_variables_that_are_set_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readers = ["src/cli/cluster.rs", "src/cli/worker.rs", "src/cluster/connection.rs", "deploy/nats/nats.conf"];
    let readers: String = readers.iter().map(|file| fs::read_to_string(root.join(file)).expect("readable")).collect();
    for file in ["compose.yaml", "kubernetes/nats.yaml", "kubernetes/worker.yaml", "kubernetes/daemon.yaml"] {
        for text in documents(file).iter().flat_map(texts).filter(|text| text.starts_with("CONCILIO_")) {
            let settings = text.starts_with("CONCILIO__CLUSTER__") || text.starts_with("CONCILIO__SERVERS__LICHESS__");
            let read = settings || readers.contains(&format!("\"{text}\"")) || readers.contains(&format!("${text}"));
            assert!(read, "{file} sets {text}, which nobody reads");
        }
    }
}

/// Every command line of ours is understood.
#[test]
fn the_command_lines_are_understood() {
    let worker = &documents("kubernetes/worker.yaml")[0]["spec"]["template"]["spec"]["containers"][0]["args"];
    let mut words: Vec<String> = texts(worker);
    words.push("--help".to_owned());
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_concilio"))
        .args(&words)
        .stdout(std::process::Stdio::null())
        .status()
        .expect("our program");
    assert!(status.success(), "{words:?}");
}

#[test]
fn compose_has_what_it_refers_to() {
    let compose = &documents("compose.yaml")[0];
    let services = compose["services"].as_object().expect("services");
    assert_eq!(services.keys().map(String::as_str).collect::<BTreeSet<_>>(), ["daemon", "nats", "worker"].into());
    for (name, service) in services {
        for volume in texts(&service["volumes"]) {
            let source = volume.split(':').next().unwrap_or_default();
            let known = match source.strip_prefix("./") {
                // Its user makes this one.
                Some("bot.toml") => true,
                Some(file) => path(file).is_file(),
                None => !compose["volumes"].get(source).is_none_or(|volume| volume.is_boolean()),
            };
            assert!(known, "{name} mounts {volume}");
        }
        for secret in texts(&service["secrets"]) {
            assert!(compose["secrets"].get(&secret).is_some(), "{name} has the secret {secret}");
        }
    }
    assert_eq!(services["worker"]["stop_grace_period"], "40s", "longer than a worker drains");
}

#[test]
fn kubernetes_has_what_it_refers_to() {
    let kustomization = &documents("kubernetes/kustomization.yaml")[0];
    let mut maps: BTreeSet<String> = BTreeSet::new();
    for folder in ["kubernetes", "nats"] {
        let kustomization = &documents(&format!("{folder}/kustomization.yaml"))[0];
        for map in kustomization["configMapGenerator"].as_array().expect("maps") {
            maps.insert(map["name"].as_str().expect("a name").to_owned());
            for file in texts(&map["files"]) {
                assert!(path(folder).join(&file).is_file(), "{folder} has no {file}");
            }
        }
    }
    let files = texts(&kustomization["resources"]).into_iter().filter(|name| name.ends_with(".yaml"));
    let resources: Vec<Value> = files.flat_map(|name| documents(&format!("kubernetes/{name}"))).collect();
    assert_eq!(resources.len(), 8);
    for resource in &resources {
        let name = resource["metadata"]["name"].as_str().expect("a name");
        assert!(resource["apiVersion"].is_string() && resource["kind"].is_string(), "{name}");
        let template = &resource["spec"]["template"];
        if !template.is_null() {
            assert_eq!(template["spec"]["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{name}");
        }
        let Some(containers) = template["spec"]["containers"].as_array() else { continue };
        assert_eq!(resource["spec"]["selector"]["matchLabels"], template["metadata"]["labels"], "{name}");
        let none = Vec::new();
        let volumes = template["spec"]["volumes"].as_array().unwrap_or(&none);
        let claims = resource["spec"]["volumeClaimTemplates"].as_array().unwrap_or(&none);
        let mountable: BTreeSet<_> = volumes
            .iter()
            .map(|volume| &volume["name"])
            .chain(claims.iter().map(|claim| &claim["metadata"]["name"]))
            .map(Value::to_string)
            .collect();
        for volume in volumes.iter().filter(|volume| volume["configMap"].is_object()) {
            let map = volume["configMap"]["name"].as_str().expect("a name");
            assert!(maps.contains(map), "{name} has the map {map}");
        }
        for container in containers {
            for mount in container["volumeMounts"].as_array().unwrap_or(&none) {
                assert!(mountable.contains(&mount["name"].to_string()), "{name} mounts {}", mount["name"]);
            }
            let ports: Vec<_> =
                container["ports"].as_array().unwrap_or(&none).iter().map(|port| &port["name"]).collect();
            for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
                let port = &container[probe]["httpGet"]["port"];
                assert!(port.is_null() || ports.contains(&port), "{name} asks {port}");
            }
            assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false, "{name}");
            assert!(container["resources"]["limits"]["memory"].is_string(), "{name} may take all memory");
            let image = container["image"].as_str().expect("an image");
            assert!(image.contains(':'), "{name}: {image} is whichever came last");
        }
    }
    let worker = resources
        .iter()
        .find(|resource| resource["kind"] == "Deployment" && resource["metadata"]["name"] == "concilio-worker")
        .expect("workers");
    let grace = worker["spec"]["template"]["spec"]["terminationGracePeriodSeconds"].as_u64().expect("seconds");
    assert!(grace > 30, "longer than a worker drains");
}

/// The accounts of the configuration, with what they may do, are enough to play, and no others are let in.
#[tokio::test(flavor = "multi_thread")]
async fn the_accounts_may_do_what_they_need_and_no_more() {
    let configuration = fs::read_to_string(path("nats/nats.conf")).expect("readable");
    let configuration = configuration
        .replace("$CONCILIO_DAEMON_PASSWORD", "\"give orders\"")
        .replace("$CONCILIO_WORKER_PASSWORD", "\"take orders\"")
        .replace("port: 4222", "")
        .replace("http: 8222", "");
    let nats = Nats::start_with(Some(configuration));
    let url = nats.url();

    let secrets = tempfile::tempdir().expect("a folder");
    let file = secrets.path().join("password");
    fs::write(&file, "give orders\n").expect("written");
    let password = [("CONCILIO_NATS_PASSWORD", "take orders")];
    let worker = Worker::start_with(&url, "attic", &["--cores", "3", "--user", "worker"], &password);
    let mut table = Table::with(&url, |cluster| {
        "daemon".clone_into(&mut cluster.user);
        cluster.password_file = file;
    });
    table.knows(&["attic"]).await;
    table.plays(10).await;
    assert!(table.votes_of("attic") > 0);
    worker.signal(Signal::TERM);

    let mut unknown = Worker::start_with(&url, "nobody", &["--user", "worker"], &[("CONCILIO_NATS_PASSWORD", "wrong")]);
    let status = unknown.ends().await;
    assert_eq!(status.code(), Some(1));
    let log = unknown.log();
    assert!(log.contains("refuses us") && log.contains(&url) && !log.contains("wrong"), "{log}");

    // A worker's account cannot give orders, nor listen to what others do.
    let options = async_nats::ConnectOptions::new().user_and_password("worker".to_owned(), "take orders".to_owned());
    let (told, mut refusals) = tokio::sync::mpsc::unbounded_channel();
    let options = options.event_callback(move |event| {
        let _ = told.send(event.to_string());
        std::future::ready(())
    });
    let client = options.connect(&url).await.expect("let in");
    for subject in ["concilio.worker.1", "concilio.call", "elsewhere"] {
        client.publish(subject, "x".into()).await.expect("sent");
    }
    let _listening = client.subscribe("concilio.>").await.expect("sent");
    let mut refused = 0;
    while refused < 4 {
        let event =
            tokio::time::timeout(super::processes::PATIENCE, refusals.recv()).await.expect("refusals").expect("open");
        refused += usize::from(event.to_lowercase().contains("permissions violation"));
    }
}
