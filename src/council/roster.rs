//! Rosters: which electors make a council (METHOD.md §3, distributions).

use crate::{
    chess::{ElectorName, Knowledge, Variant},
    council::{CouncilSettings, ElectorSettings},
    pool::{ElectorKind, ElectorSpec, UciProgram},
};

/// The theses' distributions by name and size. ChessPar's longer balanced lists extend the shorter ones.
const DISTRIBUTIONS: &[(&str, &str)] = &[
    ("complete", "mbxkcpar"),
    ("common-core-4", "mbcpa mcpar mkcpa mxcpa"),
    ("common-core-5", "mcpa mbpa mpar mkpa mxpa"),
    ("common-core-6", "mpa mcp mbp mpr mkp mxp"),
    ("common-core-7", "mp ma mc mb mr mk mx"),
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

/// The electors of a council, at least one, each with its own name.
#[derive(Clone, Debug, PartialEq)]
pub struct Roster {
    electors: Vec<ElectorSpec>,
}

/// A roster that cannot be seated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RosterError {
    /// Neither a distribution nor a list of knowledge sets.
    #[error("roster {0:?}: expected {accepted}", accepted = self.key_and_accepted().1)]
    Unknown(String),
    /// `custom` without electors.
    #[error("roster \"custom\": expected {accepted}", accepted = self.key_and_accepted().1)]
    Empty,
    /// An elector that is neither ours nor a program.
    #[error("elector {0}: expected {accepted}", accepted = self.key_and_accepted().1)]
    Ambiguous(usize),
    /// Two electors of one name.
    #[error("elector {0}: expected {accepted}", accepted = self.key_and_accepted().1)]
    Duplicate(ElectorName),
}

impl RosterError {
    /// The key of the `council` table that is wrong, and what it accepts.
    pub fn key_and_accepted(&self) -> (&'static str, String) {
        match self {
            Self::Unknown(_) => {
                let known: Vec<&str> = Roster::names().collect();
                (
                    "roster",
                    format!("custom, knowledge letters such as \"mbxkcpar mp ma\", or one of {}", known.join(", ")),
                )
            }
            Self::Empty => ("electors", "at least one elector for the roster \"custom\"".to_owned()),
            Self::Ambiguous(index) => (
                "electors",
                format!("either `knowledge` (letters) or `engine` (a program) for elector {index}, not both"),
            ),
            Self::Duplicate(name) => {
                ("electors", format!("a `name` of its own for each elector ({name} stands twice)"))
            }
        }
    }
}

impl Roster {
    /// The distributions known by name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DISTRIBUTIONS.iter().map(|(name, _)| *name)
    }

    /// The roster that the settings ask for.
    ///
    /// # Errors
    /// [`RosterError`], worded for the person who wrote the settings.
    pub fn from_settings(settings: &CouncilSettings) -> Result<Self, RosterError> {
        let electors = if settings.roster == "custom" {
            let custom = settings.electors.iter().enumerate();
            custom
                .map(|(index, elector)| from_settings(index, elector, settings.hash))
                .collect::<Result<Vec<_>, _>>()?
        } else if settings.roster == "trivial" {
            vec![ElectorSpec { name: "trivial".into(), kind: ElectorKind::Trivial, hash: 0, threads: 1 }]
        } else {
            let known = DISTRIBUTIONS.iter().find(|(name, _)| *name == settings.roster);
            let letters = known.map_or(settings.roster.as_str(), |(_, letters)| letters);
            let sets = letters.split_ascii_whitespace().map(str::parse).collect::<Result<Vec<Knowledge>, _>>();
            let sets = sets.map_err(|_| RosterError::Unknown(settings.roster.clone()))?;
            sets.into_iter().map(|knowledge| ElectorSpec::own(knowledge, settings.hash)).collect()
        };
        if electors.is_empty() {
            return Err(if settings.roster == "custom" {
                RosterError::Empty
            } else {
                RosterError::Unknown(settings.roster.clone())
            });
        }
        for (index, elector) in electors.iter().enumerate() {
            if electors[..index].iter().any(|other| other.name == elector.name) {
                return Err(RosterError::Duplicate(elector.name.clone()));
            }
        }
        Ok(Self { electors })
    }

    /// The electors, in their order.
    pub fn electors(&self) -> &[ElectorSpec] {
        &self.electors
    }

    /// What no elector knows. The theses' rule is that this be empty; a foreign engine is taken to know everything.
    pub fn missing_knowledge(&self) -> Knowledge {
        let known = self
            .electors
            .iter()
            .fold(Knowledge::NONE, |known, elector| known.union(elector.knowledge().unwrap_or(Knowledge::COMPLETE)));
        known.complement()
    }

    /// The electors that may play `variant`.
    #[must_use]
    pub fn for_variant(&self, variant: Variant) -> Vec<ElectorSpec> {
        self.electors.iter().filter(|elector| elector.may_play(variant)).cloned().collect()
    }
}

fn from_settings(index: usize, elector: &ElectorSettings, hash: usize) -> Result<ElectorSpec, RosterError> {
    let (kind, usual_name) = match (&elector.knowledge, &elector.engine) {
        (Some(knowledge), None) => (ElectorKind::Own(*knowledge), knowledge.to_string()),
        (None, Some(path)) => {
            let program = UciProgram {
                path: path.clone(),
                arguments: elector.arguments.clone(),
                options: elector.options.clone(),
            };
            let file = path.file_stem().map_or_else(|| "engine".to_owned(), |stem| stem.to_string_lossy().into_owned());
            (ElectorKind::Uci(program), file)
        }
        _ => return Err(RosterError::Ambiguous(index)),
    };
    let name = elector.name.clone().unwrap_or(usual_name);
    Ok(ElectorSpec { name: name.into(), kind, hash, threads: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roster(text: &str) -> Result<Roster, RosterError> {
        Roster::from_settings(&CouncilSettings { roster: text.to_owned(), ..CouncilSettings::default() })
    }

    #[test]
    fn every_distribution_covers_the_whole_knowledge() {
        for (name, letters) in DISTRIBUTIONS {
            let roster = roster(name).expect("a known roster");
            assert_eq!(roster.electors().len(), letters.split(' ').count(), "{name}");
            assert!(roster.missing_knowledge().is_empty(), "{name} lacks {}", roster.missing_knowledge());
            if let Some(size) = name.rsplit('-').next().and_then(|size| size.parse::<usize>().ok()) {
                assert_eq!(roster.electors().len(), size, "{name}");
            }
        }
    }

    #[test]
    fn a_roster_may_be_written_in_letters() {
        let roster = roster("mbxkcpar mp ma").expect("letters");
        let names: Vec<_> = roster.electors().iter().map(|elector| elector.name.to_string()).collect();
        assert_eq!(names, ["mbxkcpar", "mp", "ma"]);
    }

    #[test]
    fn a_bad_roster_is_told_what_would_be_accepted() {
        let error = roster("balanced-9").expect_err("no such distribution").to_string();
        assert!(error.contains("\"balanced-9\"") && error.contains("balanced-7"), "{error}");
        assert_eq!(roster(""), Err(RosterError::Unknown(String::new())));
        assert_eq!(roster("custom"), Err(RosterError::Empty));
        assert_eq!(roster("mp mp"), Err(RosterError::Duplicate("mp".into())));
    }
}
