use super::*;
use domain::{CriterionName, GameStatus, GameTerms, Player, Score, SearchId, Source, TimeControl, Variant, Vote};
use std::time::Duration;

fn scene(opponent: &str) -> Scene {
    scene_with(Player::named(opponent))
}

fn scene_with(opponent: Player) -> Scene {
    let start = Line::start(Variant::Standard);
    let time_control = TimeControl::real_time(Duration::from_secs(10), Duration::from_millis(100));
    let info = GameInfo::from_start(
        "abcdefgh",
        GameTerms { variant: Variant::Standard, time_control, rated: false },
        Player::named("Concilio"),
        opponent,
    );
    let mut line = start;
    for uci in ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"] {
        line.play(uci.parse().expect("a move")).expect("legal");
    }
    let mut scene = Scene::default();
    let game = GameKey::new(&"practice".into(), &info.id);
    let started = GameEvent::Started { info: Box::new(info), electors: Arc::from([]), ply: 0 };
    scene.take(&BotEvent::Game(game.clone(), started));
    scene.take(&BotEvent::Game(game, GameEvent::Position { line: Arc::new(line), clocks: None }));
    scene
}

#[test]
fn games_that_are_over_make_room() {
    let mut scene = scene("Sparring");
    let info = scene.games.values().next().expect("a game").info.clone();
    for id in ["second", "third", "fourth"] {
        let game = GameKey::new(&"practice".into(), &GameId::new(id));
        let started = GameEvent::Started { info: info.clone(), electors: Arc::from([]), ply: 0 };
        scene.take(&BotEvent::Game(game.clone(), started));
        let (status, winner) = (GameStatus::Aborted, None);
        let over = GameEvent::Over { info: None, status, winner, plies: 0, pgn: None, rating_change: None };
        scene.take(&BotEvent::Game(game, over));
    }
    let known: Vec<&str> = scene.games.keys().map(|key| key.id.as_str()).collect();
    assert_eq!(known, ["abcdefgh", "fourth"]);
}

/// The lines without the styles that the picture itself sets.
fn plain(lines: &[String]) -> Vec<String> {
    let without = |line: &String| {
        let mut parts = line.split("\x1b[");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
    };
    lines.iter().map(without).collect()
}

#[test]
fn view_fits_the_terminal_width() {
    for opponent in ["Sparring", &"x".repeat(5000)] {
        for columns in [20, 30, 47, 48, 60, 80, 200] {
            for line in plain(&scene(opponent).draw(columns, 40)) {
                assert!(line.trim_end().chars().count() <= columns, "{columns}: {line:?}");
            }
        }
    }
}

#[test]
fn narrow_terminal_stacks_the_players() {
    let lines = plain(&scene("Sparring").draw(40, 40));
    let at =
        |text: &str| lines.iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}: {lines:#?}"));
    assert!(at("Sparring") < at(" 8 ") && at(" 1 ") < at("Concilio") && at("Concilio") < at("3. Bb5"));
    let lines = plain(&scene("Sparring").draw(80, 40));
    assert!(lines.iter().any(|line| line.contains("a b c d") || line.contains(" 7 ") && line.contains("Sparring")));
}

/// Promise 7: names from a server reach the terminal as text.
#[test]
fn names_are_escaped_in_the_view() {
    const HOSTILE: &str = "\x1b]0;owned\x07\u{9b}2J";
    let titled = Player { title: Some(HOSTILE.to_owned()), ..Player::named("Ann") };
    for opponent in [Player::named(HOSTILE), titled] {
        let drawn = scene_with(opponent).draw(80, 40).join("\n");
        assert!(
            !drawn.contains("\x1b]") && !drawn.contains(['\x07', '\u{9b}']) && drawn.contains("owned"),
            "{drawn:?}"
        );
    }
}

fn proposal(ply: usize, elector: &str, best: &str) -> Proposal {
    let best = best.parse().expect("a move");
    Proposal {
        depth: 12,
        selective_depth: 14,
        nodes: 123_456,
        ..Proposal::of_one_ply(
            SearchId { game: "abcdefgh".into(), ply, serial: 1, phase: Phase::First },
            elector.into(),
            best,
            Score::Cp(34),
        )
    }
}

/// A game after 1. e4 e5, both answered by the council of White.
fn voted() -> Scene {
    let mut scene = scene("Sparring");
    let mut line = Line::start(Variant::Standard);
    line.play_all("e2e4 e7e5").expect("legal moves");
    let votes = [("learned-1", "n", "g1f3", Some(1.0)), ("mbkc", "mbkc", "f2f4", None), ("mpar", "mpar", "g1f3", None)];
    let votes = votes.map(|(elector, letters, best, weight)| Vote {
        proposal: proposal(2, elector, best),
        knowledge: letters.parse().ok(),
        weight,
    });
    let decision = Decision {
        criterion: Some(CriterionName::ScoreMargin),
        votes: votes.to_vec(),
        ..Decision::without_vote("g1f3".parse().expect("a move"), Source::Council)
    };
    let game = scene.games.keys().next().expect("a game").clone();
    let decided = GameEvent::Decided {
        line: Arc::new(line),
        decision: Arc::new(decision),
        budget: None,
        lag: Duration::ZERO,
        left_book: false,
    };
    scene.take(&BotEvent::Game(game, decided));
    scene
}

#[test]
fn vote_is_shown_at_every_width() {
    for columns in [40, 80, 140] {
        let text = plain(&voted().draw(columns, 40)).join("\n");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("the engine and 1 of 2 specialist advisers"), "{columns}: {text}");
        assert!(words.contains("preferred f4 (king and centre)"), "{columns}: {text}");
        assert!(words.contains("▌ f4 king and centre (adviser): "), "{columns}: {text}");
        assert!(!text.contains("unanimous"), "{text}");
        assert!(text.lines().all(|line| line.trim_end().chars().count() <= columns), "{columns}: {text}");
    }
}

#[test]
fn last_vote_stays_until_the_next() {
    let mut scene = voted();
    let game = scene.games.keys().next().expect("a game").clone();
    let mut line = Line::start(Variant::Standard);
    line.play_all("e2e4 e7e5 g1f3 b8c6").expect("legal moves");
    scene.take(&BotEvent::Game(game.clone(), GameEvent::Position { line: Arc::new(line), clocks: None }));
    scene.take(&BotEvent::Game(game, GameEvent::Proposal(proposal(4, "learned-1", "f1b5"))));
    let text = plain(&scene.draw(80, 40)).join("\n");
    assert!(text.contains("2. Nf3") && text.contains("king and centre"), "{text}");
    assert!(text.contains("Bb5") && text.contains("thinking about 3."), "{text}");
}

#[test]
fn hints_stand_below_the_game() {
    let mut scene = voted();
    scene.hint(vec!["press Enter for another game".to_owned(); 6]);
    let lines = plain(&scene.draw(80, 24));
    assert_eq!(lines.last().map(String::as_str), Some("press Enter for another game"));
    assert!(lines.len() < 24, "they fit a usual terminal: {lines:#?}");
}

#[test]
fn table_takes_the_rows_that_are_left() {
    let heights = [16, 20, 30].map(|rows| plain(&voted().draw(80, rows)).len());
    assert!(heights[0] <= heights[1] && heights[1] <= heights[2] && heights[1] <= 20, "{heights:?}");
}

#[test]
fn proposals_stand_beside_the_board() {
    let lines = plain(&voted().draw(100, 24));
    let beside = lines.iter().find(|line| line.contains("▌ f4")).expect("the rejected move");
    assert!(beside.trim_start().starts_with(|letter: char| letter.is_ascii_digit() || letter == 'a' || letter == '▌'));
    assert!(beside.find('▌') > Some(SquareSize::SMALL.board_columns() - 3), "{lines:#?}");
}

fn square_size(columns: usize, rows: usize) -> (usize, usize) {
    let lines = plain(&voted().draw(columns, rows));
    let rank = |rank: &str| lines.iter().position(|line| line.starts_with(rank)).expect("a rank");
    let files = lines.iter().find(|line| line.trim_start().starts_with("a ")).expect("files");
    let file = |letter| files.find(letter).expect("a file");
    (rank(" 7 ") - rank(" 8 "), file('b') - file('a'))
}

#[test]
fn large_terminal_gets_a_large_board() {
    assert_eq!(square_size(80, 24), (1, 2));
    assert_eq!(square_size(200, 24), (1, 2), "not without the rows for it");
    assert_eq!(square_size(100, 32), (2, 5));
    assert_eq!(square_size(140, 45), (3, 7));
    for (columns, rows) in [(100, 32), (140, 45), (200, 60)] {
        let lines = plain(&voted().draw(columns, rows));
        assert!(
            lines.len() < rows && lines.iter().all(|line| line.trim_end().chars().count() <= columns),
            "{lines:#?}"
        );
        assert!(lines.iter().any(|line| line.contains("elector ")), "the table stays: {lines:#?}");
    }
}

#[test]
fn large_squares_have_colors() {
    let drawn = voted().draw(140, 45);
    assert!(drawn.iter().any(|line| line.contains("48;5;")), "{drawn:#?}");
    assert!(voted().draw(80, 24).iter().all(|line| !line.contains("48;5;")));
}

#[test]
fn fractional_increments_are_shown() {
    assert!(plain(&scene("Sparring").draw(80, 40)).concat().contains("10+0.1"));
}
