//! Permissions on the page, and restrictions for browsers.
//!
//! Every request passes, in this order: `headers` (allowed content, on every answer), `same_site`
//! (only our own page, under its own name), `access` (permissions). Three kinds of clients
//! reach a handler:
//! - *anonymous* clients get the empty page and may log in;
//! - a *reader* sees everything and changes nothing of the bot;
//! - the *operator* knows the secret, or came through the Unix socket.
//!
//! Without a secret the page listens on loopback only, all clients there may read and play, and
//! only the Unix socket changes anything of the bot.

mod access;
mod guesses;
mod headers;
mod same_site;
mod sessions;

pub use access::PagePlayer;
pub(crate) use access::{Access, Operator, OperatorKeys, PageReader, Requester, login, logout, recognise};
pub(crate) use headers::{add_headers, content_policy};
pub(crate) use same_site::refuse_foreign;
