//! Shows the daemon's state in lines for a terminal.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::cli::Failure;

/// Number of log lines that are shown.
const LAST_LINES: usize = 8;

/// Parts of the daemon's answer that are shown.
#[derive(Deserialize)]
struct DaemonStatus {
    accounts: BTreeMap<String, AccountStatus>,
    games: BTreeMap<String, RunningGameStatus>,
    #[serde(default)]
    log: Vec<LogLine>,
}

#[derive(Deserialize)]
struct AccountStatus {
    name: Option<String>,
    title: Option<String>,
    state: String,
    mode: String,
    reason: Option<String>,
    /// End of the limit that is the reason.
    until: Option<jiff::Timestamp>,
}

#[derive(Deserialize)]
struct RunningGameStatus {
    head: GameSummary,
    board: BoardStatus,
    decision: Option<DecisionStatus>,
    over: Option<Over>,
}

#[derive(Deserialize)]
struct GameSummary {
    server: String,
    id: String,
    white: PlayerStatus,
    black: PlayerStatus,
    our_color: String,
    time_control: String,
    rated: bool,
    url: Option<String>,
}

#[derive(Deserialize)]
struct PlayerStatus {
    name: String,
    rating: Option<u32>,
}

#[derive(Deserialize)]
struct BoardStatus {
    ply: usize,
}

#[derive(Deserialize)]
struct DecisionStatus {
    san: String,
    score: Option<String>,
}

#[derive(Deserialize)]
struct Over {
    words: String,
}

#[derive(Deserialize)]
struct LogLine {
    at: jiff::Timestamp,
    text: String,
}

/// The daemon's answer in lines: the accounts, the games, the last lines of the log.
pub(super) fn lines(json: &str) -> Result<Vec<String>, Failure> {
    let status: DaemonStatus = serde_json::from_str(json).map_err(|error| {
        Failure::failed(format_args!("cannot read the daemon's answer ({error}); is it the same version?"))
    })?;
    let mut lines: Vec<String> = status.accounts.iter().map(|(server, account)| account.line(server)).collect();
    if lines.is_empty() {
        lines.push("no account is connected yet".to_owned());
    }
    lines.push(String::new());
    let before = lines.len();
    let (over, running): (Vec<_>, Vec<_>) = status.games.values().partition(|game| game.over.is_some());
    lines.extend(running.into_iter().map(RunningGameStatus::line));
    if lines.len() == before {
        lines.push("no game runs".to_owned());
    }
    if !over.is_empty() {
        lines.extend([String::new(), "finished:".to_owned()]);
        lines.extend(over.into_iter().map(RunningGameStatus::line));
    }
    if !status.log.is_empty() {
        lines.push(String::new());
        let zone = jiff::tz::TimeZone::system();
        let last = status.log.iter().skip(status.log.len().saturating_sub(LAST_LINES));
        lines
            .extend(last.map(|line| format!("{}  {}", line.at.to_zoned(zone.clone()).strftime("%H:%M:%S"), line.text)));
    }
    Ok(lines)
}

impl AccountStatus {
    fn line(&self, server: &str) -> String {
        let title = self.title.as_ref().map_or_else(String::new, |title| format!("{title} "));
        let name = self.name.as_ref().map_or_else(String::new, |name| format!(" as {title}{name}"));
        let reason = match (&self.reason, self.until) {
            (Some(_), Some(until)) if until <= jiff::Timestamp::now() => String::new(),
            (Some(reason), Some(until)) => {
                format!(" ({reason} until {})", until.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M"))
            }
            (Some(reason), None) => format!(" ({reason})"),
            (None, _) => String::new(),
        };
        format!("{server}: {}{name}, {}{reason}", self.state, self.mode)
    }
}

impl RunningGameStatus {
    fn line(&self) -> String {
        let GameSummary { server, id, our_color, time_control, rated, url, .. } = &self.head;
        let opponent = if our_color == "white" { &self.head.black } else { &self.head.white };
        let rating = opponent.rating.map_or_else(String::new, |rating| format!(" ({rating})"));
        let rated = if *rated { "rated" } else { "casual" };
        let state = match &self.over {
            Some(over) => over.words.clone(),
            None => format!("move {}", self.board.ply / 2 + 1),
        };
        let last = self.decision.as_ref().map_or_else(String::new, |decision| {
            let score = decision.score.as_ref().map_or_else(String::new, |score| format!(" {score}"));
            format!(", our last {}{score}", decision.san)
        });
        let url = url.as_ref().map_or_else(String::new, |url| format!(", {url}"));
        let opponent = &opponent.name;
        format!(
            "{server}: game {id}: {our_color} against {opponent}{rating}, {time_control} {rated}, {state}{last}{url}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_games_are_listed_apart() {
        let game = |id: &str, over: &str| {
            format!(
                r#""lichess/{id}":{{"head":{{"server":"lichess","id":"{id}","white":{{"name":"us"}},"black":{{"name":"Ann"}},"our_color":"white","time_control":"3+2","rated":true}},"board":{{"ply":4}}{over}}}"#
            )
        };
        let over = game("aaaa", r#","over":{"words":"won by checkmate"}"#);
        let said =
            |games: &str| lines(&format!(r#"{{"accounts":{{}},"games":{{{games}}}}}"#)).expect("readable").join("\n");
        let both = said(&format!("{over},{}", game("bbbb", "")));
        let (running, finished) = both.split_once("finished:").expect("both kinds");
        assert!(running.contains("bbbb") && running.contains("move 3") && !running.contains("aaaa"), "{both}");
        assert!(finished.contains("aaaa") && finished.contains("won by checkmate"), "{both}");
        assert!(said(&over).contains("no game runs"));
    }
}
