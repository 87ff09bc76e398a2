//! The settings of a player, with what is made of them once for all its games.

use std::{io, sync::Arc};

use super::PlayerSettings;
use council::{Roster, RosterError};
use sources::{
    Library,
    online::{OnlineError, OnlineServices},
};

#[derive(Clone, Debug)]
pub struct PreparedPlayer {
    pub settings: PlayerSettings,
    pub roster: Arc<Roster>,
    pub library: Arc<Library>,
    pub online: Option<OnlineServices>,
}

#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// A book or a tablebase cannot be read.
    #[error(transparent)]
    Library(#[from] io::Error),
    /// A service that knows moves cannot be asked like this.
    #[error(transparent)]
    Online(#[from] OnlineError),
}

impl PreparedPlayer {
    /// Reads the roster, and opens books and tablebases.
    pub fn new(settings: PlayerSettings) -> Result<Self, PlayerError> {
        let roster = Arc::new(Roster::from_settings(&settings.council)?);
        let library = Arc::new(Library::open(&settings.book, &settings.tablebases)?);
        let online = OnlineServices::new(&settings.online)?;
        Ok(Self { settings, roster, library, online })
    }
}
