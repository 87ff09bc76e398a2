//! The rosters known by name: the theses' distributions (docs/method.md §3), complete copies, and `auto`.

use crate::electors::{ElectorKind, ElectorSpec, Instance, SearchPriority};
use domain::Knowledge;
use engine::Noise;

/// The default advisers of complete copies (docs/council.md).
const ADVISERS: &str = "mpar mbxp mbkc";

/// The table of an adviser, MiB at most: it visits few nodes.
const ADVISERS_TABLE: usize = 2;

/// Tozzi's rosters (1993), in which no elector knows the centre. They are older than the rule of
/// complete knowledge in the union.
pub(super) const WITHOUT_CENTRE: &[(&str, &str)] =
    &[("tozzi-6", "mbxk mbka mbpr mxpa mxar mkpr"), ("pairs-6", "mb mx mk mp ma mr")];

/// The theses' distributions by name and size. ChessPar's longer balanced lists extend the shorter ones.
pub(super) const DISTRIBUTIONS: &[(&str, &str)] = &[
    ("complete", "mbxkcpar"),
    ("common-core-4", "mbcpa mcpar mkcpa mxcpa"),
    ("common-core-5", "mcpa mbpa mpar mkpa mxpa"),
    ("common-core-6", "mpa mcp mbp mpr mkp mxp"),
    ("common-core-7", "mp ma mc mb mr mk mx"),
    ("balanced-3", "mpar mbxp mbkc"),
    ("balanced-4", "mpar mbxp mbkc mcar"),
    ("balanced-5", "mpar mbxp mbkc mxar mkcp"),
    ("balanced-6", "mpar mbxp mbkc mxar mkcp mcar"),
    ("balanced-7", "mpar mbxp mbkc mxar mkcp mcar mbxk"),
    ("balanced-11", "mpar mbxp mbkc mxar mkcp mcar mbxk mbar mxkc mkar mbkr"),
    ("balanced-15", "mpar mbxp mbkc mxar mkcp mcar mbxk mbar mxkc mkar mbkr mbr mxkp mxbr mbka"),
    ("balanced-19", "mpar mbxp mbkc mxar mkcp mcar mbxk mbar mxkc mkar mbkr mbr mxkp mxbr mbka mbcp mxka mkrx mkca"),
    ("unbalanced-4", "mbxkcpar mp ma mbkcpar"),
    ("unbalanced-5", "mbxkcpar mp ma mbkcpar mbxcpar"),
    ("unbalanced-6", "mbxkcpar mp ma mc mbkcpar mbxcpar"),
    ("unbalanced-7", "mbxkcpar mp ma mc mbkcpar mbxcpar mbxkcpa"),
    ("incremental-4", "mbcpa mbcpar mbkcpar mbxkcpar"),
    ("incremental-5", "mcpa mbcpa mbcpar mbkcpar mbxkcpar"),
    ("incremental-6", "mpa mcpa mbcpa mbcpar mbkcpar mbxkcpar"),
    ("incremental-7", "mp mpa mcpa mbcpa mbcpar mbkcpar mbxkcpar"),
];

/// No roster of copies is larger.
const MOST_COPIES: usize = 256;

/// The noise of the copies in `noise-N`, centipawns.
const NOISE: u16 = 10;

/// Returns the name of the strongest measured roster on `cores` cores (docs/results): one search on
/// all of them with a vote among its threads.
fn auto(cores: usize) -> String {
    format!("learned-{}", cores.clamp(1, MOST_COPIES))
}

pub(crate) fn auto_roster(cores: usize, hash: usize) -> Option<Vec<ElectorSpec>> {
    named(&auto(cores), hash)
}

/// Returns N copies by name. `complete-N`: complete copies with one shared table (Lazy SMP with a
/// vote). `learned-N`: the same with a net in place of the eight. `noise-N`: complete copies with
/// tables of their own and noise on their evaluation, the control of every claim about knowledge.
fn copies(name: &str, hash: usize) -> Option<Vec<ElectorSpec>> {
    let (kind, count) = name.rsplit_once('-')?;
    let count: usize = count.parse().ok().filter(|count| (1..=MOST_COPIES).contains(count))?;
    let copy = |number: usize| -> Option<ElectorSpec> {
        let (knowledge, shares_table) = match kind {
            "complete" => (Knowledge::COMPLETE, true),
            "learned" => (Knowledge::LEARNED, true),
            "noise" => (Knowledge::COMPLETE, false),
            _ => return None,
        };
        let mut instance = Instance::new(knowledge);
        if kind == "noise" {
            instance.noise = Noise { amplitude: NOISE, seed: number as u64 };
        }
        let spec = ElectorSpec::new(format!("{kind}-{number}").into(), ElectorKind::Own(instance), hash);
        Some(ElectorSpec { shares_table, ..spec })
    };
    (1..=count).map(copy).collect()
}

pub(super) fn named(roster: &str, hash: usize) -> Option<Vec<ElectorSpec>> {
    copies(roster, hash).or_else(|| letters(roster, hash))
}

/// A distribution of the theses, or a blank-separated list of knowledge letters.
fn letters(roster: &str, hash: usize) -> Option<Vec<ElectorSpec>> {
    let known = DISTRIBUTIONS.iter().chain(WITHOUT_CENTRE).find(|(name, _)| *name == roster);
    let letters = known.map_or(roster, |(_, letters)| letters);
    let sets = letters.split_ascii_whitespace().map(|set| set.parse::<Knowledge>().ok());
    sets.map(|knowledge| Some(ElectorSpec::own(knowledge?, hash))).collect()
}

/// Returns the advisers of the settings; `auto` means none beside any other roster than `auto`. `None` for an unknown name.
pub(super) fn advisers(names: &str, beside_auto: bool, hash: usize) -> Option<Vec<ElectorSpec>> {
    let names = match names.trim() {
        "auto" if beside_auto => ADVISERS,
        "" | "auto" => return Some(Vec::new()),
        names => names,
    };
    let hash = hash.min(ADVISERS_TABLE);
    let (provers, others): (Vec<&str>, Vec<&str>) =
        names.split_ascii_whitespace().partition(|name| *name == ElectorSpec::MATES);
    let provers = provers.iter().map(|_| ElectorSpec::mates(hash));
    let advisers = provers.chain(letters(&others.join(" "), hash)?);
    Some(advisers.map(|adviser| ElectorSpec { priority: SearchPriority::Adviser, ..adviser }).collect())
}
