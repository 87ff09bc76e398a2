//! An opponent's move, and the proposals for it.

use std::{sync::atomic::AtomicBool, time::Instant};

use crate::player::{DraughtsDecision, DraughtsLine, DraughtsProposal, DraughtsVote};
use council::player::vote_report;
use domain::{Bound, Decision, Phase, Score, SearchId, Source};
use draughts_core::{
    game::Game,
    search::{
        self,
        published::{Published, PublishedSettings},
    },
};
use serde::Serialize;

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

/// A proposal, as the council's table shows it.
#[derive(Debug, Serialize)]
struct VoteRow {
    elector: String,
    #[serde(rename = "move")]
    mv: String,
    /// Hundredths of a man, from the opponent's side.
    value: i32,
    score: String,
    /// Plies, two to a full move.
    depth: u32,
    nodes: u64,
    /// The weight in the election, if there was one.
    weight: Option<f64>,
    second: bool,
}

impl Choice {
    /// Returns the choice of the search of 2010. It searches one full move deep in any case, and
    /// deeper until `stop` is set; `None` without a legal move. `seed` breaks ties.
    pub(super) fn published(settings: PublishedSettings, game: &Game, seed: u64, stop: &AtomicBool) -> Option<Self> {
        let began = Instant::now();
        let mut reached = None;
        Published::new(settings, seed).deepen(game, stop, |depth, found| reached = Some((depth, found)));
        let (depth, found) = reached?;
        let score = match found.score() {
            search::Score::Points(points) => Score::Cp(points),
            search::Score::Win(moves) => Score::Mate(moves),
        };
        let proposal = DraughtsProposal {
            search: SearchId { game: "page".into(), ply: game.moves().len(), serial: 1, phase: Phase::First },
            elector: settings.strategy.name().into(),
            machine: None,
            best: found.best,
            score,
            bound: Bound::Exact,
            depth: 2 * depth,
            selective_depth: 2 * depth,
            root_moves_done: 0,
            nodes: found.nodes,
            time: began.elapsed(),
            pv: vec![found.best],
        };
        let row = VoteRow::of(&proposal, None);
        let knowledge = Some(settings.strategy.knowledge());
        let decision = DraughtsDecision {
            score: Some(score),
            elapsed: proposal.time,
            votes: vec![DraughtsVote { proposal, knowledge, weight: Some(1.0) }],
            ..Decision::without_vote(found.best, Source::Council)
        };
        let in_time = depth == settings.depth;
        let summary = if in_time { "" } else { "There was no time to look as far ahead as was asked for." };
        Some(Self { best: row.mv.clone(), votes: vec![row], summary: summary.to_owned(), decision })
    }

    pub(super) fn elected(decision: DraughtsDecision, game: Game) -> Self {
        let first = decision.votes.iter().map(|vote| VoteRow::of(&vote.proposal, vote.weight));
        let second = decision.second_phase.iter().map(|second| VoteRow::of(&second.proposal, None));
        Self {
            best: decision.best.to_string(),
            votes: first.chain(second).collect(),
            summary: vote_report::summary(&DraughtsLine::from(game), &decision),
            decision,
        }
    }
}

impl VoteRow {
    fn of(proposal: &DraughtsProposal, weight: Option<f64>) -> Self {
        let second = proposal.search.phase == Phase::Second;
        Self {
            elector: if second { vote_report::SECOND_PHASE.to_owned() } else { proposal.elector.to_string() },
            mv: proposal.best.to_string(),
            value: proposal.score.as_centipawns(),
            score: in_words(proposal.score),
            depth: proposal.depth,
            nodes: proposal.nodes,
            weight,
            second,
        }
    }
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
