//! Labels and figures compared with those of Lichess for the same values.
//!
//! Four games are quoted with all that the site, its documentation and its own clients report
//! (`/game/export/ID` with analysis). Thirty-seven are from its *database*, which labels the same
//! moves but names the labels by centipawns lost (100 for a mistake, 300 for a blunder), not by
//! chances.

extern crate concilio_report as report;

use domain::{Color, Score};
use report::formulas::{MoveLabel, START_VALUE, centipawn_loss, game_accuracy};

struct SiteGame {
    id: &'static str,
    /// The value for White after every move (`#` before moves to mate), with `i`, `m` or `b` for an
    /// inaccuracy, a mistake or a blunder.
    values: &'static str,
    /// White's and Black's average loss in centipawns.
    average_loss: [u32; 2],
    /// White's and Black's accuracy, as the site rounds it, if it is known.
    accuracy: Option<[f64; 2]>,
}

const GAMES: [SiteGame; 4] = [
    SiteGame {
        id: "q7ZvsdUF",
        values: "8 7 10 14 2 9 5 85i 96 98 88 87 81 88 82 90 79 160i 146 151 149 160 151 150 164 190 44m 61 59 54 -34i 158b \
                 142 183 177 340m 169m 200 120i 167 147 200 92i 102 95 95 61 79 72 201m 190 183 106i 108 93 101 101 107 100 \
                 105 103 118 117 116 83 95 90 94 94 93 88 102 79 120 114 124 108 133 100 156 198 179 167 227 225 209 207 192 \
                 173 243i 219 234 201 342m 318 342 307 323 270 313 279 303 286 277 215 213 8b 8 8 8 21 54 42 57 25 63 8i 8 8 \
                 8 8 8 8 8 8",
        average_loss: [26, 26],
        accuracy: Some([90.0, 90.0]),
    },
    SiteGame {
        id: "CCW6EEru",
        values: "32 41 39 20 17 21 -21 -14 -23 -24 -24 52i -56i 177b -19b -16 -20 -12 -145m 72b -36i -41 -42 593b 589 630 \
                 -32b 602b 581 656 662 #15b 566b 574 566 580 569 774i 739 743 615 934i 861",
        average_loss: [90, 135],
        accuracy: None,
    },
    SiteGame {
        id: "3zfAoBZs",
        values: "0 0 0 51 56 53 51 87 79 79 79 85 69 74 20 27 -57i -71 -216m -199 -259 223b 208 745b 737 773 757 806 802 1002 \
                 945",
        average_loss: [30, 95],
        accuracy: None,
    },
    SiteGame {
        id: "NchH5KBj",
        values: "28 82 66 80 71 63 75 60 80 136 53i 63 -16i 131m -10m -27 -20 -31 -57 20i -138m -91 -107 538b 506 515 515 \
                 745i 739 792 753 800 745 858 575i 730 685 737 621 645 578 977i 700 716 730 1054 1014",
        average_loss: [60, 105],
        accuracy: None,
    },
];

/// The values after the moves, from White's side, with the labels of the moves.
fn read(values: &str) -> Vec<(Score, Option<MoveLabel>)> {
    let read = |text: &str| {
        let label = match text.chars().last() {
            Some('i') => Some(MoveLabel::Inaccuracy),
            Some('m') => Some(MoveLabel::Mistake),
            Some('b') => Some(MoveLabel::Blunder),
            _ => None,
        };
        let value = text.trim_end_matches(['i', 'm', 'b']);
        let score = match value.strip_prefix('#') {
            Some(moves) => Score::Mate(moves.parse().expect("moves")),
            None => Score::Cp(value.parse().expect("centipawns")),
        };
        (score, label)
    };
    values.split_ascii_whitespace().map(read).collect()
}

/// Every move by its ply with both labels.
fn labels(moves: &[(Score, Option<MoveLabel>)]) -> impl Iterator<Item = (usize, Option<MoveLabel>, Option<MoveLabel>)> {
    let before = std::iter::once(START_VALUE).chain(moves.iter().map(|(score, _)| *score));
    before.zip(moves).enumerate().map(|(ply, (before, (after, theirs)))| {
        let side = |score: Score| if ply % 2 == 0 { score } else { score.flipped() };
        (ply, MoveLabel::of(side(before), side(*after)), *theirs)
    })
}

#[test]
fn labels_are_those_of_the_site() {
    let (mut labelled, mut alike) = (0, 0);
    for game in GAMES {
        for (ply, ours, theirs) in labels(&read(game.values)) {
            if ours.is_some() || theirs.is_some() {
                labelled += 1;
                alike += usize::from(ours == theirs);
            }
            if ours != theirs {
                println!("{} ply {ply}: {ours:?}, the site says {theirs:?}", game.id);
            }
        }
    }
    println!("{alike} of {labelled} labels alike");
    assert!(alike * 100 >= labelled * 95, "{alike} of {labelled}");
}

#[test]
fn labels_match_the_site() {
    let games = include_str!("lichess_database.txt").lines().filter(|line| !line.starts_with('#'));
    let (mut labelled, mut alike, mut moves) = (0, 0, 0);
    for (id, values) in games.filter_map(|line| line.split_once(' ')) {
        for (ply, ours, theirs) in labels(&read(values)) {
            moves += 1;
            labelled += usize::from(ours.is_some() || theirs.is_some());
            alike += usize::from(ours.is_some() && theirs.is_some());
            // The one different move may be its judge's own move, which the database does not tell.
            if ours.is_some() != theirs.is_some() {
                println!("{id} ply {ply}: {ours:?}, the database says {theirs:?}");
            }
        }
    }
    println!("{alike} of {labelled} labelled moves alike, of {moves} moves");
    assert!(labelled > 400 && alike * 100 >= labelled * 95, "{alike} of {labelled}");
}

#[test]
fn accuracies_match_the_site() {
    for game in GAMES {
        let moves = read(game.values);
        let after: Vec<Score> = moves.iter().map(|(score, _)| *score).collect();
        for (color, expected) in [(Color::White, game.average_loss[0]), (Color::Black, game.average_loss[1])] {
            let values = std::iter::once(START_VALUE).chain(after.iter().copied()).collect::<Vec<_>>();
            let side = |score: Score| if color.is_white() { score } else { score.flipped() };
            let pairs = values.windows(2).skip(usize::from(color.is_black())).step_by(2);
            let losses: Vec<u32> = pairs.map(|pair| centipawn_loss(side(pair[0]), side(pair[1]))).collect();
            let mean = f64::from(losses.iter().sum::<u32>()) / losses.len() as f64;
            assert!((mean - f64::from(expected)).abs() <= 0.5, "{} {color}: {mean}, the site says {expected}", game.id);
        }
        let accuracy = game_accuracy(Color::White, &after);
        println!("{}: {accuracy:?}", game.id);
        if let Some(expected) = game.accuracy {
            for (ours, theirs) in [(accuracy.white, expected[0]), (accuracy.black, expected[1])] {
                // The site gives whole numbers, so half a point is the precision.
                assert!(ours.is_some_and(|ours| (ours - theirs).abs() <= 0.5), "{ours:?}, the site says {theirs}");
            }
        }
    }
}
