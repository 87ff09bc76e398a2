//! Several daemons at one cluster; accounts; a look from outside.

use concilio::cluster::{ClusterSettings, survey};

use crate::{
    processes::{Nats, Worker},
    table::{MOVES, Table},
};

#[tokio::test(flavor = "multi_thread")]
async fn two_daemons_share_one_pool_of_workers() {
    let nats = Nats::start();
    let _workers = [Worker::start(&nats.url(), "attic", 2), Worker::start(&nats.url(), "garret", 2)];
    let (mut ann, mut bob) = (Table::at(&nats.url()), Table::at(&nats.url()));
    ann.knows(&["attic", "garret"]).await;
    bob.knows(&["attic", "garret"]).await;
    tokio::join!(ann.plays(MOVES), bob.plays(MOVES));
    let lent =
        |table: &Table| table.votes.iter().filter(|(name, _)| !name.is_empty()).map(|(_, votes)| votes).sum::<usize>();
    assert!(lent(&ann) > 0 && lent(&bob) > 0, "{:?} {:?}", ann.votes, bob.votes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_shows_who_lends_and_what_is_searched() {
    let nats = Nats::start();
    let settings = ClusterSettings { nats: nats.url(), ..ClusterSettings::default() };
    assert!(survey(&settings).await.expect("a server").workers.is_empty());
    let _worker = Worker::start(&nats.url(), "attic", 3);
    let mut table = Table::at(&nats.url());
    table.knows(&["attic"]).await;
    let look = async {
        loop {
            let seen = survey(&settings).await.expect("a server");
            if let [attic] = &seen.workers[..]
                && !attic.beat.searches.is_empty()
            {
                return attic.clone();
            }
        }
    };
    let play = async {
        loop {
            table.plays(1).await;
        }
    };
    let attic = tokio::select! {
        attic = look => attic,
        () = play => unreachable!("it plays for ever"),
    };
    assert_eq!((attic.worker.name.as_str(), attic.beat.cores), ("attic", 3));
    assert!(attic.beat.speed > 0 && attic.beat.searches.iter().all(|search| search.search.game.as_str() == "table"));
}
