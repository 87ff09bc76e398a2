//! The vote in chess words: readable names of electors, and one sentence about their proposals.
//!
//! Everything here is pure, and below every package that shows a vote: terminal, page, chat, log and report use the same
//! words. `mbkc` becomes `king and centre`; a vote becomes `both engines chose c5; 3 of 3 specialist advisers preferred e5
//! (king and centre) or d5 (pawns and mobility; pawns, attack and piece relations)`.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::Serialize;
use util::grouped;

pub use super::knowledge_words::ElectorRole;
use super::{
    CriterionName, Decision, GameLine, Source,
    knowledge_words::listed,
    why::{self, ExpectedLine, Reason},
};

/// Moves of a class of electors that the sentence names, and names for each of them.
const MOST_MOVES: usize = 3;
const MOST_NAMES: usize = 3;

const SECOND_SEARCH: &str = "second search";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedElector {
    /// Its name: `king and centre`, `all knowledge (net)`, `Stockfish`.
    pub name: String,
    /// The short form of the journal and the settings: `mbkc`, `learned-1`, `fish (mbxk)`.
    pub short: String,
    pub role: ElectorRole,
    /// True for an adviser: a specialist that searches for the first third of the move and has no vote.
    pub adviser: bool,
}

impl NamedElector {
    /// An elector of the first phase by its name in the journal and the letters of its knowledge.
    pub fn new<L: GameLine>(elector: &str, letters: Option<&str>, adviser: bool) -> Self {
        let known = letters.and_then(L::knowledge_in_words);
        let (role, name) = known.unwrap_or_else(|| match prover(elector).filter(|_| adviser && letters.is_none()) {
            Some(name) => (ElectorRole::Prover, name.to_owned()),
            None => (ElectorRole::Program, capitalised(elector)),
        });
        let short = match (letters, role) {
            (Some(letters), ElectorRole::Specialist | ElectorRole::Program) if letters != elector => {
                format!("{elector} ({letters})")
            }
            _ => elector.to_owned(),
        };
        Self { name, short, role, adviser }
    }

    pub fn second_search() -> Self {
        let name = SECOND_SEARCH.to_owned();
        Self { short: name.clone(), name, role: ElectorRole::Second, adviser: false }
    }

    /// The name with the short form, for a table: `king and centre (mbkc), adviser`.
    pub fn label(&self) -> String {
        let Self { name, short, role, adviser } = self;
        let label = match role {
            ElectorRole::Engine => format!("{short}: {name}"),
            ElectorRole::Specialist if short.contains('(') => format!("{name}: {short}"),
            ElectorRole::Specialist => format!("{name} ({short})"),
            ElectorRole::Program | ElectorRole::Second => short.clone(),
            ElectorRole::Prover => name.clone(),
        };
        if *adviser && *role != ElectorRole::Prover { format!("{label}, adviser") } else { label }
    }
}

/// The name of a prover, by its word in the settings of this version or of an earlier one that wrote the journal.
fn prover(word: &str) -> Option<&'static str> {
    Some(match word {
        "mates" => "mate search",
        "checks" => "search for mating checks",
        "draws" => "draw search",
        "tables" => "tablebase search",
        _ => return None,
    })
}

/// Returns a text with a capital first letter.
pub fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Opinion {
    pub elector: NamedElector,
    /// Its move, as people write it.
    pub mv: String,
    /// Move as records write it.
    pub uci: String,
}

/// All opinions behind a decision: those of voters, advisers, and the second search.
pub fn opinions<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> Vec<Opinion> {
    let opinion = |elector, mv: L::Move| Opinion { elector, mv: line.move_text(mv), uci: mv.to_string() };
    let first = decision.votes.iter().map(|vote| {
        let letters = vote.knowledge.map(|knowledge| knowledge.to_string());
        let elector = NamedElector::new::<L>(vote.proposal.elector.as_str(), letters.as_deref(), vote.weight.is_none());
        opinion(elector, vote.proposal.best)
    });
    let second = decision.second_phase.iter();
    let second = second.map(|second| opinion(NamedElector::second_search(), second.proposal.best));
    first.chain(second).collect()
}

/// Returns true if at least two searched and all of them, advisers included, proposed the same move.
pub fn is_unanimous(opinions: &[Opinion]) -> bool {
    opinions.len() > 1 && opinions.windows(2).all(|pair| pair[0].mv == pair[1].mv)
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveGroup {
    pub mv: String,
    pub uci: String,
    pub elected: bool,
    /// Its supporters: voters first, then advisers.
    pub by: Vec<NamedElector>,
}

/// The proposals by move: the elected one first, then those with the most supporters.
pub fn groups(opinions: &[Opinion], elected: &str) -> Vec<MoveGroup> {
    let groups = grouped(opinions.iter().map(|opinion| (&opinion.mv, opinion))).into_iter();
    let groups = groups.map(|(mv, by)| MoveGroup {
        mv: mv.clone(),
        uci: by[0].uci.clone(),
        elected: mv == elected,
        by: by.into_iter().map(|opinion| opinion.elector.clone()).collect(),
    });
    let mut groups: Vec<MoveGroup> = groups.collect();
    groups.sort_by_key(|group| (!group.elected, std::cmp::Reverse(group.by.len())));
    groups
}

/// Returns the vote in one sentence without its capital letter: `both engines chose c5; 1 of 3
/// specialist advisers preferred e5 (king and centre)`. Empty if no more than one elector searched
/// and its move was played.
pub fn sentence(opinions: &[Opinion], elected: &str) -> String {
    if opinions.iter().all(|opinion| opinion.mv == elected) && opinions.len() < 2 {
        return String::new();
    }
    let classes = classes(opinions);
    let supporters: Vec<String> = classes.iter().filter_map(|class| class.supporters(elected)).collect();
    let mut clauses = Vec::new();
    if !supporters.is_empty() {
        let unanimous = if is_unanimous(opinions) { "unanimous: " } else { "" };
        clauses.push(format!("{unanimous}{} chose {elected}", listed(&supporters, "and")));
    }
    clauses.extend(classes.iter().filter_map(|class| class.dissent(elected)));
    clauses.join("; ")
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VoteInWords {
    /// The vote in one sentence; the origin of a move without a vote.
    pub sentence: String,
    /// The rule of election in words; empty without a vote.
    pub rule: &'static str,
    /// The number of opinions for the move, and of all opinions, advisers included.
    pub agreement: [usize; 2],
    /// The proposals by move, the elected one first.
    pub groups: Vec<MoveGroup>,
    pub reasons: Vec<Reason>,
    /// The reasons in one sentence; empty without any.
    pub why: String,
}

impl VoteInWords {
    /// A vote by its parts: `expected` are the lines behind `opinions`.
    pub fn new<L: GameLine>(
        line: &L,
        best: L::Move,
        opinions: &[Opinion],
        expected: &[ExpectedLine<L::Move>],
        chosen_by: (Option<CriterionName>, Option<Source>),
    ) -> Self {
        let elected = line.move_text(best);
        let (criterion, source) = chosen_by;
        let reasons = why::reasons(line, best, expected);
        Self {
            sentence: sentence_or_origin(opinions, &elected, source),
            rule: criterion.map_or("", CriterionName::in_words),
            agreement: [opinions.iter().filter(|opinion| opinion.mv == elected).count(), opinions.len()],
            groups: groups(opinions, &elected),
            why: why::in_words(&elected, &reasons),
            reasons,
        }
    }

    pub fn of<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> Self {
        let opinions = opinions(line, decision);
        let expected = why::expected(decision);
        Self::new(line, decision.best, &opinions, &expected, (decision.criterion, Some(decision.source)))
    }
}

/// The sentence about a decision, or its origin if no elector was asked.
pub fn decision_sentence<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> String {
    sentence_or_origin(&opinions(line, decision), &line.move_text(decision.best), Some(decision.source))
}

fn sentence_or_origin(opinions: &[Opinion], elected: &str, source: Option<Source>) -> String {
    match opinions {
        [] => source.map_or("", Source::in_words).to_owned(),
        opinions => sentence(opinions, elected),
    }
}

struct Class<'a> {
    role: ElectorRole,
    adviser: bool,
    members: Vec<&'a Opinion>,
}

fn classes(opinions: &[Opinion]) -> Vec<Class<'_>> {
    let mut classes: BTreeMap<(bool, ElectorRole), Vec<&Opinion>> = BTreeMap::new();
    for opinion in opinions {
        classes.entry((opinion.elector.adviser, opinion.elector.role)).or_default().push(opinion);
    }
    classes.into_iter().map(|((adviser, role), members)| Class { role, adviser, members }).collect()
}

impl Class<'_> {
    fn noun(&self, many: bool) -> String {
        let noun = match self.role {
            ElectorRole::Engine => "engine",
            ElectorRole::Specialist => "specialist",
            ElectorRole::Program => "elector",
            ElectorRole::Prover => "proof search",
            ElectorRole::Second => SECOND_SEARCH,
        };
        let adviser = if self.adviser && self.role != ElectorRole::Prover { " adviser" } else { "" };
        let plural = match (many, self.role, adviser) {
            (false, ..) => "",
            (true, ElectorRole::Prover, _) => "es",
            (true, ..) => "s",
        };
        format!("{noun}{adviser}{plural}")
    }

    fn count(&self, some: &[&Opinion], in_full: bool) -> String {
        let (n, all) = (some.len(), self.members.len());
        let few = n <= MOST_NAMES;
        let names = |article| {
            let names = some.iter().map(|opinion| format!("{article}{}", opinion.elector.name));
            listed(&names.collect::<Vec<_>>(), "and")
        };
        match self.role {
            ElectorRole::Program if few => names(""),
            ElectorRole::Prover if few => names("the "),
            _ if all == 1 => format!("the {}", self.noun(false)),
            _ if in_full && n == all && all == 2 => format!("both {}", self.noun(true)),
            _ if in_full && n == all => format!("all {all} {}", self.noun(true)),
            _ => format!("{n} of {all} {}", self.noun(true)),
        }
    }

    fn names(&self, some: &[&Opinion]) -> String {
        if self.role != ElectorRole::Specialist {
            return String::new();
        }
        let names = grouped(some.iter().map(|opinion| (opinion.elector.name.as_str(), ())));
        let names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
        let more = names.len().saturating_sub(MOST_NAMES);
        let mut text = names[..names.len() - more].join("; ");
        if more > 0 {
            let _ = write!(text, "; {more} more");
        }
        format!(" ({text})")
    }

    /// The members that proposed `elected`, if any did.
    fn supporters(&self, elected: &str) -> Option<String> {
        let some: Vec<&Opinion> = self.members.iter().filter(|opinion| opinion.mv == elected).copied().collect();
        let minority = some.len() * 2 <= self.members.len() || self.members.len() == 1;
        let names = if minority { self.names(&some) } else { String::new() };
        (!some.is_empty()).then(|| format!("{}{names}", self.count(&some, true)))
    }

    /// The members that proposed other moves, with these moves.
    fn dissent(&self, elected: &str) -> Option<String> {
        let others: Vec<&Opinion> = self.members.iter().filter(|opinion| opinion.mv != elected).copied().collect();
        if others.is_empty() {
            return None;
        }
        let mut moves = grouped(others.iter().map(|opinion| (&opinion.mv, *opinion)));
        moves.sort_by_key(|(_, by)| std::cmp::Reverse(by.len()));
        let more = moves.len().saturating_sub(MOST_MOVES);
        let mut words: Vec<String> =
            moves[..moves.len() - more].iter().map(|(mv, by)| format!("{mv}{}", self.names(by))).collect();
        match more {
            0 => {}
            1 => words.push("another move".to_owned()),
            more => words.push(format!("{more} other moves")),
        }
        Some(format!("{} preferred {}", self.count(&others, false), listed(&words, "or")))
    }
}

#[cfg(test)]
mod tests;
