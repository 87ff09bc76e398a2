use std::{fs, ops::ControlFlow};

use domain::{CriterionName, GameStatus, Variant};
use pgn_reader::{
    Nag, RawTag, Reader, SanPlus, Skip, Visitor,
    shakmaty::{CastlingMode, Chess, Position as _, fen::Fen},
};

use super::{
    council::FOOLS_MATE,
    journal::{Desk, ScriptedGame},
};

const HOSTILE: &str = "<script>alert(1)</script>\"&[x]{y}";

const LOST: ScriptedGame<'_> = ScriptedGame {
    id: "../../etc",
    opponent: HOSTILE,
    votes: &[(2, &[("mbxk", "g2g4", 90), ("mk", "e2e4", 10)])],
    ..FOOLS_MATE
};

/// A reader that plays every move of the main lines, and of the variations counts their beginnings.
#[derive(Default)]
struct Player {
    games: usize,
    moves: usize,
    glyphs: usize,
    variations: usize,
    fen: Option<String>,
}

impl Visitor for Player {
    type Tags = ();
    type Movetext = Chess;
    type Output = Result<(), String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        self.fen = None;
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        if name == b"FEN" {
            self.fen = Some(value.decode_utf8_lossy().into_owned());
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): Self::Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        self.games += 1;
        let start = self.fen.take().map(|fen| {
            let fen: Fen = fen.parse().expect("a FEN");
            fen.into_position(CastlingMode::Chess960).expect("a position")
        });
        ControlFlow::Continue(start.unwrap_or_default())
    }

    fn san(&mut self, position: &mut Self::Movetext, san: SanPlus) -> ControlFlow<Self::Output> {
        match san.san.to_move(position) {
            Ok(mv) => {
                position.play_unchecked(mv);
                self.moves += 1;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(Err(format!("{san}: {error}"))),
        }
    }

    fn nag(&mut self, _: &mut Self::Movetext, _: Nag) -> ControlFlow<Self::Output> {
        self.glyphs += 1;
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Self::Movetext) -> ControlFlow<Self::Output, Skip> {
        self.variations += 1;
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, _: Self::Movetext) -> Self::Output {
        Ok(())
    }
}

#[tokio::test]
async fn others_read_annotated_games() {
    let desk = Desk::new();
    desk.play(&LOST).await;
    desk.play(&ScriptedGame {
        id: "chess960",
        variant: Variant::Chess960,
        fen: "bqnrkrnb/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRNB w KQkq - 0 1",
        moves: "g1f3 g8f6 e1f1 e8f8",
        votes: &[],
        end: (GameStatus::Draw, None),
        ..LOST
    })
    .await;
    desk.report(&desk.request());
    let text = fs::read(desk.directory.path().join("report/games.pgn")).expect("the games");
    let mut reader = Reader::new(text.as_slice());
    let mut player = Player::default();
    while let Some(read) = reader.read_game(&mut player).expect("readable") {
        read.expect("legal moves");
    }
    assert_eq!((player.games, player.moves), (2, 8));
    assert!(player.glyphs >= 1 && player.variations >= 1, "{} {}", player.glyphs, player.variations);
    let text = String::from_utf8(text).expect("text");
    assert!(text.contains("[%eval ") && text.contains("[%clk 0:02:57]"), "{text}");
    assert!(text.contains("g4 $4") && text.contains("Votes: g4 by mbxk, e4 by mk"), "{text}");
}

#[tokio::test]
async fn hostile_names_are_escaped() {
    let desk = Desk::new();
    desk.play(&LOST).await;
    let (made, _) = desk.report(&desk.request());
    let index = made.index.expect("pages");
    let folder = index.parent().expect("a folder");
    let mut pages: Vec<_> =
        fs::read_dir(folder.join("game")).expect("games").map(|entry| entry.expect("a page").path()).collect();
    assert_eq!(pages.len(), 1);
    pages.extend(["index.html", "council.html", "games-1.html"].map(|name| folder.join(name)));
    for page in pages {
        let html = fs::read_to_string(&page).expect("a page");
        assert!(!html.contains("<script"), "{}", page.display());
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "{}", page.display());
    }
}

#[tokio::test]
async fn other_variants_are_listed_only() {
    let desk = Desk::new();
    desk.play(&ScriptedGame {
        id: "antichss",
        variant: Variant::Antichess,
        moves: "e2e3 b7b5 f1b5",
        votes: &[],
        ..LOST
    })
    .await;
    let (made, games) = desk.report(&desk.request());
    assert!(games.is_empty());
    assert_eq!((made.totals.all.results.games(), made.totals.studied), (1, 0));
    let list = fs::read_to_string(desk.directory.path().join("report/games-1.html")).expect("the list");
    assert!(list.contains("not studied"), "{list}");
}

#[tokio::test]
async fn csv_and_json_are_written() {
    let desk = Desk::new();
    desk.play(&LOST).await;
    desk.report(&desk.request());
    let read = |name: &str| fs::read_to_string(desk.directory.path().join("report").join(name)).expect("a file");
    let figures: serde_json::Value = serde_json::from_str(&read("report.json")).expect("JSON");
    assert_eq!(figures.pointer("/totals/all/lost").and_then(serde_json::Value::as_u64), Some(1));
    assert_eq!(
        figures.pointer("/council/criteria").and_then(serde_json::Value::as_array).map(Vec::len),
        Some(CriterionName::ALL.len())
    );
    assert_eq!(read("games.csv").lines().count(), 2);
    assert_eq!(read("moves.csv").lines().count(), 5);
    let columns = |text: String| text.lines().next().map(|line| line.split(',').count());
    assert_eq!(columns(read("moves.csv")), Some(18));
}

#[tokio::test]
async fn game_page_says_why_and_that_mate_wins() {
    let desk = Desk::new();
    desk.play(&LOST).await;
    desk.report(&desk.request());
    let folder = desk.directory.path().join("report/game");
    let page = fs::read_dir(folder).expect("pages").next().expect("a page").expect("an entry").path();
    let html = fs::read_to_string(page).expect("a page");
    assert!(html.contains("Compared with g4, e4 ends with "), "{html}");
    assert!(html.contains("1 of 2 specialists preferred e4"), "{html}");
    // The last move mates: nothing of 98 per cent.
    let last = html.rsplit("Qh4#").next().expect("the mate");
    assert!(last.contains("<td class=\"n\">100</td>"), "{last}");
}
