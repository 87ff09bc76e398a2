//! Tests of `deploy/` without a cluster: the configurations are valid and match the program.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    processes::{Nats, Worker},
    table::Table,
};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name)
}

fn documents(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(path(name)).expect("readable");
    serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

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
#[testkit::test]
fn deployed_variables_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readers = ["src/cli/cluster.rs", "src/cli/worker.rs", "src/cluster/connection.rs", "deploy/nats/nats.conf"];
    let readers: String = readers.iter().map(|file| fs::read_to_string(root.join(file)).expect("readable")).collect();
    for file in
        ["compose.yaml", "compose.tls.yaml", "kubernetes/nats.yaml", "kubernetes/worker.yaml", "kubernetes/daemon.yaml"]
    {
        for text in documents(file).iter().flat_map(texts).filter(|text| text.starts_with("CONCILIO_")) {
            let tables = ["CONCILIO__CLUSTER__", "CONCILIO__SERVERS__LICHESS__", "CONCILIO__WEB__"];
            let settings = tables.iter().any(|table| text.starts_with(table));
            let read = settings || readers.contains(&format!("\"{text}\"")) || readers.contains(&format!("${text}"));
            assert!(read, "{file} sets {text}, which no program reads");
        }
    }
}

#[testkit::test]
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

#[testkit::test]
fn compose_has_what_it_refers_to() {
    let compose = &documents("compose.yaml")[0];
    let services = compose["services"].as_object().expect("services");
    assert_eq!(services.keys().map(String::as_str).collect::<BTreeSet<_>>(), ["daemon", "nats", "worker"].into());
    for (name, service) in services {
        for volume in texts(&service["volumes"]) {
            let source = volume.split(':').next().unwrap_or_default();
            let known = match source.strip_prefix("./") {
                // Its user makes these: with an editor, and with `concilio cluster`.
                Some("bot.toml" | "nats/users.conf") => true,
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

#[testkit::test]
fn kubernetes_has_what_it_refers_to() {
    let kustomization = &documents("kubernetes/kustomization.yaml")[0];
    let mut maps: BTreeSet<String> = BTreeSet::new();
    for folder in ["kubernetes", "nats"] {
        let kustomization = &documents(&format!("{folder}/kustomization.yaml"))[0];
        for map in kustomization["configMapGenerator"].as_array().expect("maps") {
            maps.insert(map["name"].as_str().expect("a name").to_owned());
            for file in texts(&map["files"]).into_iter().filter(|file| file != "users.conf") {
                assert!(path(folder).join(&file).is_file(), "{folder} has no {file}");
            }
        }
    }
    let files = texts(&kustomization["resources"]).into_iter().filter(|name| name.ends_with(".yaml"));
    let resources: Vec<Value> = files.flat_map(|name| documents(&format!("kubernetes/{name}"))).collect();
    assert_eq!(resources.len(), 10);
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
            // The certificate of the authority is made by hand.
            assert!(maps.contains(map) || map == "concilio-ca", "{name} has the map {map}");
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
        .find(|resource| resource["kind"] == "StatefulSet" && resource["metadata"]["name"] == "concilio-worker")
        .expect("workers");
    let images = kustomization["images"].as_array().expect("images");
    for image in ["concilio", "nats"] {
        let digest = images.iter().find(|known| known["name"] == image).map(|known| &known["digest"]);
        let digest = digest.and_then(Value::as_str).unwrap_or_default();
        assert!(digest.starts_with("sha256:") && digest.len() == 71, "{image} is named by its digest");
    }
    // All speak TLS, and no container has a secret that is not its own.
    let environment = resources.iter().flat_map(texts).collect::<Vec<_>>();
    assert!(!environment.iter().any(|text| text.starts_with("nats://")), "a connection is not encrypted");
    let keys = texts(&worker["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]);
    assert!(keys.iter().any(|text| text == "$(CONCILIO_NATS_NAME).nk"), "a worker sees its own key alone");
    let grace = worker["spec"]["template"]["spec"]["terminationGracePeriodSeconds"].as_u64().expect("seconds");
    assert!(grace > 30, "longer than a worker drains");
}

/// `concilio cluster` writes a whole configuration of the server: named clients connect and play, a
/// removed client is disconnected at once, and strangers are rejected.
#[testkit::test(needs(NATS_SERVER))]
async fn cluster_command_makes_a_key_cluster() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("nats");
    let cluster = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_concilio"));
        let done = command.arg("cluster").args(arguments).arg("--folder").arg(&keys).output().expect("our program");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("text")
    };
    let said = cluster(&["add-worker", "attic"]);
    let [daemon, attic] = ["daemon", "attic"].map(|name| keys.join(format!("{name}.nk")).display().to_string());
    let daemons_part = format!("name = \"daemon\"\n  nkey_file = \"{daemon}\"");
    let workers_part = format!("--name attic --nkey-file {attic} --daemon daemon");
    assert!(said.contains(&daemons_part) && said.contains(&workers_part), "{said}");
    cluster(&["add-worker", "cellar"]);

    let nats = Nats::start_in(&keys);
    let url = nats.url();
    let worker = |name: &str| {
        let key = keys.join(format!("{name}.nk")).display().to_string();
        Worker::start_with(&url, name, &["--cores", "2", "--nkey-file", &key, "--daemon", "daemon"], &[])
    };
    let _workers = [worker("attic"), worker("cellar")];
    let mut table = Table::with(&url, |cluster| {
        "daemon".clone_into(&mut cluster.name);
        cluster.nkey_file = keys.join("daemon.nk");
    });
    table.knows(&["attic", "cellar"]).await;
    table.plays_until_heard("attic").await;

    let reload = nats.pid_file().display().to_string();
    cluster(&["remove-worker", "cellar", "--reload", &reload]);
    table.knows(&["attic"]).await;

    let stranger = keys.join("stranger.nk");
    fs::write(&stranger, nkeys::KeyPair::new_user().seed().expect("a seed")).expect("written");
    let mut unknown = Worker::start_with(&url, "attic", &["--nkey-file", &stranger.display().to_string()], &[]);
    let status = unknown.ends().await;
    let log = unknown.log();
    assert!(status.code() == Some(1) && log.contains("refuses the login") && log.contains(&url), "{log}");
}
