use tokio_util::sync::CancellationToken;

/// The two requests to end, in the order in which they come. Cheap to clone; clones are the same requests.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Starts nothing new; running games are finished.
    pub drain: CancellationToken,
    pub now: CancellationToken,
}
