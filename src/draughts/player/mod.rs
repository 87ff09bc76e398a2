//! Italian draughts for the council: electors, players and games, decided
//! by the chess council's code.
//!
//! | subject | where |
//! |---|---|
//! | a player, and the limits of its moves: start here | `draughts_player`: [`DraughtsPlayer`], [`Pace`]; as text, `player_spec`: [`PlayerSpec`] |
//! | a game of draughts for the council | `line`: [`DraughtsLine`] |
//! | electors: the modern search, and that of 2010 | `elector`: [`DraughtsKind`] |
//! | votes as text, and score sheets with votes | `votes`: [`vote_lines`], [`ScoreSheet`] |
//! | running games in the journal | `record`: [`GameRecorder`] |
//! | games against other programs over TCP | `exchange`: [`serve`], [`connect`] |
//!
//! Rosters, criteria, phases, votes and the clock are the council's own. A strategy alone is a
//! council of one.
//!
//! `src/draughts/examples/council.rs` lets a council decide.

mod draughts_player;
mod elector;
mod exchange;
mod line;
mod pace;
mod player_spec;
mod record;
mod votes;

pub use draughts_player::DraughtsPlayer;
pub use elector::DraughtsKind;
pub use exchange::{ExchangeError, ExchangeGame, ExchangeTerms, connect, serve};
pub use line::{DraughtsDecision, DraughtsLine, DraughtsProposal, DraughtsVote};
pub use pace::Pace;
pub use player_spec::{PlayerSpec, PlayerSpecError};
pub use record::{GameRecorder, Occasion};
pub use votes::{ScoreSheet, vote_lines};
