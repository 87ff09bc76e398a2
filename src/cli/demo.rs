//! `concilio demo`: the whole program on one machine. A practice server on loopback, the daemon connected to it through the
//! same adapter that talks to Lichess, and a sparring partner that challenges it.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use clap::Args;
use tokio::signal::ctrl_c;
use tokio_util::sync::CancellationToken;

use super::{Failure, view};
use crate::{
    chess::{TimeControl, Variant},
    council::{CouncilSettings, Roster},
    journal::{Journal, JournalSettings},
    policy::{ChallengeSettings, NameLists, challenge::Names},
    pool::Pool,
    practice::{self, ChallengeTerms, PracticeServer, SparringKind, faults::FaultPlan},
    server::{
        GameTerms,
        lichess::{self, LichessSettings, Token},
    },
    session::{self, Closing, Conduct, Connection, GameSettings, Herald, House},
};

/// The bot of the demo, and who spars with it.
const BOT: &str = "Concilio";
const SPARRING: &str = "Sparring";

/// Watch the whole program play against a practice server on this machine
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio demo                        one game of a minute and a second a move
  concilio demo --tc 10+0.1            a quick one
  concilio demo --games 8 --concurrency 4 --faults cut=3s,429=5%")]
pub(super) struct Demo {
    /// Seconds on each clock and seconds added with every move
    #[arg(long, default_value = "60+1", value_name = "TIME")]
    tc: TimeControl,
    /// How many games to play
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    games: u32,
    /// How many games to play at the same time
    #[arg(short = 'c', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    concurrency: u32,
    /// Who proposes: a roster such as balanced-7, or knowledge letters such as "mbxkcpar mp ma"
    #[arg(long, default_value = "balanced-7")]
    roster: String,
    /// What the practice server lets go wrong, such as cut=3s,delay=50ms,429=5%
    #[arg(long, default_value = "", value_name = "PLAN")]
    faults: FaultPlan,
    /// Where the journal and the games are written
    #[arg(long, default_value = "data/demo", value_name = "FOLDER")]
    data: PathBuf,
}

impl Demo {
    /// Plays the games and prints how they ended.
    pub(super) async fn run(self) -> Result<(), Failure> {
        let council = CouncilSettings { roster: self.roster.clone(), ..CouncilSettings::default() };
        let roster = Arc::new(Roster::from_settings(&council).map_err(Failure::usage)?);
        let server = practice::Settings { faults: self.faults.clone(), ..practice::Settings::default() };
        let server = PracticeServer::start_on(SocketAddr::from(([127, 0, 0, 1], 0)), server).await?;
        let token = server.add_account(BOT, true).await?;
        server.sparring(SPARRING, SparringKind::Engine { nodes: 20_000 }).await?;

        let journal_settings = JournalSettings {
            path: self.data.join("journal.db"),
            pgn_directory: self.data.join("pgn"),
            ..JournalSettings::default()
        };
        let journal = Journal::open(&journal_settings)?;
        let herald = Herald::new();
        let done = CancellationToken::new();
        let viewer = tokio::spawn(view::watch(herald.listen(), done.clone()));

        let closing = Closing::default();
        let house = self.house(journal, herald, council, roster);
        let settings = LichessSettings { url: server.url().parse()?, ..LichessSettings::default() };
        let token = Token::parse(&token, "the practice server")?;
        let (lichess, events) = lichess::connect(settings, token, closing.at_once.child_token())?;
        let connection = Connection { name: "practice".into(), server: Arc::new(lichess), events };
        let daemon = tokio::spawn(session::play(connection, house, closing.clone()));

        let played = tokio::select! {
            played = self.challenge_and_wait(&server) => played,
            _ = ctrl_c() => Err(Failure::usage("stopped; the journal holds what was played")),
        };
        closing.politely.cancel();
        let _ = daemon.await;
        done.cancel();
        let _ = viewer.await;
        self.report(&server, &journal_settings).await?;
        played
    }

    fn house(&self, journal: Journal, herald: Herald, council: CouncilSettings, roster: Arc<Roster>) -> House {
        let challenge = ChallengeSettings {
            concurrency: self.concurrency as usize,
            max_games_per_opponent: self.concurrency as usize,
            max_waiting: self.games as usize,
            ..ChallengeSettings::default()
        };
        // A friend is played on any terms.
        let lists = NameLists { friends: Names::parse(SPARRING), ..NameLists::default() };
        let variants = vec![Variant::Standard, Variant::Chess960, Variant::FromPosition];
        let settings = GameSettings::with(roster, council);
        House {
            journal,
            pool: Pool::new(0),
            herald,
            player: Arc::new(move |_| settings.clone()),
            conduct: Arc::new(Conduct { challenge, lists, variants, ..Conduct::default() }),
        }
    }

    /// Lets the sparring partner challenge for as many games as are wanted, and waits for the end of the last.
    async fn challenge_and_wait(&self, server: &PracticeServer) -> Result<(), Failure> {
        let terms = GameTerms { variant: Variant::Standard, time_control: self.tc, rated: false };
        for _ in 0..self.games {
            server.challenge(SPARRING, BOT, ChallengeTerms::new(terms)).await?;
        }
        server.wait_for_games(self.games as usize).await?;
        Ok(())
    }

    async fn report(&self, server: &PracticeServer, journal: &JournalSettings) -> Result<(), Failure> {
        println!();
        for game in server.games().await? {
            if let Some(outcome) = &game.outcome {
                println!("  {}  {}", game.id, outcome);
            }
        }
        println!("  games    {}", journal.pgn_directory.display());
        println!("  journal  {}  (look at it with: concilio games --journal {0})", journal.path.display());
        Ok(())
    }
}
