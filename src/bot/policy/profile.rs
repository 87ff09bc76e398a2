//! Other settings for other games: a profile overrides part of the player's settings where its conditions hold.
//!
//! The most specific profile wins: the one with the most conditions. Among equals it is the first by name, in the order of
//! the alphabet. One profile applies, never two mixed: what is played can be read off a single table.
//!
//! The type of the settings that are overridden is a parameter, so that this room does not know the council.

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};

use chess::values::{Kind, TimeControlRule};
use chess::{Color, GameInfo, Variant};

/// When a profile applies. Every condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Conditions {
    /// A speed or one time control.
    pub time_control: Option<TimeControlRule>,
    /// A speed; the same as a speed under `time_control`, for those who look for it here.
    pub speed: Option<chess::Speed>,
    /// Our colour.
    #[serde(deserialize_with = "color")]
    pub color: Option<Color>,
    /// The rules.
    pub variant: Option<Variant>,
    /// Human or bot.
    pub opponent: Option<Kind>,
    /// Rated or casual.
    pub rated: Option<bool>,
    /// In a tournament or not.
    pub tournament: Option<bool>,
}

fn color<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Color>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Name {
        White,
        Black,
    }
    Ok(Some(match Name::deserialize(deserializer)? {
        Name::White => Color::White,
        Name::Black => Color::Black,
    }))
}

impl Conditions {
    /// How many conditions hold, if all that are set do.
    fn matched(&self, game: &GameInfo) -> Option<usize> {
        let terms = game.terms;
        let conditions = [
            self.time_control.map(|rule| rule.covers(terms.time_control)),
            self.speed.map(|speed| speed == terms.time_control.speed()),
            self.color.map(|color| color == game.our_color),
            self.variant.map(|variant| variant == terms.variant),
            self.opponent.map(|kind| kind == Kind::of(game.opponent())),
            self.rated.map(|rated| rated == terms.rated),
            self.tournament.map(|tournament| tournament == game.tournament.is_some()),
        ];
        let set = conditions.into_iter().flatten();
        set.clone().all(|holds| holds).then(|| set.count())
    }
}

/// A profile with its settings whole: the player's own, overridden by the profile's.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, bound = "P: Default + DeserializeOwned")]
pub struct Profile<P> {
    /// When it applies.
    pub when: Conditions,
    /// What applies then.
    pub player: P,
}

/// The player's settings and all profiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profiles<'a, P> {
    /// What applies where no profile does.
    pub base: &'a P,
    /// Profiles by name.
    pub named: &'a BTreeMap<String, Profile<P>>,
}

impl<'a, P> Profiles<'a, P> {
    /// The settings for a game, and the name of the profile they come from.
    pub fn choose(&self, game: &GameInfo) -> (&'a P, Option<&'a str>) {
        let mut best: (usize, &P, Option<&str>) = (0, self.base, None);
        for (name, profile) in self.named {
            let Some(conditions) = profile.when.matched(game) else { continue };
            if best.2.is_none() || conditions > best.0 {
                best = (conditions, &profile.player, Some(name));
            }
        }
        (best.1, best.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess::{GameId, GameTerms, Line, Player, values::MinutesAndSeconds};

    fn game(time_control: &str, bot: bool) -> GameInfo {
        let opponent = Player { title: bot.then(|| "BOT".to_owned()), ..Player::named("Other") };
        GameInfo {
            id: GameId::new("abcdefgh"),
            terms: GameTerms {
                variant: Variant::Standard,
                time_control: time_control.parse::<MinutesAndSeconds>().expect("a time control").0,
                rated: true,
            },
            white: Player::named("Concilio"),
            black: opponent,
            our_color: Color::White,
            start: Line::start(Variant::Standard),
            tournament: None,
            url: None,
        }
    }

    fn choose(text: &str, game: &GameInfo) -> (String, Option<String>) {
        let (base, named) = ("base".to_owned(), toml::from_str(text).expect("profiles"));
        let (player, name) = Profiles { base: &base, named: &named }.choose(game);
        (player.clone(), name.map(str::to_owned))
    }

    #[test]
    fn the_most_specific_profile_wins() {
        let profiles = "
            [blitz]
            when = { speed = 'blitz' }
            player = 'blitz'
            [blitz-against-bots]
            when = { speed = 'blitz', opponent = 'bot' }
            player = 'blitz against bots'
            [a-black-one]
            when = { color = 'black', opponent = 'bot', rated = true }
            player = 'black'
            ";
        let chosen = |time_control, bot| choose(profiles, &game(time_control, bot));
        assert_eq!(chosen("3+2", true), ("blitz against bots".to_owned(), Some("blitz-against-bots".to_owned())));
        assert_eq!(chosen("3+2", false), ("blitz".to_owned(), Some("blitz".to_owned())));
        assert_eq!(chosen("1+0", false), ("base".to_owned(), None));
    }

    #[test]
    fn among_equals_the_first_by_name_wins() {
        let profiles = "
            [b]
            when = { rated = true }
            player = 'b'
            [a]
            when = { variant = 'standard' }
            player = 'a'
            ";
        assert_eq!(choose(profiles, &game("3+2", true)).0, "a");
        let mut atomic = game("3+2", true);
        atomic.terms.variant = Variant::Atomic;
        assert_eq!(choose(profiles, &atomic).0, "b");
    }
}
