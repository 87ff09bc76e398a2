//! Answers and lines with all the fields that the API reference lists for them.

use std::collections::BTreeMap;

use super::*;

/// A challenge between Carla and Dario, as every answer and line about it has it.
fn challenge_fields(status: &str, more: &str) -> String {
    format!(
        r#""id":"Qx7mPz2a","url":"https://lichess.org/Qx7mPz2a","status":"{status}",
        "challenger":{{"id":"carla","name":"Carla","title":"WFM","flair":"nature.owl","rating":2104,"online":true,"lag":4}},
        "destUser":{{"id":"dario","name":"Dario","title":"BOT","patron":true,"patronColor":3,"rating":1893,
            "provisional":true,"online":true}},
        "variant":{{"key":"standard","name":"Standard","short":"Std"}},"rated":true,"speed":"rapid",
        "timeControl":{{"type":"clock","limit":600,"increment":5,"show":"10+5"}},"color":"black","finalColor":"black",
        "perf":{{"icon":"","name":"Rapid"}},"direction":"in"{more}"#
    )
    .replace('\n', "")
}

#[test]
fn challenge_lines_are_read() {
    let line = format!(
        r#"{{"type":"challenge","challenge":{{{}}},"compat":{{"bot":true,"board":true}}}}"#,
        challenge_fields("created", "")
    );
    let made = challenge("dario", &line);
    assert_eq!((made.id.as_str(), made.incoming, made.obstacle), ("Qx7mPz2a", true, None));
    assert_eq!((made.our_color, made.our_rating, made.terms.rated), (Some(Color::White), Some(1893), true));
    assert_eq!(made.terms.time_control, TimeControl::real_time(Duration::from_secs(600), Duration::from_secs(5)));

    let line = format!(r#"{{"type":"challengeCanceled","challenge":{{{}}}}}"#, challenge_fields("canceled", ""));
    let canceled = events_for("dario", &line);
    assert!(matches!(&canceled, ServerEvent::ChallengeCancelled(id) if id.as_str() == "Qx7mPz2a"), "{canceled:?}");

    let reason = r#","declineReason":"This time control is too slow for me.","declineReasonKey":"tooslow""#;
    let line = format!(r#"{{"type":"challengeDeclined","challenge":{{{}}}}}"#, challenge_fields("declined", reason));
    let declined = events_for("carla", &line);
    assert!(
        matches!(&declined, ServerEvent::ChallengeDeclined { reason: DeclineReason::TooSlow, by: Some(by), .. } if by.id == "dario"),
        "{declined:?}"
    );
}

#[test]
fn challenge_answers_are_read() {
    let open = r#","open":{"userIds":["carla","dario"]},"urlWhite":"https://lichess.org/Qx7mPz2a?color=white",
        "urlBlack":"https://lichess.org/Qx7mPz2a?color=black""#;
    for more in ["", open, r#","rules":["noRematch","noGiveTime"],"initialFen":null"#] {
        let text = format!("{{{}}}", challenge_fields("created", more)).replace('\n', "");
        let created: ChallengeCreated = read("a challenge", &text).expect("a challenge");
        assert_eq!(created.into_id().as_str(), "Qx7mPz2a");
        let challenge: ChallengeJson = read("a challenge", &text).expect("a challenge");
        let envelope = ChallengeEnvelope { challenge, compat: Value::Null };
        assert_eq!(envelope.into_challenge("dario").obstacle, None);
    }
}

fn game_line(kind: &str, status: &str, opponent: &str, more: &str) -> String {
    format!(
        r#"{{"type":"{kind}","game":{{"fullId":"w4Tn81LcqK0d","gameId":"w4Tn81Lc","id":"w4Tn81Lc",
        "fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1","color":"white","lastMove":"","source":"lobby",
        "status":{status},"variant":{{"key":"standard","name":"Standard"}},"speed":"bullet","perf":"bullet","rated":true,
        "hasMoved":false,"opponent":{opponent},"isMyTurn":true,"secondsLeft":60,"rating":1611,
        "compat":{{"bot":true,"board":true}}{more}}}}}"#
    )
    .replace('\n', "")
}

#[test]
fn event_stream_game_lines_are_read() {
    let (person, engine) = (
        r#"{"id":"carla","username":"Carla","rating":2104,"ratingDiff":-6}"#,
        r#"{"id":null,"username":"Stockfish level 2","ai":2}"#,
    );
    for opponent in [person, engine] {
        let started = events_for("dario", &game_line("gameStart", r#"{"id":20,"name":"started"}"#, opponent, ""));
        assert!(matches!(&started, ServerEvent::GameStarted(id) if id.as_str() == "w4Tn81Lc"), "{started:?}");
        let mate = r#"{"id":30,"name":"mate"}"#;
        let won = r#","winner":"white","ratingDiff":6"#;
        let finished = events_for("dario", &game_line("gameFinish", mate, opponent, won));
        assert!(
            matches!(
                &finished,
                ServerEvent::GameFinished { status: Some(GameStatus::Mate), winner: Some(Color::White), .. }
            ),
            "{finished:?}"
        );
    }
}

#[test]
fn lines_of_a_game_stream_are_read() {
    let (info, state) = game(
        &r#"{"type":"gameFull","id":"w4Tn81Lc","variant":{"key":"standard","name":"Standard","short":"Std"},
            "speed":"blitz","perf":{"name":"Blitz"},"rated":true,"createdAt":1790000000123,
            "white":{"id":"bob","name":"Bob","title":"BOT","rating":1902,"provisional":true},
            "black":{"id":"carla","name":"Carla","title":null,"rating":2104},"initialFen":"startpos",
            "clock":{"initial":300000,"increment":3000},"tournamentId":"abcDEF12",
            "state":{"type":"gameState","moves":"d2d4 g8f6 c2c4","wtime":298110,"btime":301450,"winc":3000,"binc":3000,
            "status":"started"}}"#
            .replace('\n', ""),
    );
    assert_eq!((info.our_color, info.terms.rated, state.moves.as_str()), (Color::White, true, "d2d4 g8f6 c2c4"));
    assert_eq!(state.clocks.map(|clocks| clocks.black.remaining), Some(Duration::from_millis(301_450)));
    for line in [
        r#"{"type":"gameState","moves":"d2d4 g8f6","wtime":60000,"btime":59000,"winc":0,"binc":0,"wdraw":true,"bdraw":false,"wtakeback":false,"btakeback":false,"status":"started","expiration":{"idleMillis":240,"millisToMove":20000}}"#,
        r#"{"type":"chatLine","room":"spectator","username":"lichess","text":"Takeback sent"}"#,
        r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":30}"#,
    ] {
        assert!(in_game(line).is_ok(), "{line}");
    }
}

#[test]
fn account_answers_are_read() {
    let account: AccountJson = read(
        "an account",
        &r#"{"id":"dario","username":"Dario","title":"BOT","perfs":{
            "bullet":{"games":412,"rating":1611,"rd":58,"prog":-12},
            "rapid":{"games":0,"rating":1500,"rd":500,"prog":0,"prov":true},"puzzle":{"games":3,"rating":1700,"rd":90,"prog":1}},
            "createdAt":1650000000000,"seenAt":1790000000000,"flair":"nature.owl","patron":true,"verified":true,
            "profile":{"flag":"IT","bio":"A council of four engines","links":"https://example.org"},
            "playTime":{"total":123456,"tv":12,"human":1234},"url":"https://lichess.org/@/dario","playing":null,
            "count":{"all":412,"rated":400,"draw":30,"loss":180,"win":202,"bookmark":0,"playing":1,"import":0,"me":0},
            "followable":true,"following":false,"blocking":false}"#
            .replace('\n', ""),
    )
    .expect("an account");
    let account = account.into_account();
    assert!(account.is_bot && account.ratings.contains(&("bullet".to_owned(), 1611)), "{account:?}");
    assert_eq!(account.games_played, 412);

    let users = r#"[{"id":"carla","name":"Carla","title":"WFM","online":true,"playing":true,"playingId":"w4Tn81Lc"},{"id":"dario","name":"Dario","patron":true,"patronColor":1}]"#;
    assert_eq!(read::<Vec<UserStatus>>("users", users).map(|users| users.len()).ok(), Some(2));
    let tokens = r#"{"lip_own":{"userId":"dario","scopes":"challenge:write,bot:play","expires":null},"lip_bad":null}"#;
    let tokens: BTreeMap<String, Option<TokenInfo>> = read("tokens", tokens).expect("tokens");
    assert!(tokens["lip_bad"].is_none());
    let scopes = tokens["lip_own"].as_ref().expect("a token").scopes();
    assert!(scopes.iter().any(|scope| scope == "bot:play"));
}
