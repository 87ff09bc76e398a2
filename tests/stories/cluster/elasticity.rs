//! A game of the whole daemon: it begins with one worker, has four in the middle and one at the end, and the journal has the machine
//! of each proposal.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use bot::session::LimitSettings;
use cluster::{ClusterClient, ClusterSettings};
use council::{
    CouncilSettings, GroupMode,
    electors::{Pool, RemotePool},
};
use domain::GameId;
use practice::SparringKind;
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

use crate::lichess::harness::{Story, archived, roster, tc};

use super::processes::{Nats, Worker, until};

/// No move of the game is given less.
const MOVE: Duration = Duration::from_millis(400);

/// The machines that proposed for our moves of a game, from one ply to another.
fn proposers(story: &Story, game: &GameId, plies: std::ops::Range<usize>) -> BTreeSet<String> {
    let (archive, moves) = archived(&story.journal_path(), game);
    let in_question = |ply: u32| usize::try_from(ply).is_ok_and(|ply| plies.contains(&ply));
    let proposals = moves.iter().filter(|record| in_question(record.ply)).flat_map(|record| {
        archive.proposals(record).expect("readable").into_iter().filter_map(|proposal| proposal.machine)
    });
    proposals.collect()
}

#[testkit::test(needs(NATS_SERVER))]
async fn workers_join_and_leave_in_a_game() {
    let nats = Nats::start();
    let stop = CancellationToken::new();
    let settings = ClusterSettings { nats: nats.url(), name: "daemon".to_owned(), ..ClusterSettings::default() };
    let cluster = ClusterClient::join(settings, stop.clone());
    let there = |count: usize| {
        let cluster = cluster.clone();
        // Each worker has one core, and is near enough for a short move.
        let near = move || cluster.cores(Some(MOVE)).iter().sum::<usize>() == count && cluster.workers().len() == count;
        async move { until(&format!("{count} workers are there"), near).await }
    };
    let names = ["attic", "cellar", "garret", "study"];
    // One core each, so that the council needs all of them.
    let start = |name: &&str| Worker::start(&nats.url(), name, 1);
    let mut workers = vec![start(&names[0])];
    there(1).await;

    let mut story = Story::set_the_stage(|plan| {
        plan.time_control = tc("300+1");
        // As strong as the bot, so that the game is long enough.
        plan.partner = SparringKind::Engine { nodes: 4000 };
        plan.partner_thinks = Duration::from_millis(100);
        plan.limits = LimitSettings { nodes: Some(12_000), ..LimitSettings::default() };
        plan.council = CouncilSettings { groups: GroupMode::None, ..roster("balanced-7") };
        plan.pool = Pool::with_remote(1, Some(Arc::new(cluster.clone())));
    })
    .await;
    story.daemon_starts();
    // While workers come and go the partner waits: however long that takes, the game is not over.
    story.partner_stops_at(8);
    let game = story.challenge().await;
    let begun = story.ply(&game, 8).await.line.ply();
    workers.extend(names[1..].iter().map(start));
    there(4).await;
    story.partner_stops_at(usize::MAX);
    // A worker is asked only if no other is free: not at every move.
    let mut most = begun;
    while proposers(&story, &game, begun..most).len() < 4 {
        let report = story.ply(&game, most + 2).await;
        assert!(report.outcome.is_none(), "it is over before all four were asked: {report:#?}");
        most = report.line.ply();
    }
    story.partner_stops_at(0);
    workers.drain(..3).for_each(|worker| worker.signal(Signal::KILL));
    there(1).await;
    let most = story.server.game(&game).await.expect("a report").line.ply();
    story.partner_stops_at(usize::MAX);
    // Moves that were searched at the kill may still have their proposals.
    let last = story.ply(&game, most + 3).await.line.ply();
    story.played(&game).await;
    story.closes().await;
    stop.cancel();

    assert_eq!(proposers(&story, &game, 0..begun), BTreeSet::from(["attic".to_owned()]));
    assert_eq!(proposers(&story, &game, last..usize::MAX), BTreeSet::from(["study".to_owned()]));
}
