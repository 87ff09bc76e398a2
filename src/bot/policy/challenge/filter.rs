//! Terms for one kind of opponent: time controls, ratings, frequency.

use std::{fmt, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{self, IntoDeserializer, SeqAccess, Visitor, value::SeqAccessDeserializer},
};
use shakmaty::CastlingMode;

use super::{ChallengeVerdict, refuse};
use domain::{
    Challenge, DeclineReason, Line, Player, Speed, TimeControl, Variant,
    values::{Kind, Mode, TimeControlRule},
};
use util::{
    Fault,
    values::{Seconds, SecondsOrNone, WholeNumber, WholeNumberOrNone},
};

util::settings! {
    /// The keys from here to `max_rematches` are terms for all opponents. Each may stand in
    /// `[challenge.human]` or `[challenge.bot]` as well, and holds there for these alone.
    pub struct ChallengeFilter {
        /// Accept challenges at all.
        pub accept: bool = true,
        /// Accepted variants: "standard", "chess960", "fromPosition", "crazyhouse", "antichess",
        /// "atomic", "horde", "kingOfTheHill", "racingKings", "threeCheck". Variants that no engine of
        /// the bot plays are declined even when they are listed. `variants = "all"` is every one:
        /// Fairy-Stockfish, where it is installed (fairy-stockfish), plays those that no other engine
        /// does.
        #[serde(deserialize_with = "variants")]
        pub variants: Vec<Variant> = vec![Variant::Standard, Variant::Chess960, Variant::FromPosition],
        /// Accepted speeds ("ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence")
        /// or time controls: minutes+seconds such as "3+2" or "0.5+1", "10s+1" in seconds alone, days a
        /// move such as "3d", or "unlimited".
        pub time_controls: Vec<TimeControlRule> = [Speed::Bullet, Speed::Blitz, Speed::Rapid, Speed::Classical]
                .map(TimeControlRule::Speed)
                .to_vec(),
        /// Accepted modes: "rated", "casual" or both.
        pub modes: Vec<Mode> = vec![Mode::Rated, Mode::Casual],
        /// The least time on the clock at the start, in seconds. 0 to 86400.
        #[serde(with = "Seconds::<0, 86400>")]
        pub min_initial: Duration = Duration::ZERO,
        /// The most time on the clock at the start, in seconds. 0 to 86400, or "none".
        #[serde(with = "SecondsOrNone::<0, 86400>")]
        pub max_initial: Option<Duration> = None,
        /// The least increment, in seconds. 0 to 3600.
        #[serde(with = "Seconds::<0, 3600>")]
        pub min_increment: Duration = Duration::ZERO,
        /// The greatest increment, in seconds. 0 to 3600, or "none".
        #[serde(with = "SecondsOrNone::<0, 3600>")]
        pub max_increment: Option<Duration> = None,
        /// The fewest days a move of a correspondence game. 1 to 365.
        #[serde(with = "WholeNumber::<1, 365>")]
        pub min_days: u32 = 1,
        /// The most days a move of a correspondence game. 1 to 365.
        #[serde(with = "WholeNumber::<1, 365>")]
        pub max_days: u32 = 14,
        /// The longest expected game in seconds, both players together: 1.33 times the time at the
        /// start, and 105 increments. 1 to 604800, or "none".
        #[serde(with = "SecondsOrNone::<1, 604800>")]
        pub max_estimated_duration: Option<Duration> = None,
        /// Require an increment for bullet and faster games.
        pub bullet_with_increment_only: bool = false,
        /// The opponent's least rating; an opponent without a rating passes this and the next two keys.
        /// 0 to 4000.
        #[serde(with = "WholeNumber::<0, 4000>")]
        pub min_rating: u32 = 0,
        /// The opponent's greatest rating. 0 to 4000.
        #[serde(with = "WholeNumber::<0, 4000>")]
        pub max_rating: u32 = 4000,
        /// The largest difference between the opponent's rating and the bot's, either way. 0 to 4000,
        /// or "none".
        #[serde(with = "WholeNumberOrNone::<0, 4000>")]
        pub max_rating_difference: Option<u32> = None,
        /// Accept opponents with an uncertain rating, or with none.
        pub provisional: bool = true,
        /// Games with one opponent that may begin within `recent`. 1 to 1000, or "none".
        #[serde(with = "WholeNumberOrNone::<1, 1000>")]
        pub max_recent_games: Option<usize> = None,
        /// Time for which a game counts as recent, in seconds. 1 to 604800.
        #[serde(with = "Seconds::<1, 604800>")]
        pub recent: Duration = Duration::from_hours(1),
        /// Rematches in a row. 0 to 1000, or "none".
        #[serde(with = "WholeNumberOrNone::<0, 1000>")]
        pub max_rematches: Option<u32> = None,
    }
}

fn variants<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Variant>, D::Error> {
    struct ListOrAll;

    impl<'de> Visitor<'de> for ListOrAll {
        type Value = Vec<Variant>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of variants, or \"all\"")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            match text {
                "all" => Ok(Variant::ALL.to_vec()),
                one => Variant::deserialize(IntoDeserializer::<E>::into_deserializer(one)).map(|variant| vec![variant]),
            }
        }

        fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(items))
        }
    }

    deserializer.deserialize_any(ListOrAll)
}

impl ChallengeFilter {
    pub(super) const LONGEST_RECENT: Duration = Duration::from_secs(604_800);

    pub fn faults(&self) -> Vec<Fault> {
        let upper = |bound: Option<Duration>| bound.unwrap_or(Duration::MAX);
        [
            Fault::unless_ordered(("min_initial", self.min_initial), ("max_initial", upper(self.max_initial))),
            Fault::unless_ordered(("min_increment", self.min_increment), ("max_increment", upper(self.max_increment))),
            Fault::unless_ordered(("min_days", self.min_days), ("max_days", self.max_days)),
            Fault::unless_ordered(("min_rating", self.min_rating), ("max_rating", self.max_rating)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    pub(super) fn check(&self, challenge: &Challenge, opponent: &Player) -> Result<(), ChallengeVerdict> {
        if !self.accept {
            return match Kind::of(opponent) {
                Kind::Bot => refuse(DeclineReason::NoBot, "bots are not played"),
                Kind::Human => refuse(DeclineReason::OnlyBot, "humans are not played"),
            };
        }
        self.check_rules(challenge)?;
        self.check_time_control(challenge.terms.time_control)?;
        self.check_rating(challenge, opponent)
    }

    fn check_rules(&self, challenge: &Challenge) -> Result<(), ChallengeVerdict> {
        let terms = challenge.terms;
        if !self.variants.contains(&terms.variant) {
            let only_standard = self.variants == [Variant::Standard];
            let reason = if only_standard { DeclineReason::Standard } else { DeclineReason::Variant };
            return refuse(reason, format!("{} is not among variants", terms.variant));
        }
        let is_chess960 =
            |fen| Line::from_fen(terms.variant, fen).is_ok_and(|line| line.castling_mode() == CastlingMode::Chess960);
        if terms.variant == Variant::FromPosition
            && !self.variants.contains(&Variant::Chess960)
            && challenge.initial_fen.as_deref().is_some_and(is_chess960)
        {
            return refuse(DeclineReason::Variant, "its position castles as in chess960, which is not among variants");
        }
        if !self.modes.contains(&Mode::of(terms.rated)) {
            // The reason for the server is the accepted mode.
            return match terms.rated {
                true => refuse(DeclineReason::Casual, "rated is not among modes"),
                false => refuse(DeclineReason::Rated, "casual is not among modes"),
            };
        }
        Ok(())
    }

    fn check_time_control(&self, time_control: TimeControl) -> Result<(), ChallengeVerdict> {
        if !self.time_controls.iter().any(|rule| rule.covers(time_control)) {
            return refuse(self.mismatch(time_control), format!("{time_control} is not among time_controls"));
        }
        match time_control {
            TimeControl::RealTime { initial, increment } => self.check_clock(time_control, initial, increment),
            TimeControl::Correspondence { days } if days < self.min_days => {
                refuse(DeclineReason::TooFast, format!("{days} days a move are under min_days"))
            }
            TimeControl::Correspondence { days } if days > self.max_days => {
                refuse(DeclineReason::TooSlow, format!("{days} days a move are over max_days"))
            }
            TimeControl::Correspondence { .. } | TimeControl::Unlimited => Ok(()),
        }
    }

    fn check_clock(
        &self,
        time_control: TimeControl,
        initial: Duration,
        increment: Duration,
    ) -> Result<(), ChallengeVerdict> {
        let over = |bound: Option<Duration>, value: Duration| bound.is_some_and(|bound| value > bound);
        let too_long = time_control.game_length().is_some_and(|length| over(self.max_estimated_duration, length));
        let limits = [
            (initial < self.min_initial, DeclineReason::TooFast, "under min_initial"),
            (over(self.max_initial, initial), DeclineReason::TooSlow, "over max_initial"),
            (increment < self.min_increment, DeclineReason::TooFast, "under min_increment"),
            (over(self.max_increment, increment), DeclineReason::TooSlow, "over max_increment"),
            (too_long, DeclineReason::TooSlow, "over max_estimated_duration"),
        ];
        if let Some((_, reason, why)) = limits.into_iter().find(|(is_broken, ..)| *is_broken) {
            return refuse(reason, format!("{time_control} is {why}"));
        }
        if self.bullet_with_increment_only && time_control.speed() <= Speed::Bullet && increment.is_zero() {
            return refuse(DeclineReason::TooFast, format!("{time_control} is bullet without increment"));
        }
        Ok(())
    }

    /// Returns too fast or too slow if all accepted speeds are slower or faster.
    fn mismatch(&self, time_control: TimeControl) -> DeclineReason {
        let speed = time_control.speed();
        let mut played = self.time_controls.iter().map(|rule| match rule {
            TimeControlRule::Speed(speed) => *speed,
            TimeControlRule::Exactly(time_control) => time_control.speed(),
        });
        if self.time_controls.is_empty() {
            DeclineReason::TimeControl
        } else if played.clone().all(|played| played > speed) {
            DeclineReason::TooFast
        } else if played.all(|played| played < speed) {
            DeclineReason::TooSlow
        } else {
            DeclineReason::TimeControl
        }
    }

    fn check_rating(&self, challenge: &Challenge, opponent: &Player) -> Result<(), ChallengeVerdict> {
        let Some(rating) = opponent.rating else {
            return match self.provisional {
                true => Ok(()),
                false => refuse(DeclineReason::Generic, format!("{} has no rating", opponent.name)),
            };
        };
        if opponent.provisional && !self.provisional {
            return refuse(DeclineReason::Generic, format!("the rating of {} is uncertain", opponent.name));
        }
        if !(self.min_rating..=self.max_rating).contains(&rating) {
            let (low, high) = (self.min_rating, self.max_rating);
            return refuse(DeclineReason::Generic, format!("their rating {rating} is not within {low} to {high}"));
        }
        match (self.max_rating_difference, challenge.our_rating) {
            (Some(max), Some(ours)) if ours.abs_diff(rating) > max => refuse(
                DeclineReason::Generic,
                format!("their rating {rating} is more than {max} from the bot's {ours}"),
            ),
            _ => Ok(()),
        }
    }
}
