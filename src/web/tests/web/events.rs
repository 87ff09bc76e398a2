//! Events as a bot would tell them, for stories in which none plays.

use std::{sync::Arc, time::Duration};

use bot::{
    journal::GameKey,
    session::{AccountEvent, BotEvent, EventBus, GameEvent},
};
use domain::{
    Account, ChatLine, ChatRoom, Clock, Clocks, GameInfo, GameTerms, Line, Phase, Player, Proposal, Score, SearchId,
    TimeControl, Variant,
};

/// A game that is only told of.
pub(crate) struct ToldGame {
    bus: EventBus,
    key: GameKey,
    line: Line,
    serial: u64,
}

pub(crate) fn connect(bus: &EventBus, name: &str) {
    connect_as(bus, Player { title: Some("BOT".to_owned()), ..Player::named(name) });
}

pub(crate) fn connect_as(bus: &EventBus, player: Player) {
    let account = Account {
        player,
        is_bot: true,
        ratings: vec![("blitz".to_owned(), 2101), ("bullet".to_owned(), 2044)],
        games_played: 12,
    };
    bus.tell(BotEvent::Account("told".into(), AccountEvent::Connected { account, away: None }));
}

impl ToldGame {
    pub(crate) fn begin(bus: &EventBus, id: &str, opponent: &str) -> Self {
        Self::begin_against(bus, id, Player::named(opponent))
    }

    pub(crate) fn begin_against(bus: &EventBus, id: &str, opponent: Player) -> Self {
        let time_control = TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2));
        let info = GameInfo {
            url: Some("javascript:alert(1)".to_owned()),
            ..GameInfo::from_start(
                id,
                GameTerms { variant: Variant::Standard, time_control, rated: true },
                Player::named("Concilio"),
                opponent,
            )
        };
        let game = Self {
            bus: bus.clone(),
            key: GameKey::new(&"told".into(), &id.into()),
            line: info.start.clone(),
            serial: 0,
        };
        game.tell(GameEvent::Started { info: Box::new(info), electors: Arc::new([]), ply: 0 });
        game.position();
        game
    }

    fn tell(&self, event: GameEvent) {
        self.bus.tell(BotEvent::Game(self.key.clone(), event));
    }

    fn position(&self) {
        let clock = Clock { remaining: Duration::from_secs(180), increment: Duration::from_secs(2) };
        let clocks = Some(Clocks::both(clock));
        self.tell(GameEvent::Position { line: Arc::new(self.line.clone()), clocks });
    }

    pub(crate) fn play(&mut self, uci: &str) {
        self.line.play(uci.parse().expect("a move")).expect("a legal move");
        self.position();
    }

    pub(crate) fn propose(&mut self, elector: &str, depth: u32) {
        self.serial += 1;
        let Some(best) = self.line.legal_moves().first().copied() else { return };
        let search =
            SearchId { game: self.key.id.clone(), ply: self.line.ply(), serial: self.serial, phase: Phase::First };
        self.tell(GameEvent::Proposal(Proposal {
            depth,
            selective_depth: depth + 4,
            nodes: 1000 * u64::from(depth),
            time: Duration::from_millis(10),
            ..Proposal::of_one_ply(search, elector.into(), best, Score::Cp(34))
        }));
    }

    pub(crate) fn say(&self, who: &str, text: &str) {
        let line = ChatLine { room: ChatRoom::Player, username: who.to_owned(), text: text.to_owned() };
        self.tell(GameEvent::Chat { line, ours: false });
    }
}
