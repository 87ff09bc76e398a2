//! What every connection of the FICS side has at hand.

use super::lobby::FicsLobby;
use crate::{faults::FaultInjector, state::StateHandle};

/// What every session has at hand.
pub(crate) struct FicsContext {
    /// Everything about games is asked here.
    pub server_state: StateHandle,
    pub lobby: FicsLobby,
    pub faults: FaultInjector,
    /// Lines of noise a second.
    pub noise: u32,
}
