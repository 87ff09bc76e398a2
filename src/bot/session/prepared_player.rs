//! The settings of a player, with the roster, books and services for all its games.

use std::{io, sync::Arc};

use super::PlayerSettings;
use council::{Roster, RosterError};
use sources::{Library, online::OnlineServices};

#[derive(Clone, Debug)]
pub struct PreparedPlayer {
    pub settings: PlayerSettings,
    pub roster: Arc<Roster>,
    pub library: Arc<Library>,
    pub online: Option<Arc<OnlineServices>>,
}

#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    #[error(transparent)]
    Roster(#[from] RosterError),
    #[error(transparent)]
    Library(#[from] io::Error),
    #[error("{0}")]
    Online(String),
}

impl PreparedPlayer {
    /// Reads the roster, and opens books and tablebases.
    pub fn new(settings: PlayerSettings) -> Result<Self, PlayerError> {
        let roster = Arc::new(Roster::from_settings(&settings.council)?);
        let library = Arc::new(Library::open(&settings.book, &settings.tablebases)?);
        let online = OnlineServices::new(&settings.online).map_err(PlayerError::Online)?;
        Ok(Self { settings, roster, library, online })
    }
}
