//! Known moves, without a search: opening books, endgame tablebases, online services.
//!
//! | module | contents |
//! |---|---|
//! | [`Library`] | books and tablebases of one player, asked before the council |
//! | [`book`] | Polyglot books: reading and making |
//! | [`online`] | opening explorers, shared evaluations, large tablebases, asked beside the council |
//! | `settings` | settings of books and tablebases |
//!
//! The package implements the interfaces of [`council::player`]: [`KnownMoves`](council::player::KnownMoves) and
//! [`MoveService`](council::player::MoveService). The engine reads Syzygy tables, because its search uses them too.

pub mod book;
mod library;
pub mod online;
mod settings;

pub use library::Library;
pub use settings::{BookChoice, BookFile, BookSettings, LostLines, TablebaseSettings, TablebaseUse, WeightScale};
