//! A studied game as PGN: labels as Numeric Annotation Glyphs, values and clocks in the comment format
//! of Lichess and python-chess, better lines as variations, and the votes.

use bot::journal::{pgn_clock, pgn_result, pgn_tags};
use domain::{PgnWriter, Score, vote_words::capitalised};

use crate::{
    study::{GameStudy, MoveStudy, VoteStudy},
    votes::{numbered, tally},
};

/// The number of moves of a better line.
const LONGEST_VARIATION: usize = 6;

/// Writes the game's text and an empty line. `judge` is its annotator.
pub fn annotated_pgn(game: &GameStudy, judge: &str) -> String {
    let mut tags = pgn_tags(&game.record, game.moves.len());
    tags.push(("Annotator", judge.to_owned()));
    if let Some(opening) = game.opening {
        tags.push(("ECO", opening.eco.to_owned()));
        tags.push(("Opening", opening.name.to_owned()));
    }
    let accuracies = [("WhiteAccuracy", game.accuracy.white), ("BlackAccuracy", game.accuracy.black)];
    tags.extend(accuracies.into_iter().filter_map(|(tag, value)| Some((tag, format!("{:.1}", value?)))));
    let mut text = PgnWriter::begin(&tags);
    let mut interrupted = true;
    for (index, played) in game.moves.iter().enumerate() {
        text.number(played.number, played.mover, interrupted);
        text.word(&played.san);
        if let Some(label) = played.label {
            text.word(&format!("${}", label.nag()));
        }
        let comment = comment(game, index, played);
        // After a comment Black's move needs its number.
        interrupted = !comment.is_empty();
        text.comment(&comment);
        if played.label.is_some() {
            variation(&mut text, played);
        }
    }
    text.end(pgn_result(&game.record))
}

/// The judge's line instead of an error.
fn variation(text: &mut PgnWriter, played: &MoveStudy) {
    let (mut number, mut white) = (played.number, played.mover.is_white());
    let mut moves: Vec<String> = Vec::new();
    for san in played.best_line.iter().take(LONGEST_VARIATION) {
        moves.push(if white || moves.is_empty() { numbered(number, white, san) } else { san.clone() });
        number += u32::from(!white);
        white = !white;
    }
    if !moves.is_empty() {
        format!("({})", moves.join(" ")).split(' ').for_each(|word| text.word(word));
    }
}

/// The words of a comment; commands to programs, such as `[%clk 0:01:00]`, are one word each.
fn comment(game: &GameStudy, index: usize, played: &MoveStudy) -> Vec<String> {
    let commands = [
        eval(played.value_for_white(), played.mates()),
        played.clock.map(|clock| format!("[%clk {}]", pgn_clock(clock))),
        played.taken.map(|taken| format!("[%emt {}]", pgn_clock(taken))),
    ];
    // A brace would end the comment, a bracket begin a command.
    let text = remarks(game, index, played).join(" ").replace(['{', '[', '<'], "(").replace(['}', ']', '>'], ")");
    commands.into_iter().flatten().chain(text.split_ascii_whitespace().map(str::to_owned)).collect()
}

fn remarks(game: &GameStudy, index: usize, played: &MoveStudy) -> Vec<String> {
    let mut words = Vec::new();
    if let (Some(label), Some(best)) = (played.label, played.best_line.first()) {
        words.push(format!("{}. {best} was best.", capitalised(label.word())));
    }
    words.extend(played.missed.map(|missed| missed.sentence().to_owned()));
    if played.tables.is_some_and(|tables| tables.spoiled()) {
        words.push("By the endgame tables this changes the result.".to_owned());
    }
    if game.turning_point == Some(index) {
        words.push("The turning point.".to_owned());
    }
    words.extend(game.vote(played.ply).and_then(vote_text));
    words
}

/// `[%eval 0.34]` or `[%eval #-3]`, from White's side; nothing for a mate on the board.
fn eval(score: Score, mated: bool) -> Option<String> {
    match score {
        _ if mated => None,
        Score::Cp(centipawns) => Some(format!("[%eval {:.2}]", f64::from(centipawns) / 100.0)),
        Score::Mate(moves) => Some(format!("[%eval #{moves}]")),
    }
}

fn vote_text(vote: &VoteStudy) -> Option<String> {
    let tally = tally(vote);
    if tally.len() < 2 {
        return None;
    }
    let moves = tally.iter().map(|(san, _)| {
        let of_move = vote.voters.iter().filter(|voter| voter.san == *san);
        let names: Vec<&str> = of_move.map(|voter| voter.proposal.elector.as_str()).collect();
        format!("{san} by {}", names.join(" "))
    });
    Some(format!("Votes: {}; elected by {}.", moves.collect::<Vec<_>>().join(", "), vote.criterion))
}
