//! Votes of the journal, as they were shown when they were cast, in the words of [`vote_words`](domain::vote_words) with the
//! reasons of [`why`](domain::why).

use std::{
    fmt::Display,
    io::{self, Write},
};

use super::{Archive, JournalError, MoveRecord, OurMove, ProposalRecord};
use council::player::vote_report::{self, VoteEntry};
use domain::{
    CriterionName, GameLine, Source,
    vote_words::{NamedElector, Opinion, VoteInWords},
    why::ExpectedLine,
};

pub struct RecordedVotes {
    elected: String,
    /// Criterion and source.
    how: String,
    why: String,
    entries: Vec<VoteEntry>,
}

/// Returns the vote on a move of the bot after this line, if it has one.
pub fn recorded_votes<L: GameLine, M: Display>(
    archive: &Archive,
    line: &L,
    played: &MoveRecord<M>,
) -> Result<Option<RecordedVotes>, JournalError> {
    let Some(ours) = &played.ours else { return Ok(None) };
    let say = |text: &str| line.recorded_move(text).map_or_else(|| text.to_owned(), |mv| line.move_text(mv));
    let played_text = played.uci.to_string();
    let Some(best) = line.recorded_move(&played_text) else { return Ok(None) };
    let proposals = archive.proposals(played)?;
    let score = ours.score.map_or_else(String::new, |score| format!("  {score}"));
    let words = vote_in_words(line, best, ours, &proposals);
    Ok(Some(RecordedVotes {
        elected: format!("{}{score}", vote_report::numbered(line, Some(best))),
        how: how(ours, if proposals.is_empty() { "" } else { &words.sentence }, &played_text, &say),
        why: words.why,
        entries: proposals.iter().map(|proposal| entry::<L>(proposal, &played_text, &say)).collect(),
    }))
}

fn how(ours: &OurMove, sentence: &str, played: &str, say: &dyn Fn(&str) -> String) -> String {
    let said = if sentence.is_empty() { String::new() } else { format!(": {sentence}") };
    let second = ours.first_choice.as_deref().map_or_else(String::new, |first| {
        let mode = ours.second_phase.as_deref().unwrap_or("re-search");
        vote_report::second_phase(mode, &say(first), first != played)
    });
    format!("by {}{said}{second}  ({:.2} s)", ours.criterion, ours.elapsed.as_secs_f64())
}

fn entry<L: GameLine>(proposal: &ProposalRecord, played: &str, say: &dyn Fn(&str) -> String) -> VoteEntry {
    let elector = proposal.named::<L>();
    VoteEntry {
        elector: elector.label(),
        short: elector.short,
        best: say(&proposal.uci),
        score: proposal.score.map_or_else(String::new, |score| score.to_string()),
        depth: proposal.depth,
        nodes: proposal.nodes,
        weight: proposal.weight,
        elected: proposal.uci == played,
        machine: proposal.machine.clone(),
    }
}

impl RecordedVotes {
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n{}  {}", self.elected, self.how)?;
        for row in vote_report::table(&self.entries) {
            writeln!(out, "{row}")?;
        }
        if !self.why.is_empty() {
            writeln!(out, "  {}", self.why)?;
        }
        Ok(())
    }

    pub fn in_one_line(&self) -> String {
        vote_report::in_one_line(&format!("{}  {}", self.elected, self.how), &self.entries)
    }
}

impl ProposalRecord {
    pub fn named<L: GameLine>(&self) -> NamedElector {
        match self.phase {
            1 => NamedElector::new::<L>(&self.elector, self.knowledge.as_deref(), self.weight.is_none()),
            _ => NamedElector::second_search(),
        }
    }

    /// The line it expects, as far as it is legal.
    pub fn expected_moves<L: GameLine>(&self, line: &L) -> Vec<L::Move> {
        let mut line = line.clone();
        let played = self.pv.split_ascii_whitespace().map_while(|text| {
            let mv = line.recorded_move(text)?;
            line.advance(mv).then_some(mv)
        });
        played.collect()
    }
}

/// The vote on a move of the bot after `line` in words.
pub fn vote_in_words<L: GameLine>(
    line: &L,
    played: L::Move,
    ours: &OurMove,
    proposals: &[ProposalRecord],
) -> VoteInWords {
    let opinion = |proposal: &ProposalRecord| {
        let mv = line.recorded_move(&proposal.uci).map_or_else(|| proposal.uci.clone(), |mv| line.move_text(mv));
        Opinion { elector: proposal.named::<L>(), mv, uci: proposal.uci.clone() }
    };
    let expected = |proposal: &ProposalRecord| {
        let moves = proposal.expected_moves(line);
        Some(ExpectedLine {
            mv: line.recorded_move(&proposal.uci)?,
            moves,
            depth: proposal.depth,
            score: proposal.score,
        })
    };
    let opinions: Vec<Opinion> = proposals.iter().map(opinion).collect();
    let expected: Vec<_> = proposals.iter().filter_map(expected).collect();
    let criterion = CriterionName::ALL.into_iter().find(|criterion| criterion.word() == ours.criterion);
    VoteInWords::new(line, played, &opinions, &expected, (criterion, Source::from_word(&ours.source)))
}
