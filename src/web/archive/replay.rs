//! One game of the journal, move by move, ready to be looked at: a browser knows no rules of chess.

use serde::Serialize;

use bot::journal::{Archive, ChatRecord, FaultRecord, GameRecord, JournalError, MoveRecord, ProposalRecord};
use chess::Line;
use report::{
    JudgedGame,
    judge::{GameMaterial, Verdicts},
    openings::NamedOpening,
};

/// A whole game.
#[derive(Serialize)]
pub(super) struct Replay {
    game: GameRecord,
    /// The position it began with.
    start_fen: String,
    /// Its opening by code and name.
    opening: Option<NamedOpening>,
    /// What a judge has made of it, if one has.
    report: Option<JudgedGame>,
    moves: Vec<ReplayedMove>,
    chat: Vec<ChatRecord>,
    faults: Vec<FaultRecord>,
}

/// A move with the position after it.
#[derive(Serialize)]
struct ReplayedMove {
    #[serde(flatten)]
    played: MoveRecord,
    san: String,
    fen: String,
    /// What our electors proposed, each with its move in standard algebraic notation.
    votes: Vec<CastVote>,
}

#[derive(Serialize)]
struct CastVote {
    #[serde(flatten)]
    proposal: ProposalRecord,
    san: String,
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
            let votes = proposals.into_iter().map(|proposal| CastVote::of(&line, proposal)).collect();
            let san = line.san(played.uci);
            if line.play(played.uci).is_err() {
                break;
            }
            moves.push(ReplayedMove { played, san, fen: line.fen(), votes });
        }
        let (chat, faults) = (archive.chat(&game)?, archive.faults(&game)?);
        let opening = NamedOpening::of(&line).map(|(opening, _)| opening);
        let material = GameMaterial::read(archive, game)?;
        let report = JudgedGame::of(&material, judges)?;
        Ok(Self { game: material.record, start_fen, opening, report, moves, chat, faults })
    }
}

impl CastVote {
    fn of(line: &Line, proposal: ProposalRecord) -> Self {
        let san = proposal.uci.parse().map_or_else(|_| proposal.uci.clone(), |uci| line.san(uci));
        let expected = proposal.pv.split_ascii_whitespace().take(10).map_while(|text| text.parse().ok());
        Self { line: line.sans(expected), proposal, san }
    }
}
