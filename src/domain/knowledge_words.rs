//! The knowledge of an elector in words that a chess player understands.

use serde::Serialize;

use engine::{Heuristic, Knowledge};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ElectorRole {
    /// The built-in engine with complete knowledge.
    Engine,
    /// The built-in engine with partial knowledge.
    Specialist,
    /// A program, or a player of another game, by its own name.
    Program,
    /// A search for a proof: mates, draws, tablebases.
    Prover,
    /// The second search, over the proposed moves.
    Second,
}

/// The role of an elector with this knowledge, and the knowledge in words: `all knowledge (net)`, or for a specialist `king and
/// centre`.
pub(super) fn in_words(knowledge: Knowledge) -> (ElectorRole, String) {
    let net = knowledge.has(Heuristic::Net);
    let hand_written = knowledge.without(Heuristic::Net);
    if hand_written.complement().is_empty() {
        let with_net = if net { "all knowledge, with a net" } else { "all knowledge" };
        return (ElectorRole::Engine, with_net.to_owned());
    }
    if net {
        let beside = if hand_written.is_empty() { String::new() } else { format!(", {}", topics(hand_written)) };
        return (ElectorRole::Engine, format!("all knowledge (net{beside})"));
    }
    (ElectorRole::Specialist, part(knowledge))
}

/// A part of the eight hand-written heuristics. Material is not named, nor is placement beside two other topics.
fn part(knowledge: Knowledge) -> String {
    let missing = knowledge.complement();
    let others = knowledge.without(Heuristic::Material).without(Heuristic::Placement);
    let count = |set: Knowledge| set.heuristics().count();
    if !knowledge.has(Heuristic::Material) {
        return format!("{} without material", topics(knowledge));
    }
    if count(missing) <= 2 {
        return format!("all but {}", topics(missing));
    }
    match (knowledge.has(Heuristic::Placement), count(others)) {
        (true, 0) => "material and placement".to_owned(),
        (false, 0) => "material".to_owned(),
        (true, 2) => topics(others),
        _ => topics(knowledge.without(Heuristic::Material)),
    }
}

/// Heuristics in words, those that players speak of most first: `pawns, king and centre`.
fn topics(knowledge: Knowledge) -> String {
    const ORDER: [(Heuristic, &str); 8] = [
        (Heuristic::Pawns, "pawns"),
        (Heuristic::KingSafety, "king"),
        (Heuristic::Centre, "centre"),
        (Heuristic::Attack, "attack"),
        (Heuristic::Mobility, "mobility"),
        (Heuristic::Material, "material"),
        (Heuristic::Placement, "placement"),
        (Heuristic::Relations, "piece relations"),
    ];
    let words: Vec<&str> =
        ORDER.iter().filter(|(heuristic, _)| knowledge.has(*heuristic)).map(|(_, word)| *word).collect();
    listed(&words, "and")
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(words: &[impl AsRef<str>], conjunction: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}
