//! `concilio-lab draughts match`: games between two players, or all pairings of several.

use std::{
    convert::Infallible,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use clap::Args;
use serde_json::json;

use crate::{
    command::arguments::replaced_by_pace,
    player::{DraughtsLine, DraughtsPlayerKind, PlayerSpec, by_tables},
};
use domain::Pace;
use draughts_core::{
    board::Rules,
    endgame::EndgameTables,
    evaluation::Strategy,
    game::{Game, ballots},
};
use experiment::{
    game::{Adjudication, MatchRules},
    matches::{Contender, MatchArguments, MatchPlan},
};
use util::{Failure, outln};

#[derive(Debug, Args)]
pub(super) struct DraughtsPace {
    /// Limit of a move: nodes=5000 (of each elector), movetime=0.05 or tc=10+0.1 (seconds), or depth=8
    #[arg(long, default_value = "nodes=5000", value_name = "PACE")]
    pub(super) pace: Pace,
    #[arg(long = "nodes", hide = true, alias = "movetime", value_parser = replaced_by_pace)]
    _replaced: Option<Infallible>,
}

/// Games between two players or more.
#[derive(Debug, Args)]
#[command(mut_arg("pgn", |arg| arg.alias("pdn")))]
pub struct Contest {
    /// The players, all of which meet [default: the four strategies]
    #[arg(value_name = "PLAYER")]
    players: Vec<PlayerSpec>,
    #[command(flatten)]
    pace: DraughtsPace,
    #[command(flatten)]
    games: MatchArguments,
    /// Endgame tables, which searches use and which end games that are decided (see concilio draughts build-tables)
    #[arg(long, value_name = "FILE")]
    tables: Option<PathBuf>,
}

impl Contest {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let four: Result<Vec<PlayerSpec>, _> = Strategy::ALL.iter().map(|strategy| strategy.name().parse()).collect();
        let players = if self.players.is_empty() { four.map_err(Failure::failed)? } else { self.players.clone() };
        if players.len() < 2 {
            return Err(Failure::usage("a match has two players or more"));
        }
        let tables = tables(self.tables.as_ref())?;
        let pairings =
            players.iter().enumerate().flat_map(|(place, a)| players[place + 1..].iter().map(move |b| [a, b]));
        for (number, pairing) in (1..).zip(pairings) {
            if number > 1 {
                outln!();
            }
            self.play(pairing, (players.len() > 2).then_some(number), tables.as_ref(), stop)?;
        }
        Ok(())
    }

    fn play(
        &self,
        pairing: [&PlayerSpec; 2],
        number: Option<usize>,
        tables: Option<&Arc<EndgameTables>>,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let pace = self.pace.pace;
        let plan = plan(pairing, pace, self.games.pairs(), self.games.seed, tables);
        let plan = MatchPlan {
            sprt: self.games.sprt,
            rules: MatchRules { margin: self.games.margin(), ..plan.rules },
            workers: self.games.workers(&plan.players),
            ..plan
        };
        // A match that is refused leaves no state, and with --fresh it forgets none.
        plan.check()?;
        let facts = json!({"pace": pace, "tables": self.tables});
        let state = number.map_or_else(|| self.games.state.clone(), |number| self.games.state.numbered(number));
        let experiment = self.games.experiment(&plan, facts);
        let mut state = state.open("draughts", experiment, self.tables.as_slice())?;
        let summary = self.games.play(&plan, &mut state, stop)?;
        self.games.tell(&summary, None, stop)
    }
}

fn plan(
    pairing: [&PlayerSpec; 2],
    pace: Pace,
    pairs: usize,
    seed: u64,
    tables: Option<&Arc<EndgameTables>>,
) -> MatchPlan<DraughtsPlayerKind> {
    let contender = |spec: &PlayerSpec| {
        let mut spec = spec.clone();
        spec.kind.tables = tables.cloned();
        Contender { pace: spec.pace.unwrap_or(pace), spec }
    };
    let openings =
        ballots::draw(pairs, seed).into_iter().map(|ballot| Arc::new(DraughtsLine(Game::new(ballot, Rules::Official))));
    MatchPlan {
        players: pairing.map(contender),
        openings: openings.collect(),
        pairs,
        sprt: None,
        // The rules end every game.
        rules: MatchRules {
            tables: tables.cloned().map(by_tables),
            ..MatchRules::drawn_after(usize::MAX, Adjudication::NONE)
        },
        workers: std::num::NonZeroUsize::MIN,
        cores: 1,
    }
}

pub(super) fn tables(path: Option<&PathBuf>) -> Result<Option<Arc<EndgameTables>>, Failure> {
    let tables = path.map(|path| EndgameTables::load(path)).transpose();
    Ok(tables.map_err(|error| Failure::usage(format_args!("--tables: {error}")))?.map(Arc::new))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use draughts_core::game::pdn;
    use experiment::{
        matches::{GamePair, Summary, run},
        state::ExperimentState,
    };

    fn between(workers: usize, pairs: usize, a: &str, b: &str) -> MatchPlan<DraughtsPlayerKind> {
        let tables = Arc::new(EndgameTables::build(2, |_, _| {}));
        let [a, b] = [a, b].map(|text| text.parse().expect("a player"));
        let plan = plan([&a, &b], Pace::Nodes(200), pairs, 5, Some(&tables));
        MatchPlan { workers: NonZeroUsize::new(workers).expect("some"), ..plan }
    }

    fn played(plan: &MatchPlan<DraughtsPlayerKind>, state: &mut ExperimentState<GamePair>) -> Summary {
        run(plan, state, &AtomicBool::new(false), |_| {}).expect("a match")
    }

    #[test]
    fn concurrency_does_not_change_a_match() {
        let text = |workers| {
            let plan = between(workers, 3, "council:hash=1", "fully-guarded:hash=1");
            let mut state = ExperimentState::in_memory();
            assert_eq!(played(&plan, &mut state).games, 6);
            plan.games_text(state.done())
        };
        let games = text(1);
        assert_eq!(games, text(3));
        let records = pdn::read(&games, Rules::Official).expect("PDN");
        assert!(records.len() == 6 && records.iter().all(|record| record.game.moves().len() > 10), "{games}");
    }

    #[test]
    fn deeper_search_wins_the_match() {
        let shallow = "published:strategy=peso-pedine,moves=1,quiescence=off";
        let plan = between(2, 3, "fully-guarded:nodes=5000,hash=1", shallow);
        let summary = played(&plan, &mut ExperimentState::in_memory());
        assert!(summary.wins > summary.draws + summary.losses, "{summary}");
    }

    #[test]
    fn too_few_ballots_are_an_error() {
        let ballots = ballots::all().len();
        for b in ["mpgsk:hash=1", "m:depth=3,hash=1", "published:moves=1"] {
            let error = between(1, ballots + 1, "m:hash=1", b).check().expect_err(b).to_string();
            assert!(
                error.contains(&format!("from {ballots} openings")) && error.ends_with("(--games)"),
                "{b}: {error}"
            );
        }
        let timed = between(1, ballots + 1, "m:hash=1", "m:movetime=0.01,hash=1").check();
        assert!(timed.is_ok(), "the clock never does the same twice");
    }

    #[test]
    fn state_of_an_older_format_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, header) = (folder.path().join("match.jsonl"), json!({"players": ["m", "mp"]}));
        let older = r#"{"part":0,"games":[{"white":1.0,"plies":40,"ending":"tables","conduct":[]}]}"#;
        std::fs::write(&path, format!("{header}\n{older}\n")).expect("writable");
        let error = ExperimentState::<GamePair>::open(&path, &header).expect_err("another format").to_string();
        assert!(error.contains("--fresh") && error.lines().count() == 1, "{error}");
    }
}
