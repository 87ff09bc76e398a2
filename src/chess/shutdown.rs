//! How a program is asked to end.

use tokio_util::sync::CancellationToken;

/// The two requests to end, in the order in which they come. Cheap to clone; clones are the same requests.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Nothing new is begun; what runs is finished.
    pub drain: CancellationToken,
    /// The end, now.
    pub now: CancellationToken,
}
