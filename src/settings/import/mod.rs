//! Converts settings of other bots: a file of lichess-bot or BotLi becomes a file of concilio, and
//! options without a counterpart are listed with the reason.
//!
//! Each key of the old file is taken once; the remaining keys are unknown, and listed too, so that
//! none is lost silently.

mod botli;
mod common;
mod foreign;
mod lichess_bot;
mod table;
#[cfg(test)]
mod tests;
mod written;

use clap::ValueEnum;

use util::Secret;

use foreign::ForeignSettings;
use written::ImportedSettings;

/// Bots with settings that can be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ForeignBot {
    LichessBot,
    #[value(name = "botli")]
    BotLi,
}

#[derive(Debug)]
pub struct Import {
    /// A settings file of ours, with a comment at its head on each option without a counterpart.
    pub text: String,
    /// The token of the old file; it belongs into a file of its own ([`Import::TOKEN_FILE`]).
    pub token: Option<Secret>,
    pub left_out: usize,
}

impl Import {
    pub const TOKEN_FILE: &str = "lichess.token";

    /// Reads the settings of another bot. The new ones expect the token in `token_file`.
    ///
    /// # Errors
    /// If the text is no YAML, or holds no options.
    pub fn read(bot: ForeignBot, text: &str, token_file: &str) -> Result<Self, String> {
        let mut foreign = ForeignSettings::parse(text)?;
        let mut imported = ImportedSettings::new(token_file);
        let token = foreign.take_text("token").filter(|token| !token.trim_matches(['x', 'X', '0']).is_empty());
        let token = token.filter(|token| {
            let is_token = token.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_token {
                imported.remark("token", format!("is not a Lichess token; write the token into {token_file}"));
            }
            is_token
        });
        imported.set("servers.lichess.token_file", token_file);
        match bot {
            ForeignBot::LichessBot => lichess_bot::read(&mut foreign, &mut imported),
            ForeignBot::BotLi => botli::read(&mut foreign, &mut imported),
        }
        for (option, why) in foreign.into_remarks() {
            imported.remark(&option, why);
        }
        Ok(Self { token: token.map(Secret::new), left_out: imported.remarks.len(), text: imported.into_text(bot) })
    }
}
