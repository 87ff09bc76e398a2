//! The council studied over many games: what each elector would have lost had it decided alone, what each criterion, what the
//! second phase mended and broke, and where more time would have paid.

mod replay;

use replay::replay_all;
pub use replay::{ReplayRule, ballots};

use std::collections::BTreeMap;

use domain::CriterionName;
use serde::Serialize;

use crate::{
    formulas::MoveLabel,
    statistics::{GameSums, MeanWithError},
    study::{GameStudy, VoteStudy, VoterStudy},
};

/// An elector knew better if its move would have cost this much less, per cent of a point: half an inaccuracy. Less is within
/// the judge's own error.
const KNEW_BETTER: f64 = 2.5;

/// The number of worst errors listed.
const ERRORS_TOLD: usize = 50;

/// Statistics of the votes of many games.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CouncilStudy {
    pub votes: usize,
    /// The cost of the played moves, per cent of a point each.
    pub played: MeanWithError,
    /// The cost of the best proposals, which no election among them can beat.
    pub best_proposal: MeanWithError,
    /// The cost of the worst proposals.
    pub worst_proposal: MeanWithError,
    /// Each elector on its own, the one that loses least first.
    pub electors: Vec<ElectorFigure>,
    /// Each criterion on the recorded proposals, the one that loses least first.
    pub criteria: Vec<CriterionFigure>,
    pub second_phase: SecondPhaseFigure,
    /// Votes by how split they were.
    pub splits: Vec<SplitFigure>,
    pub extra_time: ExtraTimeFigure,
    /// The worst errors, the worst first.
    pub errors: Vec<VoteError>,
}

/// An elector, had it decided alone.
#[derive(Clone, Debug, Serialize)]
pub struct ElectorFigure {
    pub elector: String,
    /// Its loss a move, per cent of a point.
    pub loss: MeanWithError,
    /// Difference to the council's loss in the same positions: negative is better than the council.
    pub against_council: MeanWithError,
    /// The share of its proposals that are the judge's own move, 0 to 1.
    pub best_share: f64,
    /// The number of times it had a clearly better move when the council erred.
    pub knew_better: usize,
}

/// A criterion on the recorded proposals.
#[derive(Clone, Debug, Serialize)]
pub struct CriterionFigure {
    pub criterion: String,
    /// Its loss a move, per cent of a point.
    pub loss: MeanWithError,
    /// Difference to the real loss in the same positions: negative is better.
    pub against_played: MeanWithError,
    /// The number of times it elects another move than the one played.
    pub other_moves: usize,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct SecondPhaseFigure {
    pub count: usize,
    /// The number that elected another move than the first phase.
    pub changed: usize,
    /// The number of clearly better ones among these.
    pub mended: usize,
    /// The number of clearly worse ones.
    pub broke: usize,
    /// The gain a phase, per cent of a point, over all second phases.
    pub gain: MeanWithError,
}

#[derive(Clone, Debug, Serialize)]
pub struct SplitFigure {
    pub name: &'static str,
    /// The cost of the moves, per cent of a point.
    pub loss: MeanWithError,
    /// The difference between the best and the worst proposal.
    pub at_stake: MeanWithError,
    /// The duration of the searches, seconds.
    pub seconds: f64,
}

/// Errors that more time might have mended.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExtraTimeFigure {
    pub errors: usize,
    /// Errors that used less than the normal budget and the most on top.
    pub with_time_left: usize,
    /// Errors of those in which an elector had a clearly better move: a longer search might have
    /// elected it.
    pub and_known_better: usize,
    /// The time that was left in those, seconds a vote.
    pub seconds_left: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct VoteError {
    pub game: String,
    pub ply: usize,
    pub played: String,
    /// The cost, per cent of a point.
    pub loss: f64,
    pub label: MoveLabel,
    pub criterion: String,
    /// The moves proposed, with how many electors each; the most first.
    pub tally: Vec<(String, usize)>,
    pub knew_better: Vec<BetterVoter>,
}

#[derive(Clone, Debug, Serialize)]
pub struct BetterVoter {
    pub elector: String,
    pub san: String,
    pub depth: u32,
    /// Its score, from the bot's side.
    pub score: String,
    /// The cost of its move, per cent of a point.
    pub loss: f64,
}

impl BetterVoter {
    fn of(voter: &VoterStudy) -> Self {
        Self {
            elector: voter.proposal.elector.clone(),
            san: voter.san.clone(),
            depth: voter.proposal.depth,
            score: voter.proposal.score.map_or_else(String::new, |score| score.to_string()),
            loss: voter.loss,
        }
    }
}

#[derive(Debug)]
pub struct CouncilSums {
    votes: usize,
    played: GameSums,
    best: GameSums,
    worst: GameSums,
    electors: BTreeMap<String, ElectorSums>,
    rules: Vec<(ReplayRule, RuleSums)>,
    second: SecondPhaseFigure,
    second_gain: GameSums,
    splits: [SplitSums; SPLITS.len()],
    extra_time: ExtraTimeFigure,
    errors: Vec<VoteError>,
}

#[derive(Debug, Default)]
struct ElectorSums {
    loss: GameSums,
    against: GameSums,
    best: usize,
    knew_better: usize,
}

#[derive(Debug, Default)]
struct RuleSums {
    loss: GameSums,
    against: GameSums,
    other_moves: usize,
}

#[derive(Debug, Default)]
struct SplitSums {
    loss: GameSums,
    at_stake: GameSums,
    seconds: f64,
}

/// The most split that a vote of each class is. Advisers have no vote: whether they agreed is not said here.
const SPLITS: [(&str, f64); 4] =
    [("all voters agree", 0.0), ("a few dissent", 1.0 / 3.0), ("split", 2.0 / 3.0), ("no majority", 1.0)];

impl Default for CouncilSums {
    fn default() -> Self {
        let rules = CriterionName::ALL.into_iter().map(ReplayRule::criterion);
        Self {
            votes: 0,
            played: GameSums::default(),
            best: GameSums::default(),
            worst: GameSums::default(),
            electors: BTreeMap::new(),
            rules: rules.map(|rule| (rule, RuleSums::default())).collect(),
            second: SecondPhaseFigure::default(),
            second_gain: GameSums::default(),
            splits: Default::default(),
            extra_time: ExtraTimeFigure::default(),
            errors: Vec::new(),
        }
    }
}

impl CouncilSums {
    pub fn add(&mut self, game: &GameStudy) {
        self.next_game();
        self.add_rules(&game.votes);
        for vote in &game.votes {
            self.votes += 1;
            self.played.add(vote.loss);
            self.best.add(vote.voters.iter().map(|voter| voter.loss).fold(f64::INFINITY, f64::min));
            self.worst.add(vote.voters.iter().map(|voter| voter.loss).fold(0.0, f64::max));
            self.add_electors(vote);
            self.add_second_phase(vote);
            self.add_split(vote);
            if let Some(played) = game.moves.get(vote.ply)
                && let Some(label) = played.label
            {
                self.add_extra_time(vote);
                self.errors.push(VoteError {
                    game: game.record.key().to_string(),
                    ply: vote.ply,
                    played: numbered(played.number, played.mover.is_white(), &played.san),
                    loss: vote.loss,
                    label,
                    criterion: vote.criterion.clone(),
                    tally: tally(vote),
                    knew_better: vote.who_knew_better(KNEW_BETTER).map(BetterVoter::of).collect(),
                });
            }
        }
        self.errors.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        self.errors.truncate(ERRORS_TOLD);
    }

    fn next_game(&mut self) {
        let own = [&mut self.played, &mut self.best, &mut self.worst, &mut self.second_gain];
        let electors = self.electors.values_mut().flat_map(|sums| [&mut sums.loss, &mut sums.against]);
        let rules = self.rules.iter_mut().flat_map(|(_, sums)| [&mut sums.loss, &mut sums.against]);
        let splits = self.splits.iter_mut().flat_map(|sums| [&mut sums.loss, &mut sums.at_stake]);
        own.into_iter().chain(electors).chain(rules).chain(splits).for_each(GameSums::next_game);
    }

    fn add_electors(&mut self, vote: &VoteStudy) {
        for voter in &vote.voters {
            let sums = self.electors.entry(voter.proposal.elector.clone()).or_default();
            sums.loss.add(voter.loss);
            sums.against.add(voter.loss - vote.loss);
            sums.best += usize::from(voter.is_best);
            sums.knew_better += usize::from(voter.loss + KNEW_BETTER <= vote.loss);
        }
    }

    fn add_rules(&mut self, votes: &[VoteStudy]) {
        let rules: Vec<&ReplayRule> = self.rules.iter().map(|(rule, _)| rule).collect();
        let replayed = replay_all(&rules, votes);
        for (vote, outcomes) in votes.iter().zip(replayed) {
            for ((_, sums), outcome) in self.rules.iter_mut().zip(outcomes) {
                let Some((elected, loss)) = outcome else { continue };
                sums.loss.add(loss);
                sums.against.add(loss - vote.loss);
                sums.other_moves += usize::from(elected != vote.played);
            }
        }
    }

    fn add_second_phase(&mut self, vote: &VoteStudy) {
        let Some(first) = vote.first_choice_loss.filter(|_| vote.had_second_phase) else { return };
        let gain = first - vote.loss;
        self.second.count += 1;
        self.second.changed += usize::from(vote.first_choice.is_some_and(|first| first != vote.played));
        self.second.mended += usize::from(gain >= KNEW_BETTER);
        self.second.broke += usize::from(gain <= -KNEW_BETTER);
        self.second_gain.add(gain);
    }

    fn add_split(&mut self, vote: &VoteStudy) {
        let Some(split) = vote.split else { return };
        let class = SPLITS.iter().position(|(_, most)| split <= *most + 1e-9).unwrap_or(SPLITS.len() - 1);
        let sums = &mut self.splits[class];
        sums.loss.add(vote.loss);
        sums.at_stake.add(vote.at_stake());
        sums.seconds += vote.seconds;
    }

    fn add_extra_time(&mut self, vote: &VoteStudy) {
        let left = vote.given.0 + vote.given.1 - vote.seconds;
        let figure = &mut self.extra_time;
        figure.errors += 1;
        if left > 0.0 {
            figure.with_time_left += 1;
            if vote.who_knew_better(KNEW_BETTER).next().is_some() {
                figure.and_known_better += 1;
                // A sum so far; the mean is made at the end.
                figure.seconds_left += left;
            }
        }
    }

    pub fn study(self) -> CouncilStudy {
        let mut electors: Vec<ElectorFigure> = self
            .electors
            .into_iter()
            .map(|(elector, sums)| ElectorFigure {
                elector,
                best_share: sums.best as f64 / sums.loss.count().max(1) as f64,
                loss: sums.loss.mean(),
                against_council: sums.against.mean(),
                knew_better: sums.knew_better,
            })
            .collect();
        electors.sort_by(|a, b| a.loss.mean.total_cmp(&b.loss.mean));
        let mut criteria: Vec<CriterionFigure> = self
            .rules
            .into_iter()
            .map(|(rule, sums)| CriterionFigure {
                criterion: rule.name,
                loss: sums.loss.mean(),
                against_played: sums.against.mean(),
                other_moves: sums.other_moves,
            })
            .collect();
        criteria
            .sort_by(|a, b| (a.loss.count == 0).cmp(&(b.loss.count == 0)).then(a.loss.mean.total_cmp(&b.loss.mean)));
        let splits = SPLITS.iter().zip(self.splits).map(|((name, _), sums)| SplitFigure {
            name,
            loss: sums.loss.mean(),
            at_stake: sums.at_stake.mean(),
            seconds: sums.seconds / sums.loss.count().max(1) as f64,
        });
        let mut extra_time = self.extra_time;
        extra_time.seconds_left /= extra_time.and_known_better.max(1) as f64;
        CouncilStudy {
            votes: self.votes,
            played: self.played.mean(),
            best_proposal: self.best.mean(),
            worst_proposal: self.worst.mean(),
            electors,
            criteria,
            second_phase: SecondPhaseFigure { gain: self.second_gain.mean(), ..self.second },
            splits: splits.collect(),
            extra_time,
            errors: self.errors,
        }
    }
}

/// Writes `12. Nf3` or `12... Nf6`.
pub(crate) fn numbered(number: u32, white: bool, san: &str) -> String {
    format!("{number}{} {san}", if white { "." } else { "..." })
}

/// The moves proposed, with how many electors each; the most first.
pub(crate) fn tally(vote: &VoteStudy) -> Vec<(String, usize)> {
    let mut tally: Vec<(String, usize)> = Vec::new();
    for voter in &vote.voters {
        match tally.iter_mut().find(|(san, _)| *san == voter.san) {
            Some((_, count)) => *count += 1,
            None => tally.push((voter.san.clone(), 1)),
        }
    }
    tally.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    tally
}
