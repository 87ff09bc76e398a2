//! `concilio draughts serve` and `connect`: games against other programs.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use tokio::net::TcpListener;

use super::{
    TablesFile,
    arguments::{PaceArguments, add, side},
    record::{self, JournalFile},
    start_from,
};
use crate::player::{DraughtsPlayer, ExchangeGame, ExchangeTerms, PlayerSpec, connect, serve};
use bot::journal::JournalSettings;
use council::electors::Pool;
use draughts_core::{
    board::{Board, Color},
    exchange::{PORT, Reason},
};
use util::{Failure, outln};

/// Player and files of our side.
#[derive(Debug, Args)]
struct OurSide {
    /// Player of this side
    #[arg(long, default_value = "council", value_name = "PLAYER")]
    player: PlayerSpec,
    #[command(flatten)]
    pace: PaceArguments,
    #[command(flatten)]
    tables: TablesFile,
    /// Add the games to this file, with the votes as comments
    #[arg(long, value_name = "FILE")]
    pdn: Option<PathBuf>,
    #[command(flatten)]
    journal: JournalFile,
}

impl OurSide {
    fn player(&self) -> Result<DraughtsPlayer, Failure> {
        let mut spec = self.player.clone();
        spec.kind.tables = self.tables.load()?;
        Ok(DraughtsPlayer::new(&spec, &Pool::new(0)))
    }

    fn keep(&self, game: &ExchangeGame) -> Result<(), Failure> {
        let word = match game.reason {
            Reason::Won => "won",
            Reason::Lost => "lost",
            Reason::Drawn => "drawn",
            Reason::Unknown => "ended",
        };
        outln!("{word} with {:?} after {} moves", game.color, game.sheet.game.moves().len());
        let Some(path) = &self.pdn else { return Ok(()) };
        add(path, &game.sheet.text(game.result()))
    }
}

/// Wait for other programs and play them, by the DamExchange protocol
#[derive(Debug, Args)]
#[command(
    after_help = "The other program connects and asks for games. Nothing protects the port: keep it on this machine, or in a network that
you trust. Ctrl-C ends."
)]
pub(super) struct ServeDraughts {
    /// Address to listen on
    #[arg(long, default_value_t = SocketAddr::from(([127, 0, 0, 1], PORT)), value_name = "ADDRESS")]
    listen: SocketAddr,
    #[command(flatten)]
    ours: OurSide,
}

impl ServeDraughts {
    pub(super) async fn run(self, usual: impl FnOnce() -> Result<JournalSettings, Failure>) -> Result<(), Failure> {
        let at = |error| Failure::failed(format_args!("--listen {}: {error}", self.listen));
        let listener = TcpListener::bind(self.listen).await.map_err(at)?;
        let mut player = self.ours.player()?;
        let limits = self.ours.pace.limits();
        let journal = self.ours.journal.open(usual)?;
        // A program that reads this line may connect at once, so everything else is ready before.
        outln!("waiting for other programs at {}", listener.local_addr()?);
        loop {
            let mut kept = Ok(());
            let mut keep = |game: ExchangeGame| {
                let written = self.ours.keep(&game);
                if kept.is_ok() {
                    kept = written;
                }
            };
            // One that does not keep to the protocol ends its own games, not our service.
            if let Err(error) = serve(&listener, &mut player, &limits, journal.as_ref(), &mut keep).await {
                tracing::warn!(%error, "the connection was closed");
            }
            kept?;
        }
    }
}

/// Play another program that waits, by the DamExchange protocol
#[derive(Debug, Args)]
pub(super) struct ConnectDraughts {
    /// Address of the other program, such as 127.0.0.1:27531
    #[arg(value_name = "ADDRESS")]
    address: String,
    /// Colour of this side
    #[arg(long, value_parser = side(), default_value = "white")]
    color: Color,
    /// Minutes of each side for a whole game; 0 for none, and then the moves of this side take what is said here
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=999))]
    minutes: u16,
    /// Start of games: a position, ballot, or ballot:NUMBER
    #[arg(long, value_name = "FEN", value_parser = start_from)]
    start: Option<Board>,
    #[command(flatten)]
    ours: OurSide,
}

impl ConnectDraughts {
    pub(super) async fn run(self, usual: impl FnOnce() -> Result<JournalSettings, Failure>) -> Result<(), Failure> {
        let mut player = self.ours.player()?;
        let terms = ExchangeTerms { follower: !self.color, minutes: self.minutes, start: self.start };
        let journal = self.ours.journal.open(usual)?;
        let limits = self.ours.pace.limits();
        let game = connect(&*self.address, terms, &mut player, &limits, journal.as_ref()).await;
        record::close(journal).await?;
        self.ours.keep(&game.map_err(|error| Failure::failed(format_args!("{}: {error}", self.address)))?)
    }
}
