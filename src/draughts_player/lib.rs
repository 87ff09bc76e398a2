//! Italian draughts at the council's table: what stands between the package `draughts`, which knows the game, and the council,
//! which knows how to decide.
//!
//! | what | where |
//! |---|---|
//! | a game of draughts as a council sees it | `line`: [`DraughtsLine`] |
//! | who proposes: a search of today, or that of 2010 | `elector`: [`DraughtsKind`] |
//! | a player: a council of any size, and what a move may cost | `player`: [`DraughtsPlayer`], [`Pace`]; as words, `player_spec`: [`PlayerSpec`] |
//! | the votes as text, and games with the votes beside the moves | `votes`: [`vote_lines`], [`ScoreSheet`] |
//! | games in the journal, while they are played | `record`: [`GameRecorder`] |
//! | games against other programs, over a socket | `exchange`: [`serve`], [`connect`] |
//!
//! Rosters, criteria, phases, votes and the clock are the council's own and are not repeated here. A council of one is how a
//! strategy plays alone.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! use council::pool::Pool;
//! use draughts::game::Game;
//! use concilio_draughts_player::{DraughtsPlayer, Pace};
//!
//! let mut player = DraughtsPlayer::new(&"council".parse()?, &Pool::new(0), None);
//! let pace = Pace { nodes: Some(2_000), ..Pace::default() };
//! let mut watch = |proposal: &_| println!("{proposal:?}");
//! let decision = player.decide(&Game::default(), &pace, &mut watch).await;
//! assert_eq!(decision.map(|decision| decision.votes.len()), Some(4));
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod elector;
mod exchange;
mod line;
mod player;
mod player_spec;
mod record;
mod votes;

pub use elector::DraughtsKind;
pub use exchange::{ExchangeError, ExchangeGame, ExchangeTerms, connect, serve};
pub use line::DraughtsLine;
pub use player::{DraughtsDecision, DraughtsPlayer, DraughtsProposal, DraughtsVote, Pace};
pub use player_spec::{PlayerSpec, PlayerSpecError};
pub use record::{GameRecorder, Occasion};
pub use votes::{ScoreSheet, vote_lines};
