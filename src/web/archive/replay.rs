//! One game of the journal, move by move, ready to be looked at: a browser knows no rules of chess.

use serde::Serialize;

use crate::overview::ending;
use bot::journal::{
    Archive, ChatRecord, FaultRecord, GameRecord, JournalError, MoveRecord, ProposalRecord, vote_in_words,
};
use domain::{
    Line, UciMove,
    vote_words::{NamedElector, VoteInWords},
};
use report::{
    JudgedGame,
    judge::{GameMaterial, Verdicts},
    openings::NamedOpening,
};

/// The number of moves shown of an expected line.
const LONGEST_LINE: usize = 10;

#[derive(Serialize)]
pub(super) struct Replay {
    game: GameRecord,
    start_fen: String,
    opening: Option<NamedOpening>,
    /// End, such as `White won by checkmate`; empty while it runs.
    ending: String,
    /// Verdicts of a judge, if there are any.
    report: Option<JudgedGame>,
    moves: Vec<ReplayedMove>,
    chat: Vec<ChatRecord>,
    faults: Vec<FaultRecord>,
}

#[derive(Serialize)]
struct ReplayedMove {
    #[serde(flatten)]
    played: MoveRecord,
    san: String,
    fen: String,
    /// Proposals of the electors, each with its move in standard algebraic notation.
    votes: Vec<CastVote>,
    /// The vote in words; `None` for a move of the opponent.
    vote: Option<VoteInWords>,
}

#[derive(Serialize)]
struct CastVote {
    #[serde(flatten)]
    proposal: ProposalRecord,
    san: String,
    elector_in_words: NamedElector,
    /// The line it expects, in standard algebraic notation.
    line: Vec<String>,
}

impl Replay {
    /// Reads a game. Moves that cannot be played on its board end it.
    pub(super) fn read(
        archive: &Archive,
        judges: &[(String, Verdicts)],
        game: GameRecord,
    ) -> Result<Self, JournalError> {
        let start = Line::from_fen(game.variant, game.start_fen.as_deref().unwrap_or_default());
        let mut line = start.unwrap_or_else(|_| Line::start(game.variant));
        let start_fen = line.fen();
        let mut moves = Vec::new();
        for played in archive.moves(&game)? {
            let proposals = if played.ours.is_some() { archive.proposals(&played)? } else { Vec::new() };
            let san = line.san(played.uci);
            let vote = played.ours.as_ref().map(|ours| vote_in_words(&line, played.uci, ours, &proposals, read_move));
            let votes: Vec<CastVote> = proposals.into_iter().map(|proposal| CastVote::of(&line, proposal)).collect();
            if line.play(played.uci).is_err() {
                break;
            }
            moves.push(ReplayedMove { played, san, fen: line.fen(), votes, vote });
        }
        let (chat, faults) = (archive.chat(&game)?, archive.faults(&game)?);
        let opening = NamedOpening::of(&line).map(|(opening, _)| opening);
        let ending = if game.ended_at.is_some() { ending(&game.status, game.winner) } else { String::new() };
        let material = GameMaterial::read(archive, game)?;
        let report = JudgedGame::of(&material, judges)?;
        Ok(Self { game: material.record, start_fen, opening, ending, report, moves, chat, faults })
    }
}

impl CastVote {
    fn of(line: &Line, proposal: ProposalRecord) -> Self {
        let san = proposal.uci.parse().map_or_else(|_| proposal.uci.clone(), |uci| line.san(uci));
        let expected = proposal.expected_moves(line, read_move);
        let elector_in_words = proposal.named::<Line>();
        Self { line: line.sans(expected.into_iter().take(LONGEST_LINE)), proposal, san, elector_in_words }
    }
}

/// A move as the journal writes it.
fn read_move(_: &Line, text: &str) -> Option<UciMove> {
    text.parse().ok()
}
