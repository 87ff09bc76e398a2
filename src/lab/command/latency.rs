//! `latency`: what the daemon itself takes, alone or beside another build.

use std::{fs, path::PathBuf, time::Duration};

use clap::Args;

use super::{Failure, progress::ProgressDisplay};
use crate::{
    daemon_program::DaemonProgram,
    latency::{Latency, LatencyPlan, MoveDelays, measure},
    stats::quantile,
};

/// Time the daemon itself takes for a move and to connect, its memory and its size; alone or beside another build
#[derive(Debug, Args)]
#[command(
    after_help = "Prints a Markdown table: medians over the rounds, and with --against the ratio of both programs in
each round: the median [least, most]. Two runs on one machine differ more than two builds, so compare within one run."
)]
pub struct MeasureLatency {
    #[command(flatten)]
    program: DaemonProgram,
    /// Another build of the daemon, which takes turns with it
    #[arg(long, value_name = "PROGRAM")]
    against: Option<PathBuf>,
    #[command(flatten)]
    plan: LatencyPlan,
}

impl MeasureLatency {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let programs: Vec<PathBuf> = [Some(self.program.path()?), self.against].into_iter().flatten().collect();
        let sizes: Vec<f64> = programs
            .iter()
            .map(|program| match fs::metadata(program) {
                Ok(file) => Ok(megabytes(file.len())),
                Err(error) => Err(Failure::usage(format_args!("{}: {error}", program.display()))),
            })
            .collect::<Result<_, _>>()?;
        let mut progress = ProgressDisplay::new(programs.len() * self.plan.rounds, "measurements");
        let mut done = 0;
        let measured = measure(&programs, &self.plan, || {
            done += 1;
            progress.at(done, String::new);
        });
        let measured = measured.await?;
        progress.end();
        print(&sizes, &measured);
        Ok(())
    }
}

type Figure<'a> = Box<dyn Fn(&Latency) -> Option<f64> + 'a>;

fn print(sizes: &[f64], measured: &[Vec<Latency>]) {
    let Some(first) = measured.first().and_then(|rounds| rounds.first()) else { return };
    let mut rows: Vec<(String, Figure<'_>)> = vec![
        ("start to connected, ms".to_owned(), Box::new(|round| Some(median(&round.starts)))),
        ("idle memory, MB".to_owned(), Box::new(|round| round.idle_memory.map(of_kibibytes))),
    ];
    for (number, share) in first.shares.iter().enumerate() {
        let games = if share.games == 1 { "1 game".to_owned() } else { format!("{} games", share.games) };
        let name = if share.watchers == 0 { games } else { format!("{games}, {} watchers", share.watchers) };
        let delay = |part: f64| -> Figure<'_> {
            Box::new(move |round| Some(milliseconds(quantile(&round.shares.get(number)?.delays, part))))
        };
        rows.push((format!("{name}: p50, ms"), delay(0.5)));
        rows.push((format!("{name}: p99, ms"), delay(0.99)));
        let memory = |share: &MoveDelays| share.memory.map(of_kibibytes);
        rows.push((format!("{name}: memory, MB"), Box::new(move |round| memory(round.shares.get(number)?))));
    }
    let [_, rest @ ..] = measured else { return };
    let heads: String = rest.iter().map(|_| " against | ratio [rounds] |").collect();
    util::outln!("| | measured |{heads}\n|---|---|{}", "---|---|".repeat(rest.len()));
    for (name, figure) in &rows {
        let figures: Vec<Vec<f64>> = measured.iter().map(|rounds| rounds.iter().filter_map(figure).collect()).collect();
        util::outln!("{}", row(name, &figures));
    }
    let sizes: Vec<Vec<f64>> = sizes.iter().map(|size| vec![*size]).collect();
    util::outln!("{}", row("binary, MB", &sizes));
}

/// A row of the table: the median of the first program's figures, and for each other its own with the ratios of the rounds.
fn row(name: &str, figures: &[Vec<f64>]) -> String {
    let [first, rest @ ..] = figures else { return String::new() };
    let mut row = format!("| {name} | {} |", shown(&mut first.clone()));
    for other in rest {
        let mut ratios: Vec<f64> = first.iter().zip(other).map(|(first, other)| first / other).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = match ratios.as_slice() {
            [] => "not known".to_owned(),
            [only] => format!("{only:.2}"),
            [least, .., most] => format!("{:.2} [{least:.2}, {most:.2}]", ratios[ratios.len() / 2]),
        };
        row += &format!(" {} | {ratio} |", shown(&mut other.clone()));
    }
    row
}

fn shown(figures: &mut [f64]) -> String {
    figures.sort_by(f64::total_cmp);
    match figures.get(figures.len() / 2) {
        Some(figure) if *figure < 10.0 => format!("{figure:.3}"),
        Some(figure) => format!("{figure:.1}"),
        None => "not known".to_owned(),
    }
}

fn median(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    milliseconds(quantile(&times, 0.5))
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn of_kibibytes(kibibytes: u64) -> f64 {
    megabytes(kibibytes * 1024)
}

pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_medians_and_ratios() {
        let (measured, against) = (vec![1.0, 3.0, 2.0], vec![2.0, 2.0, 2.0]);
        assert_eq!(row("p50", &[measured.clone(), against]), "| p50 | 2.000 | 2.000 | 1.00 [0.50, 1.50] |");
        assert_eq!(row("p50", &[measured]), "| p50 | 2.000 |");
        assert_eq!(row("size", &[vec![20.0], vec![10.0]]), "| size | 20.0 | 10.0 | 2.00 |");
    }
}
