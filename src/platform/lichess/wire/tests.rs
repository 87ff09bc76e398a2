mod examples;

use proptest::prelude::*;

use super::{challenge::ChallengeJson, player::User, *};
use domain::{
    Challenge, ChallengeObstacle, ChatLine, ChatRoom, DeclineReason, GameInfo, GameState, GameStatus, Offers, Player,
    TimeControl,
};

fn events_for(us: &str, line: &str) -> ServerEvent {
    event(line, us).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn in_game(line: &str) -> Result<ServerEvent, LichessLineError> {
    game_event(line, &GameId::from("game0001"), "bob", &ServerUrl::default(), Instant::now())
}

fn state(line: &str) -> GameState {
    match in_game(line) {
        Ok(ServerEvent::GameState(_, state)) => state,
        other => panic!("{other:?}: {line}"),
    }
}

fn game(line: &str) -> (GameInfo, GameState) {
    match in_game(line) {
        Ok(ServerEvent::Game(info, state)) => (*info, state),
        other => panic!("{other:?}: {line}"),
    }
}

fn challenge(us: &str, line: &str) -> Challenge {
    match events_for(us, line) {
        ServerEvent::Challenge(challenge) => challenge,
        other => panic!("{other:?}"),
    }
}

const RUNNING: &str = r#"{"type":"gameState","moves":"","wtime":1,"btime":1,"winc":0,"binc":0,"status":"started"}"#;

fn full(fields: &str) -> String {
    format!(
        r#"{{"type":"gameFull","id":"game0001","rated":true,"createdAt":1,"perf":{{"name":"Blitz"}},
            "white":{{"id":"bob","name":"Bob","title":"BOT","rating":1500,"provisional":true}},
            "black":{{"id":"ann","name":"Ann","title":null,"rating":1600}},"state":{RUNNING},{fields}}}"#
    )
    .replace('\n', "")
}

#[test]
fn challenge_is_read_from_our_side() {
    let line = r#"{"type":"challenge","challenge":{"id":"abc","status":"created",
        "challenger":{"id":"ann","name":"Ann","title":"BOT","rating":1600,"provisional":true,"online":true},
        "destUser":{"id":"bob","name":"Bob","rating":1500},"variant":{"key":"chess960","name":"Chess960"},"rated":true,
        "speed":"blitz","timeControl":{"type":"clock","limit":300,"increment":3,"show":"5+3"},"color":"white",
        "finalColor":"white","rules":["noAbort"],"initialFen":"startpos","rematchOf":"old00001","new":[1,{"x":null}]},
        "compat":{"bot":false,"board":true}}"#;
    let incoming = challenge("bob", line);
    assert!(matches!(event(line, "eve"), Err(LichessLineError::Unknown(_))), "it is between two others");
    assert!(incoming.incoming && incoming.obstacle == Some(ChallengeObstacle::NotForBots) && incoming.terms.rated);
    assert_eq!(incoming.terms.variant, Variant::Chess960);
    assert_eq!(incoming.terms.time_control, TimeControl::real_time(Duration::from_secs(300), Duration::from_secs(3)));
    assert_eq!(incoming.our_color, Some(Color::Black), "the colour in the challenge is the challenger's");
    assert_eq!(incoming.opponent.as_ref().map(|player| (player.id.as_str(), player.is_bot())), Some(("ann", true)));
    assert_eq!((incoming.our_rating, incoming.initial_fen), (Some(1500), None));
    assert_eq!(incoming.rules, ["noAbort"]);
    assert_eq!(incoming.rematch_of, Some(GameId::from("old00001")));

    let ours = challenge("ann", line);
    assert!(!ours.incoming);
    assert_eq!(ours.our_color, Some(Color::White));
    assert_eq!(ours.opponent.map(|player| player.name).as_deref(), Some("Bob"));
}

#[test]
fn challenge_may_lack_most_fields() {
    let open = challenge("bob", r#"{"type":"challenge","challenge":{"id":"abc","challenger":null,"destUser":null}}"#);
    assert!(open.incoming && open.obstacle.is_none() && open.opponent.is_none() && open.our_color.is_none());
    assert_eq!(open.terms.time_control, TimeControl::Unlimited);
    let days = challenge(
        "bob",
        r#"{"type":"challenge","challenge":{"id":"abc","challenger":{"name":"Ann"},"color":"random","rules":null,
            "timeControl":{"type":"correspondence","daysPerTurn":3}},"compat":null}"#,
    );
    assert_eq!(days.terms.time_control, TimeControl::Correspondence { days: 3 });
    assert_eq!(days.opponent, Some(Player::named("Ann")));
}

#[test]
fn unknown_variant_challenge_has_an_id() {
    let fog = challenge("bob", r#"{"type":"challenge","challenge":{"id":"abc","variant":{"key":"fogOfWar"}}}"#);
    assert_eq!(
        (fog.id.as_str(), fog.obstacle),
        ("abc", Some(ChallengeObstacle::UnknownVariant("fogOfWar".to_owned())))
    );
}

#[test]
fn closed_accounts_are_no_opponents() {
    for (fields, is_shut_out) in [
        ("", false),
        (r#","disabled":false,"tosViolation":false"#, false),
        (r#","disabled":true"#, true),
        (r#","tosViolation":true"#, true),
    ] {
        let account: AccountJson = read("an account", &format!(r#"{{"id":"ann"{fields}}}"#)).expect("an account");
        assert_eq!(account.is_shut_out(), is_shut_out, "{fields}");
    }
}

#[test]
fn decline_reason_ignores_case() {
    let declined = events_for(
        "bob",
        r#"{"type":"challengeDeclined","challenge":{"id":"abc","destUser":{"id":"ann","name":"Ann"},
            "declineReason":"Troppo veloce","declineReasonKey":"toofast"}}"#,
    );
    assert!(
        matches!(declined, ServerEvent::ChallengeDeclined { reason: DeclineReason::TooFast, by: Some(player), .. } if player.id == "ann")
    );
}

#[test]
fn games_start_and_finish() {
    assert!(matches!(
        events_for("bob", r#"{"type":"gameStart","game":{"gameId":"g1","opponent":{"id":null,"ai":1}}}"#),
        ServerEvent::GameStarted(id) if id.as_str() == "g1"
    ));
    assert!(matches!(
        events_for(
            "bob",
            r#"{"type":"gameFinish","game":{"id":"g1","status":{"id":31,"name":"resign"},"winner":"black"}}"#
        ),
        ServerEvent::GameFinished { status: Some(GameStatus::Resign), winner: Some(Color::Black), .. }
    ));
    assert!(matches!(
        events_for("bob", r#"{"type":"gameFinish","game":{"id":"g1","status":7,"winner":null}}"#),
        ServerEvent::GameFinished { status: None, winner: None, .. }
    ));
}

#[test]
fn error_lines_are_never_events() {
    let error = event(r#"{"error":"Missing scope"}"#, "bob");
    assert!(matches!(error, Err(LichessLineError::Server(text)) if text == "Missing scope"));
    assert!(matches!(in_game(r#"{"error":{"code":5}}"#), Err(LichessLineError::Server(_))));
    for line in ["", "{}", "null", "[]", "3", "{\"type\":7}", "<html>", "{\"type\":\"gameState\"}", "{\"type\":"] {
        assert!(event(line, "bob").is_err() || in_game(line).is_err(), "{line}");
    }
}

#[test]
fn unknown_lines_are_ignored() {
    assert!(matches!(event(r#"{"type":"telepathy","game":7}"#, "bob"), Err(LichessLineError::Unknown(_))));
    assert!(matches!(in_game(r#"{"type":"telepathy"}"#), Err(LichessLineError::Unknown(_))));
    // A broken line is a fault, whatever it begins with.
    assert!(matches!(in_game(r#"{"type":"telepathy","#), Err(LichessLineError::Malformed { .. })));
}

#[test]
fn clocks_are_milliseconds_in_games() {
    let (info, state) = game(&full(
        r#""variant":{"key":"standard"},"clock":{"initial":900000,"increment":2500},"initialFen":"startpos""#,
    ));
    assert_eq!(info.terms.time_control, TimeControl::real_time(Duration::from_secs(900), Duration::from_millis(2500)));
    assert_eq!((info.our_color, info.us().title.as_deref(), info.us().provisional), (Color::White, Some("BOT"), true));
    assert_eq!(info.opponent().title, None);
    assert_eq!(info.url.as_deref(), Some("https://lichess.org/game0001"));
    assert_eq!(state.clocks.map(|clocks| clocks.white.remaining), Some(Duration::from_millis(1)));
}

#[test]
fn fields_of_other_messages_are_passed_over() {
    let clock = r#""clock":{"initial":900000,"increment":0,"limit":"900","daysPerTurn":[]}"#;
    let line = full(&format!(r#""variant":{{"key":"standard"}},{clock},"initialFen":"startpos""#))
        .replace(r#""id":"ann""#, r#""id":"ann","user":7"#);
    let (info, _) = game(&line);
    assert_eq!(info.terms.time_control, TimeControl::real_time(Duration::from_secs(900), Duration::ZERO));
    assert_eq!(info.opponent().id, "ann");
}

#[test]
fn a_game_without_a_clock_has_none() {
    let (unlimited, _) = game(&full(r#""variant":{"key":"standard"},"clock":null,"initialFen":"startpos""#));
    assert_eq!(unlimited.terms.time_control, TimeControl::Unlimited);
    let (days, _) = game(&full(r#""variant":{"key":"standard"},"daysPerTurn":2,"initialFen":"startpos""#));
    assert_eq!(days.terms.time_control, TimeControl::Correspondence { days: 2 });
    let endless = r#"{"type":"gameState","moves":"e2e4","wtime":2147483647,"btime":2147483647,"winc":0,"binc":0,"status":"started"}"#;
    assert_eq!(state(endless).clocks, None);
    let two_days = endless.replace("2147483647", "172800000");
    assert_eq!(state(&two_days).clocks.map(|clocks| clocks.black.remaining), Some(Duration::from_secs(2 * 86400)));
}

#[test]
fn server_engine_has_a_level() {
    let line = full(r#""initialFen":"startpos","variant":{"key":"standard"}"#)
        .replace(r#"{"id":"ann","name":"Ann","title":null,"rating":1600}"#, r#"{"aiLevel":3}"#);
    let (info, _) = game(&line);
    assert_eq!(info.opponent().ai_level, Some(3));
    assert!(info.opponent().is_bot() && info.opponent().id.is_empty());
}

#[test]
fn a_title_before_a_name_is_a_title() {
    let user: User = serde_json::from_str(r#"{"id":"zeekat","username":"BOT zeekat"}"#).expect("a user");
    let player = user.into_player();
    assert_eq!((player.title.as_deref(), player.name.as_str(), player.id.as_str()), (Some("BOT"), "zeekat", "zeekat"));
}

#[test]
fn games_may_begin_anywhere() {
    let fischer = "bqnrkrnb/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRNB w KQkq - 0 1";
    for variant in ["chess960", "fromPosition"] {
        let (info, _) = game(&full(&format!(r#""variant":{{"key":"{variant}"}},"initialFen":"{fischer}""#)));
        let mut line = info.start;
        line.play_all("g1f3 g8f6 e1f1").expect("castling as king takes rook");
    }
    let (standard, _) = game(&full(r#""initialFen":"startpos""#));
    let mut line = standard.start;
    line.play_all("e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8h8").expect("castling is understood in both ways");
    assert!(matches!(
        in_game(&full(r#""variant":{"key":"fromPosition"},"initialFen":"8/8/8/8/8/8/8/8 w - - 0 1""#)),
        Err(LichessLineError::Unplayable(_))
    ));
}

#[test]
fn other_players_games_are_not_ours() {
    let line = full(r#""initialFen":"startpos""#).replace("\"bob\"", "\"carl\"");
    assert!(matches!(in_game(&line), Err(LichessLineError::Malformed { reason, .. }) if reason.contains("is between")));
}

#[test]
fn offers_and_ends_are_read() {
    let over = state(
        r#"{"type":"gameState","moves":"f2f3 e7e5 g2g4 d8h4","wtime":-5,"btime":1.5,"winc":null,"binc":100,"status":"mate",
            "winner":"black","wdraw":true,"bdraw":null,"btakeback":true,"expiration":{"idleMillis":3},"rematch":"x"}"#,
    );
    assert_eq!((over.status, over.winner), (GameStatus::Mate, Some(Color::Black)));
    assert_eq!(over.draw_offers, Offers { white: true, black: false });
    assert_eq!(over.takeback_offers, Offers { white: false, black: true });
    let clocks = over.clocks.expect("clocks");
    assert_eq!((clocks.white.remaining, clocks.black.remaining), (Duration::ZERO, Duration::from_micros(1500)));
    assert_eq!(clocks.black.increment, Duration::from_millis(100));
    assert_eq!(state(&RUNNING.replace("started", "exploded")).status, GameStatus::Other("exploded".to_owned()));
}

#[test]
fn talk_and_absence_are_read() {
    assert!(matches!(
        in_game(r#"{"type":"chatLine","username":"ann","text":"gl","room":"player"}"#),
        Ok(ServerEvent::Chat(_, ChatLine { room: ChatRoom::Player, username, .. })) if username == "ann"
    ));
    assert!(matches!(
        in_game(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":8}"#),
        Ok(ServerEvent::OpponentGone { gone: true, claim_after: Some(wait), .. }) if wait == Duration::from_secs(8)
    ));
    assert!(matches!(
        in_game(r#"{"type":"opponentGone","gone":false}"#),
        Ok(ServerEvent::OpponentGone { gone: false, claim_after: None, .. })
    ));
}

#[test]
fn accounts_are_read() {
    let account: AccountJson = serde_json::from_str(
        r#"{"id":"bob","username":"Bob","title":"BOT","perfs":{"blitz":{"games":3,"rating":1700},"storm":{"runs":1}},"count":{"all":3}}"#,
    )
    .expect("an account");
    let account = account.into_account();
    assert!(account.is_bot);
    assert_eq!((account.ratings, account.games_played), (vec![("blitz".to_owned(), 1700)], 3));
}

#[test]
fn the_words_of_an_error_are_found() {
    assert_eq!(error_text(r#"{"error":"No such game"}"#).as_deref(), Some("No such game"));
    assert_eq!(error_text(r#"{"clock.limit":["Invalid value"]}"#).as_deref(), Some("clock.limit: Invalid value"));
    assert_eq!(error_text(r#"{"error":{"rated":["No","Never"]}}"#).as_deref(), Some("rated: No, Never"));
    for nothing in ["", "<html>", "{}", "[]", "{\"error\":null}"] {
        assert_eq!(error_text(nothing), None, "{nothing}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_fall(text in ".*") {
        let _ = event(&text, "bob");
        let _ = in_game(&text);
        let _ = error_text(&text);
    }

    #[test]
    fn no_numbers_make_the_reader_fall(numbers: [f64; 5]) {
        let [a, b, c, d, e] = numbers;
        let _ = in_game(&full(&format!(r#""clock":{{"initial":{a:e},"increment":{b:e}}},"daysPerTurn":{c:e}"#)));
        let _ = in_game(&format!(r#"{{"type":"gameState","moves":"","wtime":{a:e},"btime":{b:e},"winc":{c:e},"binc":{d:e},"status":"x"}}"#));
        let _ = in_game(&format!(r#"{{"type":"opponentGone","gone":true,"claimWinInSeconds":{e:e}}}"#));
        let _ = event(&format!(r#"{{"type":"challenge","challenge":{{"id":"x","timeControl":{{"limit":{a:e},"increment":{b:e},"daysPerTurn":{c:e}}}}}}}"#), "bob");
    }
}
