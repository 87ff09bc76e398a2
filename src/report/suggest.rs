//! Suggested settings: the rule with the least loss, chosen on one half of the games and judged on the
//! other.
//!
//! Candidates: every criterion with its defaults, some margins for `score-margin`, and for
//! `weights` hand weights found by trying one heuristic after another. Re-search is left out: its
//! choice is unknown without a search.

use council::{Ballots, CouncilSettings, HeuristicWeights};
use domain::CriterionName;
use serde::Serialize;

use crate::{
    statistics::{GameSums, MeanWithError},
    study::VoteStudy,
    votes::{ReplayRule, ballots},
};

/// Margins tried for `score-margin`, centipawns.
const MARGINS: [f64; 6] = [0.0, 7.0, 25.0, 50.0, 100.0, 300.0];

/// Factors tried for a weight; 0 drops the heuristic.
const FACTORS: [f64; 5] = [0.0, 0.5, 0.8, 1.3, 2.0];

const ROUNDS: usize = 3;

/// The minimum number of games for evidence, whatever the interval: it assumes a normal distribution,
/// and means nothing for similar games.
const ENOUGH: usize = 10;

/// A suggestion with its evidence. Losses are per cent of a point a move.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestion {
    pub rule: String,
    pub criterion: CriterionName,
    /// Hand weights, if the criterion uses them.
    #[serde(skip)]
    pub settings: CouncilSettings,
    /// The number of games for the choice, and for the judgement.
    pub games: (usize, usize),
    pub tried: usize,
    /// The loss on the games of the choice.
    pub loss_seen: MeanWithError,
    /// The loss on the other games.
    pub loss: MeanWithError,
    /// The real loss in those.
    pub played: MeanWithError,
    /// The difference on those: negative is better than the played moves.
    pub against_played: MeanWithError,
}

/// Returns the divided votes of a game with their ballots, for other rules to elect in.
pub fn divided(votes: &[VoteStudy]) -> Vec<(VoteStudy, Ballots)> {
    let divided = votes.iter().filter(|vote| vote.voters.iter().any(|voter| voter.best != vote.voters[0].best));
    divided.map(|vote| (vote.clone(), ballots(vote))).collect()
}

/// Returns the best rule on every other game, with its loss on the rest; `None` with fewer than two
/// games on either side. `games` are the [`divided`] votes of each.
pub fn suggest(games: &[Vec<(VoteStudy, Ballots)>]) -> Option<Suggestion> {
    let half = |odd: usize| -> Vec<_> { games.iter().filter(|game| !game.is_empty()).skip(odd).step_by(2).collect() };
    let (seen, held_out) = (half(0), half(1));
    if held_out.len() < 2 {
        return None;
    }
    let mut candidates: Vec<ReplayRule> = CriterionName::ALL
        .into_iter()
        .filter(|name| *name != CriterionName::ReSearch)
        .map(ReplayRule::criterion)
        .chain(MARGINS.map(score_margin))
        .collect();
    let (weights, tried) = best_weights(&seen);
    candidates.push(weights);
    let tried = tried + candidates.len() - 1;
    let best = candidates.into_iter().min_by(|a, b| loss(a, &seen).mean.total_cmp(&loss(b, &seen).mean))?;
    Some(Suggestion {
        criterion: best.settings.criterion,
        games: (seen.len(), held_out.len()),
        tried,
        loss_seen: loss(&best, &seen),
        loss: loss(&best, &held_out),
        played: mean(&best, &held_out, |vote, _| vote.loss),
        against_played: mean(&best, &held_out, |vote, lost| lost - vote.loss),
        rule: best.name,
        settings: best.settings,
    })
}

fn score_margin(margin: f64) -> ReplayRule {
    let settings = CouncilSettings { margin, criterion: CriterionName::ScoreMargin, ..CouncilSettings::default() };
    ReplayRule::new(format!("score-margin {margin}"), settings)
}

fn by_weights(weights: HeuristicWeights) -> ReplayRule {
    let settings = CouncilSettings { weights, criterion: CriterionName::Weights, ..CouncilSettings::default() };
    ReplayRule::new("weights, fitted".to_owned(), settings)
}

/// Fits hand weights heuristic by heuristic; returns them with the number of tried weights.
fn best_weights(games: &[&Vec<(VoteStudy, Ballots)>]) -> (ReplayRule, usize) {
    let mut best = by_weights(HeuristicWeights::default());
    let mut least = loss(&best, games).mean;
    let mut tried = 1;
    for _ in 0..ROUNDS {
        let before = least;
        for heuristic in domain::Heuristic::ALL {
            for factor in FACTORS {
                let scaled = |other| if other == heuristic { factor } else { 1.0 };
                let rule = by_weights(best.settings.weights.times(&scaled));
                let mean = loss(&rule, games).mean;
                tried += 1;
                if mean < least {
                    (best, least) = (rule, mean);
                }
            }
        }
        if least == before {
            break;
        }
    }
    (best, tried)
}

/// Returns a rule's loss in some games, per cent of a point a vote.
fn loss(rule: &ReplayRule, games: &[&Vec<(VoteStudy, Ballots)>]) -> MeanWithError {
    mean(rule, games, |_, lost| lost)
}

/// Returns the mean of a value over the votes in which a rule elects, by the vote and the loss of the elected move.
fn mean(
    rule: &ReplayRule,
    games: &[&Vec<(VoteStudy, Ballots)>],
    value: impl Fn(&VoteStudy, f64) -> f64,
) -> MeanWithError {
    let mut sums = GameSums::default();
    for game in games {
        sums.next_game();
        for (vote, ballots) in *game {
            if let Some((_, lost)) = rule.elect(vote, ballots) {
                sums.add(value(vote, lost));
            }
        }
    }
    sums.mean()
}

impl Suggestion {
    /// Returns true if it loses less than the played moves by more than the error, on at least ten
    /// games apart from those of the choice.
    pub fn is_better(&self) -> bool {
        self.games.1 >= ENOUGH && self.against_played.mean + self.against_played.margin() < 0.0
    }

    /// Writes the suggestion as a part of a settings file, with the evidence in comments. Without
    /// evidence the settings are comments too.
    pub fn settings_text(&self) -> String {
        let margin = |mean: &MeanWithError| format!("{:.3} +- {:.3}", mean.mean, mean.margin());
        let verdict = if self.is_better() {
            "On games it was not chosen by it loses less than what was played, by more than the error."
        } else if self.games.1 < ENOUGH {
            "So few games are no evidence that it is better, whatever the error, and it is best left alone."
        } else {
            "On games it was not chosen by the difference is within the error, or it loses more: there is no evidence that\n\
             # it is better, and it is best left alone."
        };
        let evidence = format!(
            "# Suggested by `concilio report --suggest`: the rule `{}`, the best of {} tried on {} games.\n\
             # On {} other games, in the votes that were not unanimous, it loses {} per cent of a point a move;\n\
             # what was played lost {} (difference {}, 95 % intervals).\n# {verdict}\n",
            self.rule,
            self.tried,
            self.games.0,
            self.games.1,
            margin(&self.loss),
            margin(&self.played),
            margin(&self.against_played),
        );
        let sign = if self.is_better() { "" } else { "#" };
        let settings = self.settings_lines().into_iter().map(|line| format!("{sign}{line}\n"));
        evidence + &settings.collect::<String>()
    }

    fn settings_lines(&self) -> Vec<String> {
        let mut lines = vec!["[player.council]".to_owned(), format!("criterion = \"{}\"", self.criterion.word())];
        match self.criterion {
            CriterionName::ScoreMargin => lines.push(format!("margin = {:?}", self.settings.margin)),
            CriterionName::Weights => {
                lines.push("[player.council.weights]".to_owned());
                lines.extend(domain::Heuristic::ALL.map(|heuristic| {
                    let weight = self.settings.weights.of(heuristic);
                    format!("{} = {:?}", heuristic.letter(), (weight * 1000.0).round() / 1000.0)
                }));
            }
            _ => (),
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(difference: f64) -> Suggestion {
        let figure = |mean| MeanWithError { mean, error: 0.01, count: 100 };
        Suggestion {
            rule: "weights, fitted".to_owned(),
            criterion: CriterionName::Weights,
            settings: by_weights(HeuristicWeights::default()).settings,
            games: (10, 10),
            tried: 138,
            loss_seen: figure(0.3),
            loss: figure(0.5 + difference),
            played: figure(0.5),
            against_played: figure(difference),
        }
    }

    #[test]
    fn suggestion_is_valid_settings() {
        let text = suggestion(-0.2).settings_text();
        let settings: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(settings.len(), 3 + 8, "{text}");
        assert!(settings.contains(&"criterion = \"weights\"") && settings.contains(&"m = 30.0"), "{text}");
    }

    #[test]
    fn weak_suggestion_changes_nothing() {
        let few = Suggestion { games: (10, 9), ..suggestion(-0.2) };
        for suggestion in [-0.01, 0.0, 0.3].map(suggestion).into_iter().chain([few]) {
            let text = suggestion.settings_text();
            assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
            assert!(text.contains("no evidence"), "{text}");
        }
    }
}
