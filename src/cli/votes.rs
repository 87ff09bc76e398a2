//! The votes of games in the journal, move by move, as they were shown when they were cast.

use std::io::Write;

use bot::journal::{Archive, ExportError, GameRecord, MoveRecord, OurMove, ProposalRecord};
use chess::{Line, printable};
use council::player::vote_report::{self, VoteEntry};

/// Writes every vote of these games.
///
/// # Errors
/// Where the journal cannot be read, and those of `out`.
pub(super) fn write_votes(archive: &Archive, games: &[GameRecord], out: &mut impl Write) -> Result<(), ExportError> {
    for game in games {
        writeln!(out, "{}  {} against {}", game.key(), game.time_control, printable(&game.opponent().name))?;
        let Ok(mut line) = Line::from_fen(game.variant, game.start_fen.as_deref().unwrap_or_default()) else {
            continue;
        };
        for played in archive.moves(game)? {
            if let Some(ours) = &played.ours {
                let proposals = archive.proposals(&played)?;
                write_vote(&line, &played, ours, &proposals, out)?;
            }
            if line.play(played.uci).is_err() {
                break;
            }
        }
    }
    Ok(())
}

fn write_vote(
    line: &Line,
    played: &MoveRecord,
    ours: &OurMove,
    proposals: &[ProposalRecord],
    out: &mut impl Write,
) -> Result<(), ExportError> {
    let san = |text: &str| text.parse().map_or_else(|_| text.to_owned(), |uci| line.san(uci));
    let score = ours.score.map_or_else(String::new, |score| format!("  {score}"));
    let proposed = proposals.iter().filter(|proposal| proposal.phase == 1).map(|proposal| san(&proposal.uci));
    let tally = vote_report::tally(proposed);
    let second = ours.first_choice.as_deref().map_or_else(String::new, |first| {
        let mode = ours.second_phase.as_deref().unwrap_or("re-search");
        vote_report::second_phase(mode, &san(first), first != played.uci.to_string())
    });
    let best = vote_report::numbered(line, Some(played.uci));
    writeln!(out, "\n{best}{score}  by {}{tally}{second}  ({:.2} s)", ours.criterion, ours.elapsed.as_secs_f64())?;
    if !proposals.is_empty() {
        writeln!(out, "{}", VoteEntry::titles(VoteEntry::NARROWEST))?;
    }
    for proposal in proposals {
        let entry = VoteEntry {
            elector: match proposal.phase {
                1 => vote_report::name(&proposal.elector, proposal.knowledge.as_deref()),
                _ => vote_report::SECOND_PHASE.to_owned(),
            },
            best: san(&proposal.uci),
            score: proposal.score.map_or_else(String::new, |score| score.to_string()),
            depth: proposal.depth,
            nodes: proposal.nodes,
            weight: proposal.weight,
            elected: proposal.uci == played.uci.to_string(),
            machine: proposal.machine.clone(),
        };
        writeln!(out, "{entry}")?;
    }
    Ok(())
}
