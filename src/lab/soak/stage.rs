//! The stage of a soak: a practice server, partners, the daemon's process, and busy processes
//! beside it.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use tokio::{
    sync::{mpsc, watch},
    time::sleep,
};

use super::{SoakPlan, SoakProtocol};
use crate::own_process::OwnProcess;
use domain::{Color, GameId, GameTerms, TimeControl, UciMove, Variant};
use practice::{
    AccountId, ChallengeTerms, Dialect, FicsEndpoint, GameReport, GameView, PracticeError, PracticeServer,
    PracticeSettings, Sparring, SparringKind,
};
use util::Failure;

/// The account of a blocked player, who also proposes forbidden games.
const BLOCKED: &str = "Blocked";
const STRANGER: &str = "Stranger";
const PASSWORD: &str = "practice";
/// The partners' time for a move, so that faults and kills hit games in the middle.
const PARTNERS_TAKE: Duration = Duration::from_millis(100);
/// The daemon's time to end on request.
const ENDING: Duration = Duration::from_secs(120);
/// The interval of checks for its end.
const LOOK: Duration = Duration::from_millis(50);

/// An account of the daemon, and who challenges it.
#[derive(Clone, Debug)]
pub(super) struct SoakPlace {
    pub(super) bot: String,
    /// The name of that account's server in the daemon's settings and journal.
    pub(super) server: String,
    /// The account that challenges it.
    pub(super) partner: String,
}

impl SoakPlace {
    /// Returns true if the policy forbids a game of this account.
    pub(super) fn is_forbidden(&self, game: &GameReport) -> bool {
        game.terms.rated || game.terms.variant != Variant::Standard || game.color_of(&self.partner).is_none()
    }
}

pub(super) struct SoakStage {
    pub(super) server: Arc<PracticeServer>,
    /// The places for games, as many as are played at once.
    pub(super) places: Vec<SoakPlace>,
    token: String,
    program: PathBuf,
    folder: PathBuf,
    hold: watch::Sender<bool>,
    daemon: Option<OwnProcess>,
    /// Processes that search until they are dropped, or their input is closed.
    _load: Vec<(OwnProcess, Option<ChildStdin>)>,
}

impl SoakStage {
    /// Starts the server and the load, opens the accounts and writes the daemon's settings; the daemon does not run yet.
    pub(super) async fn set(plan: &SoakPlan, program: &Path, folder: &Path) -> Result<Self, Failure> {
        let fics =
            (plan.protocol == SoakProtocol::Fics).then(|| FicsEndpoint::at(SocketAddr::from(([127, 0, 0, 1], 0))));
        let settings = PracticeSettings {
            faults: plan.faults.clone(),
            seed: Some(plan.seed),
            // The record of every game is wanted at the end: those of the last round, too.
            keep_finished: plan.games + plan.places,
            fics,
            ..PracticeSettings::default()
        };
        let server = Arc::new(PracticeServer::start(settings).await?);
        let (hold, held) = watch::channel(false);
        let places: Vec<SoakPlace> = (0..plan.places).map(|number| place(plan.protocol, number)).collect();
        let partner = || Arc::new(SoakPartner { player: SparringKind::Greedy.player(), held: held.clone() });
        let mut token = String::new();
        let accounts = if plan.protocol == SoakProtocol::Lichess { 1 } else { places.len() };
        for place in &places[..accounts] {
            match plan.protocol {
                SoakProtocol::Lichess => {
                    token = server.add_account(&place.bot, true).await?;
                    // The daemon plays no more than a hundred games against bots a day there.
                    server.sparring_person(&place.partner, partner()).await?;
                }
                SoakProtocol::Fics => {
                    server.add_fics_account(&place.bot, true, PASSWORD).await?;
                    server.sparring_with(&place.partner, partner()).await?;
                }
            }
        }
        server.sparring_with(BLOCKED, partner()).await?;
        server.sparring_with(STRANGER, partner()).await?;
        let mut written = daemon_settings(plan, &server, &places[..accounts], folder);
        if plan.online {
            fs::write(folder.join("explorer.token"), &token).map_err(cannot_start)?;
            written.push_str(&online_settings(&server));
        }
        fs::write(folder.join("concilio.toml"), written).map_err(cannot_start)?;
        let load = (0..plan.load).map(|_| start_search(program)).collect::<Result<_, _>>().map_err(cannot_start)?;
        let (program, folder) = (program.to_owned(), folder.to_owned());
        Ok(Self { server, places, token, program, folder, hold, daemon: None, _load: load })
    }

    pub(super) fn bots(&self) -> Vec<AccountId> {
        let mut bots: Vec<AccountId> = self.places.iter().map(|place| AccountId::of(&place.bot)).collect();
        bots.dedup();
        bots
    }

    pub(super) fn ours(&self, game: &GameReport) -> Option<(&SoakPlace, Color)> {
        self.places.iter().find_map(|place| Some((place, game.color_of(&place.bot)?)))
    }

    pub(super) fn journal_path(&self) -> PathBuf {
        self.folder.join("journal.db")
    }

    pub(super) fn log_path(&self) -> PathBuf {
        self.folder.join("log")
    }

    pub(super) fn start_daemon(&mut self) -> Result<(), Failure> {
        let log = OpenOptions::new().create(true).append(true).open(self.log_path()).map_err(cannot_start)?;
        let mut command = Command::new(&self.program);
        command
            .args(["--log", "info", "run", "--config"])
            .arg(self.folder.join("concilio.toml"))
            .current_dir(&self.folder)
            .env("CONCILIO_LICHESS_TOKEN", &self.token)
            .env("CONCILIO_FICS_PASSWORD", PASSWORD)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        self.daemon = Some(OwnProcess::start_daemon(&mut command)?);
        Ok(())
    }

    pub(super) fn kill_daemon(&mut self) {
        self.daemon = None;
    }

    /// Ends the daemon (SIGTERM). `false` if it had to be killed.
    pub(super) async fn end_daemon(&mut self) -> bool {
        let Some(mut daemon) = self.daemon.take() else { return true };
        daemon.terminate();
        let ended = async {
            while daemon.is_running() {
                sleep(LOOK).await;
            }
        };
        tokio::time::timeout(ENDING, ended).await.is_ok()
    }

    pub(super) async fn wait_until_online(&self) -> Result<(), PracticeError> {
        for place in &self.places {
            self.server.wait_until_online(&place.bot).await?;
        }
        Ok(())
    }

    /// Resident memory of the daemon, KiB.
    pub(super) fn resident(&self) -> Option<u64> {
        self.daemon.as_ref().and_then(OwnProcess::resident)
    }

    pub(super) fn hold_partners(&self, hold: bool) {
        // The receivers live as long as the server, which lives as long as this stage.
        let _ = self.hold.send(hold);
    }

    /// Proposes a game that the policy forbids, another kind with each number. It may be refused by the server already.
    pub(super) async fn propose_forbidden(&self, place: &SoakPlace, number: usize) {
        let time_control = TimeControl::real_time(Duration::from_secs(60), Duration::from_secs(1));
        let terms = |variant, rated| ChallengeTerms::new(GameTerms { variant, time_control, rated });
        let (from, terms) = match number % 3 {
            0 => (BLOCKED, terms(Variant::Standard, false)),
            1 => (STRANGER, terms(Variant::Standard, true)),
            _ => (STRANGER, terms(Variant::Crazyhouse, false)),
        };
        let _ = self.server.challenge(from, &place.bot, terms).await;
    }
}

/// Sends the name of every challenge by one of these accounts, for as long as the server runs.
pub(super) async fn watch_challenges(
    server: Arc<PracticeServer>,
    accounts: Vec<AccountId>,
    made: mpsc::UnboundedSender<String>,
) -> Result<(), PracticeError> {
    server
        .wait(move |state| {
            for account in &accounts {
                let standing = state.challenges_of(account).into_iter();
                for challenge in standing.filter(|challenge| challenge.challenger.account == *account) {
                    // After the soak the counts are not needed any more.
                    let _ = made.send(challenge.id.to_string());
                }
            }
            None
        })
        .await
}

/// Lets the partner of a place challenge the daemon until a game begins; `color` is the partner's.
pub(super) async fn begin(
    server: &PracticeServer,
    place: &SoakPlace,
    time_control: TimeControl,
    color: Color,
) -> Result<GameId, PracticeError> {
    let terms = GameTerms { variant: Variant::Standard, time_control, rated: false };
    server.game_between(&place.partner, &place.bot, ChallengeTerms::new(terms).with_color(color)).await
}

/// Waits until a game has ended; where none that is adjourned goes on, until it is adjourned.
pub(super) async fn wait_until_over(
    server: &PracticeServer,
    game: &GameId,
    dialect: Dialect,
) -> Result<(), PracticeError> {
    let game = game.clone();
    server
        .wait(move |state| {
            let report = state.report(&game)?;
            (report.outcome.is_some() || report.is_adjourned && !dialect.resumes()).then_some(())
        })
        .await
}

fn place(protocol: SoakProtocol, number: usize) -> SoakPlace {
    match protocol {
        SoakProtocol::Lichess => {
            SoakPlace { bot: "Soaked".into(), server: "practice".into(), partner: "Partner".into() }
        }
        SoakProtocol::Fics => {
            // Names have letters only on FICS.
            let letters: String = format!("{number:02}").bytes().map(|digit| char::from(b'A' + digit - b'0')).collect();
            SoakPlace {
                bot: format!("Soaked{letters}"),
                server: format!("fics-{number}"),
                partner: format!("Partner{letters}"),
            }
        }
    }
}

/// The daemon's settings: casual games of standard chess on all places, moves by nodes, so that a game takes seconds.
fn daemon_settings(plan: &SoakPlan, server: &PracticeServer, accounts: &[SoakPlace], folder: &Path) -> String {
    let mut text = format!(
        "[challenge]
concurrency = {places}
max_games_per_opponent = {places}
max_waiting = 100
modes = ['casual']
variants = ['standard']
block = ['{BLOCKED}']
[player.council]
roster = 'mp ma'
hash = 1
[player.limits]
nodes = {nodes}
[player.draw]
offer = false
accept = false
[player.abort]
bot = 3600
human = 3600
[journal]
path = '{journal}'
pgn_directory = '{pgn}'
",
        places = plan.places,
        // Services are given some time to answer.
        nodes = if plan.online { 50_000 } else { 2000 },
        journal = folder.join("journal.db").display(),
        pgn = folder.join("pgn").display(),
    );
    for place in accounts {
        text.push_str(&match server.fics_address() {
            None => format!("[servers.{}]\nurl = '{}'\n", place.server, server.url()),
            Some(address) => format!(
                "[servers.{0}]\nprotocol = 'fics'\nurl = '{address}'\n[servers.{0}.fics]\nusername = '{1}'\n\
                 fallback_port = 0\nping_after = 5\nping_timeout = 5\nreconnect_max = 2\n",
                place.server, place.bot
            ),
        });
    }
    text
}

fn online_settings(server: &PracticeServer) -> String {
    let mut text = "[player.online]
sources = ['explorer', 'cloud', 'chessdb', 'tablebase']
token_file = 'explorer.token'
max_out_of_book = 1000
max_plies = 1000
[player.online.cloud]
min_depth = 1
"
    .to_owned();
    for source in ["explorer", "cloud", "chessdb", "tablebase"] {
        text.push_str(&format!(
            "[player.online.{source}.service]\nurl = '{}'\nmin_time = 0\npause = 0.0\n",
            server.url()
        ));
    }
    text
}

/// Returns the failure of a process or a file of the stage that could not be made.
fn cannot_start(error: io::Error) -> Failure {
    Failure::failed(format_args!("cannot start the daemon: {error}"))
}

fn start_search(program: &Path) -> io::Result<(OwnProcess, Option<ChildStdin>)> {
    let mut command = Command::new(program);
    command.args(["--log", "error", "uci", "--single"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut process = OwnProcess::start(&mut command)?;
    let mut input = process.input();
    if let Some(input) = &mut input {
        input.write_all(b"position startpos\ngo infinite\n")?;
    }
    Ok((process, input))
}

/// A partner that takes its time, and waits with its moves while it is held.
struct SoakPartner {
    player: Arc<dyn Sparring>,
    held: watch::Receiver<bool>,
}

#[async_trait]
impl Sparring for SoakPartner {
    async fn choose(&self, game: &GameView) -> Option<UciMove> {
        sleep(PARTNERS_TAKE).await;
        self.held.clone().wait_for(|held| !held).await.ok()?;
        self.player.choose(game).await
    }
}
