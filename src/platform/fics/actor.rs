//! The task that owns the connection: it connects, logs in, sets up, plays, and begins again when the connection is lost.
//!
//! It reads the socket, the requests of the rest of the program and the clock, and hands all of it
//! to [`Login`], [`SetUp`] and [`FicsSession`], which decide. It never waits for the reader of its
//! events, because timeseal's pings do not wait either: a reader that falls far behind loses the
//! talk of others first, and then the connection, after which all state is sent again.

use std::{
    collections::{HashMap, VecDeque},
    io,
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    check::older,
    codec::ServerFrame,
    link::TelnetLink,
    login::{Login, LoginError, LoginStep},
    message::{FicsMessage, Speaker},
    session::{FicsSession, RequestResult, SessionEffect},
    settings::{FicsSettings, Password},
    setup::SetUp,
};
use domain::{ActionError, ServerEvent};
use util::{Backoff, Supervisor, timeseal::Version};

/// Timeout for one command of the set-up, and after a command without a prompt.
const SETUP_PATIENCE: Duration = Duration::from_secs(2);
const SETUP_HURRY: Duration = Duration::from_millis(200);

/// Age at which a connection counts as good: after its end the backoff begins anew.
const SETTLED: Duration = Duration::from_secs(60);

/// Interval of signs of life: servers disconnect clients after an hour of silence.
const SAY_SOMETHING: Duration = Duration::from_secs(50 * 60);

/// Divisor of our clock for the time that a connection may be silent while our time runs, but not
/// so short that a slow server counts as dead: a new login takes some seconds as well.
const PART_OF_CLOCK: u32 = 6;
const SHORTEST_SILENCE: Duration = Duration::from_secs(5);

/// A command that every server answers and that does nothing.
const SIGN_OF_LIFE: &str = "date";

/// The most messages kept during the set-up; further ones are dropped.
const MOST_EARLY: usize = 500;

/// Free places in the queue of events below which talk is dropped: half of it.
const TALK_NEEDS: usize = super::QUEUE / 2;

/// Maximum pause after an attempt that failed on our side: no network, no address, no descriptor.
const LONGEST_LOCAL_PAUSE: Duration = Duration::from_secs(15);

/// Something to be done with the session, whether there is a connection or not.
pub(super) type FicsJob = Box<dyn FnOnce(&mut Actor, std::time::Instant) + Send>;

enum ConnectionEnd {
    Stopped,
    Lost(String),
    /// Not even made for want of a resource on our side; try again soon.
    Unreachable(String),
    Final(String),
    /// The server does not speak this version of timeseal.
    NotSealed,
}

impl From<io::Error> for ConnectionEnd {
    fn from(error: io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

impl From<LoginError> for ConnectionEnd {
    fn from(error: LoginError) -> Self {
        if error.is_final() { Self::Final(error.to_string()) } else { Self::Lost(error.to_string()) }
    }
}

/// One step of a connection that goes on, or its end.
type Step = Result<(), ConnectionEnd>;

enum Phase {
    Login(Login),
    SetUp { us: Speaker, setup: Box<SetUp>, sent: Instant, patience: Duration, early: Vec<FicsMessage> },
    Playing { since: Instant },
}

pub(super) struct Actor {
    settings: FicsSettings,
    password: Option<Password>,
    pub(super) session: FicsSession,
    requests: mpsc::Receiver<FicsJob>,
    events: mpsc::Sender<ServerEvent>,
    /// Events that did not fit into the queue. The connection ends as soon as there are any.
    untold: VecDeque<ServerEvent>,
    tickets: HashMap<u64, oneshot::Sender<RequestResult>>,
    serial: u64,
    /// Version of timeseal at the next attempt; every lost connection begins with the newest again,
    /// because a server that was going down may have made us give one up.
    seal: Option<Version>,
    spoken: Option<Version>,
    use_fallback: bool,
    backoff: Backoff,
    cancel: CancellationToken,
}

impl Actor {
    pub(super) fn new(
        settings: FicsSettings,
        password: Option<Password>,
        requests: mpsc::Receiver<FicsJob>,
        events: mpsc::Sender<ServerEvent>,
        cancel: CancellationToken,
    ) -> Self {
        let run = jiff::Timestamp::now().strftime("%Y%m%d%H%M%S").to_string();
        let longest = Duration::from_secs(settings.reconnect_max);
        Self {
            session: FicsSession::new(settings.clone(), run),
            seal: settings.first_seal(),
            spoken: None,
            settings,
            password,
            requests,
            events,
            untold: VecDeque::new(),
            tickets: HashMap::new(),
            serial: 0,
            use_fallback: false,
            // A game is adjourned while we are away, so the first attempt comes at once.
            backoff: Backoff::new(Duration::from_secs(1), longest).first_at_once(),
            cancel,
        }
    }

    /// Runs until cancelled, left by the receiver, or refused for good. Reconnects after a panic.
    pub(super) async fn run(mut self) {
        let mut supervisor = Supervisor::new("FICS link");
        while supervisor.attempt(self.serve()).await.is_none() {
            self.lost("the connection's task panicked".to_owned());
        }
    }

    async fn serve(&mut self) {
        loop {
            let mut longest = Duration::MAX;
            match self.connection().await {
                ConnectionEnd::Stopped => return,
                ConnectionEnd::NotSealed => continue,
                ConnectionEnd::Final(reason) => {
                    // It is told once, as the end that it is.
                    self.session.leave(&reason);
                    self.apply_offline();
                    return self.tell(ServerEvent::Rejected { reason });
                }
                ConnectionEnd::Lost(reason) => self.lost(reason),
                ConnectionEnd::Unreachable(reason) => {
                    self.lost(reason);
                    longest = LONGEST_LOCAL_PAUSE;
                }
            }
            let until = Instant::now() + self.backoff.next_delay().min(longest);
            if !self.wait(until).await {
                return;
            }
        }
    }

    fn lost(&mut self, reason: String) {
        self.seal = self.settings.first_seal();
        self.session.disconnected(reason);
        self.apply_offline();
    }

    /// Waits without a connection; requests are answered, and what could not be told is told. Whether to go on.
    async fn wait(&mut self, until: Instant) -> bool {
        loop {
            tokio::select! {
                () = self.cancel.cancelled() => return false,
                () = self.events.closed() => return false,
                Ok(room) = self.events.clone().reserve_owned(), if !self.untold.is_empty() => {
                    if let Some(event) = self.untold.pop_front() {
                        room.send(event);
                    }
                }
                () = sleep_until(until), if self.untold.is_empty() => return true,
                request = self.requests.recv() => match request {
                    Some(job) => {
                        job(self, Instant::now().into_std());
                        self.apply_offline();
                    }
                    None => return false,
                },
            }
        }
    }

    async fn connection(&mut self) -> ConnectionEnd {
        let cancel = self.cancel.clone();
        let opened = tokio::select! {
            () = cancel.cancelled() => return ConnectionEnd::Stopped,
            opened = self.open() => opened,
        };
        match opened {
            Ok(mut link) => {
                let ending = self.converse(&mut link).await.err().unwrap_or(ConnectionEnd::Stopped);
                if matches!(ending, ConnectionEnd::Stopped) && self.session.current_id().is_none() {
                    // Within a game the server would take this for giving it up; so there we just go.
                    let _ = timeout(Duration::from_secs(1), link.send("quit")).await;
                }
                ending
            }
            Err(error) => {
                let reason = format!("cannot connect to {}: {error}", self.settings.host);
                use io::ErrorKind::{ConnectionRefused, ConnectionReset, TimedOut};
                match error.kind() {
                    ConnectionRefused | ConnectionReset | TimedOut => ConnectionEnd::Lost(reason),
                    _ => ConnectionEnd::Unreachable(reason),
                }
            }
        }
    }

    async fn open(&mut self) -> io::Result<TelnetLink> {
        let (host, fallback) = (self.settings.host.clone(), self.settings.fallback_port);
        let patience = Duration::from_secs(self.settings.connect_timeout);
        if !self.use_fallback {
            self.spoken = self.seal;
            match TelnetLink::open(&host, self.settings.port, self.seal, patience).await {
                Err(error) if fallback != 0 && fallback != self.settings.port => {
                    let loss = if self.seal.is_some() {
                        ", without timeseal: network delays count on the bot's clock"
                    } else {
                        ""
                    };
                    tracing::warn!(
                        "port {} cannot be reached ({error}); trying port {fallback}{loss}",
                        self.settings.port
                    );
                }
                opened => return opened,
            }
        }
        // Next time the usual port is tried first again.
        self.use_fallback = false;
        self.spoken = None;
        TelnetLink::open(&host, fallback, None, patience).await
    }

    async fn converse(&mut self, link: &mut TelnetLink) -> Step {
        let mut phase = Phase::Login(Login::new(&self.settings.username, self.password.clone()));
        let mut asked_for_life: Option<Instant> = None;
        loop {
            let due = self.due(&phase, link, asked_for_life);
            let due = self.session.wake_at().map_or(due, |wake| due.min(wake.into()));
            tokio::select! {
                // The server's words come first: among them is the ping.
                biased;
                () = self.cancel.cancelled() => return Err(ConnectionEnd::Stopped),
                () = self.events.closed() => return Err(ConnectionEnd::Stopped),
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
                    Some(job) => job(self, Instant::now().into_std()),
                    None => return Err(ConnectionEnd::Stopped),
                },
                () = sleep_until(due) => self.time_passed(&mut phase, link, &mut asked_for_life).await?,
            }
            self.apply(link).await?;
            if !self.untold.is_empty() {
                return Err(ConnectionEnd::Lost("the queue of events is full".to_owned()));
            }
        }
    }

    /// Returns the time to act if the server says nothing more.
    fn due(&self, phase: &Phase, link: &TelnetLink, asked_for_life: Option<Instant>) -> Instant {
        match (phase, asked_for_life) {
            (Phase::Login(_), _) => link.heard + Duration::from_secs(self.settings.login_timeout),
            (Phase::SetUp { sent, patience, .. }, _) => *sent + *patience,
            (Phase::Playing { .. }, Some(asked)) => asked + self.as_our_clock_allows(self.settings.ping_timeout),
            (Phase::Playing { .. }, None) => self.silence_ends(link).min(link.spoke + SAY_SOMETHING),
        }
    }

    /// Returns the time to ask a silent server for a sign of life. It may be answering recent commands.
    fn silence_ends(&self, link: &TelnetLink) -> Instant {
        let after = self.as_our_clock_allows(self.settings.ping_after);
        (link.heard + after).max(link.spoke + after.min(SHORTEST_SILENCE))
    }

    /// Returns `usual` seconds, or less where our clock would suffer.
    fn as_our_clock_allows(&self, usual: u64) -> Duration {
        let usual = Duration::from_secs(usual);
        let clock = self.session.clock_at_risk();
        clock.map_or(usual, |left| usual.min((left / PART_OF_CLOCK).max(SHORTEST_SILENCE)))
    }

    async fn time_passed(&mut self, phase: &mut Phase, link: &mut TelnetLink, asked: &mut Option<Instant>) -> Step {
        let now = Instant::now();
        self.session.tick(now.into_std());
        if now < self.due(phase, link, *asked) {
            return Ok(());
        }
        match phase {
            Phase::Login(_) => Err(ConnectionEnd::Lost("the server is silent during the login".to_owned())),
            Phase::SetUp { patience, .. } => {
                *patience = SETUP_HURRY;
                self.next_of_setup(phase, link).await
            }
            Phase::Playing { .. } if asked.is_some() => {
                Err(ConnectionEnd::Lost("the server gives no sign of life".to_owned()))
            }
            Phase::Playing { .. } => {
                *asked = Some(now).filter(|_| now >= self.silence_ends(link));
                Ok(link.send(SIGN_OF_LIFE).await?)
            }
        }
    }

    async fn frame(&mut self, frame: ServerFrame, phase: &mut Phase, link: &mut TelnetLink) -> Step {
        match frame {
            ServerFrame::Ping => Ok(link.pong().await?),
            ServerFrame::Overlong => {
                self.fault("the server sent a line too long to be one".to_owned());
                Ok(())
            }
            ServerFrame::Prompt => match phase {
                Phase::Login(login) => {
                    let step = login.on_prompt();
                    let is_in = matches!(step, LoginStep::Done(_));
                    self.login_step(step, phase, link).await?;
                    // This prompt is the first one of the set-up.
                    if is_in { self.next_of_setup(phase, link).await } else { Ok(()) }
                }
                Phase::SetUp { patience, .. } => {
                    *patience = SETUP_PATIENCE;
                    self.next_of_setup(phase, link).await
                }
                Phase::Playing { .. } => {
                    self.session.prompted(Instant::now().into_std());
                    Ok(())
                }
            },
            ServerFrame::Line(line) => {
                tracing::trace!(line, "received");
                self.line(FicsMessage::read(line), phase, link).await
            }
        }
    }

    async fn line(&mut self, message: FicsMessage, phase: &mut Phase, link: &mut TelnetLink) -> Step {
        if let FicsMessage::Shutdown(words) = &message {
            self.fault(format!("the server goes down: {words}"));
        }
        match phase {
            Phase::Login(login) => match login.on(&message) {
                Ok(step) => self.login_step(step, phase, link).await,
                Err(error) if error.may_be_misheard() && self.may_unseal() => Err(self.unsealed_or(error.to_string())),
                Err(error) => Err(error.after_greeting(self.spoken).into()),
            },
            Phase::SetUp { us, setup, early, .. } => {
                self.still_welcome(&message, &us.name)?;
                setup.on(&message);
                let is_ours =
                    !matches!(message, FicsMessage::Noise | FicsMessage::Unknown(_) | FicsMessage::SettingRefused(_));
                if is_ours && early.len() < MOST_EARLY {
                    early.push(message);
                }
                Ok(())
            }
            Phase::Playing { since } => {
                self.still_welcome(&message, &self.settings.username)?;
                self.session.on(message, Instant::now().into_std());
                // A server that throws us out at once is not to be hurried; one with which we play is.
                if !self.backoff.is_fresh() && (since.elapsed() >= SETTLED || self.session.current_id().is_some()) {
                    self.backoff.reset();
                }
                Ok(())
            }
        }
    }

    fn still_welcome(&self, message: &FicsMessage, name: &str) -> Step {
        LoginError::of(message, name).map_or(Ok(()), |error| Err(error.into()))
    }

    async fn login_step(&mut self, step: LoginStep, phase: &mut Phase, link: &mut TelnetLink) -> Step {
        match step {
            LoginStep::Wait => {}
            LoginStep::Send(line) => link.send(&line).await?,
            LoginStep::SendPassword(password) => link.send_password(&password).await?,
            LoginStep::Done(us) => {
                tracing::debug!(name = us.name, titles = us.titles.join(","), "logged in to {}", self.settings.host);
                let setup = Box::new(SetUp::new(&self.settings));
                let (sent, patience) = (Instant::now(), SETUP_PATIENCE);
                *phase = Phase::SetUp { us, setup, sent, patience, early: Vec::new() };
            }
        }
        Ok(())
    }

    async fn next_of_setup(&mut self, phase: &mut Phase, link: &mut TelnetLink) -> Step {
        let Phase::SetUp { us, setup, sent, early, .. } = phase else { return Ok(()) };
        if let Some(command) = setup.next_command() {
            *sent = Instant::now();
            return Ok(link.send(&command).await?);
        }
        if let Some(shortcomings) = setup.shortcomings() {
            tracing::warn!("{} does not accept every setting: {shortcomings}", self.settings.host);
        }
        let now = Instant::now().into_std();
        self.session.connected(us.clone(), now);
        // A challenge that came before the server was told to number them stands in its sentence alone.
        for message in early.drain(..) {
            self.session.on(message, now);
        }
        if setup.tells_offers() {
            self.session.offers_are_numbered();
        }
        *phase = Phase::Playing { since: Instant::now() };
        Ok(())
    }

    fn may_unseal(&self) -> bool {
        self.settings.may_unseal(self.spoken)
    }

    /// A connection that ends before anything was said may do so because the server does not know this kind of timeseal.
    fn unsealed_or(&mut self, reason: String) -> ConnectionEnd {
        if !self.may_unseal() {
            let hint = match self.spoken {
                Some(_) => "; it may not speak the timeseal that the settings ask for (`timeseal`)",
                None => "",
            };
            return ConnectionEnd::Lost(format!("{reason}{hint}"));
        }
        self.seal = older(self.spoken);
        let host = &self.settings.host;
        match self.seal {
            Some(_) => tracing::info!("{host} does not accept the newer timeseal ({reason}); trying the older one"),
            None => {
                tracing::warn!("{host} does not accept timeseal ({reason}): network delays count on the bot's clock")
            }
        }
        ConnectionEnd::NotSealed
    }

    fn fault(&mut self, what: String) {
        self.tell(ServerEvent::Fault { game: None, what });
    }

    fn tell(&mut self, event: ServerEvent) {
        let is_talk = matches!(event, ServerEvent::Tell { .. } | ServerEvent::Chat(..));
        if is_talk && self.events.capacity() < TALK_NEEDS {
            return;
        }
        if !self.untold.is_empty() {
            return self.untold.push_back(event);
        }
        // The receiver is gone only shortly before the end.
        if let Err(mpsc::error::TrySendError::Full(event)) = self.events.try_send(event) {
            self.untold.push_back(event);
        }
    }

    pub(super) fn ticket(&mut self, reply: oneshot::Sender<RequestResult>) -> u64 {
        self.serial += 1;
        self.tickets.insert(self.serial, reply);
        self.serial
    }

    /// Carries out the session's effects. Requests get answers even if the connection breaks.
    async fn apply(&mut self, link: &mut TelnetLink) -> Step {
        let mut done: io::Result<()> = Ok(());
        for effect in self.session.effects() {
            match (&done, effect) {
                (Ok(()), SessionEffect::Send(command)) => done = link.send(&command).await,
                (Ok(()), SessionEffect::Nudge) => done = link.nudge().await,
                (Err(error), SessionEffect::Answer(ticket, Ok(_))) => {
                    let unsent = ActionError::Unavailable(format!("connection lost: {error}"));
                    self.note(SessionEffect::Answer(ticket, Err(unsent)));
                }
                (_, other) => self.note(other),
            }
        }
        Ok(done?)
    }

    fn apply_offline(&mut self) {
        self.session.effects().into_iter().for_each(|effect| self.note(effect));
    }

    fn note(&mut self, effect: SessionEffect) {
        match effect {
            SessionEffect::Event(event) => self.tell(event),
            SessionEffect::Answer(ticket, answer) => {
                if let Some(reply) = self.tickets.remove(&ticket) {
                    // The caller may be gone.
                    let _ = reply.send(answer);
                }
            }
            SessionEffect::Send(_) | SessionEffect::Nudge => {}
        }
    }
}
