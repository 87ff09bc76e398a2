//! Matches: two players, paired openings, until a test is decided or the games are played.
//!
//! Every opening is played twice with colours reversed, by one worker, whose players stay at work. Pairs may finish in any
//! order; they are counted in the order of the book, so that the games that count, and where a test ends, do not depend on
//! how many workers there are: with node budgets the same seed gives the same match.

mod pgn;
mod summary;
#[cfg(test)]
mod tests;

pub use pgn::pgn;
pub use summary::{MatchStanding, PlayerTotals, Summary};

use std::{
    num::NonZeroUsize,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use serde::{Deserialize, Serialize};

use super::{
    game::{Contestant, GameEnding, MatchGame, MatchRules, PlayerFault, play},
    openings::{OpeningBook, OpeningBookError},
    player::{MatchPace, MatchPlayer, Pace, PlayerFailure, PlayerSpec},
    speed::Speeds,
    state::{ExperimentState, StateError},
    stats::{Sprt, SprtVerdict},
};
use domain::Color;

#[derive(Clone, Debug)]
pub struct Contender {
    pub spec: PlayerSpec,
    pub pace: Pace,
}

impl Contender {
    /// A player with the pace that it asked for, or else that of the match. A pace of its own is what it says, whatever the speeds.
    pub fn at(spec: PlayerSpec, pace: MatchPace, speeds: &Speeds) -> Self {
        match (spec.pace(), pace) {
            (Some(pace), _) | (None, MatchPace::Alike(pace)) => Self { spec, pace },
            (None, MatchPace::EqualTime(nodes)) => {
                let (spec, pace) = spec.at_equal_time(nodes, speeds);
                Self { spec, pace }
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct MatchPlan {
    /// A and B; scores are A's.
    pub players: [Contender; 2],
    /// The openings, each played twice.
    pub book: OpeningBook,
    /// Pairs of games, at most.
    pub pairs: usize,
    /// Ends the match when it is decided.
    pub sprt: Option<Sprt>,
    pub rules: MatchRules,
    pub workers: NonZeroUsize,
    /// Cores that a council may use in one game.
    pub cores: usize,
}

impl MatchPlan {
    /// Checks that it can be played.
    pub fn check(&self) -> Result<(), MatchError> {
        for Contender { spec, pace } in &self.players {
            if !spec.understands(*pace) {
                return Err(MatchError::Pace(spec.name().to_owned()));
            }
            // What cannot be started at all is a mistake, not three hundred losses.
            drop(spec.start(self.cores).map_err(|failure| MatchError::Player(spec.name().to_owned(), failure))?);
        }
        let openings = self.book.len();
        if self.pairs > openings && self.players.iter().all(|player| !player.pace.is_timed()) {
            return Err(MatchError::SmallBook { games: 2 * self.pairs, openings });
        }
        // Neither is an opening that cannot be played, hours after the first game.
        (0..self.pairs.min(openings)).try_for_each(|pair| self.book.opening(pair).map(drop))?;
        Ok(())
    }
}

/// Two games from one opening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GamePair {
    /// A has White in the first.
    pub games: [MatchGame; 2],
}

impl GamePair {
    /// A's points in both games.
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
        first.moves.iter().map(|played| &played.uci).eq(second.moves.iter().map(|played| &played.uci))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// One of the players cannot be started.
    #[error("player {0}: {1}")]
    Player(String, PlayerFailure),
    #[error("player {0}: CECP knows no node budget; give it a pace of its own (tc= or movetime=)")]
    Pace(String),
    /// The same games would be played again, and counted as new.
    #[error(
        "{games} games from a book of {openings} openings that differ: with budgets of nodes an opening gives the same two games \
         every time; ask for two games an opening at most (--games), or give a larger book (--book)"
    )]
    SmallBook {
        games: usize,
        /// Openings that the book has, each once.
        openings: usize,
    },
    #[error(transparent)]
    Book(#[from] OpeningBookError),
    #[error(transparent)]
    State(#[from] StateError),
}

/// Plays the pairs that `state` does not have yet, until the test is decided, all are played or `stop` is set. `progress`
/// sees how the match stands after every pair that counts.
pub fn run(
    plan: &MatchPlan,
    state: &mut ExperimentState<GamePair>,
    stop: &AtomicBool,
    progress: impl FnMut(&MatchStanding),
) -> Result<Summary, MatchError> {
    plan.check()?;
    run_checked(plan, state, stop, progress)
}

/// Runs a plan that was [checked](MatchPlan::check), which starts all players once.
pub fn run_checked(
    plan: &MatchPlan,
    state: &mut ExperimentState<GamePair>,
    stop: &AtomicBool,
    mut progress: impl FnMut(&MatchStanding),
) -> Result<Summary, MatchError> {
    let mut standing = MatchStanding::new(plan.sprt, plan.pairs);
    standing.take(state.done());
    progress(&standing);
    let enough = AtomicBool::new(false);
    if standing.verdict() == SprtVerdict::Open {
        let undone: Vec<usize> = (0..plan.pairs).filter(|pair| !state.done().contains_key(pair)).collect();
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            // The channel holds nothing, so that no worker begins a pair before its last one is on its way to the record.
            let (sender, pairs) = mpsc::sync_channel(0);
            for _ in 0..plan.workers.get().min(undone.len()) {
                let (sender, undone, next, halt) = (sender.clone(), &undone, &next, [stop, &enough]);
                scope.spawn(move || work(plan, undone, next, halt, &sender));
            }
            drop(sender);
            let mut take = |played: Played, standing: &mut MatchStanding| {
                let (index, pair) = played?;
                state.record(index, pair)?;
                let before = standing.pairs();
                standing.take(state.done());
                if standing.pairs() > before {
                    progress(standing);
                }
                Ok::<(), MatchError>(())
            };
            for played in pairs {
                let taken = take(played, &mut standing);
                if taken.is_err() || standing.verdict() != SprtVerdict::Open {
                    enough.store(true, Ordering::Relaxed);
                }
                taken?;
            }
            Ok::<(), MatchError>(())
        })?;
    }
    Ok(standing.summary(plan, state.done()))
}

type Played = Result<(usize, GamePair), OpeningBookError>;

/// Plays pairs until none is left, or it is stopped.
fn work(
    plan: &MatchPlan,
    undone: &[usize],
    next: &AtomicUsize,
    halt: [&AtomicBool; 2],
    sender: &mpsc::SyncSender<Played>,
) {
    let mut players = PairPlayers { plan, players: [None, None] };
    let halted = || halt.iter().any(|flag| flag.load(Ordering::Relaxed));
    while let Some(index) = undone.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !halted()) {
        let played = match players.pair(*index, &halted) {
            Ok(Some(pair)) => Ok((*index, pair)),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        if sender.send(played).is_err() {
            return;
        }
    }
}

struct PairPlayers<'a> {
    plan: &'a MatchPlan,
    players: [Option<Box<dyn MatchPlayer>>; 2],
}

impl PairPlayers<'_> {
    /// Plays both games of a pair; `None` if they were broken off.
    fn pair(&mut self, index: usize, halted: &impl Fn() -> bool) -> Result<Option<GamePair>, OpeningBookError> {
        let plan = self.plan;
        let opening = plan.book.opening(index)?;
        let mut games = Vec::with_capacity(2);
        for a_is in [Color::White, Color::Black] {
            let game = match self.started() {
                Ok([a, b]) => {
                    let (white, black) = if a_is.is_white() { (a, b) } else { (b, a) };
                    play(&opening, white, black, &plan.rules, halted)
                }
                Err((loser, game)) => {
                    Some(MatchGame { white: if (loser == 0) == a_is.is_white() { 0.0 } else { 1.0 }, ..game })
                }
            };
            let Some(game) = game else { return Ok(None) };
            if matches!(game.ending, GameEnding::Fault(_)) {
                // Whatever stops us may have ended or delayed a player.
                if halted() {
                    return Ok(None);
                }
                // A player that failed may be in any state. Both are started anew, so that neither is at an advantage.
                self.players = [None, None];
            }
            games.push(game);
        }
        Ok(<[MatchGame; 2]>::try_from(games).ok().map(|games| GamePair { games }))
    }

    /// The players, started if they do not sit yet; or who does not start, and the game it loses by that.
    fn started<'a>(&'a mut self) -> Result<[Contestant<'a>; 2], (usize, MatchGame)> {
        let cores = self.plan.cores;
        let side = |index: usize, slot: &'a mut Option<Box<dyn MatchPlayer>>, contender: &Contender| {
            let lost = |failure: PlayerFailure| {
                let ending = GameEnding::Fault(PlayerFault::Crash(failure.to_string()));
                (index, MatchGame { moves: Vec::new(), ending, white: 0.0, white_first: true })
            };
            let player = match slot {
                Some(player) => player,
                empty => empty.insert(contender.spec.start(cores).map_err(lost)?),
            };
            Ok::<Contestant<'a>, (usize, MatchGame)>((player.as_mut(), contender.pace))
        };
        let ([a, b], [first, second]) = (&mut self.players, &self.plan.players);
        Ok([side(0, a, first)?, side(1, b, second)?])
    }
}
