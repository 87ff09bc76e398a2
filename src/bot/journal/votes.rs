//! Recorded votes in the words of [`vote_words`](domain::vote_words), with the reasons of [`why`](domain::why).

use domain::{
    CriterionName, GameLine, Source,
    vote_words::{NamedElector, Opinion, VoteInWords},
    why::ExpectedLine,
};

use super::{OurMove, ProposalRecord};

impl ProposalRecord {
    pub fn named<L: GameLine>(&self) -> NamedElector {
        match self.phase {
            1 => NamedElector::new::<L>(&self.elector, self.knowledge.as_deref(), self.weight.is_none()),
            _ => NamedElector::second_search(),
        }
    }

    /// The line it expects, as far as it is legal. `read` understands the journal's text of a move.
    pub fn expected_moves<L: GameLine>(&self, line: &L, read: impl Fn(&L, &str) -> Option<L::Move>) -> Vec<L::Move> {
        let mut line = line.clone();
        let played = self.pv.split_ascii_whitespace().map_while(|text| {
            let mv = read(&line, text)?;
            line.advance(mv).then_some(mv)
        });
        played.collect()
    }
}

/// The vote on a move of the bot after `line` in words. `read` understands the journal's text of a move.
pub fn vote_in_words<L: GameLine>(
    line: &L,
    played: L::Move,
    ours: &OurMove,
    proposals: &[ProposalRecord],
    read: impl Fn(&L, &str) -> Option<L::Move> + Copy,
) -> VoteInWords {
    let opinion = |proposal: &ProposalRecord| {
        let mv = read(line, &proposal.uci).map_or_else(|| proposal.uci.clone(), |mv| line.move_text(mv));
        Opinion { elector: proposal.named::<L>(), mv, uci: proposal.uci.clone() }
    };
    let expected = |proposal: &ProposalRecord| {
        let moves = proposal.expected_moves(line, read);
        Some(ExpectedLine { mv: read(line, &proposal.uci)?, moves, depth: proposal.depth, score: proposal.score })
    };
    let opinions: Vec<Opinion> = proposals.iter().map(opinion).collect();
    let expected: Vec<_> = proposals.iter().filter_map(expected).collect();
    let criterion = CriterionName::ALL.into_iter().find(|criterion| criterion.word() == ours.criterion);
    VoteInWords::new(line, played, &opinions, &expected, (criterion, Source::from_word(&ours.source)))
}
