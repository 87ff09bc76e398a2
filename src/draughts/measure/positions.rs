//! Electors' proposals in positions of games, each criterion's choice, and a deeper search's
//! verdict on both.

use std::{
    io,
    num::NonZeroUsize,
    sync::atomic::{AtomicBool, Ordering},
};

use clap::Args;
use tokio::runtime::Runtime;

use super::matches::DraughtsPace;
use crate::player::{DraughtsLine, DraughtsPlayer, PlayerSpec};
use council::{Ballots, CouncilSettings, Rule, electors::Pool};
use domain::{CriterionName, GameLine as _};
use draughts_core::{
    board::{Move, Rules},
    game::{Game, ballots},
    search::{Limits, Score, SearchOptions, Searcher},
};
use experiment::{
    progress::{ProgressDisplay, or_each_core},
    state::ExperimentState,
    stats::{Estimate, bootstrap},
};
use util::{Failure, outln};

/// The largest loss of a mistake, hundredths of a man: beyond it the game is lost anyway.
const WORST: i32 = 300;

/// Try electors and criteria on positions of games
#[derive(Debug, Args)]
pub struct JudgePositions {
    /// Council of the trial
    #[arg(default_value = "council", value_name = "COUNCIL")]
    council: PlayerSpec,
    #[command(flatten)]
    pace: DraughtsPace,
    /// Number of positions
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..), value_name = "N")]
    positions: u32,
    /// Take every Nth position of a game
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..), value_name = "PLIES")]
    every: u32,
    /// Depth of the judge, a search with complete knowledge, in plies
    #[arg(long, default_value_t = 13, value_parser = clap::value_parser!(u32).range(1..=40), value_name = "PLIES")]
    judge: u32,
    /// Draws the ballots from which the games start
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Positions at once [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<NonZeroUsize>,
}

impl JudgePositions {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let positions = positions_of_games(self.positions as usize, self.every as usize, self.seed);
        let mut progress = ProgressDisplay::new(positions.len(), "positions");
        let judged = self.judged(&positions, stop, |done| progress.at(done, String::new))?;
        progress.end();
        outln!("{} positions, judged {} plies deep", positions.len(), self.judge);
        outln!("{:<22} {:>22}   {:>22}", "elector or criterion", "judge's move, %", "loss, 1/100 man");
        for (name, found, loss) in judged {
            let loss = format!("{:.2} [{:.2}, {:.2}]", loss.value, loss.low, loss.high);
            outln!("{name:<22} {:>22}   {loss:>22}", found.percent());
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::failed("stopped: not all positions were judged"));
        }
        Ok(())
    }

    /// Lets the electors propose in every position, every criterion elect, and a deeper search judge. `progress` receives the
    /// number of finished positions. Returns for each elector and criterion its name, the share of the judge's moves found (0 to
    /// 1), and the loss of its moves in hundredths of a man.
    fn judged(
        &self,
        positions: &[(usize, Game)],
        stop: &AtomicBool,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<(String, Estimate, Estimate)>, Failure> {
        let one = |judge: &mut io::Result<Judge<'_>>, part: usize| match judge {
            Ok(judge) => Ok(judge.choices(&positions[part].1).unwrap_or_default()),
            Err(error) => Err(Failure::failed(format_args!("no runtime for a council: {error}"))),
        };
        let (mut state, workers) = (ExperimentState::<Vec<Choice>>::in_memory(), or_each_core(self.concurrency));
        state.complete(positions.len(), workers, stop, |done, _| progress(done), || Judge::new(self), one)?;
        let rows: Vec<_> = state.done().iter().map(|(part, row)| (positions[*part].0, row.as_slice())).collect();
        Ok(summed_up(&rows))
    }
}

/// The name of an elector or criterion, true if it chose the judge's move, and the loss of its move.
type Choice = (String, bool, f64);

/// Returns each `every`-th position with a choice of games of complete knowledge against itself.
fn positions_of_games(count: usize, every: usize, seed: u64) -> Vec<(usize, Game)> {
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

/// Means with their errors, positions of one game taken together.
fn summed_up(rows: &[(usize, &[Choice])]) -> Vec<(String, Estimate, Estimate)> {
    let rows = || rows.iter().filter(|(_, row)| !row.is_empty());
    let names: Vec<String> =
        rows().next().into_iter().flat_map(|(_, row)| *row).map(|(name, ..)| name.clone()).collect();
    let judgement = |(place, name): (usize, String)| {
        let of =
            |value: &dyn Fn(&Choice) -> f64| bootstrap(rows().map(|(game, row)| (Some(*game), value(&row[place]))), 1);
        Some((name, of(&|(_, found, _)| f64::from(u8::from(*found)))?, of(&|(_, _, loss)| *loss)?))
    };
    names.into_iter().enumerate().filter_map(judgement).collect()
}

struct Judge<'a> {
    plan: &'a JudgePositions,
    runtime: Runtime,
    council: DraughtsPlayer,
    re_search: DraughtsPlayer,
    searcher: Searcher,
}

impl<'a> Judge<'a> {
    fn new(plan: &'a JudgePositions) -> io::Result<Self> {
        let player = |criterion| {
            let mut spec = plan.council.clone();
            spec.kind.settings.criterion = criterion;
            DraughtsPlayer::new(&spec, &Pool::new(0))
        };
        Ok(Self {
            plan,
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build()?,
            council: player(CriterionName::Majority),
            re_search: player(CriterionName::ReSearch),
            searcher: Searcher::new(SearchOptions { hash: 64, ..SearchOptions::default() }),
        })
    }

    /// Electors first, then criteria.
    fn choices(&mut self, game: &Game) -> Option<Vec<Choice>> {
        let decide = |player: &mut DraughtsPlayer, runtime: &Runtime| {
            player.new_game();
            runtime.block_on(player.decide(game, &self.plan.pace.pace.limits(), &mut |_| {}))
        };
        let proposed = decide(&mut self.council, &self.runtime)?;
        let searched_again = decide(&mut self.re_search, &self.runtime)?;
        let roster = self.plan.council.kind.roster();
        let proposals: Vec<_> = proposed.votes.iter().map(|vote| Some(vote.proposal.clone())).collect();
        let line = DraughtsLine(game.clone());
        let ballots = Ballots::recorded(&line, roster.electors(), &proposals);
        let mut chosen: Vec<(String, Move)> =
            proposed.votes.iter().map(|vote| (vote.proposal.elector.to_string(), vote.proposal.best)).collect();
        for criterion in CriterionName::ALL {
            let settings = CouncilSettings { criterion, ..self.plan.council.kind.settings.clone() };
            let elected = match criterion {
                CriterionName::ReSearch => searched_again.best,
                _ => Rule::of(&settings).elected_move(&ballots, line.ply() as u64)?,
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
        let limits = Limits { depth: Some(self.plan.judge), moves: only.map(|only| vec![only]), ..Limits::default() };
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
    use clap::FromArgMatches as _;

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
        let words = ["positions", "council:hash=1", "--pace", "nodes=300", "--judge", "7", "--concurrency", "1"];
        let arguments = JudgePositions::augment_args(clap::Command::new("positions"))
            .try_get_matches_from(words)
            .expect("arguments");
        let plan = JudgePositions::from_arg_matches(&arguments).expect("arguments");
        let judged = plan.judged(&positions, &AtomicBool::new(false), |_| {});
        let judged = judged.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(judged.len(), 4 + CriterionName::ALL.len());
        assert!(judged.iter().all(|(_, found, loss)| loss.value >= 0.0 && found.value <= 1.0));
    }
}
