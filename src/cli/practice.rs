//! `concilio practice`: the practice server alone, for any Lichess bot.

use std::net::SocketAddr;

use clap::Args;
use tokio::signal::ctrl_c;
use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::practice::{self, SparringKind, faults::FaultPlan};

/// Run the practice server alone, for any Lichess bot to play on
#[derive(Debug, Args)]
#[command(after_help = "Point your bot's url to the address printed and give it one of the tokens.")]
pub(super) struct Practice {
    /// Where to listen; only loopback addresses are taken
    #[arg(long, default_value = "127.0.0.1:9663", value_name = "ADDRESS")]
    lichess: SocketAddr,
    /// Accounts to open, each with its token; names ending in + are bots
    #[arg(long = "account", default_values_t = ["mybot+".to_owned(), "otherbot+".to_owned(), "human".to_owned()], value_name = "NAME")]
    accounts: Vec<String>,
    /// What goes wrong, such as cut=3s,delay=50ms,429=5%
    #[arg(long, default_value = "", value_name = "PLAN")]
    faults: FaultPlan,
}

impl Practice {
    /// Serves until Ctrl-C.
    pub(super) async fn run(self) -> Result<(), Failure> {
        if !self.lichess.ip().is_loopback() {
            return Err(Failure::usage(format_args!(
                "--lichess {}: the practice server has no real passwords, so it listens on loopback only (127.0.0.1 or [::1])",
                self.lichess
            )));
        }
        let stop = CancellationToken::new();
        let stopper = stop.clone();
        tokio::spawn(async move {
            let _ = ctrl_c().await;
            stopper.cancel();
        });
        let settings = practice::Settings { faults: self.faults, ..practice::Settings::default() };
        let accounts = self.accounts;
        practice::serve(self.lichess, settings, stop, |server| async move {
            println!("practice server at {}", server.url());
            for account in &accounts {
                let name = account.trim_end_matches('+');
                let token = server.add_account(name, account.ends_with('+')).await?;
                println!("  account {name:<12} token {token}");
            }
            for (name, kind) in [
                ("random", SparringKind::Random),
                ("greedy", SparringKind::Greedy),
                ("engine", SparringKind::Engine { nodes: 20_000 }),
            ] {
                server.sparring(name, kind).await?;
                println!("  sparring {name}, takes every challenge");
            }
            Ok(())
        })
        .await?;
        Ok(())
    }
}
