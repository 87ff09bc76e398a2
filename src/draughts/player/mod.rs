//! Italian draughts for the council: electors, players and games, decided
//! by the chess council's code.
//!
//! | subject | where |
//! |---|---|
//! | a player: start here | `draughts_player`: [`DraughtsPlayer`]; as text, `player_spec`: [`PlayerSpec`]; in matches, `matched` |
//! | a game of draughts for the council | `line`: [`DraughtsLine`] |
//! | electors: the modern search, and that of 2010 | `elector`: [`DraughtsKind`] |
//! | votes as text, and score sheets with votes | `votes`: [`vote_lines`], [`play_decided`] |
//! | running games in the journal | `record`: [`GameRecorder`] |
//! | games against other programs over TCP | `exchange`: [`serve`], [`connect`] |
//!
//! Rosters, criteria, phases, votes and the clock are the council's own. A strategy alone is a
//! council of one.

mod draughts_player;
mod elector;
mod exchange;
mod line;
mod matched;
mod player_spec;
mod record;
mod votes;

pub use draughts_player::DraughtsPlayer;
pub use elector::DraughtsKind;
pub(crate) use elector::proposal;
pub use exchange::{ExchangeError, ExchangeGame, ExchangeTerms, connect, serve};
pub use line::{DraughtsDecision, DraughtsLine, DraughtsProposal, DraughtsVote};
pub use matched::by_tables;
pub use player_spec::{DraughtsPlayerKind, PlayerSpec};
pub(crate) use record::color;
pub use record::{GameRecorder, Occasion};
pub use votes::{play_decided, vote_lines};
