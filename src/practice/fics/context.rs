//! State shared by all connections of the FICS side.

use super::lobby::FicsLobby;
use crate::{faults::FaultInjector, state::StateHandle};

pub(crate) struct FicsContext {
    pub server_state: StateHandle,
    pub lobby: FicsLobby,
    pub faults: FaultInjector,
    /// Lines of noise a second.
    pub noise: u32,
}
