//! The daemon studies its finished games while it plays none.

use std::{num::NonZeroUsize, path::Path, sync::Arc};

use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::Failure;
use bot::{
    journal::{Filter, JournalSettings},
    session::{BotEvent, EventBus, GameEvent},
};
use report::{
    IdleStudy, ReportRequest, ReportSettings,
    judge::{JudgeEffort, JudgeSpec},
};
use util::values::named;

/// Starts it, if the settings want it. It follows the events of `bus` to know when a game runs.
pub(super) fn start(settings: &ReportSettings, journal: &JournalSettings, bus: &EventBus) -> Result<(), Failure> {
    if !settings.when_idle {
        return Ok(());
    }
    let effort = JudgeEffort::Nodes(settings.nodes);
    let request = ReportRequest {
        journal: journal.path.clone(),
        filter: Filter::default(),
        judge: match named(&settings.engine) {
            Some(path) => JudgeSpec::uci(path.to_owned(), effort),
            None => JudgeSpec::own(effort),
        },
        threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        tables: None,
        output: named(&settings.output).map(Path::to_owned),
        suggest: false,
    };
    let study = IdleStudy::start(request, || tracing::debug!("all finished games are studied"))?;
    tokio::spawn(follow(study, bus.listen_without_moves()));
    Ok(())
}

/// Tells the study of starting and ending games.
async fn follow(study: IdleStudy, mut events: Receiver<Arc<BotEvent>>) {
    loop {
        match events.recv().await.as_deref() {
            Ok(BotEvent::Game(game, GameEvent::Started { .. })) => study.game_started(&game.to_string()),
            Ok(BotEvent::Game(game, GameEvent::Over { .. })) => study.game_over(&game.to_string()),
            Ok(_) => (),
            // A game that began among the missed events is still given way to by priority; one that ended among them must not
            // be waited for.
            Err(RecvError::Lagged(_)) => study.forget_games(),
            Err(RecvError::Closed) => return,
        }
    }
}
