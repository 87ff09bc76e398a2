//! `concilio cluster`: a look at the machines that lend their cores.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Failure, settings_args::SettingsArgs};
use crate::settings::Flag;
use chess::outln;
use cluster::{
    ClusterSettings, ProcessIdentity, Survey, WorkerAnswer, survey,
    wire::{Heartbeat, SearchStatus, WorkerState},
};

/// Look at the machines that lend their cores
#[derive(Debug, Args)]
#[command(after_help = "Example:
  concilio cluster status --nats nats://192.168.1.10:4222")]
pub(super) struct ClusterCommand {
    #[command(subcommand)]
    action: ClusterAction,
}

#[derive(Debug, Subcommand)]
enum ClusterAction {
    /// Who is there, how fast, how far away, and what each searches
    Status {
        #[command(flatten)]
        settings: SettingsArgs,
        #[command(flatten)]
        cluster: ClusterArgs,
        /// As JSON, for machines
        #[arg(long)]
        json: bool,
    },
}

/// Where the NATS server is and how it knows us: each of these stands for a key of the table [cluster].
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "The NATS server")]
pub(super) struct ClusterArgs {
    /// Where it is; several with commas between them
    #[arg(long, env = "CONCILIO_NATS_URL", value_name = "URL")]
    nats: Option<String>,
    /// Below which subject messages travel [default: concilio]
    #[arg(long, env = "CONCILIO_NATS_PREFIX", value_name = "SUBJECT")]
    prefix: Option<String>,
    /// What others call this process [default: the name of the host]
    #[arg(long, env = "CONCILIO_NATS_NAME")]
    name: Option<String>,
    /// The user to log in as
    #[arg(long, env = "CONCILIO_NATS_USER")]
    user: Option<String>,
    /// The file whose first line is the password
    #[arg(long, env = "CONCILIO_NATS_PASSWORD_FILE", value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// The file whose first line is the token
    #[arg(long, env = "CONCILIO_NATS_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The file whose first line is the seed of an nkey
    #[arg(long, env = "CONCILIO_NATS_NKEY_FILE", value_name = "FILE")]
    nkey_file: Option<PathBuf>,
    /// A file with credentials (.creds)
    #[arg(long, env = "CONCILIO_NATS_CREDENTIALS_FILE", value_name = "FILE")]
    credentials_file: Option<PathBuf>,
    /// Certificates by which the server is known, beside those of the system (PEM)
    #[arg(long, env = "CONCILIO_NATS_CA_FILE", value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Our certificate, where the server wants one (PEM)
    #[arg(long, env = "CONCILIO_NATS_CERTIFICATE_FILE", value_name = "FILE")]
    certificate_file: Option<PathBuf>,
    /// The key of our certificate (PEM)
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
                "no NATS server is named: give --nats nats://HOST:4222, or cluster.nats in the settings",
            ));
        }
        Ok(cluster)
    }
}

impl ClusterCommand {
    /// Asks every worker that answers, and prints the answers as a table or as JSON.
    pub(super) async fn run(self) -> Result<(), Failure> {
        let ClusterAction::Status { settings, cluster, json } = self.action;
        let cluster = cluster.load(settings)?;
        let survey = survey(&cluster).await?;
        if json {
            outln!("{:#}", as_json(&cluster, &survey));
        } else {
            print_survey(&cluster, &survey);
        }
        Ok(())
    }
}

fn print_survey(cluster: &ClusterSettings, survey: &Survey) {
    let cores: usize = survey.workers.iter().map(|answer| usize::from(answer.heartbeat.cores)).sum();
    let version = ProcessIdentity::new("status").version;
    let workers = counted(survey.workers.len(), "worker");
    outln!("{}: {workers}, {}, concilio {version}", cluster.nats, counted(cores, "core"));
    if survey.workers.is_empty() {
        outln!("nobody lends; start `concilio worker --nats {}` on any machine", cluster.nats);
    } else {
        outln!("\n{:<24} {:<9} {:>9} {:>13} {:>8}  engines", "worker", "state", "busy", "knodes/s/core", "lag ms");
        survey.workers.iter().for_each(print_worker);
    }
    for stranger in &survey.refused {
        outln!("\nnot used: {stranger}");
    }
}

fn print_worker(WorkerAnswer { worker, heartbeat, lag }: &WorkerAnswer) {
    let (state, busy) = (state(heartbeat.state), busy(heartbeat));
    let engines = if heartbeat.engines.is_empty() { "-".to_owned() } else { heartbeat.engines.join(" ") };
    let (busy, lag) = (format!("{busy} of {}", heartbeat.cores), lag.as_secs_f64() * 1000.0);
    outln!("{:<24} {state:<9} {busy:>9} {:>13} {lag:>8.1}  {engines}", worker.name, heartbeat.speed);
    for search in &heartbeat.searches {
        let (game, ply) = (&search.search.game, search.search.ply);
        let threads = if search.threads == 1 { "".to_owned() } else { format!(" on {} threads", search.threads) };
        outln!("  {} searches game {game}, ply {ply}: {} nodes{threads}", search.elector, search.nodes);
    }
}

fn as_json(cluster: &ClusterSettings, survey: &Survey) -> Value {
    let worker = |WorkerAnswer { worker, heartbeat, lag }: &WorkerAnswer| {
        let search = |search: &SearchStatus| {
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
            "state": state(heartbeat.state),
            "cores": heartbeat.cores,
            "busy": busy(heartbeat),
            "knodes_per_second_and_core": heartbeat.speed,
            "lag_ms": lag.as_secs_f64() * 1000.0,
            "engines": heartbeat.engines,
            "searches": heartbeat.searches.iter().map(search).collect::<Vec<_>>(),
        })
    };
    json!({
        "server": cluster.nats,
        "version": ProcessIdentity::new("status").version.to_string(),
        "workers": survey.workers.iter().map(worker).collect::<Vec<_>>(),
        "not_used": survey.refused.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn state(state: WorkerState) -> &'static str {
    match state {
        WorkerState::Lending => "lending",
        WorkerState::Draining => "draining",
        WorkerState::Gone => "gone",
    }
}

/// How many of its cores search at this moment.
fn busy(heartbeat: &Heartbeat) -> usize {
    heartbeat.searches.iter().map(|search| usize::from(search.threads)).sum()
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
