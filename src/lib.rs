//! concilio, a bot for internet chess servers that picks its moves by distributed knowledge: electors search in parallel
//! and propose moves, and a criterion or a second search elects one.
//!
//! # Path of a move
//! ```text
//! platform ──ServerEvent──▶ session ──position, clocks──▶ player ──budget──▶ council ──Task──▶ electors
//!   ▲                        │  ▲                                             │  ◀──Proposal──┘  (threads,
//!   └────────Action──────────┘  └──────────────────Decision───────────────────┘                  UCI processes, workers)
//!                            └──▶ journal (every move before it is sent, with every proposal)
//! ```
//!
//! # Packages
//! Each folder of `src/` with a `Cargo.toml` is a package. It imports only packages above its own row, those named in it and `util`;
//! the compiler enforces that.
//!
//! | package | contents | imports |
//! |---|---|---|
//! | [`engine`] | sequential searcher: board, evaluation, search, Syzygy tables | none |
//! | [`util`] | back-off, secrets, shutdown, supervision, terminal text, value ranges | none |
//! | [`domain`] | values that pass between packages | `engine` |
//! | [`council`] | electors, election, clock, player | `engine`, `domain` |
//! | `experiment` | matches, and experiments that can be taken up again: state, statistics, progress | `council`, `domain`, `engine` |
//! | [`sources`] | moves known without a search: books, tablebases, online services | `council`, `domain`, `engine` |
//! | [`platform`] | clients of chess servers: Lichess, FICS | `domain` |
//! | [`cluster`] | workers on other machines, over NATS | `council`, `domain`, `engine` |
//! | [`bot`] | one account: session, policy, journal | `council`, `sources`, `platform`, `domain` |
//! | [`practice`] | practice server with opponents and faults | `engine`, `domain` |
//! | [`report`] | the journal's games: judged, annotated, summed up | `bot`, `council`, `engine`, `domain` |
//! | [`web`] | the page in the browser, and the control channel | `report`, `bot`, `practice`, `platform`, `council`, `domain` |
//! | [`draughts`] | Italian draughts: rules, searches, player, page, command, measurements | `web`, `bot`, `council`, `experiment`, `domain`, `engine` |
//! | `lab` | the program `concilio-lab`: repeatable measurements, training of nets | all of the above but `report` and `web` |
//!
//! The program itself has three modules: [`cli`], the command line, one file a subcommand; [`settings`], the operator's
//! settings in layers, with every mistake in one line; and [`frontend`], the council under any chess program, by UCI and
//! CECP.
//!
//! Everything that lives across an await is a task that owns its state behind a cheap handle; searches run on threads of
//! their own. Where a protocol meets play there is a pure state machine, so that every fault is a unit test.

pub mod cli;
pub mod frontend;
pub mod settings;
