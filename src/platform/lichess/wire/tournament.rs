//! Arenas and Swiss tournaments: a team's list of them, and the page of one. The two kinds, and the list and the page of the
//! same kind, write the same things in different ways.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::{ClockJson, seconds, time_control, variant};
use domain::{GameTerms, Standing, Tournament, TournamentInfo, TournamentKind, TournamentStage, Variant};

/// A tournament, from a list or from its page.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TournamentJson {
    id: String,
    #[serde(alias = "name")]
    full_name: Option<String>,
    clock: ClockJson,
    /// What is missing, or of another type than expected, is not known.
    #[serde(flatten)]
    more: Value,
}

/// Reads milliseconds since 1970, or ISO 8601.
fn time(json: &Value) -> Option<Timestamp> {
    json.as_i64().map_or_else(|| json.as_str()?.parse().ok(), |time| Timestamp::from_millisecond(time).ok())
}

fn number(json: &Value) -> Option<u32> {
    json.as_u64()?.try_into().ok()
}

impl TournamentJson {
    /// `us` is the id of the bot's account; `now` is the time of reading, for relative times.
    ///
    /// `None` for an unknown variant, which could not be played.
    pub(crate) fn into_info(self, kind: TournamentKind, us: &str, now: Timestamp) -> Option<TournamentInfo> {
        let more = &self.more;
        let flag = |key: &str| more[key].as_bool();
        // The page of an arena and a Swiss give the key of the variant alone.
        let key = &more["variant"];
        let variant = match variant(key.as_str().or(key["key"].as_str())).ok()? {
            Variant::Standard if more["position"].is_object() => Variant::FromPosition,
            variant => variant,
        };
        let time_control = time_control(Some(self.clock), None, seconds);
        let terms = GameTerms { variant, time_control, rated: flag("rated").unwrap_or_default() };
        let from_now = |key: &str| now.checked_add(SignedDuration::from_secs(more[key].as_i64()?)).ok();
        // A tournament without further pairings has nothing to wait for.
        let over = flag("isFinished") == Some(true) || flag("pairingsClosed") == Some(true);
        // A word for a Swiss tournament, a number in an arena's list.
        let status = &more["status"];
        let stage = match (status.as_u64(), status.as_str()) {
            _ if over => TournamentStage::Over,
            (Some(30..), _) | (_, Some("finished")) => TournamentStage::Over,
            (Some(20..), _) | (_, Some("started")) => TournamentStage::Running,
            // An arena's page: a later start is given as a delay.
            (None, None) if more["secondsToStart"].as_i64().is_none() => TournamentStage::Running,
            _ => TournamentStage::Announced,
        };
        let verdicts = &more["verdicts"];
        let refusal = (verdicts["accepted"] == false).then(|| {
            let unmet = verdicts["list"].as_array().into_iter().flatten().filter(|verdict| verdict["verdict"] != "ok");
            let words: Vec<&str> = unmet.filter_map(|verdict| verdict["condition"].as_str()).collect();
            if words.is_empty() { "its conditions are not met".to_owned() } else { words.join(", ") }
        });
        let is_ours = |player: &&Value| player["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(us));
        let ours = more["standing"]["players"].as_array().into_iter().flatten().find(is_ours);
        let standing =
            ours.and_then(|ours| Some(Standing { rank: number(&ours["rank"])?, points: number(&ours["score"])? }));
        Some(TournamentInfo {
            name: self.full_name.unwrap_or_else(|| self.id.clone()),
            tournament: Tournament { id: self.id, kind: Some(kind) },
            terms,
            stage,
            starts_at: time(&more["startsAt"]).or_else(|| from_now("secondsToStart")),
            ends_at: time(&more["finishesAt"]).or_else(|| from_now("secondsToFinish")),
            players: number(&more["nbPlayers"]).unwrap_or_default(),
            // A Swiss has no such switch: its verdicts speak of it.
            bots_allowed: flag("botsAllowed").unwrap_or(kind == TournamentKind::Swiss),
            has_password: flag("private").unwrap_or_default(),
            min_rating: number(&more["minRating"]["rating"]),
            max_rating: number(&more["maxRating"]["rating"]),
            refusal,
            standing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: TournamentKind, text: &str) -> TournamentInfo {
        let json: TournamentJson = serde_json::from_str(text).expect("a tournament");
        json.into_info(kind, "concilio-bot", Timestamp::UNIX_EPOCH).expect("a variant that is known")
    }

    #[test]
    fn an_arena_of_a_teams_list_is_read() {
        let text = r#"{"id":"LojvlQOo","createdBy":"x","system":"arena","minutes":60,"clock":{"limit":300,"increment":3},
            "rated":false,"fullName":"No. 140 Arena","nbPlayers":12,"variant":{"key":"standard","short":"Std"},
            "startsAt":1762914600000,"finishesAt":1762918200000,"status":10,"secondsToStart":60,"botsAllowed":true,
            "private":true,"minRating":{"rating":1500},"perf":{"key":"blitz"},"teamMember":"t"}"#;
        let info = read(TournamentKind::Arena, text);
        assert_eq!((info.name.as_str(), info.players, info.stage), ("No. 140 Arena", 12, TournamentStage::Announced));
        assert_eq!(info.tournament.to_string(), "tournament/LojvlQOo");
        assert_eq!(info.terms.to_string(), "300+3 casual standard");
        assert_eq!(info.starts_at.map(|at| at.as_second()), Some(1_762_914_600));
        assert_eq!(info.ends_at.map(|at| at.as_second()), Some(1_762_918_200));
        assert!(info.bots_allowed && info.has_password);
        assert_eq!((info.min_rating, info.max_rating), (Some(1500), None));
    }

    #[test]
    fn arena_page_gives_our_standing() {
        let text = r#"{"id":"abcd1234","fullName":"Bots' Arena","clock":{"limit":60,"increment":0},"variant":"atomic",
            "rated":true,"nbPlayers":2,"secondsToFinish":600,"startsAt":"1970-01-01T00:00:00Z","botsAllowed":true,
            "verdicts":{"list":[{"condition":"In team X","verdict":"not in team"}],"accepted":false},
            "standing":{"page":1,"players":[{"name":"Other","rank":1,"score":4},{"name":"Concilio-Bot","rank":2,"score":2}]}}"#;
        let info = read(TournamentKind::Arena, text);
        assert_eq!((info.stage, info.terms.variant), (TournamentStage::Running, Variant::Atomic));
        assert_eq!(info.ends_at.map(|at| at.as_second()), Some(600));
        assert_eq!(info.standing, Some(Standing { rank: 2, points: 2 }));
        assert_eq!(info.refusal.as_deref(), Some("In team X"));
        let over = text.replace("\"secondsToFinish\":600", "\"isFinished\":true");
        assert_eq!(read(TournamentKind::Arena, &over).stage, TournamentStage::Over);
    }

    #[test]
    fn a_swiss_says_its_stage_in_a_word() {
        let text = r#"{"id":"KmevwnGY","startsAt":"2026-07-10T23:30:00Z","name":"Rapid Increment","clock":{"limit":420,"increment":2},
            "variant":"standard","round":0,"nbRounds":7,"nbPlayers":3,"status":"STATUS","rated":true,
            "verdicts":{"list":[{"condition":"Play your games","verdict":"ok"}],"accepted":true}}"#;
        let stage = |word| read(TournamentKind::Swiss, &text.replace("STATUS", word)).stage;
        assert_eq!(stage("created"), TournamentStage::Announced);
        assert_eq!(stage("started"), TournamentStage::Running);
        assert_eq!(stage("finished"), TournamentStage::Over);
        let info = read(TournamentKind::Swiss, text);
        assert!(info.bots_allowed && info.refusal.is_none(), "{info:?}");
        assert_eq!(info.starts_at.map(|at| at.to_string()).as_deref(), Some("2026-07-10T23:30:00Z"));
    }
}
