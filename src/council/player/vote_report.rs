//! Votes in words, alike in every frontend and record.

use std::fmt::{self, Write as _};

use domain::{
    Decision, GameLine, Phase, Proposal,
    vote_words::{self, NamedElector},
};

/// Returns the whole vote in lines: the columns' titles, a line an elector, and the summary; only
/// the summary if there was no vote.
pub fn lines<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> Vec<String> {
    let mut lines = table(&entries(line, decision));
    lines.push(summary(line, decision));
    lines
}

pub fn table(entries: &[VoteEntry]) -> Vec<String> {
    let width = entries.iter().map(|entry| entry.elector.chars().count()).fold(NARROWEST, usize::max);
    let titles = (!entries.is_empty()).then(|| VoteEntry::titles(width));
    let rows = entries.iter().map(|entry| format!("{entry:width$}").trim_end().to_owned());
    titles.into_iter().chain(rows).collect()
}

pub const SECOND_PHASE: &str = "re-search";

const NARROWEST: usize = 10;

#[derive(Clone, Debug, PartialEq)]
pub struct VoteEntry {
    /// Elector in words and by its short form: `king and centre (mbkc), adviser`, `Stockfish`.
    pub elector: String,
    /// The short form alone: `mbkc`, `fish`, `old (mbxk)`.
    pub short: String,
    /// The proposed move, in standard algebraic notation.
    pub best: String,
    /// Its value, such as `+0.34`, from our side.
    pub score: String,
    /// Plies: the last completed iteration.
    pub depth: u32,
    pub nodes: u64,
    /// Weight in the election; `None` before the election, for advisers, and in the second phase,
    /// which is not weighed.
    pub weight: Option<f64>,
    pub elected: bool,
    /// The machine that lent its cores for it, if it was not this one.
    pub machine: Option<String>,
}

impl VoteEntry {
    pub fn proposal<L: GameLine>(line: &L, elector: &NamedElector, proposal: &Proposal<L::Move>) -> Self {
        let second = proposal.search.phase == Phase::Second;
        Self {
            elector: if second { SECOND_PHASE.to_owned() } else { elector.label() },
            short: if second { SECOND_PHASE.to_owned() } else { elector.short.clone() },
            best: line.move_text(proposal.best),
            score: proposal.score.to_string(),
            depth: proposal.depth,
            nodes: proposal.nodes,
            weight: None,
            elected: false,
            machine: proposal.machine.as_ref().map(ToString::to_string),
        }
    }

    fn titles(width: usize) -> String {
        format!("  {:<width$}    move   score depth      nodes  weight", "elector")
    }
}

impl fmt::Display for VoteEntry {
    /// Writes columns, with a mark at the elected move. The width is that of the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.elected { '*' } else { ' ' };
        let Self { elector, best, score, depth, nodes, .. } = self;
        let weight = self.weight.map_or_else(String::new, weight);
        let width = f.width().unwrap_or(NARROWEST);
        write!(f, "{mark} {elector:<width$} {best:>7} {score:>7} {depth:>5} {nodes:>10} {weight:>7}")?;
        self.machine.iter().try_for_each(|machine| write!(f, "  on {machine}"))
    }
}

/// A weight without digits that say nothing: weights of one criterion are whole numbers, of another probabilities.
fn weight(weight: f64) -> String {
    if weight.abs() >= 10.0 || weight.fract() == 0.0 { format!("{weight:.0}") } else { format!("{weight:.2}") }
}

/// Every elector's vote in the order of the roster, the second phase last.
pub fn entries<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> Vec<VoteEntry> {
    let first = decision.votes.iter().map(|vote| {
        let letters = vote.knowledge.map(|knowledge| knowledge.to_string());
        let elector = NamedElector::new::<L>(vote.proposal.elector.as_str(), letters.as_deref(), vote.weight.is_none());
        VoteEntry { weight: vote.weight, ..VoteEntry::proposal(line, &elector, &vote.proposal) }
    });
    let second = decision.second_phase.iter();
    let second = second.map(|second| VoteEntry::proposal(line, &NamedElector::second_search(), &second.proposal));
    let elected = line.move_text(decision.best);
    first.chain(second).map(|entry| VoteEntry { elected: entry.best == elected, ..entry }).collect()
}

/// Returns a vote and its proposals in one line: `...; fully-guarded 22-18 +0.12/9`.
pub fn in_one_line<'a>(said: &str, entries: impl IntoIterator<Item = &'a VoteEntry>) -> String {
    let vote = |VoteEntry { short, best, score, depth, .. }: &VoteEntry| format!("; {short} {best} {score}/{depth}");
    let votes: String = entries.into_iter().map(vote).collect();
    format!("{said}{votes}")
}

/// Returns the decision in one line: the move, its value, the rule, the votes, and the second phase's change.
pub fn summary<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> String {
    let mut text = numbered(line, Some(decision.best));
    if let Some(score) = decision.score {
        let _ = write!(text, "  {score}");
    }
    let _ = write!(text, "  by {}", decision.chosen_by());
    let said = vote_words::sentence(&vote_words::opinions(line, decision), &line.move_text(decision.best));
    if !said.is_empty() {
        let _ = write!(text, ": {said}");
    }
    if let Some(second) = &decision.second_phase {
        let _ = write!(
            text,
            "{}",
            second_phase(second.mode.word(), &line.move_text(second.first_choice), second.changed_the_choice())
        );
    }
    let _ = write!(text, "  ({:.2} s)", decision.elapsed.as_secs_f64());
    text
}

pub fn second_phase(mode: &str, first_choice: &str, changed: bool) -> String {
    let did = if changed { "instead of" } else { "confirms" };
    format!("; second phase ({mode}) {did} {first_choice}")
}

/// A move with its number: `12. Nf3` or `12… Nc6`.
pub fn numbered<L: GameLine>(line: &L, mv: Option<L::Move>) -> String {
    let (number, first) = line.move_number();
    let dots = if first { "." } else { "…" };
    let text = mv.map_or_else(String::new, |mv| line.move_text(mv));
    format!("{number}{dots} {text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{CriterionName, Line, Score, SearchId, SecondPhase, SecondPhaseMode, Source, Variant, Vote};

    fn proposal(elector: &str, best: &str, phase: Phase) -> Proposal {
        let best = best.parse().expect("a move");
        let proposal = crate::vote::tests::proposed(elector.into(), best, Score::Cp(34), 12);
        Proposal { nodes: 5000, search: SearchId { phase, ..proposal.search.clone() }, ..proposal }
    }

    fn vote(elector: &str, knowledge: Option<&str>, best: &str) -> Vote {
        let knowledge = knowledge.map(|letters| letters.parse().expect("letters"));
        Vote { proposal: proposal(elector, best, Phase::First), knowledge, weight: Some(51.0) }
    }

    #[test]
    fn vote_report_names_every_change() {
        let line = Line::start(Variant::Standard);
        let best = "g1f3".parse().expect("a move");
        let decision = Decision {
            score: Some(Score::Cp(34)),
            criterion: Some(CriterionName::ReSearch),
            votes: vec![
                vote("mp", Some("mp"), "e2e4"),
                vote("old", Some("mbxk"), "e2e4"),
                vote("fish", None, "g1f3"),
                // Advice has no weight, and is part of what is said.
                Vote { weight: None, ..vote("adviser", Some("mbkc"), "g1f3") },
            ],
            second_phase: Some(SecondPhase {
                mode: SecondPhaseMode::Shared,
                first_choice: "e2e4".parse().expect("a move"),
                proposal: proposal("mbxkcpar", "g1f3", Phase::Second),
            }),
            ..Decision::without_vote(best, Source::Council)
        };
        assert_eq!(
            summary(&line, &decision),
            "1. Nf3  +0.34  by re-search: Fish, the second search and the specialist adviser (king and centre) chose Nf3; \
             2 of 2 specialists preferred e4 (pawns; king and mobility); second phase (shared) instead of e4  (0.00 s)"
        );
        let entries = entries(&line, &decision);
        let names: Vec<&str> = entries.iter().map(|entry| entry.elector.as_str()).collect();
        let expected = [
            "pawns (mp)",
            "king and mobility: old (mbxk)",
            "fish",
            "king and centre: adviser (mbkc), adviser",
            SECOND_PHASE,
        ];
        assert_eq!(names, expected);
        let short: Vec<&str> = entries.iter().map(|entry| entry.short.as_str()).collect();
        assert_eq!(short, ["mp", "old (mbxk)", "fish", "adviser (mbkc)", SECOND_PHASE]);
        let elected: Vec<bool> = entries.iter().map(|entry| entry.elected).collect();
        assert_eq!(elected, [false, false, true, true, true]);
        let table = table(&entries);
        let column = table[0].find(" move").expect("a title") + " move".len();
        let ends = |row: &&String| row.chars().take(column).last().is_some_and(|letter| letter != ' ');
        assert_eq!(table.iter().skip(1).filter(ends).count(), entries.len(), "{table:#?}");
    }
}
