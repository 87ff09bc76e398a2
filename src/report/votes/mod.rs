//! The council studied over many games: the loss of each elector deciding alone, and of each criterion,
//! the effect of the second phase, and errors with time left.

mod replay;

use replay::replay_all;
pub use replay::{ReplayRule, ballots};

use domain::CriterionName;
use serde::Serialize;
use util::{find_or_add, grouped};

use crate::{
    formulas::MoveLabel,
    statistics::GameSums,
    study::{GameStudy, VoteStudy, VoterStudy},
};

/// An elector knew better if its move would have cost this much less, per cent of a point: half an
/// inaccuracy. Smaller differences are within the judge's own error.
const KNEW_BETTER: f64 = 2.5;

const ERRORS_TOLD: usize = 50;

/// Statistics of the votes of many games. Costs are per cent of a point.
#[derive(Debug, Serialize)]
pub struct CouncilStudy {
    pub votes: usize,
    pub played: GameSums,
    /// The cost of the best proposals: the lower limit of any election.
    pub best_proposal: GameSums,
    pub worst_proposal: GameSums,
    /// Each elector deciding alone, at the end the smallest loss first.
    pub electors: Vec<ElectorFigure>,
    /// Each criterion on the recorded proposals, at the end the smallest loss first.
    pub criteria: Vec<CriterionFigure>,
    pub second_phase: SecondPhaseFigure,
    pub splits: Vec<SplitFigure>,
    pub extra_time: ExtraTimeFigure,
    /// The worst errors, the worst first.
    pub errors: Vec<VoteError>,
}

/// An elector deciding alone.
#[derive(Debug, Default, Serialize)]
pub struct ElectorFigure {
    pub elector: String,
    pub loss: GameSums,
    /// Difference to the council's loss in the same positions: negative is better than the council.
    pub against_council: GameSums,
    /// The share of the judge's own moves among its proposals, 0 to 1; their number until the end.
    pub best_share: f64,
    /// The number of times it had a clearly better move when the council erred.
    pub knew_better: usize,
}

/// A criterion on the recorded proposals.
#[derive(Debug, Serialize)]
pub struct CriterionFigure {
    pub criterion: String,
    pub loss: GameSums,
    /// Difference to the real loss in the same positions: negative is better.
    pub against_played: GameSums,
    /// The number of times it elects another move than the one played.
    pub other_moves: usize,
    #[serde(skip)]
    rule: ReplayRule,
}

#[derive(Debug, Default, Serialize)]
pub struct SecondPhaseFigure {
    pub count: usize,
    /// The number of elections of another move than the first phase's.
    pub changed: usize,
    /// The number of clearly better ones among these.
    pub mended: usize,
    /// The number of clearly worse ones.
    pub broke: usize,
    /// The gain a phase, over all second phases.
    pub gain: GameSums,
}

#[derive(Debug, Serialize)]
pub struct SplitFigure {
    pub name: &'static str,
    pub loss: GameSums,
    /// The difference between the best and the worst proposal.
    pub at_stake: GameSums,
    /// The mean duration of the searches, seconds; their sum until the end.
    pub seconds: f64,
}

#[derive(Debug, Default, Serialize)]
pub struct ExtraTimeFigure {
    pub errors: usize,
    /// Errors with some of the normal budget and extra time left.
    pub with_time_left: usize,
    /// Those errors with a clearly better proposal: a longer search might have elected it.
    pub and_known_better: usize,
    /// The time left in those, seconds a vote; the sum until the end.
    pub seconds_left: f64,
}

#[derive(Debug, Serialize)]
pub struct VoteError {
    pub game: String,
    pub ply: usize,
    pub played: String,
    pub loss: f64,
    pub label: MoveLabel,
    pub criterion: String,
    /// The proposed moves with their numbers of electors, the most first.
    pub tally: Vec<(String, usize)>,
    pub knew_better: Vec<BetterVoter>,
}

#[derive(Debug, Serialize)]
pub struct BetterVoter {
    pub elector: String,
    pub san: String,
    pub depth: u32,
    pub score: String,
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

/// The largest split of each class of votes, advisers left out.
const SPLITS: [(&str, f64); 4] =
    [("all voters agree", 0.0), ("a few dissent", 1.0 / 3.0), ("split", 2.0 / 3.0), ("no majority", 1.0)];

impl Default for CouncilStudy {
    fn default() -> Self {
        let sums = GameSums::default;
        let criteria = CriterionName::ALL.into_iter().map(ReplayRule::criterion).map(|rule| CriterionFigure {
            criterion: rule.name.clone(),
            loss: sums(),
            against_played: sums(),
            other_moves: 0,
            rule,
        });
        let splits = SPLITS.map(|(name, _)| SplitFigure { name, loss: sums(), at_stake: sums(), seconds: 0.0 });
        Self {
            votes: 0,
            played: sums(),
            best_proposal: sums(),
            worst_proposal: sums(),
            electors: Vec::new(),
            criteria: criteria.collect(),
            second_phase: SecondPhaseFigure::default(),
            splits: splits.into(),
            extra_time: ExtraTimeFigure::default(),
            errors: Vec::new(),
        }
    }
}

impl CouncilStudy {
    pub fn add(&mut self, game: &GameStudy) {
        self.next_game();
        self.add_rules(&game.votes);
        for vote in &game.votes {
            self.votes += 1;
            self.played.add(vote.loss);
            self.best_proposal.add(vote.voters.iter().map(|voter| voter.loss).fold(f64::INFINITY, f64::min));
            self.worst_proposal.add(vote.voters.iter().map(|voter| voter.loss).fold(0.0, f64::max));
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
        let own = [&mut self.played, &mut self.best_proposal, &mut self.worst_proposal, &mut self.second_phase.gain];
        let electors = self.electors.iter_mut().flat_map(|sums| [&mut sums.loss, &mut sums.against_council]);
        let criteria = self.criteria.iter_mut().flat_map(|sums| [&mut sums.loss, &mut sums.against_played]);
        let splits = self.splits.iter_mut().flat_map(|sums| [&mut sums.loss, &mut sums.at_stake]);
        own.into_iter().chain(electors).chain(criteria).chain(splits).for_each(GameSums::next_game);
    }

    fn add_electors(&mut self, vote: &VoteStudy) {
        for voter in &vote.voters {
            let name = &voter.proposal.elector;
            let new = || ElectorFigure { elector: name.clone(), ..ElectorFigure::default() };
            let figure = find_or_add(&mut self.electors, |figure| figure.elector == *name, new);
            figure.loss.add(voter.loss);
            figure.against_council.add(voter.loss - vote.loss);
            figure.best_share += f64::from(u8::from(voter.is_best));
            figure.knew_better += usize::from(voter.loss + KNEW_BETTER <= vote.loss);
        }
    }

    fn add_rules(&mut self, votes: &[VoteStudy]) {
        let rules: Vec<&ReplayRule> = self.criteria.iter().map(|figure| &figure.rule).collect();
        let replayed = replay_all(&rules, votes);
        for (vote, outcomes) in votes.iter().zip(replayed) {
            for (figure, outcome) in self.criteria.iter_mut().zip(outcomes) {
                let Some((elected, loss)) = outcome else { continue };
                figure.loss.add(loss);
                figure.against_played.add(loss - vote.loss);
                figure.other_moves += usize::from(elected != vote.played);
            }
        }
    }

    fn add_second_phase(&mut self, vote: &VoteStudy) {
        let Some(first) = vote.first_choice_loss.filter(|_| vote.had_second_phase) else { return };
        let gain = first - vote.loss;
        let figure = &mut self.second_phase;
        figure.count += 1;
        figure.changed += usize::from(vote.first_choice.is_some_and(|first| first != vote.played));
        figure.mended += usize::from(gain >= KNEW_BETTER);
        figure.broke += usize::from(gain <= -KNEW_BETTER);
        figure.gain.add(gain);
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
                figure.seconds_left += left;
            }
        }
    }

    /// Ends the sums: means are made, and electors and criteria sorted.
    pub fn finish(mut self) -> Self {
        for elector in &mut self.electors {
            elector.best_share /= elector.loss.count().max(1) as f64;
        }
        self.electors.sort_by(|a, b| a.elector.cmp(&b.elector));
        self.electors.sort_by(|a, b| a.loss.mean().mean.total_cmp(&b.loss.mean().mean));
        self.criteria.sort_by(|a, b| {
            let (a, b) = (a.loss.mean(), b.loss.mean());
            (a.count == 0).cmp(&(b.count == 0)).then(a.mean.total_cmp(&b.mean))
        });
        for split in &mut self.splits {
            split.seconds /= split.loss.count().max(1) as f64;
        }
        self.extra_time.seconds_left /= self.extra_time.and_known_better.max(1) as f64;
        self
    }
}

/// Writes `12. Nf3` or `12... Nf6`.
pub(crate) fn numbered(number: u32, white: bool, san: &str) -> String {
    format!("{number}{} {san}", if white { "." } else { "..." })
}

/// Returns the proposed moves with their numbers of electors, the most first.
pub(crate) fn tally(vote: &VoteStudy) -> Vec<(String, usize)> {
    let by_move = grouped(vote.voters.iter().map(|voter| (&voter.san, ()))).into_iter();
    let mut tally: Vec<(String, usize)> = by_move.map(|(san, voters)| (san.clone(), voters.len())).collect();
    tally.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    tally
}
