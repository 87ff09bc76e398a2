//! The standing of a match, and its result.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Serialize;

use super::{GamePair, MatchPlan};
use crate::player::PlayerKind;
use crate::{
    game::{GameEnding, MatchGame, PlayerFault},
    stats::{self, Estimate, Sprt, SprtVerdict},
};

/// The pairs that count so far: all before the first missing one, up to the one that decided the test or to the number asked for.
#[derive(Clone, Debug)]
pub struct MatchStanding {
    sprt: Option<Sprt>,
    /// Pairs that were asked for. A state may have more.
    most: usize,
    scores: Vec<f64>,
    pub(super) verdict: SprtVerdict,
}

impl MatchStanding {
    pub(super) fn new(sprt: Option<Sprt>, most: usize) -> Self {
        Self { sprt, most, scores: Vec::new(), verdict: SprtVerdict::Open }
    }

    /// Counts on from where it stands.
    pub(super) fn take(&mut self, done: &BTreeMap<usize, GamePair>) {
        while self.verdict == SprtVerdict::Open
            && self.scores.len() < self.most
            && let Some(pair) = done.get(&self.scores.len())
        {
            self.scores.push(pair.score());
            self.verdict = self.sprt.map_or(SprtVerdict::Open, |sprt| sprt.verdict(&self.scores));
        }
    }

    pub fn pairs(&self) -> usize {
        self.scores.len()
    }

    pub fn score(&self) -> Option<Estimate> {
        stats::score(&self.scores)
    }

    pub fn log_likelihood_ratio(&self) -> Option<f64> {
        self.sprt.map(|sprt| sprt.log_likelihood_ratio(&self.scores))
    }

    pub(super) fn summary<K: PlayerKind>(&self, plan: &MatchPlan<K>, done: &BTreeMap<usize, GamePair>) -> Summary {
        let pairs: Vec<&GamePair> = done.values().take(self.pairs()).collect();
        let score = self.score();
        let mut summary = Summary {
            players: plan.players.clone().map(|contender| contender.spec.name().to_owned()),
            games: 2 * pairs.len(),
            complete: pairs.len() == plan.pairs || self.verdict != SprtVerdict::Open,
            wins: 0,
            draws: 0,
            losses: 0,
            points: pairs.iter().flat_map(|pair| pair.points()).sum(),
            score,
            elo: score.map(|score| score.map(stats::elo)),
            normalized_elo: stats::normalized_elo(&self.scores),
            pentanomial: pentanomial(&self.scores),
            pairs_alike: pairs.iter().filter(|pair| pair.is_alike()).count(),
            sprt: self.sprt.map(|sprt| TestResult {
                sprt,
                log_likelihood_ratio: sprt.log_likelihood_ratio(&self.scores),
                verdict: self.verdict,
            }),
            endings: BTreeMap::new(),
            conduct: [PlayerTotals::default(), PlayerTotals::default()],
        };
        for pair in pairs {
            for (index, (game, points)) in pair.games.iter().zip(pair.points()).enumerate() {
                match points {
                    1.0 => summary.wins += 1,
                    0.0 => summary.losses += 1,
                    _ => summary.draws += 1,
                }
                *summary.endings.entry(game.ending.word().into_owned()).or_default() += 1;
                for (player, conduct) in summary.conduct.iter_mut().enumerate() {
                    // Player 0, A, has White in game 0, and player 1 in game 1.
                    conduct.watch(game, player == index);
                }
            }
        }
        summary
    }
}

/// Pairs by A's score: 0, 1/2, 1, 3/2, 2. `None` if games were truncated and scored between.
fn pentanomial(scores: &[f64]) -> Option<[usize; 5]> {
    let mut counts = [0; 5];
    for score in scores {
        let place = [0.0, 0.25, 0.5, 0.75, 1.0].iter().position(|value| value == score)?;
        counts[place] += 1;
    }
    Some(counts)
}

/// The result of a match. All scores are A's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub players: [String; 2],
    pub games: usize,
    /// True if all games are played, or the test is decided.
    pub complete: bool,
    pub wins: usize,
    /// Neither won nor lost: also truncated games with other points than a half.
    pub draws: usize,
    pub losses: usize,
    pub points: f64,
    /// A's mean score, 0 to 1.
    pub score: Option<Estimate>,
    pub elo: Option<Estimate>,
    pub normalized_elo: Option<Estimate>,
    /// Pairs by A's score: 0, 1/2, 1, 3/2, 2.
    pub pentanomial: Option<[usize; 5]>,
    /// Pairs whose two games went alike, move by move. Where these are all, A and B do not differ.
    pub pairs_alike: usize,
    pub sprt: Option<TestResult>,
    /// The numbers of games by ending.
    pub endings: BTreeMap<String, usize>,
    pub conduct: [PlayerTotals; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TestResult {
    #[serde(flatten)]
    pub sprt: Sprt,
    pub log_likelihood_ratio: f64,
    pub verdict: SprtVerdict,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PlayerTotals {
    pub moves: u64,
    /// Nodes, all together.
    pub nodes: u64,
    /// Completed depths, all together.
    pub depth: u64,
    /// Thinking time, all together, where it was measured.
    pub microseconds: u64,
    /// The program did not start, ended, hung or gave no move.
    pub crashes: usize,
    pub illegal_moves: usize,
    pub time_losses: usize,
}

impl PlayerTotals {
    fn watch(&mut self, game: &MatchGame, has_white: bool) {
        for (ply, played) in game.moves.iter().enumerate() {
            if (ply.is_multiple_of(2) == game.white_first) == has_white {
                self.moves += 1;
                self.nodes += played.nodes;
                self.depth += u64::from(played.depth);
                self.microseconds += played.microseconds.unwrap_or_default();
            }
        }
        let lost = game.white == if has_white { 0.0 } else { 1.0 };
        match &game.ending {
            GameEnding::Fault(_) if !lost => {}
            GameEnding::Fault(PlayerFault::Crash(_)) => self.crashes += 1,
            GameEnding::Fault(PlayerFault::IllegalMove(_)) => self.illegal_moves += 1,
            GameEnding::Fault(PlayerFault::TimeLoss(_)) => self.time_losses += 1,
            _ => {}
        }
    }

    pub fn nodes_a_move(&self) -> f64 {
        self.nodes as f64 / self.moves.max(1) as f64
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { players: [a, b], games, wins, draws, losses, .. } = self;
        writeln!(f, "{a} against {b}")?;
        let unfinished = if self.complete { "" } else { " (unfinished)" };
        writeln!(f, "games        {games}{unfinished}: {wins} won, {draws} drawn, {losses} lost")?;
        if let Some(score) = self.score {
            writeln!(f, "score        {}", score.percent_with_error())?;
        }
        if let (Some(elo), Some(normalized)) = (self.elo, self.normalized_elo) {
            writeln!(f, "Elo          {}", elo.signed())?;
            writeln!(f, "normalised   {}", normalized.signed())?;
        }
        if let Some(counts) = self.pentanomial {
            writeln!(f, "pentanomial  {counts:?} (pairs with 0, ½, 1, 1½, 2 points)")?;
        }
        if self.pairs_alike > 0 {
            writeln!(f, "alike        {} of {} pairs: both games the same, move by move", self.pairs_alike, games / 2)?;
        }
        if let Some(TestResult { sprt, log_likelihood_ratio, verdict }) = self.sprt {
            let (low, high) = sprt.bounds();
            let said = match verdict {
                SprtVerdict::H0 => "H0 accepted",
                SprtVerdict::H1 => "H1 accepted",
                SprtVerdict::Open => "open",
            };
            let ratio = log_likelihood_ratio;
            writeln!(f, "SPRT         {sprt}: LLR {ratio:.2} of ({low:.2}, {high:.2}), {said}")?;
        }
        let endings: Vec<String> = self.endings.iter().map(|(ending, count)| format!("{ending} {count}")).collect();
        writeln!(f, "endings      {}", endings.join(", "))?;
        for (name, conduct) in self.players.iter().zip(&self.conduct) {
            let PlayerTotals { moves, depth, crashes, illegal_moves, time_losses, .. } = conduct;
            let depth = *depth as f64 / (*moves).max(1) as f64;
            write!(f, "{name}: {:.0} nodes a move, depth {depth:.1}", conduct.nodes_a_move())?;
            if conduct.microseconds > 0 {
                let time = Duration::from_micros(conduct.microseconds / (*moves).max(1));
                write!(f, ", {:.1} ms a move", time.as_secs_f64() * 1000.0)?;
            }
            writeln!(f, "; {crashes} crashes, {illegal_moves} illegal moves, {time_losses} losses on time")?;
        }
        Ok(())
    }
}
