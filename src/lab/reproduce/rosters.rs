//! docs/method.md §3: the proposals of the rosters. `union` is the score of a perfect criterion,
//! `intersection` the lower bound of any.

use std::fmt::Write;

use super::{Reproduction, Section, published};
use util::Failure;

pub(super) fn table(bench: &mut Reproduction<'_>) -> Result<Section, Failure> {
    let names = published::ROSTERS.map(|(name, ..)| name);
    let report = bench.trial(&names, &[])?;
    let base = report.systems.first().map_or(0, |system| system.best);
    let mut text = format!(
        "{} positions, {} nodes an elector; figures here as of 500. Complete knowledge alone finds {:.0} of 500 here, GNU Chess found {}.\n\n\
         | roster | published union / intersection | here | distinct moves | unanimous |\n|---|---|---|---|---|\n",
        report.positions,
        bench.effort.nodes,
        bench.of_500(base),
        published::GNU_CHESS
    );
    for ((name, union, intersection), ours) in published::ROSTERS.into_iter().zip(&report.rosters) {
        let (our_union, our_intersection) = (bench.of_500(ours.union), bench.of_500(ours.intersection));
        let unanimous = 100.0 * ours.unanimous;
        let _ = writeln!(
            text,
            "| {name} | {union} / {intersection} | {our_union:.0} / {our_intersection:.0} | {:.2} | {unanimous:.0} % |",
            ours.distinct
        );
    }
    let gain = |theirs: bool| {
        let ratios = published::ROSTERS.iter().zip(&report.rosters).map(|((_, union, _), ours)| {
            if theirs {
                f64::from(*union) / f64::from(published::GNU_CHESS)
            } else {
                ours.union as f64 / base.max(1) as f64
            }
        });
        ratios.sum::<f64>() / published::ROSTERS.len() as f64
    };
    let _ = writeln!(
        text,
        "\nOver the sequential base the union is {:.2} times as large here and {:.2} times in the theses, in the mean.",
        gain(false),
        gain(true)
    );
    Ok(Section { title: "§3 Union and intersection of the rosters", text, plots: Vec::new() })
}
