//! A game in the journal while it is played.

use std::{sync::Arc, time::Duration};

use bot::journal::{Journal, LocalGame, StartedGame};
use domain::{Color, GameId, GameStatus, TimeControl};
use draughts_core::{
    board,
    game::{Game, Outcome, pdn::GameResult},
};

use crate::player::{DraughtsDecision, DraughtsLine};

#[derive(Clone, Copy, Debug)]
pub struct Occasion<'a> {
    /// The place: `console`, `demo`, `page` or `damexchange`.
    pub place: &'a str,
    /// White, then Black.
    pub players: [&'a str; 2],
    pub ours: board::Color,
    pub clock: TimeControl,
}

/// Writes a game into the journal, each of the bot's moves with its votes before it is announced;
/// does nothing without a journal. A failure to write is logged, and the game goes on.
pub struct GameRecorder(Option<LocalGame>);

impl GameRecorder {
    /// Begins with a game under a name that no other has.
    pub fn start(journal: Option<&Journal>, occasion: &Occasion<'_>, game: &Game) -> Self {
        Self::resume(journal, occasion, LocalGame::new_id(), game)
    }

    /// Goes on with the game of this name, or begins with it.
    pub fn resume(journal: Option<&Journal>, occasion: &Occasion<'_>, id: GameId, game: &Game) -> Self {
        let Occasion { place, players, ours, clock } = *occasion;
        let line = DraughtsLine(game.clone());
        let started = StartedGame::local(id, &line, players, color(ours), clock);
        Self(journal.map(|journal| LocalGame::start(journal, place, started)))
    }

    /// Writes a move of the bot, decided after the moves of `game`, in place of one that was taken back.
    pub async fn decided(&self, game: &Game, decision: &DraughtsDecision) {
        let Some(record) = &self.0 else { return };
        let line = Arc::new(DraughtsLine(game.clone()));
        record.decided(line, decision.clone(), Duration::ZERO).await;
    }

    /// Writes the final moves and the result: by the board, or else the agreed one.
    pub async fn over(&self, game: &Game, agreed: GameResult) {
        let Some(record) = &self.0 else { return };
        record.seen(&Arc::new(DraughtsLine(game.clone())));
        let (status, winner) = match (game.outcome(), agreed) {
            (Some(Outcome::Won(winner)), _) => (GameStatus::VariantEnd, Some(winner)),
            (Some(Outcome::FortyMoves | Outcome::Repetition), _) | (None, GameResult::Drawn) => {
                (GameStatus::Draw, None)
            }
            (None, GameResult::Won(winner)) => (GameStatus::Resign, Some(winner)),
            (None, GameResult::Unknown) if game.moves().len() < 2 => (GameStatus::Aborted, None),
            (None, GameResult::Unknown) => (GameStatus::UnknownFinish, None),
        };
        record.over(status, winner.map(color)).await;
    }
}

pub(crate) fn color(side: board::Color) -> Color {
    match side {
        board::Color::White => Color::White,
        board::Color::Black => Color::Black,
    }
}

#[cfg(test)]
mod tests {
    use bot::journal::{Archive, Filter, GameResult as OurResult, JournalSettings};
    use council::electors::Pool;
    use domain::ServerName;

    use super::*;
    use crate::player::DraughtsPlayer;

    #[tokio::test]
    async fn journalled_game_is_not_chess() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = JournalSettings::in_folder(folder.path());
        let journal = Journal::open(&settings).expect("a journal");
        let mut player = DraughtsPlayer::new(&"council".parse().expect("a player"), &Pool::new(1));
        let mut game = Game::new("W:W21,22:B1,2".parse().expect("a position"), board::Rules::Relaxed);
        let occasion = Occasion {
            place: "console",
            players: ["council", "Anna"],
            ours: board::Color::White,
            clock: TimeControl::Unlimited,
        };
        let recorder = GameRecorder::start(Some(&journal), &occasion, &game);
        let limits = domain::Pace::Nodes(200).limits();
        for _ in 0..2 {
            let decision = player.decide(&game, &limits, &mut |_| {}).await.expect("a move");
            recorder.decided(&game, &decision).await;
            game.play(decision.best).expect("legal");
            let reply = game.legal_moves()[0];
            game.play(reply).expect("legal");
        }
        recorder.over(&game, GameResult::Won(board::Color::White)).await;

        let archive = Archive::open(&settings.path).expect("readable");
        let all = archive.games_of_all_kinds(&Filter::default()).expect("readable");
        let [record] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(
            (record.variant.as_str(), record.start_fen.as_deref()),
            ("italian-draughts-relaxed", Some("W:W21,22:B1,2"))
        );
        assert_eq!((record.result, record.status.name(), record.plies), (Some(OurResult::Won), "resign", 4));
        let moves = archive.moves(record).expect("readable");
        let written: Vec<&str> = moves.iter().map(|played| played.uci.as_str()).collect();
        assert_eq!(written, game.moves().iter().map(ToString::to_string).collect::<Vec<_>>());
        let proposals = archive.proposals(&moves[0]).expect("readable");
        let names: Vec<&str> = proposals.iter().map(|proposal| proposal.elector.as_str()).collect();
        assert_eq!(names[..4], ["peso-pedine", "peso-posizione", "spettacolo", "fully-guarded"]);
        assert!(moves[0].ours.is_some() && moves[1].ours.is_none());

        assert_eq!(archive.games(&Filter::default()).expect("readable"), []);
        assert_eq!(archive.game(&record.key()).expect("readable"), None);
        journal.write_missing_pgn().await.expect("nothing to write");
        assert!(!settings.pgn_directory.exists(), "draughts has no PGN");
        let began = GameRecorder::start(Some(&journal), &occasion, &Game::default());
        drop(began);
        assert_eq!(journal.unfinished(&ServerName::new("console")).await.expect("readable").len(), 0);
    }
}
