use std::{collections::BTreeMap, path::PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Failure, ctl::unused_workers, settings_args::SettingsArgs};
use crate::settings::Flag;
use cluster::{
    ClusterSettings, MemberKind, Members, MembersError, ProcessIdentity, RunId, Survey, WorkerAnswer, survey,
    wire::WorkerState,
};
use council::electors::SearchStatus;
use rustix::process::{Pid, Signal, kill_process};
use util::{outln, printable, printable_json};

/// The name of the first daemon. Its key is made together with that of the first worker.
const FIRST_DAEMON: &str = "daemon";

#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  concilio cluster status --nats nats://192.168.1.10:4222
  concilio cluster add-worker attic                          its key, and the NATS server's configuration
  concilio cluster remove-worker attic --reload nats.pid     it is out at once, and does not come in again")]
pub(super) enum ClusterCommand {
    /// Show each worker: its own word on its state, speed and searches, and its lag
    Status {
        #[command(flatten)]
        settings: SettingsArgs,
        #[command(flatten)]
        cluster: Box<ClusterArgs>,
        /// As JSON, for machines
        #[arg(long)]
        json: bool,
    },
    /// Make a key for a worker, and write what the NATS server lets it do
    AddWorker(MemberArgs),
    /// Revoke a worker's key
    RemoveWorker(MemberArgs),
    /// Make a key for another daemon, which all workers serve
    AddDaemon(MemberArgs),
    /// Revoke a daemon's key
    RemoveDaemon(MemberArgs),
}

/// Owner of the key, and the folder of keys and server configuration.
#[derive(Debug, Args)]
pub(super) struct MemberArgs {
    /// Member name: up to 64 letters, digits, - and _
    name: String,
    /// Folder of the keys, members.toml, users.conf and nats.conf
    #[arg(long, default_value = "nats", value_name = "FOLDER")]
    folder: PathBuf,
    /// PID file of a running nats-server (its -P option), which is told to reload its configuration
    #[arg(long, value_name = "PID_FILE")]
    reload: Option<PathBuf>,
}

/// Address and credentials of the NATS server; each option stands for a key of the table [cluster].
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "The NATS server")]
pub(super) struct ClusterArgs {
    /// Server addresses, separated by commas
    #[arg(long, env = "CONCILIO_NATS_URL", value_name = "URL")]
    nats: Option<String>,
    /// NATS subject prefix [default: concilio]
    #[arg(long, env = "CONCILIO_NATS_PREFIX", value_name = "SUBJECT")]
    prefix: Option<String>,
    /// Name of this process in the cluster [default: host name]
    #[arg(long, env = "CONCILIO_NATS_NAME")]
    name: Option<String>,
    /// User name
    #[arg(long, env = "CONCILIO_NATS_USER")]
    user: Option<String>,
    /// File with the password on its first line
    #[arg(long, env = "CONCILIO_NATS_PASSWORD_FILE", value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// File with the token on its first line
    #[arg(long, env = "CONCILIO_NATS_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// File with the nkey seed on its first line
    #[arg(long, env = "CONCILIO_NATS_NKEY_FILE", value_name = "FILE")]
    nkey_file: Option<PathBuf>,
    /// Credentials file (.creds)
    #[arg(long, env = "CONCILIO_NATS_CREDENTIALS_FILE", value_name = "FILE")]
    credentials_file: Option<PathBuf>,
    /// CA certificates trusted in addition to the system's (PEM); requires TLS
    #[arg(long, env = "CONCILIO_NATS_CA_FILE", value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Client certificate (PEM)
    #[arg(long, env = "CONCILIO_NATS_CERTIFICATE_FILE", value_name = "FILE")]
    certificate_file: Option<PathBuf>,
    /// Key of the client certificate (PEM)
    #[arg(long, env = "CONCILIO_NATS_KEY_FILE", value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl ClusterArgs {
    /// Lays these over the other settings.
    pub(super) fn load(self, settings: SettingsArgs) -> Result<ClusterSettings, Failure> {
        let text = |path: Option<PathBuf>| path.map(|path| path.to_string_lossy().into_owned());
        let given = [
            ("--nats", self.nats),
            ("--prefix", self.prefix),
            ("--name", self.name),
            ("--user", self.user),
            ("--password-file", text(self.password_file)),
            ("--token-file", text(self.token_file)),
            ("--nkey-file", text(self.nkey_file)),
            ("--credentials-file", text(self.credentials_file)),
            ("--ca-file", text(self.ca_file)),
            ("--certificate-file", text(self.certificate_file)),
            ("--key-file", text(self.key_file)),
        ];
        let given = given.into_iter().filter_map(|(name, text)| {
            let key = format!("cluster.{}", name.trim_start_matches('-').replace('-', "_"));
            Some(Flag { name, key, text: text? })
        });
        let cluster = settings.with(given).load()?.settings.cluster;
        if !cluster.is_on() {
            return Err(Failure::usage(
                "no NATS server: pass --nats nats://HOST:4222, or cluster.nats in the settings",
            ));
        }
        Ok(cluster)
    }
}

impl ClusterCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Status { settings, cluster, json } => {
                // The judgement of the daemon on this machine, if one runs here.
                let (socket, _) = settings.clone().control_socket();
                let unused = unused_workers(&socket).await;
                status(&cluster.load(settings)?, &unused, json).await
            }
            Self::AddWorker(member) => member.add(MemberKind::Worker),
            Self::RemoveWorker(member) => member.remove(MemberKind::Worker),
            Self::AddDaemon(member) => member.add(MemberKind::Daemon),
            Self::RemoveDaemon(member) => member.remove(MemberKind::Daemon),
        }
    }
}

/// Asks all workers, and prints their answers as a table or as JSON. Fails if there are workers and none of them can be used, because
/// they leave or do not serve us.
///
/// `unused` has the reasons why the daemon of this machine gives workers no searches, by worker.
async fn status(cluster: &ClusterSettings, unused: &BTreeMap<String, String>, json: bool) -> Result<(), Failure> {
    let survey = survey(cluster).await?;
    if json {
        outln!("{}", printable_json(&format!("{:#}", as_json(cluster, &survey, unused))));
    } else {
        print_survey(cluster, &survey, unused);
    }
    match reason_for_no_worker(&survey) {
        Some(why) => Err(Failure::failed(why)),
        None => Ok(()),
    }
}

/// Returns the reason if there are workers and none of them takes our searches.
fn reason_for_no_worker(survey: &Survey) -> Option<String> {
    let unused = not_used(survey);
    let is_useless = !survey.workers.iter().any(takes_searches) && !unused.is_empty();
    is_useless.then(|| format!("no worker can be used: {}", unused.join("; ")))
}

fn takes_searches(answer: &WorkerAnswer) -> bool {
    answer.heartbeat.state == WorkerState::Lending
}

/// Returns the reasons why known workers get no searches, a line each.
fn not_used(survey: &Survey) -> Vec<String> {
    let strangers = survey.refused.iter().map(ToString::to_string);
    let silent = survey.silent.iter().map(|name| {
        format!("{name} is connected and does not answer: it is too far away, or does not serve this daemon")
    });
    let leaving = survey.workers.iter().filter(|answer| !takes_searches(answer));
    let leaving = leaving.map(|answer| format!("{} is finishing its searches and accepts no more", answer.worker.name));
    strangers.chain(silent).chain(leaving).collect()
}

/// Returns the shortest moves for a distant worker, if they matter.
fn too_far_for(answer: &WorkerAnswer) -> Option<String> {
    let shortest = answer.shortest_move().as_secs_f64();
    let tenths = (shortest * 10.0).ceil() / 10.0;
    let (name, lag) = (&answer.worker.name, answer.lag.as_millis());
    (shortest >= 0.1).then(|| format!("{name} answers after {lag} ms: not used for moves under {tenths} s"))
}

impl MemberArgs {
    fn add(&self, kind: MemberKind) -> Result<(), Failure> {
        let mut members = Members::open(&self.folder)?;
        if kind == MemberKind::Worker && members.names(MemberKind::Daemon).next().is_none() {
            self.add_one(&mut members, MemberKind::Daemon, FIRST_DAEMON)?;
        }
        self.add_one(&mut members, kind, &self.name)?;
        self.reload()
    }

    /// Makes a key, and prints its use.
    fn add_one(&self, members: &mut Members, kind: MemberKind, name: &str) -> Result<(), MembersError> {
        let key = members.add(kind, name)?;
        let file = key.display();
        match kind {
            MemberKind::Daemon => {
                outln!("{} is the key of the daemon {name}; in its settings:", key.display());
                outln!("  [cluster]\n  nats = \"nats://HOST:4222\"\n  name = \"{name}\"\n  nkey_file = \"{file}\"");
            }
            MemberKind::Worker => {
                let daemons: Vec<String> =
                    members.names(MemberKind::Daemon).map(|name| format!(" --daemon {name}")).collect();
                outln!("{} is the key of the worker {name}; on its machine:", key.display());
                outln!(
                    "  concilio worker --nats nats://HOST:4222 --name {name} --nkey-file {file}{}",
                    daemons.concat()
                );
            }
        }
        Ok(())
    }

    fn remove(&self, kind: MemberKind) -> Result<(), Failure> {
        Members::open(&self.folder)?.remove(kind, &self.name)?;
        self.reload()?;
        if self.reload.is_none() {
            outln!("the key is refused once the server reloads its configuration: nats-server --signal reload");
            outln!("(in a container that sees the old file until it restarts: docker compose restart nats)");
        }
        Ok(())
    }

    /// Tells the server to read its configuration again.
    fn reload(&self) -> Result<(), Failure> {
        let Some(file) = &self.reload else { return Ok(()) };
        let failed = |reason: &dyn std::fmt::Display| {
            Failure::failed(format!(
                "all files are written, but the server was not notified: {}: {reason}",
                file.display()
            ))
        };
        let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
        let pid = text.trim().parse().ok().and_then(Pid::from_raw).ok_or_else(|| failed(&"no process number"))?;
        kill_process(pid, Signal::HUP).map_err(|error| failed(&error))
    }
}

fn print_survey(cluster: &ClusterSettings, survey: &Survey, by_daemon: &BTreeMap<String, String>) {
    let cores: usize = survey.workers.iter().map(|answer| usize::from(answer.heartbeat.cores)).sum();
    let version = ProcessIdentity::new("status").version;
    let workers = counted(survey.workers.len(), "worker");
    outln!("{}: {workers}, {}, concilio {version}", cluster.nats, counted(cores, "core"));
    let unused = not_used(survey);
    if survey.workers.is_empty() {
        if unused.is_empty() {
            outln!("no worker is connected; start one: concilio worker --nats {}", cluster.nats);
        }
    } else {
        outln!("\n{:<24} {:<9} {:>9} {:>13} {:>8}  engines", "worker", "state", "busy", "knodes/s/core", "lag ms");
        survey.workers.iter().for_each(|answer| print_worker(answer, by_daemon));
    }
    for why in survey.workers.iter().filter_map(too_far_for) {
        outln!("\n{why}");
    }
    for (name, why) in by_daemon {
        outln!("\n{}", printable(&format!("not used by the daemon of this machine: {name}: {why}")));
    }
    for why in unused {
        outln!("\nnot used: {}", printable(&why));
    }
}

fn print_worker(WorkerAnswer { worker, heartbeat, lag }: &WorkerAnswer, unused: &BTreeMap<String, String>) {
    let (state, busy) = (state(&worker.name, heartbeat.state, unused), heartbeat.busy());
    let engines = if heartbeat.engines.is_empty() { "-".to_owned() } else { heartbeat.engines.join(" ") };
    let (busy, lag) = (format!("{busy} of {}", heartbeat.cores), lag.as_secs_f64() * 1000.0);
    let line = format!("{:<24} {state:<9} {busy:>9} {:>13} {lag:>8.1}  {engines}", worker.name, heartbeat.speed);
    outln!("{}", printable(&line));
    for (_, search) in &heartbeat.searches {
        let (game, ply) = (&search.search.game, search.search.ply);
        let threads = if search.threads == 1 { "".to_owned() } else { format!(" on {} threads", search.threads) };
        let line = format!("  {} searches game {game}, ply {ply}: {} nodes{threads}", search.elector, search.nodes);
        outln!("{}", printable(&line));
    }
}

fn as_json(cluster: &ClusterSettings, survey: &Survey, unused: &BTreeMap<String, String>) -> Value {
    let worker = |answer: &WorkerAnswer| {
        let WorkerAnswer { worker, heartbeat, lag } = answer;
        let search = |(_, search): &(RunId, SearchStatus)| {
            json!({
                "elector": search.elector.as_str(),
                "game": search.search.game.as_str(),
                "ply": search.search.ply,
                "threads": search.threads,
                "nodes": search.nodes,
            })
        };
        json!({
            "name": worker.name,
            "state": state(&worker.name, heartbeat.state, unused),
            "not_used_because": unused.get(&worker.name),
            "cores": heartbeat.cores,
            "busy": heartbeat.busy(),
            "knodes_per_second_and_core": heartbeat.speed,
            "lag_ms": lag.as_secs_f64() * 1000.0,
            "shortest_move_ms": answer.shortest_move().as_secs_f64() * 1000.0,
            "engines": heartbeat.engines,
            "searches": heartbeat.searches.iter().map(search).collect::<Vec<_>>(),
        })
    };
    json!({
        "server": cluster.nats,
        "version": ProcessIdentity::new("status").version,
        "workers": survey.workers.iter().map(worker).collect::<Vec<_>>(),
        "not_used": not_used(survey),
    })
}

fn state(name: &str, state: WorkerState, unused: &BTreeMap<String, String>) -> &'static str {
    match state {
        WorkerState::Lending if unused.contains_key(name) => "not used",
        WorkerState::Lending => "ready",
        WorkerState::Draining => "draining",
        WorkerState::Gone => "gone",
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cluster::{RunId, Sender, wire::Heartbeat};

    use super::*;

    #[test]
    fn leaving_workers_are_unusable() {
        let worker = |name: &str, state| WorkerAnswer {
            worker: Sender { name: name.to_owned(), run: RunId::draw() },
            heartbeat: Heartbeat { state, ..Heartbeat::idle(4, 900) },
            lag: Duration::from_millis(1),
        };
        let survey = |workers| Survey { workers, ..Survey::default() };
        let attic = worker("attic", WorkerState::Draining);
        let why = reason_for_no_worker(&survey(vec![attic.clone()]));
        assert!(why.is_some_and(|why| why.contains("attic is finishing its searches")));
        let both = survey(vec![attic, worker("cellar", WorkerState::Lending)]);
        assert_eq!((reason_for_no_worker(&both), not_used(&both).len()), (None, 1));
        assert_eq!(reason_for_no_worker(&survey(Vec::new())), None, "there is no worker");
    }
}
