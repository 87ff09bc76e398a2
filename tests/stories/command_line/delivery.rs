//! Tests of the files delivered beside the program: the Grafana dashboard and the systemd units.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use bot::metrics::{METRICS, MetricKind};

fn deployed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every name that a text asks Prometheus for.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("concilio_")).map(str::to_owned).collect()
}

/// The board asks for nothing that is not measured, and shows everything that is.
#[testkit::test]
fn grafana_dashboard_uses_known_metrics() {
    let board: serde_json::Value = serde_json::from_str(&deployed("grafana.json")).expect("JSON");
    let shown: BTreeSet<String> = board["panels"]
        .as_array()
        .expect("panels")
        .iter()
        .flat_map(|panel| panel["targets"].as_array().expect("targets"))
        .flat_map(|target| names(target["expr"].as_str().expect("a query")))
        .collect();
    let measured: BTreeSet<String> = METRICS
        .iter()
        .map(|&(name, kind, _)| match kind {
            MetricKind::Histogram => format!("{name}_bucket"),
            MetricKind::Counter | MetricKind::Gauge => name.to_owned(),
        })
        .collect();
    assert_eq!(shown, measured);
}

/// Counters of workers' messages are in the same list.
#[testkit::test]
fn cluster_metrics_are_in_the_list() {
    for name in
        [cluster::MESSAGES_DROPPED, cluster::SEARCHES_LOST, cluster::SLOW_CONSUMERS, cluster::WORKERS_DISTRUSTED]
    {
        assert!(METRICS.iter().any(|(known, ..)| *known == name), "{name}");
    }
}

/// The daemon's unit starts it again as often as it takes, but not after the exit codes that another start would only bring again:
/// wrong settings, and accounts that were refused for good.
#[testkit::test]
fn systemd_unit_knows_final_exit_codes() {
    let unit = deployed("concilio.service");
    for wanted in ["StartLimitIntervalSec=0", "Restart=on-failure", "RestartPreventExitStatus=2 77"] {
        assert!(unit.lines().any(|line| line == wanted), "{wanted}");
    }
}

/// The only objection of systemd to the units is that the program is not installed.
#[testkit::test(needs(SYSTEMD_ANALYZE))]
fn systemd_accepts_the_units() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    let units = ["concilio.service", "concilio-worker.service"];
    let folder = tempfile::tempdir().expect("a folder");
    for unit in units {
        let installed = deployed(unit).replace("/usr/local/bin/concilio", env!("CARGO_BIN_EXE_concilio"));
        fs::write(folder.path().join(unit), installed).expect("written");
        let analyze = |words: &[&str]| {
            let output =
                Command::new(testkit::needs::SYSTEMD_ANALYZE.path()).args(words).arg(folder.path().join(unit)).output();
            let output = output.expect("it starts");
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            (output.status.success(), said)
        };
        let (fine, said) = analyze(&["verify", "--man=no"]);
        // It checks the units that ours needs as well; its complaints about those do not count.
        assert!(fine && !said.lines().any(|line| line.contains("concilio")), "{unit}: {said}");
        let (fine, said) = analyze(&["security", "--offline=true", "--threshold=20"]);
        assert!(fine, "{unit}: {said}");
    }
    assert!(deploy.join(units[0]).is_file());
}
