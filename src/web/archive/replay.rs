//! One game of the journal, move by move with positions: a browser has no rules of chess.

use serde::Serialize;

use crate::overview::{LineMove, ending};
use bot::journal::{
    Archive, ChatRecord, FaultRecord, GameRecord, JournalError, MoveRecord, ProposalRecord, vote_in_words,
};
use domain::{
    Line,
    vote_words::{NamedElector, VoteInWords},
};
use report::{
    JudgedGame,
    judge::{GameMaterial, Verdicts},
    openings::NamedOpening,
};

#[derive(Serialize)]
pub(super) struct Replay {
    game: GameRecord,
    start_fen: String,
    opening: Option<NamedOpening>,
    /// End, such as `White won by checkmate`; empty while it runs.
    ending: String,
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
    /// The expected line of the move's deepest supporter.
    expected: Vec<LineMove>,
}

#[derive(Serialize)]
struct CastVote {
    #[serde(flatten)]
    proposal: ProposalRecord,
    san: String,
    elector_in_words: NamedElector,
}

impl Replay {
    /// Reads a game up to its first illegal move.
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
            let vote = played.ours.as_ref().map(|ours| vote_in_words(&line, played.uci, ours, &proposals));
            let played_word = played.uci.to_string();
            let deepest = proposals.iter().filter(|known| known.uci == played_word).max_by_key(|known| known.depth);
            let expected = deepest.map(|known| LineMove::all(&line, known.expected_moves(&line)));
            let votes: Vec<CastVote> = proposals.into_iter().map(|proposal| CastVote::of(&line, proposal)).collect();
            if line.play(played.uci).is_err() {
                break;
            }
            let expected = expected.unwrap_or_default();
            moves.push(ReplayedMove { played, san, fen: line.fen(), votes, vote, expected });
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
        let elector_in_words = proposal.named::<Line>();
        Self { proposal, san, elector_in_words }
    }
}
