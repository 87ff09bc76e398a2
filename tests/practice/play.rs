//! Whole games.

use concilio::practice::{End, SparringKind};

use crate::client::{Client, server};

/// Challenges `to` and waits for the game.
async fn challenge(from: &Client, to: &str, form: &[(&str, &str)]) -> String {
    let challenge = from.post_form(&format!("/api/challenge/{to}"), form).await.ok().json();
    challenge["id"].as_str().expect("an id").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_bots_play_scholars_mate() {
    let server = server().await;
    let (white, black) = (Client::bot(&server, "White").await, Client::bot(&server, "Black").await);
    let mut black_events = black.events().await;
    let form = [("clock.limit", "60"), ("clock.increment", "1"), ("color", "white"), ("rated", "true")];
    let id = challenge(&white, "black", &form).await;
    let heard = black_events.next_of("challenge").await;
    assert_eq!(heard["challenge"]["id"], *id);
    black.post(&format!("/api/challenge/{id}/accept")).await.ok();
    assert_eq!(black_events.next_of("gameStart").await["game"]["gameId"], *id);

    let (mut white_board, mut black_board) = (white.board(&id).await, black.board(&id).await);
    assert_eq!(white_board.next().await.expect("a line")["type"], "gameFull");
    assert_eq!(black_board.next().await.expect("a line")["state"]["moves"], "");
    let moves = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"];
    for (ply, uci) in moves.into_iter().enumerate() {
        let mover = if ply % 2 == 0 { &white } else { &black };
        mover.play(&id, uci).await.ok();
        for board in [&mut white_board, &mut black_board] {
            assert_eq!(board.next_of("gameState").await["moves"], moves[..=ply].join(" "));
        }
    }
    let finish = black_events.next_of("gameFinish").await;
    assert_eq!((&finish["game"]["winner"], &finish["game"]["status"]["name"]), (&"white".into(), &"mate".into()));
    assert_eq!(black_board.end().await, crate::client::StreamEnd::Clean(String::new()));
    let report = server.wait_for_end(&id.as_str().into()).await.expect("a report");
    assert_eq!(report.outcome.map(|outcome| outcome.end), Some(End::Checkmate));
}

#[tokio::test(flavor = "multi_thread")]
async fn sparring_players_play_many_games_among_themselves() {
    let server = server().await;
    server.sparring("lots", SparringKind::Random).await.expect("a player");
    server.sparring("greed", SparringKind::Greedy).await.expect("a player");
    let terms = concilio::practice::ChallengeTerms::new(concilio::server::GameTerms {
        variant: concilio::chess::Variant::Standard,
        time_control: "60+0".parse().expect("a time control"),
        rated: true,
    });
    for _ in 0..20 {
        server.challenge("lots", "greed", terms.clone()).await.expect("a challenge");
    }
    let reports = server.wait_for_games(20).await.expect("reports");
    assert!(reports.iter().all(|report| report.outcome.is_some() && report.refused.is_empty()), "{reports:#?}");
}
