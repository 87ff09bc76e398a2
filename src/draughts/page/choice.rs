//! An opponent's move, and the proposals for it.

use std::{sync::atomic::AtomicBool, time::Instant};

use crate::player::{DraughtsDecision, DraughtsLine, DraughtsProposal, DraughtsVote, proposal};
use council::player::vote_report;
use domain::{
    Decision, Phase, Score, SearchId, Source,
    vote_words::{ElectorRole, NamedElector},
};
use draughts_core::{
    game::Game,
    search::published::{Published, PublishedSettings},
};
use serde::Serialize;
use web::overview::VoteRow;

#[derive(Debug, Serialize)]
pub(super) struct Choice {
    pub best: String,
    votes: Vec<VoteRow>,
    /// The explanation in a sentence; empty without one.
    pub summary: String,
    /// Decision in the form of records.
    #[serde(skip)]
    pub decision: DraughtsDecision,
}

impl Choice {
    /// Returns the choice of the search of 2010. It searches one full move deep in any case, and
    /// deeper until `stop` is set; `None` without a legal move. `seed` breaks ties.
    pub(super) fn published(settings: PublishedSettings, game: &Game, seed: u64, stop: &AtomicBool) -> Option<Self> {
        let began = Instant::now();
        let mut reached = None;
        Published::new(settings, seed).deepen(game, stop, |depth, found| reached = Some((depth, found)));
        let (depth, found) = reached?;
        let search = SearchId { game: "page".into(), ply: game.moves().len(), serial: 1, phase: Phase::First };
        let proposal = proposal(search, &settings.strategy.name().into(), &found.iteration(depth, began.elapsed()));
        let row = row(&proposal, None);
        let knowledge = Some(settings.strategy.knowledge());
        let decision = DraughtsDecision {
            score: Some(proposal.score),
            elapsed: proposal.time,
            votes: vec![DraughtsVote { proposal, knowledge, weight: Some(1.0) }],
            ..Decision::without_vote(found.best, Source::Council)
        };
        let in_time = depth == settings.depth;
        let summary = if in_time { "" } else { "There was no time to look as far ahead as was asked for." };
        Some(Self { best: row.san.clone(), votes: vec![row], summary: summary.to_owned(), decision })
    }

    pub(super) fn elected(decision: DraughtsDecision, game: Game) -> Self {
        let first = decision.votes.iter().map(|vote| row(&vote.proposal, vote.weight));
        let second = decision.second_phase.iter().map(|second| row(&second.proposal, None));
        Self {
            best: decision.best.to_string(),
            votes: first.chain(second).collect(),
            summary: vote_report::summary(&DraughtsLine(game), &decision),
            decision,
        }
    }
}

/// A proposal, as the council's table shows it: electors are known by their own names.
fn row(proposal: &DraughtsProposal, weight: Option<f64>) -> VoteRow {
    let name = proposal.elector.to_string();
    let named = NamedElector { name: name.clone(), short: name, role: ElectorRole::Program, adviser: false };
    let row = VoteRow::new(named, proposal.best.to_string(), proposal, weight);
    VoteRow { score: in_words(proposal.score), words: row.elector.clone(), short: row.elector.clone(), ..row }
}

/// A score as it is shown: men with two digits, or in how many moves the game ends.
fn in_words(score: Score) -> String {
    match score {
        Score::Cp(_) => score.to_string(),
        Score::Mate(moves) if moves > 0 => format!("wins in {moves}"),
        Score::Mate(moves) => format!("loses in {}", -moves),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use draughts_core::board::Rules;

    fn choose(depth: u32, game: &Game, stop: bool) -> Choice {
        let settings = PublishedSettings { depth, whole_tree: false, ..PublishedSettings::default() };
        Choice::published(settings, game, 1, &AtomicBool::new(stop)).expect("a move")
    }

    #[test]
    fn stopped_choice_is_one_move_deep() {
        let choice = choose(8, &Game::default(), true);
        assert!(choice.votes[0].depth == 2 && choice.summary.contains("no time"));
        assert!(Game::default().play_text(&choice.best).is_ok());
        let choice = choose(2, &Game::default(), false);
        assert!(choice.votes[0].depth == 4 && choice.summary.is_empty());
    }

    #[test]
    fn a_win_is_counted_in_moves() {
        let game = Game::new("W:WK22:B18".parse().expect("a position"), Rules::Official);
        assert_eq!(choose(3, &game, false).votes[0].score, "wins in 1");
    }
}
