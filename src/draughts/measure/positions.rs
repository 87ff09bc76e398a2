//! Electors' proposals in positions of games, each criterion's choice, and a deeper search's
//! verdict on both.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use super::{DraughtsError, runtime};
use crate::player::{DraughtsLine, DraughtsPlayer, Pace, PlayerSpec};
use council::{Ballots, elected_move, electors::Pool};
use domain::{CriterionName, GameLine as _};
use draughts_core::{
    board::{Move, Rules},
    game::{Game, ballots},
    search::{Limits, Score, SearchOptions, Searcher},
};
use experiment::stats::{Clusters, Estimate, bootstrap};

/// The largest loss of a mistake, hundredths of a man: beyond it the game is lost anyway.
const WORST: i32 = 300;

#[derive(Clone, Debug)]
pub struct DraughtsPositions {
    /// The electors; its criterion is unused.
    pub council: PlayerSpec,
    pub pace: Pace,
    /// The depth of the judging search, plies.
    pub judge_depth: u32,
    pub workers: NonZeroUsize,
}

/// The result of one elector or criterion.
#[derive(Clone, Debug)]
pub struct DraughtsJudgement {
    pub name: String,
    /// The share of the judge's moves found, 0 to 1.
    pub found: Estimate,
    /// The loss of its moves, hundredths of a man.
    pub loss: Estimate,
}

/// Returns positions with a choice from games of complete knowledge against itself from ballots:
/// each `every`-th.
pub fn positions_of_games(count: usize, every: usize, seed: u64) -> Vec<(usize, Game)> {
    let mut positions = Vec::new();
    for (number, ballot) in ballots::draw(count, seed).into_iter().enumerate() {
        let mut game = Game::new(ballot, Rules::Official);
        let mut searcher = Searcher::new(SearchOptions { hash: 1, ..SearchOptions::default() });
        let limits = Limits { nodes: Some(500), ..Limits::default() };
        while let Some(found) = searcher.search(&game, &limits, &AtomicBool::new(false), |_| {}) {
            if game.moves().len() % every.max(1) == every / 2 && game.legal_moves().len() > 1 {
                positions.push((number, game.clone()));
            }
            if positions.len() == count {
                return positions;
            }
            if game.play(found.best).is_err() {
                break;
            }
        }
    }
    positions
}

/// Results for each position, by name: true for the judge's move, and its loss.
type Row = Vec<(String, bool, f64)>;

/// Lets the electors propose in every position, every criterion elect, and a deeper search judge.
/// `progress` receives the number of finished positions.
pub fn judge_draughts(
    plan: &DraughtsPositions,
    positions: &[(usize, Game)],
    stop: &AtomicBool,
    progress: impl Fn(usize) + Sync,
) -> Result<Vec<DraughtsJudgement>, DraughtsError> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let rows: Mutex<Vec<(usize, Row)>> = Mutex::default();
    thread::scope(|scope| {
        let workers = (0..plan.workers.get()).map(|_| {
            scope.spawn(|| {
                let mut judge = Judge::new(plan)?;
                while let Some((game, position)) = positions.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let row = judge.row(position);
                    rows.lock().unwrap_or_else(PoisonError::into_inner).extend(row.map(|row| (*game, row)));
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
                Ok::<(), DraughtsError>(())
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })?;
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|(game, _)| *game);
    Ok(summed_up(&rows))
}

/// Means with their errors, positions of one game taken together.
fn summed_up(rows: &[(usize, Row)]) -> Vec<DraughtsJudgement> {
    let names: Vec<String> = rows.first().into_iter().flat_map(|(_, row)| row).map(|(name, ..)| name.clone()).collect();
    let judgement = |(place, name): (usize, String)| {
        let of = |value: &dyn Fn(&(String, bool, f64)) -> f64| {
            bootstrap(&Clusters::new(rows.iter().map(|(game, row)| (Some(*game), value(&row[place])))), 1)
        };
        Some(DraughtsJudgement {
            name,
            found: of(&|(_, found, _)| f64::from(u8::from(*found)))?,
            loss: of(&|(_, _, loss)| *loss)?,
        })
    };
    names.into_iter().enumerate().filter_map(judgement).collect()
}

struct Judge<'a> {
    plan: &'a DraughtsPositions,
    runtime: tokio::runtime::Runtime,
    council: DraughtsPlayer,
    re_search: DraughtsPlayer,
    searcher: Searcher,
}

impl<'a> Judge<'a> {
    fn new(plan: &'a DraughtsPositions) -> Result<Self, DraughtsError> {
        let player = |criterion| DraughtsPlayer::new(&plan.council.by(criterion), &Pool::new(0), None);
        Ok(Self {
            plan,
            runtime: runtime()?,
            council: player(CriterionName::Majority),
            re_search: player(CriterionName::ReSearch),
            searcher: Searcher::new(SearchOptions { hash: 64, ..SearchOptions::default() }),
        })
    }

    /// Electors first, then criteria.
    fn row(&mut self, game: &Game) -> Option<Row> {
        let decide = |player: &mut DraughtsPlayer, runtime: &tokio::runtime::Runtime| {
            player.new_game();
            runtime.block_on(player.decide(game, &self.plan.pace, &mut |_| {}))
        };
        let proposed = decide(&mut self.council, &self.runtime)?;
        let searched_again = decide(&mut self.re_search, &self.runtime)?;
        let roster = self.plan.council.roster(None);
        let proposals: Vec<_> = proposed.votes.iter().map(|vote| Some(vote.proposal.clone())).collect();
        let line = DraughtsLine::from(game.clone());
        let ballots = Ballots::recorded(&line, roster.electors(), &proposals);
        let mut chosen: Vec<(String, Move)> =
            proposed.votes.iter().map(|vote| (vote.proposal.elector.to_string(), vote.proposal.best)).collect();
        for criterion in CriterionName::ALL {
            let settings = self.plan.council.by(criterion);
            let elected = match criterion {
                CriterionName::ReSearch => searched_again.best,
                _ => elected_move(settings.settings(), &ballots, line.ply() as u64)?,
            };
            chosen.push((criterion.word().to_owned(), elected));
        }
        self.searcher.clear();
        let best = self.value(game, None)?;
        let mut known = vec![best];
        let mut row = Vec::with_capacity(chosen.len());
        for (name, mv) in chosen {
            let value = match known.iter().find(|(judged, _)| *judged == mv) {
                Some((_, value)) => *value,
                None => {
                    known.push(self.value(game, Some(mv))?);
                    known.last()?.1
                }
            };
            row.push((name, mv == best.0, f64::from((best.1 - value).clamp(0, WORST))));
        }
        Some(row)
    }

    /// The judge's move, or its value of another one.
    fn value(&mut self, game: &Game, only: Option<Move>) -> Option<(Move, i32)> {
        let limits =
            Limits { depth: Some(self.plan.judge_depth), moves: only.map(|only| vec![only]), ..Limits::default() };
        let found = self.searcher.search(game, &limits, &AtomicBool::new(false), |_| {})?;
        let value = match found.score {
            Score::Points(points) => points,
            Score::Win(moves) if moves > 0 => WORST * 10,
            Score::Win(_) => -WORST * 10,
        };
        Some((found.best, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_positions_fill_the_sample() {
        for every in [1, 2, 8] {
            assert_eq!(positions_of_games(5, every, 1).len(), 5, "every {every}");
        }
    }

    #[test]
    fn electors_and_criteria_are_judged() {
        let positions = positions_of_games(4, 8, 1);
        assert_eq!(positions.len(), 4);
        let plan = DraughtsPositions {
            council: "council:hash=1".parse().expect("a council"),
            pace: Pace { nodes: Some(300), ..Pace::default() },
            judge_depth: 7,
            workers: NonZeroUsize::MIN,
        };
        let judged = judge_draughts(&plan, &positions, &AtomicBool::new(false), |_| {}).expect("judged");
        assert_eq!(judged.len(), 4 + CriterionName::ALL.len());
        assert!(judged.iter().all(|one| one.loss.value >= 0.0 && one.found.value <= 1.0));
    }
}
