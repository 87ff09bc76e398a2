//! The short searches by which claims of workers are held against our own engine, on a thread of their own.
//!
//! Unlike the threads of electors it does not give way to others: a look takes milliseconds, and a proposal waits for it.

use std::sync::{atomic::AtomicBool, mpsc};

use tokio::sync::oneshot;

use super::{looks::Look, scrutiny::HomeValue};
use chess::{Knowledge, engine_move, engine_position};
use council::pool::VerificationLength;
use engine::{Engine, EngineOptions, Limits};

/// Its table, MiB.
const HASH: usize = 8;

/// One searcher with the evaluation of the roster `auto` and one thread, which ends with this handle.
pub(crate) struct Looker(mpsc::Sender<(Look, oneshot::Sender<HomeValue>)>);

impl Looker {
    /// Starts its thread.
    pub(crate) fn start() -> Self {
        let (orders, inbox) = mpsc::channel::<(Look, oneshot::Sender<HomeValue>)>();
        let started = std::thread::Builder::new().name("looker".to_owned()).stack_size(8 << 20).spawn(move || {
            let knowledge = Knowledge::LEARNED;
            let mut engine =
                Engine::new(EngineOptions { hash: HASH, threads: 1, knowledge, ..EngineOptions::default() });
            for (look, answer) in inbox {
                // Nobody waits for it any more where the connection was given up meanwhile.
                let _ = answer.send(search(&mut engine, &look));
            }
        });
        if let Err(error) = started {
            tracing::error!(%error, "no thread to look at what workers propose; no score of theirs will be high");
        }
        Self(orders)
    }

    /// Searches. A variant that our own engine does not play has no score.
    pub(crate) async fn look(&self, look: &Look) -> HomeValue {
        let (answer, found) = oneshot::channel();
        let nothing = HomeValue::none(look.length);
        if self.0.send((look.clone(), answer)).is_err() {
            return nothing;
        }
        found.await.unwrap_or(nothing)
    }
}

fn search(engine: &mut Engine, look: &Look) -> HomeValue {
    let nothing = HomeValue::none(look.length);
    if !look.line.variant().is_standard_rules() {
        return nothing;
    }
    let Ok(position) = engine_position(&look.line) else { return nothing };
    let root: Vec<_> = look.key.best.and_then(|uci| engine_move(&position, uci)).into_iter().collect();
    let limits = Limits { nodes: Some(look.length.nodes()), time: None, depth: None, mate: None };
    // The long look calls a claim untrue: its shallow iterations are to say what a shallow search sees, and not what is in the table.
    if look.length == VerificationLength::Long {
        engine.new_game();
    }
    let mut value = nothing;
    engine.search(&position, &root, &limits, &AtomicBool::new(false), &mut |iteration| {
        value = value.after(iteration.score.into(), iteration.depth);
    });
    value
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::looks::LookKey;
    use chess::{Line, Score, UciMove, Variant};

    async fn seen(moves: &str, best: &str, length: VerificationLength) -> HomeValue {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal");
        let best: UciMove = best.parse().expect("a move");
        let key = LookKey { position: line.fen().into(), best: Some(best) };
        Looker::start().look(&Look { key, line: Arc::new(line), length, doubt: false }).await
    }

    #[tokio::test]
    async fn a_queen_that_is_given_away_is_seen_in_the_shortest_look() {
        let value = seen("e2e4 e7e5 d1h5 b8c6", "h5f7", VerificationLength::Short).await;
        assert!(value.score.is_some_and(|score| score < Score::Cp(-500)), "{value:?}");
    }

    #[tokio::test]
    async fn a_mate_is_seen_in_the_shortest_look() {
        let value = seen("e2e4 e7e5 d1h5 b8c6 f1c4 g8f6", "h5f7", VerificationLength::Short).await;
        assert_eq!(value.score, Some(Score::Mate(1)));
    }
}
