//! Tests on a server of another design: `tests/clients/other_ics.py`, with habits of its own.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use domain::{Action, Color, Done, GameId, GameStatus, ServerEvent};
use platform::fics::{FicsSettings, Password, Timeseal};
use testkit::{
    ChildProgram,
    telnet::{PASSWORD, Telnet},
};

use super::{Client, challenge_to_ann};

struct Other {
    port: u16,
    _process: ChildProgram,
}

impl Other {
    fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/other_ics.py");
        let mut process = Command::new(testkit::needs::PYTHON_CHESS.path())
            .args([script, "Somebot:sesame", "Ann:sesame"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a Python that runs");
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("its output"));
        output.read_line(&mut line).expect("readable");
        Self { port: line.trim().parse().expect("a port"), _process: ChildProgram(process) }
    }

    /// Logs our client in; without a name as a guest.
    async fn client(&self, name: &str) -> Client {
        let settings = FicsSettings {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            fallback_port: 0,
            timeseal: Timeseal::Off,
            username: name.to_owned(),
            accept_abort: true,
            ..FicsSettings::default()
        };
        let password = (!name.is_empty()).then(|| Password::new("sesame"));
        let mut client = Client::start_with(settings, password);
        client.connected().await;
        client
    }

    /// Ann at her telnet, logged in.
    async fn ann(&self) -> Telnet {
        let mut ann = Telnet::connect(([127, 0, 0, 1], self.port).into()).await;
        for (answer, question) in [("Ann", "password: "), (PASSWORD, "fics% ")] {
            ann.say(answer).await;
            ann.until(question).await;
        }
        ann.say("set style 12").await;
        ann
    }
}

async fn ann_plays(ann: &mut Telnet, uci: &str, client: &mut Client) {
    ann.say(uci).await;
    while !client.state().await.moves.ends_with(uci) {}
}

async fn we_play(client: &Client, ann: &mut Telnet, game: &GameId, uci: &str, san: &str) {
    let uci = uci.parse().expect("a move");
    assert_eq!(client.do_now(Action::Move { game: game.clone(), uci, offer_draw: false }).await, Ok(Done::Taken));
    ann.until(&format!("(0:00) {san} ")).await;
}

async fn ann_begins(client: &mut Client, ann: &mut Telnet) -> GameId {
    ann.say("match somebot 5 2 white").await;
    let challenge = client.challenge().await;
    assert_eq!(challenge.our_color, Some(Color::Black));
    assert_eq!(client.do_now(Action::Accept(challenge.id)).await, Ok(Done::Taken));
    let (info, _) = client.game().await;
    ann_plays(ann, "e2e4", client).await;
    info.id
}

#[testkit::test(needs(PYTHON_CHESS))]
async fn member_accepts_and_mates() {
    let other = Other::start();
    let (mut client, mut ann) = (other.client("Somebot").await, other.ann().await);
    ann.say("match somebot 5 2 white").await;
    let challenge = client.challenge().await;
    assert_eq!(client.do_now(Action::Accept(challenge.id)).await, Ok(Done::Taken));
    let (info, _) = client.game().await;
    ann_plays(&mut ann, "f2f3", &mut client).await;
    we_play(&client, &mut ann, &info.id, "e7e5", "e5").await;
    ann_plays(&mut ann, "g2g4", &mut client).await;
    we_play(&client, &mut ann, &info.id, "d8h4", "Qh4+").await;
    assert_eq!(client.finished().await, (info.id, Some(GameStatus::Mate), Some(Color::Black)));
    // The board that is shown after the end is no new game.
    ann.say("tell somebot hello").await;
    let next = client.until(|event| match event {
        ServerEvent::GameStarted(id) => Some(Err(id)),
        ServerEvent::Tell { text, .. } => Some(Ok(text)),
        _ => None,
    });
    assert_eq!(next.await, Ok("hello".to_owned()));
}

#[testkit::test(needs(PYTHON_CHESS))]
async fn a_guest_challenges_and_resigns() {
    let other = Other::start();
    let (mut client, mut ann) = (other.client("").await, other.ann().await);
    let request = challenge_to_ann("180+2");
    let Ok(Done::Challenged(id)) = client.do_now(Action::Challenge(request)).await else { panic!("a challenge") };
    ann.until("Challenge: Guest").await;
    ann.say("accept").await;
    let (info, _) = client.game().await;
    assert_eq!((info.our_color, &info.id), (Color::White, &GameId::from(&id)));
    we_play(&client, &mut ann, &info.id, "e2e4", "e4").await;
    assert_eq!(client.do_now(Action::Resign(info.id.clone())).await, Ok(Done::Taken));
    ann.until(" resigns} 0-1").await;
    assert_eq!(client.finished().await, (info.id, Some(GameStatus::Resign), Some(Color::Black)));
}

#[testkit::test(needs(PYTHON_CHESS))]
async fn offers_are_agreed_on() {
    let other = Other::start();
    let (mut client, mut ann) = (other.client("Somebot").await, other.ann().await);
    let game = ann_begins(&mut client, &mut ann).await;
    we_play(&client, &mut ann, &game, "e7e5", "e5").await;
    ann.say("takeback 2").await;
    while !client.state().await.takeback_offers.white {}
    assert_eq!(client.do_now(Action::Takeback(game.clone(), true)).await, Ok(Done::Taken));
    assert_eq!(client.game().await.1.moves, "");
    ann_plays(&mut ann, "d2d4", &mut client).await;
    assert_eq!(client.do_now(Action::Draw(game.clone(), true)).await, Ok(Done::Taken));
    ann.until("Somebot offers you a draw.").await;
    ann.say("draw").await;
    assert_eq!(client.finished().await, (game, Some(GameStatus::Draw), None));

    let game = ann_begins(&mut client, &mut ann).await;
    ann.say("abort").await;
    assert_eq!(client.finished().await, (game, Some(GameStatus::Aborted), None));
}

#[testkit::test(needs(PYTHON_CHESS))]
async fn game_resumes_after_a_cut() {
    let other = Other::start();
    let (mut client, mut ann) = (other.client("Somebot").await, other.ann().await);
    let game = ann_begins(&mut client, &mut ann).await;
    we_play(&client, &mut ann, &game, "e7e5", "e5").await;
    ann.say("drop somebot").await;
    ann.until("adjourned} *").await;
    ann.until("Challenge: Somebot (----) Ann (----) unrated blitz 5 2 (adjourned).").await;
    ann.say("accept").await;
    let (info, state) = client.game().await;
    assert_eq!((&info.id, state.moves.as_str()), (&game, "e2e4 e7e5"));
    ann_plays(&mut ann, "g1f3", &mut client).await;
    we_play(&client, &mut ann, &game, "b8c6", "Nc6").await;
    ann.say("resign").await;
    assert_eq!(client.finished().await, (game, Some(GameStatus::Resign), Some(Color::Black)));
}
