//! One visitor, from the first prompt to the last: events of the server's state and the lobby, and
//! the visitor's commands.

mod boards;
mod challenges;

use std::{collections::BTreeSet, io, sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, Interval, MissedTickBehavior, interval},
};

use super::{
    FicsContext,
    lobby::{Notice, Rank, Visitor},
    offers::PendingOffers,
    telnet::TelnetConnection,
    text,
    variables::Variables,
};
use crate::{
    account::AccountId,
    dialect::Dialect,
    faults::LineFacts,
    game::Stop,
    state::{BoardEvent, GameView, ListenerKey, PracticeAccountEvent, ServerState, Subscription},
};
use domain::{DeclineReason, GameId};

const PROMPT: &str = "fics% ";
const NOISE_EVERY: Duration = Duration::from_millis(20);

/// A game that a visitor plays or watches.
pub(crate) struct JoinedBoard {
    pub id: GameId,
    pub number: u32,
    pub relation: text::ViewerRole,
    pub events: Subscription<BoardEvent>,
    pub view: Option<Arc<GameView>>,
}

pub(crate) struct Examination {
    pub view: Arc<GameView>,
    /// The number of plies on the board.
    pub ply: usize,
    pub number: u32,
    /// The name under which it has its number: a finished game has none of its own.
    pub id: GameId,
}

pub(crate) struct VisitorSession {
    pub(super) context: Arc<FicsContext>,
    pub(super) me: Visitor,
    pub(super) variables: Variables,
    pub(super) channels: BTreeSet<u16>,
    pub(super) offers: PendingOffers,
    pub(super) playing: Option<JoinedBoard>,
    pub(super) watching: Option<JoinedBoard>,
    pub(super) examining: Option<Examination>,
    /// The last game that was played, as it was when it began.
    pub(super) last_game: Option<Arc<GameView>>,
    pub(super) since: Instant,
    pub(super) telnet: TelnetConnection,
    pub(super) leaving: bool,
    number: u64,
    /// Queued output, in pieces that belong together, with the facts for faults.
    out: Vec<(String, LineFacts)>,
    /// True if a ping follows the queued output.
    ping: bool,
    pub(in crate::fics) noise: Option<Interval>,
    /// Noise made so far, in thousandths of a line.
    noise_made: u64,
}

impl VisitorSession {
    /// Creates a session before its greeting. It enters the lobby and ends an earlier session of
    /// the same name; returns its messages, and true if there was an earlier one.
    pub(crate) fn new(
        context: Arc<FicsContext>,
        me: Visitor,
        bits: Option<&str>,
        telnet: TelnetConnection,
    ) -> (Self, mpsc::UnboundedReceiver<Notice>, bool) {
        let (number, notices, displaced) = context.lobby.enter(&me);
        let noise = (context.noise > 0).then(|| {
            let mut ticks = interval(NOISE_EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            ticks
        });
        let session = Self {
            variables: Variables::new(bits, context.faults.plan().dialect),
            me,
            channels: BTreeSet::new(),
            offers: PendingOffers::default(),
            playing: None,
            watching: None,
            examining: None,
            last_game: None,
            since: Instant::now(),
            telnet,
            context,
            leaving: false,
            number,
            out: Vec::new(),
            ping: false,
            noise,
            noise_made: 0,
        };
        (session, notices, displaced)
    }

    /// Greets, and takes up what this account left behind.
    pub(in crate::fics) async fn enter(&mut self, displaced: bool) -> io::Result<Subscription<PracticeAccountEvent>> {
        let (me, key) = (self.me.id.clone(), self.key());
        let loss = self.loss_rule();
        let (mut events, adjourned, elsewhere) = self
            .ask(move |state| {
                state.play_one_at_a_time(&me);
                // An older connection that has not been noticed as lost is lost now.
                state.lose_connection(&me, loss);
                (state.listen(key), state.adjourned_of(&me), state.games_of(&me).len())
            })
            .await?;
        // Games still running are played on the other protocol.
        for _ in 0..elsewhere {
            events.next().await;
        }
        if displaced {
            self.line(format!("**** {} is already logged in - kicking them out. ****", self.me.name));
        }
        if self.dialect() != Dialect::Uhlin {
            self.line(format!("**** Starting FICS session as {} ****", self.me.titled()));
        }
        self.line("Nothing played here counts. Type \"help\" for what there is.\n");
        let mut online = Vec::new();
        for view in adjourned {
            let Some(opponent) = opponent_of(&view, &self.me.id) else { continue };
            self.notify(&opponent, "arrived");
            if self.is_here(&opponent).await? {
                online.push(self.shown_name(&opponent).await?);
            }
        }
        match online.as_slice() {
            [] => {}
            [one] => self.line(format!("1 player, who has an adjourned game with you, is online: {one}\x07")),
            many => self.line(format!(
                "{} players, who have an adjourned game with you, are online: {}\x07",
                many.len(),
                many.join(" ")
            )),
        }
        self.flush(false).await?;
        Ok(events)
    }

    /// Returns the effect of a lost connection on this visitor's games: guests' games are not kept, and a guest forfeits
    /// them.
    fn loss_rule(&self) -> impl Fn(&GameView) -> Option<Stop> + Send + use<> {
        let (lobby, me) = (self.context.lobby.clone(), self.me.clone());
        move |view| match opponent_of(view, &me.id) {
            _ if me.rank == Rank::Guest => None,
            Some(opponent) if lobby.is_guest(&opponent) => Some(Stop::Abort),
            _ => Some(Stop::Adjourn),
        }
    }

    /// Gives the place up, unless a newer session of the same account has it already.
    pub(in crate::fics) async fn leave(&mut self) {
        if let Some(game) = self.examining.take() {
            self.context.lobby.release_number(&game.id);
        }
        if !self.context.lobby.leave(&self.me.id, self.number) {
            return;
        }
        self.context.lobby.remove_seeks(&self.me.id, None);
        let (me, loss, lobby) = (self.me.id.clone(), self.loss_rule(), self.context.lobby.clone());
        let left = self.ask(move |state| {
            state.lose_connection(&me, loss);
            // Unless it is back already.
            if lobby.find(&me).is_none() {
                state.play_any_number(&me);
            }
            for challenge in state.challenges_of(&me) {
                let _ = match challenge.dest.account == me {
                    true => state.decline(&challenge.id, &me, DeclineReason::Later),
                    false => state.cancel(&challenge.id, &me),
                };
            }
            state.adjourned_of(&me)
        });
        for view in left.await.unwrap_or_default() {
            if let Some(opponent) = opponent_of(&view, &self.me.id) {
                self.notify(&opponent, "departed");
            }
        }
    }

    fn notify(&self, opponent: &AccountId, what: &str) {
        let text = format!("Notification: {}, who has an adjourned game with you, has {what}.", self.me.name);
        self.context.lobby.tell(opponent, Notice::Text(text));
    }

    // --- What comes in -------------------------------------------------------------------------------------------------

    pub(in crate::fics) async fn notice(&mut self, notice: Notice) -> io::Result<()> {
        match notice {
            Notice::Displaced => {
                self.line(format!("**** {} has arrived - you can't both be logged in. ****", self.me.name));
                self.leaving = true;
            }
            Notice::Text(text) => self.line(text),
            Notice::Talk(variable, text) if self.variables.is_on(variable) => self.line(text),
            Notice::Channel(channel, text) if self.channels.contains(&channel) => self.line(text),
            Notice::Kibitz(game, text) if self.variables.is_on("kibitz") && self.sits_at(&game) => self.line(text),
            Notice::Whisper(game, text)
                if self.variables.is_on("kibitz") && self.watching.as_ref().is_some_and(|board| board.id == game) =>
            {
                self.line(text);
            }
            Notice::Seek(seek) if self.variables.is_on("seek") && self.playing.is_none() => {
                let for_programs = self.variables.interface("seekinfo");
                self.line(if for_programs {
                    text::seek_for_programs(&seek)
                } else {
                    text::seek(&seek, &self.context.lobby)
                });
            }
            Notice::SeeksGone(gone) if self.variables.is_on("seek") && self.playing.is_none() => {
                let numbers = gone.iter().map(|index| format!(" {index}")).collect::<String>();
                let for_programs = self.variables.interface("seekremove");
                self.line(format!("{}{numbers}", if for_programs { "<sr>" } else { "Ads removed:" }));
            }
            _ => {}
        }
        Ok(())
    }

    fn sits_at(&self, game: &GameId) -> bool {
        [&self.playing, &self.watching].into_iter().flatten().any(|board| board.id == *game)
    }

    /// Sends other people's talk, as on a busy evening.
    pub(in crate::fics) async fn make_noise(&mut self) -> io::Result<()> {
        let made = self.noise_made / 1000;
        self.noise_made += u64::from(self.context.noise) * NOISE_EVERY.as_millis() as u64;
        let mut text = String::new();
        // A burst has what is due by now, which may be nothing.
        for number in made..self.noise_made / 1000 {
            let line = match number % 5 {
                0 => "Tweedledum shouts: who is for a game of five minutes?",
                1 => "Tweedledee(TM)(50): the next round begins in a quarter of an hour",
                2 => "Humpty(C) (1871) seeking 3 0 rated blitz (\"play 41\" to respond)",
                3 => "{Game 117 (Walrus vs. Carpenter) Creating rated blitz match.}",
                _ => "--> Dormouse falls asleep over his board",
            };
            text.push_str("\n\r");
            text.push_str(line);
            text.push_str("\n\r");
            text.push_str(PROMPT);
        }
        self.telnet.write(text.as_bytes()).await
    }

    // --- What goes out -------------------------------------------------------------------------------------------------

    /// Queues lines that belong together.
    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.out.push((text.into(), LineFacts::default()));
    }

    /// Queues lines that are all there is to say to a command.
    pub(super) fn answer(&mut self, text: impl Into<String>) -> io::Result<()> {
        self.line(text);
        Ok(())
    }

    /// Shows a board; `ask_time` where the client is to move and speaks timeseal.
    pub(super) fn board(&mut self, text: String, facts: LineFacts, ask_time: bool) {
        self.out.push((text, facts));
        self.ping |= ask_time;
    }

    /// Sends the queued output and the prompt. Unasked output begins on a line of its own.
    pub(in crate::fics) async fn flush(&mut self, unasked: bool) -> io::Result<()> {
        if unasked && self.out.is_empty() {
            return Ok(());
        }
        let width = (!self.variables.interface("nowrap")).then(|| self.variables.number("width") as usize);
        let offers_come_last = unasked && self.dialect() == Dialect::Fatics;
        let mut owes_prompt = !unasked;
        self.telnet.gather();
        for (text, facts) in std::mem::take(&mut self.out) {
            let is_after_prompt = offers_come_last && text.starts_with("<p");
            if is_after_prompt && owes_prompt {
                self.telnet.write(PROMPT.as_bytes()).await?;
            }
            owes_prompt = !is_after_prompt;
            let mut block = if unasked || facts.ply.is_some() { "\n".to_owned() } else { String::new() };
            match width {
                Some(width) => block.push_str(&text::wrap(&text, width, self.dialect() != Dialect::Uhlin)),
                None => block.push_str(&text),
            }
            block.push('\n');
            self.telnet.send(&block.replace('\n', "\n\r"), facts).await?;
        }
        if std::mem::take(&mut self.ping) {
            self.telnet.ping().await?;
        }
        if owes_prompt {
            self.telnet.write(PROMPT.as_bytes()).await?;
        }
        self.telnet.release().await
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.context.faults.plan().dialect
    }

    // --- Questions -----------------------------------------------------------------------------------------------------

    pub(super) fn ask<T, F>(&self, job: F) -> impl Future<Output = io::Result<T>> + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut ServerState) -> T + Send + 'static,
    {
        let server_state = self.context.server_state.clone();
        async move { server_state.ask(job).await.map_err(io::Error::other) }
    }

    pub(super) fn key(&self) -> ListenerKey {
        ListenerKey { account: self.me.id.clone(), client: format!("fics-{}", self.number) }
    }

    /// Returns true if a player is logged in, by either protocol.
    pub(super) async fn is_here(&self, account: &AccountId) -> io::Result<bool> {
        let wanted = account.clone();
        Ok(self.context.lobby.find(account).is_some() || self.ask(move |state| state.is_online(&wanted)).await?)
    }

    /// The number of a game. Those of games that run no more go to others.
    pub(super) async fn number_of(&self, game: &GameId) -> io::Result<u32> {
        self.release_numbers().await?;
        Ok(self.context.lobby.number_of(game))
    }

    pub(super) async fn release_numbers(&self) -> io::Result<()> {
        let lobby = self.context.lobby.clone();
        self.ask(move |state| lobby.release_numbers(|known| state.has_stopped(known))).await
    }

    pub(super) async fn shown_name(&self, account: &AccountId) -> io::Result<String> {
        let wanted = account.clone();
        let name = self.ask(move |state| state.account(&wanted).map(|account| account.name.clone())).await?;
        Ok(name.unwrap_or_else(|| account.to_string()))
    }
}

pub(crate) fn opponent_of(view: &GameView, me: &AccountId) -> Option<AccountId> {
    let color = view.pairing.color_of(me)?;
    Some(view.pairing.players.get(!color).account.clone())
}
