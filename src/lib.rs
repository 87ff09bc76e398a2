//! concilio: a chess player for internet chess servers that picks its moves by distributed knowledge. Electors that each
//! know a part of chess search in parallel and propose; a criterion or a second search elects.
//!
//! # The way of a move
//! ```text
//! server ──ServerEvent──▶ session ──position, clocks──▶ player ──budget──▶ council ──Task──▶ pool ──▶ electors
//!   ▲                       │  ▲                                            │  ◀──Proposal──┘   (threads,
//!   └──────Action───────────┘  └───────────────Decision─────────────────────┘                   UCI processes, workers)
//!                           └──▶ journal (every move before it is sent, with every proposal)
//! ```
//!
//! # The packages, from the bottom up
//! Each folder of `src/` that has a `Cargo.toml` is a package. It imports only packages above its own row, those that stand in it,
//! and the compiler keeps it so.
//!
//! | package | its one job | may import |
//! |---|---|---|
//! | [`engine`] | one sequential searcher: board, evaluation, search, book, tablebases | nothing of ours |
//! | [`draughts`] | Italian draughts: rules, evaluations, search | nothing of ours |
//! | `training` | where the engine's nets come from: its own games, their labels, a trainer | `engine` |
//! | [`chess`] | the plain values that pass between packages | `engine` |
//! | [`council`] | how a move is found: the pool of electors, the clock, the council, the player | `engine`, `chess` |
//! | `online` | services elsewhere that know moves: explorer, cloud, chessdb, tablebases | `council`, `chess` |
//! | [`server`] | a chess server as we see it: Lichess, FICS | `chess` |
//! | [`cluster`] | workers on other machines, over NATS | `council`, `chess`, `engine` |
//! | [`bot`] | one account: its session, its policy, its journal | `council`, `online`, `server`, `chess` |
//! | [`draughts_player`] | Italian draughts at the council's table: electors, players, games over DamExchange | `bot`, `council`, `chess`, `draughts`, `engine` |
//! | [`practice`] | a chess server to practise on, with opponents and faults | `engine`, `chess` |
//! | [`report`] | the games of the journal studied: judged, annotated, summed up | `bot`, `council`, `engine`, `chess` |
//! | [`web`] | the page in the browser, and the control channel | `report`, `bot`, `practice`, `server`, `council`, `chess`, `draughts_player`, `draughts` |
//! | `lab` | the program `concilio-lab`: measurements that anybody can repeat | all of the above but `report` and `web` |
//!
//! The program itself has three rooms: [`cli`], the command line, one file a subcommand; [`settings`], what the operator
//! wrote, in layers, with every mistake in one line; and [`frontend`], the council under any chess program, by UCI and CECP.
//!
//! Everything that lives across an await is a task that owns its state behind a cheap handle; searches run on threads of
//! their own. Where a protocol meets play there is a pure state machine, so that every fault is a unit test.

pub mod cli;
pub mod frontend;
pub mod settings;
