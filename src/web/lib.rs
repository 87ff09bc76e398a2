//! The page in the browser, and the control channel of a running daemon.
//!
//! ```text
//! BotEvent ──▶ overview (pure: current state) ──▶ watch (10 frames a second at most) ──SSE──▶ page
//! journal ───▶ archive, results, report ────────────────────────────────────────────JSON──▶ page
//! practice server ◀──▶ play (a game against the council) ◀──────────────────────JSON, SSE──▶ page
//! page, concilio ctl ──▶ control ──▶ bot
//! ```
//! Everything passes `security` first. The page itself is `page/`: HTML, CSS and JavaScript by hand, built into the program.
//!
//! [`serve_journal`] serves a journal alone, without a daemon: its games, and nothing live.
//!
//! Other packages add tabs: a [`PagePart`] with its files, and routes in the [`WebContext`].
//!
//! [`serve`] listens on a TCP address, on a Unix socket, or on both, with the same router behind them.

mod archive;
mod assets;
mod connections;
mod context;
mod control;
mod listen;
mod machines;
pub mod overview;
mod play;
mod problem;
mod router;
mod security;
mod server;
mod settings;
mod watch;

pub use assets::PagePart;
pub use context::{AnotherGame, HealthChecks, WebContext};
pub use play::connect_to_practice;
pub use problem::HttpProblem;
pub use security::PagePlayer;
pub use server::{WebError, WebServer, secret_for, serve, serve_journal};
pub use settings::WebSettings;
