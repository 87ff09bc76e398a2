//! `concilio-lab match`: games between two players.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clap::Args;
use serde_json::json;

use super::{
    Failure,
    inputs::{experiment, openings, or_each_core},
    progress::{ProgressDisplay, StateFile, write},
};
use crate::{
    game::{Adjudication, MatchRules},
    matches::{Contender, GamePair, MatchPlan, pgn, run_checked},
    player::{MatchPace, PlayerSpec},
    reproduce::suites,
    speed::Speeds,
    state::ExperimentState,
    stats::{Estimate, Sprt},
};
use engine::Tablebases;

/// Play games between any two of our engine, a council, a UCI engine and a CECP engine
#[derive(Debug, Args)]
#[command(after_help = "Players:
  engine                                 our engine with complete knowledge
  engine:mpar,hash=16,threads=2          a part of the knowledge (letters of mbxkcpar), options
  council:balanced-7                     a council by its roster; further keys of the settings' council table follow:
  council:roster=mbxkcpar mp ma,criterion=weights,weights.m=45
  council:complete-8,machines.count=2,machines.entries=32,machines.interval=48,machines.delay=16
                                         on two machines in virtual time, whose tables tell each other 32 entries every 48
                                         nodes of a thread, 16 nodes late (machines.values=none, first or all)
  council:file=bot.toml                  the council of a settings file
  council                                the council as it comes: a copy for each core of a game (learned-2 has two everywhere)
  uci:/usr/games/stockfish,Threads=1     a UCI engine: command with arguments, then options
  xboard:/usr/games/gnuchess             a CECP engine: the same
Each takes name=NAME for the tables, and nodes=N, movetime=S or tc=S+S for a pace of its own.

The council against its sequential self, every elector with the nodes that the engine has:
  concilio-lab match council:balanced-7 engine --pace nodes=20000 --games 400 --book 8moves_v3.pgn.zip
(8moves_v3.pgn.zip is in https://github.com/official-stockfish/books; without --book some fifty openings are built in, enough for a hundred games.)
The same in equal time: a specialist has nodes by its speed, which is measured before the first game:
  concilio-lab match council:balanced-7 engine --pace equal-time=20000 --games 400 --book 8moves_v3.pgn.zip
At equal cost, the same cores for a search over one table (threads advance in step, whatever the machine has):
  concilio-lab match council:balanced-7 engine:threads=7 --pace nodes=20000 --games 400 --book 8moves_v3.pgn.zip
Is a change worth something? Until the test is decided:
  concilio-lab match engine:n 'uci:./old uci --single' --pace movetime=0.01 --sprt 0,10 --games 20000
The theses' scoring, cut after 40 moves:
  concilio-lab match council:preset=gnupar engine --pace nodes=20000 --longest 40 --truncate 1000000 --adjudicate none")]
pub(super) struct Match {
    a: PlayerSpec,
    b: PlayerSpec,
    /// Limit of a move: tc=10+0.1 or movetime=0.01 (seconds), nodes=20000 (of each elector or
    /// thread), or equal-time=20000 (each player has the time in which complete knowledge searches
    /// 20000 nodes; speeds are measured first)
    #[arg(long, default_value = "nodes=10000", value_name = "PACE")]
    pace: MatchPace,
    /// Speeds beside complete knowledge for equal-time, in place of measured ones: "mp=1.7 mpar=1.25"
    #[arg(long, value_name = "SPEEDS")]
    speeds: Option<Speeds>,
    /// Games at most; every opening is played with both colours, and of those that lead to one position the first alone
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..), value_name = "N")]
    games: u32,
    /// End when decided between two Elo differences, normalised; with ",logistic" behind them of the expected score
    #[arg(long, value_name = "ELO0,ELO1[,SCALE]", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// Openings: PGN or EPD/FEN, also in a zip file [default: a small book of common openings]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Plies to take from each book game
    #[arg(long, default_value_t = 16, value_name = "N")]
    plies: usize,
    /// Random seed of the order of the openings
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Games at once [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<NonZeroUsize>,
    /// Decide games before their end when both players agree: win=CENTIPAWNS:MOVES,draw=CENTIPAWNS:MOVES:AFTER, or none
    #[arg(long, default_value_t = Adjudication::default(), value_name = "RULES")]
    adjudicate: Adjudication,
    /// Endgame tables (Syzygy) that settle games
    #[arg(long, value_name = "FOLDERS")]
    syzygy: Option<String>,
    /// Moves of each side after which a game ends
    #[arg(long, default_value_t = 200, value_name = "N")]
    longest: usize,
    /// Score unfinished games by a search of complete knowledge with N nodes, as in the theses
    /// [default: such games are drawn]
    #[arg(long, value_name = "NODES")]
    truncate: Option<u64>,
    /// Tolerance of a player's clock, ms, up to 10000; a slower answer counts as a hang
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=10_000), value_name = "MS")]
    margin: u64,
    /// Write the games
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    state: StateFile,
}

impl Match {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        if matches!(self.pace, MatchPace::Alike(_)) && self.speeds.is_some() {
            return Err(Failure::usage("--speeds belong to --pace equal-time=N"));
        }
        let mut plan = self.plan()?;
        // A match that is refused leaves no state, and with --fresh it forgets none.
        plan.check()?;
        let (mut state, speeds) = match self.pace {
            MatchPace::Alike(_) => (self.state.open("match", self.experiment(), &self.files())?, Speeds::default()),
            MatchPace::EqualTime(nodes) => self.state_with_speeds(nodes, stop)?,
        };
        plan.players = self.contenders(&speeds);
        let mut progress = ProgressDisplay::new(plan.pairs, "pairs");
        let summary = run_checked(&plan, &mut state, stop, |standing| {
            progress.at(standing.pairs(), || {
                let score = standing.score();
                let score = score.map(Estimate::percent_with_error);
                let ratio = standing.log_likelihood_ratio().map(|ratio| format!("  LLR {ratio:.2}"));
                score.unwrap_or_default() + &ratio.unwrap_or_default()
            });
        })?;
        progress.end();
        if let Some(path) = &self.pgn {
            let pairs = state.done().iter().take(summary.games / 2).map(|(index, pair)| (*index, pair));
            write("--pgn", path, &pgn(&plan, pairs)?)?;
        }
        if self.json {
            let mut outcome = serde_json::to_value(&summary)?;
            if let Some(outcome) = outcome.as_object_mut().filter(|_| speeds != Speeds::default()) {
                outcome.insert("speeds".to_owned(), json!(speeds));
            }
            util::outln!("{}", serde_json::to_string_pretty(&outcome)?);
        } else {
            util::print(format_args!("{summary}"));
            if speeds != Speeds::default() {
                util::outln!("speeds       {speeds}");
            }
        }
        if stop.load(Ordering::Relaxed) && !summary.complete {
            return Err(Failure::failed("stopped; the same command goes on from there"));
        }
        Ok(())
    }

    /// The state of a match in equal time, and the speeds that hold in it: those of its beginning, given ones, or measured now.
    fn state_with_speeds(&self, nodes: u64, stop: &AtomicBool) -> Result<(ExperimentState<GamePair>, Speeds), Failure> {
        let mut instances = Vec::new();
        for spec in [&self.a, &self.b].into_iter().filter(|spec| spec.pace().is_none()) {
            let ours = spec.instances().ok_or_else(|| {
                Failure::usage(format_args!(
                    "{spec}: the time of a program is not in its nodes; give it a pace of its own"
                ))
            })?;
            instances.extend(ours);
        }
        let measure = || {
            let given = self.speeds.clone().unwrap_or_default();
            let speeds = given.measured(&instances, &suites(), nodes, stop);
            Ok(json!(speeds.ok_or_else(|| Failure::failed("stopped"))?))
        };
        let (state, speeds) =
            self.state.open_measured("match", self.experiment(), &self.files(), "measured", measure)?;
        Ok((state, serde_json::from_value(speeds)?))
    }

    fn contenders(&self, speeds: &Speeds) -> [Contender; 2] {
        [&self.a, &self.b].map(|spec| Contender::at(spec.clone(), self.pace, speeds))
    }

    /// Returns the plan of the match, before any speed is known.
    fn plan(&self) -> Result<MatchPlan, Failure> {
        let pairs = (self.games as usize).div_ceil(2);
        let book = openings(self.book.as_deref(), self.plies, self.seed)?.different(pairs);
        let tables = self.syzygy.as_deref().map(Tablebases::open).transpose();
        let tablebases = tables.map_err(|error| Failure::usage(format_args!("--syzygy: {error}")))?;
        if tablebases.as_ref().is_some_and(Tablebases::is_empty) {
            let folders = self.syzygy.as_deref().unwrap_or_default();
            return Err(Failure::usage(format_args!("--syzygy {folders}: no tables of chess there")));
        }
        let cores = or_each_core(None);
        let workers = self.concurrency.unwrap_or(cores);
        Ok(MatchPlan {
            players: self.contenders(&Speeds::default()),
            book,
            pairs,
            sprt: self.sprt,
            rules: MatchRules {
                adjudication: Adjudication { tablebases, ..self.adjudicate.clone() },
                longest: self.longest,
                truncation: self.truncate,
                margin: Duration::from_millis(self.margin),
            },
            workers,
            cores: (cores.get() / workers).max(1),
        })
    }

    /// The files that the games depend on.
    fn files(&self) -> Vec<PathBuf> {
        [&self.a, &self.b].into_iter().flat_map(PlayerSpec::files).chain(self.book.clone()).collect()
    }

    /// Returns the other facts that the games depend on. Their number may grow.
    fn experiment(&self) -> serde_json::Value {
        let contenders = self.contenders(&Speeds::default());
        let by_clock = contenders.iter().any(|Contender { spec, pace }| spec.grows() || pace.is_timed());
        let facts = json!({
            "players": [self.a.text(), self.b.text()],
            "pace": self.pace,
            "speeds": self.speeds,
            "sprt": self.sprt,
            "book": self.book,
            "plies": self.plies,
            "seed": self.seed,
            "adjudicate": self.adjudicate.to_string(),
            "syzygy": self.syzygy,
            "longest": self.longest,
            "truncate": self.truncate,
            "margin": self.margin,
        });
        experiment(facts, by_clock, or_each_core(self.concurrency))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        command: Match,
    }

    #[test]
    fn rejected_match_keeps_the_old_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("match.jsonl");
        let [file, no_tables] = [state.as_path(), folder.path()].map(|path| path.to_str().expect("plain letters"));
        let refused = |words: &[&str]| {
            let match_in_file = ["match", "engine:m,hash=1", "engine:mp,hash=1", "--state", file];
            let words = match_in_file.iter().chain(words).copied();
            let CommandLine { command } = CommandLine::try_parse_from(words).unwrap_or_else(|error| panic!("{error}"));
            command.run(&AtomicBool::new(false)).expect_err("it cannot be played").to_string()
        };
        assert!(refused(&["--games", "1000"]).contains("games from a book of"));
        assert!(refused(&["--syzygy", no_tables]).contains("--syzygy"));
        assert!(!state.exists());
        std::fs::write(&state, "what was played").expect("writable");
        refused(&["--games", "1000", "--fresh"]);
        assert_eq!(std::fs::read_to_string(&state).expect("it is there"), "what was played");
    }
}
