//! The task that owns the connection: it connects, logs in, sets up, plays, and begins again when the connection is lost.
//!
//! It reads the socket, the requests of the house and the clock, and hands all of it to [`Login`], [`SetUp`] and
//! [`Player`], which decide. It never waits for whoever reads its events, because timeseal's pings do not wait either.

use std::{collections::HashMap, io, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    codec::Frame,
    link::Link,
    login::{Credentials, Login, LoginError, Step},
    message::{Message, Speaker},
    player::{Answer, Effect, Player, Ticket},
    settings::{FicsSettings, Timeseal},
    setup::SetUp,
};
use chess::{Action, ActionError, Backoff, GameId, ServerEvent, timeseal::Version};

/// The port on which freechess.org understands timeseal.
const TIMESEAL_PORT: u16 = 5000;

/// How long the server may take to answer one command of the set-up, and how long once it has shown no prompt after one.
const SETUP_PATIENCE: Duration = Duration::from_secs(2);
const SETUP_HURRY: Duration = Duration::from_millis(200);

/// A connection that has stood so long is a good one.
const SETTLED: Duration = Duration::from_secs(60);

/// Servers throw out whoever says nothing for an hour.
const SAY_SOMETHING: Duration = Duration::from_secs(50 * 60);

/// A command that every server answers and that does nothing.
const SIGN_OF_LIFE: &str = "date";

/// So many messages that come during the set-up are kept for afterwards.
const MOST_EARLY: usize = 500;

type Outcome = Result<Answer, ActionError>;

/// What the house asks of the actor.
pub(super) enum Request {
    Act(Action, oneshot::Sender<Outcome>),
    LookFor(String, oneshot::Sender<Outcome>),
    Resync(GameId),
    SetOpen(bool),
}

/// Why a connection is over.
enum Ending {
    /// We are told to stop.
    Stopped,
    /// To be tried again.
    Lost(String),
    /// Not to be tried again.
    Final(String),
    /// The server does not speak this version of timeseal.
    NotSealed,
}

impl From<io::Error> for Ending {
    fn from(error: io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

/// How far a connection has come.
enum Phase {
    Login(Login),
    SetUp { us: Speaker, setup: Box<SetUp>, sent: Instant, patience: Duration, early: Vec<Message> },
    Playing { since: Instant },
}

pub(super) struct Actor {
    settings: FicsSettings,
    credentials: Credentials,
    player: Player,
    requests: mpsc::Receiver<Request>,
    events: mpsc::UnboundedSender<ServerEvent>,
    tickets: HashMap<Ticket, oneshot::Sender<Outcome>>,
    serial: u64,
    /// How timeseal is spoken next time.
    seal: Option<Version>,
    /// Set once the usual port could not be reached.
    use_fallback: bool,
    backoff: Backoff,
    cancel: CancellationToken,
}

impl Actor {
    pub(super) fn new(
        settings: FicsSettings,
        credentials: Credentials,
        requests: mpsc::Receiver<Request>,
        events: mpsc::UnboundedSender<ServerEvent>,
        cancel: CancellationToken,
    ) -> Self {
        let seal = match settings.timeseal {
            Timeseal::Auto if settings.port == TIMESEAL_PORT => Some(Version::Two),
            Timeseal::Auto | Timeseal::Off => None,
            Timeseal::V1 => Some(Version::One),
            Timeseal::V2 => Some(Version::Two),
        };
        let run = jiff::Timestamp::now().strftime("%Y%m%d%H%M%S").to_string();
        let longest = Duration::from_secs(settings.reconnect_max.max(1));
        Self {
            player: Player::new(settings.clone(), run),
            settings,
            credentials,
            requests,
            events,
            tickets: HashMap::new(),
            serial: 0,
            seal,
            use_fallback: false,
            // A game is adjourned while we are away, so the first attempt comes at once.
            backoff: Backoff::new(Duration::from_secs(1), longest).first_at_once(),
            cancel,
        }
    }

    /// Until we are told to stop, nobody listens any more, or the server will not have us.
    pub(super) async fn run(mut self) {
        loop {
            match self.connection().await {
                Ending::Stopped => return,
                Ending::NotSealed => continue,
                Ending::Final(reason) => {
                    self.player.disconnected(reason.clone());
                    self.apply_offline();
                    return self.tell(ServerEvent::Rejected { reason });
                }
                Ending::Lost(reason) => {
                    tracing::info!(reason, "FICS connection lost");
                    self.player.disconnected(reason);
                    self.apply_offline();
                }
            }
            let until = Instant::now() + self.backoff.next_delay();
            if !self.wait(until).await {
                return;
            }
        }
    }

    /// Waits without a connection; requests are answered. Whether to go on.
    async fn wait(&mut self, until: Instant) -> bool {
        loop {
            tokio::select! {
                () = self.cancel.cancelled() => return false,
                () = self.events.closed() => return false,
                () = sleep_until(until) => return true,
                request = self.requests.recv() => match request {
                    Some(request) => {
                        self.take(request);
                        self.apply_offline();
                    }
                    None => return false,
                },
            }
        }
    }

    /// One connection, from its first byte to its last.
    async fn connection(&mut self) -> Ending {
        let cancel = self.cancel.clone();
        let opened = tokio::select! {
            () = cancel.cancelled() => return Ending::Stopped,
            opened = self.open() => opened,
        };
        match opened {
            Ok(mut link) => {
                let ending = self.converse(&mut link).await.err().unwrap_or(Ending::Stopped);
                if matches!(ending, Ending::Stopped) && self.player.running().is_empty() {
                    // Within a game the server would take this for giving it up; so there we just go.
                    let _ = timeout(Duration::from_secs(1), link.send("quit")).await;
                }
                ending
            }
            Err(error) => Ending::Lost(format!("cannot connect to {}: {error}", self.settings.host)),
        }
    }

    async fn open(&mut self) -> io::Result<Link> {
        let (host, fallback) = (self.settings.host.clone(), self.settings.fallback_port);
        let patience = Duration::from_secs(self.settings.connect_timeout.max(1));
        if !self.use_fallback {
            match Link::open(&host, self.settings.port, self.seal, patience).await {
                Err(error) if fallback != 0 && fallback != self.settings.port => {
                    tracing::info!(%error, port = self.settings.port, fallback, "trying the other port");
                }
                opened => return opened,
            }
        }
        // Next time the usual port is tried first again.
        self.use_fallback = false;
        Link::open(&host, fallback, None, patience).await
    }

    /// Everything between the server and us, until it ends.
    async fn converse(&mut self, link: &mut Link) -> Result<(), Ending> {
        let mut phase = Phase::Login(Login::new(self.credentials.clone()));
        let mut asked_for_life: Option<Instant> = None;
        loop {
            let due = self.due(&phase, link, asked_for_life);
            tokio::select! {
                // The server's words come first: among them is the ping.
                biased;
                () = self.cancel.cancelled() => return Err(Ending::Stopped),
                () = self.events.closed() => return Err(Ending::Stopped),
                frame = link.frame() => {
                    asked_for_life = None;
                    let frame = match frame {
                        Ok(frame) => frame,
                        Err(error) if matches!(&phase, Phase::Login(login) if login.is_young()) && link.is_young() => {
                            return Err(self.unsealed_or(error.to_string()));
                        }
                        Err(error) => return Err(error.into()),
                    };
                    self.frame(frame, &mut phase, link).await?;
                }
                request = self.requests.recv() => match request {
                    Some(request) => self.take(request),
                    None => return Err(Ending::Stopped),
                },
                () = sleep_until(due) => self.time_passed(&mut phase, link, &mut asked_for_life).await?,
            }
            self.apply(link).await?;
        }
    }

    /// When we have to look at the clock next.
    fn due(&self, phase: &Phase, link: &Link, asked_for_life: Option<Instant>) -> Instant {
        let own = match phase {
            Phase::Login(_) => link.heard + self.login_timeout(),
            Phase::SetUp { sent, patience, .. } => *sent + *patience,
            Phase::Playing { .. } => match asked_for_life {
                Some(asked) => asked + Duration::from_secs(self.settings.ping_timeout),
                None => (link.heard + self.ping_after()).min(link.spoke + SAY_SOMETHING),
            },
        };
        self.player.wake_at().map_or(own, |wake| own.min(wake.into()))
    }

    fn login_timeout(&self) -> Duration {
        Duration::from_secs(self.settings.login_timeout.max(1))
    }

    fn ping_after(&self) -> Duration {
        Duration::from_secs(self.settings.ping_after.max(1))
    }

    async fn time_passed(
        &mut self,
        phase: &mut Phase,
        link: &mut Link,
        asked_for_life: &mut Option<Instant>,
    ) -> Result<(), Ending> {
        let now = Instant::now();
        self.player.tick(now.into_std());
        match phase {
            Phase::Login(_) if now >= link.heard + self.login_timeout() => {
                Err(Ending::Lost("the server is silent during the login".to_owned()))
            }
            Phase::SetUp { sent, patience, .. } if now >= *sent + *patience => {
                *patience = SETUP_HURRY;
                self.next_of_setup(phase, link).await
            }
            Phase::Playing { .. } => match asked_for_life {
                Some(asked) if now >= *asked + Duration::from_secs(self.settings.ping_timeout) => {
                    Err(Ending::Lost("the server gives no sign of life".to_owned()))
                }
                None if now >= link.heard + self.ping_after() => {
                    *asked_for_life = Some(now);
                    Ok(link.send(SIGN_OF_LIFE).await?)
                }
                None if now >= link.spoke + SAY_SOMETHING => Ok(link.send(SIGN_OF_LIFE).await?),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    async fn frame(&mut self, frame: Frame, phase: &mut Phase, link: &mut Link) -> Result<(), Ending> {
        match frame {
            Frame::Ping => Ok(link.pong().await?),
            Frame::Overlong => {
                self.fault("the server sent a line too long to be one".to_owned());
                Ok(())
            }
            Frame::Prompt => match phase {
                Phase::Login(login) => {
                    let step = login.on_prompt();
                    let is_in = matches!(step, Step::Done(_));
                    self.login_step(step, phase, link).await?;
                    // This prompt is the first one of the set-up.
                    if is_in { self.next_of_setup(phase, link).await } else { Ok(()) }
                }
                Phase::SetUp { patience, .. } => {
                    *patience = SETUP_PATIENCE;
                    self.next_of_setup(phase, link).await
                }
                Phase::Playing { .. } => Ok(()),
            },
            Frame::Line(line) => {
                tracing::trace!(line, "received");
                self.line(Message::read(line), phase, link).await
            }
        }
    }

    async fn line(&mut self, message: Message, phase: &mut Phase, link: &mut Link) -> Result<(), Ending> {
        if let Message::Shutdown(words) = &message {
            self.fault(format!("the server goes down: {words}"));
        }
        match phase {
            Phase::Login(login) => {
                let step = match login.on(&message) {
                    Ok(step) => step,
                    Err(LoginError::BadName { reason, .. }) if self.may_unseal() => {
                        return Err(self.unsealed_or(reason));
                    }
                    Err(error) if error.is_final() => return Err(Ending::Final(error.to_string())),
                    Err(error) => return Err(Ending::Lost(error.to_string())),
                };
                self.login_step(step, phase, link).await
            }
            Phase::SetUp { us, setup, early, .. } => {
                self.still_welcome(&message, &us.name)?;
                setup.on(&message);
                let is_ours = !matches!(message, Message::Noise | Message::Unknown(_) | Message::SettingRefused(_));
                if is_ours && early.len() < MOST_EARLY {
                    early.push(message);
                }
                Ok(())
            }
            Phase::Playing { since } => {
                self.still_welcome(&message, &self.credentials.name)?;
                self.player.on(message, Instant::now().into_std());
                // A server that throws us out at once is not to be hurried; one with which we play is.
                if !self.backoff.is_fresh() && (since.elapsed() >= SETTLED || !self.player.running().is_empty()) {
                    self.backoff.reset();
                }
                Ok(())
            }
        }
    }

    fn still_welcome(&self, message: &Message, name: &str) -> Result<(), Ending> {
        match LoginError::of(message, name) {
            Some(error) if error.is_final() => Err(Ending::Final(error.to_string())),
            Some(error) => Err(Ending::Lost(error.to_string())),
            None => Ok(()),
        }
    }

    async fn login_step(&mut self, step: Step, phase: &mut Phase, link: &mut Link) -> Result<(), Ending> {
        match step {
            Step::Wait => {}
            Step::Send(line) => link.send(&line).await?,
            Step::SendPassword(password) => link.send_password(&password).await?,
            Step::Done(us) => {
                tracing::info!(name = us.name, titles = us.titles.join(","), "logged in to {}", self.settings.host);
                let setup = Box::new(SetUp::new(&self.settings));
                let (sent, patience) = (Instant::now(), SETUP_PATIENCE);
                *phase = Phase::SetUp { us, setup, sent, patience, early: Vec::new() };
            }
        }
        Ok(())
    }

    /// Sends the next command of the set-up, or begins to play.
    async fn next_of_setup(&mut self, phase: &mut Phase, link: &mut Link) -> Result<(), Ending> {
        let Phase::SetUp { us, setup, sent, early, .. } = phase else { return Ok(()) };
        if let Some(command) = setup.next_command() {
            *sent = Instant::now();
            return Ok(link.send(&command).await?);
        }
        for shortcoming in setup.shortcomings() {
            tracing::warn!(shortcoming, "a setting did not take");
        }
        let now = Instant::now().into_std();
        self.player.connected(us.clone(), now);
        // A challenge that came before the server was told to number them stands in its sentence alone.
        for message in early.drain(..) {
            self.player.on(message, now);
        }
        if setup.tells_offers() {
            self.player.offers_are_numbered();
        }
        *phase = Phase::Playing { since: Instant::now() };
        Ok(())
    }

    /// Whether timeseal may be spoken in an older way, or not at all, next time.
    fn may_unseal(&self) -> bool {
        self.settings.timeseal == Timeseal::Auto && self.seal.is_some()
    }

    /// A connection that ends before anything was said may do so because the server does not know this kind of timeseal.
    fn unsealed_or(&mut self, reason: String) -> Ending {
        if !self.may_unseal() {
            return Ending::Lost(reason);
        }
        self.seal = match self.seal {
            Some(Version::Two) => Some(Version::One),
            _ => None,
        };
        self.fault(match self.seal {
            Some(_) => format!("the server does not take the newer timeseal ({reason}); trying the older one"),
            None => format!("the server takes no timeseal ({reason}); its delays will be charged to us"),
        });
        Ending::NotSealed
    }

    fn fault(&mut self, what: String) {
        tracing::warn!(what);
        self.tell(ServerEvent::Fault { game: None, what });
    }

    fn tell(&self, event: ServerEvent) {
        // Where nobody listens any more we are about to stop.
        let _ = self.events.send(event);
    }

    fn take(&mut self, request: Request) {
        let now = Instant::now().into_std();
        match request {
            Request::Act(action, reply) => {
                let ticket = self.ticket(reply);
                self.player.act(action, ticket, now);
            }
            Request::LookFor(name, reply) => {
                let ticket = self.ticket(reply);
                self.player.look_for(&name, ticket, now);
            }
            Request::Resync(game) => self.player.resync(&game, now),
            Request::SetOpen(open) => self.player.set_open(open),
        }
    }

    fn ticket(&mut self, reply: oneshot::Sender<Outcome>) -> Ticket {
        self.serial += 1;
        let ticket = Ticket(self.serial);
        self.tickets.insert(ticket, reply);
        ticket
    }

    /// Does what the player wants done.
    async fn apply(&mut self, link: &mut Link) -> Result<(), Ending> {
        for effect in self.player.effects() {
            if let Effect::Send(command) = effect {
                link.send(&command).await?;
            } else {
                self.note(effect);
            }
        }
        Ok(())
    }

    fn apply_offline(&mut self) {
        for effect in self.player.effects() {
            self.note(effect);
        }
    }

    fn note(&mut self, effect: Effect) {
        match effect {
            Effect::Event(event) => self.tell(event),
            Effect::Answer(ticket, answer) => {
                if let Some(reply) = self.tickets.remove(&ticket) {
                    // Whoever asked may have gone.
                    let _ = reply.send(answer);
                }
            }
            Effect::Send(_) => {}
        }
    }
}
