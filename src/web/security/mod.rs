//! Who may do what on the page, and what browsers are told to refuse.
//!
//! Every request passes, in this order: `headers` (what the browser may load, on every answer), `same_site` (is it our page
//! that asks, by a name that is ours), `access` (who asks). Three kinds of people reach a handler:
//! - *nobody*: they get the empty page and may log in;
//! - a *reader* sees everything and changes nothing of the bot;
//! - the *operator* knows the secret, or came through the Unix socket.
//!
//! Where there is no secret the page listens on loopback only, whoever reaches it reads it and may play in it, and only the
//! Unix socket changes anything of the bot.

mod access;
mod guesses;
mod headers;
mod same_site;

pub(crate) use access::{Operator, OperatorKeys, PagePlayer, PageReader, WhoAmI, login, logout, recognise};
pub(crate) use headers::add_headers;
pub(crate) use same_site::{HostNames, refuse_foreign};
