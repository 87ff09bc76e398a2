//! The positions of a game to judge: those of the game, and those after the electors' other
//! proposals, so that every vote can be judged without a search.

use std::collections::HashSet;

use shakmaty::{EnPassantMode, Position as _, fen::Fen, variant::VariantPosition, zobrist::Zobrist64};

use bot::journal::{Archive, GameRecord, JournalError, MoveRecord, ProposalRecord};
use domain::{Line, UciMove, engine_position};

use super::{GameVerdicts, PositionVerdict, Verdicts};

/// Returns the key of the position at the end of a line: men, side to move, castling rights, en
/// passant square.
pub fn position_key(line: &Line) -> u64 {
    line.position().zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0
}

#[derive(Clone, Debug)]
pub struct GameMaterial {
    pub record: GameRecord,
    /// The moves shown by the server, each with its proposals (none for the opponent's).
    pub moves: Vec<(MoveRecord, Vec<ProposalRecord>)>,
    pub line: Line,
}

impl GameMaterial {
    /// Reads a game up to its first illegal move, with a warning in the log.
    pub fn read(archive: &Archive, record: GameRecord) -> Result<Self, JournalError> {
        // The legal moves confirmed by the server.
        let mut played: Vec<_> = archive.moves(&record)?.into_iter().take_while(|played| played.confirmed).collect();
        let line = record.line_of(played.iter().map(|played| played.uci));
        played.truncate(line.ply());
        let with_proposals = |played: MoveRecord| {
            let proposals = if played.ours.is_some() { archive.proposals(&played)? } else { Vec::new() };
            Ok((played, proposals))
        };
        let moves = played.into_iter().map(with_proposals).collect::<Result<_, JournalError>>()?;
        Ok(Self { record, moves, line })
    }

    /// Returns true if it can be judged: chess, played by both sides, from a position that engines
    /// understand.
    pub fn can_be_judged(&self) -> bool {
        self.record.variant.is_standard_rules() && self.moves.len() > 1 && engine_position(&self.line).is_ok()
    }

    /// Returns the positions of the game, the start first, each as a line from there.
    pub fn positions(&self) -> Option<Vec<Line>> {
        let mut position = self.line.start_position().clone();
        let mut lines = Vec::with_capacity(self.moves.len() + 1);
        lines.push(alone(&self.line, &position)?);
        for uci in self.line.moves() {
            if let Ok(mv) = uci.to_move(&position) {
                position.play_unchecked(mv);
            }
            lines.push(alone(&self.line, &position)?);
        }
        Some(lines)
    }

    /// Returns the positions to judge, each once and as a line from there, without positions decided by
    /// the rules.
    pub fn questions(&self) -> Vec<Line> {
        let positions = self.positions().unwrap_or_default();
        let (mut questions, mut asked) = (Vec::new(), HashSet::new());
        let mut ask = |line: Line| {
            if asked.insert(position_key(&line)) && PositionVerdict::by_the_rules(&line).is_none() {
                questions.push(line);
            }
        };
        for (line, (played, proposals)) in positions.iter().zip(&self.moves) {
            ask(line.clone());
            // The position after the played move comes next.
            let mut seen = vec![played.uci];
            for proposed in proposals.iter().filter_map(|proposal| proposal.uci.parse().ok()) {
                if !seen.contains(&proposed) {
                    seen.push(proposed);
                    after(line, proposed).into_iter().for_each(&mut ask);
                }
            }
        }
        positions.last().cloned().into_iter().for_each(ask);
        questions
    }

    /// Returns the verdicts on its positions; `None` while some are missing.
    pub fn verdicts(&self, known: &Verdicts) -> Result<Option<GameVerdicts>, JournalError> {
        let mut verdicts = GameVerdicts::new();
        for line in self.questions() {
            match known.of(&line)? {
                Some(verdict) => drop(verdicts.insert(position_key(&line), verdict)),
                None => return Ok(None),
            }
        }
        Ok(Some(verdicts))
    }
}

/// Returns the position after a move, as a line from there; `None` if the move is illegal.
pub(crate) fn after(line: &Line, uci: UciMove) -> Option<Line> {
    let mut position = line.position().clone();
    position.play_unchecked(uci.to_move(&position).ok()?);
    alone(line, &position)
}

/// Returns a position without its past and its fifty-move count, as a line of the same variant.
fn alone(line: &Line, position: &VariantPosition) -> Option<Line> {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    setup.halfmoves = 0;
    let fen = Fen::try_from_setup(setup).ok()?;
    Line::from_fen(line.variant(), &fen.to_string()).ok()
}
