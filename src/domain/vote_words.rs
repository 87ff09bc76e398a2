//! The vote in chess words: readable names of electors, and one sentence about their proposals.
//!
//! Everything here is pure, and below every package that shows a vote: terminal, page, chat, log and report use the same
//! words. `mbkc` becomes `king and centre`; a vote becomes `both engines chose c5; 3 of 3 specialist advisers preferred e5
//! (king and centre) or d5 (pawns and mobility; pawns, attack and piece relations)`.

use std::fmt::Write as _;

use serde::Serialize;

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

/// An elector as people call it.
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

/// A word with a capital first letter.
fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The proposal of one elector.
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

/// A proposed move with its supporters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveGroup {
    /// The move, as people write it.
    pub mv: String,
    /// Move as records write it.
    pub uci: String,
    /// True if it was elected.
    pub elected: bool,
    /// Its supporters: voters first, then advisers.
    pub by: Vec<NamedElector>,
}

/// The proposals by move: the elected one first, then those with the most supporters.
pub fn groups(opinions: &[Opinion], elected: &str) -> Vec<MoveGroup> {
    let mut groups: Vec<MoveGroup> = Vec::new();
    for Opinion { elector, mv, uci } in opinions {
        match groups.iter_mut().find(|group| group.mv == *mv) {
            Some(group) => group.by.push(elector.clone()),
            None => groups.push(MoveGroup {
                mv: mv.clone(),
                uci: uci.clone(),
                elected: mv == elected,
                by: vec![elector.clone()],
            }),
        }
    }
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

/// A vote as a chess player reads it.
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
    /// Why the other proposals were rejected.
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
            sentence: if opinions.is_empty() {
                source.map_or("", source_in_words).to_owned()
            } else {
                sentence(opinions, &elected)
            },
            rule: criterion.map_or("", criterion_in_words),
            agreement: [opinions.iter().filter(|opinion| opinion.mv == elected).count(), opinions.len()],
            groups: groups(opinions, &elected),
            why: why::in_words(&elected, &reasons),
            reasons,
        }
    }

    /// The vote of a decision.
    pub fn of<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> Self {
        let opinions = opinions(line, decision);
        let expected = why::expected(decision);
        Self::new(line, decision.best, &opinions, &expected, (decision.criterion, Some(decision.source)))
    }
}

/// The sentence about a decision, or its origin if no elector was asked.
pub fn decision_sentence<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> String {
    let opinions = opinions(line, decision);
    if !opinions.is_empty() {
        return sentence(&opinions, &line.move_text(decision.best));
    }
    source_in_words(decision.source).to_owned()
}

/// Origin of a move without a vote; empty for the council.
pub const fn source_in_words(source: Source) -> &'static str {
    match source {
        Source::Book => "from the opening book",
        Source::Tablebase => "from the tablebase",
        Source::Explorer => "from the opening explorer",
        Source::Cloud => "from Lichess's cloud evaluation",
        Source::Chessdb => "from chessdb.cn",
        Source::Council => "",
        Source::Proof => "proved to win",
        Source::Forced => "the only legal move",
        Source::Fallback => "no elector answered in time",
        Source::Journal => "decided before the restart",
    }
}

/// A rule of election in words that follow a colon.
pub const fn criterion_in_words(criterion: CriterionName) -> &'static str {
    match criterion {
        CriterionName::Weights => "the weights of the heuristics behind a move are added; the highest sum wins",
        CriterionName::MeanWeights => {
            "each elector weighs the mean of its heuristics' weights; the highest sum for a move wins"
        }
        CriterionName::Depth => "the deepest search wins",
        CriterionName::Relative1 => "the move that gains most over its proposer's own judgement of the position wins",
        CriterionName::Relative1Democratic => "one vote each; ties go to the move that gains most for its proposer",
        CriterionName::Relative2 => "the move whose expected line gains most in the eyes of all electors wins",
        CriterionName::ReSearch => "the whole engine searches the proposed moves again and picks one",
        CriterionName::Majority => "one vote each; the move with the most votes wins",
        CriterionName::Optimistic => "the move with the highest score wins",
        CriterionName::ScoreMargin => {
            "a vote weighs its score above the lowest score, plus a constant; the highest sum for a move wins"
        }
    }
}

struct Class<'a> {
    role: ElectorRole,
    adviser: bool,
    members: Vec<&'a Opinion>,
}

fn classes(opinions: &[Opinion]) -> Vec<Class<'_>> {
    let mut classes: Vec<Class> = Vec::new();
    for opinion in opinions {
        let NamedElector { role, adviser, .. } = opinion.elector;
        match classes.iter_mut().find(|class| (class.role, class.adviser) == (role, adviser)) {
            Some(class) => class.members.push(opinion),
            None => classes.push(Class { role, adviser, members: vec![opinion] }),
        }
    }
    classes.sort_by_key(|class| (class.adviser, class.role));
    classes
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

    /// `both engines`, `3 of 7 specialists`, `Stockfish`.
    fn count(&self, some: &[&Opinion], in_full: bool) -> String {
        let (n, all) = (some.len(), self.members.len());
        let few = n <= MOST_NAMES;
        match self.role {
            ElectorRole::Program if few => {
                let names: Vec<&str> = some.iter().map(|opinion| opinion.elector.name.as_str()).collect();
                listed(&names, "and")
            }
            ElectorRole::Prover if few => {
                let names: Vec<String> = some.iter().map(|opinion| format!("the {}", opinion.elector.name)).collect();
                listed(&names, "and")
            }
            _ if all == 1 => format!("the {}", self.noun(false)),
            _ if in_full && n == all && all == 2 => format!("both {}", self.noun(true)),
            _ if in_full && n == all => format!("all {all} {}", self.noun(true)),
            _ => format!("{n} of {all} {}", self.noun(true)),
        }
    }

    /// Names in brackets, for specialists.
    fn names(&self, some: &[&Opinion]) -> String {
        if self.role != ElectorRole::Specialist {
            return String::new();
        }
        let mut names: Vec<&str> = Vec::new();
        for opinion in some {
            let name = opinion.elector.name.as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
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
        let mut moves: Vec<(&str, Vec<&Opinion>)> = Vec::new();
        for opinion in &others {
            match moves.iter_mut().find(|(mv, _)| *mv == opinion.mv) {
                Some((_, by)) => by.push(opinion),
                None => moves.push((&opinion.mv, vec![opinion])),
            }
        }
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
