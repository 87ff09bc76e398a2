//! The page of one game: its curve, its errors on boards, every move with its cost, and the votes that were split.

use std::fmt::Write as _;

use bot::journal::pgn_result;

use super::{
    board::{Arrow, board},
    curve::expectation_curve,
    html::{HtmlTable, escaped, optional, page},
};
use crate::{
    formulas::MoveLabel,
    study::{GameStudy, MissedChance, MoveStudy, VoteStudy},
    votes::{numbered, tally},
};

/// The number of costly errors on boards.
const BOARDS: usize = 8;

/// The whole page; `judge` is named on it.
pub(super) fn game_page(game: &GameStudy, judge: &str) -> String {
    let record = &game.record;
    let title = format!("{} - {}  {}", record.white.name, record.black.name, pgn_result(record));
    let mut body = summary(game, judge);
    body.push_str(&expectation_curve(game));
    body.push_str(&errors(game));
    body.push_str("<h2>Moves</h2>\n");
    body.push_str(&moves(game));
    body.push_str(&votes(game));
    page(&title, "../", &body)
}

fn summary(game: &GameStudy, judge: &str) -> String {
    let record = &game.record;
    let mut text = format!(
        "<p>{}, {} {}, {} {}. Judged by {}.",
        record.started_at.strftime("%Y-%m-%d %H:%M"),
        escaped(&record.time_control.to_string()),
        record.speed.key(),
        if record.rated { "rated" } else { "casual" },
        escaped(record.status.name()),
        escaped(judge),
    );
    // Writing to a string cannot fail, here and below.
    if let Some(opening) = game.opening {
        let _ = write!(text, "<br>{} {}, left after {} plies", opening.eco, escaped(opening.name), game.opening_plies);
    }
    if game.book_plies > 0 {
        let _ = write!(text, "; our book's last move was ply {}", game.book_plies);
    }
    if let Some((ply, name)) = game.ending {
        let _ = write!(text, "<br>{name} from ply {ply} on");
    }
    if let Some(url) = record.url.as_deref().filter(|url| url.starts_with("https://") || url.starts_with("http://")) {
        let _ = write!(text, "<br><a href=\"{0}\">{0}</a>", escaped(url));
    }
    text.push_str("</p>\n");
    let mut table =
        HtmlTable::new(&["", "#accuracy", "#centipawns lost a move", "#inaccuracies", "#mistakes", "#blunders"]);
    for (side, player) in [(domain::Color::White, &record.white), (domain::Color::Black, &record.black)] {
        let count = |label| game.labels(side, label).to_string();
        table.row(&[
            format!("{}{}", escaped(&player.name), if side == record.our_color { " (we)" } else { "" }),
            optional(game.accuracy.of(side), 1),
            optional(game.average_loss.of(side), 0),
            count(MoveLabel::Inaccuracy),
            count(MoveLabel::Mistake),
            count(MoveLabel::Blunder),
        ]);
    }
    text + &table.end()
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
        let mut arrows = vec![Arrow { of: played.played, color: "#c0392b" }];
        arrows.extend(played.better.map(|better| Arrow { of: better, color: "#2a7d2a" }));
        let _ = writeln!(
            text,
            "<figure id=\"p{}\">{}<figcaption>{}<br>{}</figcaption></figure>",
            played.ply,
            board(&played.fen, &arrows, game.record.our_color),
            move_name(played),
            caption(game, index, played),
        );
    }
    text + "</div>\n"
}

fn caption(game: &GameStudy, index: usize, played: &MoveStudy) -> String {
    let mut lines =
        vec![format!("{:.0} % → {:.0} %, better {}", played.expected_before, played.expected_after, best_line(played))];
    if game.turning_point == Some(index) {
        lines.push("The turning point.".to_owned());
    }
    lines.extend(played.missed.map(|missed| match missed {
        MissedChance::Mate => "A mate was missed.".to_owned(),
        MissedChance::Win => "A win was missed.".to_owned(),
    }));
    if played.tables.is_some_and(|tables| tables.spoiled()) {
        lines.push("By the endgame tables this changed the result.".to_owned());
    }
    if let Some(vote) = game.vote(played.ply) {
        lines.push(format!("Votes: {}.", tally_text(vote)));
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

fn tally_text(vote: &VoteStudy) -> String {
    tally(vote).iter().map(|(san, count)| format!("{} ×{count}", escaped(san))).collect::<Vec<_>>().join(", ")
}

fn best_line(played: &MoveStudy) -> String {
    escaped(&played.best_line.iter().take(5).cloned().collect::<Vec<_>>().join(" "))
}

/// The move with its number and its sign, in the colour of its label.
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
            format!("{:.0}", played.expected_after),
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

/// The votes in which the electors did not agree.
fn votes(game: &GameStudy) -> String {
    let mut table = HtmlTable::new(&["move", "proposed", "elected by", "#split", "#cost", "#best proposal", "#time s"]);
    for vote in game.votes.iter().filter(|vote| tally(vote).len() > 1) {
        let Some(played) = game.moves.get(vote.ply) else { continue };
        let least = vote.voters.iter().map(|voter| voter.loss).fold(f64::INFINITY, f64::min);
        table.row(&[
            move_name(played),
            tally_text(vote),
            escaped(&vote.criterion),
            optional(vote.split, 2),
            format!("{:.1}", vote.loss),
            format!("{least:.1}"),
            format!("{:.2}", vote.seconds),
        ]);
    }
    let table = table.end();
    if table.is_empty() { table } else { format!("<h2>Split votes</h2>\n{table}") }
}
