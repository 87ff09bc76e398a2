//! `concilio ctl`: the status of a running daemon, and commands to it.

mod channel;
mod status;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use serde_json::Value;

use super::{Failure, settings_args::SettingsArgs};
use bot::session::ControlCommand;
use channel::Channel;
use domain::{ChatRoom, GameId, ServerName, TimeControl, Tournament, Variant};
use util::{Secret, SecretError, outln, printable, printable_json};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio ctl status
  concilio ctl challenge maia1 3+2 --games 2 --rated
  concilio ctl pause --account lichess
  concilio ctl reload                            the same as kill -HUP
  concilio ctl --address http://127.0.0.1:8080 --secret-file secret status

The daemon is found by its socket, which lies beside the journal of the settings, also where something else in them is wrong; who
may open that file needs no secret. CONCILIO__WEB__SOCKET names another place for it, to the daemon and to this command. With
--address the secret is that of the page: its file, else CONCILIO_WEB_SECRET.")]
pub(super) struct CtlCommand {
    #[command(flatten)]
    settings: SettingsArgs,
    /// The daemon's socket, instead of the one that the settings name
    #[arg(long, value_name = "FILE", conflicts_with = "address")]
    socket: Option<PathBuf>,
    /// The page's address, for a daemon on another machine
    #[arg(long, value_name = "URL")]
    address: Option<String>,
    /// The file that holds the page's secret
    #[arg(long, value_name = "FILE", requires = "address")]
    secret_file: Option<PathBuf>,
    #[command(subcommand)]
    order: Order,
}

#[derive(Debug, Subcommand)]
enum Order {
    /// Say what is going on: accounts, games, the last lines of the log
    Status {
        /// As JSON, with everything that the page shows
        #[arg(long)]
        json: bool,
    },
    /// Take and make no challenges until resume, also after a restart; running games go on
    Pause(AccountArg),
    /// Take and make challenges again
    Resume(AccountArg),
    /// Finish the running games, take no new ones, and end
    Drain,
    /// Read the settings again
    Reload,
    /// Challenge a player
    Challenge {
        /// Name of the player
        name: String,
        /// Minutes and seconds a move, such as 3+2; 10s+1 counts in seconds; or days a move, such as 3d
        #[arg(value_parser = TimeControl::from_minutes, value_name = "TIME")]
        time_control: TimeControl,
        /// Number of games, one after the other
        #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
        games: u32,
        /// For ratings
        #[arg(long)]
        rated: bool,
        /// The colour of the bot
        #[arg(long, default_value = "random", value_parser = ["white", "black", "random"])]
        color: String,
        /// The rules, by Lichess's name
        #[arg(long, default_value_t = Variant::Standard, value_name = "NAME")]
        variant: Variant,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Withdraw the bot's pending challenge, and drop the queued ones
    Cancel(AccountArg),
    /// Block a player, also after a restart
    Block {
        /// Name of the player
        name: String,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Take part in a tournament
    Join {
        /// The address of its page, or its name; on FICS its number
        tournament: Tournament,
        /// The team to play for, where teams play each other
        #[arg(long)]
        team: Option<String>,
        /// The file whose first line is the password, where one is asked for
        #[arg(long = "password-file", value_name = "FILE", value_parser = password_in)]
        password: Option<Secret>,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Take part in a tournament no more
    Leave {
        /// Tournament to leave, if several were joined
        tournament: Option<Tournament>,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Give a game up
    Resign(GameArg),
    /// Offer a draw, or take the one that is offered
    Draw(GameArg),
    /// Say something in a game
    Chat {
        #[command(flatten)]
        game: GameArg,
        /// Text of the message
        #[arg(required = true, num_args = 1..)]
        text: Vec<String>,
        /// Say it to those who watch
        #[arg(long)]
        spectators: bool,
    },
}

#[derive(Debug, Args)]
struct AccountArg {
    /// On this account alone, by its name in the settings
    #[arg(long, value_name = "NAME")]
    account: Option<ServerName>,
}

#[derive(Debug, Args)]
struct GameArg {
    /// The game, by its name on the server
    game: GameId,
    #[command(flatten)]
    account: AccountArg,
}

/// Returns the reasons why the daemon behind this socket gives workers no searches, by worker.
/// Empty without a daemon or an answer.
pub(super) async fn unused_workers(socket: &Path) -> BTreeMap<String, String> {
    let Ok(channel) = Channel::to_socket(socket) else { return BTreeMap::new() };
    let Ok(text) = channel.get("/api/machines").await else { return BTreeMap::new() };
    let machines: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    machines.iter().filter_map(|machine| Some((text(&machine["name"])?, text(&machine["closed"])?))).collect()
}

impl CtlCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let channel = match self.address {
            Some(address) => Channel::to_page(&address, self.secret_file.as_deref())?,
            None => {
                let (socket, problems) = match self.socket {
                    Some(socket) => (socket, None),
                    None => self.settings.control_socket(),
                };
                if let Some(problems) = problems {
                    eprintln!("{problems}\ntrying the daemon at {}", socket.display());
                }
                Channel::to_socket(&socket)?
            }
        };
        let as_json = matches!(self.order, Order::Status { json: true });
        match self.order.into_command() {
            Some(command) => outln!("{}", printable(&channel.perform(&command).await?)),
            None if as_json => outln!("{}", printable_json(channel.get("/api/status").await?.trim_end())),
            None => {
                for line in status::lines(&channel.get("/api/status").await?)? {
                    outln!("{}", printable(&line));
                }
            }
        }
        Ok(())
    }
}

fn password_in(file: &str) -> Result<Secret, SecretError> {
    Secret::read("password of the tournament", Path::new(file))
}

impl Order {
    fn into_command(self) -> Option<ControlCommand> {
        Some(match self {
            Self::Status { .. } => return None,
            Self::Pause(AccountArg { account }) => ControlCommand::Pause { account },
            Self::Resume(AccountArg { account }) => ControlCommand::Resume { account },
            Self::Drain => ControlCommand::Drain {},
            Self::Reload => ControlCommand::Reload {},
            Self::Challenge { name, time_control, games, rated, color, variant, account: AccountArg { account } } => {
                let color = color.parse().ok();
                ControlCommand::Challenge { name, time_control, games, rated, color, variant, account }
            }
            Self::Cancel(AccountArg { account }) => ControlCommand::Cancel { account },
            Self::Block { name, account: AccountArg { account } } => ControlCommand::Block { name, account },
            Self::Join { tournament, team, password, account: AccountArg { account } } => {
                let password = password.map(|password| password.reveal().to_owned());
                ControlCommand::Join { tournament, team, password, account }
            }
            Self::Leave { tournament, account: AccountArg { account } } => {
                ControlCommand::Leave { tournament, account }
            }
            Self::Resign(GameArg { game, account: AccountArg { account } }) => ControlCommand::Resign { game, account },
            Self::Draw(GameArg { game, account: AccountArg { account } }) => ControlCommand::Draw { game, account },
            Self::Chat { game: GameArg { game, account: AccountArg { account } }, text, spectators } => {
                let room = if spectators { ChatRoom::Spectator } else { ChatRoom::Player };
                ControlCommand::Chat { game, text: text.join(" "), room, account }
            }
        })
    }
}
