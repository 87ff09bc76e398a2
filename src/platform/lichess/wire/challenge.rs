use serde::Deserialize;
use serde_json::Value;

use super::{ClockJson, VariantKey, color, player::User, seconds, time_control, variant};
use domain::{Challenge, ChallengeId, ChallengeObstacle, DeclineReason, GameId, GameTerms, ServerEvent};

/// `challenge`, `challengeCanceled` and `challengeDeclined`.
#[derive(Deserialize)]
pub(super) struct ChallengeEnvelope {
    pub challenge: ChallengeJson,
    #[serde(default)]
    pub compat: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChallengeJson {
    id: String,
    challenger: Option<User>,
    dest_user: Option<User>,
    variant: Option<VariantKey>,
    rated: Option<bool>,
    time_control: Option<ClockJson>,
    #[serde(flatten)]
    more: Value,
}

impl ChallengeEnvelope {
    /// Returns true if `us` made it, or it is made to `us` or to anybody.
    pub(super) fn concerns(&self, us: &str) -> bool {
        let is_us = |user: &User| user.clone().into_player().id == us;
        let ChallengeJson { challenger, dest_user, .. } = &self.challenge;
        challenger.as_ref().is_some_and(is_us) || dest_user.as_ref().is_none_or(is_us)
    }

    pub(super) fn id(&self) -> ChallengeId {
        ChallengeId::new(&self.challenge.id)
    }

    pub(super) fn into_decline(self) -> ServerEvent {
        ServerEvent::ChallengeDeclined {
            id: self.id(),
            reason: DeclineReason::from_key(self.challenge.more["declineReasonKey"].as_str().unwrap_or_default()),
            by: self.challenge.dest_user.map(User::into_player),
        }
    }

    pub(super) fn into_challenge(self, us: &str) -> Challenge {
        let (id, json) = (self.id(), self.challenge);
        let more = |key: &str| json.more[key].as_str();
        let challenger = json.challenger.map(User::into_player);
        let challenged = json.dest_user.map(User::into_player);
        let incoming = match &challenger {
            Some(player) => player.id != us,
            None => more("direction") != Some("out"),
        };
        // A variant that has no name with us is none that we can play; the challenge still waits for an answer.
        let known = variant(json.variant.as_ref().map(|variant| variant.key.as_str())).ok();
        let unknown = json.variant.filter(|_| known.is_none()).map(|variant| variant.key);
        let obstacle = match unknown {
            Some(name) => Some(ChallengeObstacle::UnknownVariant(name)),
            None => (self.compat["bot"] == false).then_some(ChallengeObstacle::NotForBots),
        };
        let (opponent, our_self) = if incoming { (challenger, challenged) } else { (challenged, challenger) };
        let challengers_color = color(more("color"));
        Challenge {
            id,
            incoming,
            opponent,
            terms: GameTerms {
                variant: known.unwrap_or_default(),
                time_control: time_control(json.time_control, None, seconds),
                rated: json.rated.unwrap_or(false),
            },
            our_color: if incoming { challengers_color.map(|color| !color) } else { challengers_color },
            initial_fen: more("initialFen").filter(|fen| !fen.is_empty() && *fen != "startpos").map(str::to_owned),
            rules: Vec::deserialize(&json.more["rules"]).unwrap_or_default(),
            rematch_of: more("rematchOf").map(GameId::new),
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
