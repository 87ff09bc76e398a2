//! A player with Syzygy tables beside its council.

use std::{sync::Arc, time::Duration};

use concilio_sources::{Library, LostLines, TablebaseSettings, TablebaseUse};
use council::{
    Council, CouncilSettings, Roster,
    clock::ClockSettings,
    electors::Pool,
    player::{
        GamePlayer, MoveAnswer, MoveService, PlayerConfig, PlayerEvent, RequestId, SearchRequest, SharedLag, Time,
    },
};
use domain::{Clock, Clocks, Decision, Limits, Line, Source, TimeControl, Variant};
use testkit::needs::SYZYGY;
use tokio::sync::mpsc::unbounded_channel;

fn main() -> std::process::ExitCode {
    testkit::main()
}

/// White is a queen up.
const QUEEN: &str = "8/8/8/3k4/8/8/2Q1K3/8 w - - 0 1";

async fn decision(usage: TablebaseUse, online: Option<Box<dyn MoveService>>) -> Decision {
    let settings = TablebaseSettings { paths: vec![SYZYGY.path().to_owned()], usage, ..TablebaseSettings::default() };
    let config = PlayerConfig {
        game: "story".into(),
        clock: ClockSettings::default(),
        lag: SharedLag::default(),
        known: Library::default().with_tablebases(&settings).expect("tables").for_a_game(LostLines::default()),
        online,
    };
    let settings = CouncilSettings { roster: "mp ma".to_owned(), hash: 1, ..CouncilSettings::default() };
    let roster = Roster::from_settings(&settings).expect("a roster");
    let council = Council::new(&Pool::new(1), &roster, &settings, Variant::Standard);
    let (events, mut inbox) = unbounded_channel();
    let player = GamePlayer::start(config, council, events);
    let minute = Duration::from_secs(60);
    let clocks = Clocks::both(Clock { remaining: minute, increment: Duration::ZERO });
    let control = TimeControl::real_time(minute, Duration::ZERO);
    let _thinking = player.think(SearchRequest {
        id: RequestId(1),
        line: Arc::new(Line::from_fen(Variant::Standard, QUEEN).expect("a position")),
        others: Vec::new(),
        time: Time::Clock { control, clocks: Some(clocks), moves_to_go: None, spent: Duration::ZERO },
        limits: Limits { nodes: Some(500), ..Limits::default() },
        excluded: Vec::new(),
        always_search: false,
    });
    let decided = async {
        loop {
            if let PlayerEvent::Decided { decision, .. } = inbox.recv().await.expect("a player") {
                return *decision;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), decided).await.expect("in time")
}

#[testkit::test(needs(SYZYGY))]
async fn tablebase_plays_or_limits_the_electors() {
    let tables = engine::Tablebases::open(SYZYGY.path().to_str().expect("a path")).expect("tables");
    let position = engine::Position::from_line(QUEEN, false, []).expect("a position");
    let kept = tables.settle(&position, &position.legal_moves(), false).expect("three men").moves;
    let kept: Vec<String> = kept.into_iter().map(|mv| position.move_to_uci(mv)).collect();
    assert!(kept.len() > 1 && !kept.contains(&"c2c6".to_owned()), "{kept:?}");
    for (usage, source) in [(TablebaseUse::Play, Source::Tablebase), (TablebaseUse::Suggest, Source::Council)] {
        let decision = decision(usage, None).await;
        assert_eq!(decision.source, source);
        assert!(kept.contains(&decision.best.to_string()), "{}", decision.best);
    }
}

/// Answers at once with a legal move that gives the queen away.
#[derive(Debug)]
struct Oracle;

impl MoveService for Oracle {
    fn ask<'a>(&'a mut self, line: &'a Line, _left: Option<Duration>) -> MoveAnswer<'a> {
        let best = "c2c6".parse().expect("a move");
        assert!(line.is_legal(best));
        Box::pin(std::future::ready(Some(Decision::without_vote(best, Source::Cloud))))
    }
}

#[testkit::test(needs(SYZYGY))]
async fn tables_veto_a_service_move() {
    assert_eq!(decision(TablebaseUse::Suggest, Some(Box::new(Oracle))).await.source, Source::Council);
}
