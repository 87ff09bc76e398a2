//! Where browsers and `concilio ctl` knock: a TCP address, a Unix socket, and how many may come in.

use std::{future::Future, io, sync::Arc, time::Duration};

use axum::{Extension, Router};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How many connections may be open at a time on one listener beside those of browsers that watch.
const MOST_OTHERS: usize = 192;

/// Whoever has not sent the head of a request by then is sent away.
const HEAD_WITHIN: Duration = Duration::from_secs(10);

/// How long what was begun may take to be sent when the server stops.
const GOODBYE: Duration = Duration::from_secs(2);

/// The pause after a connection that could not be accepted, so that a lack of file handles does not spin.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Through which of the listeners a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// From the network, where the secret is asked for.
    Network,
    /// From the Unix socket, which only the bot's own user can open.
    OwnUser,
}

/// Serves the router on a TCP listener until `stop`, for so many `watchers` and others beside them.
pub(crate) fn on_tcp(
    listener: TcpListener,
    router: Router,
    watchers: usize,
    tasks: &TaskTracker,
    stop: CancellationToken,
) {
    let doorway = Doorway::new(router, Door::Network, watchers, tasks, stop);
    let listener = Arc::new(listener);
    tasks.spawn(doorway.run(move || accept(Arc::clone(&listener))));
}

async fn accept(listener: Arc<TcpListener>) -> io::Result<TcpStream> {
    let (stream, _) = listener.accept().await?;
    // What happens on a board is sent at once, however small.
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A listener with what all its connections share.
struct Doorway {
    router: Router,
    places: Arc<Semaphore>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Doorway {
    fn new(router: Router, door: Door, watchers: usize, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        let router = router.layer(Extension(door));
        Self { router, places: Arc::new(Semaphore::new(watchers + MOST_OTHERS)), tasks: tasks.clone(), stop }
    }

    /// Accepts until it is told to stop. While all places are taken, others wait in the kernel's queue.
    async fn run<S, F>(self, mut accept: impl FnMut() -> F)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        F: Future<Output = io::Result<S>>,
    {
        while let Some(Ok(place)) = self.stop.run_until_cancelled(Arc::clone(&self.places).acquire_owned()).await {
            match self.stop.run_until_cancelled(accept()).await {
                Some(Ok(stream)) => {
                    let connection = self.connection(stream);
                    self.tasks.spawn(async move {
                        connection.await;
                        drop(place);
                    });
                }
                Some(Err(error)) => {
                    tracing::debug!(%error, "a connection to the page failed before it began");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
                None => return,
            }
        }
    }

    /// Answers the requests of one connection until it ends or the server stops.
    fn connection<S>(&self, stream: S) -> impl Future<Output = ()> + Send + use<S>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (router, stop) = (self.router.clone(), self.stop.clone());
        async move {
            let mut builder = auto::Builder::new(TokioExecutor::new()).http1_only();
            builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
            let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
            let mut connection = std::pin::pin!(connection);
            tokio::select! {
                _ = connection.as_mut() => return,
                () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
            }
            // Whoever does not read what was sent keeps nobody from ending.
            let _ = tokio::time::timeout(GOODBYE, connection).await;
        }
    }
}

#[cfg(unix)]
pub(crate) use unix::{SocketFile, on_unix};

#[cfg(unix)]
mod unix {
    //! The Unix socket: nobody but the bot's own user and root may speak through it.

    use std::{
        fs,
        os::unix::fs::PermissionsExt,
        path::{Path, PathBuf},
    };

    use tokio::net::{UnixListener, UnixStream};

    use super::{Arc, CancellationToken, Door, Doorway, Router, TaskTracker, io};

    /// The socket's file, which is removed when this is dropped.
    #[derive(Debug)]
    pub(crate) struct SocketFile(PathBuf);

    impl Drop for SocketFile {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    /// Listens on a Unix socket that only this user can open, and serves the router there until `stop`, for so many `watchers` and
    /// others beside them.
    ///
    /// # Errors
    /// Where another process listens there, or the file cannot be made.
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
            // A process that was killed left it.
            fs::remove_file(path)?;
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let listener = UnixListener::bind(path)?;
        let file = SocketFile(path.to_owned());
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        let doorway = Doorway::new(router, Door::OwnUser, watchers, tasks, stop);
        let listener = Arc::new(listener);
        tasks.spawn(doorway.run(move || accept(Arc::clone(&listener))));
        Ok(file)
    }

    fn is_socket(path: &Path) -> bool {
        use std::os::unix::fs::FileTypeExt;
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
    }

    /// The next connection of ours. The file's mode keeps others out; whoever was quicker than it is asked who they are.
    async fn accept(listener: Arc<UnixListener>) -> io::Result<UnixStream> {
        let (stream, _) = listener.accept().await?;
        let (peer, us) = (stream.peer_cred()?.uid(), rustix::process::geteuid().as_raw());
        if peer == us || peer == 0 {
            Ok(stream)
        } else {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user's process"))
        }
    }
}
