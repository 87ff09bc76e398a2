//! Promise 4, without a look at any clock: what a move costs on its way from the server's event to our request. No timer, few
//! wake-ups of the thread that plays, few allocations.
//!
//! The server is made up and answers at once; the session, the player, the council with an elector that thinks about nothing, and
//! the journal are the daemon's own, on one thread as in the daemon.

extern crate concilio_bot as bot;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use bot::session::{AccountPolicy, Connection, PlayerSettings, Runtime};
use council::{CouncilSettings, electors::Pool};
use domain::{
    Account, Action, ActionError, Clock, Clocks, Done, GameId, GameInfo, GameState, GameStatus, GameTerms, Line,
    Offers, Player, ServerEvent, ServerName, TimeControl, UciMove, Variant, moves_text,
};
use platform::Server;
use stage::DaemonUnderTest;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use util::Shutdown;

/// Counts what is allocated in the whole process.
struct CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is the system allocator's own.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Lets these tests run one at a time: counters are for the whole process.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

const PATIENCE: Duration = Duration::from_secs(30);
/// Moves of ours in a game; the first of them, for which much is set up, are not counted.
const MOVES: u64 = 40;
const FIRST: u64 = 10;

struct MadeUpServer(mpsc::UnboundedSender<Action>);

#[async_trait::async_trait]
impl Server for MadeUpServer {
    async fn perform(&self, action: Action) -> Result<Done, ActionError> {
        self.0.send(action).map_err(|_| ActionError::Unavailable("the test is over".to_owned()))?;
        Ok(Done::Taken)
    }

    async fn resync(&self, _: &GameId) {}

    async fn online_bots(&self) -> Result<Vec<Account>, ActionError> {
        Ok(Vec::new())
    }

    async fn players_available(&self, ids: &[String]) -> Result<Vec<bool>, ActionError> {
        Ok(vec![true; ids.len()])
    }
}

/// A game of ours on the made-up server, played until the test drops it.
struct Game {
    id: GameId,
    line: Line,
    events: mpsc::Sender<ServerEvent>,
    requests: mpsc::UnboundedReceiver<Action>,
    _folder: tempfile::TempDir,
}

impl Game {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let council = CouncilSettings { roster: "trivial".to_owned(), hash: 1, ..CouncilSettings::default() };
        let settings = PlayerSettings { council, ..PlayerSettings::default() };
        let shutdown = Shutdown::default();
        let runtime = stage::runtime(folder.path(), settings, AccountPolicy::default(), &shutdown);
        let (asked, requests) = mpsc::unbounded_channel();
        let (events, inbox) = mpsc::channel(100);
        let connection = Connection {
            name: ServerName::from("made-up"),
            server: Arc::new(MadeUpServer(asked)),
            events: inbox,
            stop: CancellationToken::new(),
        };
        DaemonUnderTest::start(connection, Runtime { pool: Pool::new(1), ..runtime }, shutdown);
        let us = Player::named("Concilio");
        let account = Account { player: us.clone(), is_bot: true, ratings: Vec::new(), games_played: 1 };
        let time_control = TimeControl::real_time(Duration::from_secs(600), Duration::ZERO);
        let terms = GameTerms { variant: Variant::Standard, time_control, rated: false };
        let info = GameInfo::from_start("abcdefgh", terms, us, Player::named("Ann"));
        let (id, line) = (info.id.clone(), info.start.clone());
        let game = Self { id, line, events, requests, _folder: folder };
        game.tell(ServerEvent::Connected(account)).await;
        let state = game.state();
        game.tell(ServerEvent::Game(Box::new(info), state)).await;
        game
    }

    async fn tell(&self, event: ServerEvent) {
        self.events.send(event).await.expect("the session listens");
    }

    fn state(&self) -> GameState {
        let clock = Clock { remaining: Duration::from_secs(600), increment: Duration::ZERO };
        GameState {
            moves: moves_text(self.line.moves()),
            clocks: Some(Clocks::both(clock)),
            status: GameStatus::Started,
            winner: None,
            draw_offers: Offers::default(),
            takeback_offers: Offers::default(),
            received: Instant::now(),
        }
    }

    async fn move_of_ours(&mut self) -> UciMove {
        loop {
            // All else is said in the game.
            if let Action::Move { uci, .. } = self.requests.recv().await.expect("the session plays") {
                return uci;
            }
        }
    }

    /// Shows our move and the opponent's, waits for our next one, and returns what that cost.
    async fn next_move_of_ours(&mut self) -> [u64; 2] {
        let shown = self.state();
        self.line.play(self.quiet_move()).expect("a legal move");
        let answered = self.state();
        let before = costs_so_far();
        self.tell(ServerEvent::GameState(self.id.clone(), shown)).await;
        self.tell(ServerEvent::GameState(self.id.clone(), answered)).await;
        let uci = self.move_of_ours().await;
        let now = costs_so_far();
        self.line.play(uci).expect("a legal move");
        [now[0] - before[0], now[1] - before[1]]
    }

    /// A move that leaves us a choice, and after none of our answers to which the game is over.
    fn quiet_move(&self) -> UciMove {
        let after = |line: &Line, uci: UciMove| {
            let mut line = line.clone();
            line.play(uci).map(|()| line).ok()
        };
        let goes_on = |uci: &UciMove| {
            let Some(line) = after(&self.line, *uci) else { return false };
            let ours = line.legal_moves();
            ours.len() > 1
                && ours.iter().all(|ours| after(&line, *ours).is_some_and(|line| !line.legal_moves().is_empty()))
        };
        self.line.legal_moves().into_iter().find(goes_on).expect("the game goes on")
    }
}

/// Returns the allocations so far, and the times that the playing thread went to sleep.
fn costs_so_far() -> [u64; 2] {
    [ALLOCATIONS.load(Relaxed), tokio::runtime::Handle::current().metrics().worker_park_count(0)]
}

/// The runtime's clock stands still as long as something blocks, here until the test is over. A move that waits for a timer, however
/// short, leaves only when the clock is let go after [`PATIENCE`], and is late by it.
#[tokio::test(start_paused = true)]
async fn no_timer_delays_a_move() {
    let _alone = ALONE.lock().await;
    let (_until_the_end, ends) = std::sync::mpsc::channel::<()>();
    tokio::task::spawn_blocking(move || ends.recv_timeout(PATIENCE));
    let began = tokio::time::Instant::now();
    let mut game = Game::begin().await;
    let first = game.move_of_ours().await;
    game.line.play(first).expect("a legal move");
    for number in 1..MOVES {
        game.next_move_of_ours().await;
        assert_eq!(began.elapsed(), Duration::ZERO, "a timer was on the way of move {number}");
    }
}

/// Allocations and wake-ups for each move, including the journal's and the elector's threads. The
/// bounds are for the mean, with a margin for thread scheduling; the measured values are printed.
#[tokio::test]
async fn moves_cost_few_allocations() {
    const MOST_ALLOCATIONS: u64 = 150;
    const MOST_WAKE_UPS: u64 = 4;
    let _alone = ALONE.lock().await;
    let mut game = Game::begin().await;
    let first = game.move_of_ours().await;
    game.line.play(first).expect("a legal move");
    let mut spent = [0, 0];
    for number in 1..MOVES {
        let [allocations, wake_ups] = game.next_move_of_ours().await;
        if number >= FIRST {
            spent = [spent[0] + allocations, spent[1] + wake_ups];
        }
    }
    let [allocations, wake_ups] = spent.map(|sum| sum / (MOVES - FIRST));
    println!("a move: {allocations} allocations, {wake_ups} wake-ups");
    assert!(allocations <= MOST_ALLOCATIONS, "{allocations} allocations a move");
    assert!(wake_ups <= MOST_WAKE_UPS, "{wake_ups} wake-ups a move");
}
