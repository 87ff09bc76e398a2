//! The practice server as its clients see it: over HTTP, with an ordinary client.

mod client;
mod play;
