use std::net::SocketAddr;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::{Failure, other_games, page, settings_args::JournalArgs, signals::Signals};
use bot::journal::Archive;
use util::outln;
use web::{WebServer, WebSettings};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio web --journal data/demo/journal.db      replay the games of the demo with their votes
  concilio web                                     the journal that the settings name

The page is read-only: it lists, replays and exports games. A daemon may write the journal meanwhile. Ctrl-C ends.")]
pub(super) struct WebCommand {
    #[command(flatten)]
    journal: JournalArgs,
    /// Address of the page [default: 127.0.0.1:8080, or a free port where that is taken]
    #[arg(long, value_name = "ADDRESS")]
    address: Option<SocketAddr>,
}

impl WebCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let journal = self.journal.clone().path()?;
        if journal.is_dir() {
            return Err(Failure::failed(format_args!(
                "journal {}: this is a folder; name the file in it, such as {}",
                journal.display(),
                journal.join("journal.db").display()
            )));
        }
        let hint = if self.journal.journal.is_none() { "; --journal FILE names another one" } else { "" };
        Archive::open(&journal).map_err(|error| Failure::failed(format_args!("{error}{hint}")))?;
        let mut signals = Signals::listen();
        let (settings, stop) = (self.journal.settings.web()?, CancellationToken::new());
        let serve = async |address: SocketAddr| -> Result<WebServer, Failure> {
            let settings = WebSettings { address: address.to_string(), ..settings.clone() };
            web::serve_journal(&settings, journal.clone(), other_games::PARTS, stop.clone())
                .await
                .map_err(page::failure)
        };
        let server = match self.address {
            Some(address) => serve(address).await?,
            None => page::near_the_usual_address(serve).await?,
        };
        outln!("{} is shown at {}  (Ctrl-C ends)", journal.display(), server.url().unwrap_or_default());
        match &mut signals {
            Some(signals) => signals.told_to_stop().await,
            None => std::future::pending().await,
        }
        stop.cancel();
        server.closed().await;
        Ok(())
    }
}
