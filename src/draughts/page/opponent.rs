//! The opponents on the page.
//!
//! Four are the published strategies of the program IntellidAma, with its search of 2010. The
//! council has the four with the modern search and elects one of their proposals. And complete
//! knowledge plays alone.

use std::time::Duration;

use crate::player::{Pace, PlayerSpec};
use domain::CriterionName;
use draughts_core::{evaluation::Strategy, search::published::PublishedSettings};
use serde::{Deserialize, Serialize};

use web::HttpProblem;

/// The deepest search that may be requested, in full moves. Deeper ones mostly run out of time.
const DEEPEST: u32 = 8;

/// The time limit of a modern search, unless it reaches its depth sooner.
const TODAY_WITHIN: Duration = Duration::from_secs(5);

/// The opponents with the modern search, by the names of `draughts_player`.
const TODAY: [(&str, &str); 2] =
    [("council", "the four propose, one proposal is elected"), ("mpgsk", "knows all that is known today")];

#[derive(Serialize)]
pub(super) struct Menu {
    opponents: Vec<Described>,
    deepest: u32,
    criteria: [CriterionName; CriterionName::ALL.len()],
    usual: OpponentRequest,
}

#[derive(Serialize)]
struct Described {
    name: &'static str,
    knows: &'static str,
    /// True for the search of 2010, whose quiescence may be switched off.
    published: bool,
}

impl Default for Menu {
    fn default() -> Self {
        let published = Strategy::ALL.map(|strategy| (strategy.name(), knows(strategy), true));
        let today = TODAY.map(|(name, knows)| (name, knows, false));
        let opponents =
            published.into_iter().chain(today).map(|(name, knows, published)| Described { name, knows, published });
        Self {
            opponents: opponents.collect(),
            deepest: DEEPEST,
            criteria: CriterionName::ALL,
            usual: OpponentRequest::default(),
        }
    }
}

const fn knows(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::PesoPedine => "counts men and kings",
        Strategy::PesoPosizione => "counts them, and how far each has come",
        Strategy::Spettacolo => "holds its weak corner, attacks the other's",
        Strategy::FullyGuarded => "guards its base, advances in pyramids",
    }
}

/// A requested opponent. Absent fields have defaults.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct OpponentRequest {
    name: String,
    depth: u32,
    /// True to verify leaves that are not quiescent. The modern search always does.
    quiescence: bool,
    second_iteration: bool,
    criterion: CriterionName,
}

impl Default for OpponentRequest {
    fn default() -> Self {
        let PublishedSettings { strategy, depth, quiescence, second_iteration, .. } = PublishedSettings::default();
        Self {
            name: strategy.name().to_owned(),
            depth,
            quiescence,
            second_iteration,
            // Values of the four have different sizes: a rule that compares them follows the
            // largest.
            criterion: CriterionName::ReSearch,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Opponent {
    /// A strategy with the search it was published with.
    Published(PublishedSettings),
    /// A council of any size with the search of today.
    Today(Box<PlayerSpec>, Pace),
}

impl OpponentRequest {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn check(&self) -> Result<Opponent, HttpProblem> {
        if !(1..=DEEPEST).contains(&self.depth) {
            return Err(HttpProblem::bad(format!("an opponent looks 1 to {DEEPEST} full moves ahead")));
        }
        if let Some(strategy) = Strategy::ALL.into_iter().find(|strategy| strategy.name() == self.name) {
            return Ok(Opponent::Published(PublishedSettings {
                strategy,
                depth: self.depth,
                quiescence: self.quiescence,
                second_iteration: self.second_iteration,
                // It chooses the same moves as the whole tree, and sooner.
                whole_tree: false,
            }));
        }
        if !TODAY.iter().any(|(name, _)| *name == self.name) {
            let names = Menu::default().opponents.iter().map(|described| described.name).collect::<Vec<_>>().join(", ");
            return Err(HttpProblem::bad(format!("there is no such opponent (there are {names})")));
        }
        let player = self.name.parse::<PlayerSpec>().map_err(HttpProblem::internal)?.by(self.criterion);
        let pace = Pace { depth: Some(2 * self.depth), time: Some(TODAY_WITHIN), ..Pace::default() };
        Ok(Opponent::Today(Box::new(player), pace))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opponent(change: impl FnOnce(&mut OpponentRequest)) -> Result<Opponent, HttpProblem> {
        let mut request = OpponentRequest::default();
        change(&mut request);
        request.check()
    }

    #[test]
    fn only_menu_entries_are_accepted() {
        for described in Menu::default().opponents {
            let chosen = opponent(|request| request.name = described.name.to_owned()).expect(described.name);
            assert_eq!(matches!(chosen, Opponent::Published(_)), described.published, "{}", described.name);
        }
        for name in ["sicilian", "", "council:hash=4096", "published", "m"] {
            assert!(opponent(|request| request.name = name.to_owned()).is_err(), "{name}");
        }
        for depth in [0, DEEPEST + 1, u32::MAX] {
            assert!(opponent(|request| request.depth = depth).is_err(), "{depth}");
        }
    }
}
