//! The reasons agree with the evaluation by parts that `concilio eval` prints.

use std::collections::BTreeMap;

use engine::{Board, Position, breakdown, evaluation::FULL_PHASE};

use super::*;
use crate::{Line, UciMove, Variant, engine_position};

/// A line of random legal moves: always the same for a seed.
fn wander(line: &Line, plies: usize, seed: &mut u64) -> Vec<UciMove> {
    let mut line = line.clone();
    let mut played = Vec::new();
    for _ in 0..plies {
        let legal = line.legal_moves();
        if legal.is_empty() {
            break;
        }
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mv = legal[(*seed >> 33) as usize % legal.len()];
        line.play(mv).expect("legal");
        played.push(mv);
    }
    played
}

/// The value of each heuristic for White in centipawns, from the table that `concilio eval` prints.
fn printed(board: &Board) -> BTreeMap<char, f64> {
    let table = breakdown(board, None).to_string();
    let phase = table.lines().last().and_then(|row| row.split_whitespace().nth(1)).expect("a phase");
    let phase: f64 = phase.parse().expect("a number");
    let full = f64::from(FULL_PHASE);
    let rows = table.lines().skip(1).take(8).map(|row| {
        let letter = row.chars().next().expect("a letter");
        let numbers: Vec<f64> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [.., middlegame, endgame] = numbers[..] else { panic!("{row}") };
        (letter, 100.0 * (middlegame * phase + endgame * (full - phase)) / full)
    });
    rows.collect()
}

fn end(line: &Line, moves: &[UciMove]) -> Board {
    let mut line = line.clone();
    moves.iter().for_each(|mv| line.play(*mv).expect("legal"));
    engine_position(&line).expect("a position").board().after_exchanges()
}

const LETTERS: [(&str, char); 8] = [
    ("material", 'm'),
    ("placement", 'b'),
    ("mobility", 'x'),
    ("king safety", 'k'),
    ("centre", 'c'),
    ("pawn structure", 'p'),
    ("attack", 'a'),
    ("piece relations", 'r'),
];

#[test]
fn reasons_agree_with_the_printed_evaluation() {
    let mut seed = 47;
    let mut compared = 0;
    while compared < 50 {
        let mut line = Line::start(Variant::Standard);
        let opening = wander(&line, 6 + compared, &mut seed);
        opening.iter().for_each(|mv| line.play(*mv).expect("legal"));
        let [elected, other] = [8, 5].map(|plies| wander(&line, plies, &mut seed));
        let (Some(best), Some(rejected)) = (elected.first(), other.first()) else { continue };
        if best == rejected {
            continue;
        }
        compared += 1;
        let expected = [(elected.clone(), 12), (other.clone(), 9), (vec![*rejected], 4)];
        let expected =
            expected.map(|(moves, depth)| ExpectedLine { mv: moves[0], moves, depth, score: Some(Score::Cp(10)) });
        let [reason] = &reasons(&line, *best, &expected)[..] else { panic!("one other move was proposed") };
        assert_eq!(reason.uci, rejected.to_string());

        let sign = if line.turn().is_white() { 1.0 } else { -1.0 };
        let [base, end] = [end(&line, &elected), end(&line, &other)].map(|board| printed(&board));
        let by_numbers: BTreeMap<&str, f64> =
            LETTERS.iter().map(|(name, letter)| (*name, sign * (end[letter] - base[letter]))).collect();
        // Each end is rounded to centipawns.
        for Difference { heuristic, cp } in &reason.differences {
            assert!((by_numbers[heuristic] - f64::from(*cp)).abs() < 2.0, "{heuristic} {cp}: {by_numbers:?}");
        }
        let told: Vec<&str> = reason.text.split(", ").collect();
        let mut largest: Vec<f64> = by_numbers.values().map(|cp| cp.abs()).collect();
        largest.sort_by(|a, b| b.total_cmp(a));
        for (words, largest) in told.iter().zip(largest) {
            let Some((name, pawns)) = words.rsplit_once(' ').filter(|_| *words != "ends no different") else {
                continue;
            };
            let pawns: f64 = pawns.parse().expect("a number");
            assert!((by_numbers[name] / 100.0 - pawns).abs() < 0.071, "{}: {by_numbers:?}", reason.text);
            assert!((pawns.abs() - largest / 100.0).abs() < 0.1, "{}: {by_numbers:?}", reason.text);
        }
        let sentence = in_words(&line.san(*best), std::slice::from_ref(reason));
        assert!(sentence.contains(&reason.text), "{sentence}");
    }
}

fn proposal(moves: &str, depth: u32, score: Score) -> ExpectedLine<UciMove> {
    let moves: Vec<UciMove> = moves.split(' ').map(|mv| mv.parse().expect("a move")).collect();
    ExpectedLine { mv: moves[0], moves, depth, score: Some(score) }
}

#[test]
fn lines_do_not_end_inside_an_exchange() {
    let line = Line::start(Variant::Standard);
    let parts = |moves: &str| {
        let moves: Vec<UciMove> = moves.split(' ').map(|mv| mv.parse().expect("a move")).collect();
        line.parts_after(&moves).expect("parts")
    };
    // White has taken a pawn that Black takes back.
    let material = parts("e2e4 d7d5 e4d5").into_iter().find(|(name, _)| *name == "material").expect("material").1;
    assert!(material.abs() < 50, "{material}");
    let after = Position::from_line("startpos", false, "e2e4 d7d5 e4d5".split(' ')).expect("a position");
    assert!(after.board().after_exchanges().to_fen().starts_with("rnb1kbnr/ppp1pppp/8/3q4"));
}

#[test]
fn mates_are_said_in_place_of_heuristics() {
    let line = Line::start(Variant::Standard);
    let (quiet, wins, loses) = (Score::Cp(20), Score::Mate(3), Score::Mate(-2));
    let said = |elected, rejected| {
        let expected = [proposal("e2e4 e7e5", 9, elected), proposal("d2d4 d7d5", 9, rejected)];
        in_words("e4", &reasons(&line, expected[0].mv, &expected))
    };
    assert_eq!(said(quiet, loses), "compared with e4, d4 is mated in 2");
    assert_eq!(said(wins, quiet), "compared with e4, d4 has no mate");
    assert_eq!(said(loses, quiet), "compared with e4, d4 escapes the mate");
    assert_eq!(said(loses, wins), "compared with e4, d4 mates in 3");
}

#[test]
fn agreement_needs_no_reasons() {
    let line = Line::start(Variant::Standard);
    let expected = [proposal("e2e4 e7e5", 9, Score::Cp(3)), proposal("e2e4", 4, Score::Cp(1))];
    assert!(reasons(&line, expected[0].mv, &expected).is_empty());
    assert_eq!(in_words("e4", &[]), "");
}

#[test]
fn other_rules_have_no_reasons() {
    let line = Line::start(Variant::Atomic);
    let expected = [proposal("e2e4 e7e5", 9, Score::Cp(3)), proposal("d2d4", 4, Score::Cp(1))];
    assert!(reasons(&line, expected[0].mv, &expected).is_empty());
}
