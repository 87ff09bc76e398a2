//! What a council costs around its searches, at 100 ms a move.
//!
//!     cargo run --release -p concilio-council --example overhead [MOVES]
//!
//! Two figures. How late the decision is: wall time of `decide` over the time it was given. And what the coordinator computes:
//! the processor time of the thread it runs on, per move, as a share of that time. Then the same with a member that hangs.

extern crate concilio_council as council;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use chess::{Line, Proposal, Variant};
use council::{
    Council, CouncilSettings, CriterionName, Question, Roster,
    pool::{Elector, ElectorFailure, ElectorKind, ElectorMaker, ElectorSpec, Job, Pool},
};
use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::CancellationToken;

/// What a move may take.
const MOVE: Duration = Duration::from_millis(100);

struct Hanging;

impl Elector for Hanging {
    fn search(&mut self, _: &Job, _: &AtomicBool, _: &mut dyn FnMut(Proposal)) -> Result<(), ElectorFailure> {
        loop {
            std::thread::park();
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let moves: u32 = std::env::args().nth(1).map_or(Ok(30), |count| count.parse())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    for (roster, criterion) in [
        ("complete", CriterionName::Majority),
        ("balanced-7", CriterionName::Weights),
        ("balanced-7", CriterionName::Relative2),
        ("balanced-7", CriterionName::ScoreMargin),
        ("balanced-7", CriterionName::ReSearch),
    ] {
        let settings = CouncilSettings { roster: roster.to_owned(), criterion, ..CouncilSettings::default() };
        let electors = Roster::from_settings(&settings)?.electors().to_vec();
        runtime.block_on(measure(roster, electors, &settings, moves));
    }
    let settings = CouncilSettings {
        roster: "balanced-7".to_owned(),
        criterion: CriterionName::Weights,
        ..CouncilSettings::default()
    };
    let mut electors = Roster::from_settings(&settings)?.electors().to_vec();
    let make = ElectorMaker::new(|_| Ok(Box::new(Hanging)));
    electors.push(ElectorSpec::new("hanging".into(), ElectorKind::Made(make), 1));
    runtime.block_on(measure("balanced-7 and one that hangs", electors, &settings, moves));
    Ok(())
}

async fn measure(name: &str, electors: Vec<ElectorSpec>, settings: &CouncilSettings, moves: u32) {
    let mut council = Council::new(&Pool::new(0), &Roster::of(electors), settings, Variant::Standard);
    let mut line = Line::start(Variant::Standard);
    let (mut late, mut latest, mut computed) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for number in 0..=moves {
        let question =
            Question { timing: Some(Box::new(|_| MOVE)), ..Question::new("overhead".into(), Arc::new(line.clone())) };
        let (began, computing) = (Instant::now(), processor_time());
        let decision = council.decide(question, &CancellationToken::new(), &mut |_| {}).await;
        let over = began.elapsed().saturating_sub(MOVE);
        // The first move waits for tables to be allocated.
        if number > 0 {
            late += over;
            latest = latest.max(over);
            computed += processor_time().saturating_sub(computing);
        }
        let Some(decision) = decision else { break };
        if line.play(decision.best).is_err() || line.legal_moves().is_empty() {
            line = Line::start(Variant::Standard);
        }
    }
    let share = computed.as_secs_f64() / (MOVE * moves).as_secs_f64();
    println!(
        "{name}, {}: late by {:?} in the mean, {latest:?} at most; coordinator {:.2} % of the time",
        settings.criterion.word(),
        late / moves,
        100.0 * share
    );
}

/// Of this thread.
fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}
