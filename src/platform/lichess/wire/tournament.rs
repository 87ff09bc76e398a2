//! Arenas and Swiss tournaments: a team's list of them, and the page of one. The two kinds, and the list and the page of the
//! same kind, write the same things in different ways.

use jiff::Timestamp;
use serde::Deserialize;

use super::{VariantKey, lenient, seconds, variant};
use domain::{GameTerms, Standing, TimeControl, Tournament, TournamentInfo, TournamentKind, TournamentStage, Variant};

/// A tournament, from a list or from its page. What is missing is not known.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TournamentJson {
    id: String,
    #[serde(alias = "name")]
    full_name: Option<String>,
    clock: ClockJson,
    #[serde(default, deserialize_with = "lenient")]
    variant: Option<VariantName>,
    #[serde(default, deserialize_with = "lenient")]
    position: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default, deserialize_with = "lenient")]
    rated: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    nb_players: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    starts_at: Option<Time>,
    #[serde(default, deserialize_with = "lenient")]
    finishes_at: Option<Time>,
    #[serde(default, deserialize_with = "lenient")]
    seconds_to_start: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    seconds_to_finish: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    status: Option<StatusJson>,
    #[serde(default, deserialize_with = "lenient")]
    is_finished: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    pairings_closed: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    bots_allowed: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    private: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    min_rating: Option<RatingJson>,
    #[serde(default, deserialize_with = "lenient")]
    max_rating: Option<RatingJson>,
    #[serde(default, deserialize_with = "lenient")]
    verdicts: Option<Verdicts>,
    #[serde(default, deserialize_with = "lenient")]
    standing: Option<StandingPage>,
}

#[derive(Deserialize)]
struct ClockJson {
    limit: f64,
    increment: f64,
}

/// A variant: the page of an arena and a Swiss give its key alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum VariantName {
    Key(String),
    Full(VariantKey),
}

/// A time: milliseconds since 1970, or ISO 8601.
#[derive(Deserialize)]
#[serde(untagged)]
enum Time {
    Milliseconds(i64),
    Text(Timestamp),
}

impl Time {
    fn timestamp(self) -> Option<Timestamp> {
        match self {
            Self::Milliseconds(milliseconds) => Timestamp::from_millisecond(milliseconds).ok(),
            Self::Text(timestamp) => Some(timestamp),
        }
    }
}

/// A word for a Swiss tournament, a number in an arena's list.
#[derive(Deserialize)]
#[serde(untagged)]
enum StatusJson {
    Number(u8),
    Word(String),
}

#[derive(Deserialize)]
struct RatingJson {
    rating: u32,
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
struct StandingPage {
    #[serde(default)]
    players: Vec<StandingPlayer>,
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
        let key = self.variant.map(|name| match name {
            VariantName::Key(key) => VariantKey { key },
            VariantName::Full(full) => full,
        });
        let variant = match (variant(key.as_ref()).ok()?, &self.position) {
            (Variant::Standard, Some(_)) => Variant::FromPosition,
            (variant, _) => variant,
        };
        let (limit, increment) = (seconds(self.clock.limit), seconds(self.clock.increment));
        let terms = GameTerms {
            variant,
            time_control: TimeControl::real_time(limit, increment),
            rated: self.rated.unwrap_or_default(),
        };
        let from_now = |seconds: i64| now.checked_add(jiff::SignedDuration::from_secs(seconds)).ok();
        let starts_at = self.starts_at.and_then(Time::timestamp).or(self.seconds_to_start.and_then(from_now));
        let ends_at = self.finishes_at.and_then(Time::timestamp).or(self.seconds_to_finish.and_then(from_now));
        // A tournament without further pairings has nothing to wait for.
        let over = self.is_finished == Some(true) || self.pairings_closed == Some(true);
        let stage = match self.status {
            _ if over => TournamentStage::Over,
            Some(StatusJson::Number(30..)) => TournamentStage::Over,
            Some(StatusJson::Number(20..)) => TournamentStage::Running,
            Some(StatusJson::Number(_)) => TournamentStage::Announced,
            Some(StatusJson::Word(word)) if word == "finished" => TournamentStage::Over,
            Some(StatusJson::Word(word)) if word == "started" => TournamentStage::Running,
            Some(StatusJson::Word(_)) => TournamentStage::Announced,
            // An arena's page: a later start is given as a delay.
            None if self.seconds_to_start.is_none() => TournamentStage::Running,
            None => TournamentStage::Announced,
        };
        let refusal = self.verdicts.filter(|verdicts| !verdicts.accepted).map(|verdicts| {
            let unmet = verdicts.list.into_iter().filter(|verdict| verdict.verdict != "ok");
            let words: Vec<String> = unmet.map(|verdict| verdict.condition).collect();
            if words.is_empty() { "its conditions are not met".to_owned() } else { words.join(", ") }
        });
        let ours = |player: &StandingPlayer| player.name.eq_ignore_ascii_case(us);
        let standing = self.standing.and_then(|page| page.players.into_iter().find(ours));
        Some(TournamentInfo {
            name: self.full_name.unwrap_or_else(|| self.id.clone()),
            tournament: Tournament { id: self.id, kind: Some(kind) },
            terms,
            stage,
            starts_at,
            ends_at,
            players: self.nb_players.unwrap_or_default(),
            // A Swiss has no such switch: its verdicts speak of it.
            bots_allowed: self.bots_allowed.unwrap_or(kind == TournamentKind::Swiss),
            has_password: self.private.unwrap_or_default(),
            min_rating: self.min_rating.map(|bound| bound.rating),
            max_rating: self.max_rating.map(|bound| bound.rating),
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
