//! How a search gives way to the threads that talk to servers.

/// The priority of a search thread. Where the platform refuses another one, searches merely compete.
#[derive(Debug)]
pub(super) struct Priority {
    /// What the process was started with.
    usual: i32,
}

impl Priority {
    /// How much a search gives way to the threads that talk to servers: enough that a move ready to be sent never waits for a
    /// search, little enough that other programs do not starve the search.
    const YIELDED: i32 = 5;

    /// Of this thread as it is now, or so many steps lower.
    pub(super) fn of_this_thread(lower: i32) -> Self {
        Self { usual: rustix::process::getpriority_process(None).unwrap_or(0) + lower }
    }

    pub(super) fn give_way(&self) {
        Self::set(self.usual + Self::YIELDED);
    }

    /// For the next search. It takes a privilege (CAP_SYS_NICE, or a limit RLIMIT_NICE of 20, which systemd writes
    /// `LimitNICE=+0`: without the sign it is the raw limit, and 0 allows nothing); without it the first proposals of later searches are made at the lower priority too.
    pub(super) fn come_back(&self) {
        Self::set(self.usual);
    }

    fn set(niceness: i32) {
        // On Linux niceness belongs to the thread; elsewhere it would be the whole process's, so it is left alone.
        if cfg!(target_os = "linux")
            && let Err(error) = rustix::process::setpriority_process(None, niceness)
        {
            tracing::trace!(%error, niceness, "a search thread keeps its priority");
        }
    }
}
