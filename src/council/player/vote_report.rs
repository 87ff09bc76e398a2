//! How a decision came about, in words that every frontend and record shows alike.

use std::fmt::{self, Write as _};

use chess::{Decision, GameLine, Knowledge, Phase, Proposal};

/// The whole vote in lines: the columns' titles, a line an elector, and the summary; the summary alone where nobody voted.
pub fn lines<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> Vec<String> {
    let entries = entries(line, decision);
    let width = entries.iter().map(|entry| entry.elector.chars().count()).fold(VoteEntry::NARROWEST, usize::max);
    let titles = (!entries.is_empty()).then(|| VoteEntry::titles(width));
    let votes = entries.iter().map(|entry| format!("{entry:width$}").trim_end().to_owned());
    titles.into_iter().chain(votes).chain([summary(line, decision)]).collect()
}

/// How the second phase is called among the electors.
pub const SECOND_PHASE: &str = "re-search";

/// What one elector had to say in the vote, ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct VoteEntry {
    /// Who proposed, and what it knows where the name does not say it: `mpar`, `fish`, `old (mbxk)`.
    pub elector: String,
    /// The proposed move, in standard algebraic notation.
    pub best: String,
    /// Its value, such as `+0.34`, from our side.
    pub score: String,
    /// Plies: the last completed iteration.
    pub depth: u32,
    /// Nodes visited by its search.
    pub nodes: u64,
    /// What it weighed; `None` before the election, and in the second phase, which is not weighed.
    pub weight: Option<f64>,
    /// Whether this move was elected.
    pub elected: bool,
    /// The machine that lent its cores for it, if it was not this one.
    pub machine: Option<String>,
}

impl VoteEntry {
    /// A proposal while nothing is elected yet.
    pub fn proposal<L: GameLine>(line: &L, proposal: &Proposal<L::Move>) -> Self {
        let second = proposal.search.phase == Phase::Second;
        Self {
            elector: if second { SECOND_PHASE.to_owned() } else { proposal.elector.to_string() },
            best: line.move_text(proposal.best),
            score: proposal.score.to_string(),
            depth: proposal.depth,
            nodes: proposal.nodes,
            weight: None,
            elected: false,
            machine: proposal.machine.as_ref().map(ToString::to_string),
        }
    }

    /// The fewest characters that the name of an elector takes.
    pub const NARROWEST: usize = 10;

    /// The titles of the columns that [`VoteEntry`]'s display has, where names take so many characters.
    pub fn titles(width: usize) -> String {
        format!("  {:<width$}    move   score depth      nodes  weight", "elector")
    }
}

impl fmt::Display for VoteEntry {
    /// In columns, with a mark where the move was elected. The width is that of the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.elected { '*' } else { ' ' };
        let Self { elector, best, score, depth, nodes, .. } = self;
        let weight = self.weight.map_or_else(String::new, weight);
        let width = f.width().unwrap_or(Self::NARROWEST);
        write!(f, "{mark} {elector:<width$} {best:>7} {score:>7} {depth:>5} {nodes:>10} {weight:>7}")?;
        self.machine.iter().try_for_each(|machine| write!(f, "  on {machine}"))
    }
}

/// A weight without digits that say nothing: weights of one criterion are whole numbers, of another probabilities.
fn weight(weight: f64) -> String {
    if weight.abs() >= 10.0 || weight.fract() == 0.0 { format!("{weight:.0}") } else { format!("{weight:.2}") }
}

/// An elector's name, with the letters of what it knows where that is not everything and the name does not say it.
pub fn name(elector: &str, knowledge: Option<&str>) -> String {
    match knowledge {
        Some(letters) if letters != elector && !letters.parse().is_ok_and(Knowledge::is_whole) => {
            format!("{elector} ({letters})")
        }
        _ => elector.to_owned(),
    }
}

/// Every elector's vote in the order of the roster, the second phase last.
pub fn entries<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> Vec<VoteEntry> {
    let first = decision.votes.iter().map(|vote| VoteEntry {
        elector: name(vote.proposal.elector.as_str(), vote.knowledge.map(|knowledge| knowledge.to_string()).as_deref()),
        weight: vote.weight,
        ..VoteEntry::proposal(line, &vote.proposal)
    });
    let second = decision.second_phase.iter().map(|second| VoteEntry::proposal(line, &second.proposal));
    let elected = line.move_text(decision.best);
    first.chain(second).map(|entry| VoteEntry { elected: entry.best == elected, ..entry }).collect()
}

/// What is said of a vote and who proposed what, in one line: `...; fully-guarded 22-18 +0.12/9`.
pub fn in_one_line<'a>(said: &str, entries: impl IntoIterator<Item = &'a VoteEntry>) -> String {
    let vote =
        |VoteEntry { elector, best, score, depth, .. }: &VoteEntry| format!("; {elector} {best} {score}/{depth}");
    let votes: String = entries.into_iter().map(vote).collect();
    format!("{said}{votes}")
}

/// The decision in one line: the move, its value, the rule, how split the vote was, and what the second phase changed.
pub fn summary<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> String {
    let mut text = numbered(line, Some(decision.best));
    if let Some(score) = decision.score {
        let _ = write!(text, "  {score}");
    }
    let _ = write!(text, "  by {}", decision.chosen_by());
    let proposed = decision.votes_cast().map(|vote| line.move_text(vote.proposal.best));
    let _ = write!(text, "{}", tally(proposed));
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

/// What the second phase in this mode made of the first one's choice.
pub fn second_phase(mode: &str, first_choice: &str, changed: bool) -> String {
    let did = if changed { "instead of" } else { "confirms" };
    format!("; second phase ({mode}) {did} {first_choice}")
}

/// How many electors proposed each move, the most proposed first: `, votes e5 ×3, d5 ×1`; nothing where nobody did.
pub fn tally(proposed: impl Iterator<Item = String>) -> String {
    let mut tally: Vec<(String, usize)> = Vec::new();
    for san in proposed {
        match tally.iter_mut().find(|(known, _)| *known == san) {
            Some((_, votes)) => *votes += 1,
            None => tally.push((san, 1)),
        }
    }
    tally.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
    match tally.as_slice() {
        [] => String::new(),
        [_] => ", unanimous".to_owned(),
        several => {
            let votes: Vec<String> = several.iter().map(|(san, votes)| format!("{san} ×{votes}")).collect();
            format!(", votes {}", votes.join(", "))
        }
    }
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
    use std::time::Duration;

    use super::*;
    use chess::{Bound, CriterionName, Line, Score, SearchId, SecondPhase, SecondPhaseMode, Source, Variant, Vote};

    fn proposal(elector: &str, best: &str, phase: Phase) -> Proposal {
        let best = best.parse().expect("a move");
        Proposal {
            search: SearchId { game: "g".into(), ply: 0, serial: 1, phase },
            elector: elector.into(),
            machine: None,
            best,
            score: Score::Cp(34),
            bound: Bound::Exact,
            depth: 12,
            selective_depth: 14,
            root_moves_done: 0,
            nodes: 5000,
            time: Duration::ZERO,
            pv: vec![best],
        }
    }

    fn vote(elector: &str, knowledge: Option<&str>, best: &str) -> Vote {
        let knowledge = knowledge.map(|letters| letters.parse().expect("letters"));
        Vote { proposal: proposal(elector, best, Phase::First), knowledge, weight: Some(51.0) }
    }

    #[test]
    fn they_say_who_proposed_what_and_what_the_second_phase_changed() {
        let line = Line::start(Variant::Standard);
        let best = "g1f3".parse().expect("a move");
        let decision = Decision {
            score: Some(Score::Cp(34)),
            criterion: Some(CriterionName::ReSearch),
            votes: vec![
                vote("mp", Some("mp"), "e2e4"),
                vote("old", Some("mbxk"), "e2e4"),
                vote("fish", None, "g1f3"),
                // Advice is shown, and counted nowhere.
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
            "1. Nf3  +0.34  by re-search, votes e4 ×2, Nf3 ×1; second phase (shared) instead of e4  (0.00 s)"
        );
        let entries = entries(&line, &decision);
        let names: Vec<&str> = entries.iter().map(|entry| entry.elector.as_str()).collect();
        assert_eq!(names, ["mp", "old (mbxk)", "fish", "adviser (mbkc)", SECOND_PHASE]);
        let elected: Vec<bool> = entries.iter().map(|entry| entry.elected).collect();
        assert_eq!(elected, [false, false, true, true, true]);
        let widths: Vec<usize> = entries.iter().map(|entry| entry.to_string().trim_end().len()).collect();
        assert!(widths.iter().all(|width| *width <= VoteEntry::titles(VoteEntry::NARROWEST).len()), "{widths:?}");
    }
}
