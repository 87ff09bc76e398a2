//! The time to wait for a stream. Nothing here reads a clock or a socket.

use std::time::{Duration, Instant};

use domain::ServerEvent;

/// A stream is not given up sooner than this, however little time is left on our clock.
const SHORTEST: Duration = Duration::from_secs(2);

/// The share of the bot's clock that may be lost to a silently dead stream.
const PART_OF_CLOCK: u32 = 6;
/// The part of our clock that it may take at most, however long another one takes to open.
const MOST_OF_CLOCK: u32 = 3;

/// The least time for an opening; it is at least a multiple of the last one, and at most a multiple
/// of the usual time.
const SHORTEST_OPENING: Duration = Duration::from_secs(5);
const TIMES_LAST_OPENING: u32 = 3;
const MOST_OPENING: u32 = 8;

/// The longest pause before the whole state is fetched again.
const LONGEST_RESYNC: Duration = Duration::from_secs(10);

/// The patience with one stream. With a game's it follows the clock: while the opponent thinks and we have little time, a dead stream has
/// to be found out soon. It doubles with every alarm that was false, up to what a server that sends a sign of life every seven seconds
/// needs. The event stream has no clock.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    /// The patience without time pressure.
    usual: Duration,
    /// Openings in a row that did not bring the whole state in time.
    failures: u32,
    /// The time of the last good opening up to the whole state.
    last_opening: Duration,
    /// Silent streams in a row whose successor had nothing new.
    false_alarms: u32,
    /// The length of the last list of moves, in bytes.
    moves: usize,
    our_color: Option<domain::Color>,
    /// Our clock, if there is one, when it was told, and true if the opponent was to move then.
    our_time: Option<(Option<Duration>, Instant, bool)>,
    white_begins: bool,
    lost_to_silence: bool,
}

impl Patience {
    pub(super) const fn new(usual: Duration) -> Self {
        Self {
            usual,
            failures: 0,
            last_opening: Duration::ZERO,
            false_alarms: 0,
            moves: 0,
            our_color: None,
            our_time: None,
            white_begins: true,
            lost_to_silence: false,
        }
    }

    /// Returns the time for an opening, and for pauses on its way to the whole state.
    pub(super) fn with_opening(&self) -> Duration {
        let least = SHORTEST_OPENING.min(self.usual).max(self.last_opening * TIMES_LAST_OPENING);
        doubled(self.by_clock(PART_OF_CLOCK).max(least), self.failures).min(self.usual * MOST_OPENING)
    }

    /// An opening ended `after` it began, without the whole state. One that was refused or cut off before its time was not too slow,
    /// and the next one need not be waited for longer.
    pub(super) fn did_not_open(&mut self, after: Duration) {
        if after >= self.with_opening() {
            self.failures += 1;
        }
    }

    /// Records a whole state `took` after its request.
    pub(super) fn opened(&mut self, took: Duration) {
        self.failures = 0;
        self.last_opening = took;
    }

    /// Returns the pause before the whole state is fetched again, after `before` openings for that.
    /// The first one is immediate; a state that comes meanwhile makes the next one needless.
    pub(super) fn before_resync(&self, before: u32) -> Duration {
        if before == 0 { Duration::ZERO } else { (self.last_opening * 2).min(LONGEST_RESYNC) }
    }

    /// Returns the allowed silence of an open stream. If the next one takes long to open, giving up
    /// a live stream costs more than a dead one, as long as the bot's clock can bear that.
    pub(super) fn with_silence(&self) -> Duration {
        let least = (self.last_opening * 2).min(self.by_clock(MOST_OF_CLOCK));
        doubled(self.by_clock(PART_OF_CLOCK).max(least), self.false_alarms).min(self.usual)
    }

    /// Returns true if waiting from `now` on costs no more than half of the bot's clock. An unknown
    /// clock allows nothing; a game without one allows everything.
    pub(super) fn allows(&self, wait: Duration, now: Instant) -> bool {
        match self.our_time {
            None => false,
            Some((None, ..)) => true,
            Some((Some(left), told, _)) => wait <= left.saturating_sub(now.saturating_duration_since(told)) / 2,
        }
    }

    pub(super) fn was_lost_to_silence(&mut self) {
        self.lost_to_silence = true;
    }

    /// Records an event of a stream; returns true if it is a state of the game.
    pub(super) fn heard(&mut self, event: &ServerEvent) -> bool {
        let state = match event {
            ServerEvent::Game(info, state) => {
                self.our_color = Some(info.our_color);
                self.white_begins = info.start.turn().is_white();
                let was_false = std::mem::take(&mut self.lost_to_silence) && state.moves.len() == self.moves;
                self.false_alarms = if was_false { self.false_alarms + 1 } else { 0 };
                state
            }
            ServerEvent::GameUnplayable { .. } => return true,
            ServerEvent::GameState(_, state) => {
                self.false_alarms = 0;
                state
            }
            _ => return false,
        };
        self.moves = state.moves.len();
        let white_to_move = state.plies().is_multiple_of(2) == self.white_begins;
        self.our_time = self.our_color.map(|ours| {
            let left = state.clocks.map(|clocks| clocks.of(ours).remaining);
            (left, state.received, ours.is_white() != white_to_move)
        });
        true
    }

    /// Returns the patience by our clock: while it is our move, no needed line can be missed.
    fn by_clock(&self, part: u32) -> Duration {
        match self.our_time {
            Some((Some(left), _, true)) => (left / part).max(SHORTEST).min(self.usual),
            _ => self.usual,
        }
    }
}

fn doubled(patience: Duration, times: u32) -> Duration {
    patience.saturating_mul(2_u32.saturating_pow(times.min(8)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{
        Clock, Clocks, GameId, GameInfo, GameState, GameStatus, GameTerms, Offers, Player, TimeControl, Variant,
    };

    const USUAL: Duration = Duration::from_secs(15);

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn state(moves: &str, left: u64) -> GameState {
        GameState {
            moves: moves.to_owned(),
            clocks: Some(Clocks::both(Clock { remaining: secs(left), increment: Duration::ZERO })),
            status: GameStatus::Started,
            winner: None,
            draw_offers: Offers::default(),
            takeback_offers: Offers::default(),
            received: Instant::now(),
        }
    }

    fn whole(moves: &str, left: u64) -> ServerEvent {
        let terms = GameTerms {
            variant: Variant::Standard,
            time_control: TimeControl::real_time(secs(60), Duration::ZERO),
            rated: false,
        };
        let info = GameInfo::from_start("g", terms, Player::named("bob"), Player::named("ann"));
        ServerEvent::Game(Box::new(info), state(moves, left))
    }

    fn change(moves: &str, left: u64) -> ServerEvent {
        ServerEvent::GameState(GameId::from("g"), state(moves, left))
    }

    #[test]
    fn silence_is_limited_by_the_clock() {
        let mut patience = Patience::new(USUAL);
        assert_eq!(patience.with_silence(), USUAL);
        patience.heard(&whole("e2e4", 60));
        assert_eq!(patience.with_silence(), secs(10));
        patience.heard(&change("e2e4 e7e5", 60));
        assert_eq!(patience.with_silence(), USUAL, "it is our move");
        patience.heard(&change("e2e4 e7e5 g1f3", 24));
        assert_eq!(patience.with_silence(), secs(4));
        patience.heard(&change("e2e4 e7e5 g1f3 b8c6 f1b5", 1));
        assert_eq!(patience.with_silence(), SHORTEST);
        patience.heard(&change("e2e4 e7e5 g1f3", 600));
        assert_eq!(patience.with_silence(), USUAL);
    }

    #[test]
    fn slow_openings_lengthen_patience() {
        let mut patience = Patience::new(USUAL);
        patience.heard(&whole("e2e4", 12));
        patience.opened(secs(1));
        assert_eq!(patience.with_silence(), secs(2));
        patience.opened(secs(4));
        assert_eq!(patience.with_silence(), secs(4), "a third of our clock");
        patience.was_lost_to_silence();
        patience.heard(&whole("e2e4", 12));
        assert_eq!(patience.with_silence(), secs(8), "the alarm was false");
        patience.opened(secs(40));
        patience.heard(&whole("e2e4", 600));
        assert_eq!(patience.with_silence(), USUAL, "a dead stream is found out all the same");
    }

    #[test]
    fn wait_costs_at_most_half_the_clock() {
        let mut patience = Patience::new(USUAL);
        let now = Instant::now();
        assert!(!patience.allows(secs(1), now), "the clock is not known yet");
        let told = ServerEvent::GameState(GameId::from("g"), GameState { received: now, ..state("e2e4", 20) });
        patience.heard(&whole("", 60));
        patience.heard(&told);
        assert!(patience.allows(secs(10), now) && !patience.allows(secs(11), now));
        assert!(!patience.allows(secs(10), now + secs(2)), "it may be running");
        let without = GameState { clocks: None, ..state("e2e4", 20) };
        patience.heard(&ServerEvent::GameState(GameId::from("g"), without));
        assert!(patience.allows(secs(600), now));
    }

    #[test]
    fn false_alarms_lengthen_patience() {
        let mut patience = Patience::new(USUAL);
        patience.heard(&whole("e2e4", 24));
        patience.was_lost_to_silence();
        patience.heard(&whole("e2e4", 24));
        assert_eq!(patience.with_silence(), secs(8));
        patience.was_lost_to_silence();
        patience.heard(&whole("e2e4", 24));
        assert_eq!(patience.with_silence(), USUAL, "a sign of life comes sooner than that");
        patience.was_lost_to_silence();
        patience.heard(&whole("e2e4 e7e5 g1f3", 24));
        assert_eq!(patience.with_silence(), secs(4));
    }

    #[test]
    fn failed_openings_get_more_time() {
        let mut patience = Patience::new(USUAL);
        let fail = |patience: &mut Patience| {
            let allowed = patience.with_opening();
            patience.did_not_open(allowed);
            allowed.as_secs()
        };
        assert_eq!([(); 5].map(|()| fail(&mut patience)), [15, 30, 60, 120, 120]);
        patience.heard(&whole("e2e4", 12));
        patience.opened(secs(1));
        assert_eq!([(); 3].map(|()| fail(&mut patience)), [5, 10, 20]);
        patience.opened(secs(4));
        assert_eq!(patience.with_opening(), secs(12), "a slow server is not hurried");
    }

    #[test]
    fn refusals_keep_the_patience() {
        let mut patience = Patience::new(USUAL);
        for _ in 0..20 {
            patience.did_not_open(Duration::from_millis(80));
        }
        assert_eq!(patience.with_opening(), USUAL);
    }

    #[test]
    fn resync_waits_for_the_answer() {
        let mut patience = Patience::new(USUAL);
        patience.opened(secs(4));
        assert_eq!((patience.before_resync(0), patience.before_resync(1)), (Duration::ZERO, secs(8)));
        patience.opened(secs(60));
        assert_eq!(patience.before_resync(7), LONGEST_RESYNC);
    }
}
