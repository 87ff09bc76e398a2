use std::net::SocketAddr;

use clap::Args;
use tokio::signal::ctrl_c;
use tokio_util::sync::CancellationToken;

use super::Failure;
use practice::{FicsEndpoint, PracticeSettings, ServerLimits, SparringKind, faults::FaultPlan};
use util::outln;

/// Password of all accounts over FICS.
const PASSWORD: &str = "practice";

#[derive(Debug, Args)]
#[command(after_help = "Point your bot's url to the address printed and give it one of the tokens.

A client of the Internet chess servers plays with --fics 127.0.0.1:5000; accounts log in with the password printed:
  xboard -ics -icshost 127.0.0.1 -icsport 5000

What can go wrong (--faults, any of these with commas between them):
  cut=3s, restart=60s           connections are cut, the server restarts, about so often
  429=5%, 500=1%, 502=5%        requests are answered so, and not done
  lost=1%, stall-move=1%        requests are done and never answered; moves are neither
  delay=50ms                    requests wait up to this time
  open=4s, first-line=4s        streams open late, with or without their headers
  slow=100B/s, late=5s          streams trickle; their lines come late
  echo=3s, echo=never           a player's own move is shown late, or not at all
  half-open=1%, drop=1%, duplicate=2%, reorder=1%    what happens to the lines of a stream
  streams=10                    requests at a time that an HTTP/2 connection bears
  dialect=fatics|capablanca|uhlin    the server of the FICS family that this one behaves like
  seed=7                        the same faults every time")]
pub(super) struct PracticeCommand {
    /// Address of the Lichess API; only loopback addresses are accepted
    #[arg(long, default_value = "127.0.0.1:9663", value_name = "ADDRESS")]
    lichess: SocketAddr,
    /// Address of the FICS server; only loopback addresses are accepted
    #[arg(long, value_name = "ADDRESS")]
    fics: Option<SocketAddr>,
    /// Lines a second of other people's talk that everybody on FICS gets
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100_000), value_name = "LINES")]
    fics_noise: u32,
    /// Accounts to open, each with its token; names ending in + are bots, others may be upgraded until they have played
    #[arg(long = "account", num_args = 1.., value_parser = parse_account, default_values_t = ["mybot+".to_owned(), "otherbot+".to_owned(), "human".to_owned()], value_name = "NAME")]
    accounts: Vec<String>,
    /// Take challenges at any clock; otherwise as Lichess does: 15, 30, 45, 60, 90 seconds or whole minutes, up to 60 a move
    #[arg(long)]
    any_clock: bool,
    /// Keep Lichess's limits: challenges a minute and a day, games against bots a day, openings of the event stream
    #[arg(long)]
    limits: bool,
    /// Faults, such as cut=3s,delay=50ms,429=5%
    #[arg(long, default_value = "", value_name = "PLAN")]
    faults: FaultPlan,
}

/// Checks the name of an account, with or without the `+` of a bot.
fn parse_account(text: &str) -> Result<String, String> {
    let name = text.strip_suffix('+').unwrap_or(text);
    let is_name = name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_' || one == '-');
    if is_name && name.len() <= 30 {
        Ok(text.to_owned())
    } else {
        Err("expected up to 30 letters, digits, _ and -, with + at the end for a bot, such as mybot+".to_owned())
    }
}

impl PracticeCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        for (flag, address) in [("--lichess", Some(self.lichess)), ("--fics", self.fics)] {
            if let Some(address) = address.filter(|address| !address.ip().is_loopback()) {
                return Err(Failure::usage(format_args!(
                    "{flag} {address}: the practice server has no real passwords, so it listens on loopback only (127.0.0.1 or [::1])"
                )));
            }
        }
        let stop = CancellationToken::new();
        let stopper = stop.clone();
        tokio::spawn(async move {
            let _ = ctrl_c().await;
            stopper.cancel();
        });
        let (settings, accounts) = (self.settings(), self.accounts);
        practice::serve(self.lichess, settings, stop, |server| async move {
            outln!("practice server at {}", server.url());
            if let Some(address) = server.fics_address() {
                outln!("FICS at {address}; password of every account: {PASSWORD}");
            }
            for account in &accounts {
                let name = account.trim_end_matches('+');
                let token = server.add_account(name, account.ends_with('+')).await?;
                server.set_fics_password(name, PASSWORD);
                outln!("  account {name:<12} token {token}");
            }
            for (name, kind) in [
                ("random", SparringKind::Random),
                ("greedy", SparringKind::Greedy),
                ("engine", SparringKind::Engine { nodes: 20_000 }),
            ] {
                server.sparring(name, kind).await?;
                outln!("  sparring {name}, accepts every challenge");
            }
            Ok(())
        })
        .await?;
        Ok(())
    }

    fn settings(&self) -> PracticeSettings {
        PracticeSettings {
            faults: self.faults.clone(),
            fics: self.fics.map(|address| FicsEndpoint { address, noise: self.fics_noise }),
            strict_terms: !self.any_clock,
            limits: self.limits.then(ServerLimits::default),
            ..PracticeSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    fn parsed(words: &[&str]) -> PracticeCommand {
        let matches =
            PracticeCommand::augment_args(Command::new("practice")).try_get_matches_from(words).expect("arguments");
        PracticeCommand::from_arg_matches(&matches).expect("a command line")
    }

    #[test]
    fn limits_and_clocks_are_options() {
        let read = |words: &[&str]| {
            let settings = parsed(words).settings();
            (settings.strict_terms, settings.limits.is_some())
        };
        assert_eq!(read(&["practice"]), (true, false), "clocks are as on Lichess");
        assert_eq!(read(&["practice", "--any-clock"]), (false, false));
        assert_eq!(read(&["practice", "--limits"]), (true, true));
    }

    #[test]
    fn several_accounts_may_be_named() {
        let read = |words: &[&str]| parsed(words).accounts;
        assert_eq!(read(&["practice", "--account", "a+", "b+"]), ["a+", "b+"]);
        assert_eq!(read(&["practice", "--account", "a+", "--account", "b"]), ["a+", "b"]);
        assert_eq!(read(&["practice"]), ["mybot+", "otherbot+", "human"]);
    }
}
