//! Endings of games, in the server's words.

use crate::{
    dialect::Dialect,
    game::{End, GameOutcome},
    state::GameView,
};
use domain::Color;

/// `{Game 12 (Ann vs. Bob) Bob checkmated} 1-0`; also for a game that is put off. `None` while it runs.
pub(crate) fn end_line(view: &GameView, number: u32, dialect: Dialect) -> Option<String> {
    let players = &view.pairing.players;
    let name = |color| players.get(color).name.as_str();
    let (reason, result) = match (view.outcome, view.left) {
        (Some(outcome), _) => (reason(view, outcome, dialect, name), outcome.result()),
        (None, _) if !view.is_adjourned => return None,
        (None, Some(color)) => (dialect.stopped_by_loss(name(color), "adjourned"), "*"),
        (None, None) => ("Game adjourned by mutual agreement".to_owned(), "*"),
    };
    Some(format!("{{Game {number} ({} vs. {}) {reason}}} {result}", players.white.name, players.black.name))
}

fn reason<'a>(view: &GameView, outcome: GameOutcome, dialect: Dialect, name: impl Fn(Color) -> &'a str) -> String {
    match (outcome.end, outcome.loser()) {
        (End::Checkmate, Some(loser)) => format!("{} checkmated", name(loser)),
        (End::Resignation, Some(loser)) => format!("{} resigns", name(loser)),
        (End::OutOfTime, Some(loser)) => format!("{} forfeits on time", name(loser)),
        (End::OutOfTime, None) => {
            let flagged = view.line.turn();
            format!("{} ran out of time and {} has no material to mate", name(flagged), name(!flagged))
        }
        (End::Abandoned, Some(loser)) => format!("{} forfeits by disconnection", name(loser)),
        (End::Stalemate, _) => "Game drawn by stalemate".to_owned(),
        (End::Repetition, _) => "Game drawn by repetition".to_owned(),
        (End::FiftyMoves, _) => "Game drawn by the 50 move rule".to_owned(),
        (End::InsufficientMaterial, _) => "Neither player has mating material".to_owned(),
        (End::Aborted, _) => match view.left {
            Some(color) if view.line.ply() < 2 => {
                format!("{} lost connection and too few moves; game aborted", name(color))
            }
            Some(color) => dialect.stopped_by_loss(name(color), "aborted"),
            None if view.line.ply() < 2 => "Game aborted on move 1".to_owned(),
            None => "Game aborted by mutual agreement".to_owned(),
        },
        (End::VariantRule, Some(loser)) => format!("{} loses by the rules of the variant", name(loser)),
        (End::Agreement | End::Abandoned | End::VariantRule | End::Checkmate | End::Resignation, _) => {
            "Game drawn by mutual agreement".to_owned()
        }
    }
}

/// Returns the end of a list of moves: `White checkmated} 0-1`, `Still in progress} *`.
pub(super) fn list_ending(view: &GameView) -> String {
    let Some(outcome) = view.outcome else { return "Still in progress} *".to_owned() };
    let color = |color: Color| color.fold_wb("White", "Black");
    format!("{}}} {}", reason(view, outcome, Dialect::Freechess, color), outcome.result())
}

pub(crate) fn rating_lines(view: &GameView, color: Color) -> String {
    let seat = view.pairing.players.get(color);
    match &view.rating_changes {
        Some(changes) => {
            let (before, after) = (seat.rating.points(), seat.rating.points() + changes.get(color));
            format!("{} rating adjustment: {before} --> {after}", super::kind(&view.pairing.terms, None))
        }
        None => "No ratings adjustment done.".to_owned(),
    }
}
