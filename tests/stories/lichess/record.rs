//! Tests of the journal's contents and of the clock's measurements.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bot::session::LimitSettings;
use domain::{Color, GameId, UciMove};
use practice::{
    ChallengeTerms, GameView, Sparring, SparringKind,
    faults::{RequestFault, RequestKind, Span},
};

use super::harness::{BOT, Story, archived, tc};

/// Looks into the daemon's journal before each of its own moves.
struct Reader {
    journal: PathBuf,
    player: Arc<dyn Sparring>,
    /// Moves that were on the board and not in the journal.
    missing: Arc<Mutex<Vec<UciMove>>>,
}

impl Reader {
    fn has(&self, game: &GameId, ply: usize, uci: UciMove) -> bool {
        let (_, moves) = archived(&self.journal, game);
        moves.get(ply).is_some_and(|known| known.uci == uci && known.ours.is_some())
    }
}

#[async_trait]
impl Sparring for Reader {
    async fn choose(&self, game: &GameView) -> Option<UciMove> {
        if let Some(uci) = game.line.moves().last()
            && !self.has(&game.pairing.id, game.line.ply() - 1, *uci)
        {
            self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(*uci);
        }
        self.player.choose(game).await
    }
}

/// Promise 5: whenever the server has a move of ours, the journal has it, with the vote.
#[testkit::test]
async fn moves_are_journaled_before_sending() {
    let mut story = Story::begin(|_| ()).await;
    let missing = Arc::new(Mutex::new(Vec::new()));
    let reader =
        Reader { journal: story.journal_path(), player: SparringKind::Greedy.player(), missing: Arc::clone(&missing) };
    story.server.sparring_with("Reader", Arc::new(reader)).await.expect("a new account");
    let terms =
        domain::GameTerms { variant: domain::Variant::Standard, time_control: story.plan.time_control, rated: false };
    let challenge = story.server.challenge("Reader", BOT, ChallengeTerms::new(terms)).await.expect("a challenge");
    let game = GameId::from(&challenge);
    story.played(&game).await;
    assert_eq!(*missing.lock().expect("no panic"), []);
    story.closes().await;
    let ours = story.journal_of(&game).into_iter().filter_map(|record| record.ours);
    assert!(ours.clone().all(|ours| ours.depth.is_some() || ours.source == "forced"), "a vote stands behind each");
    assert!(ours.count() > 2);
}

/// Promise 4: the time until the server acknowledges a move is measured, and held back from the clock.
#[testkit::test]
async fn the_lag_is_measured() {
    let mut story = Story::begin(|plan| plan.partner_thinks = Duration::from_millis(100)).await;
    let slow = Duration::from_millis(300);
    story.server.faults().fail_requests(
        RequestKind::Move,
        Span::For(Duration::from_secs(3600)),
        RequestFault::DelayAnswer(slow),
    );
    // The first one may be over before the first move is acknowledged. Neither has to be played to its end: the partner comes no
    // further than this, and then gives up.
    story.partner_stops_at(20);
    let mut last = None;
    for _ in 0..2 {
        let game = story.challenge_with(|terms| terms.color = Some(Color::Black)).await;
        story.ply(&game, 21).await;
        story.partner_resigns(&game).await;
        last = Some(game);
    }
    story.closes().await;
    let game = last.expect("two games");
    let held_back: Vec<Duration> =
        story.journal_of(&game).into_iter().filter_map(|record| record.ours).map(|ours| ours.lag).collect();
    let last = held_back.last().expect("moves of ours");
    assert!(*last >= slow, "{held_back:?}");
}

/// Promise 4: where every move takes a third of a second to arrive and each of them brings little more than that, the clock
/// decides when to stop thinking, and stops in time.
#[testkit::test]
async fn slow_connection_loses_no_game() {
    let story = Story::begin(|plan| {
        plan.limits = LimitSettings::default();
        plan.time_control = tc("6+0.5");
    })
    .await;
    story.server.faults().fail_requests(
        RequestKind::Move,
        Span::For(Duration::from_secs(3600)),
        RequestFault::Delay(Duration::from_millis(330)),
    );
    let game = story.challenge().await;
    story.played(&game).await;
}
