//! Shows the daemon's state in lines for a terminal.

use jiff::{Timestamp, tz::TimeZone};
use serde_json::Value;

use crate::cli::Failure;

const LAST_LINES: usize = 8;

/// The daemon's answer in lines: the accounts, the games, the last lines of the log.
pub(super) fn lines(json: &str) -> Result<Vec<String>, Failure> {
    described(json).map_err(|error| {
        Failure::failed(format_args!("cannot read the daemon's answer ({error}); is it the same version?"))
    })
}

fn described(json: &str) -> Result<Vec<String>, String> {
    let status: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let table = |key: &str| status[key].as_object().ok_or_else(|| format!("no table {key}"));
    let accounts = table("accounts")?.iter().map(|(server, account)| account_line(server, account));
    let mut lines = accounts.collect::<Result<Vec<_>, _>>()?;
    if lines.is_empty() {
        lines.push("no account is connected yet".to_owned());
    }
    let (over, running): (Vec<_>, Vec<_>) = table("games")?.values().partition(|game| game["over"].is_object());
    lines.push(String::new());
    if running.is_empty() {
        lines.push("no game runs".to_owned());
    }
    for game in running {
        lines.push(game_line(game)?);
    }
    if !over.is_empty() {
        lines.extend([String::new(), "finished:".to_owned()]);
    }
    for game in over {
        lines.push(game_line(game)?);
    }
    let log = status["log"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !log.is_empty() {
        lines.push(String::new());
    }
    for line in &log[log.len().saturating_sub(LAST_LINES)..] {
        let at: Timestamp = text(line, "/at")?.parse().map_err(|error: jiff::Error| error.to_string())?;
        lines.push(format!("{}  {}", local(at, "%H:%M:%S"), text(line, "/text")?));
    }
    Ok(lines)
}

/// The text at a place such as `/head/white/name`.
fn text<'a>(value: &'a Value, place: &str) -> Result<&'a str, String> {
    value.pointer(place).and_then(Value::as_str).ok_or_else(|| format!("no text {place}"))
}

fn local(time: Timestamp, format: &str) -> String {
    time.to_zoned(TimeZone::system()).strftime(format).to_string()
}

fn account_line(server: &str, account: &Value) -> Result<String, String> {
    let title = account["title"].as_str().map_or_else(String::new, |title| format!("{title} "));
    let name = account["name"].as_str().map_or_else(String::new, |name| format!(" as {title}{name}"));
    // The reason may be a limit of the server, with its end.
    let until: Option<Timestamp> = account["until"].as_str().and_then(|until| until.parse().ok());
    let reason = match (account["reason"].as_str(), until) {
        (Some(_), Some(until)) if until <= Timestamp::now() => String::new(),
        (Some(reason), Some(until)) => format!(" ({reason} until {})", local(until, "%Y-%m-%d %H:%M")),
        (Some(reason), None) => format!(" ({reason})"),
        (None, _) => String::new(),
    };
    Ok(format!("{server}: {}{name}, {}{reason}", text(account, "/state")?, text(account, "/mode")?))
}

fn game_line(game: &Value) -> Result<String, String> {
    let head = |key: &str| text(game, &format!("/head/{key}"));
    let our_color = head("our_color")?;
    let opponent = &game["head"][if our_color == "white" { "black" } else { "white" }];
    let rating = opponent["rating"].as_u64().map_or_else(String::new, |rating| format!(" ({rating})"));
    let rated = if game["head"]["rated"] == true { "rated" } else { "casual" };
    let state = match &game["over"] {
        Value::Null => format!("move {}", game["board"]["ply"].as_u64().ok_or("no board")? / 2 + 1),
        over => text(over, "/words")?.to_owned(),
    };
    let last = match &game["decision"] {
        Value::Null => String::new(),
        decision => {
            let score = decision["score"].as_str().map_or_else(String::new, |score| format!(" {score}"));
            format!(", the bot's last {}{score}", text(decision, "/san")?)
        }
    };
    let url = game["head"]["url"].as_str().map_or_else(String::new, |url| format!(", {url}"));
    let (server, id, time_control, opponent) =
        (head("server")?, head("id")?, head("time_control")?, text(opponent, "/name")?);
    Ok(format!(
        "{server}: game {id}: {our_color} against {opponent}{rating}, {time_control} {rated}, {state}{last}{url}"
    ))
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
