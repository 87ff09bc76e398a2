//! Chooses the journal of a game, and writes games of the journal as PDN.

use std::{io::Write, path::PathBuf};

use crate::player::DraughtsLine;
use bot::journal::{Archive, ExportError, GameRecord, Journal, JournalError, JournalSettings, recorded_votes};
use clap::Args;
use domain::Color;
use draughts_core::{
    board::{self, Rules},
    game::{
        Game,
        pdn::{GameResult, PdnRecord},
    },
};
use util::Failure;

#[derive(Debug, Args)]
pub(super) struct JournalFile {
    /// The journal to which the game is added; without this, the one that the settings name where there is that file
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
}

impl JournalFile {
    /// The journal, if there is one for this game; `usual` reads the settings. One that another program is writing stays as it is,
    /// with a word in the log.
    pub(super) fn open(
        &self,
        usual: impl FnOnce() -> Result<JournalSettings, Failure>,
    ) -> Result<Option<Journal>, Failure> {
        let settings = match &self.journal {
            Some(path) => {
                JournalSettings { path: path.clone(), pgn_directory: PathBuf::new(), ..JournalSettings::default() }
            }
            None => usual()?,
        };
        if self.journal.is_none() && !settings.path.exists() {
            return Ok(None);
        }
        open(&settings)
    }
}

/// Opens a journal to write, if no other program writes it.
pub(super) fn open(settings: &JournalSettings) -> Result<Option<Journal>, Failure> {
    match Journal::open(settings) {
        Ok(journal) => Ok(Some(journal)),
        Err(error @ JournalError::InUse { .. }) => {
            tracing::warn!("the game cannot be written: {error}");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn close(journal: Option<Journal>) -> Result<(), Failure> {
    match journal {
        Some(journal) => Ok(journal.close().await?),
        None => Ok(()),
    }
}

/// The game of draughts with which a record of the journal begins; `None` for another game.
pub fn line_of(record: &GameRecord<String>) -> Option<DraughtsLine> {
    let rules = Rules::ALL.into_iter().find(|rules| rules.to_string() == record.variant)?;
    let start = record.start_fen.as_deref().map_or(Ok(board::Board::default()), str::parse).ok()?;
    Some(DraughtsLine(Game::new(start, rules)))
}

/// Writes those of the games that are draughts as score sheets, with our votes as comments.
pub fn write_pdn(archive: &Archive, games: &[GameRecord<String>], out: &mut impl Write) -> Result<(), ExportError> {
    for record in games {
        let Some(line) = line_of(record) else { continue };
        let mut sheet = PdnRecord::between(&record.white.name, &record.black.name, line.game().clone());
        let date = record.started_at.strftime("%Y.%m.%d").to_string();
        sheet.tags.extend([("Site".to_owned(), record.server.as_str().to_owned()), ("Date".to_owned(), date)]);
        for played in archive.moves(record)? {
            let line = DraughtsLine(sheet.game.clone());
            let votes = recorded_votes(archive, &line, &played)?;
            if sheet.game.play_text(&played.uci).is_err() {
                break;
            }
            if let Some(votes) = votes {
                sheet.note(votes.in_one_line());
            }
        }
        let winner = |color| if color == Color::White { board::Color::White } else { board::Color::Black };
        let agreed = match (record.winner, record.result) {
            (Some(color), _) => GameResult::Won(winner(color)),
            (None, Some(_)) => GameResult::Drawn,
            (None, None) => GameResult::Unknown,
        };
        writeln!(out, "{}", sheet.text(agreed))?;
    }
    Ok(())
}
