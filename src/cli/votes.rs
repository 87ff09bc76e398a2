//! The votes of games in the journal, move by move, as they were shown when they were cast.

use std::{fmt::Display, io::Write};

use super::draughts;
use bot::journal::{Archive, ExportError, GameRecord, JournalError, MoveRecord, OurMove, ProposalRecord};
use council::player::vote_report::{self, VoteEntry};
use domain::{
    GameLine, Line, Variant,
    vote_words::{self, NamedElector, Opinion},
};
use util::printable;

/// Writes every vote of these games. Of a game that this program cannot play there is only its heading.
///
/// # Errors
/// Where the journal cannot be read, and those of `out`.
pub(super) fn write_votes(
    archive: &Archive,
    games: &[GameRecord<String>],
    out: &mut impl Write,
) -> Result<(), ExportError> {
    for game in games {
        writeln!(out, "{}  {} against {}", game.key(), game.time_control, printable(&game.opponent().name))?;
        if let Ok(variant) = game.variant.parse::<Variant>() {
            let Ok(line) = Line::from_fen(variant, game.start_fen.as_deref().unwrap_or_default()) else { continue };
            write_game(archive, game, line, |_, text| text.parse().ok(), out)?;
        } else if let Some(line) = draughts::line_of(game) {
            write_game(archive, game, line, draughts::read_move, out)?;
        }
    }
    Ok(())
}

/// Writes the votes of a game, move by move, up to the first that cannot be played.
fn write_game<L: GameLine>(
    archive: &Archive,
    game: &GameRecord<String>,
    mut line: L,
    read: impl Fn(&L, &str) -> Option<L::Move> + Copy,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    for played in archive.moves(game)? {
        if let Some(votes) = recorded_votes(archive, &line, read, &played)? {
            votes.write(out)?;
        }
        if !read(&line, &played.uci).is_some_and(|mv| line.advance(mv)) {
            break;
        }
    }
    Ok(())
}

/// A vote of the journal, in words.
pub(super) struct RecordedVotes {
    elected: String,
    /// Criterion and source.
    how: String,
    entries: Vec<VoteEntry>,
}

/// The vote on a move of ours that was made after this line; `None` for a move of the other one's. `read` understands what the
/// journal calls a move.
pub(super) fn recorded_votes<L: GameLine, M: Display>(
    archive: &Archive,
    line: &L,
    read: impl Fn(&L, &str) -> Option<L::Move>,
    played: &MoveRecord<M>,
) -> Result<Option<RecordedVotes>, JournalError> {
    let Some(ours) = &played.ours else { return Ok(None) };
    let say = |text: &str| read(line, text).map_or_else(|| text.to_owned(), |mv| line.move_text(mv));
    let played_text = played.uci.to_string();
    let proposals = archive.proposals(played)?;
    let score = ours.score.map_or_else(String::new, |score| format!("  {score}"));
    let best = vote_report::numbered(line, read(line, &played_text));
    Ok(Some(RecordedVotes {
        elected: format!("{best}{score}"),
        how: how::<L>(ours, &proposals, &played_text, &say),
        entries: proposals.iter().map(|proposal| entry::<L>(proposal, &played_text, &say)).collect(),
    }))
}

fn how<L: GameLine>(
    ours: &OurMove,
    proposals: &[ProposalRecord],
    played: &str,
    say: &dyn Fn(&str) -> String,
) -> String {
    let opinions: Vec<Opinion> = proposals
        .iter()
        .map(|proposal| Opinion { elector: named::<L>(proposal), mv: say(&proposal.uci), uci: proposal.uci.clone() })
        .collect();
    let said = match vote_words::sentence(&opinions, &say(played)) {
        said if said.is_empty() => said,
        said => format!(": {said}"),
    };
    let second = ours.first_choice.as_deref().map_or_else(String::new, |first| {
        let mode = ours.second_phase.as_deref().unwrap_or("re-search");
        vote_report::second_phase(mode, &say(first), first != played)
    });
    format!("by {}{said}{second}  ({:.2} s)", ours.criterion, ours.elapsed.as_secs_f64())
}

fn named<L: GameLine>(proposal: &ProposalRecord) -> NamedElector {
    match proposal.phase {
        1 => NamedElector::new::<L>(&proposal.elector, proposal.knowledge.as_deref(), proposal.weight.is_none()),
        _ => NamedElector::second_search(),
    }
}

fn entry<L: GameLine>(proposal: &ProposalRecord, played: &str, say: &dyn Fn(&str) -> String) -> VoteEntry {
    let elector = named::<L>(proposal);
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
    fn write(&self, out: &mut impl Write) -> Result<(), ExportError> {
        writeln!(out, "\n{}  {}", self.elected, self.how)?;
        for row in vote_report::table(&self.entries) {
            writeln!(out, "{row}")?;
        }
        Ok(())
    }

    /// Returns the vote in one line, as comments in score sheets have it.
    pub(super) fn in_one_line(&self) -> String {
        vote_report::in_one_line(&format!("{}  {}", self.elected, self.how), &self.entries)
    }
}
