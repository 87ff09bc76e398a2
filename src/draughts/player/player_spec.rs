//! Players by name: `council`, a strategy or letters, `published`, each with options behind a colon.

use std::{fmt, str::FromStr, sync::Arc};

use council::{CouncilSettings, GroupMode, Roster, electors::ElectorSpec};
use domain::{CriterionName, SecondPhaseMode};
use draughts_core::{
    endgame::EndgameTables,
    evaluation::{Evaluation, Strategy},
    search::published::PublishedSettings,
};

use crate::player::{DraughtsKind, DraughtsLine, Pace};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerSpecError {
    #[error(
        "player {0:?}: expected council, published, a strategy (peso-pedine, peso-posizione, spettacolo, fully-guarded) or \
         letters of mpgsk"
    )]
    Name(String),
    #[error("option {option:?} of the player {player}: expected {expected}")]
    Option { option: String, player: String, expected: &'static str },
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlayerSpec {
    text: String,
    evaluations: Vec<Evaluation>,
    /// The search of 2010, where that is what plays.
    published: Option<PublishedSettings>,
    /// The rule of election; its `roster` is unused.
    settings: CouncilSettings,
    /// The limits of its moves, if the text gives any.
    pace: Pace,
}

const OF_COUNCIL: &str = "roster=EVALUATIONS, criterion=NAME, second-phase=sequential or continued, split=SHARE, margin=POINTS, seed=N, hash=MIB, \
     nodes=N, movetime=SECONDS or depth=PLIES";
const OF_STRATEGY: &str = "hash=MIB, nodes=N, movetime=SECONDS or depth=PLIES";
const OF_PUBLISHED: &str = "strategy=NAME, moves=N (how many full moves deep), quiescence=on or off, second=on or off, whole=on or off, seed=N";

impl FromStr for PlayerSpec {
    type Err = PlayerSpecError;

    fn from_str(text: &str) -> Result<Self, PlayerSpecError> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let unknown = || PlayerSpecError::Name(name.chars().take(40).collect());
        let mut spec = Self {
            text: text.to_owned(),
            evaluations: Strategy::ALL.map(Evaluation::Published).to_vec(),
            published: None,
            settings: settings(),
            pace: Pace::default(),
        };
        let expected = match name {
            "council" => OF_COUNCIL,
            "published" => {
                spec.published = Some(PublishedSettings { whole_tree: false, ..PublishedSettings::default() });
                OF_PUBLISHED
            }
            _ => {
                spec.evaluations = vec![name.parse().map_err(|_| unknown())?];
                OF_STRATEGY
            }
        };
        for option in options.split(',').map(str::trim).filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            let taken = match name {
                "council" => spec.set_council(key, value).or_else(|| spec.set_common(key, value)),
                "published" => spec.set_published(key, value),
                _ => spec.set_common(key, value),
            };
            taken.ok_or_else(|| PlayerSpecError::Option {
                option: option.chars().take(80).collect(),
                player: name.to_owned(),
                expected,
            })?;
        }
        // A single elector has the whole move in the first phase.
        if spec.published.is_some() || spec.evaluations.len() == 1 {
            spec.settings.criterion = CriterionName::Majority;
        }
        Ok(spec)
    }
}

/// Returns the default council: criterion and second phase that measured best (docs/draughts.md).
/// Its searches have one thread each and share nothing, so there are no groups, and one core has
/// the second phase.
fn settings() -> CouncilSettings {
    CouncilSettings {
        criterion: CriterionName::ReSearch,
        second_phase: SecondPhaseMode::Continued,
        groups: GroupMode::None,
        cores: 1,
        advisers: String::new(),
        ..CouncilSettings::default()
    }
}

impl PlayerSpec {
    /// Options of every search of today; `None` for what is none.
    fn set_common(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "hash" => self.settings.hash = value.parse().ok().filter(|hash| (1..=4096).contains(hash))?,
            "seed" => self.settings.seed = value.parse().ok()?,
            _ => self.pace = self.pace.with(key, value)?,
        }
        Some(())
    }

    fn set_council(&mut self, key: &str, value: &str) -> Option<()> {
        let settings = &mut self.settings;
        match key {
            "roster" => {
                let electors: Option<Vec<Evaluation>> =
                    value.split_ascii_whitespace().map(|name| name.parse().ok()).collect();
                let different = |electors: &Vec<Evaluation>| {
                    (1..electors.len()).all(|place| !electors[..place].contains(&electors[place]))
                };
                self.evaluations = electors.filter(|electors| !electors.is_empty()).filter(different)?;
            }
            "criterion" => {
                settings.criterion = CriterionName::ALL.into_iter().find(|criterion| criterion.word() == value)?;
            }
            "second-phase" => {
                let modes = [SecondPhaseMode::Sequential, SecondPhaseMode::Continued];
                settings.second_phase = modes.into_iter().find(|mode| mode.word() == value)?;
            }
            "split" => settings.split = value.parse().ok().filter(|split| (0.0..=1.0).contains(split))?,
            "margin" => settings.margin = value.parse().ok().filter(|margin| (0.0..=100_000.0).contains(margin))?,
            _ => return None,
        }
        Some(())
    }

    fn set_published(&mut self, key: &str, value: &str) -> Option<()> {
        let on = || match value {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        };
        let settings = self.published.as_mut()?;
        match key {
            "strategy" => settings.strategy = Strategy::ALL.into_iter().find(|strategy| strategy.name() == value)?,
            "moves" => settings.depth = value.parse().ok().filter(|depth| (1..=8).contains(depth))?,
            "quiescence" => settings.quiescence = on()?,
            "second" => settings.second_iteration = on()?,
            "whole" => settings.whole_tree = on()?,
            "seed" => self.settings.seed = value.parse().ok()?,
            _ => return None,
        }
        Some(())
    }

    /// Returns the limits of its moves, if the text gives any.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    pub fn settings(&self) -> &CouncilSettings {
        &self.settings
    }

    /// Returns the same player with another criterion.
    #[must_use]
    pub fn by(&self, criterion: CriterionName) -> Self {
        Self { settings: CouncilSettings { criterion, ..self.settings.clone() }, ..self.clone() }
    }

    /// Returns the electors; modern ones use these endgame tables.
    pub fn roster(&self, tables: Option<&Arc<EndgameTables>>) -> Roster<DraughtsLine> {
        let hash = self.settings.hash;
        let elector = |name: String, kind| ElectorSpec::new(name.into(), kind, hash);
        Roster::of(match self.published {
            Some(published) => {
                let name = format!("published {}", published.strategy.name());
                vec![elector(name, DraughtsKind::Published(published, self.settings.seed))]
            }
            None => {
                let today = |evaluation: &Evaluation| {
                    elector(evaluation.to_string(), DraughtsKind::Today(*evaluation, tables.cloned()))
                };
                self.evaluations.iter().map(today).collect()
            }
        })
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn player_options_are_read() {
        for (text, electors) in [
            ("council", "peso-pedine peso-posizione spettacolo fully-guarded"),
            ("council:roster=m mpsk,criterion=re-search,second-phase=continued,split=0.4,nodes=500", "m mpsk"),
            ("fully-guarded", "fully-guarded"),
            ("mpgsk:hash=2,movetime=0.05", "mpgsk"),
            ("published:strategy=spettacolo,moves=2,quiescence=on,second=off", "published spettacolo"),
        ] {
            let spec: PlayerSpec = text.parse().expect(text);
            let names: Vec<String> =
                spec.roster(None).electors().iter().map(|elector| elector.name.to_string()).collect();
            assert_eq!(names.join(" "), electors);
            assert_eq!(spec.to_string(), text);
        }
    }

    #[test]
    fn unknown_player_names_the_choices() {
        for (text, part) in [
            ("", "expected council"),
            ("sicilian", "fully-guarded"),
            ("council:criterion=best", "criterion=NAME"),
            ("council:roster=m m", "roster=EVALUATIONS"),
            ("council:second-phase=shared", "sequential or continued"),
            ("published:nodes=5", "quiescence=on or off"),
            ("m:split=0.5", "hash=MIB"),
            ("m:movetime=-1", "movetime=SECONDS"),
        ] {
            let error = text.parse::<PlayerSpec>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
