//! `concilio-lab match`: games between two players.

use std::{path::PathBuf, sync::atomic::AtomicBool};

use clap::Args;
use serde_json::{Value, json};

use super::{Failure, inputs::openings};
use crate::{
    game::{Adjudication, MatchRules, by_tablebases},
    matches::{GamePair, MatchArguments},
    player::{MatchPace, MatchPlan, PlayerSpec},
    reproduce::suites,
    speed::Speeds,
    state::ExperimentState,
};
use engine::Tablebases;
use experiment::progress::or_each_core;

/// Play games between any two of the built-in engine, a council, a UCI engine and a CECP engine
#[derive(Debug, Args)]
#[command(after_help = "Players:
  engine                                 the built-in engine with complete knowledge
  engine:mpar,hash=16,threads=2          a part of the knowledge (letters of mbxkcpar), options
  council:balanced-7                     a council by its roster; further keys of the settings' council table follow:
  council:roster=mbxkcpar mp ma,criterion=weights,weights.m=45
  council:complete-8,machines.count=2,machines.entries=32,machines.interval=48,machines.delay=16
                                         on two machines in virtual time, whose tables tell each other 32 entries every 48
                                         nodes of a thread, 16 nodes late
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
pub struct Match {
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
    #[command(flatten)]
    games: MatchArguments,
    /// Openings: PGN or EPD/FEN, also in a zip file [default: a small book of common openings]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Plies to take from each book game
    #[arg(long, default_value_t = 16, value_name = "N")]
    plies: usize,
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
            MatchPace::Alike(_) => {
                let state = self.games.state.open("match", self.experiment(&plan), &self.files())?;
                (state, Speeds::default())
            }
            MatchPace::EqualTime(nodes) => self.state_with_speeds(&plan, nodes, stop)?,
        };
        plan.players = [&self.a, &self.b].map(|spec| self.pace.contender(spec.clone(), &speeds));
        let summary = self.games.play(&plan, &mut state, stop)?;
        let text = speeds.to_string();
        let more = (speeds != Speeds::default()).then(|| ("speeds", text.as_str(), json!(speeds)));
        self.games.tell(&summary, more, stop)
    }

    /// The state of a match in equal time, and the speeds that hold in it: those of its beginning, given ones, or measured now.
    fn state_with_speeds(
        &self,
        plan: &MatchPlan,
        nodes: u64,
        stop: &AtomicBool,
    ) -> Result<(ExperimentState<GamePair>, Speeds), Failure> {
        let mut instances = Vec::new();
        for spec in [&self.a, &self.b].into_iter().filter(|spec| spec.pace.is_none()) {
            let ours = spec.kind.instances().ok_or_else(|| {
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
        let (experiment, files) = (self.experiment(plan), self.files());
        let (state, speeds) = self.games.state.open_measured("match", experiment, &files, "measured", measure)?;
        Ok((state, serde_json::from_value(speeds)?))
    }

    /// Returns the plan of the match, before any speed is known.
    fn plan(&self) -> Result<MatchPlan, Failure> {
        let pairs = self.games.pairs();
        let book = openings(self.book.as_deref(), self.plies, self.games.seed)?;
        let tables = self.syzygy.as_deref().map(Tablebases::open).transpose();
        let tablebases = tables.map_err(|error| Failure::usage(format_args!("--syzygy: {error}")))?;
        if tablebases.as_ref().is_some_and(Tablebases::is_empty) {
            let folders = self.syzygy.as_deref().unwrap_or_default();
            return Err(Failure::usage(format_args!("--syzygy {folders}: no tables of chess there")));
        }
        let players = [&self.a, &self.b].map(|spec| self.pace.contender(spec.clone(), &Speeds::default()));
        let workers = self.games.workers(&players);
        Ok(MatchPlan {
            players,
            openings: book.different(pairs)?,
            pairs,
            sprt: self.games.sprt,
            rules: MatchRules {
                adjudication: self.adjudicate.clone(),
                tables: tablebases.map(by_tablebases),
                longest: self.longest,
                truncation: self.truncate,
                margin: self.games.margin(),
            },
            workers,
            cores: (or_each_core(None).get() / workers).max(1),
        })
    }

    fn files(&self) -> Vec<PathBuf> {
        [&self.a, &self.b].into_iter().flat_map(PlayerSpec::files).chain(self.book.clone()).collect()
    }

    fn experiment(&self, plan: &MatchPlan) -> Value {
        let facts = json!({
            "pace": self.pace.to_string(),
            "speeds": self.speeds,
            "book": self.book,
            "plies": self.plies,
            "adjudicate": self.adjudicate.to_string(),
            "syzygy": self.syzygy,
            "longest": self.longest,
            "truncate": self.truncate,
        });
        self.games.experiment(plan, facts)
    }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    #[test]
    fn rejected_match_keeps_the_old_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("match.jsonl");
        let [file, no_tables] = [state.as_path(), folder.path()].map(|path| path.to_str().expect("plain letters"));
        let refused = |words: &[&str]| {
            let match_in_file = ["match", "engine:m,hash=1", "engine:mp,hash=1", "--state", file];
            let words = match_in_file.iter().chain(words).copied();
            let arguments =
                Match::augment_args(clap::Command::new("match")).try_get_matches_from(words).expect("arguments");
            let command = Match::from_arg_matches(&arguments).expect("arguments");
            command.run(&AtomicBool::new(false)).expect_err("it cannot be played").to_string()
        };
        assert!(refused(&["--games", "1000"]).contains("openings that differ"));
        assert!(refused(&["--syzygy", no_tables]).contains("--syzygy"));
        assert!(!state.exists());
        std::fs::write(&state, "what was played").expect("writable");
        refused(&["--games", "1000", "--fresh"]);
        assert_eq!(std::fs::read_to_string(&state).expect("it is there"), "what was played");
    }
}
