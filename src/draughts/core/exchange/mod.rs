//! The DamExchange protocol (<http://www.mesander.nl/damexchange/edxpmain.htm>), by which two
//! programs play each other: an initiator asks for a game, a follower accepts, moves go to and fro
//! until one of them ends it.
//!
//! [`Message`] is one message and its text, [`Frames`] splits a stream of bytes into messages, and
//! [`Partner`] is the state of a program between messages. The caller moves bytes between a socket
//! and these.

mod message;
mod partner;

pub use message::{Acceptance, BackAnswer, Frames, Message, Reason, Request, Taken};
pub use partner::{Happening, Partner, PartnerPhase};

/// The port on which programs wait for each other.
pub const PORT: u16 = 27_531;
