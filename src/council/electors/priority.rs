//! The priority of search threads below the threads that talk to servers.

use super::SearchPriority;

/// The additional niceness of advisers. On Linux, three threads fifteen steps lower than the electors' two have about a twentieth
/// of the cores.
const ADVISER: i32 = 15;
/// The additional niceness of background searches: such a thread gets a few per cent of a busy core, and all of an idle one.
const BACKGROUND: i32 = 14;

/// The priority of a search thread. Where the platform refuses another one, searches merely compete.
#[derive(Debug)]
pub(super) struct Priority {
    /// The priority at the start of the process.
    usual: i32,
}

impl Priority {
    /// The niceness of a search: enough that a move ready to be sent never waits for a search,
    /// little enough that other programs do not starve it.
    const YIELDED: i32 = 5;

    pub(super) fn of_this_thread(priority: SearchPriority) -> Self {
        let lower = match priority {
            SearchPriority::Usual => 0,
            SearchPriority::Adviser => ADVISER,
            SearchPriority::Background => BACKGROUND,
        };
        Self { usual: rustix::process::getpriority_process(None).unwrap_or(0) + lower }
    }

    pub(super) fn give_way(&self) {
        Self::set(self.usual + Self::YIELDED);
    }

    /// Restores it for the next search. This takes a privilege (CAP_SYS_NICE, or a limit
    /// RLIMIT_NICE of 20, which systemd writes `LimitNICE=+0`: without the sign it is the raw
    /// limit, and 0 allows nothing); without it later searches make their first proposals at the
    /// lower priority too.
    pub(super) fn come_back(&self) {
        Self::set(self.usual);
    }

    fn set(niceness: i32) {
        // On Linux niceness belongs to the thread; elsewhere it would be the whole process's, so it
        // is left alone.
        if cfg!(target_os = "linux")
            && let Err(error) = rustix::process::setpriority_process(None, niceness)
        {
            tracing::trace!(%error, niceness, "a search thread keeps its priority");
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[test]
    fn background_searches_are_nicer_than_others() {
        let nicer = |priority| {
            let search = move || {
                let before = getpriority_process(None).expect("a priority");
                Priority::of_this_thread(priority).give_way();
                getpriority_process(None).expect("a priority") - before
            };
            std::thread::spawn(search).join().expect("no panic")
        };
        let most = 19 - getpriority_process(None).expect("a priority");
        assert_eq!(nicer(SearchPriority::Usual), most.min(5));
        assert_eq!(nicer(SearchPriority::Background), most.min(19));
    }
}
