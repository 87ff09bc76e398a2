//! Matches: two players, paired openings, until a test is decided or the games are played.
//!
//! Every opening is played twice with colours reversed, by one worker, whose players stay at work. Pairs may finish in any
//! order; they are counted in the order of the book, so that the games that count, and where a test ends, do not depend on
//! how many workers there are: with node budgets the same seed gives the same match.

mod command;
mod summary;

pub use command::MatchArguments;
pub use summary::{MatchStanding, PlayerTotals, Summary};

use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::{Deserialize, Serialize};

use crate::{
    game::{Contestant, GameEnding, MatchGame, MatchLine, MatchRules, PlayerFault, play},
    in_parallel,
    player::{MatchPlayer, PlayerFailure, PlayerKind, PlayerSpec},
    state::ExperimentState,
    stats::{Sprt, SprtVerdict},
};
use domain::{Color, Pace};
use util::Failure;

#[derive(Clone, Debug)]
pub struct Contender<K> {
    pub spec: PlayerSpec<K>,
    pub pace: Pace,
}

#[derive(Clone)]
pub struct MatchPlan<K: PlayerKind> {
    /// A and B; scores are A's.
    pub players: [Contender<K>; 2],
    /// The openings, each played twice.
    pub openings: Vec<Arc<K::Line>>,
    /// Pairs of games, at most.
    pub pairs: usize,
    pub sprt: Option<Sprt>,
    pub rules: MatchRules<K::Line>,
    pub workers: NonZeroUsize,
    /// Cores that a council may use in one game.
    pub cores: usize,
}

impl<K: PlayerKind> MatchPlan<K> {
    pub fn check(&self) -> Result<(), Failure> {
        for Contender { spec, pace } in &self.players {
            let failed = |failure: PlayerFailure| Failure::failed(format_args!("player {}: {failure}", spec.name()));
            if let Some(reason) = spec.kind.refuses(*pace) {
                return Err(failed(PlayerFailure::Failed(reason.to_owned())));
            }
            // A player that cannot be started is a mistake, not three hundred losses.
            drop(spec.kind.start(self.cores).map_err(failed)?);
        }
        let openings = self.openings.len();
        if openings == 0 || self.pairs > openings && !self.is_timed() {
            let more = K::Line::MORE_OPENINGS;
            // The same games would be played again, and counted as new.
            return Err(Failure::failed(format_args!(
                "{} games from {openings} openings that differ: with budgets of nodes an opening gives the same two games \
                 every time; ask for two games an opening at most (--games){more}",
                2 * self.pairs
            )));
        }
        Ok(())
    }

    /// Returns true if a clock ends moves, so that the match cannot be repeated.
    pub fn is_timed(&self) -> bool {
        self.players.iter().any(|player| player.pace.is_timed())
    }

    /// The opening of a pair of games. After the last one the first comes again.
    fn opening(&self, pair: usize) -> &K::Line {
        &self.openings[pair % self.openings.len()]
    }

    /// All games of the pairs given, in their order. There is no date in them: the same match gives the same text.
    pub fn games_text<'a>(&self, pairs: impl IntoIterator<Item = (&'a usize, &'a GamePair)>) -> String {
        let mut text = String::new();
        for (index, pair) in pairs {
            let names = self.players.each_ref().map(|contender| contender.spec.name());
            for (number, game) in pair.games.iter().enumerate() {
                let (round, result) = (format!("{}.{}", index + 1, number + 1), game.result());
                let (white, black) = if number == 0 { (names[0], names[1]) } else { (names[1], names[0]) };
                text += &self.opening(*index).game_text(
                    game,
                    &[
                        ("Event", "concilio-lab match"),
                        ("Site", "?"),
                        ("Date", "????.??.??"),
                        ("Round", &round),
                        ("White", white),
                        ("Black", black),
                        ("Result", result),
                    ],
                );
            }
        }
        text
    }

    /// Plays both games of a pair; `None` if they were broken off.
    fn play_pair(&self, players: &mut Players<K>, index: usize, halted: &impl Fn() -> bool) -> Option<GamePair> {
        let mut games = Vec::with_capacity(2);
        for a_is in [Color::White, Color::Black] {
            let game = match self.started(players) {
                Ok([a, b]) => {
                    let (white, black) = if a_is.is_white() { (a, b) } else { (b, a) };
                    play(self.opening(index), white, black, &self.rules, halted)?
                }
                Err((loser, game)) => {
                    MatchGame { white: if (loser == 0) == a_is.is_white() { 0.0 } else { 1.0 }, ..game }
                }
            };
            if matches!(game.ending, GameEnding::Fault(_)) {
                // The signal that stops the match may have ended or delayed a player.
                if halted() {
                    return None;
                }
                // A player that failed may be in any state. Both are started anew, so that neither is at an advantage.
                *players = [None, None];
            }
            games.push(game);
        }
        <[MatchGame; 2]>::try_from(games).ok().map(|games| GamePair { games })
    }

    /// The players, started if they are not yet; or the one that does not start, and the game it loses by that.
    fn started<'a>(&self, players: &'a mut Players<K>) -> Result<[Contestant<'a, K::Line>; 2], (usize, MatchGame)> {
        let side = |index: usize, slot: &'a mut Option<Box<dyn MatchPlayer<K::Line>>>, contender: &Contender<K>| {
            let lost = |failure: PlayerFailure| {
                let ending = GameEnding::Fault(PlayerFault::Crash(failure.to_string()));
                (index, MatchGame { moves: Vec::new(), ending, white: 0.0, white_first: true })
            };
            let player = match slot {
                Some(player) => player,
                empty => empty.insert(contender.spec.kind.start(self.cores).map_err(lost)?),
            };
            Ok::<Contestant<'a, K::Line>, (usize, MatchGame)>((player.as_mut(), contender.pace))
        };
        let ([a, b], [first, second]) = (players, &self.players);
        Ok([side(0, a, first)?, side(1, b, second)?])
    }
}

/// Two games from one opening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GamePair {
    /// A has White in the first.
    pub games: [MatchGame; 2],
}

impl GamePair {
    /// Returns A's points in both games.
    fn points(&self) -> [f64; 2] {
        [self.games[0].white, 1.0 - self.games[1].white]
    }

    /// A's score, 0 to 1.
    pub fn score(&self) -> f64 {
        self.points().iter().sum::<f64>() / 2.0
    }

    /// Returns true if both games went alike, move by move, as between players that do not differ.
    fn is_alike(&self) -> bool {
        let [first, second] = &self.games;
        first.moves.iter().map(|played| &played.mv).eq(second.moves.iter().map(|played| &played.mv))
    }
}

/// Plays the pairs that `state` does not have yet, until the test is decided, all are played or `stop` is set. `progress`
/// sees how the match stands after every pair that counts.
pub fn run<K: PlayerKind>(
    plan: &MatchPlan<K>,
    state: &mut ExperimentState<GamePair>,
    stop: &AtomicBool,
    progress: impl FnMut(&MatchStanding),
) -> Result<Summary, Failure> {
    plan.check()?;
    run_checked(plan, state, stop, progress)
}

/// Runs a plan that was [checked](MatchPlan::check), which starts all players once.
pub fn run_checked<K: PlayerKind>(
    plan: &MatchPlan<K>,
    state: &mut ExperimentState<GamePair>,
    stop: &AtomicBool,
    mut progress: impl FnMut(&MatchStanding),
) -> Result<Summary, Failure> {
    let mut standing = MatchStanding::new(plan.sprt, plan.pairs);
    standing.take(state.done());
    progress(&standing);
    let enough = AtomicBool::new(standing.verdict != SprtVerdict::Open);
    let halted = || stop.load(Ordering::Relaxed) || enough.load(Ordering::Relaxed);
    let undone: Vec<usize> = (0..plan.pairs).filter(|pair| !state.done().contains_key(pair)).collect();
    let one = |players: &mut Players<K>, index: &usize| Ok::<_, Failure>(plan.play_pair(players, *index, &halted));
    in_parallel(
        &undone,
        plan.workers,
        halted,
        || [None, None],
        one,
        |index, pair| {
            let Some(pair) = pair else { return Ok(()) };
            state.record(*index, pair)?;
            let before = standing.pairs();
            standing.take(state.done());
            if standing.pairs() > before {
                progress(&standing);
            }
            if standing.verdict != SprtVerdict::Open {
                enough.store(true, Ordering::Relaxed);
            }
            Ok(())
        },
    )?;
    Ok(standing.summary(plan, state.done()))
}

/// A worker's players of A and B, as far as they are started.
type Players<K> = [Option<Box<dyn MatchPlayer<<K as PlayerKind>::Line>>>; 2];
