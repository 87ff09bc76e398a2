//! Arenas and Swiss tournaments: a team's list of them, and the page of one. The two kinds, and the list and the page of the
//! same kind, write the same things in different ways.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::{field, seconds};
use domain::{GameTerms, Standing, TimeControl, Tournament, TournamentInfo, TournamentKind, TournamentStage, Variant};

/// A tournament, from a list or from its page. What is missing is not known.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TournamentJson {
    id: String,
    #[serde(alias = "name")]
    full_name: Option<String>,
    clock: ClockJson,
    #[serde(flatten)]
    more: Value,
}

#[derive(Deserialize)]
struct ClockJson {
    limit: f64,
    increment: f64,
}

#[derive(Deserialize)]
struct Verdicts {
    accepted: bool,
    #[serde(default)]
    list: Vec<Verdict>,
}

#[derive(Deserialize)]
struct Verdict {
    condition: String,
    verdict: String,
}

#[derive(Deserialize)]
struct StandingPlayer {
    name: String,
    rank: u32,
    score: u32,
}

impl TournamentJson {
    /// `us` is the id of the bot's account; `now` is the time of reading, for relative times.
    ///
    /// `None` for an unknown variant, which could not be played.
    pub(crate) fn into_info(self, kind: TournamentKind, us: &str, now: Timestamp) -> Option<TournamentInfo> {
        let more = &self.more;
        // The page of an arena and a Swiss give the key alone.
        let key = field::<String>(more, "/variant").or_else(|| field(more, "/variant/key"));
        let variant = match key.map_or(Ok(Variant::Standard), |key| key.parse()).ok()? {
            Variant::Standard if more["position"].is_object() => Variant::FromPosition,
            variant => variant,
        };
        let (limit, increment) = (seconds(self.clock.limit), seconds(self.clock.increment));
        let terms = GameTerms {
            variant,
            time_control: TimeControl::real_time(limit, increment),
            rated: field(more, "/rated").unwrap_or_default(),
        };
        // A time is written in milliseconds since 1970 or by ISO 8601, or as a delay.
        let time = |at: &str, delay: Option<i64>| {
            let milliseconds = || Timestamp::from_millisecond(field(more, at)?).ok();
            let from_now = |seconds| now.checked_add(jiff::SignedDuration::from_secs(seconds)).ok();
            milliseconds().or_else(|| field(more, at)).or_else(|| delay.and_then(from_now))
        };
        let seconds_to_start: Option<i64> = field(more, "/secondsToStart");
        // A tournament without further pairings has nothing to wait for.
        let over = ["/isFinished", "/pairingsClosed"].into_iter().any(|pointer| field(more, pointer) == Some(true));
        // A word for a Swiss tournament, a number in an arena's list.
        let stage = match (field::<u8>(more, "/status"), field::<String>(more, "/status").as_deref()) {
            _ if over => TournamentStage::Over,
            (Some(30..), _) | (_, Some("finished")) => TournamentStage::Over,
            (Some(20..), _) | (_, Some("started")) => TournamentStage::Running,
            // An arena's page: a later start is given as a delay.
            (None, None) if seconds_to_start.is_none() => TournamentStage::Running,
            _ => TournamentStage::Announced,
        };
        let refusal = field::<Verdicts>(more, "/verdicts").filter(|verdicts| !verdicts.accepted).map(|verdicts| {
            let unmet = verdicts.list.into_iter().filter(|verdict| verdict.verdict != "ok");
            let words: Vec<String> = unmet.map(|verdict| verdict.condition).collect();
            if words.is_empty() { "its conditions are not met".to_owned() } else { words.join(", ") }
        });
        let ours = |player: &StandingPlayer| player.name.eq_ignore_ascii_case(us);
        let standing = field::<Vec<StandingPlayer>>(more, "/standing/players").into_iter().flatten().find(ours);
        Some(TournamentInfo {
            name: self.full_name.unwrap_or_else(|| self.id.clone()),
            tournament: Tournament { id: self.id, kind: Some(kind) },
            terms,
            stage,
            starts_at: time("/startsAt", seconds_to_start),
            ends_at: time("/finishesAt", field(more, "/secondsToFinish")),
            players: field(more, "/nbPlayers").unwrap_or_default(),
            // A Swiss has no such switch: its verdicts speak of it.
            bots_allowed: field(more, "/botsAllowed").unwrap_or(kind == TournamentKind::Swiss),
            has_password: field(more, "/private").unwrap_or_default(),
            min_rating: field(more, "/minRating/rating"),
            max_rating: field(more, "/maxRating/rating"),
            refusal,
            standing: standing.map(|player| Standing { rank: player.rank, points: player.score }),
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
