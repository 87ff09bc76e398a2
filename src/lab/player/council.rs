use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::{ChosenMove, MatchPlayer, MoveRequest, Pace, PlayerFailure};
use council::{
    Council, CouncilSettings, Question, Roster,
    clock::{ClockSettings, Lag},
    electors::{Pool, VirtualMachines},
    player::{Time, timing},
};
use domain::{Limits, Line, Score, TimeControl, UciMove, Variant};
use engine::uci::LEAST_DEPTH;

pub(super) struct CouncilPlayer {
    runtime: Runtime,
    pool: Pool,
    roster: Roster,
    settings: CouncilSettings,
    council: Option<Council>,
    /// The score of its last move, from its side.
    last_score: Option<Score>,
}

impl CouncilPlayer {
    /// Creates a council on `cores` cores, which in virtual time may stand for several machines.
    pub(super) fn new(
        roster: Roster,
        settings: CouncilSettings,
        machines: Option<VirtualMachines>,
        cores: usize,
    ) -> Result<Self, PlayerFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|error| PlayerFailure::Failed(format!("no runtime for a council: {error}")))?;
        let pool = Pool::new(cores);
        let pool = match machines {
            Some(machines) => pool.standing_for(machines),
            None => pool,
        };
        Ok(Self { runtime, pool, roster, settings, council: None, last_score: None })
    }
}

impl MatchPlayer<Line> for CouncilPlayer {
    fn new_game(&mut self, _: &Line) -> Result<(), PlayerFailure> {
        self.council.iter().for_each(Council::new_game);
        self.last_score = None;
        Ok(())
    }

    fn choose(&mut self, turn: &MoveRequest<Line>) -> Result<ChosenMove<UciMove>, PlayerFailure> {
        let council = self.council.get_or_insert_with(|| {
            // As many cores as it asks for, so that a node budget does not depend on the machine.
            let cores = if turn.pace.is_timed() { self.settings.cores } else { self.settings.cores.max(1) };
            let settings = CouncilSettings { cores, ..self.settings.clone() };
            Council::new(&self.pool, &self.roster, &settings, Variant::Standard)
        });
        // The arbiter's clock runs from the first move on, and nothing lies between it and this player.
        let clock = ClockSettings { first_move: Duration::ZERO, ..ClockSettings::default() };
        let by_clock = |time| timing(&clock, Lag::steady(Duration::ZERO), &turn.line, time, self.last_score);
        // A player's council makes it at once; the arbiter wants its score.
        let limits = turn.pace.limits();
        let only_move = turn.pace.is_timed() && turn.line.only_move().is_some();
        let question = Question {
            timing: time(turn).map(by_clock),
            limits: Limits { time: None, depth: limits.depth.or(only_move.then_some(LEAST_DEPTH)), ..limits },
            in_step: !turn.pace.is_timed(),
            ..Question::new("lab".into(), turn.line.clone())
        };
        let cancelled = CancellationToken::new();
        let decision = self.runtime.block_on(council.decide(question, &cancelled, &mut |_| {}));
        let decision = decision.ok_or_else(|| PlayerFailure::Failed("the council decided nothing".to_owned()))?;
        if decision.votes.is_empty() {
            return Err(PlayerFailure::Failed("no elector proposed a move".to_owned()));
        }
        self.last_score = decision.score.or(self.last_score);
        Ok(ChosenMove::from(&decision))
    }
}

/// The time of this move for a council. `None` where nodes or plies are counted.
fn time(turn: &MoveRequest<Line>) -> Option<Time> {
    match turn.pace {
        Pace::Nodes(_) | Pace::Depth(_) => None,
        Pace::MoveTime(time) => Some(Time::Exactly(time)),
        Pace::Clock { initial, increment } => Some(Time::Clock {
            control: TimeControl::real_time(initial, increment),
            clocks: turn.clocks,
            moves_to_go: None,
            spent: Duration::ZERO,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::only_move;

    #[test]
    fn only_move_gets_a_score_at_once() {
        let (roster, advisers) = ("mp ma".to_owned(), String::new());
        let settings = CouncilSettings { roster, advisers, hash: 1, ..CouncilSettings::default() };
        let roster = Roster::from_settings(&settings).expect("a roster");
        let mut player = CouncilPlayer::new(roster, settings, None, 1).expect("a council");
        let chosen = player.choose(&only_move()).expect("a move");
        assert_eq!(chosen.best.to_string(), "h1h2");
        assert!(chosen.depth <= LEAST_DEPTH && chosen.score.is_some(), "{chosen:?}");
    }
}
