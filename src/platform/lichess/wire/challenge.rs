use serde::Deserialize;

use super::{VariantKey, color, lenient, player::User, seconds, variant, whole_days};
use domain::{Challenge, ChallengeId, ChallengeObstacle, DeclineReason, GameId, GameTerms, ServerEvent, TimeControl};

/// `challenge`, `challengeCanceled` and `challengeDeclined`.
#[derive(Deserialize)]
pub(super) struct ChallengeEnvelope {
    challenge: ChallengeJson,
    #[serde(default, deserialize_with = "lenient")]
    compat: Option<Compat>,
}

impl ChallengeEnvelope {
    /// Returns true if `us` made it, or it is made to `us` or to anybody.
    pub(super) fn concerns(&self, us: &str) -> bool {
        let is_us = |user: &User| user.clone().into_player().id == us;
        let ChallengeJson { challenger, dest_user, .. } = &self.challenge;
        challenger.as_ref().is_some_and(is_us) || dest_user.as_ref().is_none_or(is_us)
    }

    pub(super) fn into_challenge(self, us: &str) -> Challenge {
        let for_bots = self.compat.and_then(|compat| compat.bot).unwrap_or(true);
        self.challenge.into_challenge(us, for_bots)
    }

    pub(super) fn into_id(self) -> ChallengeId {
        ChallengeId::from(self.challenge.id)
    }

    pub(super) fn into_decline(self) -> ServerEvent {
        let Self { challenge, .. } = self;
        ServerEvent::ChallengeDeclined {
            id: ChallengeId::from(challenge.id),
            by: challenge.dest_user.map(User::into_player),
            reason: DeclineReason::from_key(challenge.decline_reason_key.as_deref().unwrap_or_default()),
        }
    }
}

#[derive(Deserialize)]
struct Compat {
    bot: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChallengeJson {
    id: String,
    challenger: Option<User>,
    dest_user: Option<User>,
    variant: Option<VariantKey>,
    rated: Option<bool>,
    time_control: Option<TimeControlJson>,
    #[serde(default, deserialize_with = "lenient")]
    color: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    direction: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    initial_fen: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    rematch_of: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    rules: Option<Vec<String>>,
    #[serde(default, deserialize_with = "lenient")]
    decline_reason_key: Option<String>,
}

impl ChallengeJson {
    pub(super) fn into_challenge(self, us: &str, for_bots: bool) -> Challenge {
        let challenger = self.challenger.map(User::into_player);
        let challenged = self.dest_user.map(User::into_player);
        let incoming = match &challenger {
            Some(player) => player.id != us,
            None => self.direction.as_deref() != Some("out"),
        };
        // A variant that has no name with us is none that we can play; the challenge still waits for an answer.
        let known = variant(self.variant.as_ref()).ok();
        let unknown = self.variant.filter(|_| known.is_none()).map(|variant| variant.key);
        let obstacle = match unknown {
            Some(name) => Some(ChallengeObstacle::UnknownVariant(name)),
            None => (!for_bots).then_some(ChallengeObstacle::NotForBots),
        };
        let (opponent, our_self) = if incoming { (challenger, challenged) } else { (challenged, challenger) };
        let challengers_color = color(self.color.as_deref());
        Challenge {
            id: ChallengeId::from(self.id),
            incoming,
            opponent,
            terms: GameTerms {
                variant: known.unwrap_or_default(),
                time_control: self.time_control.map_or(TimeControl::Unlimited, TimeControlJson::into_time_control),
                rated: self.rated.unwrap_or(false),
            },
            our_color: if incoming { challengers_color.map(|color| !color) } else { challengers_color },
            initial_fen: self.initial_fen.filter(|fen| !fen.is_empty() && fen != "startpos"),
            rules: self.rules.unwrap_or_default(),
            rematch_of: self.rematch_of.map(GameId::from),
            our_rating: our_self.and_then(|player| player.rating),
            obstacle,
        }
    }
}

/// The answer to a challenge of ours: the challenge, at times in an envelope.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum ChallengeCreated {
    Bare(Id),
    Envelope { challenge: Id },
}

#[derive(Deserialize)]
pub(crate) struct Id {
    id: String,
}

impl ChallengeCreated {
    pub(crate) fn into_id(self) -> ChallengeId {
        let (Self::Bare(Id { id }) | Self::Envelope { challenge: Id { id } }) = self;
        ChallengeId::from(id)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TimeControlJson {
    limit: Option<f64>,
    increment: Option<f64>,
    days_per_turn: Option<f64>,
}

impl TimeControlJson {
    fn into_time_control(self) -> TimeControl {
        match (self.limit, self.days_per_turn) {
            (Some(limit), _) => TimeControl::real_time(seconds(limit), seconds(self.increment.unwrap_or_default())),
            (None, Some(days)) => TimeControl::Correspondence { days: whole_days(days) },
            (None, None) => TimeControl::Unlimited,
        }
    }
}
