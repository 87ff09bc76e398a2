//! The opponents on the page.
//!
//! Four are the published strategies of the program IntellidAma, with its search of 2010. The
//! council has the four with the modern search and elects one of their proposals. And complete
//! knowledge plays alone.

use std::time::Duration;

use crate::player::PlayerSpec;
use domain::{CriterionName, Limits};
use draughts_core::{evaluation::Strategy, search::published::PublishedSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use web::HttpProblem;

/// The deepest search that may be requested, in full moves. Deeper ones mostly run out of time.
const DEEPEST: u32 = 8;

/// The time limit of a modern search, unless it reaches its depth sooner.
const TODAY_WITHIN: Duration = Duration::from_secs(5);

/// The opponents with the modern search, by the names of `draughts_player`.
const TODAY: [(&str, &str); 2] =
    [("council", "the four propose, one proposal is elected"), ("mpgsk", "knows all that is known today")];

/// Returns the opponents: name, knowledge, and true for the search of 2010, whose quiescence may be switched off.
fn opponents() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    let published = Strategy::ALL.map(|strategy| (strategy.name(), knows(strategy), true));
    published.into_iter().chain(TODAY.map(|(name, knows)| (name, knows, false)))
}

pub(super) fn menu() -> Value {
    let described = |(name, knows, published)| json!({"name": name, "knows": knows, "published": published});
    json!({
        "opponents": opponents().map(described).collect::<Vec<_>>(),
        "deepest": DEEPEST,
        "criteria": CriterionName::ALL,
        "usual": OpponentRequest::default(),
    })
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
    pub(super) name: String,
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
    Today(Box<PlayerSpec>, Limits),
}

impl OpponentRequest {
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
            let names = opponents().map(|(name, ..)| name).collect::<Vec<_>>().join(", ");
            return Err(HttpProblem::bad(format!("there is no such opponent (there are {names})")));
        }
        let mut player: PlayerSpec = self.name.parse().map_err(HttpProblem::internal)?;
        player.kind.settings.criterion = self.criterion;
        let limits = Limits { depth: Some(2 * self.depth), time: Some(TODAY_WITHIN), ..Limits::default() };
        Ok(Opponent::Today(Box::new(player), limits))
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
        for (name, _, published) in opponents() {
            let chosen = opponent(|request| request.name = name.to_owned()).expect(name);
            assert_eq!(matches!(chosen, Opponent::Published(_)), published, "{name}");
        }
        for name in ["sicilian", "", "council:hash=4096", "published", "m"] {
            assert!(opponent(|request| request.name = name.to_owned()).is_err(), "{name}");
        }
        for depth in [0, DEEPEST + 1, u32::MAX] {
            assert!(opponent(|request| request.depth = depth).is_err(), "{depth}");
        }
    }
}
