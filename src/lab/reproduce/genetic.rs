//! METHOD.md §8: the weights of the criterion `weights` by the genetic algorithm, for the balanced seven.

use std::fmt::Write;

use super::{Bench, ReproduceError, Section, candidate, published};
use crate::lab::{
    fit::genetic::{Ballot, Generation, Individual},
    plot::{Curve, curves},
    searches::Request,
    suite::{Judgement, TestPosition},
};

const ROSTER: &str = "balanced-7";

pub(super) fn table(bench: &mut Bench<'_>) -> Result<Section, ReproduceError> {
    let ballots = ballots(bench)?;
    // Every other position is kept from the algorithm, to see what of it is chance.
    let (training, held_out): (Vec<(usize, Ballot)>, Vec<_>) =
        ballots.into_iter().enumerate().partition(|(index, _)| index % 2 == 0);
    let [training, held_out] = [training, held_out].map(|half| half.into_iter().map(|(_, ballot)| ballot).collect::<Vec<_>>());
    let mut generation = Generation::first(&training, bench.seed);
    let mut course = Vec::new();
    for number in 0..bench.effort.generations {
        course.push((f64::from(number), 100.0 * generation.champion.1 as f64 / training.len().max(1) as f64));
        generation = generation.next(&training, bench.seed);
    }
    let found = generation.champion.0;
    let mut text = format!(
        "{ROSTER}, {} nodes an elector, {} generations of 30 on every other one of {} positions; best moves elected, in per cent. Their genetic weights won \
         14.01 of 20 games, their hand-made ones 10.56.\n\n| weights m b x k c p a r | seen | held out |\n|---|---|---|\n",
        bench.effort.nodes,
        bench.effort.generations,
        bench.positions.len()
    );
    let rows = [
        ("hand-made", Individual::of(published::HAND_MADE_WEIGHTS)),
        ("published, found on the 500", Individual::of(published::GENETIC_WEIGHTS)),
        ("found here", found),
    ];
    for (name, individual) in rows {
        let share = |ballots: &[Ballot]| 100.0 * individual.best_moves(ballots) as f64 / ballots.len().max(1) as f64;
        let weights = individual.weights().map(|weight| weight.to_string()).join(" ");
        let _ = writeln!(text, "| {name}: {weights} | {:.1} | {:.1} |", share(&training), share(&held_out));
    }
    let curve = Curve { name: "best so far".to_owned(), points: course };
    let plot = curves("The genetic algorithm", "generation", "best moves, %", &[curve]);
    Ok(Section { title: "§8 The genetic algorithm", text, plots: vec![("genetic.svg", plot)] })
}

/// The proposals of the roster in every position.
fn ballots(bench: &mut Bench<'_>) -> Result<Vec<Ballot>, ReproduceError> {
    let electors = candidate(ROSTER)?.roster.electors().to_vec();
    let budget = bench.budget();
    let requests_in = |position: &TestPosition| -> Vec<Request> {
        electors.iter().map(|elector| Request::new(elector, &position.line, budget)).collect()
    };
    let requests: Vec<Request> = bench.positions.iter().flat_map(requests_in).collect();
    bench.ensure(&requests, "proposals")?;
    let searches = &bench.searches;
    let ballot = |position: &TestPosition| {
        let proposals: Vec<_> = requests_in(position)
            .iter()
            .filter_map(|request| {
                let best = searches.get(request)?.best()?;
                let is_best = position.judge(best) == Judgement::Best;
                Some((best.to_string(), request.elector.knowledge().unwrap_or_default(), is_best))
            })
            .collect();
        Ballot::new(proposals.iter().map(|(text, knowledge, is_best)| (text.as_str(), *knowledge, *is_best)))
    };
    Ok(bench.positions.iter().map(ballot).collect())
}
