use super::*;

#[tokio::test]
async fn line_has_only_shown_moves() {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    let line = desk.play(&key, &start, "e2e4 e7e5 g1f3 b8c6").await;
    // A move that was taken back, and one that was decided and not shown yet.
    let mut shorter = Line::clone(&line);
    shorter.truncate(3);
    let line = Arc::new(shorter);
    desk.journal.line_seen(&key, &line, None);
    let line = played(&line, uci("d7d6"));
    desk.journal.line_seen(&key, &line, None);
    desk.journal.move_decided(decided(&key, &line, uci("d2d4"))).await.expect("written");
    let line = desk.archive().line(&desk.game(&key)).expect("readable");
    assert_eq!(domain::moves_text(line.moves()), "e2e4 e7e5 g1f3 d7d6");
}

#[tokio::test]
async fn rating_changes_are_kept() {
    let desk = Desk::grouped(PgnGrouping::All);
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    desk.play(&key, &start, "e2e4 e7e5").await;
    desk.journal.rated(&key, -7);
    let pgn = desk.pgn(&key, GameStatus::Resign, Some(Color::Black)).await;
    assert!(pgn.contains("[WhiteRatingDiff \"-7\"]"), "{pgn}");
    let game = desk.game(&key);
    assert_eq!(game.rating_change, Some(-7));
    let csv = text(|out| write_csv(&[game], out));
    let (titles, row) = csv.trim_end().split_once('\n').expect("two lines");
    assert_eq!((titles.rsplit(',').next(), row.rsplit(',').next()), (Some("rating_change"), Some("-7")), "{csv}");
}

#[tokio::test]
async fn lost_book_lines_are_remembered() {
    let desk = Desk::new();
    let from_book = |key: &GameKey, line: &Arc<Line>, best: &str| DecidedMove {
        decision: Arc::new(Decision::without_vote(uci(best), Source::Book)),
        ..decided(key, line, uci(best))
    };
    for (id, winner) in [("lostgame", Color::Black), ("wongame1", Color::White)] {
        let (key, start) = desk.start(id, Variant::Standard, "");
        let mut line = Arc::clone(&start);
        for (ours, theirs) in [("e2e4", "e7e5"), ("g1f3", "b8c6")] {
            desk.journal.move_decided(from_book(&key, &line, ours)).await.expect("written");
            line = played(&played(&line, uci(ours)), uci(theirs));
            desk.journal.line_seen(&key, &line, None);
        }
        desk.play(&key, &line, "f1b5 a7a6").await;
        desk.over(&key, GameStatus::Mate, Some(winner)).await;
    }
    let lines = |variant| {
        let journal = &desk.journal;
        async move { journal.lost_book_lines(&info("nextgame", variant, "")).await.expect("readable") }
    };
    assert_eq!(lines(Variant::Standard).await, ["e2e4 e7e5 g1f3"]);
    assert!(lines(Variant::Chess960).await.is_empty(), "that is another game");
}
