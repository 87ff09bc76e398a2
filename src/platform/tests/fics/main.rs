//! FICS and its relatives, as a user would see them.

extern crate concilio_platform as platform;

mod golden;
mod ics;
mod other;

use domain::{
    Action, ActionError, Challenge, ChallengeObstacle, ChallengeRequest, ChatRoom, Color, DeclineReason, Done, GameId,
    GameInfo, GameState, GameStatus, GameTerms, KnownGame, Player, ServerEvent, Variant,
};
use ics::{Board, Connection, Ics, PATIENCE};
use platform::{
    Server,
    fics::{self, FicsServer, FicsSettings, Password, Timeseal},
};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

macro_rules! told {
    ($client:ident, $event:pat => $found:expr) => {
        $client
            .until(|event| match event {
                $event => Some($found),
                _ => None,
            })
            .await
    };
}

struct Client {
    server: FicsServer,
    events: mpsc::Receiver<ServerEvent>,
    _stop: DropGuard,
}

impl Client {
    fn start(settings: FicsSettings) -> Self {
        Self::start_with(settings, Some(Password::new("sesame")))
    }

    fn start_with(settings: FicsSettings, password: Option<Password>) -> Self {
        let cancel = CancellationToken::new();
        let (server, events) = fics::connect(settings, password, cancel.clone());
        Self { server, events, _stop: cancel.drop_guard() }
    }

    async fn event(&mut self) -> ServerEvent {
        timeout(PATIENCE, self.events.recv()).await.expect("an event").expect("an adapter that runs")
    }

    async fn until<T>(&mut self, wanted: impl Fn(ServerEvent) -> Option<T>) -> T {
        loop {
            if let Some(found) = wanted(self.event().await) {
                return found;
            }
        }
    }

    async fn connected(&mut self) {
        told!(self, ServerEvent::Connected(_) => ());
    }

    async fn challenge(&mut self) -> Challenge {
        told!(self, ServerEvent::Challenge(challenge) => challenge)
    }

    async fn game(&mut self) -> (Box<GameInfo>, GameState) {
        told!(self, ServerEvent::Game(info, state) => (info, state))
    }

    async fn state(&mut self) -> GameState {
        told!(self, ServerEvent::GameState(_, state) => state)
    }

    async fn finished(&mut self) -> (GameId, Option<GameStatus>, Option<Color>) {
        told!(self, ServerEvent::GameFinished { id, status, winner, .. } => (id, status, winner))
    }

    /// Asks for something that waits for the server's word.
    fn ask(&self, action: Action) -> tokio::task::JoinHandle<Result<Done, ActionError>> {
        let server = self.server.clone();
        tokio::spawn(async move { server.perform(action).await })
    }

    async fn do_now(&self, action: Action) -> Result<Done, ActionError> {
        timeout(PATIENCE, self.server.perform(action)).await.expect("an answer")
    }

    fn play(&self, game: &GameId, uci: &str) -> tokio::task::JoinHandle<Result<Done, ActionError>> {
        let uci = uci.parse().expect("a move");
        self.ask(Action::Move { game: game.clone(), uci, offer_draw: false })
    }
}

async fn answer(request: tokio::task::JoinHandle<Result<Done, ActionError>>) -> Result<Done, ActionError> {
    timeout(PATIENCE, request).await.expect("an answer").expect("no panic")
}

/// A client of `Somebot`, and its first connection, on which nothing was said yet.
async fn connecting(change: impl FnOnce(&mut FicsSettings)) -> (Ics, Connection, Client) {
    let ics = Ics::start().await;
    let mut settings = ics.settings("Somebot");
    change(&mut settings);
    let client = Client::start(settings);
    let seat = ics.connection().await;
    (ics, seat, client)
}

async fn logged_in_with(change: impl FnOnce(&mut FicsSettings)) -> (Ics, Connection, Client) {
    let (ics, mut seat, mut client) = connecting(change).await;
    seat.log_in("Somebot").await;
    seat.set_up().await;
    client.connected().await;
    (ics, seat, client)
}

async fn logged_in() -> (Ics, Connection, Client) {
    logged_in_with(|_| {}).await
}

/// A casual challenge to Ann, with White for us.
fn challenge_to_ann(time_control: &str) -> ChallengeRequest {
    ChallengeRequest {
        opponent: "Ann".to_owned(),
        terms: GameTerms {
            variant: Variant::Standard,
            time_control: time_control.parse().expect("a time control"),
            rated: false,
        },
        our_color: Some(Color::White),
        initial_fen: None,
    }
}

/// Logged in, with a game in which we have `color` against Ann.
async fn in_a_game(color: Color) -> (Ics, Connection, Client, Board, GameId) {
    let (ics, mut seat, mut client) = logged_in().await;
    let (white, black) = color.fold_wb(("Somebot", "Ann"), ("Ann", "Somebot"));
    let board = Board::new(3, white, black);
    seat.announce(&board.start("Creating", color)).await;
    let (info, state) = client.game().await;
    assert_eq!((info.our_color, state.status), (color, GameStatus::Created));
    (ics, seat, client, board, info.id)
}

async fn opponent_plays(seat: &mut Connection, client: &mut Client, board: &mut Board, uci: &str, ours: Color) {
    board.play(uci);
    seat.announce(&board.style12(ours)).await;
    assert!(client.state().await.moves.ends_with(uci));
}

/// We play, the server shows it, and we are told; except of a mate, which the server tells in its own words.
async fn we_play(seat: &mut Connection, client: &mut Client, board: &mut Board, game: &GameId, uci: &str, ours: Color) {
    let move_made = client.play(game, uci);
    seat.expect(uci).await;
    board.play(uci);
    seat.announce(&board.style12(ours)).await;
    assert_eq!(answer(move_made).await, Ok(Done::Taken));
    if !board.line.legal_moves().is_empty() {
        assert!(client.state().await.moves.ends_with(uci));
    }
}

#[testkit::test]
async fn login_completes_set_up_first() {
    let (_ics, mut seat, mut client) = connecting(|settings| settings.notes.push("A bot of Ann's".to_owned())).await;
    seat.log_in("Somebot").await;
    let commands = seat.set_up().await;
    for command in ["set style 12", "iset ms 1", "iset pendinfo 1", "set 1 A bot of Ann's"] {
        assert!(commands.iter().any(|sent| sent == command), "{command}");
    }
    assert_eq!(commands[commands.len() - 2..], ["iset lock 1", "set open 1"]);
    let ServerEvent::Connected(account) = client.event().await else { panic!("connected") };
    assert_eq!((account.player.id.as_str(), account.player.is_bot()), ("somebot", true));
}

#[testkit::test]
async fn wrong_password_is_not_retried() {
    let (_ics, mut seat, mut client) = connecting(|_| {}).await;
    seat.say("login: ").await;
    seat.expect("Somebot").await;
    seat.say("password: ").await;
    seat.expect("sesame").await;
    seat.say("\n**** Invalid password! ****\n\nlogin: ").await;
    let ServerEvent::Rejected { reason } = client.event().await else { panic!("rejected") };
    assert!(reason.contains("wrong password for Somebot") && !reason.contains("sesame"), "{reason}");
    assert!(timeout(PATIENCE, client.events.recv()).await.expect("the end").is_none());
}

#[testkit::test]
async fn full_server_is_retried() {
    let (ics, mut seat, mut client) = connecting(|_| {}).await;
    seat.say("\nSorry, the server is full.  Please try again later.\n").await;
    drop(seat);
    let mut seat = ics.session("Somebot").await;
    client.connected().await;
    seat.announce("**** Somebot has arrived - you can't both be logged in. ****").await;
    let reason = told!(client, ServerEvent::Rejected { reason } => reason);
    assert!(reason.contains("replaced this one"), "{reason}");
}

/// Only what is known to be final ends the account; what it is, is told once.
#[testkit::test]
async fn unknown_login_refusal_is_retried() {
    let ics = Ics::start().await;
    let mut client = Client::start(ics.settings("Somebot"));
    for words in
        ["Sorry, the server has reached its limit for players logged on at once.", "The moon is wrong tonight."]
    {
        let mut seat = ics.connection().await;
        seat.say("login: ").await;
        seat.expect("Somebot").await;
        seat.say(&format!("\n{words}\nPlease come back later.\nlogin: ")).await;
    }
    let mut seat = ics.session("Somebot").await;
    client.connected().await;
    seat.announce("**** Somebot has arrived - you can't both be logged in. ****").await;
    // The client does not reconnect.
    let end = told!(client, event @ (ServerEvent::Rejected { .. } | ServerEvent::Disconnected { .. }) => event);
    assert!(matches!(end, ServerEvent::Rejected { .. }));
}

#[testkit::test]
async fn unknown_timeseal_is_named() {
    let (_ics, mut seat, mut client) = connecting(|settings| settings.timeseal = Timeseal::V1).await;
    seat.say("login: ").await;
    seat.say("\nSorry, names can only consist of lower and upper case letters.  Try again.\nlogin: ").await;
    let ServerEvent::Rejected { reason } = client.event().await else { panic!("rejected") };
    assert!(reason.contains("does not speak timeseal v1") && reason.contains("`timeseal`"), "{reason}");
}

#[testkit::test]
async fn accepted_challenge_ends_in_mate() {
    let (_ics, mut seat, mut client) = logged_in().await;

    let terms = "Ann (1600) [white] Somebot (1500) unrated blitz 5 2";
    seat.announce(&format!("Challenge: {terms}.\n--** Ann is a computer **--\nYou can \"accept\", \"decline\", or propose different parameters."))
        .await;
    seat.announce(&format!("<pf> 7 w=Ann t=match p={terms}")).await;
    let challenge = client.challenge().await;
    let opponent = challenge.opponent.clone().expect("an opponent");
    assert!(challenge.incoming && challenge.obstacle.is_none() && opponent.is_bot());
    assert_eq!(
        (opponent.rating, challenge.our_color, challenge.our_rating),
        (Some(1600), Some(Color::Black), Some(1500))
    );
    assert_eq!(challenge.terms.time_control.to_string(), "300+2");

    let accepted = client.ask(Action::Accept(challenge.id.clone()));
    seat.expect("accept 7").await;
    let mut board = Board::new(12, "Ann", "Somebot");
    seat.announce(&format!("<pr> 7\n\n{}", board.start("Creating", Color::Black))).await;
    assert_eq!(answer(accepted).await, Ok(Done::Taken));
    let (info, _) = client.game().await;
    assert_eq!(info.id, GameId::from(&challenge.id), "the game bears the challenge's name");
    assert_eq!((info.white.rating, info.terms.rated), (Some(1500), false));

    opponent_plays(&mut seat, &mut client, &mut board, "f2f3", Color::Black).await;
    we_play(&mut seat, &mut client, &mut board, &info.id, "e7e5", Color::Black).await;
    opponent_plays(&mut seat, &mut client, &mut board, "g2g4", Color::Black).await;
    we_play(&mut seat, &mut client, &mut board, &info.id, "d8h4", Color::Black).await;
    seat.announce(&board.end("Ann checkmated} 0-1")).await;
    assert_eq!(client.finished().await, (info.id, Some(GameStatus::Mate), Some(Color::Black)));
    let last = client.state().await;
    assert_eq!((last.moves.as_str(), last.status), ("f2f3 e7e5 g2g4 d8h4", GameStatus::Mate));
}

#[testkit::test]
async fn challenge_during_set_up_is_kept() {
    let (_ics, mut seat, mut client) = connecting(|_| {}).await;
    seat.log_in("Somebot").await;
    // The server does not number offers yet.
    let terms = "Ann (1600) [white] Somebot (1500) unrated blitz 5 2";
    let accept_or_decline = "You can \"accept\" or \"decline\", or propose different parameters.";
    seat.announce(&format!("Challenge: {terms}.\n{accept_or_decline}")).await;
    seat.set_up().await;
    let challenge = client.challenge().await;
    let accepted = client.ask(Action::Accept(challenge.id.clone()));
    seat.expect("accept ann").await;
    seat.announce(&Board::new(12, "Ann", "Somebot").start("Creating", Color::Black)).await;
    assert_eq!(answer(accepted).await, Ok(Done::Taken));
    let (info, _) = client.game().await;
    assert_eq!(info.id, GameId::from(&challenge.id));
}

#[testkit::test]
async fn challenge_may_vanish_in_any_way() {
    let (_ics, mut seat, mut client) = logged_in().await;

    seat.announce("<pf> 1 w=Ann t=match p=Ann (++++) Somebot (1500) unrated suicide 5 2").await;
    let challenge = client.challenge().await;
    assert_eq!(challenge.obstacle, Some(ChallengeObstacle::UnknownVariant("suicide".to_owned())));
    assert_eq!(challenge.opponent.and_then(|ann| ann.title).as_deref(), Some("U"));
    assert_eq!(client.do_now(Action::Decline(challenge.id, DeclineReason::Variant)).await, Ok(Done::Taken));
    seat.expect("decline 1").await;
    seat.expect("tell ann Sorry, I do not play this variant.").await;

    seat.announce("<pf> 2 w=Bob t=match p=Bob (1300) Somebot (1500) rated blitz 3 0").await;
    let challenge = client.challenge().await;
    let accepted = client.ask(Action::Accept(challenge.id.clone()));
    seat.expect("accept 2").await;
    seat.announce("Bob withdraws the match offer.\n\n<pr> 2").await;
    assert!(matches!(answer(accepted).await, Err(ActionError::NotFound(_))));
    assert_eq!(told!(client, ServerEvent::ChallengeCancelled(id) => id), challenge.id);

    // Some servers send nothing after an offer, not even the prompt.
    seat.say("\n<pf> 3 w=Cid t=match p=Cid (1300) Somebot (1500) rated blitz 3 0\n").await;
    assert_eq!(client.challenge().await.opponent.map(|cid| cid.name).as_deref(), Some("Cid"));
}

#[testkit::test]
async fn own_challenge_is_declined_then_played() {
    let (_ics, mut seat, mut client) = logged_in().await;
    let request = challenge_to_ann("300+2");
    let issued = "Issuing: Somebot (1500) [white] Ann (++++) unrated blitz 5 2.";
    let offer =
        |index: u32| format!("<pt> {index} w=Ann t=match p=Somebot (1500) [white] Ann (++++) unrated blitz 5 2");

    let asked = client.ask(Action::Challenge(request.clone()));
    seat.expect("match Ann 5 2 unrated white").await;
    seat.announce("Ann is not open to match requests.").await;
    assert!(matches!(answer(asked).await, Err(ActionError::Refused(why)) if why.contains("not open")));

    let asked = client.ask(Action::Challenge(request.clone()));
    seat.expect("match Ann 5 2 unrated white").await;
    seat.announce(&format!("{issued}\n\n{}", offer(4))).await;
    let Ok(Done::Challenged(first)) = answer(asked).await else { panic!("a challenge") };
    seat.announce("Ann declines your match offer.").await;
    assert_eq!(told!(client, ServerEvent::ChallengeDeclined { id, .. } => id), first);

    let asked = client.ask(Action::Challenge(request));
    seat.expect("match Ann 5 2 unrated white").await;
    seat.announce(&format!("{issued}\n\n{}", offer(5))).await;
    let Ok(Done::Challenged(second)) = answer(asked).await else { panic!("a challenge") };
    let board = Board::new(1, "Somebot", "Ann");
    seat.announce("Ann accepts your match offer.").await;
    seat.announce(&format!("<pr> 5\n\n{}", board.start("Creating", Color::White))).await;
    let (info, _) = client.game().await;
    assert_eq!(info.id, GameId::from(&second));
    let resigned = client.ask(Action::Resign(info.id.clone()));
    seat.expect("resign").await;
    seat.announce(&board.end("Somebot resigns} 0-1")).await;
    assert_eq!(answer(resigned).await, Ok(Done::Taken), "when the game has ended");
    assert_eq!(client.finished().await, (info.id, Some(GameStatus::Resign), Some(Color::Black)));
}

#[testkit::test]
async fn offers_are_told_and_answered() {
    let (_ics, mut seat, mut client, mut board, id) = in_a_game(Color::White).await;
    we_play(&mut seat, &mut client, &mut board, &id, "e2e4", Color::White).await;
    // A draw is offered by a sentence, and by number.
    seat.announce("Ann offers you a draw.").await;
    seat.announce("<pf> 3 w=Ann t=draw p=#").await;
    assert!(client.state().await.draw_offers.black);
    assert_eq!(client.do_now(Action::Draw(id.clone(), false)).await, Ok(Done::Taken));
    seat.expect("decline 3").await;
    seat.announce("<pr> 3").await;
    assert!(!client.state().await.draw_offers.black);

    opponent_plays(&mut seat, &mut client, &mut board, "e7e5", Color::White).await;
    seat.announce("Ann would like to take back 1 half move(s).").await;
    seat.announce("<pf> 4 w=Ann t=takeback p=1").await;
    assert!(client.state().await.takeback_offers.black);
    assert_eq!(client.do_now(Action::Takeback(id.clone(), true)).await, Ok(Done::Taken));
    seat.expect("accept 4").await;
    board.line.truncate(1);
    seat.announce(&board.style12(Color::White)).await;
    let (_, state) = client.game().await;
    assert_eq!((state.moves.as_str(), state.takeback_offers.black), ("e2e4", false));

    // Requests to abort are for the settings to decide.
    seat.announce("<pf> 5 w=Ann t=abort p=#").await;
    seat.expect("decline 5").await;

    opponent_plays(&mut seat, &mut client, &mut board, "c7c5", Color::White).await;
    let uci = "g1f3".parse().expect("a move");
    let offered = client.ask(Action::Move { game: id.clone(), uci, offer_draw: true });
    seat.expect("g1f3").await;
    board.play("g1f3");
    seat.announce(&board.style12(Color::White)).await;
    assert_eq!(answer(offered).await, Ok(Done::Taken));
    seat.expect("draw").await;
    seat.announce("Offering a draw to Ann.").await;
    seat.announce(&board.end("Game drawn by agreement} 1/2-1/2")).await;
    assert_eq!(client.finished().await, (id, Some(GameStatus::Draw), None));
}

#[testkit::test]
async fn refused_move_allows_a_resync() {
    let (_ics, mut seat, mut client, board, id) = in_a_game(Color::White).await;
    let refused = client.play(&id, "e2e4");
    seat.expect("e2e4").await;
    seat.announce("Illegal move (e2e4).").await;
    assert!(matches!(answer(refused).await, Err(ActionError::Refused(_))));
    client.server.resync(&id).await;
    seat.expect("refresh").await;
    seat.announce(&board.style12(Color::White)).await;
    assert_eq!(client.game().await.1.moves, "");
    // What is not legal on our own board is not even sent.
    assert!(matches!(answer(client.play(&id, "e2e5")).await, Err(ActionError::Refused(_))));
    let aborted = client.ask(Action::Abort(id.clone()));
    seat.expect("abort").await;
    seat.announce(&board.end("Game aborted on move 1} *")).await;
    assert_eq!(answer(aborted).await, Ok(Done::Taken), "when the game has ended");
    assert_eq!(client.finished().await, (id.clone(), Some(GameStatus::Aborted), None));
    assert!(matches!(answer(client.play(&id, "e2e4")).await, Err(ActionError::NotFound(_))));
    client.server.resync(&id).await;
    assert_eq!(told!(client, ServerEvent::GameGone(id) => id), id);
}

#[testkit::test]
async fn a_game_survives_a_cut_connection() {
    let (ics, mut seat, mut client, mut board, id) = in_a_game(Color::White).await;
    we_play(&mut seat, &mut client, &mut board, &id, "e2e4", Color::White).await;
    opponent_plays(&mut seat, &mut client, &mut board, "c7c5", Color::White).await;
    let lost = client.play(&id, "g1f3");
    seat.expect("g1f3").await;
    drop(seat);
    assert!(matches!(answer(lost).await, Err(ActionError::Unavailable(_))));
    told!(client, ServerEvent::Disconnected { .. } => ());

    // The server has adjourned it, and the opponent is there.
    let mut seat = ics.session("Somebot").await;
    client.connected().await;
    seat.say("Stored games for Somebot:\n    C Opponent       On Type          Str  M    ECO Date\n").await;
    seat.say(" 1: W Ann            Y [  u  5   2] 39-39 W2   B20 2026-11-20 21:10 UTC\nfics% ").await;
    seat.expect("resume Ann").await;
    seat.announce("Issuing: Somebot (1500) Ann (++++) unrated blitz 5 2 (adjourned).").await;
    board.number = 9;
    seat.announce(&board.start("Continuing", Color::White)).await;
    // We know how it stood.
    let (info, state) = client.game().await;
    assert_eq!((info.id.clone(), state.moves.as_str()), (id.clone(), "e2e4 c7c5"));
    we_play(&mut seat, &mut client, &mut board, &id, "g1f3", Color::White).await;
}

fn left_running() -> KnownGame {
    let info = GameInfo::from_start(
        "ann-old-7",
        challenge_to_ann("300+2").terms,
        Player::named("Somebot"),
        Player::named("Ann"),
    );
    KnownGame { info, shown: Vec::new(), decided: None, started: None, is_adjourned: false }
}

#[testkit::test]
async fn earlier_game_is_resumed() {
    let ics = Ics::start().await;
    let mut client = Client::start(ics.settings("Somebot"));
    client.server.remember(&[left_running()]).await;
    let mut seat = ics.session("Somebot").await;
    seat.say("1 player, who has an adjourned game with you, is online: Ann\x07\nfics% ").await;
    seat.expect("resume Ann").await;
    let mut board = Board::new(9, "Somebot", "Ann");
    for uci in ["e2e4", "c7c5", "g1f3"] {
        board.play(uci);
    }
    seat.announce(&board.start("Continuing", Color::White)).await;
    seat.expect("moves").await;
    seat.say(&board.moves()).await;
    let (info, state) = client.game().await;
    assert_eq!((info.id.as_str(), info.our_color), ("ann-old-7", Color::White));
    assert_eq!(state.moves, "e2e4 c7c5 g1f3");
}

#[testkit::test]
async fn missing_earlier_game_is_gone() {
    let (ics, seat, mut client, _board, id) = in_a_game(Color::Black).await;
    drop(seat);
    let mut seat = ics.session("Somebot").await;
    client.connected().await;
    seat.say("Somebot has no adjourned games.\nfics% ").await;
    seat.answers("history", "Somebot has no history games.").await;
    seat.answers("endoflists", "endoflists: Command not found.").await;
    assert_eq!(told!(client, ServerEvent::GameGone(id) => id), id);
}

#[testkit::test]
async fn missed_result_is_looked_up() {
    let (ics, mut seat, mut client) = logged_in().await;
    let first = "History for Somebot:\n 0: - 1500 W 1600 Ann   [ bu  5   2] C20 Res Fri Nov 20, 21:00 UTC 2026";
    seat.answers("history", first).await;
    seat.answers("endoflists", "endoflists: Command not found.").await;
    seat.announce(&Board::new(3, "Somebot", "Ann").start("Creating", Color::White)).await;
    let (info, _) = client.game().await;
    drop(seat);

    let mut seat = ics.session_after("Somebot", "refresh").await;
    seat.say("You are not playing, examining or observing a game.\nfics% ").await;
    seat.answers("stored", "0 stored games found.").await;
    let second = " 1: - 1490 W 1610 Ann   [ bu  5   2] C20 Dis Fri Nov 20, 21:10 UTC 2026";
    seat.answers("history", &format!("{first}\n{second}")).await;
    seat.answers("endoflists", "endoflists: Command not found.").await;
    assert_eq!(client.finished().await, (info.id, Some(GameStatus::Timeout), Some(Color::Black)));
}

#[testkit::test]
async fn minimal_server_resumes_games() {
    let (ics, seat, mut client, mut board, id) = in_a_game(Color::White).await;
    drop(seat);
    let mut seat = ics.session_after("Somebot", "refresh").await;
    let mut unknown = vec!["refresh".to_owned()];
    while unknown.last().is_some_and(|command| command != "match Ann 5 2 unrated") {
        let word = unknown.last().and_then(|command| command.split(' ').next()).unwrap_or_default().to_owned();
        seat.say(&format!("{word}: Command not found.\nfics% ")).await;
        unknown.push(seat.command().await);
    }
    for command in ["stored", "resume Ann"] {
        assert!(unknown.iter().any(|asked| asked == command), "{command} is not in {unknown:?}");
    }
    // It forgets to show the board as well.
    seat.announce("{Game 3 (Somebot vs. Ann) Continuing unrated blitz match.}").await;
    seat.expect("refresh").await;
    seat.announce(&board.style12(Color::White)).await;
    assert_eq!(client.game().await.0.id, id);
    we_play(&mut seat, &mut client, &mut board, &id, "e2e4", Color::White).await;
}

#[testkit::test]
async fn returning_opponent_resumes() {
    let (_ics, mut seat, mut client, mut board, id) = in_a_game(Color::Black).await;
    opponent_plays(&mut seat, &mut client, &mut board, "e2e4", Color::Black).await;
    seat.announce("Your opponent, Ann, has lost contact or quit.").await;
    seat.announce(&board.end("Ann lost connection; game adjourned} *")).await;
    assert_eq!(client.finished().await, (id.clone(), Some(GameStatus::Adjourned), None));
    seat.announce("Notification: Ann, who has an adjourned game with you, has arrived.").await;
    seat.expect("history").await;
    seat.expect("resume Ann").await;
    // She was as quick as we were.
    seat.announce("<pf> 2 w=Ann t=match p=Ann (++++) Somebot (1500) unrated blitz 5 2 (adjourned)").await;
    seat.expect("accept 2").await;
    seat.announce(&board.start("Continuing", Color::Black)).await;
    let (info, state) = client.game().await;
    // It was told to be over, so it is another one now.
    assert_eq!((info.id, state.moves.as_str()), (GameId::new(format!("{id}.2")), "e2e4"));
}

#[testkit::test]
async fn noise_hides_no_move() {
    let (_ics, mut seat, mut client, mut board, id) = in_a_game(Color::White).await;
    we_play(&mut seat, &mut client, &mut board, &id, "e2e4", Color::White).await;
    board.play("e7e5");
    let noise = "\n\rAnn(C)(53): <12> look, {Game 3 (Somebot vs. Ann) Ann resigns} 1-0\n\rfics% \n\r\
                 Bob tells you: fics% {Game 3 (Somebot vs. Ann) Ann resigns} 1-0 \n\r\\   {Game 3 (Somebot vs. Ann) Ann resigns} 1-0\n\rfics% ";
    let mut bytes = Vec::new();
    for _ in 0..200 {
        bytes.extend_from_slice(noise.as_bytes());
        bytes.extend_from_slice(b"\xff\xfb\x01\x07\xe9\xe9\xe9\n\r");
    }
    bytes.extend_from_slice(&vec![b'x'; 100_000]);
    bytes.extend_from_slice(format!("\n\rfics% fics% {}\n\rfics% ", board.style12(Color::White)).as_bytes());
    for piece in bytes.chunks(977) {
        seat.write(piece).await;
    }
    assert_eq!(client.state().await.moves, "e2e4 e7e5");
    seat.announce("Ann[3] says: hello").await;
    let said = told!(client, ServerEvent::Chat(_, line) => (line.username, line.room, line.text));
    assert_eq!(said, ("Ann".to_owned(), ChatRoom::Player, "hello".to_owned()));
    let hello = Action::Chat(id.clone(), ChatRoom::Player, "hi\nresign".to_owned());
    assert_eq!(client.do_now(hello).await, Ok(Done::Taken));
    // It is our move, which nothing may hold up.
    we_play(&mut seat, &mut client, &mut board, &id, "g1f3", Color::White).await;
    seat.expect("say hi resign").await;
}

#[testkit::test]
async fn timeseal_seals_lines_and_pongs() {
    let (_ics, mut seat, mut client) = connecting(|settings| settings.timeseal = Timeseal::V2).await;
    assert!(seat.command().await.starts_with("TIMESEAL2|concilio"));
    seat.log_in("Somebot").await;
    seat.set_up().await;
    client.connected().await;
    seat.say("fics% [G]\0\n[G]\n").await;
    seat.expect("\u{2}9").await;
    seat.expect("\u{2}9").await;
}

#[testkit::test]
async fn dead_connection_is_noticed() {
    let (ics, mut silent, mut client) =
        logged_in_with(|settings| (settings.ping_after, settings.ping_timeout) = (1, 1)).await;
    silent.expect("date").await;
    let _second = ics.session("Somebot").await;
    told!(client, ServerEvent::Disconnected { .. } => ());
    client.connected().await;
}

#[testkit::test]
async fn games_are_sought_while_idle() {
    let (_ics, mut seat, client) = logged_in_with(|settings| settings.seeks.push("5 0 rated".to_owned())).await;
    seat.expect("seek 5 0 rated m").await;
    client.server.open_to_new_games(false).await;
    seat.expect("unseek").await;
    seat.expect("set open 0").await;
}

/// Promise 7: the opponent's talk, or a stranger's, is not kept without bound for a reader who is busy.
#[testkit::test]
async fn flood_of_talk_is_dropped() {
    let (_ics, mut seat, mut client) = connecting(|settings| settings.timeseal = Timeseal::V2).await;
    assert!(seat.command().await.starts_with("TIMESEAL2|concilio"));
    seat.log_in("Somebot").await;
    seat.set_up().await;
    for number in 0..100 {
        let tells: Vec<String> = (0..50).map(|tell| format!("Ann tells you: {number} {tell}")).collect();
        seat.announce(&tells.join("\n")).await;
    }
    // No event was read so far, and the ping is answered all the same.
    seat.say("fics% [G]\0").await;
    seat.expect("\u{2}9").await;
    seat.announce("<pf> 7 w=Ann t=match p=Ann (1600) Somebot (1500) unrated blitz 5 2").await;
    let mut tells = 0;
    loop {
        match client.event().await {
            ServerEvent::Tell { .. } => tells += 1,
            ServerEvent::Challenge(_) => break,
            _ => {}
        }
    }
    assert!((1..=1024).contains(&tells), "{tells} of 5000 were kept");
}

#[testkit::test]
async fn account_check_precedes_play() {
    let ics = Ics::start().await;
    let settings = FicsSettings { seeks: vec!["5 0 rated".to_owned()], ..ics.settings("Somebot") };
    let check = tokio::spawn(async move { fics::account_check(&settings, Some(Password::new("sesame"))).await });
    // A guest looks whether the account is in use.
    let mut guest = ics.guest("GuestABCD").await;
    guest.expect("finger Somebot").await;
    guest.say("Finger of Somebot(C):\n\nLast disconnected: Fri Nov 20, 21:10 UTC 2026\n\nfics% ").await;
    let mut seat = ics.connection().await;
    seat.log_in("Somebot").await;
    let commands = seat.set_up_until("quit").await;
    assert!(!commands.contains(&"set open 1".to_owned()), "no player shall challenge us");
    let report = check.await.expect("no panic").expect("a report");
    assert_eq!((report.name.as_str(), report.titles.join(","), report.timeseal), ("Somebot", "C".to_owned(), None));
    assert_eq!(report.interface, ["ms", "nowrap", "pendinfo"]);
    assert!(report.obstacles().is_empty() && report.to_string().contains("seeks: 5 0 rated"), "{report}");

    let settings = ics.settings("Somebot");
    let check = tokio::spawn(async move { fics::account_check(&settings, Some(Password::new("sesame"))).await });
    let mut guest = ics.guest("GuestABCD").await;
    guest.expect("finger Somebot").await;
    guest.say("Finger of Somebot(C):\n\nOn for: 3 mins   Idle: 0 secs\n\nfics% ").await;
    let in_use = check.await.expect("no panic");
    assert!(matches!(in_use, Err(ActionError::Refused(why)) if why.contains("is logged in now")));
}

#[testkit::test]
async fn guest_check_names_restrictions() {
    let ics = Ics::start().await;
    let settings = FicsSettings { seeks: vec!["5 0 rated".to_owned()], ..ics.settings("") };
    let check = tokio::spawn(async move { fics::account_check(&settings, None).await });
    ics.guest("GuestABCD").await.set_up_until("quit").await;
    let report = check.await.expect("no panic").expect("a report");
    assert!(report.to_string().contains("guests play unrated games only"), "{report}");
}

fn main() -> std::process::ExitCode {
    testkit::main_on_one_thread()
}
