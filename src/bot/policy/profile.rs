//! Profiles: other settings of the player for some games.
//!
//! The profile with the most conditions applies; among equals the first by name. One profile
//! applies, never two mixed, so the effective settings are in a single table.
//!
//! The overridden settings are a type parameter: this module does not depend on the council.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use domain::values::{Kind, TimeControlRule};
use domain::{Color, GameInfo, Variant};
use util::values::WholeNumberOrNone;

util::settings! {
    /// The conditions of a profile. Every condition that is set must hold.
    pub struct Conditions {
        /// A speed or one time control.
        pub time_control: Option<TimeControlRule> = None,
        /// A speed; equal to a speed under `time_control`.
        pub speed: Option<domain::Speed> = None,
        /// The bot's colour.
        #[serde(with = "color")]
        pub color: Option<Color> = None,
        pub variant: Option<Variant> = None,
        pub opponent: Option<Kind> = None,
        /// Names of opponents, any of which holds.
        pub names: Vec<String> = Vec::new(),
        /// Titles of opponents such as `GM`, any of which holds.
        pub titles: Vec<String> = Vec::new(),
        /// The opponent's least rating; one without a rating has none.
        #[serde(with = "WholeNumberOrNone::<0, 4000>")]
        pub min_rating: Option<u32> = None,
        /// The opponent's greatest rating.
        #[serde(with = "WholeNumberOrNone::<0, 4000>")]
        pub max_rating: Option<u32> = None,
        /// Rated or casual.
        pub rated: Option<bool> = None,
        /// In a tournament or not.
        pub tournament: Option<bool> = None,
    }
}

mod color {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

    use domain::Color;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Color>, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "white" => Ok(Some(Color::White)),
            "black" => Ok(Some(Color::Black)),
            other => Err(D::Error::unknown_variant(other, &["white", "black"])),
        }
    }

    pub(super) fn serialize<S: Serializer>(color: &Option<Color>, serializer: S) -> Result<S::Ok, S::Error> {
        color.map(|color| color.fold_wb("white", "black")).serialize(serializer)
    }
}

impl Conditions {
    /// Returns the number of conditions, if all hold.
    fn matched(&self, game: &GameInfo) -> Option<usize> {
        let (terms, opponent) = (game.terms, game.opponent());
        let any = |listed: &[String], value: &str| {
            (!listed.is_empty()).then(|| listed.iter().any(|item| item.eq_ignore_ascii_case(value)))
        };
        let conditions = [
            self.time_control.map(|rule| rule.covers(terms.time_control)),
            self.speed.map(|speed| speed == terms.time_control.speed()),
            self.color.map(|color| color == game.our_color),
            self.variant.map(|variant| variant == terms.variant),
            self.opponent.map(|kind| kind == Kind::of(opponent)),
            any(&self.names, &opponent.name),
            any(&self.titles, opponent.title.as_deref().unwrap_or_default()),
            self.min_rating.map(|least| opponent.rating.is_some_and(|rating| rating >= least)),
            self.max_rating.map(|most| opponent.rating.is_some_and(|rating| rating <= most)),
            self.rated.map(|rated| rated == terms.rated),
            self.tournament.map(|tournament| tournament == game.tournament.is_some()),
        ];
        let set = conditions.into_iter().flatten();
        set.clone().all(|holds| holds).then(|| set.count())
    }
}

/// A profile. Its settings are whole: those it lacks are the player's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, bound(deserialize = "P: Default + DeserializeOwned"))]
pub struct Profile<P> {
    pub when: Conditions,
    #[serde(rename = "*")]
    pub player: P,
}

pub fn choose<'a, P>(profiles: &'a BTreeMap<String, Profile<P>>, game: &GameInfo) -> Option<&'a str> {
    let matched = profiles.iter().filter_map(|(name, profile)| Some((profile.when.matched(game)?, name.as_str())));
    // Among equals `max_by_key` takes the last one.
    matched.rev().max_by_key(|(conditions, _)| *conditions).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{GameTerms, Player, values::MinutesAndSeconds};

    fn game(time_control: &str, bot: bool) -> GameInfo {
        let opponent = Player { title: bot.then(|| "BOT".to_owned()), ..Player::named("Other") };
        let time_control = time_control.parse::<MinutesAndSeconds>().expect("a time control").0;
        let terms = GameTerms { variant: Variant::Standard, time_control, rated: true };
        GameInfo::from_start("abcdefgh", terms, Player::named("Concilio"), opponent)
    }

    fn chosen(text: &str, game: &GameInfo) -> Option<String> {
        let profiles: BTreeMap<String, Profile<String>> = toml::from_str(text).expect("profiles");
        choose(&profiles, game).map(str::to_owned)
    }

    #[test]
    fn the_most_specific_profile_wins() {
        let profiles = "
            [blitz]
            when = { speed = 'blitz' }
            [blitz-against-bots]
            when = { speed = 'blitz', opponent = 'bot' }
            [a-black-one]
            when = { color = 'black', opponent = 'bot', rated = true }
            ";
        let chosen = |time_control, bot| chosen(profiles, &game(time_control, bot));
        assert_eq!(chosen("3+2", true).as_deref(), Some("blitz-against-bots"));
        assert_eq!(chosen("3+2", false).as_deref(), Some("blitz"));
        assert_eq!(chosen("1+0", false), None);
    }

    #[test]
    fn opponents_have_profiles_of_their_own() {
        let profiles = "
            [masters]
            when = { titles = ['GM', 'IM'] }
            [strong]
            when = { min_rating = 2400 }
            [weak]
            when = { min_rating = 0, max_rating = 1200 }
            [ann]
            when = { names = ['ann'], color = 'white', rated = true }
            ";
        let chosen = |name: &str, title: Option<&str>, rating: Option<u32>| {
            let mut game = game("3+2", false);
            game.black = Player { title: title.map(str::to_owned), rating, ..Player::named(name) };
            chosen(profiles, &game)
        };
        assert_eq!(chosen("Bob", Some("GM"), Some(2300)).as_deref(), Some("masters"));
        assert_eq!(chosen("Bob", None, Some(2400)).as_deref(), Some("strong"));
        assert_eq!(chosen("Bob", None, Some(900)).as_deref(), Some("weak"));
        assert_eq!(chosen("Ann", Some("GM"), Some(900)).as_deref(), Some("ann"), "the most conditions");
        assert_eq!(chosen("Bob", None, None), None, "no rating is neither high nor low");
    }

    #[test]
    fn among_equals_the_first_by_name_wins() {
        let profiles = "
            [b]
            when = { rated = true }
            [a]
            when = { variant = 'standard' }
            ";
        assert_eq!(chosen(profiles, &game("3+2", true)).as_deref(), Some("a"));
        let mut atomic = game("3+2", true);
        atomic.terms.variant = Variant::Atomic;
        assert_eq!(chosen(profiles, &atomic).as_deref(), Some("b"));
    }
}
