//! Players of draughts by name: `council`, a strategy or letters, `published`, each with options behind a colon.

use std::sync::Arc;

use council::{CouncilSettings, GroupMode, Roster, electors::ElectorSpec};
use domain::{CriterionName, SecondPhaseMode};
use draughts_core::{
    endgame::EndgameTables,
    evaluation::{Evaluation, Strategy},
    search::published::PublishedSettings,
};
use experiment::player::PlayerWords;
use serde::Deserialize;

use crate::player::{DraughtsKind, DraughtsLine};

pub type PlayerSpec = experiment::player::PlayerSpec<DraughtsPlayerKind>;

#[derive(Clone, Debug)]
pub struct DraughtsPlayerKind {
    evaluations: Vec<Evaluation>,
    /// The search of 2010, where that is what plays.
    published: Option<PublishedSettings>,
    /// The rule of election; its `roster` is unused.
    pub settings: CouncilSettings,
    pub tables: Option<Arc<EndgameTables>>,
}

const EXPECTED: &str = "expected council, published, a strategy (peso-pedine, peso-posizione, spettacolo, fully-guarded) or \
     letters of mpgsk";
const OF_COUNCIL: &str = "roster=EVALUATIONS, criterion=NAME, second-phase=sequential or continued, split=SHARE, margin=POINTS, seed=N, hash=MIB, \
     nodes=N, movetime=SECONDS or depth=PLIES";
const OF_STRATEGY: &str = "hash=MIB, seed=N, nodes=N, movetime=SECONDS or depth=PLIES";
const OF_PUBLISHED: &str = "strategy=NAME, moves=N (how many full moves deep), quiescence=on or off, second=on or off, whole=on or off, seed=N";

/// The largest table of a search, MiB.
const MOST_HASH: usize = 4096;

/// Returns the default council: criterion and second phase that measured best (docs/draughts.md).
/// Its searches have one thread each and share nothing, so there are no groups, and one core has
/// the second phase.
fn settings() -> CouncilSettings {
    CouncilSettings {
        roster: String::new(),
        criterion: CriterionName::ReSearch,
        second_phase: SecondPhaseMode::Continued,
        groups: GroupMode::None,
        cores: 1,
        advisers: String::new(),
        ..CouncilSettings::default()
    }
}

impl DraughtsPlayerKind {
    /// Reads a player's words, without its pace.
    pub(super) fn from_words(words: &PlayerWords<'_>) -> Result<Self, String> {
        let evaluations = Strategy::ALL.map(Evaluation::Published).to_vec();
        let mut kind = Self { evaluations, published: None, settings: settings(), tables: None };
        match words.kind {
            "council" => kind.read_settings(words, OF_COUNCIL)?,
            "published" => kind.read_published(words)?,
            name => {
                kind.evaluations = vec![name.parse().map_err(|_| words.wrong(EXPECTED))?];
                kind.read_settings(words, OF_STRATEGY)?;
            }
        }
        // A single elector has the whole move in the first phase.
        if kind.published.is_some() || kind.evaluations.len() == 1 {
            kind.settings.criterion = CriterionName::Majority;
        }
        Ok(kind)
    }

    /// Reads the options of modern searches, those that `accepted` names.
    fn read_settings(&mut self, words: &PlayerWords<'_>, accepted: &str) -> Result<(), String> {
        let is_accepted = |key: &str| accepted.split(", ").any(|option| option.split('=').next() == Some(key));
        if let Some((key, value)) = words.options.iter().find(|(key, _)| !is_accepted(key)) {
            return Err(words.wrong(format_args!("{key}={value}: expected {accepted}")));
        }
        let mut table = toml::Table::try_from(&self.settings).map_err(|error| words.wrong(error))?;
        words.add_to(&mut table, |_| true);
        let settings = CouncilSettings::deserialize(table).map_err(|error| words.wrong(error.message()))?;
        let fits = settings.hash <= MOST_HASH
            && matches!(settings.second_phase, SecondPhaseMode::Sequential | SecondPhaseMode::Continued);
        if !fits {
            return Err(words.wrong(format_args!("expected {accepted}; hash up to {MOST_HASH}")));
        }
        if !settings.roster.is_empty() {
            let electors: Option<Vec<Evaluation>> =
                settings.roster.split_ascii_whitespace().map(|name| name.parse().ok()).collect();
            let different = |electors: &Vec<Evaluation>| {
                (1..electors.len()).all(|place| !electors[..place].contains(&electors[place]))
            };
            let electors = electors.filter(|electors| !electors.is_empty()).filter(different);
            self.evaluations = electors.ok_or_else(|| words.wrong(format_args!("expected {accepted}")))?;
        }
        self.settings = settings;
        Ok(())
    }

    fn read_published(&mut self, words: &PlayerWords<'_>) -> Result<(), String> {
        let mut published = PublishedSettings { whole_tree: false, ..PublishedSettings::default() };
        let mut set = |key: &str, value: &str| {
            let on = || match value {
                "on" => Some(true),
                "off" => Some(false),
                _ => None,
            };
            match key {
                "strategy" => {
                    published.strategy = Strategy::ALL.into_iter().find(|strategy| strategy.name() == value)?;
                }
                "moves" => published.depth = value.parse().ok().filter(|depth| (1..=8).contains(depth))?,
                "quiescence" => published.quiescence = on()?,
                "second" => published.second_iteration = on()?,
                "whole" => published.whole_tree = on()?,
                "seed" => self.settings.seed = value.parse().ok()?,
                _ => return None,
            }
            Some(())
        };
        let all = words.options.iter().try_for_each(|(key, value)| set(key, value));
        // Its tree has no other limit than its depth.
        if all.is_none() || words.pace.is_some() || words.bare.is_some() {
            return Err(words.wrong(format_args!("expected {OF_PUBLISHED}")));
        }
        self.published = Some(published);
        Ok(())
    }

    pub fn roster(&self) -> Roster<DraughtsLine> {
        let hash = self.settings.hash;
        let elector = |name: String, kind| ElectorSpec::new(name.into(), kind, hash);
        Roster::of(match self.published {
            Some(published) => {
                let name = format!("published {}", published.strategy.name());
                vec![elector(name, DraughtsKind::Published(published, self.settings.seed))]
            }
            None => {
                let today = |evaluation: &Evaluation| {
                    elector(evaluation.to_string(), DraughtsKind::Today(*evaluation, self.tables.clone()))
                };
                self.evaluations.iter().map(today).collect()
            }
        })
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
                spec.kind.roster().electors().iter().map(|elector| elector.name.to_string()).collect();
            assert_eq!(names.join(" "), electors);
            assert_eq!(spec.to_string(), text);
        }
    }

    #[test]
    fn unknown_player_names_the_choices() {
        for (text, part) in [
            ("", "expected council"),
            ("sicilian", "fully-guarded"),
            ("council:criterion=best", "re-search"),
            ("council:roster=m m", "roster=EVALUATIONS"),
            ("council:second-phase=shared", "sequential or continued"),
            ("council:advisers=mates", "roster=EVALUATIONS"),
            ("published:nodes=5", "quiescence=on or off"),
            ("m:split=0.5", "hash=MIB"),
            ("m:hash=5000", "hash up to 4096"),
            ("m:movetime=-1", "movetime=0.1 in seconds"),
        ] {
            let error = text.parse::<PlayerSpec>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
