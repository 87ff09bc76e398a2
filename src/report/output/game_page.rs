//! The page of one game: its curve, its errors on boards, every move with its cost, and its split
//! votes.

use std::fmt::Write as _;

use bot::journal::pgn_result;
use domain::vote_words::capitalised;

use super::{
    board::board,
    curve::expectation_curve,
    html::{HtmlTable, escaped, framed, optional, page},
};
use crate::{
    formulas::MoveLabel,
    study::{GameStudy, MoveStudy, VoteStudy},
    votes::{numbered, tally},
};

/// The number of costly errors on boards.
const BOARDS: usize = 8;

/// Writes the page of a game in a report's folder; the page names `judge`.
pub(super) fn game_page(game: &GameStudy, judge: &str) -> String {
    page(&title(game), "../", &body(game, judge))
}

/// Writes the page of a game outside a report's folder. `style` is the address of its style; `links`
/// above the page have addresses and names.
pub fn study_page(game: &GameStudy, judge: &str, style: &str, links: &[(String, &str)]) -> String {
    let links = links.iter().map(|(address, name)| format!("<a href=\"{}\">{name}</a>", escaped(address)));
    framed(&title(game), style, &links.collect::<String>(), &body(game, judge))
}

fn title(game: &GameStudy) -> String {
    let record = &game.record;
    format!("{} - {}  {}", record.white.name, record.black.name, pgn_result(record))
}

fn body(game: &GameStudy, judge: &str) -> String {
    let moves = format!("<h2>Moves</h2>\n{}", moves(game));
    [summary(game, judge), expectation_curve(game), votes(game), errors(game), moves].concat()
}

fn summary(game: &GameStudy, judge: &str) -> String {
    let record = &game.record;
    let mut text = format!(
        "<section class=\"summary\">\n<p>{}, {} {}, {}; ended by {}. Judged by {}.</p>\n",
        record.started_at.strftime("%Y-%m-%d %H:%M"),
        escaped(&record.time_control.in_minutes()),
        record.speed.key(),
        if record.rated { "rated" } else { "casual" },
        escaped(record.status.name()),
        escaped(judge),
    );
    // Writing to a string cannot fail, here and below.
    let mut facts = Vec::new();
    if let Some(opening) = game.opening {
        facts.push(format!("{} {}, left after {} plies", opening.eco, escaped(opening.name), game.opening_plies));
    }
    if game.book_plies > 0 {
        facts.push(format!("the bot's book ended at ply {}", game.book_plies));
    }
    facts.extend(game.ending.map(|(ply, name)| format!("{name} from ply {ply} on")));
    facts.extend(game.turning_point.and_then(|index| game.moves.get(index)).map(|played| {
        format!("decided by {} ({:.0} % → {:.0} %)", move_name(played), played.expected_before, shown_after(played))
    }));
    let split = game.votes.iter().filter(|vote| is_split(vote)).count();
    if !game.votes.is_empty() {
        facts.push(format!("{split} of {} votes split", game.votes.len()));
    }
    if !facts.is_empty() {
        let _ = writeln!(text, "<p>{}.</p>", facts.join("; "));
    }
    if let Some(url) = record.url.as_deref().filter(|url| url.starts_with("https://") || url.starts_with("http://")) {
        let _ = writeln!(text, "<p><a href=\"{0}\">{0}</a></p>", escaped(url));
    }
    let mut table =
        HtmlTable::new(&["", "#accuracy", "#centipawns lost a move", "#inaccuracies", "#mistakes", "#blunders"]);
    for (side, player) in [(domain::Color::White, &record.white), (domain::Color::Black, &record.black)] {
        let count = |label| game.labels(side, label).to_string();
        table.row(&[
            format!("{}{}", escaped(&player.name), if side == record.our_color { " (the bot)" } else { "" }),
            optional(game.accuracy.of(side), 1),
            optional(game.average_loss.of(side), 0),
            count(MoveLabel::Inaccuracy),
            count(MoveLabel::Mistake),
            count(MoveLabel::Blunder),
        ]);
    }
    text + &table.end() + "</section>\n"
}

/// The most costly errors of both sides on boards, in the order of the game.
fn errors(game: &GameStudy) -> String {
    let mut worst: Vec<(usize, &MoveStudy)> =
        game.moves.iter().enumerate().filter(|(_, played)| played.label.is_some()).collect();
    if worst.is_empty() {
        return String::new();
    }
    worst.sort_by(|(_, a), (_, b)| b.loss.total_cmp(&a.loss));
    worst.truncate(BOARDS);
    worst.sort_by_key(|(index, _)| *index);
    let mut text = "<h2>Errors</h2>\n<div class=\"boards\">\n".to_owned();
    for (index, played) in worst {
        let mut arrows = vec![(played.played, "#c0392b")];
        arrows.extend(played.better.map(|better| (better, "#2a7d2a")));
        let _ = writeln!(
            text,
            "<figure id=\"p{}\">{}<figcaption>{}<br>{}</figcaption></figure>",
            played.ply,
            board(&format!("Before {}", played.san), &played.fen, &arrows, game.record.our_color),
            move_name(played),
            caption(game, index, played),
        );
    }
    text + "</div>\n"
}

fn caption(game: &GameStudy, index: usize, played: &MoveStudy) -> String {
    let mut lines =
        vec![format!("{:.0} % → {:.0} %, better {}", played.expected_before, shown_after(played), best_line(played))];
    if game.turning_point == Some(index) {
        lines.push("The turning point.".to_owned());
    }
    lines.extend(played.missed.map(|missed| missed.sentence().to_owned()));
    if played.tables.is_some_and(|tables| tables.spoiled()) {
        lines.push("By the endgame tables this changed the result.".to_owned());
    }
    if let Some(vote) = game.vote(played.ply) {
        lines.push(vote_text(vote));
        let better: Vec<String> = vote
            .who_knew_better(2.5)
            .map(|voter| {
                let proposal = &voter.proposal;
                let score = proposal.score.map_or_else(String::new, |score| format!(" {score}"));
                format!("{} ({}{score}, depth {})", escaped(&proposal.elector), escaped(&voter.san), proposal.depth)
            })
            .collect();
        if !better.is_empty() {
            lines.push(format!("Knew better: {}.", better.join(", ")));
        }
    }
    lines.join("<br>")
}

/// The vote in a sentence, and the reasons against other proposals.
fn vote_text(vote: &VoteStudy) -> String {
    let sentences = [&vote.sentence, &vote.why].into_iter().filter(|sentence| !sentence.is_empty());
    let sentences = sentences.map(|sentence| format!("{}.", escaped(&capitalised(sentence))));
    sentences.collect::<Vec<_>>().join("<br>")
}

fn is_split(vote: &VoteStudy) -> bool {
    !vote.why.is_empty() || tally(vote).len() > 1
}

/// The expectation after a move, per cent; a mate on the board leaves no doubt.
fn shown_after(played: &MoveStudy) -> f64 {
    if played.mates() { 100.0 } else { played.expected_after }
}

fn best_line(played: &MoveStudy) -> String {
    escaped(&played.best_line.iter().take(5).cloned().collect::<Vec<_>>().join(" "))
}

fn move_name(played: &MoveStudy) -> String {
    let name = escaped(&numbered(played.number, played.mover.is_white(), &played.san));
    match played.label {
        Some(label) => format!("<span class=\"{}\">{name}{}</span>", label.word(), label.sign()),
        None => name,
    }
}

fn moves(game: &GameStudy) -> String {
    let mut table = HtmlTable::new(&[
        "move",
        "value",
        "#% before",
        "#% after",
        "#cost",
        "best line",
        "#clock s",
        "#time s",
        "#worth it",
        "part",
    ]);
    for played in &game.moves {
        let seconds = |time: Option<std::time::Duration>| optional(time.map(|time| time.as_secs_f64()), 1);
        table.row(&[
            move_name(played),
            played.value_for_white().to_string(),
            format!("{:.0}", played.expected_before),
            format!("{:.0}", shown_after(played)),
            format!("{:.1}", played.loss),
            if played.better.is_some() { best_line(played) } else { "played".to_owned() },
            seconds(played.clock),
            seconds(played.taken),
            optional(played.at_stake, 1),
            played.phase.word().to_owned(),
        ]);
    }
    let note = "<p class=\"soft\">Expectations and costs are per cent of a point from the mover's side; values are from White's. \
                “Worth it” is what a wrong choice among the electors' proposals would have cost: a move with nothing at stake \
                needed no time.</p>\n";
    table.end().replace("<table>", "<table class=\"moves\">") + note
}

fn votes(game: &GameStudy) -> String {
    let mut table = HtmlTable::new(&[
        "move",
        "votes, and reasons against the other moves",
        "elected by",
        "#cost",
        "#best proposal",
        "#time s",
    ]);
    for vote in game.votes.iter().filter(|vote| is_split(vote)) {
        let Some(played) = game.moves.get(vote.ply) else { continue };
        let least = vote.voters.iter().map(|voter| voter.loss).fold(f64::INFINITY, f64::min);
        table.row(&[
            move_name(played),
            vote_text(vote),
            escaped(&vote.criterion),
            format!("{:.1}", vote.loss),
            format!("{least:.1}"),
            format!("{:.2}", vote.seconds),
        ]);
    }
    let table = table.end().replace("<table>", "<table class=\"vote\">");
    if table.is_empty() { table } else { format!("<h2>Split votes</h2>\n{table}") }
}
