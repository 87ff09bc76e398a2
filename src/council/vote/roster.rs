//! Rosters: the electors of a council (docs/method.md §3, distributions).

use std::{collections::BTreeMap, fmt};

use super::{
    CouncilSettings, ElectorSettings, OptionText,
    distributions::{self, DISTRIBUTIONS, WITHOUT_CENTRE},
};
use crate::{
    CouncilGame,
    electors::{ElectorKind, ElectorSpec, EngineGame, Instance, SearchPriority, net_file},
};
use domain::{ElectorName, Heuristic, Knowledge, Line};
use engine::Noise;

/// The electors of a council, at least one, each with its own name.
#[derive(Clone, Debug, PartialEq)]
pub struct Roster<L: CouncilGame = Line> {
    electors: Vec<ElectorSpec<L::Kind>>,
    advisers: Vec<ElectorSpec<L::Kind>>,
    /// `auto` without a number of cores: it has a copy for each core there is.
    grows: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RosterError {
    pub key: &'static str,
    pub accepted: String,
    message: String,
}

impl RosterError {
    fn new(key: &'static str, given: impl fmt::Display, accepted: impl fmt::Display) -> Self {
        Self { key, accepted: accepted.to_string(), message: format!("{given}: expected {accepted}") }
    }

    /// Neither a distribution nor a list of knowledge sets.
    fn unknown(given: &str) -> Self {
        if let Some(count) = given.strip_prefix("nine-") {
            let accepted = format!("learned-{count}, the net alone, which is stronger (nine-N was removed)");
            return Self::new("roster", format_args!("roster {given:?}"), accepted);
        }
        let distance = |name: &&str| strsim::damerau_levenshtein(name, given);
        let near = Roster::names().chain(["auto", "custom"]).min_by_key(distance);
        let near = near.filter(|name| distance(name) <= 3).map(|name| format!("; did you mean {name}?"));
        let accepted = format!(
            "auto, custom, copies such as complete-4 (learned, noise), a distribution such as balanced-7 (docs/council.md), or knowledge letters such as \"mbxkcpar mp ma\"{}",
            near.unwrap_or_default()
        );
        Self::new("roster", format_args!("roster {given:?}"), accepted)
    }

    fn unknown_advisers(given: &str) -> Self {
        let accepted = "auto, nothing, a distribution such as balanced-3, or a list, each named once, of knowledge letters such as mpar and of mates (the provers checks, draws and tables were removed)";
        Self::new("advisers", format_args!("advisers {given:?}"), accepted)
    }

    /// A number out of its range, or a file that cannot be used.
    fn range(index: usize, accepted: &str) -> Self {
        let error = Self::new("electors", format_args!("elector {index}"), accepted);
        Self { accepted: format!("{accepted} for elector {index}"), ..error }
    }
}

impl<L: CouncilGame> Roster<L> {
    /// Returns the roster for searches in the background: they leave the cores to all other searches.
    #[must_use]
    pub fn in_background(&self) -> Self {
        let mut roster = self.clone();
        for elector in roster.electors.iter_mut().chain(&mut roster.advisers) {
            elector.priority = SearchPriority::Background;
        }
        roster
    }
}

impl Roster {
    /// Returns the roster with the opponent and chat of this game for its external engines.
    #[must_use]
    pub fn for_game(&self, game: &EngineGame) -> Self {
        let mut roster = self.clone();
        for elector in roster.electors.iter_mut().chain(&mut roster.advisers) {
            if let ElectorKind::Engine(program) = &mut elector.kind {
                program.game = Some(game.clone());
            }
        }
        roster
    }

    pub fn has_engines(&self) -> bool {
        let mut all = self.electors.iter().chain(&self.advisers);
        all.any(|elector| matches!(elector.kind, ElectorKind::Engine(_)))
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        DISTRIBUTIONS.iter().chain(WITHOUT_CENTRE).map(|(name, _)| *name)
    }

    pub fn from_settings(settings: &CouncilSettings) -> Result<Self, RosterError> {
        let (name, hash) = (settings.roster.as_str(), settings.hash);
        let electors = match name {
            "custom" => {
                let custom = settings.electors.iter().enumerate();
                let mut electors =
                    custom.map(|(index, elector)| elector_from(index, elector, hash)).collect::<Result<Vec<_>, _>>()?;
                set_options(&mut electors, &settings.options)?;
                electors
            }
            "trivial" => vec![ElectorSpec::new("trivial".into(), ElectorKind::Trivial, 0)],
            "auto" => {
                let cores = if settings.cores == 0 { cores_at_hand() } else { settings.cores };
                distributions::auto_roster(cores, hash).unwrap_or_default()
            }
            _ => distributions::named(name, hash).ok_or_else(|| RosterError::unknown(name))?,
        };
        if electors.is_empty() && name == "custom" {
            let accepted = "at least one elector for the roster \"custom\"";
            return Err(RosterError::new("electors", "roster \"custom\"", accepted));
        }
        if electors.is_empty() {
            return Err(RosterError::unknown(name));
        }
        if let Some(twice) = named_twice(&electors) {
            let accepted = format_args!("a `name` of its own for each elector ({twice} stands twice)");
            return Err(RosterError::new("electors", format_args!("elector {twice}"), accepted));
        }
        check_instances(&electors)?;
        let advisers = distributions::advisers(&settings.advisers, name == "auto", hash);
        let advisers = advisers.ok_or_else(|| RosterError::unknown_advisers(&settings.advisers))?;
        if let Some(twice) = named_twice(&advisers) {
            return Err(RosterError::unknown_advisers(&format!("{twice} {twice}")));
        }
        Ok(Self { electors, advisers, grows: name == "auto" && settings.cores == 0 })
    }

    /// Returns the knowledge missing from all electors. By the theses' rule it is empty; an external
    /// engine counts as complete.
    pub fn missing_knowledge(&self) -> Knowledge {
        let of = |elector: &ElectorSpec| elector.knowledge().filter(|knowledge| !knowledge.is_whole());
        let known = self.electors.iter().map(|elector| of(elector).unwrap_or(Knowledge::COMPLETE));
        known.fold(Knowledge::NONE, Knowledge::union).complement()
    }
}

impl<L: CouncilGame> Roster<L> {
    /// Creates a roster of these electors, at least one, with unique names.
    pub fn of(electors: Vec<ElectorSpec<L::Kind>>) -> Self {
        Self { electors, advisers: Vec::new(), grows: false }
    }

    #[cfg(test)]
    pub(crate) fn advised_by(self, advisers: Vec<ElectorSpec<L::Kind>>) -> Self {
        Self { advisers, ..self }
    }

    pub fn electors(&self) -> &[ElectorSpec<L::Kind>] {
        &self.electors
    }

    /// Returns the advisers. They search only in variants known to the built-in engine.
    pub fn advisers(&self) -> &[ElectorSpec<L::Kind>] {
        &self.advisers
    }

    pub fn grows(&self) -> bool {
        self.grows
    }

    /// Returns the electors for `variant` on `cores` cores: `auto` has a copy for each core.
    #[must_use]
    pub fn electors_for(&self, variant: L::Variant, cores: usize) -> Vec<ElectorSpec<L::Kind>> {
        let hash = self.electors.first().map_or(1, |elector| elector.hash);
        let grown = (self.grows && cores != self.electors.len()).then(|| L::grown(cores, hash)).flatten();
        let electors = grown.as_ref().unwrap_or(&self.electors);
        // All copies are alike.
        let like = |elector| if grown.is_some() { &self.electors[0] } else { elector };
        let playing = electors.iter().filter(|elector| L::may_play(elector, variant));
        let alike = playing.map(|elector| {
            let ElectorSpec { speed, priority, .. } = *like(elector);
            ElectorSpec { speed, priority, ..elector.clone() }
        });
        alike.collect()
    }

    /// Sets the speeds of electors and advisers: their nodes, relative to complete knowledge, in
    /// equal time.
    #[must_use]
    pub fn at_speeds(mut self, speed: &dyn Fn(&ElectorSpec<L::Kind>) -> f64) -> Self {
        self.electors.iter_mut().chain(&mut self.advisers).for_each(|elector| elector.speed = speed(elector));
        self
    }

    /// Resizes every elector's table: `size` maps the old MiB to the new.
    pub(super) fn resize_tables(&mut self, size: &dyn Fn(usize) -> usize) {
        self.electors.iter_mut().for_each(|elector| elector.hash = size(elector.hash));
    }
}

fn cores_at_hand() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn elector_from(index: usize, elector: &ElectorSettings, hash: usize) -> Result<ElectorSpec, RosterError> {
    let (kind, usual_name) = match (&elector.knowledge, elector.program()) {
        (Some(knowledge), None) => (ElectorKind::Own(instance(index, elector, *knowledge)?), knowledge.to_string()),
        (None, Some(program)) => {
            let stem = program.path.file_stem();
            let file = stem.map_or_else(|| "engine".to_owned(), |stem| stem.to_string_lossy().into_owned());
            (ElectorKind::Engine(program), file)
        }
        _ => {
            let accepted = "either `knowledge` (letters) or `engine` (a program)";
            let accepted = format_args!("{accepted} for elector {index}, not both");
            return Err(RosterError::new("electors", format_args!("elector {index}"), accepted));
        }
    };
    let name = elector.name.clone().unwrap_or(usual_name);
    let spec = ElectorSpec::new(name.into(), kind, elector.hash.unwrap_or(hash));
    Ok(ElectorSpec { shares_table: elector.shares_table, weight: elector.weight, ..spec })
}

fn set_options(
    electors: &mut [ElectorSpec],
    options: &BTreeMap<String, BTreeMap<String, OptionText>>,
) -> Result<(), RosterError> {
    for (name, changed) in options {
        let elector = electors.iter_mut().find(|elector| elector.name.as_str() == name);
        match elector.map(|elector| &mut elector.kind) {
            Some(ElectorKind::Engine(program)) => {
                let changed = changed.iter().map(|(option, OptionText(text))| (option.clone(), text.clone()));
                program.options.extend(changed);
            }
            _ => {
                let accepted = "the name of an elector that is an `engine`";
                return Err(RosterError::new("options", format_args!("options of {name:?}"), accepted));
            }
        }
    }
    Ok(())
}

fn named_twice(electors: &[ElectorSpec]) -> Option<&ElectorName> {
    let again = |index: usize| electors[..index].iter().any(|other| other.name == electors[index].name);
    (0..electors.len()).find(|index| again(*index)).map(|index| &electors[index].name)
}

fn check_instances(electors: &[ElectorSpec]) -> Result<(), RosterError> {
    let mut own = electors.iter().enumerate().filter_map(|(index, spec)| Some((index, spec.instance()?)));
    own.try_for_each(|(index, instance)| instance.check().map_err(|accepted| RosterError::range(index, &accepted)))
}

fn instance(index: usize, elector: &ElectorSettings, knowledge: Knowledge) -> Result<Instance, RosterError> {
    let range = |accepted: &str| RosterError::range(index, accepted);
    let mut instance = Instance::new(knowledge);
    for (letter, share) in &elector.percentages {
        let known = Heuristic::WITH_NET.into_iter().find(|heuristic| heuristic.letter() == *letter);
        let heuristic = known.ok_or_else(|| range("letters of mbxkcparn in `percentages`"))?;
        instance.percentages[heuristic as usize] = *share;
    }
    instance.contempt = elector.contempt.unwrap_or(instance.contempt);
    instance.selectivity = elector.selectivity.unwrap_or(instance.selectivity);
    instance.noise = Noise { amplitude: elector.noise, seed: elector.seed };
    let net = elector.net.as_deref().map(net_file).transpose();
    instance.net = net.map_err(|error| range(&format!("a file of a net as `net` ({error})")))?;
    Ok(instance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roster(text: &str) -> Result<Roster, RosterError> {
        Roster::from_settings(&CouncilSettings { roster: text.to_owned(), ..CouncilSettings::default() })
    }

    #[test]
    fn distributions_cover_all_knowledge() {
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
    fn roster_may_be_written_in_letters() {
        let roster = roster("mbxkcpar mp ma").expect("letters");
        let names: Vec<_> = roster.electors().iter().map(|elector| elector.name.to_string()).collect();
        assert_eq!(names, ["mbxkcpar", "mp", "ma"]);
    }

    fn command(engine: &str, arguments: &[&str]) -> (String, Vec<String>) {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let elector = ElectorSettings { engine: Some(engine.into()), arguments, ..ElectorSettings::default() };
        let program = elector.program().expect("an engine");
        (program.path.display().to_string(), program.arguments)
    }

    #[test]
    fn an_engine_may_be_a_command_line() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let ssh = ("ssh".to_owned(), words(&["-T", "attic", "stockfish"]));
        assert_eq!(command("ssh -T attic stockfish", &[]), ssh);
        assert_eq!(command("ssh", &["-T", "attic", "stockfish"]), ssh);
        assert_eq!(command("my engine", &["-x y"]), ("my engine".to_owned(), words(&["-x y"])));
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("an engine");
        std::fs::write(&file, "").expect("written");
        let file = file.display().to_string();
        assert_eq!(command(&file, &[]), (file.clone(), Vec::new()), "what is a file is no command line");
    }

    #[test]
    fn profile_changes_single_engine_options() {
        let text = "
            roster = 'custom'
            electors = [{ name = 'fish', engine = 'stockfish', options = { Threads = 2, Hash = '64', Ponder = true } }]
            options = { fish = { Hash = 512 } }";
        let settings: CouncilSettings = toml::from_str(text).expect("settings");
        let roster = Roster::from_settings(&settings).expect("a roster");
        let ElectorKind::Engine(program) = &roster.electors()[0].kind else { panic!("an engine") };
        let options: Vec<String> = program.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(options, ["Hash=512", "Ponder=true", "Threads=2"]);
        let unknown: CouncilSettings = toml::from_str(&text.replace("{ fish = {", "{ cat = {")).expect("settings");
        let error = Roster::from_settings(&unknown).expect_err("there is no cat").to_string();
        assert!(error.contains("\"cat\"") && error.contains("the name of an elector"), "{error}");
    }

    #[test]
    fn net_is_an_elector_alone() {
        assert!(roster("n").expect("letters").missing_knowledge().is_empty(), "a net alone evaluates everything");
        assert_eq!(roster("mbxkcpar n").expect("letters").electors().len(), 2);
        for name in ["learned-3", "auto"] {
            let roster = roster(name).expect("a roster");
            assert!(roster.electors().iter().all(|elector| elector.knowledge() == "n".parse().ok()), "{name}");
        }
        let error = roster("nine-3").expect_err("removed").to_string();
        assert!(error.starts_with("roster \"nine-3\": expected learned-3, ") && !error.contains('\n'), "{error}");
        for mixed in ["mbxkcpar mn", "mp mbxkcparn"] {
            let error = roster(mixed).expect_err("a net beside other heuristics").to_string();
            assert!(error.contains("elector 1") && error.contains("accepted: n, or letters of mbxkcpar"), "{error}");
        }
        let custom = |elector: &str| {
            let text = format!("roster = 'custom'\nelectors = [{elector}]");
            Roster::from_settings(&toml::from_str(&text).expect("settings"))
        };
        let roster = custom("{ knowledge = 'mbxkcpar', percentages = { n = 50, k = 120 } }").expect("a roster");
        let instance = roster.electors()[0].instance().expect("one of ours");
        assert_eq!(instance.percentages, [100, 100, 100, 120, 100, 100, 100, 100, 50]);
        let error = custom("{ knowledge = 'n', net = '/nowhere.net' }").expect_err("no such file").to_string();
        assert!(error.contains("/nowhere.net"), "{error}");
        assert!(custom("{ knowledge = 'm', percentages = { z = 50 } }").is_err());
    }

    #[test]
    fn roster_errors_name_accepted_forms() {
        let error = roster("balanced-9").expect_err("no such distribution").to_string();
        assert!(error.contains("\"balanced-9\"") && error.contains("balanced-7"), "{error}");
        assert_eq!(roster(""), Err(RosterError::unknown("")));
        let text = |roster_text: &str| roster(roster_text).expect_err("no roster").to_string();
        assert_eq!(text("custom"), "roster \"custom\": expected at least one elector for the roster \"custom\"");
        assert_eq!(text("mp mp"), "elector mp: expected a `name` of its own for each elector (mp stands twice)");
    }
}
