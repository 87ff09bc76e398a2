use std::fmt::Write as _;

use super::{
    Report,
    curve::{figures, ratings},
    html::{HtmlTable, escaped, mean, optional, page},
};
use crate::totals::{GroupFigure, OpeningNode, ResultCount, Totals};

const OPPONENTS: usize = 30;

const OPENINGS: usize = 40;

pub(super) fn index(report: &Report, games: usize, newest: &str) -> String {
    let totals = &report.totals;
    let mut body = format!(
        "<p>{} {}, {} of them studied move by move, judged by {}. Made {}.</p>\n",
        games,
        if games == 1 { "game" } else { "games" },
        totals.studied,
        escaped(&report.judge),
        escaped(&report.made_at),
    );
    body.push_str(&groups("All", std::slice::from_ref(&totals.all)));
    body.push_str(&changes(report));
    body.push_str("<div class=\"columns\">");
    let by = &totals.groups;
    let tables = [
        ("By colour", by.colors.as_slice()),
        ("By speed", &by.speeds),
        ("People and programs", &by.kinds),
        ("By server", &by.servers),
        ("By variant", &by.variants),
        ("By the opponent's rating", &by.ratings),
        ("By opponent", &by.opponents[..by.opponents.len().min(OPPONENTS)]),
        ("By ending", &by.endings),
    ];
    // A single figure would repeat that of all games.
    for (title, figures) in tables.into_iter().filter(|(_, figures)| figures.len() > 1) {
        body.push_str(&groups(title, figures));
    }
    body.push_str(&losses(totals));
    body.push_str(&figures_of_moves(totals));
    body.push_str("</div>\n");
    let curve = ratings(&totals.ratings);
    if !curve.is_empty() {
        let _ = write!(body, "<h2>Rating</h2>\n{curve}");
    }
    body.push_str(&openings(&totals.openings));
    let _ = write!(body, "<h2>Newest games</h2>\n{newest}");
    page("Games studied", "", &body)
}

fn section(title: &str, table: String) -> String {
    if table.is_empty() { table } else { format!("<div><h2>{title}</h2>\n{table}</div>\n") }
}

fn groups(title: &str, figures: &[GroupFigure]) -> String {
    let mut table = HtmlTable::new(&["", "#won", "#drawn", "#lost", "#%", "#performance", "#accuracy"]);
    for figure in figures {
        let ResultCount { won, drawn, lost } = figure.results;
        table.row(&[
            escaped(&figure.name),
            won.to_string(),
            drawn.to_string(),
            lost.to_string(),
            optional(figure.results.share().map(|share| 100.0 * share), 0),
            optional(figure.performance, 0),
            optional(figure.accuracy, 1),
        ]);
    }
    section(title, table.end())
}

fn changes(report: &Report) -> String {
    let mut table = HtmlTable::new(&["", "#before", "#now", "#change"]);
    for change in &report.changes {
        let difference = format!("{:+.2}", change.now - change.before);
        let [before, now] = [change.before, change.now].map(|value| format!("{value:.2}"));
        table.row(&[change.figure.to_owned(), before, now, difference]);
    }
    section("Since the last report", table.end())
}

fn losses(totals: &Totals) -> String {
    let mut table = HtmlTable::new(&["lost by", "#games"]);
    for (cause, count) in &totals.losses {
        table.row(&[cause.word().to_owned(), count.to_string()]);
    }
    section("Losses", table.end())
}

fn figures_of_moves(totals: &Totals) -> String {
    let mut phases = HtmlTable::new(&["cost of a move, % of a point", "#bot", "#opponents"]);
    for figure in &totals.phases {
        phases.row(&[figure.phase.word().to_owned(), mean(&figure.ours), mean(&figure.theirs)]);
    }
    let trouble = &totals.time_trouble;
    phases.row(&["in time trouble (under a tenth)".to_owned(), mean(&trouble.ours), mean(&trouble.theirs)]);
    phases.row(&["with time".to_owned(), mean(&trouble.ours_without), mean(&trouble.theirs_without)]);
    let mut others = HtmlTable::new(&["", "#"]);
    let [inaccuracies, mistakes, blunders] = totals.labels.map(|count| format!("{count:.2}"));
    let results = |count: &ResultCount| format!("+{} ={} -{}", count.won, count.drawn, count.lost);
    for (name, value) in [
        ("inaccuracies a game", inaccuracies),
        ("mistakes a game", mistakes),
        ("blunders a game", blunders),
        ("missed wins", totals.missed.wins.to_string()),
        ("missed mates", totals.missed.mates.to_string()),
        ("results changed, by the endgame tables", totals.missed.tablebase_results.to_string()),
        ("longest run of wins", totals.streaks.won.to_string()),
        ("longest run without a loss", totals.streaks.unbeaten.to_string()),
        ("longest run of losses", totals.streaks.lost.to_string()),
        ("games with faults of connection or server", results(&totals.with_faults)),
        ("games without", results(&totals.without_faults)),
    ] {
        others.row(&[name.to_owned(), value]);
    }
    section("What moves cost", phases.end()) + &section("Counted", others.end())
}

fn openings(nodes: &[OpeningNode]) -> String {
    if nodes.is_empty() {
        return String::new();
    }
    let mut text = "<h2>Openings, the most costly first</h2>\n".to_owned();
    nodes.iter().take(OPENINGS).for_each(|node| opening(&mut text, node));
    text
}

fn opening(text: &mut String, node: &OpeningNode) {
    let ResultCount { won, drawn, lost } = node.results;
    let line = format!(
        "{} {} <span class=\"soft\">+{won} ={drawn} -{lost}, {:.0} % expected after it</span>",
        node.eco,
        escaped(&node.name),
        node.expected
    );
    if node.variations.is_empty() {
        let _ = writeln!(text, "<div class=\"leaf\">{line}</div>");
        return;
    }
    let _ = writeln!(text, "<details><summary>{line}</summary>");
    node.variations.iter().for_each(|variation| opening(text, variation));
    text.push_str("</details>\n");
}

pub(super) fn council(report: &Report, link: impl Fn(&str) -> Option<String>) -> String {
    let council = &report.council;
    if council.votes == 0 {
        return page("Which knowledge knew better", "", "<p>These games have no votes of a council.</p>");
    }
    let mut body = format!(
        "<p>{} votes. Costs are per cent of a point a move, with half their 95 % interval over games. What was played cost {}; \
         the best of the proposals would have cost {}, the worst {}.</p>\n",
        council.votes,
        mean(&council.played),
        mean(&council.best_proposal),
        mean(&council.worst_proposal),
    );
    let rows: Vec<_> =
        council.criteria.iter().map(|rule| (rule.criterion.clone(), rule.against_played.mean())).collect();
    body.push_str("<h2>Every criterion on the recorded proposals, against what was played (less is better)</h2>\n");
    body.push_str(&figures("criteria against what was played", &rows));
    let mut table =
        HtmlTable::new(&["criterion", "#cost a move", "#against what was played", "#votes", "#other moves"]);
    for rule in &council.criteria {
        table.row(&[
            escaped(&rule.criterion),
            mean(&rule.loss),
            mean(&rule.against_played),
            rule.loss.count().to_string(),
            rule.other_moves.to_string(),
        ]);
    }
    body.push_str(&table.end());
    body.push_str("<h2>Each elector deciding alone</h2>\n");
    let rows: Vec<_> =
        council.electors.iter().map(|elector| (elector.elector.clone(), elector.against_council.mean())).collect();
    body.push_str(&figures("electors against the council", &rows));
    let mut table =
        HtmlTable::new(&["elector", "#cost a move", "#against the council", "#best move, %", "#knew better in errors"]);
    for elector in &council.electors {
        table.row(&[
            escaped(&elector.elector),
            mean(&elector.loss),
            mean(&elector.against_council),
            format!("{:.1}", 100.0 * elector.best_share),
            elector.knew_better.to_string(),
        ]);
    }
    body.push_str(&table.end());
    body.push_str(&phases(report));
    body.push_str(&vote_errors(report, link));
    if let Some(suggestion) = &report.suggestion {
        let _ = write!(body, "<h2>Suggestion</h2>\n<pre>{}</pre>\n", escaped(&suggestion.settings_text()));
    }
    page("Which knowledge knew better", "", &body)
}

fn phases(report: &Report) -> String {
    let council = &report.council;
    let mut text = String::new();
    let second = &council.second_phase;
    if second.count > 0 {
        let _ = writeln!(
            text,
            "<h2>The second phase</h2>\n<p>{} second phases, {} of which elected another move than the first: {} mended an error, {} \
             broke a good choice. On average one gained {} per cent of a point.</p>",
            second.count,
            second.changed,
            second.mended,
            second.broke,
            mean(&second.gain)
        );
    }
    let mut table = HtmlTable::new(&["votes", "#count", "#cost a move", "#at stake", "#time s"]);
    for split in council.splits.iter().filter(|split| split.loss.count() > 0) {
        table.row(&[
            split.name.to_owned(),
            split.loss.count().to_string(),
            mean(&split.loss),
            mean(&split.at_stake),
            format!("{:.2}", split.seconds),
        ]);
    }
    let time = &council.extra_time;
    let _ = write!(
        text,
        "<h2>Time and disagreement</h2>\n{}<p>Of {} errors {} were made with some of the normal budget and ExtraTime left; in {} \
         of these an elector had a clearly better move, with {:.1} s left on average.</p>\n",
        table.end(),
        time.errors,
        time.with_time_left,
        time.and_known_better,
        time.seconds_left,
    );
    text
}

fn vote_errors(report: &Report, link: impl Fn(&str) -> Option<String>) -> String {
    let mut table = HtmlTable::new(&["move", "#cost", "votes", "elected by", "better electors"]);
    for error in &report.council.errors {
        let name = format!("<span class=\"{}\">{}</span>", error.label.word(), escaped(&error.played));
        let name = match link(&error.game) {
            Some(page) => format!("<a href=\"{page}#p{}\">{name}</a>", error.ply),
            None => name,
        };
        let tally = error.tally.iter().map(|(san, count)| format!("{} ×{count}", escaped(san)));
        let better = error.knew_better.iter().map(|voter| {
            let (elector, san) = (escaped(&voter.elector), escaped(&voter.san));
            format!("{elector} {san} ({}, depth {}, cost {:.1})", voter.score, voter.depth, voter.loss)
        });
        table.row(&[
            name,
            format!("{:.1}", error.loss),
            tally.collect::<Vec<_>>().join(", "),
            escaped(&error.criterion),
            better.collect::<Vec<_>>().join("<br>"),
        ]);
    }
    format!("<h2>The worst errors</h2>\n{}", table.end())
}

pub(super) fn list(rows: &[String], number: usize, pages: usize) -> String {
    let mut body = String::new();
    let links = (1..=pages).map(|page| {
        if page == number { format!("<b>{page}</b> ") } else { format!("<a href=\"games-{page}.html\">{page}</a> ") }
    });
    let _ = write!(body, "<p>{}</p>\n{}", links.collect::<String>(), list_table(rows));
    page("Games", "", &body)
}

pub(super) fn list_table(rows: &[String]) -> String {
    let titles = ["begun", "against", "colour", "clock", "result", "#accuracy", "#?!", "#?", "#??", "opening", ""];
    let table = HtmlTable::new(&titles).with_rows(rows);
    table.end()
}
