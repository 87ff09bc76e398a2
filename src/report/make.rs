//! The making of a report: games of the journal are read, judged, studied and written in batches, the
//! oldest first.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use bot::journal::{Archive, Filter, GameRecord};
use engine::Tablebases;
use jiff::Timestamp;

use crate::{
    judge::{GameMaterial, JudgeSpec, Verdicts, judge_all},
    output::{Report, ReportFolder},
    study::GameStudy,
    suggest::{divided, suggest},
    totals::{Totals, changes},
    votes::CouncilStudy,
};
use util::Failure;

/// The number of games judged together: enough to keep all cores busy, few enough to hold in
/// memory.
const TOGETHER: usize = 16;

#[derive(Clone, Debug)]
pub struct ReportRequest {
    pub journal: PathBuf,
    pub filter: Filter,
    pub judge: JudgeSpec,
    pub threads: NonZeroUsize,
    pub tables: Option<Tablebases>,
    /// The folder of the pages; `None` writes none.
    pub output: Option<PathBuf>,
    pub suggest: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportProgress {
    pub games: usize,
    pub of: usize,
    /// Positions judged of those at hand.
    pub positions: usize,
    pub of_positions: usize,
}

/// Makes a report. `each` is called with every studied game. Returns `None` if `stop` was set before
/// the end; verdicts are kept for the next report.
pub fn make_report(
    request: &ReportRequest,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(ReportProgress),
    each: &mut dyn FnMut(&GameStudy),
) -> Result<Option<Report>, Failure> {
    // Opening the judgements first migrates an older journal.
    let verdicts = Verdicts::open(&request.journal, &request.judge)?;
    let archive = Archive::open(&request.journal)?;
    let mut games = archive.games(&Filter { limit: None, ..request.filter.clone() })?;
    games.retain(|game| game.ended_at.is_some());
    if let Some(newest) = request.filter.limit {
        games.drain(..games.len().saturating_sub(newest));
    }
    let faults = archive.fault_counts()?;
    let mut folder =
        request.output.as_deref().map(|path| ReportFolder::begin(path, &request.judge.name())).transpose()?;
    let (mut totals, mut council, mut votes) = (Totals::default(), CouncilStudy::default(), Vec::new());
    let of = games.len();
    let mut done = 0;
    for records in games.chunks(TOGETHER) {
        let read = |record: &GameRecord| GameMaterial::read(&archive, record.clone());
        let materials = records.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let questions =
            materials.iter().filter(|game| game.can_be_judged()).flat_map(GameMaterial::questions).collect();
        judge_all(&request.judge, questions, &verdicts, request.threads, stop, &mut |positions, of_positions| {
            progress(ReportProgress { games: done, of, positions, of_positions });
        })?;
        for material in &materials {
            if stop.load(Relaxed) {
                return Ok(None);
            }
            let known = if material.can_be_judged() { material.verdicts(&verdicts)? } else { None };
            let study = known.and_then(|known| GameStudy::of(material, &known, request.tables.as_ref()));
            let faults = faults.get(&material.record.key()).copied().unwrap_or(0);
            totals.add(&material.record, study.as_ref(), faults);
            if let Some(study) = &study {
                council.add(study);
                each(study);
                if request.suggest {
                    votes.push(divided(&study.votes));
                }
            }
            if let Some(folder) = &mut folder {
                folder.add(&material.record, study.as_ref())?;
            }
        }
        done += records.len();
        progress(ReportProgress { games: done, of, positions: 0, of_positions: 0 });
    }
    let totals = totals.finish();
    let earlier = folder.as_ref().and_then(ReportFolder::earlier_totals);
    let mut report = Report {
        judge: request.judge.name(),
        made_at: Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
        changes: earlier.map_or_else(Vec::new, |earlier| changes(earlier, &totals)),
        totals,
        council: council.finish(),
        suggestion: suggest(&votes),
        index: None,
    };
    report.index = folder.map(|folder| folder.finish(&report)).transpose()?;
    Ok(Some(report))
}
