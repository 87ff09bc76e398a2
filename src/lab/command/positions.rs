//! `concilio-lab positions`: electors, rosters and criteria over test suites.

use std::{path::PathBuf, sync::atomic::AtomicBool};

use clap::Args;

use super::{
    Failure,
    inputs::{CouncilFile, MayAsk, ReportArguments, SearchedPositions, engine},
    progress::{Bars, stopped},
};
use crate::{
    player::Pace,
    positions::{CandidateRoster, PositionsPlan, markdown, run},
};
use council::{CouncilSettings, CriterionName, Roster, electors::ElectorSpec};

/// Try electors, rosters and criteria on test positions
#[derive(Debug, Args)]
#[command(
    after_help = "Every elector searches every position once; every criterion elects among these same proposals. Searches are kept in
data/lab, so that the same command goes on after Ctrl-C, and another criterion costs nothing.

  concilio-lab positions suites/sts.epd --roster balanced-7,unbalanced-7 --pace nodes=10000
  concilio-lab positions suites/wac.epd --roster 'mbxkcpar mp ma' --criterion weights,score-margin,re-search
  concilio-lab positions games.pgn --every 12 --oracle /usr/games/stockfish --markdown regret.md

SUITE is EPD in any dialect (bm, am, the points of STS) or PGN. Only an oracle can judge positions of games, and EPD without bm or am.
The folder suites/ of the source holds STS, WAC and Bratko-Kopec."
)]
pub struct TryPositions {
    /// Suites: EPD or PGN, also in a zip file
    #[arg(required = true, value_name = "SUITE")]
    suites: Vec<PathBuf>,
    /// Rosters, by name or as knowledge letters with blanks between them [default: all published ones]
    #[arg(long, value_delimiter = ',', value_name = "ROSTERS")]
    roster: Vec<String>,
    /// Criteria [default: all]
    #[arg(long, value_delimiter = ',', value_parser = parse_criterion, value_name = "NAMES")]
    criterion: Vec<CriterionName>,
    #[command(flatten)]
    settings: CouncilFile,
    /// Single electors beside the base, as knowledge letters
    #[arg(long, value_delimiter = ',', value_name = "LETTERS")]
    single: Vec<String>,
    /// UCI engines beside them
    #[arg(long, value_name = "PROGRAM")]
    engine: Vec<PathBuf>,
    /// Multiples of the budget at which the base also searches
    #[arg(long, value_delimiter = ',', value_name = "FACTORS")]
    base_times: Vec<u64>,
    /// Limit of every elector: nodes=N or movetime=SECONDS
    #[arg(long, default_value = "nodes=10000", value_parser = parse_budget, value_name = "PACE")]
    pace: Pace,
    #[command(flatten)]
    judge: MayAsk,
    #[command(flatten)]
    searched: SearchedPositions,
    #[command(flatten)]
    report: ReportArguments,
}

impl TryPositions {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let plan = self.plan()?;
        let mut searches = self.searched.searching.ours()?;
        let mut oracle_searches = self.searched.searching.theirs(self.judge.oracle.as_deref())?;
        let mut bars = Bars::default();
        let tell = |round: &'static str, done, of| bars.at(round, done, of);
        let report = run(&plan, &mut searches, &mut oracle_searches, stop, tell)?;
        bars.end();
        let report = report.ok_or_else(stopped)?;
        self.report.tell("", &markdown(&report), &report)
    }

    fn plan(&self) -> Result<PositionsPlan, Failure> {
        let settings = self.settings.council()?;
        let rosters: Vec<String> =
            if self.roster.is_empty() { Roster::names().map(str::to_owned).collect() } else { self.roster.clone() };
        let candidate = |roster| CandidateRoster::new(CouncilSettings { roster, ..settings.clone() });
        let candidates = rosters.into_iter().map(candidate).collect::<Result<_, _>>()?;
        let base = ElectorSpec::own(domain::Knowledge::COMPLETE, settings.hash);
        let multiples = self.base_times.iter().filter_map(|factor| Some((base.clone(), times(self.pace, *factor)?)));
        let singles = self.singles(settings.hash)?.into_iter().map(|elector| (elector, self.pace));
        Ok(PositionsPlan {
            positions: self.searched.of(&self.suites)?,
            candidates,
            criteria: if self.criterion.is_empty() { CriterionName::ALL.to_vec() } else { self.criterion.clone() },
            singles: multiples.chain(singles).collect(),
            budget: self.pace,
            oracle: self.judge.oracle()?,
            seed: self.searched.seed,
        })
    }

    fn singles(&self, hash: usize) -> Result<Vec<ElectorSpec>, Failure> {
        let ours = self.single.iter().map(|letters| {
            let knowledge = letters.parse().map_err(|error| Failure::usage(format_args!("--single: {error}")))?;
            Ok(ElectorSpec::own(knowledge, hash))
        });
        ours.chain(self.engine.iter().map(|path| engine(path))).collect()
    }
}

fn times(pace: Pace, factor: u64) -> Option<Pace> {
    match pace {
        Pace::Nodes(nodes) => Some(Pace::Nodes(nodes.saturating_mul(factor))),
        Pace::MoveTime(time) => Some(Pace::MoveTime(time.saturating_mul(u32::try_from(factor).ok()?))),
        Pace::Clock { .. } | Pace::Depth(_) => None,
    }
}

fn parse_criterion(text: &str) -> Result<CriterionName, String> {
    let known = || CriterionName::ALL.map(CriterionName::word).join(", ");
    CriterionName::ALL
        .into_iter()
        .find(|criterion| criterion.word() == text)
        .ok_or_else(|| format!("accepted: {}", known()))
}

pub(super) fn parse_budget(text: &str) -> Result<Pace, String> {
    match text.parse() {
        Ok(Pace::Clock { .. } | Pace::Depth(_)) => {
            Err("clocks and plies are of no use for single positions (accepted: nodes=N, movetime=S)".to_owned())
        }
        Ok(pace) => Ok(pace),
        Err(error) => Err(error.to_string()),
    }
}
