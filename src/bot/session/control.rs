//! Commands of the operator to the running accounts.
//!
//! [`Control`] knows no account's state: it sends each account's task a command and waits for the
//! answer, so a command is one more event of an account. A holder of the handle may do everything
//! with the accounts; the channel of the commands checks the secret.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::{AccountPolicy, ChoosePlayer};
use domain::{
    ActionError, ChallengeRequest, ChatRoom, Color, GameId, ServerName, TimeControl, Tournament, TournamentEntry,
    Variant,
};
use util::{Secret, Shutdown};

/// A command of the operator's. As JSON: `{"command": "pause", "account": "lichess"}`.
///
/// Without `account`, and with several accounts, [`Pause`](Self::Pause), [`Resume`](Self::Resume), [`Cancel`](Self::Cancel),
/// [`Block`](Self::Block) and [`Leave`](Self::Leave) apply to all of them, and commands about a game to the account of that game;
/// the other commands need a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlCommand {
    /// Takes and makes no challenges until [`Resume`](Self::Resume); running games go on.
    Pause { account: Option<ServerName> },
    /// Accepts and makes challenges again.
    Resume { account: Option<ServerName> },
    /// Finishes the running games, takes no new ones, and ends the program.
    Drain {},
    /// Reads the settings again.
    Reload {},
    /// Challenges a player, once or several times.
    Challenge {
        name: String,
        /// Minutes and seconds, such as `3+2`, or days such as `3d`.
        #[serde(with = "in_minutes")]
        time_control: TimeControl,
        /// The number of games, one after another: 1 to 100.
        #[serde(default = "one")]
        games: u32,
        #[serde(default)]
        rated: bool,
        /// The bot's colour; random if absent.
        #[serde(default, with = "color_name")]
        color: Option<Color>,
        #[serde(default)]
        variant: Variant,
        account: Option<ServerName>,
    },
    /// Withdraws the pending challenge, and drops queued ones.
    Cancel { account: Option<ServerName> },
    /// Blocks a player, also after a restart.
    Block { name: String, account: Option<ServerName> },
    /// Joins a tournament by the address of its page, or its name, on FICS its number; for a team in a battle of teams.
    Join { tournament: Tournament, team: Option<String>, password: Option<String>, account: Option<ServerName> },
    /// Leaves a tournament; the joined one if absent.
    Leave { tournament: Option<Tournament>, account: Option<ServerName> },
    /// Resigns a game, or aborts it before the first move. Several accounts may have a game of this name.
    Resign { game: GameId, account: Option<ServerName> },
    /// Offers a draw, or accepts the opponent's offer.
    Draw { game: GameId, account: Option<ServerName> },
    /// Says something in a game.
    Chat {
        game: GameId,
        text: String,
        #[serde(default = "to_the_player")]
        room: ChatRoom,
        account: Option<ServerName>,
    },
}

const fn one() -> u32 {
    1
}

const fn to_the_player() -> ChatRoom {
    ChatRoom::Player
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    #[error("no account {name} is running; there is {known}")]
    UnknownAccount { name: ServerName, known: String },
    /// The command is for one account, and there are several.
    #[error("several accounts are running: name one of {known}")]
    WhichAccount { known: String },
    #[error("no account plays a game {0} now; `concilio ctl status` shows those that run")]
    NoGame(GameId),
    /// The command is impossible in the current state.
    #[error("{0}")]
    NotNow(String),
    #[error(transparent)]
    Server(#[from] ActionError),
    #[error("nothing changed: {0}")]
    Reload(String),
    /// The account ended before it answered.
    #[error("the account has stopped")]
    Stopped,
}

/// Reads the settings again and describes the result; the error is for the operator.
pub type Reload = Arc<dyn Fn() -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

#[derive(Clone)]
pub(super) enum AccountCommand {
    Pause(bool),
    /// A challenge and the number of its games; at least one.
    Challenge(ChallengeRequest, u32),
    Cancel,
    Block(String),
    Join(TournamentEntry),
    Leave(Option<Tournament>),
    InGame(GameId, GameCommand),
    Adopt(ChoosePlayer, Arc<AccountPolicy>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GameCommand {
    /// Resign, or abort before the first move.
    Resign,
    /// Offer a draw, or accept the opponent's offer.
    Draw,
    Chat(ChatRoom, String),
}

/// A command on its way to an account, with the receiver of the answer.
pub(super) type AccountRequest = (AccountCommand, ControlAnswer);

type RunningAccounts = BTreeMap<ServerName, mpsc::UnboundedSender<AccountRequest>>;

/// The receiver of a command's answer; it may be gone.
pub(super) type ControlAnswer = oneshot::Sender<Result<String, ControlError>>;

/// The handle over all running accounts. Cheap to clone; clones are the same handle.
#[derive(Clone, Default)]
pub struct Control {
    accounts: Arc<Mutex<RunningAccounts>>,
    reload: Arc<OnceLock<Reload>>,
    shutdown: Shutdown,
}

impl Control {
    /// Creates a handle for accounts that run until `shutdown`.
    pub fn new(shutdown: Shutdown) -> Self {
        Self { shutdown, ..Self::default() }
    }

    /// Sets the function for reading settings again, once.
    pub fn reloads_by(&self, reload: Reload) {
        let _ = self.reload.set(reload);
    }

    /// Executes a command, and describes the result in one sentence.
    pub async fn perform(&self, command: ControlCommand) -> Result<String, ControlError> {
        use ControlCommand as Command;
        let (account, command) = match command {
            Command::Drain {} => {
                self.shutdown.drain.cancel();
                return Ok("no new games; the program ends with the last running one".to_owned());
            }
            Command::Reload {} => {
                let Some(reload) = self.reload.get() else {
                    return Err(ControlError::Reload("these accounts have no settings to reload".to_owned()));
                };
                return reload().await.map_err(ControlError::Reload);
            }
            Command::Challenge { name, time_control, games, rated, color, variant, account } => {
                let terms = domain::GameTerms { variant, time_control, rated };
                let request = ChallengeRequest { opponent: name, terms, our_color: color, initial_fen: None };
                check_name(&request.opponent)?;
                if !(1..=MOST_GAMES).contains(&games) {
                    return Err(ControlError::NotNow(format!("{games} games: expected 1 to {MOST_GAMES}")));
                }
                (account, AccountCommand::Challenge(request, games))
            }
            Command::Join { tournament, team, password, account } => {
                let password = password.map(Secret::new);
                (account, AccountCommand::Join(TournamentEntry { tournament, team, password, pair_now: true }))
            }
            Command::Block { name, account } => {
                check_name(&name)?;
                (account, AccountCommand::Block(name))
            }
            Command::Pause { account } => (account, AccountCommand::Pause(true)),
            Command::Resume { account } => (account, AccountCommand::Pause(false)),
            Command::Cancel { account } => (account, AccountCommand::Cancel),
            Command::Leave { tournament, account } => (account, AccountCommand::Leave(tournament)),
            Command::Resign { game, account } => (account, AccountCommand::InGame(game, GameCommand::Resign)),
            Command::Draw { game, account } => (account, AccountCommand::InGame(game, GameCommand::Draw)),
            Command::Chat { game, text, room, account } => {
                (account, AccountCommand::InGame(game, GameCommand::Chat(room, text)))
            }
        };
        match command {
            AccountCommand::InGame(game, command) => self.for_game_account(account.as_ref(), game, command).await,
            AccountCommand::Challenge(..) | AccountCommand::Join(_) => self.one(account.as_ref(), command).await,
            _ => self.all(account.as_ref(), &command).await,
        }
    }

    /// Gives every account a new policy, from its next decision on, and a new choice of players, from its next game on.
    pub async fn adopt(&self, player: ChoosePlayer, policy: Arc<AccountPolicy>) {
        for account in self.running().values() {
            let _ = ask(account, AccountCommand::Adopt(Arc::clone(&player), Arc::clone(&policy))).await;
        }
    }

    pub fn accounts(&self) -> Vec<ServerName> {
        self.running().into_keys().collect()
    }

    /// Registers an account: its commands come here until the receiver is dropped.
    pub(super) fn register(&self, name: &ServerName) -> mpsc::UnboundedReceiver<AccountRequest> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.lock().insert(name.clone(), sender);
        receiver
    }

    fn running(&self) -> RunningAccounts {
        let mut accounts = self.lock();
        accounts.retain(|_, account| !account.is_closed());
        accounts.clone()
    }

    fn lock(&self) -> MutexGuard<'_, RunningAccounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn chosen(&self, name: Option<&ServerName>) -> Result<RunningAccounts, ControlError> {
        let mut running = self.running();
        if let Some(name) = name {
            let known = names_of(&running);
            running.retain(|running, _| running == name);
            if running.is_empty() {
                return Err(ControlError::UnknownAccount { name: name.clone(), known });
            }
        }
        Ok(running)
    }

    /// Asks all accounts, or the named one. A failure of one does not affect the others.
    async fn all(&self, name: Option<&ServerName>, command: &AccountCommand) -> Result<String, ControlError> {
        let mut said = Vec::new();
        let mut failed = None;
        for (name, account) in self.chosen(name)? {
            match ask(&account, command.clone()).await {
                Ok(done) => said.push(format!("{name}: {done}")),
                Err(error) => failed = Some(ControlError::NotNow(format!("{name}: {error}"))),
            }
        }
        if said.is_empty() {
            return Err(failed.unwrap_or_else(|| ControlError::NotNow("no account is running".to_owned())));
        }
        said.extend(failed.map(|error| error.to_string()));
        Ok(said.join("; "))
    }

    async fn one(&self, name: Option<&ServerName>, command: AccountCommand) -> Result<String, ControlError> {
        let chosen = self.chosen(name)?;
        if chosen.len() > 1 {
            return Err(ControlError::WhichAccount { known: names_of(&chosen) });
        }
        let only = chosen.first_key_value();
        let (name, account) = only.ok_or_else(|| ControlError::NotNow("no account is running".to_owned()))?;
        ask(account, command).await.map(|done| format!("{name}: {done}"))
    }

    async fn for_game_account(
        &self,
        name: Option<&ServerName>,
        game: GameId,
        command: GameCommand,
    ) -> Result<String, ControlError> {
        for (name, account) in self.chosen(name)? {
            match ask(&account, AccountCommand::InGame(game.clone(), command.clone())).await {
                Err(ControlError::NoGame(_) | ControlError::Stopped) => (),
                answer => return answer.map(|done| format!("{name}: {done}")),
            }
        }
        Err(ControlError::NoGame(game))
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Control").field(&self.accounts()).finish()
    }
}

fn names_of(accounts: &RunningAccounts) -> String {
    let names: Vec<&str> = accounts.keys().map(ServerName::as_str).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

const MOST_GAMES: u32 = 100;

/// Checks for a name of one word, as on every server.
fn check_name(name: &str) -> Result<(), ControlError> {
    if name.is_empty() || name.chars().any(char::is_whitespace) {
        return Err(ControlError::NotNow(format!("{name:?} is no valid name: expected one word, without a title")));
    }
    Ok(())
}

async fn ask(account: &mpsc::UnboundedSender<AccountRequest>, command: AccountCommand) -> Result<String, ControlError> {
    let (answer, answered) = oneshot::channel();
    account.send((command, answer)).map_err(|_| ControlError::Stopped)?;
    answered.await.map_err(|_| ControlError::Stopped)?
}

mod in_minutes {
    use domain::TimeControl;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(control: &TimeControl, serializer: S) -> Result<S::Ok, S::Error> {
        match control {
            TimeControl::Correspondence { .. } => serializer.collect_str(control),
            control => serializer.serialize_str(&control.in_minutes()),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TimeControl, D::Error> {
        let text = String::deserialize(deserializer)?;
        TimeControl::from_minutes(&text).map_err(D::Error::custom)
    }
}

mod color_name {
    use domain::Color;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(color: &Option<Color>, serializer: S) -> Result<S::Ok, S::Error> {
        color.map(|color| color.fold_wb("white", "black")).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Color>, D::Error> {
        match Option::<String>::deserialize(deserializer)?.as_deref() {
            None | Some("random") => Ok(None),
            Some("white") => Ok(Some(Color::White)),
            Some("black") => Ok(Some(Color::Black)),
            Some(other) => Err(D::Error::custom(format!("color {other:?}: expected white, black or random"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_plain_json() {
        for text in [
            r#"{"command":"pause","account":null}"#,
            r#"{"command":"drain"}"#,
            r#"{"command":"challenge","name":"maia1","time_control":"3+2","games":2,"rated":true,"color":"white","variant":"standard","account":"lichess"}"#,
            r#"{"command":"join","tournament":"swiss/abcd1234","team":null,"password":null,"account":null}"#,
            r#"{"command":"chat","game":"abcd1234","text":"hello","room":"spectator","account":null}"#,
        ] {
            let command: ControlCommand = serde_json::from_str(text).expect(text);
            assert_eq!(serde_json::to_string(&command).expect("JSON"), text);
        }
        let short = r#"{"command":"challenge","name":"maia1","time_control":"3+2"}"#;
        assert!(matches!(serde_json::from_str(short), Ok(ControlCommand::Challenge { games: 1, rated: false, .. })));
        for wrong in [
            r#"{"command":"explode"}"#,
            r#"{"command":"pause","acount":"lichess"}"#,
            r#"{"command":"challenge","name":"maia1","time_control":"fast"}"#,
            r#"{"command":"join","tournament":"../x"}"#,
        ] {
            assert!(serde_json::from_str::<ControlCommand>(wrong).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_name_is_one_word() {
        let control = Control::new(Shutdown::default());
        let _one = control.register(&"lichess".into());
        for name in ["", " ", "BOT maia1"] {
            for command in [
                format!(r#"{{"command":"block","name":"{name}"}}"#),
                format!(r#"{{"command":"challenge","name":"{name}","time_control":"3+2"}}"#),
            ] {
                let command = serde_json::from_str(&command).expect("a command");
                let error = control.perform(command).await.expect_err("invalid name").to_string();
                assert!(error.contains("is no valid name"), "{error}");
            }
        }
    }

    #[tokio::test]
    async fn unknown_account_lists_accounts() {
        let control = Control::new(Shutdown::default());
        let _one = control.register(&"lichess".into());
        let _two = control.register(&"fics".into());
        let pause = ControlCommand::Pause { account: Some("lichss".into()) };
        let error = control.perform(pause).await.expect_err("there is none of this name");
        assert_eq!(error.to_string(), "no account lichss is running; there is fics, lichess");
        let tournament = "abcd1234".parse().expect("a name");
        let join = ControlCommand::Join { tournament, team: None, password: None, account: None };
        let error = control.perform(join).await.expect_err("there are two");
        assert_eq!(error.to_string(), "several accounts are running: name one of fics, lichess");
    }
}
