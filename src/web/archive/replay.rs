//! One game of the journal, move by move, ready to be looked at: a browser knows no rules of chess.

use serde::Serialize;

use crate::overview::ending;
use bot::journal::{Archive, ChatRecord, FaultRecord, GameRecord, JournalError, MoveRecord, OurMove, ProposalRecord};
use domain::{
    CriterionName, Line, Source,
    vote_words::{self, MoveGroup, NamedElector, Opinion},
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
struct VoteInWords {
    /// Vote in one sentence; for a move without a vote, its source.
    sentence: String,
    /// Criterion in words; empty without a vote.
    rule: &'static str,
    /// Number of electors, advisers included, that proposed the move, and number that searched.
    agreement: [usize; 2],
    /// The proposals by move, the elected one first.
    groups: Vec<MoveGroup>,
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
            let votes: Vec<CastVote> = proposals.into_iter().map(|proposal| CastVote::of(&line, proposal)).collect();
            let san = line.san(played.uci);
            let vote = played.ours.as_ref().map(|ours| VoteInWords::of(ours, &votes, &san));
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
        let expected = proposal.pv.split_ascii_whitespace().take(10).map_while(|text| text.parse().ok());
        let elector_in_words = match proposal.phase {
            1 => NamedElector::new::<Line>(&proposal.elector, proposal.knowledge.as_deref(), proposal.weight.is_none()),
            _ => NamedElector::second_search(),
        };
        Self { line: line.sans(expected), proposal, san, elector_in_words }
    }
}

impl VoteInWords {
    fn of(ours: &OurMove, votes: &[CastVote], played: &str) -> Self {
        let opinion = |vote: &CastVote| Opinion {
            elector: vote.elector_in_words.clone(),
            mv: vote.san.clone(),
            uci: vote.proposal.uci.clone(),
        };
        let opinions: Vec<Opinion> = votes.iter().map(opinion).collect();
        let sentence = if opinions.is_empty() {
            Source::from_word(&ours.source).map_or("", vote_words::source_in_words).to_owned()
        } else {
            vote_words::sentence(&opinions, played)
        };
        let criterion = CriterionName::ALL.into_iter().find(|criterion| criterion.word() == ours.criterion);
        Self {
            sentence,
            rule: criterion.map_or("", vote_words::criterion_in_words),
            agreement: [opinions.iter().filter(|opinion| opinion.mv == played).count(), opinions.len()],
            groups: vote_words::groups(&opinions, played),
        }
    }
}
