//! docs/method.md §7: the ways of searching in parallel with 1 to 19 processes, in virtual time.
//!
//! `Svr`, `Fpm` and `OS` are measured with a budget of nodes for each process: the nodes of all in
//! the time of one, the share of busy time, and the extra nodes over the base in the same time. The
//! search overhead needs equal work: the same depth in both phases, whose nodes are compared with
//! those of the base, the second phase on the master alone.

use std::fmt::Write;

use serde_json::json;

use super::{Reproduction, Section, or_dash, published, stopped};
use crate::{
    councils::{AskedCouncil, CouncilAnswer, ask},
    plot::curves,
    suite::{Judgement, TestPosition},
};
use council::{CouncilSettings, CriterionName, GroupMode, SecondPhaseMode};
use domain::Limits;
use util::Failure;

const PROCESSES: [usize; 7] = [1, 3, 4, 7, 11, 15, 19];
/// The number of processes in the Markdown table; the others are in the CSV file alone.
const PUBLISHED_PROCESSES: usize = 19;
const MODES: [SecondPhaseMode; 6] = [
    SecondPhaseMode::Sequential,
    SecondPhaseMode::Static,
    SecondPhaseMode::Peer,
    SecondPhaseMode::PeerScore,
    SecondPhaseMode::PvSplit,
    SecondPhaseMode::Shared,
];
const SPLITS: [f64; 2] = [0.5, 1.0 / 3.0];
/// The depth of equal work, plies.
const DEPTH: u32 = 8;

/// Returns a way of searching with `processes` processes: the base has an instance for each process, the others have groups of
/// the balanced seven.
fn asked(mode: SecondPhaseMode, processes: usize, split: f64, limits: Limits) -> AskedCouncil {
    let one_each = matches!(mode, SecondPhaseMode::Sequential | SecondPhaseMode::Static);
    let roster = match processes {
        1 => "complete".to_owned(),
        3 => "balanced-3".to_owned(),
        4 => "balanced-4".to_owned(),
        11 | 15 | 19 if one_each => format!("balanced-{processes}"),
        _ => "balanced-7".to_owned(),
    };
    let groups = match mode {
        SecondPhaseMode::PeerScore => GroupMode::PeerScore,
        SecondPhaseMode::PvSplit => GroupMode::PvSplit,
        _ if one_each => GroupMode::None,
        _ => GroupMode::Peer,
    };
    let settings = CouncilSettings {
        roster,
        criterion: CriterionName::ReSearch,
        split,
        second_phase: mode,
        groups,
        cores: processes,
        ..CouncilSettings::default()
    };
    AskedCouncil { name: format!("{} × {processes}", mode.word()), settings, limits }
}

pub(super) fn table(bench: &mut Reproduction<'_>) -> Result<Section, Failure> {
    let of_all = bench.positions.clone();
    let count = bench.effort.parallel_positions.min(of_all.len()).max(1);
    let positions: Vec<TestPosition> = (0..count).map(|index| of_all[index * of_all.len() / count].clone()).collect();
    let mut text = format!(
        "{count} positions in virtual time: a core for each process, and communication that costs nothing; {} nodes a \
         process. Svr, Fpm and OS as in docs/method.md §7; time is that of the process that did most, as a part \
         of these nodes; overhead is the extra nodes over the base for depth {DEPTH} in both phases. PV-split's processes share \
         their nodes, and one that waits loses none, so it takes longer, and its Svr, Fpm and OS are upper bounds. `shared` is \
         one search by threads over one table. Published rows are of 19 workstations, best moves of 36. `parallel.csv` has all numbers \
         of processes.\n",
        bench.effort.nodes
    );
    let mut csv = "split,mode,processes,Svr,Fpm,OS,time,overhead,best moves\n".to_owned();
    let mut plots = Vec::new();
    for (split, file) in SPLITS.into_iter().zip(["parallel-half.svg", "parallel-third.svg"]) {
        let nodes = measure(bench, &positions, split, Limits { nodes: Some(bench.effort.nodes), ..Limits::default() })?;
        let depth = measure(bench, &positions, split, Limits { depth: Some(DEPTH), ..Limits::default() })?;
        write_split(&mut text, &mut csv, split, bench.effort.nodes, [&nodes, &depth], &positions);
        let series = MODES.iter().zip(&nodes).map(|(mode, answers)| {
            let points =
                PROCESSES.iter().zip(answers).map(|(processes, answers)| (*processes as f64, speed_up(answers)));
            (mode.word().to_owned(), points.collect::<Vec<_>>())
        });
        let title = format!("Speed-up in virtual time, split {split:.2}");
        plots.push((file, curves(&title, "processes", "Svr", &series.collect::<Vec<_>>())));
    }
    plots.push(("parallel.csv", csv));
    Ok(Section { title: "§7 Searching in parallel", text, plots })
}

type AnswersByMode = Vec<Vec<Vec<CouncilAnswer>>>;

fn measure(
    bench: &mut Reproduction<'_>,
    positions: &[TestPosition],
    split: f64,
    limits: Limits,
) -> Result<AnswersByMode, Failure> {
    let of_mode = |mode| PROCESSES.map(|processes| asked(mode, processes, split, limits));
    let councils = MODES.map(of_mode).concat();
    let fens: Vec<String> = positions.iter().map(|position| position.line.fen()).collect();
    let facts = json!({"split": split, "nodes": limits.nodes, "depth": limits.depth, "positions": fens});
    let mut state = bench.state::<CouncilAnswer>("reproduce-parallel", &facts)?;
    let tell = &mut bench.tell;
    let whole =
        ask(&councils, positions, &mut state, bench.workers, bench.stop, |done, of| tell("parallel", done, of))?;
    if !whole {
        return Err(stopped());
    }
    let answers: Vec<CouncilAnswer> = state.done().values().cloned().collect();
    let by_council: Vec<Vec<CouncilAnswer>> = answers.chunks(positions.len()).map(<[CouncilAnswer]>::to_vec).collect();
    Ok(by_council.chunks(PROCESSES.len()).map(<[Vec<CouncilAnswer>]>::to_vec).collect())
}

fn write_split(
    text: &mut String,
    csv: &mut String,
    split: f64,
    budget: u64,
    [nodes, depth]: [&AnswersByMode; 2],
    positions: &[TestPosition],
) {
    let _ = writeln!(text, "\nFirst phase {:.0} % of the time, {PUBLISHED_PROCESSES} processes:\n", 100.0 * split);
    text.push_str("| mode | Svr | Fpm | OS | time | overhead | best moves |\n");
    text.push_str("|---|---|---|---|---|---|---|\n");
    let published = if split < 0.4 { &published::PARALLEL_THIRD[..] } else { &published::PARALLEL_HALF[..] };
    for (index, mode) in MODES.iter().enumerate() {
        for (place, processes) in PROCESSES.iter().enumerate() {
            let answers = &nodes[index][place];
            let busy = mean(answers.iter().map(|answer| answer.busy_share(*processes)));
            let of_base = all_nodes(&depth[0][place]);
            let overhead = all_nodes(&depth[index][place]) / of_base.max(1.0) - 1.0;
            let more = speed_up(answers) / speed_up(&nodes[0][place]) - 1.0;
            let time = mean(answers.iter().map(|answer| answer.virtual_time() as f64 / budget as f64));
            let best = answers.iter().zip(positions).filter(|(a, p)| p.judge(a.best) == Judgement::Best).count();
            let figures = [
                format!("{:.2}", speed_up(answers)),
                format!("{busy:.2}"),
                format!("{more:+.2}"),
                format!("{time:.2}"),
                format!("{overhead:+.2}"),
                best.to_string(),
            ];
            let _ = writeln!(csv, "{split:.2},{},{processes},{}", mode.word(), figures.join(","));
            if *processes != PUBLISHED_PROCESSES {
                continue;
            }
            let _ = writeln!(text, "| {} | {} |", mode.word(), figures.join(" | "));
            if let Some((_, [svr, fpm], [os, correct])) = published.iter().find(|(name, ..)| *name == mode.word()) {
                let (os, correct) = (or_dash(*os), or_dash(*correct));
                let _ = writeln!(text, "| published | {svr:.2} | {fpm} | {os} | – | – | {correct} |");
            }
        }
    }
}

/// Nodes of all in the time of one: that of one process is one node a node.
fn speed_up(answers: &[CouncilAnswer]) -> f64 {
    let time: f64 = answers.iter().map(|answer| answer.virtual_time() as f64).sum();
    all_nodes(answers) / time.max(1.0)
}

fn all_nodes(answers: &[CouncilAnswer]) -> f64 {
    answers.iter().map(|answer| answer.all_nodes() as f64).sum()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}
