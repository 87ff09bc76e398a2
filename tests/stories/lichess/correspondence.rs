//! Games of days a move beside games of minutes: each kind has its own places, and the clocks that run go first.

use std::time::Duration;

use domain::TimeControl;

use super::harness::{Story, openings, tc};

const DAYS: TimeControl = TimeControl::Correspondence { days: 3 };

/// A hundred games of days are all played on while blitz takes its own places, and none of them keeps a stream open.
#[testkit::test]
async fn a_hundred_correspondence_games_leave_blitz_its_places() {
    let story = Story::begin(|plan| {
        plan.concurrency = 2;
        plan.time_control = tc("60+0.5");
        plan.lichess.attention = Duration::from_millis(50);
        plan.lichess.check_in = Duration::from_millis(500);
    })
    .await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        slow.push(story.challenge_with(|terms| terms.game.time_control = DAYS).await);
    }
    for _ in 0..2 {
        let fast = [story.challenge().await, story.challenge().await];
        for game in &fast {
            story.played(game).await;
        }
    }
    for game in &slow {
        let report = story.ply(game, 6).await;
        assert!(report.refused.is_empty(), "{report:#?}");
    }
    // The partner answers no more: every stream is closed, and none is opened again.
    story.partner_stops_at(0);
    let opened = story.server.games().await.expect("reports");
    assert!(opened.iter().all(|report| openings(report) >= 1));
}
