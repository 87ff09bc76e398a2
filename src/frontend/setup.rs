use std::{io, path::PathBuf, sync::Arc, time::Duration};

use bot::policy::{DrawSettings, ResignSettings};
use council::{
    CouncilSettings, CriterionName, Roster, RosterError,
    clock::{ClockSettings, Lag},
    electors::{Pool, RemotePool},
};
use domain::{Limits, Variant};
use sources::{BookSettings, Library, TablebaseSettings};

const OVERHEAD: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub struct Setup {
    pub council: CouncilSettings,
    pub clock: ClockSettings,
    pub limits: Limits,
    pub library: Library,
    /// Library from the settings, restored when an option is set to an empty value.
    of_settings: Library,
    /// Folders of tablebases that an option names; empty for those of the settings.
    pub(super) tablebases: String,
    pub own_book: bool,
    /// The cores of this machine for all searches together; 0 means all cores.
    pub cores: usize,
    /// Remote cores used beside the local ones.
    pub remote_pool: Option<Arc<dyn RemotePool>>,
    /// Time that a move needs to reach the program, charged to our clock.
    pub overhead: Duration,
    /// Conditions for draws, if the program's protocol has them.
    pub draw: DrawSettings,
    pub resign: ResignSettings,
}

impl Setup {
    pub fn new(council: CouncilSettings, clock: &ClockSettings) -> Self {
        // A program's clock runs from the first move on, and `overhead` stands for the delay of the connection.
        let clock = ClockSettings { first_move: Duration::ZERO, reserve: Duration::ZERO, ..clock.clone() };
        Self {
            council,
            clock,
            limits: Limits::default(),
            library: Library::default(),
            of_settings: Library::default(),
            tablebases: String::new(),
            own_book: true,
            cores: 0,
            remote_pool: None,
            overhead: OVERHEAD,
            draw: DrawSettings::default(),
            resign: ResignSettings::default(),
        }
    }

    /// Sets the books and tablebases that the settings name.
    #[must_use]
    pub fn with_library(self, library: Library) -> Self {
        Self { library: library.clone(), of_settings: library, ..self }
    }

    /// Replaces the open books; if none are named, by those of the settings.
    pub(super) fn open_books(&mut self, books: &BookSettings) -> io::Result<()> {
        let library = self.library.clone();
        let none = books.files.is_empty();
        self.library = if none { library.with_books_of(&self.of_settings) } else { library.with_books(books)? };
        Ok(())
    }

    /// Replaces the open tablebases; if no folder is named, by those of the settings.
    pub(super) fn open_tablebases(&mut self, folders: &str) -> io::Result<()> {
        let library = self.library.clone();
        let paths = paths(folders);
        self.library = if paths.is_empty() {
            library.with_tablebases_of(&self.of_settings)
        } else {
            library.with_tablebases(&TablebaseSettings { paths, ..TablebaseSettings::default() })?
        };
        self.tablebases = folders.to_owned();
        Ok(())
    }

    pub(super) fn roster(&self) -> Result<Roster, RosterError> {
        Roster::from_settings(&self.council)
    }

    /// The transposition tables of all electors and of the second phase, MiB.
    pub(super) fn hash(&self) -> usize {
        self.council.hash * self.tables()
    }

    pub(super) fn share_hash(&mut self, total: usize) {
        self.council.hash = (total / self.tables()).max(1);
    }

    /// Returns the number of electors on this machine alone.
    pub(super) fn electors(&self) -> usize {
        let own = |roster: Roster| roster.electors_for(Variant::Standard, self.own_cores()).len();
        self.roster().map_or(1, own).max(1)
    }

    pub(super) fn own_cores(&self) -> usize {
        Pool::new(self.cores).cores()
    }

    /// Electors of equal evaluation share what all of them have; a second phase has one of its own.
    fn tables(&self) -> usize {
        self.electors() + usize::from(self.council.criterion == CriterionName::ReSearch)
    }

    /// Returns the search time for a move that must not take longer than `time`.
    pub(super) fn searchable(&self, time: Duration) -> Duration {
        engine::uci::searchable(time, self.overhead)
    }

    /// Returns true if both setups play alike; books are not compared.
    pub(super) fn has_settings_of(&self, other: &Self) -> bool {
        let settings = |setup: &Self| (setup.limits, setup.own_book, setup.cores, setup.overhead);
        self.council == other.council
            && self.clock == other.clock
            && self.tablebases == other.tablebases
            && settings(self) == settings(other)
    }

    /// Returns books and tablebases; without books if `own_book` is off.
    pub(super) fn library(&self) -> Library {
        if self.own_book { self.library.clone() } else { self.library.clone().with_books_of(&Library::default()) }
    }

    pub(super) fn pool(&self) -> Pool {
        Pool::with_remote(self.cores, self.remote_pool.clone())
    }

    pub(super) const fn lag(&self) -> Lag {
        Lag::steady(self.overhead)
    }
}

/// Folders or files, separated as the system separates them.
pub(super) fn paths(text: &str) -> Vec<PathBuf> {
    std::env::split_paths(text).filter(|path| !path.as_os_str().is_empty()).collect()
}
