//! Who may play against somebody in the page.
//!
//! Four are the strategies of the program IntellidAma as they were published, with its search of 2010. The council seats the
//! four with the search of today, and one of their proposals is elected. And all that is known plays alone.

use std::time::Duration;

use chess::CriterionName;
use draughts::{evaluation::Strategy, search::published::PublishedSettings};
use draughts_player::{Pace, PlayerSpec};
use serde::{Deserialize, Serialize};

use crate::problem::HttpProblem;

/// The deepest search that may be asked for, in full moves. Most of what is deeper runs out of time.
const DEEPEST: u32 = 8;

/// How long a search of today takes at most, where it is not as deep as was asked for sooner.
const TODAY_WITHIN: Duration = Duration::from_secs(5);

/// Those who play with the search of today, by the names of `draughts_player`.
const TODAY: [(&str, &str); 2] =
    [("council", "the four propose, one proposal is elected"), ("mpgsk", "knows all that is known today")];

/// What may be chosen from.
#[derive(Serialize)]
pub(super) struct Menu {
    opponents: Vec<Described>,
    deepest: u32,
    criteria: [CriterionName; CriterionName::ALL.len()],
    usual: OpponentRequest,
}

/// An opponent by its name.
#[derive(Serialize)]
struct Described {
    name: &'static str,
    /// What it looks at.
    knows: &'static str,
    /// Whether it has the search of 2010, whose quiescence may be switched off.
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

/// An opponent that is asked for. What is left out is as usual.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct OpponentRequest {
    /// By its name.
    name: String,
    /// How far it looks ahead, in full moves.
    depth: u32,
    /// Whether it looks once more where the last move may have left something hanging. The search of today always does.
    quiescence: bool,
    /// Whether it does so twice.
    second_iteration: bool,
    /// How a council elects.
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
            // Values of the four are of different sizes: a rule that compares them follows whoever exaggerates.
            criterion: CriterionName::ReSearch,
        }
    }
}

/// An opponent.
#[derive(Clone, Debug)]
pub(super) enum Opponent {
    /// A strategy with the search it was published with.
    Published(PublishedSettings),
    /// A council of any size with the search of today.
    Today(Box<PlayerSpec>, Pace),
}

impl OpponentRequest {
    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Looks whether there is such an opponent.
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
                // It chooses the same moves as the whole tree would, and sooner.
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
    fn all_of_the_menu_may_be_chosen_and_nothing_else() {
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
