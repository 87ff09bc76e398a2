//! Results of both searches, and their end on demand.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use super::{
    published::{Published, PublishedSettings},
    *,
};
use crate::{
    board::{Board, Rules},
    endgame::{EndgameTables, Known},
    evaluation::{Knowledge, Strategy},
    game::{Game, ballots},
};

fn game(fen: &str) -> Game {
    Game::new(fen.parse().expect("a position"), Rules::Official)
}

fn searcher() -> Searcher {
    Searcher::new(SearchOptions { hash: 2, contempt: 0, ..SearchOptions::default() })
}

fn search(game: &Game, limits: Limits) -> Iteration {
    searcher().search(game, &limits, &AtomicBool::new(false), |_| {}).expect("the game is not over")
}

fn to_depth(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

#[test]
fn iterations_end_at_the_depth() {
    let mut reports = Vec::new();
    let game = Game::default();
    let last = searcher().search(&game, &to_depth(7), &AtomicBool::new(false), |it| reports.push(it.clone()));
    assert_eq!(reports.iter().map(|it| it.depth).collect::<Vec<_>>(), (1..=7).collect::<Vec<_>>());
    assert_eq!(reports.last(), last.as_ref());
    for report in reports {
        assert_eq!(report.pv.first(), Some(&report.best));
        let mut line = game.clone();
        assert!(report.pv.iter().all(|mv| line.play(*mv).is_ok()), "{:?}", report.pv);
    }
}

#[test]
fn equal_searches_visit_equal_nodes() {
    for ballot in ballots::draw(3, 5) {
        let game = Game::new(ballot, Rules::Official);
        let limits = Limits { nodes: Some(20_000), ..Limits::default() };
        let mut one = search(&game, limits.clone());
        let mut other = search(&game, limits);
        assert!(one.nodes <= 20_000);
        (one.time, other.time) = (Duration::ZERO, Duration::ZERO);
        assert_eq!(one, other);
    }
}

#[test]
fn stopped_search_still_has_a_move() {
    let found = searcher().search(&Game::default(), &Limits::default(), &AtomicBool::new(true), |_| {});
    assert_eq!(found.map(|it| it.depth), Some(1));
    let now = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    assert_eq!(search(&Game::default(), now).depth, 1);
}

#[test]
fn stop_ends_an_unlimited_search() {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let found = searcher().search(&Game::default(), &Limits::default(), &stop, move |it| {
        flag.store(it.depth >= 5, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(found.is_some_and(|it| it.depth >= 5));
}

#[test]
fn only_given_moves_are_searched() {
    let game = Game::default();
    let only = game.legal_moves()[3];
    let limits = Limits { moves: Some(vec![only]), ..to_depth(4) };
    assert_eq!(search(&game, limits).best, only);
    let none = Limits { moves: Some(Vec::new()), ..to_depth(4) };
    assert_eq!(searcher().search(&game, &none, &AtomicBool::new(false), |_| {}), None);
}

#[test]
fn decided_scores_count_moves() {
    let win = search(&game("W:W22:B18"), to_depth(3));
    assert_eq!((win.score, win.best.to_string().as_str()), (Score::Win(1), "22x13"));
    // Black's man is captured after any move.
    let loss = search(&game("B:WK10:B5"), to_depth(6));
    assert!(matches!(loss.score, Score::Win(moves) if moves < 0), "{:?}", loss.score);
    let over = game("B:W9,10,13,14:B5");
    assert_eq!(searcher().search(&over, &to_depth(3), &AtomicBool::new(false), |_| {}), None);
}

#[test]
fn captures_extend_the_horizon() {
    // Wherever 23 steps it is captured, which a search of one ply sees by extending captures.
    let found = search(&game("W:W23,32:B14,15"), to_depth(1));
    assert_eq!(found.best.from().number(), 32, "{:?}", found.best);
}

/// Two kings against one, a ply before forty moves of each side have made no progress.
fn almost_forty_moves(rules: Rules) -> Game {
    let mut game = Game::new("W:WK29,K32:BK3".parse().expect("a position"), rules);
    let white = [29, 25, 21, 18, 22, 27, 30, 26, 29];
    let black = [3, 6, 11, 15, 12, 7, 3];
    let walks = white.windows(2).cycle().zip(black.windows(2).cycle());
    for step in walks.flat_map(|(white, black)| [white, black]).take(79) {
        game.play_text(&format!("{}-{}", step[0], step[1])).expect("legal");
    }
    game
}

#[test]
fn forty_move_rule_is_official_only() {
    for (rules, drawn) in [(Rules::Official, true), (Rules::Relaxed, false)] {
        let score = search(&almost_forty_moves(rules), to_depth(4)).score;
        assert_eq!(score == Score::Points(0), drawn, "{rules:?}: {score:?}");
    }
}

#[test]
fn contempt_lowers_draws() {
    let game = almost_forty_moves(Rules::Official);
    for depth in 1..=4 {
        let mut searcher = Searcher::new(SearchOptions { hash: 1, contempt: 35, ..SearchOptions::default() });
        let found = searcher.search(&game, &to_depth(depth), &AtomicBool::new(false), |_| {});
        assert_eq!(found.map(|it| it.score), Some(Score::Points(-35)), "{depth} plies");
    }
}

#[test]
fn playing_on_keeps_the_draw() {
    let tables = Arc::new(EndgameTables::build(3, |_, _| {}));
    let options = SearchOptions { tables: Some(Arc::clone(&tables)), hash: 1, ..SearchOptions::default() };
    assert!(options.contempt > 0);
    let mut searcher = Searcher::new(options);
    let squares = || (1..=32).step_by(2);
    let fens = squares().flat_map(|own| {
        let others = squares().map(|square| square - 1).filter(|square| (5..=28).contains(square));
        others.flat_map(move |man| [format!("W:WK{own}:B{man},K15"), format!("W:WK{own},{man}:BK15")])
    });
    let boards = fens.filter_map(|fen| fen.parse::<Board>().ok());
    let drawn: Vec<Board> = boards.filter(|board| tables.probe(board) == Some(Known::Draw)).take(60).collect();
    assert!(drawn.len() > 20, "{}", drawn.len());
    for board in drawn {
        let game = Game::new(board, Rules::Official);
        let found = searcher.search(&game, &to_depth(5), &AtomicBool::new(false), |_| {}).expect("a move");
        assert_eq!(tables.probe(&board.after(&found.best)), Some(Known::Draw), "{board}: {}", found.best);
    }
}

#[test]
fn every_evaluation_can_be_searched() {
    let evaluations = Strategy::ALL
        .into_iter()
        .flat_map(|strategy| [Evaluation::Published(strategy), Evaluation::Heuristics(strategy.knowledge())])
        .chain([Evaluation::Heuristics(Knowledge::COMPLETE)]);
    for evaluation in evaluations {
        let mut searcher = Searcher::new(SearchOptions { evaluation, hash: 1, ..SearchOptions::default() });
        let found = searcher.search(&Game::default(), &to_depth(5), &AtomicBool::new(false), |_| {});
        assert!(found.is_some_and(|it| it.depth == 5), "{evaluation}");
    }
}

#[test]
fn extra_kings_are_no_forced_win() {
    // By the squares of the rows a king has 12,800 hundredths of a man.
    let evaluation = Evaluation::Published(Strategy::PesoPosizione);
    for fen in ["W:WK14,K15,K18:B1,2", "B:WK14,K15,K18:B1,2"] {
        let mut searcher = Searcher::new(SearchOptions { evaluation, hash: 1, ..SearchOptions::default() });
        let found = searcher.search(&game(fen), &to_depth(2), &AtomicBool::new(false), |_| {}).expect("a move");
        assert!(found.depth == 2 && matches!(found.score, Score::Points(_)), "{fen}: {:?}", found.score);
    }
}

fn choose(game: &Game, settings: PublishedSettings, seed: u64) -> published::PublishedChoice {
    Published::new(settings, seed).choose(game, &AtomicBool::new(false)).expect("the game is not over")
}

#[test]
fn published_search_is_plain_minimax() {
    let settings = PublishedSettings {
        strategy: Strategy::PesoPedine,
        depth: 1,
        quiescence: false,
        second_iteration: false,
        whole_tree: true,
    };
    let found = choose(&Game::default(), settings, 1);
    // Seven moves and forty-nine replies; no man can be won, so only the random amount is left.
    assert_eq!(found.nodes, 7 + 49);
    assert!((0..=2).contains(&found.value), "{}", found.value);
}

#[test]
fn pruning_keeps_published_choices() {
    for (seed, ballot) in (0..).zip(ballots::draw(6, 9)) {
        let game = Game::new(ballot, Rules::Official);
        for strategy in Strategy::ALL {
            let whole = PublishedSettings { strategy, depth: 1, ..PublishedSettings::default() };
            let pruned = PublishedSettings { whole_tree: false, ..whole };
            let (one, other) = (choose(&game, whole, seed), choose(&game, pruned, seed));
            assert_eq!((one.best, one.value), (other.best, other.value), "{strategy:?} {ballot}");
            assert!(other.nodes <= one.nodes);
        }
    }
}

#[test]
fn unquiet_leaves_are_searched_again() {
    // After one full move White has won a man by the count; Black then captures two and promotes.
    let board = game("W:W22,31:B17,18,9,5");
    let at_first_sight =
        PublishedSettings { quiescence: false, second_iteration: false, depth: 1, ..PublishedSettings::default() };
    let looked_again = PublishedSettings { depth: 1, ..PublishedSettings::default() };
    assert!(choose(&board, looked_again, 1).value <= choose(&board, at_first_sight, 1).value);
    assert!(choose(&board, looked_again, 1).nodes > choose(&board, at_first_sight, 1).nodes);
}

#[test]
fn seed_breaks_published_ties() {
    let settings = PublishedSettings { strategy: Strategy::PesoPedine, depth: 1, ..PublishedSettings::default() };
    let chosen: std::collections::HashSet<_> =
        (0..40).map(|seed| choose(&Game::default(), settings, seed).best).collect();
    assert!(chosen.len() > 1, "{chosen:?}");
    assert_eq!(choose(&Game::default(), settings, 3), choose(&Game::default(), settings, 3));
}

#[test]
fn stopped_published_search_is_empty() {
    assert_eq!(Published::new(PublishedSettings::default(), 1).choose(&Game::default(), &AtomicBool::new(true)), None);
}

#[test]
fn timed_published_search_moves() {
    let settings = PublishedSettings { depth: 2, whole_tree: false, ..PublishedSettings::default() };
    let depths = |game: &Game, stop: bool| {
        let mut depths = Vec::new();
        Published::new(settings, 1).deepen(game, &AtomicBool::new(stop), |depth, choice| {
            assert!(game.legal_moves().contains(&choice.best));
            depths.push(depth);
        });
        depths
    };
    assert_eq!(depths(&Game::default(), true), [1]);
    assert_eq!(depths(&Game::default(), false), [1, 2]);
    assert!(depths(&game("B:W9,10,13,14:B5"), false).is_empty(), "nothing can be played");
}

#[test]
fn published_search_knows_results() {
    let settings = PublishedSettings { depth: 2, ..PublishedSettings::default() };
    for (fen, won) in [("W:WK22:B18", Score::Win(1)), ("W:W25:BK10,K14", Score::Win(-2))] {
        assert_eq!(choose(&game(fen), settings, 1).score(), won, "{fen}");
        assert_eq!(search(&game(fen), to_depth(6)).score, won, "{fen}: the search of today agrees");
    }
    assert!(matches!(choose(&Game::default(), settings, 1).score(), Score::Points(-50..=50)));
}
