use proptest::prelude::*;

use super::*;
use crate::{Knowledge, Line};

fn name(letters: &str) -> String {
    NamedElector::new::<Line>(letters, Some(letters), false).name
}

/// Votes as `elector move`, those of advisers behind a bar.
fn cast(votes: &str) -> Vec<Opinion> {
    let (voters, advisers) = votes.split_once('|').unwrap_or((votes, ""));
    let parse = |text: &str, adviser: bool| -> Vec<Opinion> {
        let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
        let opinions = pairs.map(|pair| {
            let (elector, mv) = pair.split_once(' ').expect("an elector and a move");
            let letters = if elector.starts_with("learned") { Some("n") } else { Some(elector) };
            let letters = letters.filter(|letters| letters.parse::<Knowledge>().is_ok());
            let elector = NamedElector::new::<Line>(elector, letters, adviser);
            Opinion { elector, mv: mv.to_owned(), uci: mv.to_owned() }
        });
        opinions.collect()
    };
    [parse(voters, false), parse(advisers, true)].concat()
}

fn said(votes: &str, elected: &str) -> String {
    sentence(&cast(votes), elected)
}

#[test]
fn knowledge_has_readable_names() {
    for (letters, words) in [
        ("mbkc", "king and centre"),
        ("mbxp", "pawns and mobility"),
        ("mb", "material and placement"),
        ("mpar", "pawns, attack and piece relations"),
        ("mk", "king"),
        ("m", "material"),
        ("mbr", "placement and piece relations"),
        ("mbxkcpa", "all but piece relations"),
        ("mbkcpar", "all but mobility"),
        ("kc", "king and centre without material"),
        ("mbxkcpar", "all knowledge"),
        ("n", "all knowledge (net)"),
        ("mbxkcparn", "all knowledge, with a net"),
        ("mkn", "all knowledge (net, king and material)"),
    ] {
        assert_eq!(name(letters), words, "{letters}");
    }
}

#[test]
fn electors_of_a_roster_have_unique_names() {
    let rosters = "mpar mbxp mbkc mxar mkcp mcar mbxk mbar mxkc mkar mbkr mbr mxkp mxbr mbka mbcp mxka mkrx mkca; \
                   mp ma mc mb mr mk mx; mpa mcp mbp mpr mkp mxp; mbcpa mcpar mkcpa mxcpa; \
                   mcpa mbpa mpar mkpa mxpa; mp mpa mcpa mbcpa mbcpar mbkcpar mbxkcpar; \
                   mbxkcpar mp ma mc mbkcpar mbxcpar mbxkcpa; mbxk mbka mbpr mxpa mxar mkpr";
    for roster in rosters.split(';') {
        let mut names: Vec<String> = roster.split_ascii_whitespace().map(name).collect();
        let electors = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), electors, "{roster}: {names:?}");
    }
}

#[test]
fn programs_keep_their_names() {
    let named = |elector, letters, adviser| NamedElector::new::<Line>(elector, letters, adviser);
    assert_eq!(named("stockfish", None, false).name, "Stockfish");
    assert_eq!(named("mates", None, true).name, "mate search");
    assert_eq!(named("mates", None, false).role, ElectorRole::Program, "an engine may be called so");
    assert_eq!(named("old", Some("mbxk"), false).label(), "king and mobility: old (mbxk)");
    assert_eq!(named("mbkc", Some("mbkc"), true).label(), "king and centre (mbkc), adviser");
    assert_eq!(named("learned-1", Some("n"), false).label(), "learned-1: all knowledge (net)");
}

#[test]
fn sentence_says_who_wanted_what() {
    let auto = "learned-1 c5, learned-2 c5 | mpar e5, mbxp d5, mbkc e5";
    assert_eq!(
        said(auto, "c5"),
        "both engines chose c5; 3 of 3 specialist advisers preferred e5 (pawns, attack and piece relations; king and \
         centre) or d5 (pawns and mobility)"
    );
    assert_eq!(
        said("learned-1 c5, learned-2 e5 | mpar c5, mbxp c5, mbkc c5", "c5"),
        "1 of 2 engines and all 3 specialist advisers chose c5; 1 of 2 engines preferred e5"
    );
    assert_eq!(
        said("mpar Rh6, mbxp Rh6, mbkc Qg4, mxar Rh6", "Rh6"),
        "3 of 4 specialists chose Rh6; 1 of 4 specialists preferred Qg4 (king and centre)"
    );
    assert_eq!(
        said("stockfish e4, learned-1 d4", "e4"),
        "Stockfish chose e4; the engine preferred d4",
        "an engine of the program beside another one"
    );
    assert_eq!(said("learned-1 e4", "e4"), "", "one elector is no vote");
}

#[test]
fn many_moves_are_cut_short() {
    let votes = "mpar a3, mbxp b3, mbkc c3, mxar d3, mkcp e3, mcar f3, mbxk g3";
    assert_eq!(
        said(votes, "a3"),
        "1 of 7 specialists (pawns, attack and piece relations) chose a3; 6 of 7 specialists preferred b3 (pawns and \
         mobility), c3 (king and centre), d3 (attack, mobility and piece relations) or 3 other moves"
    );
}

#[test]
fn unanimity_is_of_all_searchers() {
    assert_eq!(
        said("learned-1 c5, learned-2 c5 | mpar c5", "c5"),
        "unanimous: both engines and the specialist adviser (pawns, attack and piece relations) chose c5"
    );
    assert!(!said("learned-1 c5, learned-2 c5 | mpar e5", "c5").contains("unanimous"));
    assert!(!said("learned-1 c5, learned-2 c5 | mates e5", "c5").contains("unanimous"));
    let second = Opinion { elector: NamedElector::second_search(), mv: "e5".into(), uci: "e7e5".into() };
    let votes = [cast("mpar c5, mbxp c5"), vec![second]].concat();
    assert_eq!(
        sentence(&votes, "e5"),
        "the second search chose e5; 2 of 2 specialists preferred c5 (pawns, attack and \
         piece relations; pawns and mobility)"
    );
}

#[test]
fn elected_move_comes_first() {
    let groups = groups(&cast("learned-1 c5, mpar e5, mbxp e5 | mbkc c5"), "c5");
    let shown: Vec<(&str, usize, bool)> =
        groups.iter().map(|group| (group.mv.as_str(), group.by.len(), group.elected)).collect();
    assert_eq!(shown, [("c5", 2, true), ("e5", 2, false)]);
}

proptest! {
    /// The word stands in the sentence exactly if all who searched agree, and every move of a dissenter is named or counted.
    #[test]
    fn no_dissent_is_called_unanimous(
        votes in prop::collection::vec((0..6_usize, 0..5_usize, any::<bool>()), 1..12),
        elected in 0..5_usize,
    ) {
        const ELECTORS: [&str; 6] = ["learned-1", "mpar", "mbkc", "stockfish", "mates", "m"];
        const MOVES: [&str; 5] = ["c5", "e5", "d5", "Nf6", "O-O"];
        let opinions: Vec<Opinion> = votes
            .iter()
            .flat_map(|(elector, mv, adviser)| {
                let bar = if *adviser { "| " } else { "" };
                cast(&format!("{bar}{} {}", ELECTORS[*elector], MOVES[*mv]))
            })
            .collect();
        let elected = MOVES[elected];
        let text = sentence(&opinions, elected);
        let agree = opinions.len() > 1 && opinions.iter().all(|opinion| opinion.mv == elected);
        prop_assert_eq!(text.contains("unanimous"), agree, "{}", &text);
        let dissent = opinions.iter().any(|opinion| opinion.mv != elected);
        prop_assert_eq!(text.contains("preferred"), dissent, "{}", &text);
        let grouped: usize = groups(&opinions, elected).iter().map(|group| group.by.len()).sum();
        prop_assert_eq!(grouped, opinions.len());
    }
}
