//! The study of one game: the cost of every move, by the verdicts before and after it.

mod moves;
mod phases;
mod votes;

pub use moves::{MissedChance, MoveStudy, TablebaseTruth};
pub use phases::{GamePhase, ending_name};
pub use votes::{VoteStudy, VoterStudy};

use domain::{BySide, Color, Source};
use engine::Tablebases;
use serde::Serialize;

use bot::journal::{GameRecord, MoveRecord};

use crate::{
    formulas::{MoveLabel, game_accuracy},
    judge::{GameMaterial, GameVerdicts},
    openings::NamedOpening,
};

#[derive(Clone, Debug, Serialize)]
pub struct GameStudy {
    #[serde(flatten)]
    pub record: GameRecord,
    pub opening: Option<NamedOpening>,
    /// The ply of the last named position of the opening.
    pub opening_plies: usize,
    /// The ply of the last move from the bot's own book; 0 without one.
    pub book_plies: usize,
    /// The first ply of the ending, with the ending's name.
    pub ending: Option<(usize, &'static str)>,
    /// The accuracy of each side, 0 to 100.
    pub accuracy: BySide<Option<f64>>,
    /// Centipawns each side lost a move, on average.
    pub average_loss: BySide<Option<f64>>,
    /// The decisive move, as an index of `moves`.
    pub turning_point: Option<usize>,
    pub moves: Vec<MoveStudy>,
    pub votes: Vec<VoteStudy>,
}

impl GameStudy {
    /// Studies a game by the verdicts on its positions; `None` if some are missing or it cannot be
    /// judged. `tables` add the true result of covered positions.
    pub fn of(material: &GameMaterial, verdicts: &GameVerdicts, tables: Option<&Tablebases>) -> Option<Self> {
        if !material.can_be_judged() {
            return None;
        }
        let positions = material.positions()?;
        let mut moves = moves::study(material, &positions, verdicts, tables)?;
        moves::add_times(material, &mut moves);
        let votes = votes::study(material, &positions, verdicts, &moves);
        for vote in &votes {
            if let Some(studied) = moves.get_mut(vote.ply) {
                studied.at_stake = Some(vote.at_stake());
            }
        }
        let opening = NamedOpening::of(&material.line);
        let first = moves.first()?.mover;
        let after: Vec<_> = moves.iter().map(MoveStudy::value_for_white).collect();
        let from_book = |(played, _): &(MoveRecord, _)| {
            let source = played.ours.as_ref().and_then(|ours| Source::from_word(&ours.source));
            source.is_some_and(Source::is_of_openings)
        };
        Some(Self {
            opening_plies: opening.map_or(0, |(_, plies)| plies),
            opening: opening.map(|(opening, _)| opening),
            book_plies: material.moves.iter().rposition(from_book).map_or(0, |ply| ply + 1),
            ending: phases::ending(&positions),
            accuracy: game_accuracy(first, &after),
            average_loss: BySide {
                white: average_loss(&moves, Color::White),
                black: average_loss(&moves, Color::Black),
            },
            turning_point: moves::turning_point(&moves, material.record.winner),
            record: material.record.clone(),
            moves,
            votes,
        })
    }

    pub fn our_accuracy(&self) -> Option<f64> {
        self.accuracy.of(self.record.our_color)
    }

    pub fn labels(&self, side: Color, label: MoveLabel) -> usize {
        self.moves.iter().filter(|played| played.mover == side && played.label == Some(label)).count()
    }

    pub fn ours(&self) -> impl Iterator<Item = &MoveStudy> {
        let us = self.record.our_color;
        self.moves.iter().filter(move |played| played.mover == us)
    }

    /// Returns the vote for the move after `ply` plies.
    pub fn vote(&self, ply: usize) -> Option<&VoteStudy> {
        self.votes.iter().find(|vote| vote.ply == ply)
    }
}

fn average_loss(moves: &[MoveStudy], side: Color) -> Option<f64> {
    let losses: Vec<f64> =
        moves.iter().filter(|played| played.mover == side).map(|played| f64::from(played.centipawn_loss)).collect();
    (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64)
}
