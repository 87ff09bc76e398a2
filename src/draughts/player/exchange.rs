//! Games against other programs by the DamExchange protocol, over TCP. [`draughts_core::exchange`] has
//! the dialogue; this module moves bytes and finds moves.

use std::{
    io,
    time::{Duration, Instant},
};

use bot::journal::Journal;
use domain::{Clock, Clocks, Limits, TimeControl};
use draughts_core::{
    board::{Board, Color, DraughtsError},
    exchange::{Acceptance, Frames, Happening, Message, Partner, PartnerPhase, Reason},
    game::{
        Game,
        pdn::{GameResult, PdnRecord},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, ToSocketAddrs},
    time::timeout,
};

use crate::player::{DraughtsPlayer, GameRecorder, Occasion, play_decided, record};

/// The silence allowed to the other program beyond its clock.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time of the other program for a move in a game without clocks.
const WITHOUT_CLOCK: Duration = Duration::from_secs(3600);

/// The time that the other program has to answer a request for a game.
const ANSWER: Duration = Duration::from_secs(30);

/// The silence allowed between games. Only one program is served at a time, and one that has
/// crashed may never send another byte.
const BETWEEN_GAMES: Duration = Duration::from_secs(600);

/// The reason why a game with another program breaks off.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    #[error("the other program: {0}")]
    Io(#[from] io::Error),
    #[error("the other program is gone")]
    Gone,
    #[error("the other program has been silent for {0:?}")]
    Silent(Duration),
    /// Its message has a wrong form or is out of turn, or its move is illegal.
    #[error(transparent)]
    Protocol(#[from] DraughtsError),
    #[error("the other program does not want this game ({0:?})")]
    Declined(Acceptance),
}

#[derive(Clone, Copy, Debug)]
pub struct ExchangeTerms {
    /// The colour of the program that is asked.
    pub follower: Color,
    /// The whole game's time of each side, minutes, 0 to 999; 0 for none.
    pub minutes: u16,
    /// The starting position; `None` is the usual one.
    pub start: Option<Board>,
}

#[derive(Clone, Debug)]
pub struct ExchangeGame {
    /// The moves, with the council's votes.
    pub sheet: PdnRecord,
    pub color: Color,
    /// The ending, as the program that ended it reports it; from this program's side.
    pub reason: Reason,
}

/// Waits for other programs and plays one game after another with the first to connect, until it
/// wants no more. `played` receives every game; a journal, if there is one, has each move before it
/// is sent.
pub async fn serve(
    listener: &TcpListener,
    player: &mut DraughtsPlayer,
    limits: &Limits,
    journal: Option<&Journal>,
    played: &mut (dyn FnMut(ExchangeGame) + Send),
) -> Result<(), ExchangeError> {
    let (stream, _) = listener.accept().await?;
    let mut dialogue = Dialogue::new(stream, false, journal)?;
    loop {
        match dialogue.hear(BETWEEN_GAMES).await {
            Ok(Happening::Asked) => {}
            Ok(_) => continue,
            // Between games the other program may simply close the connection.
            Err(ExchangeError::Gone) => return Ok(()),
            Err(error) => return Err(error),
        }
        let PartnerPhase::ToAnswer(request) = dialogue.partner.phase().clone() else { continue };
        let answer = dialogue.partner.answer(Acceptance::Accepted)?;
        dialogue.say(&answer).await?;
        played(dialogue.play(request.follower, request.minutes, player, limits).await?);
        // It wants no further game, or has not ended this one by the protocol.
        if *dialogue.partner.phase() != PartnerPhase::Idle {
            return Ok(());
        }
    }
}

/// Asks another program for one game and plays it.
pub async fn connect(
    address: impl ToSocketAddrs,
    terms: ExchangeTerms,
    player: &mut DraughtsPlayer,
    limits: &Limits,
    journal: Option<&Journal>,
) -> Result<ExchangeGame, ExchangeError> {
    let mut dialogue = Dialogue::new(TcpStream::connect(address).await?, true, journal)?;
    let request = dialogue.partner.ask(terms.follower, terms.minutes, terms.start)?;
    dialogue.say(&request).await?;
    loop {
        match dialogue.hear(ANSWER).await? {
            Happening::Begun => break,
            Happening::Declined(acceptance) => return Err(ExchangeError::Declined(acceptance)),
            _ => {}
        }
    }
    dialogue.play(!terms.follower, terms.minutes, player, limits).await
}

struct Dialogue<'a> {
    stream: TcpStream,
    journal: Option<&'a Journal>,
    frames: Frames,
    partner: Partner,
}

impl<'a> Dialogue<'a> {
    fn new(stream: TcpStream, initiator: bool, journal: Option<&'a Journal>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, journal, frames: Frames::default(), partner: Partner::new("concilio", initiator) })
    }

    async fn say(&mut self, message: &Message) -> Result<(), ExchangeError> {
        Ok(self.stream.write_all(&Frames::bytes(message)).await?)
    }

    /// Returns the next happening, after sending the answer that it needs at once.
    async fn hear(&mut self, patience: Duration) -> Result<Happening, ExchangeError> {
        let message = timeout(patience, self.message()).await.map_err(|_| ExchangeError::Silent(patience))??;
        let (happening, answer) = self.partner.receive(message)?;
        if let Some(answer) = answer {
            self.say(&answer).await?;
        }
        if let Happening::Said(words) = &happening {
            tracing::info!(words = %util::printable(words), "the other program says");
        }
        Ok(happening)
    }

    async fn message(&mut self) -> Result<Message, ExchangeError> {
        loop {
            if let Some(message) = self.frames.next_message() {
                return Ok(message?);
            }
            let mut bytes = [0; 512];
            match self.stream.read(&mut bytes).await? {
                0 => return Err(ExchangeError::Gone),
                count => self.frames.push(&bytes[..count]),
            }
        }
    }

    /// Plays the game that has begun, to its end and its confirmation. One that is broken off has its end in the journal.
    async fn play(
        &mut self,
        color: Color,
        minutes: u16,
        player: &mut DraughtsPlayer,
        limits: &Limits,
    ) -> Result<ExchangeGame, ExchangeError> {
        player.new_game();
        let name = match self.partner.other() {
            "" => "the other program".to_owned(),
            name => util::printable(name).into_owned(),
        };
        let [white, black] = if color == Color::White { ["concilio", &name] } else { [name.as_str(), "concilio"] };
        let mut sheet =
            PdnRecord::between(white, black, Game::new(*self.partner.game().start(), self.partner.game().rules()));
        let (initial, increment) = (Duration::from_secs(60 * u64::from(minutes)), Duration::ZERO);
        let clock = if minutes == 0 { TimeControl::Unlimited } else { TimeControl::RealTime { initial, increment } };
        let occasion = Occasion { place: "damexchange", players: [white, black], ours: color, clock };
        let recorder = GameRecorder::start(self.journal, &occasion, &sheet.game);
        let played = self.moves(&mut sheet, &recorder, (color, clock), player, limits).await;
        let reason = match (played, sheet.game.outcome()) {
            (Ok(reason), _) => reason,
            // A game over on the board is over, whether the other program confirms it or not.
            (Err(error), Some(outcome)) => {
                tracing::info!(%error, "the end of a game was not confirmed");
                Reason::of(outcome, color)
            }
            (Err(error), None) => {
                recorder.over(&sheet.game, GameResult::Unknown).await;
                return Err(error);
            }
        };
        recorder.over(&sheet.game, result(reason, color)).await;
        Ok(ExchangeGame { sheet, color, reason })
    }

    /// Moves to and fro until one of them ends the game, and why it does, from our side.
    async fn moves(
        &mut self,
        sheet: &mut PdnRecord,
        recorder: &GameRecorder,
        (color, control): (Color, TimeControl),
        player: &mut DraughtsPlayer,
        limits: &Limits,
    ) -> Result<Reason, ExchangeError> {
        let (ours, theirs) = (record::color(color), record::color(!color));
        let mut clocks = match control {
            TimeControl::RealTime { initial, increment } => Some(Clocks::both(Clock { remaining: initial, increment })),
            _ => None,
        };
        loop {
            if let Some(reason) = self.partner.reason_to_end() {
                let end = self.partner.end(reason)?;
                self.say(&end).await?;
                while self.hear(PATIENCE).await? != Happening::EndConfirmed {}
                return Ok(reason);
            }
            let started = Instant::now();
            if self.partner.is_to_move() {
                let game = self.partner.game().clone();
                let decided = match clocks {
                    Some(clocks) => player.decide_by_clock(&game, clocks, control, &mut |_| {}).await,
                    None => player.decide(&game, limits, &mut |_| {}).await,
                };
                // There is a legal move: otherwise the game would have ended.
                let Some(decision) = decided else { return Err(ExchangeError::Gone) };
                ran(&mut clocks, ours, started.elapsed());
                recorder.decided(&game, &decision).await;
                let message = self.partner.play(decision.best, started.elapsed())?;
                let _ = play_decided(sheet, &decision);
                self.say(&message).await?;
                continue;
            }
            let left = clocks.map_or(WITHOUT_CLOCK, |clocks| clocks.of(theirs).remaining);
            let happening = self.hear(left + PATIENCE).await?;
            // The other one's clock has run, whether it has moved or talked meanwhile.
            ran(&mut clocks, theirs, started.elapsed());
            match happening {
                Happening::Moved(mv) => {
                    let _ = sheet.game.play(mv);
                }
                Happening::Ended { reason, .. } => return Ok(from_the_other_side(reason)),
                _ => {}
            }
        }
    }
}

/// Takes `time` off a side's clock, if there are clocks.
fn ran(clocks: &mut Option<Clocks>, color: domain::Color, time: Duration) {
    if let Some(clocks) = clocks {
        let clock = clocks.of_mut(color);
        clock.remaining = clock.remaining.saturating_sub(time);
    }
}

/// The result, by the reason that the player of this colour gives.
fn result(reason: Reason, color: Color) -> GameResult {
    match reason {
        Reason::Won => GameResult::Won(color),
        Reason::Lost => GameResult::Won(!color),
        Reason::Drawn => GameResult::Drawn,
        Reason::Unknown => GameResult::Unknown,
    }
}

impl ExchangeGame {
    pub fn result(&self) -> GameResult {
        result(self.reason, self.color)
    }
}

/// The reason that the other one gives, from our side.
fn from_the_other_side(reason: Reason) -> Reason {
    match reason {
        Reason::Lost => Reason::Won,
        Reason::Won => Reason::Lost,
        Reason::Unknown | Reason::Drawn => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bot::journal::{Archive, Filter, JournalSettings};
    use council::electors::Pool;
    use draughts_core::game::{Outcome, ballots};

    fn player(text: &str) -> DraughtsPlayer {
        DraughtsPlayer::new(&text.parse().expect("a player"), &Pool::new(1))
    }

    const QUICK: Limits = Limits { nodes: Some(300), time: None, depth: None, clocks: None };

    async fn listening() -> (TcpListener, std::net::SocketAddr) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        (listener, address)
    }

    #[tokio::test]
    async fn whole_game_over_a_socket() {
        let (listener, address) = listening().await;
        let follower = tokio::spawn(async move {
            let mut games = Vec::new();
            serve(&listener, &mut player("council"), &QUICK, None, &mut |game| games.push(game)).await.expect("a game");
            games
        });
        let start = ballots::draw(1, 27)[0];
        let terms = ExchangeTerms { follower: Color::Black, minutes: 0, start: Some(start) };
        let ours = connect(address, terms, &mut player("fully-guarded"), &QUICK, None).await.expect("a game");
        let theirs = follower.await.expect("no panic").remove(0);
        assert_eq!((ours.color, theirs.color), (Color::White, Color::Black));
        assert!(ours.sheet.text(GameResult::Unknown).contains("[Black \"concilio\"]"), "the other has said its name");
        assert_eq!(&ours.sheet.game, &theirs.sheet.game);
        assert_eq!(ours.reason, from_the_other_side(theirs.reason));
        let won = |color| ours.sheet.game.outcome() == Some(Outcome::Won(color));
        assert_eq!((ours.reason == Reason::Won, ours.reason == Reason::Lost), (won(Color::White), won(Color::Black)));
        assert!(theirs.sheet.text(GameResult::Unknown).contains("by re-search"), "the votes are in the record");
    }

    #[tokio::test]
    async fn a_game_with_clocks_keeps_to_them() {
        let (listener, address) = listening().await;
        let start: Board = "W:WK29,K30:B18".parse().expect("a position");
        let follower = tokio::spawn(async move {
            serve(&listener, &mut player("m"), &QUICK, None, &mut |_| {}).await.expect("a game");
        });
        let terms = ExchangeTerms { follower: Color::Black, minutes: 1, start: Some(start) };
        let game = connect(address, terms, &mut player("mpgsk"), &QUICK, None).await.expect("a game");
        assert!(game.sheet.game.outcome().is_some());
        follower.await.expect("no panic");
    }

    #[tokio::test]
    async fn invalid_message_ends_the_dialogue() {
        let (listener, address) = listening().await;
        let stranger = tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n\0").await.expect("written");
            stream
        });
        let error = serve(&listener, &mut player("m"), &QUICK, None, &mut |_| {}).await.expect_err("no game");
        assert!(error.to_string().contains("is no DamExchange message"), "{error}");
        drop(stranger.await);
    }

    #[tokio::test]
    async fn illegal_moves_are_reported() {
        let (listener, address) = listening().await;
        let stranger = tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            let request = format!("R01{:32}Z000000A\0M0000211700\0M0000211700\0", "cheat");
            stream.write_all(request.as_bytes()).await.expect("written");
            stream
        });
        let error = serve(&listener, &mut player("m"), &QUICK, None, &mut |_| {}).await.expect_err("no game");
        assert!(error.to_string().contains("is not legal here"), "{error}");
        drop(stranger.await);
    }

    /// Asks for a game from a position as Black, and closes the connection after `messages` messages.
    async fn hangs_up_after(messages: usize, start: &str, address: std::net::SocketAddr) {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let mut partner = Partner::new("brief", true);
        let request = partner.ask(Color::White, 0, Some(start.parse().expect("a position"))).expect("no game yet");
        stream.write_all(&Frames::bytes(&request)).await.expect("written");
        let mut ends = 0;
        while ends < messages {
            ends += usize::from(stream.read_u8().await.expect("a byte") == 0);
        }
    }

    #[tokio::test]
    async fn unconfirmed_result_is_kept() {
        let (listener, address) = listening().await;
        // It receives the acceptance, and the move that takes its last man.
        let stranger = tokio::spawn(hangs_up_after(2, "W:W22:B18", address));
        let mut games = Vec::new();
        let served = serve(&listener, &mut player("m"), &QUICK, None, &mut |game| games.push(game)).await;
        served.expect("the game is over");
        stranger.await.expect("no panic");
        assert_eq!((games.len(), games[0].reason, games[0].result()), (1, Reason::Won, GameResult::Won(Color::White)));
        assert!(games[0].sheet.text(GameResult::Unknown).contains("[Black \"brief\"]"));
    }

    #[tokio::test]
    async fn broken_game_ends_in_the_journal() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = JournalSettings::in_folder(folder.path());
        let journal = Journal::open(&settings).expect("a journal");
        let (listener, address) = listening().await;
        let stranger = tokio::spawn(hangs_up_after(2, "W:W22,29:B1,2", address));
        let error = serve(&listener, &mut player("m"), &QUICK, Some(&journal), &mut |_| {}).await;
        assert!(error.is_err(), "it has hung up");
        stranger.await.expect("no panic");
        let archive = Archive::open(&settings.path).expect("readable");
        let games = archive.games_of_all_kinds(&Filter::default()).expect("readable");
        let [record] = games.as_slice() else { panic!("{games:?}") };
        assert_eq!((record.status.name(), record.result, record.plies), ("aborted", None, 1));
        assert!(record.ended_at.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn silent_programs_give_way() {
        let (listener, address) = listening().await;
        let _silent = TcpStream::connect(address).await.expect("it listens");
        let error = serve(&listener, &mut player("m"), &QUICK, None, &mut |_| {}).await.expect_err("no game");
        assert!(matches!(error, ExchangeError::Silent(patience) if patience == BETWEEN_GAMES), "{error}");
    }
}
