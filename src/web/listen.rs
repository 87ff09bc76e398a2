//! Listeners for browsers and `concilio ctl`: a TCP address, a Unix socket.

use std::{future::Future, io, net::IpAddr, sync::Arc, time::Duration};

use axum::{Extension, Router, middleware};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::connections::{Places, answering};
use util::supervised;

/// Maximum number of open connections on one listener beside those of watchers, together and from one
/// address. All browsers behind a proxy have one address.
const MOST_OTHERS: usize = 192;
const MOST_OTHERS_FROM_ONE: usize = 32;

/// Timeout for the head of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(10);

/// Time for running answers when the server stops.
const GOODBYE: Duration = Duration::from_secs(2);

/// The pause after a connection that could not be accepted, so that a lack of file handles does not spin.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visitor {
    /// A client on the network, in need of the secret.
    Remote(IpAddr),
    /// The bot's own user, through the Unix socket.
    OwnUser,
}

impl Visitor {
    pub(crate) fn address(self) -> Option<IpAddr> {
        match self {
            Self::Remote(address) => Some(address),
            Self::OwnUser => None,
        }
    }
}

/// Serves the router on a TCP listener until `stop`, for `watchers` watchers and others beside them.
pub(crate) fn on_tcp(
    listener: TcpListener,
    router: Router,
    watchers: usize,
    tasks: &TaskTracker,
    stop: CancellationToken,
) {
    let doorway = Doorway::new(router, watchers, tasks, stop);
    let listener = Arc::new(listener);
    tasks.spawn(async move { supervised!("page", doorway.run(|| accept(Arc::clone(&listener)))).await });
}

async fn accept(listener: Arc<TcpListener>) -> io::Result<(TcpStream, Visitor)> {
    let (stream, address) = listener.accept().await?;
    // Small events are sent at once.
    stream.set_nodelay(true)?;
    Ok((stream, Visitor::Remote(address.ip())))
}

struct Doorway {
    router: Router,
    places: Arc<Places>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Doorway {
    fn new(router: Router, watchers: usize, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        let places = Places::new(watchers + MOST_OTHERS, watchers + MOST_OTHERS_FROM_ONE);
        Self { router, places, tasks: tasks.clone(), stop }
    }

    async fn run<S, F>(&self, mut accept: impl FnMut() -> F)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        F: Future<Output = io::Result<(S, Visitor)>>,
    {
        loop {
            match self.stop.run_until_cancelled(accept()).await {
                Some(Ok((stream, visitor))) => _ = self.tasks.spawn(self.connection(stream, visitor)),
                Some(Err(error)) => {
                    tracing::debug!(%error, "a connection to the page failed before it began");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
                None => return,
            }
        }
    }

    /// Answers the requests of one connection until the connection ends, must give up its place, or the server stops.
    fn connection<S>(&self, stream: S, visitor: Visitor) -> impl Future<Output = ()> + Send + use<S>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (router, places, stop) = (self.router.clone(), Arc::clone(&self.places), self.stop.clone());
        async move {
            let Some(Some(place)) = stop.run_until_cancelled(places.admit(visitor.address())).await else { return };
            let counted = middleware::from_fn_with_state(Arc::clone(&place), answering);
            let router = router.layer(counted).layer(Extension(visitor));
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
            let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
            let mut connection = std::pin::pin!(connection);
            tokio::select! {
                _ = connection.as_mut() => return,
                () = place.close.cancelled() => connection.as_mut().graceful_shutdown(),
                () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
            }
            // A client must not delay the end by not reading its answer.
            let _ = tokio::time::timeout(GOODBYE, connection).await;
        }
    }
}

#[cfg(unix)]
pub(crate) use unix::{SocketFile, on_unix};

#[cfg(unix)]
mod unix {
    //! The Unix socket: only the bot's own user and root may use it.

    use std::{
        fs,
        os::unix::fs::PermissionsExt,
        path::{Path, PathBuf},
    };

    use tokio::net::{UnixListener, UnixStream};

    use super::{Arc, CancellationToken, Doorway, Router, TaskTracker, Visitor, io, supervised};
    use util::values::named;

    #[derive(Debug)]
    pub(crate) struct SocketFile(PathBuf);

    impl Drop for SocketFile {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    /// Serves the router on a Unix socket for this user only until `stop`, for `watchers` watchers and
    /// others beside them.
    pub(crate) async fn on_unix(
        path: &Path,
        router: Router,
        watchers: usize,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> io::Result<SocketFile> {
        if UnixStream::connect(path).await.is_ok() {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens there"));
        }
        if is_socket(path) {
            // A killed process left it.
            fs::remove_file(path)?;
        }
        if let Some(folder) = path.parent().and_then(named) {
            fs::create_dir_all(folder)?;
        }
        let listener = UnixListener::bind(path)?;
        let file = SocketFile(path.to_owned());
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        let doorway = Doorway::new(router, watchers, tasks, stop);
        let listener = Arc::new(listener);
        tasks.spawn(async move { supervised!("control channel", doorway.run(|| accept(Arc::clone(&listener)))).await });
        Ok(file)
    }

    fn is_socket(path: &Path) -> bool {
        use std::os::unix::fs::FileTypeExt;
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
    }

    /// Accepts the next connection of our user. The file's mode keeps others out; the kernel names
    /// the user of an earlier connection.
    async fn accept(listener: Arc<UnixListener>) -> io::Result<(UnixStream, Visitor)> {
        let (stream, _) = listener.accept().await?;
        let (peer, us) = (stream.peer_cred()?.uid(), rustix::process::geteuid().as_raw());
        if peer == us || peer == 0 {
            Ok((stream, Visitor::OwnUser))
        } else {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user's process"))
        }
    }
}
