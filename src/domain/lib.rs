//! Values that pass between the packages of the program.
//!
//! | subject | types |
//! |---|---|
//! | a game: its name, moves, variant, time control and clocks | [`GameId`], [`Line`], [`Variant`], [`TimeControl`], [`Clocks`] |
//! | a search and its result, from the request to the elected move | [`SearchId`], [`Limits`], [`Proposal`], [`Decision`], [`CriterionName`] |
//! | the interface of a game to the council, so that it can play another game than chess | [`GameLine`] |
//! | messages between a chess server and the session | [`ServerEvent`], [`Action`], [`GameInfo`], [`GameState`], [`Challenge`] |
//! | the vote in chess words, and why it went as it did | [`vote_words`], [`why`] |
//! | values of settings | [`values`] |
//!
//! Values keep their own invariants and do no input or output. The rules of chess come from `shakmaty`, as do [`Color`]
//! and [`UciMove`].

mod challenge;
mod criterion;
mod decision;
mod engine_position;
mod game;
mod game_line;
mod ids;
mod knowledge_words;
mod line;
mod pace;
mod people;
mod pgn;
mod proposal;
mod search_id;
mod server_event;
mod time_control;
mod tournament;
pub mod values;
mod variant;
pub mod vote_words;
pub mod why;

pub use challenge::{Challenge, ChallengeObstacle, ChallengeRequest, DeclineReason, GameTerms};
pub use criterion::{CriterionName, SecondPhaseMode};
pub use decision::{Decision, ProcessMetrics, SecondPhase, Source, Vote};
pub use engine_position::{engine_move, engine_position};
pub use game::{GameInfo, GameState, GameStatus, KnownGame, Offers};
pub use game_line::GameLine;
pub use ids::{ChallengeId, ElectorName, GameId, MachineName, ServerName};
pub use line::{Line, LineError, moves_text};
pub use pace::Pace;
pub use people::{Account, Player, is_title_of_bot};
pub use pgn::{PgnGame, PgnWriter};
pub use proposal::Proposal;
pub use search_id::{Limits, Phase, SearchId};
pub use server_event::{Action, ActionError, ChatLine, ChatRoom, Done, ServerEvent};
pub use time_control::{BySide, Clock, Clocks, Speed, TimeControl};
pub use tournament::{Standing, Tournament, TournamentEntry, TournamentInfo, TournamentKind, TournamentStage};
pub use variant::Variant;

pub use engine::{Heuristic, Knowledge};
pub use engine::{Score, ScoreBound as Bound};
pub use shakmaty::{Color, uci::UciMove};

/// The word for a side in records and protocols, which [`Color`] also reads.
pub fn color_word(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}
