use std::io::{self, BufRead, IsTerminal};

use clap::Subcommand;

use super::{Failure, run::servers, settings_args::SettingsArgs};
use crate::settings::Protocol;
use platform::{
    fics,
    lichess::{self, AccountReport, LichessSettings, Token},
};
use util::{outln, print, printable};

#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  CONCILIO_LICHESS_TOKEN=lip_... concilio account check
  concilio account upgrade --config bot.toml")]
pub(super) enum AccountsCommand {
    /// Show the account: name, bot status, and the token's scopes; on FICS: titles, timeseal,
    /// seeks, formula
    Check {
        #[command(flatten)]
        settings: SettingsArgs,
    },
    /// Turn the account into a bot's; this cannot be undone
    Upgrade {
        #[command(flatten)]
        settings: SettingsArgs,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

impl AccountsCommand {
    /// Runs the action for every account of the settings; there is no upgrade on FICS.
    pub(super) async fn run(self) -> Result<(), Failure> {
        let (settings, upgrade, yes) = match self {
            Self::Check { settings } => (settings, false, false),
            Self::Upgrade { settings, yes } => (settings, true, yes),
        };
        let loaded = settings.load()?;
        let mut ready = true;
        for (name, server) in servers(&loaded.settings) {
            if server.protocol == Protocol::Fics {
                if !upgrade {
                    let settings = server.fics().map_err(Failure::failed)?;
                    let report = fics::account_check(&settings, settings.password()?).await?;
                    let report_lines = report.to_string();
                    outln!("{name} ({}):", settings.host);
                    report_lines.lines().for_each(|line| outln!("{}", printable(line)));
                    ready &= report.obstacles().is_empty();
                }
                continue;
            }
            let token = Token::load(server.token_file())?;
            let lichess = server.lichess()?;
            let report = lichess::account_check(&lichess, &token).await?;
            print(format_args!("{}", describe(&name, &lichess, &report)));
            if upgrade && !report.account.is_bot {
                self::upgrade(&lichess, &token, &report, yes).await?;
            } else {
                ready &= report.account.is_bot && report.may_play();
            }
        }
        if ready { Ok(()) } else { Err(Failure::failed("not ready to play; see above")) }
    }
}

fn describe(name: &str, settings: &LichessSettings, report: &AccountReport) -> String {
    let scopes = report.scopes.as_ref().map(|scopes| scopes.join(", ")).unwrap_or_default();
    let player = report.account.player.to_string();
    let player = printable(&player);
    let (kind, permission) = (report.kind(), report.permission());
    format!("{name} ({}): {player}\n  {kind}\n  scopes: {scopes} ({permission})\n", settings.url)
}

async fn upgrade(settings: &LichessSettings, token: &Token, report: &AccountReport, yes: bool) -> Result<(), Failure> {
    if !report.can_upgrade() {
        return Err(Failure::failed("only an account that has never played can become a bot's"));
    }
    if !yes && !confirmed(&report.account.player.name)? {
        return Err(Failure::failed("nothing changed"));
    }
    lichess::upgrade(settings, token).await?;
    outln!("  {} is a bot account now", report.account.player.name);
    Ok(())
}

fn confirmed(name: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        outln!("  not a terminal: pass --yes to continue without a question");
        return Ok(false);
    }
    print(format_args!(
        "  {name} will be a bot account for ever and can never play as a human again. Type its name to continue: "
    ));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim().eq_ignore_ascii_case(name))
}
