//! The short searches by which claims of workers are held against our own engine, on a thread of their own.
//!
//! Unlike the threads of electors it does not give way to others: a search takes milliseconds, and a proposal waits for it.

use std::sync::{atomic::AtomicBool, mpsc};

use tokio::sync::oneshot;

use super::{claims::HomeValue, values::HomeSearch};
use domain::{Knowledge, engine_move, engine_position};
use engine::{Engine, EngineOptions, Limits};

const HASH: usize = 2;

/// One searcher with the evaluation of the roster `auto` and one thread, which ends with this handle.
pub(crate) struct Verifier(mpsc::Sender<(HomeSearch, oneshot::Sender<HomeValue>)>);

impl Verifier {
    pub(crate) fn start() -> Self {
        let (orders, inbox) = mpsc::channel::<(HomeSearch, oneshot::Sender<HomeValue>)>();
        let started = std::thread::Builder::new().name("verifier".to_owned()).stack_size(8 << 20).spawn(move || {
            let knowledge = Knowledge::LEARNED;
            let mut engine =
                Engine::new(EngineOptions { hash: HASH, threads: 1, knowledge, ..EngineOptions::default() });
            for (order, answer) in inbox {
                // The receiver is gone if the connection was given up meanwhile.
                let _ = answer.send(search(&mut engine, &order));
            }
        });
        if let Err(error) = started {
            tracing::error!(%error, "cannot start the verification thread: votes of workers do not count");
        }
        Self(orders)
    }

    /// Searches. A variant that our own engine does not play has no score.
    pub(crate) async fn search(&self, order: &HomeSearch) -> HomeValue {
        let (answer, found) = oneshot::channel();
        let nothing = HomeValue::none(order.length);
        if self.0.send((order.clone(), answer)).is_err() {
            return nothing;
        }
        found.await.unwrap_or(nothing)
    }
}

fn search(engine: &mut Engine, order: &HomeSearch) -> HomeValue {
    let nothing = HomeValue::none(order.length);
    if !order.line.variant().is_standard_rules() {
        return nothing;
    }
    let Ok(position) = engine_position(&order.line) else { return nothing };
    let root: Vec<_> = order.key.best.and_then(|uci| engine_move(&position, uci)).into_iter().collect();
    let limits = Limits { nodes: Some(order.length.nodes()), time: None, depth: None, mate: None };
    // What was searched before, at the wish of any worker, has no part in it: the same search always finds the same.
    engine.new_game();
    let mut value = nothing;
    engine.search(&position, &root, &limits, &AtomicBool::new(false), &mut |iteration| {
        value = value.after(iteration.score, iteration.depth);
    });
    value
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::verification::values::VerifiedMove;
    use council::electors::VerificationLength;
    use domain::{Line, Score, UciMove, Variant};

    async fn seen(moves: &str, best: &str, length: VerificationLength) -> HomeValue {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal");
        let best: UciMove = best.parse().expect("a move");
        let key = VerifiedMove { position: line.fen().into(), best: Some(best) };
        Verifier::start().search(&HomeSearch { key, line: Arc::new(line), length, doubt: false }).await
    }

    #[tokio::test]
    async fn short_search_sees_a_lost_queen() {
        let value = seen("e2e4 e7e5 d1h5 b8c6", "h5f7", VerificationLength::Short).await;
        assert!(value.score.is_some_and(|score| score < Score::Cp(-500)), "{value:?}");
    }

    #[tokio::test]
    async fn short_search_sees_a_mate() {
        let value = seen("e2e4 e7e5 d1h5 b8c6 f1c4 g8f6", "h5f7", VerificationLength::Short).await;
        assert_eq!(value.score, Some(Score::Mate(1)));
    }
}
