//! Who may play against somebody in the page, and what they choose.

use std::sync::atomic::AtomicBool;

use draughts::{
    evaluation::Strategy,
    game::Game,
    search::{
        Score,
        published::{Published, PublishedChoice, PublishedSettings},
    },
};
use serde::{Deserialize, Serialize};

use crate::problem::HttpProblem;

/// The deepest search that may be asked for, in full moves. Most of what is deeper runs out of time.
const DEEPEST: u32 = 8;

/// What may be chosen from.
#[derive(Serialize)]
pub(super) struct Menu {
    opponents: Vec<Described>,
    deepest: u32,
    usual: OpponentRequest,
}

/// An opponent by its name, with what it looks at.
#[derive(Serialize)]
struct Described {
    name: &'static str,
    knows: &'static str,
}

impl Default for Menu {
    fn default() -> Self {
        let opponents = Strategy::ALL.map(|strategy| Described { name: strategy.name(), knows: knows(strategy) });
        Self { opponents: opponents.into(), deepest: DEEPEST, usual: OpponentRequest::default() }
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
    /// Whether it looks once more where the last move may have left something hanging.
    quiescence: bool,
    /// Whether it does so twice.
    second_iteration: bool,
}

impl Default for OpponentRequest {
    fn default() -> Self {
        let PublishedSettings { strategy, depth, quiescence, second_iteration, .. } = PublishedSettings::default();
        Self { name: strategy.name().to_owned(), depth, quiescence, second_iteration }
    }
}

impl OpponentRequest {
    /// Looks whether there is such an opponent.
    pub(super) fn check(&self) -> Result<Opponent, HttpProblem> {
        if !(1..=DEEPEST).contains(&self.depth) {
            return Err(HttpProblem::bad(format!("an opponent looks 1 to {DEEPEST} full moves ahead")));
        }
        let strategy = Strategy::ALL.into_iter().find(|strategy| strategy.name() == self.name);
        let strategy = strategy.ok_or_else(|| {
            let names = Strategy::ALL.map(Strategy::name).join(", ");
            HttpProblem::bad(format!("there is no such opponent (there are {names})"))
        })?;
        Ok(Opponent::Alone(PublishedSettings {
            strategy,
            depth: self.depth,
            quiescence: self.quiescence,
            second_iteration: self.second_iteration,
            // It chooses the same moves as the whole tree would, and sooner.
            whole_tree: false,
        }))
    }
}

/// An opponent.
#[derive(Clone, Debug)]
pub(super) enum Opponent {
    /// One strategy, with the search it was published with.
    Alone(PublishedSettings),
}

/// What an opponent plays, and why.
#[derive(Debug, Serialize)]
pub(super) struct Choice {
    /// The move.
    pub best: String,
    /// Who proposed what.
    votes: Vec<Vote>,
    /// Whether there was time for the depth that was asked for.
    pub in_full: bool,
}

/// A proposal.
#[derive(Debug, Serialize)]
struct Vote {
    elector: String,
    #[serde(rename = "move")]
    mv: String,
    /// In hundredths of a man, from the opponent's side.
    value: i32,
    /// The same in words.
    score: String,
    /// Plies, two to a full move.
    depth: u32,
    nodes: u64,
}

impl Opponent {
    /// Chooses a move. It looks one full move ahead in any case, and further until `stop` is set; none where there is no
    /// move to choose.
    pub(super) fn choose(&self, game: &Game, seed: u64, stop: &AtomicBool) -> Option<Choice> {
        let Self::Alone(settings) = self;
        let mut search = Published::new(*settings, seed);
        let mut reached = None;
        for depth in 1..=settings.depth {
            search.set(PublishedSettings { depth, ..*settings });
            let stop = if depth == 1 { &AtomicBool::new(false) } else { stop };
            match search.choose(game, stop) {
                Some(found) => reached = Some((depth, found)),
                None => break,
            }
        }
        let (depth, found) = reached?;
        let vote = Vote::of(settings.strategy, depth, &found);
        Some(Choice { best: vote.mv.clone(), votes: vec![vote], in_full: depth == settings.depth })
    }
}

impl Vote {
    fn of(strategy: Strategy, depth: u32, found: &PublishedChoice) -> Self {
        Self {
            elector: strategy.name().to_owned(),
            mv: found.best.to_string(),
            value: found.value,
            score: in_words(found.score()),
            depth: 2 * depth,
            nodes: found.nodes,
        }
    }
}

/// A score as it is shown: men with two digits, or how many moves are left.
fn in_words(score: Score) -> String {
    match score {
        Score::Points(points) => format!("{:+.2}", f64::from(points) / 100.0),
        Score::Win(moves) if moves > 0 => format!("wins in {moves}"),
        Score::Win(moves) => format!("loses in {}", -moves),
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
            assert!(opponent(|request| request.name = described.name.to_owned()).is_ok(), "{}", described.name);
        }
        assert!(opponent(|request| request.name = "sicilian".to_owned()).is_err());
        for depth in [0, DEEPEST + 1, u32::MAX] {
            assert!(opponent(|request| request.depth = depth).is_err(), "{depth}");
        }
    }

    #[test]
    fn who_is_told_to_stop_has_looked_one_move_ahead() {
        let deep = opponent(|request| request.depth = DEEPEST).expect("an opponent");
        let choice = deep.choose(&Game::default(), 1, &AtomicBool::new(true)).expect("a move");
        assert_eq!((choice.votes[0].depth, choice.in_full), (2, false));
        assert!(Game::default().play_text(&choice.best).is_ok());
        let shallow = opponent(|request| request.depth = 2).expect("an opponent");
        let choice = shallow.choose(&Game::default(), 1, &AtomicBool::new(false)).expect("a move");
        assert_eq!((choice.votes[0].depth, choice.in_full), (4, true));
    }

    #[test]
    fn a_win_is_counted_in_moves() {
        let game = Game::new("W:WK22:B18".parse().expect("a position"), draughts::board::Rules::Official);
        let choice = opponent(|_| ()).expect("an opponent").choose(&game, 1, &AtomicBool::new(false));
        assert_eq!(choice.expect("a move").votes[0].score, "wins in 1");
    }
}
