//! Guarantees of the searcher to its callers.

use super::*;

fn position(fen: &str) -> Position {
    Position::from_line(fen, false, []).unwrap_or_else(|error| panic!("{error}"))
}

fn depth(plies: u32) -> Limits {
    Limits { depth: Some(plies), ..Limits::default() }
}

fn nodes(count: u64) -> Limits {
    Limits { nodes: Some(count), ..Limits::default() }
}

fn ask(engine: &mut Engine, fen: &str, limits: Limits) -> Iteration {
    let found = engine.search(&position(fen), &[], &limits, &AtomicBool::new(false), &mut |_| {});
    found.unwrap_or_else(|| panic!("{fen} has legal moves"))
}

fn new_engine() -> Engine {
    Engine::new(EngineOptions { hash: 2, contempt: 0, ..EngineOptions::default() })
}

#[test]
fn nearest_mate_is_preferred() {
    for (fen, moves) in [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1),
        ("r1b3kr/ppp1Bp1p/1b6/n2P4/2p3q1/2Q2N2/P4PPP/RN2R1K1 w - - 1 1", 3),
        ("r1bq2r1/b4pk1/p1pp1p2/1p2pP2/1P2P1PB/3P4/1PPQ2P1/R3K2R w KQ - 0 1", 2),
    ] {
        let limits = Limits { mate: Some(moves), ..nodes(300_000) };
        let found = ask(&mut new_engine(), fen, limits);
        assert_eq!(found.score, Score::Mate(moves as i32), "{fen}");
        assert!(found.nodes < 300_000, "the search ends when the mate is found");
    }
    let mated = position("8/8/8/8/8/2k5/1q6/K7 w - - 0 1");
    assert_eq!(new_engine().search(&mated, &[], &depth(3), &AtomicBool::new(false), &mut |_| {}), None);
}

#[test]
fn losing_score_counts_the_moves() {
    let fen = "7k/8/5K2/8/8/8/8/R7 b - - 0 1";
    assert!(matches!(ask(&mut new_engine(), fen, depth(8)).score, Score::Mate(moves) if moves < 0));
}

#[test]
fn fifty_move_rule_draws() {
    let won = ask(&mut new_engine(), "7k/8/8/8/8/8/R7/K7 w - - 0 80", depth(6)).score;
    let late = ask(&mut new_engine(), "7k/8/8/8/8/8/R7/K7 w - - 99 130", depth(6)).score;
    assert!(matches!(won, Score::Cp(500..) | Score::Mate(1..)), "{won:?}");
    assert!(matches!(late, Score::Cp(-5..=5)), "{late:?}");
}

#[test]
fn early_stop_still_has_a_move() {
    let stop = AtomicBool::new(true);
    let mut reported = 0;
    let found = new_engine().search(&position(Position::START), &[], &Limits::default(), &stop, &mut |_| reported += 1);
    assert_eq!(found.map(|found| found.depth), Some(1));
    assert_eq!(reported, 1);
}

/// A caller that decides inside an iteration decides by its result so far.
#[test]
fn better_moves_are_sent_at_once() {
    let mut told = 0;
    for fen in [
        "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 10",
        "r1b3kr/ppp1Bp1p/1b6/n2P4/2p3q1/2Q2N2/P4PPP/RN2R1K1 w - - 1 1",
        "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    ] {
        let mut last: Option<Iteration> = None;
        let mut listen = |found: &Iteration| {
            if let Some(before) = last.take().filter(|_| !found.is_whole()) {
                assert_eq!((found.depth, found.bound), (before.depth, ScoreBound::Exact), "of the iteration before");
                told += 1;
            }
            last = Some(found.clone());
        };
        new_engine().search(&position(fen), &[], &nodes(200_000), &AtomicBool::new(false), &mut listen);
    }
    assert!(told > 0, "no thread changed its best move");
}

#[test]
fn wild_positions_stop_in_time() {
    let wild = position("q2k2q1/2nqn2b/1n1P1n1b/2rnr2Q/1NQ1QN1Q/3Q3B/2RQR2B/Q2K2Q1 w - - 0 1");
    let stop = AtomicBool::new(true);
    let mut reported = 0;
    let found = new_engine().search(&wild, &[], &Limits::default(), &stop, &mut |_| reported += 1);
    let found = found.expect("there are moves");
    assert!(wild.legal_moves().contains(&found.best));
    assert_eq!(reported, 1);
    assert!(found.nodes < 10_000, "{} nodes", found.nodes);
}

#[test]
fn equal_searches_are_equal() {
    let fen = "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 10";
    let search = |engine: &mut Engine| {
        let found = ask(engine, fen, nodes(20_000));
        (found.best, found.score, found.depth, found.nodes, found.pv)
    };
    let mut engine = new_engine();
    let first = search(&mut engine);
    assert_eq!(first.3, 20_000);
    assert_eq!(first, search(&mut new_engine()));
    engine.new_game();
    assert_eq!(first, search(&mut engine), "a new game forgets the old");
}

#[test]
fn root_moves_can_be_restricted() {
    let position = position(Position::START);
    let moves: Vec<_> = ["a2a3", "h2h4"].iter().filter_map(|text| position.parse_move(text)).collect();
    let stop = AtomicBool::new(false);
    let found = new_engine().search(&position, &moves, &depth(6), &stop, &mut |_| {}).expect("moves were given");
    assert!(moves.contains(&found.best));
    assert_eq!(found.pv.first(), Some(&found.best));
}

#[test]
fn balanced_seven_play() {
    for letters in ["mpar", "mbxp", "mbkc", "mxar", "mkcp", "mcar", "mbxk", "k"] {
        let knowledge = letters.parse().expect("letters");
        let mut engine = Engine::new(EngineOptions { hash: 1, knowledge, ..EngineOptions::default() });
        let found = ask(&mut engine, Position::START, nodes(3_000));
        assert!(found.depth >= 3, "{letters} reached only depth {}", found.depth);
    }
}

#[test]
fn several_threads_search_one_tree() {
    let mut engine = Engine::new(EngineOptions { hash: 2, threads: 3, ..EngineOptions::default() });
    let found = ask(&mut engine, "r1bq2r1/b4pk1/p1pp1p2/1p2pP2/1P2P1PB/3P4/1PPQ2P1/R3K2R w KQ - 0 1", depth(12));
    assert_eq!(found.score, Score::Mate(2));
}

#[test]
fn virtual_time_is_reproducible() {
    let options = EngineOptions { hash: 2, threads: 3, virtual_time: true, ..EngineOptions::default() };
    let fen = "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 10";
    let search = || {
        let iteration = ask(&mut Engine::new(options.clone()), fen, nodes(30_000));
        (iteration.pv, iteration.score, iteration.nodes)
    };
    assert_eq!(search(), search());
}

#[test]
fn lines_are_ranked_by_their_scores() {
    let mut engine = Engine::new(EngineOptions { hash: 1, multi_pv: 3, ..EngineOptions::default() });
    let mut last: Vec<Iteration> = Vec::new();
    let keep = &mut |iteration: &Iteration| {
        if iteration.rank == 1 {
            last.clear();
        }
        last.push(iteration.clone());
    };
    engine.search(&position(Position::START), &[], &depth(6), &AtomicBool::new(false), keep);
    let ranks: Vec<_> = last.iter().map(|iteration| iteration.rank).collect();
    assert_eq!(ranks, [1, 2, 3]);
    let scores: Vec<_> = last.iter().map(|i| if let Score::Cp(cp) = i.score { cp } else { 0 }).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert!(last[0].best != last[1].best && last[1].best != last[2].best);
}

#[test]
fn root_keeps_its_raw_evaluation() {
    let fen = "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 10";
    let mut engine = new_engine();
    // The second search corrects the evaluation by what the first has learnt.
    ask(&mut engine, fen, nodes(20_000));
    ask(&mut engine, fen, nodes(5_000));
    let position = position(fen);
    let entry = engine.table.as_ref().and_then(|table| table.probe(position.board().keys().position));
    assert_eq!(entry.map(|entry| entry.evaluation), Some(engine.evaluate(&position)));
}

#[test]
fn net_search_is_reproducible() {
    let net = Arc::new(crate::net::senseless(crate::net::Header::default()));
    let options =
        EngineOptions { hash: 1, knowledge: Knowledge::NONE.with(Heuristic::Net), ..EngineOptions::default() };
    let options = EngineOptions { net: Some(net.clone()), ..options };
    assert_eq!(options.check_net(), Ok(()));
    let fen = "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 10";
    let search = || {
        let found = ask(&mut Engine::new(options.clone()), fen, nodes(5_000));
        (found.pv, found.score, found.nodes)
    };
    assert_eq!(search(), search());
    // Alone it is the evaluation, but for the right to move.
    let own = Engine::new(options.clone()).evaluate(&position(fen));
    let right_to_move = Engine::new(EngineOptions { percentages: [0; 9], ..options }).evaluate(&position(fen));
    assert_eq!(own, net.evaluate(position(fen).board()) + right_to_move);
    assert!((1..50).contains(&right_to_move));
}

#[test]
fn net_stands_alone() {
    let options = |letters: &str| EngineOptions {
        knowledge: letters.parse().expect("letters"),
        net: Some(Arc::new(crate::net::senseless(crate::net::Header::default()))),
        ..EngineOptions::default()
    };
    assert_eq!((options("n").check_net(), options("mk").check_net()), (Ok(()), Ok(())));
    for mixed in ["mbxkcparn", "mn"] {
        let error = options(mixed).check_net().expect_err("a net beside other heuristics");
        assert_eq!(error, format!("{mixed}: a net judges alone (accepted: n, or letters of mbxkcpar)"));
    }
    let place = position("r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 10");
    let [none, half, whole] = [0, 50, 100]
        .map(|share| Engine::new(EngineOptions { percentages: [share; 9], ..options("n") }).evaluate(&place));
    assert_eq!(half - none, (whole - none) / 2);
}

/// The group's shared value only centres the first window; it does not bound the result.
#[test]
fn overrated_group_score_is_searched_again() {
    let (won, level) = ("6k1/5ppp/8/8/8/8/5PPP/1Q4K1 w - - 0 1", "6k1/5ppp/8/8/8/8/5PPP/6K1 w - - 0 1");
    let alone = ask(&mut new_engine(), level, depth(9));
    let best_of_group = BestOfGroup::default();
    let root = Root { best_of_group: Some(&best_of_group), ..Root::default() };
    let search = |fen: &str| {
        let never = AtomicBool::new(false);
        new_engine().search_root(&position(fen), &root, &depth(9), &never, &mut |_| {}).expect("a move")
    };
    let decided = search(won).score;
    assert!(matches!(decided, Score::Cp(500..) | Score::Mate(1..)), "{decided:?}");
    let grouped = search(level);
    assert_eq!(grouped.bound, ScoreBound::Exact);
    let (Score::Cp(expected), Score::Cp(found)) = (alone.score, grouped.score) else { panic!("no mate is near") };
    assert!((found - expected).abs() < 60, "{found} beside {expected}");
}

/// The other table claims that the winning capture loses, two hundred plies deep.
#[test]
fn untrusted_lie_changes_no_result() {
    use table::Bound;
    let fen = "6k1/5ppp/8/3q4/8/P1N5/1P3PPP/6K1 w - - 0 1";
    let board = position(fen).board().clone();
    let takes = position(fen).legal_moves().into_iter().find(|mv| board.is_noisy(*mv)).expect("the queen hangs");
    let mut after = board.clone();
    after.play(takes, &board);
    let reply = after.legal_moves().first().copied();
    let options = EngineOptions { hash: 2, contempt: 0, ..EngineOptions::default() };
    for (belief, is_found) in [(Belief::Values, false), (Belief::Moves, true)] {
        let [liar, honest] = [(); 2].map(|()| SharedTable::new(&options));
        for table in [&liar, &honest] {
            table.table.begin(board.keys().position);
        }
        liar.keep_for_others(1);
        liar.table.store(after.keys().position, 0, reply, 2000, 2000, 200, Bound::Exact, true);
        assert_eq!(honest.hear(&liar.tell().expect("a lie"), belief), 1);
        let mut engine = Engine::sharing(options.clone(), &honest).expect("of one evaluation");
        assert_eq!(ask(&mut engine, fen, depth(6)).best == takes, is_found, "{belief:?}");
    }
}
