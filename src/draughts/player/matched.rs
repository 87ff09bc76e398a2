//! Draughts as matches play it: its players, its endings, its games as PDN.

use std::{collections::BTreeMap, sync::Arc};

use council::electors::Pool;
use domain::{Pace, TimeControl};
use draughts_core::{
    board,
    endgame::{EndgameTables, Known},
    game::{
        Outcome,
        pdn::{GameResult, PdnRecord},
    },
};
use experiment::{
    game::{GameEnding, MatchGame, MatchLine, Ruling, TableValue, points_if_lost},
    player::{ChosenMove, MatchPlayer, MoveRequest, PlayerFailure, PlayerKind, PlayerWords},
};
use tokio::runtime::Runtime;

use super::{DraughtsLine, DraughtsPlayer, DraughtsPlayerKind, PlayerSpec, record::color};

impl PlayerKind for DraughtsPlayerKind {
    type Line = DraughtsLine;

    fn start(&self, _: usize) -> Result<Box<dyn MatchPlayer<DraughtsLine>>, PlayerFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| PlayerFailure::Failed(format!("no runtime for a council: {error}")))?;
        let spec = PlayerSpec::new("matched".to_owned(), self.clone());
        Ok(Box::new(MatchedPlayer { player: DraughtsPlayer::new(&spec, &Pool::new(0)), spec, runtime }))
    }

    fn read(words: &mut PlayerWords<'_>) -> Result<Self, String> {
        Self::from_words(words)
    }
}

impl MatchLine for DraughtsLine {
    const MORE_OPENINGS: &'static str = "";

    fn ruling(&self) -> Option<Ruling> {
        Some(match self.game().outcome()? {
            Outcome::Won(winner) => (GameEnding::by_rule("on-the-board"), points_if_lost(!color(winner))),
            Outcome::Repetition => (GameEnding::by_rule("repetition"), 0.5),
            Outcome::FortyMoves => (GameEnding::by_rule("forty-moves"), 0.5),
        })
    }

    fn game_text(&self, played: &MatchGame, tags: &[(&str, &str)]) -> String {
        let mut game = self.game().clone();
        let _ = played.moves.iter().try_for_each(|one| game.play_text(&one.mv).map(drop));
        let ending = played.ending.to_string();
        // The record has a result of its own.
        let tags = tags.iter().copied().filter(|(name, _)| *name != "Result").chain([("Termination", ending.as_str())]);
        let result = match played.white {
            1.0 => GameResult::Won(board::Color::White),
            0.0 => GameResult::Won(board::Color::Black),
            _ => GameResult::Drawn,
        };
        let tags = tags.map(|(name, value)| (name.to_owned(), util::printable(value).into_owned())).collect();
        format!("{}\n", PdnRecord { tags, game, comments: BTreeMap::new(), result })
    }
}

/// Returns the values of positions by endgame tables.
pub fn by_tables(tables: Arc<EndgameTables>) -> TableValue<DraughtsLine> {
    Arc::new(move |line| {
        Some(match tables.probe(line.game().board())? {
            Known::Win(_) => 1.0,
            Known::Draw => 0.5,
            Known::Loss(_) => 0.0,
        })
    })
}

pub(super) struct MatchedPlayer {
    pub(super) spec: PlayerSpec,
    pub(super) player: DraughtsPlayer,
    pub(super) runtime: Runtime,
}

impl MatchPlayer<DraughtsLine> for MatchedPlayer {
    fn new_game(&mut self, _: &DraughtsLine) -> Result<(), PlayerFailure> {
        // The ties of the published search begin anew as well.
        self.player = DraughtsPlayer::new(&self.spec, &Pool::new(0));
        Ok(())
    }

    fn choose(&mut self, turn: &MoveRequest<DraughtsLine>) -> Result<ChosenMove<board::Move>, PlayerFailure> {
        let game = turn.line.game();
        let mut ignored = |_: &_| ();
        let decision = match (turn.pace, turn.clocks) {
            (Pace::Clock { initial, increment }, Some(clocks)) => {
                let control = TimeControl::real_time(initial, increment);
                self.runtime.block_on(self.player.decide_by_clock(game, clocks, control, &mut ignored))
            }
            (pace, _) => self.runtime.block_on(self.player.decide(game, &pace.limits(), &mut ignored)),
        };
        let decision = decision.ok_or_else(|| PlayerFailure::Failed("no move was found".to_owned()))?;
        Ok(ChosenMove::from(&decision))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use draughts_core::{board::Rules, game::Game};

    /// Files of matches hold these words.
    #[test]
    fn rulings_keep_their_words_in_files() {
        let and_back = &["29-25", "1-5", "25-29", "5-1"].repeat(2);
        for (start, moves, written) in [
            ("B:W9,10,13,14:B5", &[][..], r#"["on-the-board",1.0]"#),
            ("W:WK29,K30:BK1,K3", and_back, r#"["repetition",0.5]"#),
        ] {
            let mut game = Game::new(start.parse().expect("a position"), Rules::Official);
            for text in moves {
                game.play_text(text).expect("legal");
            }
            let ruling = DraughtsLine(game).ruling().expect("over");
            assert_eq!(serde_json::to_string(&ruling).expect("JSON"), written);
        }
    }
}
