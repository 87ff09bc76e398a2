//! docs/method.md §8: the weights of the criterion `weights` by the genetic algorithm, for the balanced seven.

use std::fmt::Write;

use super::{Reproduction, Section, candidate, published, stopped};
use crate::{
    fit::{
        self,
        genetic::{Generation, LoggedBallot, best_moves},
    },
    plot::curves,
};
use util::Failure;

const ROSTER: &str = "balanced-7";

pub(super) fn table(bench: &mut Reproduction<'_>) -> Result<Section, Failure> {
    let ballots = ballots(bench)?;
    // Every other position is held out, to measure chance.
    let (training, held_out): (Vec<(usize, LoggedBallot)>, Vec<_>) =
        ballots.into_iter().enumerate().partition(|(index, _)| index % 2 == 0);
    let [training, held_out] =
        [training, held_out].map(|half| half.into_iter().map(|(_, ballot)| ballot).collect::<Vec<_>>());
    let mut generation = Generation::first(&training, bench.seed);
    let mut course = Vec::new();
    for number in 0..bench.effort.generations {
        course.push((f64::from(number), 100.0 * generation.champion.1 as f64 / training.len().max(1) as f64));
        generation = generation.next(&training, bench.seed);
    }
    let mut text = format!(
        "{ROSTER}, {} nodes an elector, {} generations of 30 on every other one of {} positions; best moves elected, in per cent. The published genetic weights won \
         14.01 of 20 games, hand-made ones 10.56.\n\n| weights m b x k c p a r | seen | held out |\n|---|---|---|\n",
        bench.effort.nodes,
        bench.effort.generations,
        bench.positions.len()
    );
    let rows = [
        ("hand-made", published::HAND_MADE_WEIGHTS),
        ("published, found on the 500", published::GENETIC_WEIGHTS),
        ("found here", generation.champion.0.to_be_bytes()),
    ];
    for (name, weights) in rows {
        let share =
            |ballots: &[LoggedBallot]| 100.0 * best_moves(weights, ballots) as f64 / ballots.len().max(1) as f64;
        let weights = weights.map(|weight| weight.to_string()).join(" ");
        let _ = writeln!(text, "| {name}: {weights} | {:.1} | {:.1} |", share(&training), share(&held_out));
    }
    let curve = ("best so far".to_owned(), course);
    let plot = curves("The genetic algorithm", "generation", "best moves, %", &[curve]);
    Ok(Section { title: "§8 The genetic algorithm", text, plots: vec![("genetic.svg", plot)] })
}

fn ballots(bench: &mut Reproduction<'_>) -> Result<Vec<LoggedBallot>, Failure> {
    let roster = candidate(ROSTER, council::CouncilSettings::default().split)?.roster;
    let (budget, tell) = (bench.budget(), &mut bench.tell);
    fit::ballots(&roster, &bench.positions, budget, bench.searches, bench.stop, |done, of| tell("proposals", done, of))?
        .ok_or_else(stopped)
}
