//! The server behind a proxy that the environment names.

use std::{fs, sync::Arc};

use rcgen::{CertificateParams, KeyPair};
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_rustls::TlsAcceptor;

use super::{
    harness::{BOT, SERVER, Story, within},
    restart::Daemon,
};

/// Exists in the proxy alone.
const HOST: &str = "lichess.invalid";

/// Starts a SOCKS5 proxy that connects every client to the practice server, by TLS. Returns its port.
async fn socks_proxy(tls: TlsAcceptor, server: String, asked: mpsc::UnboundedSender<String>) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let (tls, server, asked) = (tls.clone(), server.clone(), asked.clone());
            tokio::spawn(async move {
                asked.send(target(&mut client).await?).map_err(std::io::Error::other)?;
                let (mut client, mut server) = (tls.accept(client).await?, TcpStream::connect(server).await?);
                copy_bidirectional(&mut client, &mut server).await
            });
        }
    });
    port
}

/// Agrees to connect the client, without a password (RFC 1928), and returns the target.
async fn target(client: &mut TcpStream) -> std::io::Result<String> {
    let [version, methods] = [client.read_u8().await?, client.read_u8().await?];
    client.read_exact(&mut vec![0; methods.into()]).await?;
    client.write_all(&[5, 0]).await?;
    let mut request = [0; 4];
    client.read_exact(&mut request).await?;
    assert_eq!((version, request), (5, [5, 1, 0, 3]), "a connection to a host by name");
    let mut host = vec![0; client.read_u8().await?.into()];
    client.read_exact(&mut host).await?;
    let port = client.read_u16().await?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    Ok(format!("{}:{port}", String::from_utf8_lossy(&host)))
}

#[testkit::test]
async fn game_is_played_through_socks5() {
    let story = Story::set_the_stage(|_| ()).await;
    let key = KeyPair::generate().expect("a key");
    let parameters = CertificateParams::new([HOST.to_owned()]).expect("parameters");
    let certificate = parameters.self_signed(&key).expect("a certificate");
    let trusted = story.folder.path().join("trusted.pem");
    fs::write(&trusted, certificate.pem()).expect("written");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let tls = ServerConfig::builder().with_no_client_auth().with_single_cert(
        vec![certificate.der().clone()],
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
    );
    let url = story.server.url();
    let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let (asked, mut targets) = mpsc::unbounded_channel();
    let port = socks_proxy(TlsAcceptor::from(Arc::new(tls.expect("a certificate"))), address, asked).await;

    let folder = story.folder.path().display();
    let settings = format!(
        "[servers.{SERVER}]\nurl = 'https://{HOST}'\n[journal]\npath = '{folder}/journal.db'\n\
         pgn_directory = '{folder}/pgn'\n[player.council]\nroster = 'mp ma'\nhash = 1\n[player.limits]\nnodes = 2000\n"
    );
    let proxy = format!("socks5h://127.0.0.1:{port}");
    let environment = [
        ("CONCILIO_LICHESS_TOKEN", story.token.as_str()),
        ("ALL_PROXY", &proxy),
        ("SSL_CERT_FILE", trusted.to_str().expect("text")),
    ];
    let _daemon = Daemon::start(story.folder.path(), &settings, &[], &environment);
    within("the daemon to be online", story.server.wait_until_online(BOT)).await.expect("a server");
    let game = story.challenge().await;
    story.ply(&game, 4).await;
    while let Ok(target) = targets.try_recv() {
        assert_eq!(target, format!("{HOST}:443"));
    }
}
