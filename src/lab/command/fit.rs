//! `concilio-lab tune genetic` and `spsa`: fits of a council's settings. Each writes a fragment of them.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use clap::{Args, Subcommand};
use serde::Deserialize as _;
use serde_json::json;

use super::{
    Failure,
    inputs::{CouncilFile, SearchedPositions, experiment, openings, or_each_core},
    progress::{Bars, StateFile, stopped, write},
};
use crate::{
    fit::{
        ballots,
        genetic::{self, Generation},
        spsa::{Parameter, Spsa},
    },
    game::{Adjudication, MatchRules},
    matches::run,
    openings::OpeningBook,
    player::{ChessPlayerKind, Contender, MatchPlan, Pace, PlayerKind as _, PlayerSpec, set_key},
    state::{ExperimentState, fnv1a},
    stats::TWO_SIDED_95,
};
use council::{CouncilSettings, Roster};
use domain::Line;
use engine::{EngineOptions, Knowledge};

#[derive(Debug, Subcommand)]
pub(super) enum FitCouncil {
    Genetic(FitGenetic),
    Spsa(Box<FitSpsa>),
}

impl FitCouncil {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        match self {
            Self::Genetic(genetic) => genetic.run(stop),
            Self::Spsa(spsa) => spsa.run(stop),
        }
    }
}

/// The weights of the criterion `weights`, by the genetic algorithm as it was published
#[derive(Debug, Args)]
#[command(after_help = "  concilio-lab tune genetic --output genetic.toml --generations 200
  concilio-lab match council:file=genetic.toml council:balanced-7,criterion=weights")]
pub(super) struct FitGenetic {
    /// Output file of the settings
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Generations of thirty
    #[arg(long, default_value_t = 100, value_name = "N")]
    generations: u32,
    /// Suites: EPD or PGN, also in a zip file [default: those that are built in]
    #[arg(value_name = "SUITE")]
    suites: Vec<PathBuf>,
    /// The roster, with other settings from --settings
    #[arg(long, default_value = "balanced-7", value_name = "ROSTER")]
    roster: String,
    #[command(flatten)]
    settings: CouncilFile,
    /// Nodes of every elector
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    nodes: u64,
    #[command(flatten)]
    searched: SearchedPositions,
    #[command(flatten)]
    state: StateFile,
}

/// Settings of the council, or numbers of the search, by stochastic approximation on pairs of games
#[derive(Debug, Args)]
#[command(after_help = "  concilio-lab tune spsa --parameter margin=14:0:200 --iterations 2000 --output spsa.toml
  concilio-lab tune spsa --search --pace nodes=5000 --iterations 20000 --output search.txt
  concilio-lab match \"engine:search=$(cat search.txt)\" engine")]
pub(super) struct FitSpsa {
    /// Output file of the settings
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Fit the numbers of the built-in engine's search instead, all of them unless some are named
    #[arg(long, conflicts_with = "settings")]
    search: bool,
    /// Our engine's knowledge, for --search
    #[arg(long, default_value_t = Knowledge::COMPLETE, value_name = "LETTERS", requires = "search")]
    knowledge: Knowledge,
    /// A key of the council's table, or with --search a number of the search: where it begins, its lowest and its highest value; may
    /// be repeated
    #[arg(long = "parameter", required_unless_present = "search", value_name = "KEY=START:LOW:HIGH")]
    parameters: Vec<Parameter>,
    #[command(flatten)]
    settings: CouncilFile,
    /// Limit of a move
    #[arg(long, default_value = "nodes=3000", value_name = "PACE")]
    pace: Pace,
    /// Pairs of games
    #[arg(long, default_value_t = 1000, value_name = "N")]
    iterations: usize,
    /// Openings [default: a small book of common openings]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Random seed of openings and perturbations
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    #[command(flatten)]
    state: StateFile,
}

impl FitGenetic {
    fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let settings = CouncilSettings { roster: self.roster.clone(), ..self.settings.council()? };
        let roster = Roster::from_settings(&settings).map_err(Failure::usage)?;
        let positions = self.searched.judged(&self.suites)?;
        let mut searches = self.searched.searching.ours()?;
        let mut bars = Bars::default();
        let budget = Pace::Nodes(self.nodes);
        let tell = |done, of| bars.at("proposals", done, of);
        let ballots = ballots(&roster, &positions, budget, &mut searches, stop, tell)?.ok_or_else(stopped)?;
        let experiment = json!({
            "roster": self.roster, "nodes": self.nodes, "positions": positions.len(),
            "suites": self.suites, "seed": self.searched.seed,
            "ballots": format!("{:016x}", fnv1a(format!("{ballots:?}").as_bytes())),
        });
        let mut state: ExperimentState<Generation> = self.state.open("genetic", experiment, &[])?;
        let last = Generation::latest(state.done(), self.generations).cloned();
        let mut generation = last.unwrap_or_else(|| Generation::first(&ballots, self.searched.seed));
        while generation.number < self.generations {
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(stopped());
            }
            generation = generation.next(&ballots, self.searched.seed);
            state.record(generation.number as usize, generation.clone())?;
            bars.at("generations", generation.number as usize, self.generations as usize);
        }
        bars.end();
        let (champion, best_moves) = generation.champion;
        util::outln!("{best_moves} best moves of {}: weights {:?}", ballots.len(), champion.to_be_bytes());
        let weights = toml::Value::try_from(genetic::settings(champion.to_be_bytes()))?;
        let roster = toml::Value::from(self.roster.as_str());
        write_fragment(&self.output, &[("roster", roster), ("criterion", "weights".into()), ("weights", weights)])
    }
}

enum Fitted {
    Council(CouncilSettings),
    Search(EngineOptions),
}

impl Fitted {
    fn player(&self, name: &str, parameters: &[Parameter], values: &[f64]) -> Result<PlayerSpec, Failure> {
        match self {
            Self::Council(settings) => {
                let settings = with_values(settings, parameters, values)?;
                let kind = ChessPlayerKind::council(settings).map_err(Failure::usage)?;
                Ok(PlayerSpec::new(name.to_owned(), kind))
            }
            Self::Search(options) => {
                let mut options = options.clone();
                for (parameter, value) in parameters.iter().zip(values) {
                    options.parameters.set(&parameter.key, value.round() as i32).map_err(Failure::usage)?;
                }
                Ok(PlayerSpec::new(name.to_owned(), ChessPlayerKind::Engine(options)))
            }
        }
    }

    /// Writes what was found: a fragment of settings, or the numbers as `engine:search=` and the option `Search` take them.
    fn write(&self, output: &Path, spsa: &Spsa) -> Result<(), Failure> {
        let Self::Council(settings) = self else {
            let numbers = spsa.parameters.iter().zip(&spsa.values);
            let words: Vec<_> = numbers.map(|(parameter, value)| format!("{}={value:.0}", parameter.key)).collect();
            return write("--output", output, &(words.join(" ") + "\n"));
        };
        let table = toml::Value::try_from(with_values(settings, &spsa.parameters, &spsa.values)?)?;
        let keys: Vec<(&str, toml::Value)> = spsa
            .parameters
            .iter()
            .filter_map(|parameter| {
                let key = parameter.key.split('.').next()?;
                Some((key, table.get(key)?.clone()))
            })
            .collect();
        write_fragment(output, &keys)
    }
}

/// Pairs of games that are played by what was known before the first of them: as many on any machine, so that fits agree.
const AT_ONCE: usize = 8;

impl FitSpsa {
    fn fitted(&self) -> Result<(Fitted, Vec<Parameter>), Failure> {
        if !self.search {
            return Ok((Fitted::Council(self.settings.council()?), self.parameters.clone()));
        }
        let options = EngineOptions { knowledge: self.knowledge, ..EngineOptions::default() };
        options.check_net().map_err(Failure::usage)?;
        let all = || Parameter::of_search().collect();
        let parameters = if self.parameters.is_empty() { all() } else { self.parameters.clone() };
        Ok((Fitted::Search(options), parameters))
    }

    fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let (fitted, parameters) = self.fitted()?;
        let book = openings(self.book.as_deref(), 16, self.seed)?;
        let texts: Vec<String> = parameters.iter().map(|p| format!("{p:?}")).collect();
        let of_whom = match &fitted {
            Fitted::Council(settings) => json!(settings),
            Fitted::Search(options) => json!(options.knowledge),
        };
        let facts = json!({
            "parameters": texts, "settings": of_whom, "pace": self.pace, "iterations": self.iterations,
            "book": self.book, "seed": self.seed,
        });
        let start: Vec<f64> = parameters.iter().map(|parameter| parameter.start).collect();
        let player = fitted.player("start", &parameters, &start)?;
        // Pairs by the clock, and of players that take all cores, must not disturb each other.
        let by_clock = self.pace.is_timed() || player.kind.grows();
        let workers = if by_clock { NonZeroUsize::MIN } else { or_each_core(None) };
        let experiment = experiment(facts, by_clock, workers);
        let mut files = player.files();
        files.extend(self.book.clone());
        let mut state: ExperimentState<f64> = self.state.open("spsa", experiment, &files)?;
        let mut spsa = Spsa::new(parameters, self.iterations, self.seed);
        let played = self.play(&fitted, &book, &mut state, &mut spsa, workers, stop);
        // A stopped fit shows the values so far, too.
        tell_fit(&spsa);
        played?;
        fitted.write(&self.output, &spsa)
    }

    /// Goes on from the pairs that are in the state, by the first player's scores, to the last one.
    fn play(
        &self,
        fitted: &Fitted,
        book: &OpeningBook,
        state: &mut ExperimentState<f64>,
        spsa: &mut Spsa,
        workers: NonZeroUsize,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let mut bars = Bars::default();
        for begin in (0..self.iterations).step_by(AT_ONCE) {
            let end = self.iterations.min(begin + AT_ONCE);
            let one = |(): &mut (), iteration: usize| {
                let [up, down] = spsa.trial(iteration - begin);
                let player = |name: &str, values: &[f64]| -> Result<Contender, Failure> {
                    Ok(Contender { spec: fitted.player(name, &spsa.parameters, values)?, pace: self.pace })
                };
                pair([player("up", &up)?, player("down", &down)?], book.opening(iteration)?, stop)
            };
            let progress = |done, _| bars.at("pairs", done, self.iterations);
            if state.done().len() < end && !state.complete(end, workers, stop, progress, || (), one)? {
                return Err(stopped());
            }
            state.done().range(begin..end).for_each(|(_, score)| spsa.learn(*score));
        }
        bars.end();
        Ok(())
    }
}

fn tell_fit(spsa: &Spsa) {
    let fits = spsa.values.iter().zip(spsa.errors());
    for (parameter, (value, error)) in spsa.parameters.iter().zip(fits) {
        let Parameter { key, start, .. } = parameter;
        util::outln!("{key} = {value:.4} ± {:.4} (began at {start})", TWO_SIDED_95 * error);
    }
}

/// The score of the first of two players in a pair of games, 0 to 1.
fn pair(players: [Contender; 2], opening: Arc<Line>, stop: &AtomicBool) -> Result<f64, Failure> {
    let plan = MatchPlan {
        players,
        openings: vec![opening],
        pairs: 1,
        sprt: None,
        rules: MatchRules {
            margin: Duration::from_millis(100),
            ..MatchRules::drawn_after(200, Adjudication::default())
        },
        workers: NonZeroUsize::MIN,
        cores: or_each_core(None).get(),
    };
    let summary = run(&plan, &mut ExperimentState::in_memory(), stop, |_| {})?;
    if summary.complete { Ok(summary.points / 2.0) } else { Err(stopped()) }
}

fn with_values(
    settings: &CouncilSettings,
    parameters: &[Parameter],
    values: &[f64],
) -> Result<CouncilSettings, Failure> {
    let mut table = toml::Table::try_from(settings)?;
    for (parameter, value) in parameters.iter().zip(values) {
        set_key(&mut table, &parameter.key, toml::Value::from(*value));
    }
    CouncilSettings::deserialize(table)
        .map_err(|error| Failure::usage(format_args!("--parameter: {}", error.message())))
}

/// Writes some keys of the council's table, to be put into the settings.
fn write_fragment(path: &Path, keys: &[(&str, toml::Value)]) -> Result<(), Failure> {
    let council: toml::Table = keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    let file = toml::Table::from_iter([("council".to_owned(), toml::Value::from(council))]);
    let text = toml::to_string(&file)?;
    write(
        "--output",
        path,
        &format!(
            "# Fitted by concilio-lab tune. Try it: concilio-lab match council:file={0} engine\n{text}",
            path.display()
        ),
    )?;
    util::outln!("wrote {}; let it play before you believe it", path.display());
    Ok(())
}
