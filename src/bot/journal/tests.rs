mod files;
mod reading;

use std::{
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

use tempfile::TempDir;

use super::*;
use domain::{
    Bound, ChallengeId, ChatRoom, Clock, CriterionName, ElectorName, GameTerms, PgnGame, Phase, Player, Proposal,
    Score, SearchId, SecondPhase, SecondPhaseMode, Source, TimeControl, Variant, Vote,
};

struct Desk {
    journal: Journal,
    server: ServerName,
    directory: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self::grouped(PgnGrouping::Game)
    }

    fn grouped(pgn_grouping: PgnGrouping) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = settings(directory.path(), pgn_grouping);
        let journal = Journal::open(&settings).expect("a new journal");
        Self { journal, server: ServerName::from("lichess"), directory }
    }

    fn archive(&self) -> Archive {
        Archive::open(self.journal.path()).expect("a journal to read")
    }

    /// Opens the journal anew, without the handle and its lock.
    fn restarts(self) -> (Journal, TempDir) {
        let Self { journal, directory, .. } = self;
        drop(journal);
        (Journal::open(&settings(directory.path(), PgnGrouping::Game)).expect("the same journal"), directory)
    }

    fn game(&self, key: &GameKey) -> GameRecord {
        self.archive().game(key).expect("readable").expect("there")
    }

    fn moves(&self, key: &GameKey) -> Vec<MoveRecord> {
        self.archive().moves(&self.game(key)).expect("readable")
    }

    fn count(&self, table: &str) -> i64 {
        let reader = rusqlite::Connection::open(self.journal.path()).expect("a database");
        reader.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("a count")
    }

    async fn over(&self, key: &GameKey, status: GameStatus, winner: Option<Color>) -> PathBuf {
        self.journal.game_over(key, &status, winner).await.expect("written").expect("a PGN")
    }

    async fn pgn(&self, key: &GameKey, status: GameStatus, winner: Option<Color>) -> String {
        std::fs::read_to_string(self.over(key, status, winner).await).expect("a file")
    }

    /// Starts a game in which we have White.
    fn start(&self, id: &str, variant: Variant, fen: &str) -> (GameKey, Arc<Line>) {
        let info = info(id, variant, fen);
        self.journal.game_started(&self.server, &info);
        (GameKey::new(&self.server, &info.id), Arc::new(info.start))
    }

    /// Plays the moves of both sides: ours are decided, then all are shown by the server, two seconds a move.
    async fn play(&self, key: &GameKey, line: &Arc<Line>, moves: &str) -> Arc<Line> {
        let mut line = Arc::clone(line);
        let mut clocks = clocks(60 - 2 * (line.ply() as u64 / 2));
        self.journal.line_seen(key, &line, Some(clocks));
        for text in moves.split(' ') {
            let uci = uci(text);
            if line.turn() == Color::White {
                self.journal.move_decided(decided(key, &line, uci)).await.expect("written");
            }
            let color = line.turn();
            line = played(&line, uci);
            clocks.of_mut(color).remaining -= Duration::from_secs(2);
            self.journal.line_seen(key, &line, Some(clocks));
        }
        line
    }

    fn uci_moves(&self, key: &GameKey) -> String {
        domain::moves_text(&self.moves(key).iter().map(|played| played.uci).collect::<Vec<_>>())
    }
}

fn settings(directory: &Path, pgn_grouping: PgnGrouping) -> JournalSettings {
    JournalSettings { path: directory.join("deep/journal.db"), pgn_directory: directory.join("pgn"), pgn_grouping }
}

fn info(id: &str, variant: Variant, fen: &str) -> GameInfo {
    let player = |name: &str, rating| Player { rating: Some(rating), ..Player::named(name) };
    let time_control = TimeControl::real_time(Duration::from_secs(60), Duration::ZERO);
    GameInfo {
        id: GameId::from(id),
        terms: GameTerms { variant, time_control, rated: true },
        white: Player { title: Some("BOT".to_owned()), ..player("Concilio", 2000) },
        black: player("Some\"body", 1900),
        our_color: Color::White,
        start: Line::from_fen(variant, fen).expect("a legal start"),
        tournament: None,
        url: Some(format!("https://lichess.org/{id}")),
    }
}

fn clocks(seconds: u64) -> Clocks {
    Clocks::both(Clock { remaining: Duration::from_secs(seconds), increment: Duration::ZERO })
}

fn uci(text: &str) -> UciMove {
    text.parse().expect("a move")
}

fn text<E: fmt::Debug>(write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("written");
    String::from_utf8(out).expect("text")
}

fn played(line: &Arc<Line>, uci: UciMove) -> Arc<Line> {
    let mut longer = Line::clone(line);
    longer.play(uci).expect("legal");
    Arc::new(longer)
}

fn proposal(line: &Line, elector: &str, best: UciMove, phase: Phase) -> Proposal {
    let search = SearchId { game: GameId::from("x"), ply: line.ply(), serial: 1, phase };
    Proposal {
        machine: (elector == "mbxp").then(|| "garret".into()),
        bound: Bound::Lower,
        depth: 9,
        selective_depth: 14,
        root_moves_done: 3,
        nodes: 100_000,
        time: Duration::from_millis(700),
        pv: vec![best; 12],
        ..Proposal::of_one_ply(search, ElectorName::from(elector), best, Score::Cp(34))
    }
}

fn decided(key: &GameKey, line: &Arc<Line>, best: UciMove) -> DecidedMove {
    let votes = ["mpar", "mbxp", "mbkc", "mcar", "mxar", "mkcp", "mbxk"].map(|name| Vote {
        proposal: proposal(line, name, best, Phase::First),
        knowledge: name.parse().ok(),
        weight: Some(46.0),
    });
    let source = if line.ply() == 0 { Source::Book } else { Source::Council };
    DecidedMove {
        game: key.clone(),
        line: Arc::clone(line),
        decision: Arc::new(Decision {
            score: Some(Score::Cp(34)),
            criterion: Some(CriterionName::ReSearch),
            votes: votes.to_vec(),
            second_phase: Some(SecondPhase {
                mode: SecondPhaseMode::Shared,
                first_choice: best,
                proposal: proposal(line, "mbxkcpar", best, Phase::Second),
            }),
            elapsed: Duration::from_millis(1900),
            ..Decision::without_vote(best, source)
        }),
        clock: Some(Duration::from_secs(60 - line.ply() as u64)),
        spent: Duration::from_millis(1),
        response: Duration::from_millis(2000),
        extra: Duration::from_millis(3000),
        lag: Duration::from_millis(80),
    }
}

#[tokio::test]
async fn move_and_proposals_are_stored_first() {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    desk.journal.move_decided(decided(&key, &start, uci("e2e4"))).await.expect("written");

    // Another connection reads it at once, while the writer still runs.
    let (archive, moves) = (desk.archive(), desk.moves(&key));
    let [first] = moves.as_slice() else { panic!("one move: {moves:?}") };
    assert!(!first.confirmed);
    let ours = first.ours.as_ref().expect("our move");
    assert_eq!((ours.depth, ours.nodes, ours.score), (Some(9), 800_000, Some(Score::Cp(34))));
    assert_eq!((ours.response, ours.extra), (Duration::from_secs(2), Duration::from_secs(3)));
    let proposals = archive.proposals(first).expect("readable");
    assert_eq!(proposals.len(), 8);
    assert_eq!(proposals.iter().map(|vote| vote.phase).sum::<u8>(), 9);
    assert_eq!(proposals.first().map(|vote| (vote.elector.as_str(), vote.weight)), Some(("mpar", Some(46.0))));
    let machines: Vec<_> = proposals.iter().map(|vote| vote.machine.as_deref()).collect();
    assert_eq!(machines.get(..3), Some(&[None, Some("garret"), None][..]));
}

#[tokio::test]
async fn restart_finds_the_decided_move() {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    let e4 = uci("e2e4");
    assert_eq!(desk.journal.decided_move(&key, &start).await, Ok(None));
    desk.journal.move_decided(decided(&key, &start, e4)).await.expect("written");

    let server = desk.server.clone();
    let (again, _directory) = desk.restarts();
    assert_eq!(again.decided_move(&key, &start).await, Ok(Some(e4)));
    again.line_seen(&key, &start, Some(clocks(60)));
    assert_eq!(again.decided_move(&key, &start).await, Ok(Some(e4)), "the server has not shown it yet");

    let after = played(&start, e4);
    assert_eq!(again.decided_move(&key, &after).await, Ok(None));
    again.line_seen(&key, &after, Some(clocks(60)));
    assert_eq!(again.decided_move(&key, &start).await, Ok(None), "it was shown: nothing is left to send");
    let unknown = GameKey::new(&server, &GameId::from("nothere1"));
    assert_eq!(again.decided_move(&unknown, &start).await, Err(JournalError::UnknownGame(unknown)));
}

/// Promise 5: every move is in the journal before it is sent; a torn write loses nothing that was committed.
#[tokio::test]
async fn kill_loses_nothing_acknowledged() {
    // The test itself, started again, is the process that is killed.
    if let Some(directory) = std::env::var_os("CONCILIO_TEST_DIRECTORY") {
        write_and_die(Path::new(&directory)).await;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let status = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "journal::tests::kill_loses_nothing_acknowledged", "--nocapture"])
        .env("CONCILIO_TEST_DIRECTORY", directory.path())
        .output()
        .expect("a child process");
    assert!(!status.status.success(), "the child must die by its own hand");

    let settings = settings(directory.path(), PgnGrouping::Game);
    let archive = Archive::open(&settings.path).expect("a journal");
    let games = archive.games(&Filter::default()).expect("readable");
    let moves: Vec<_> = games.iter().map(|game| archive.moves(game).expect("readable")).collect();
    assert_eq!(moves.iter().map(Vec::len).collect::<Vec<_>>(), [1; 20], "every acknowledged move is there");
    for played in moves.iter().flatten() {
        assert_eq!(archive.proposals(played).expect("readable").len(), 8);
    }
    drop(archive);
    Journal::open(&settings).expect("it can be written on");
}

async fn write_and_die(directory: &Path) -> ! {
    let journal = Journal::open(&settings(directory, PgnGrouping::Game)).expect("a new journal");
    let server = ServerName::from("lichess");
    for number in 0..20 {
        let info = info(&format!("game{number:04}"), Variant::Standard, "");
        journal.game_started(&server, &info);
        let key = GameKey::new(&server, &info.id);
        let e4 = uci("e2e4");
        journal.move_decided(decided(&key, &Arc::new(info.start), e4)).await.expect("acknowledged");
    }
    std::process::abort();
}

#[tokio::test]
async fn journal_has_one_writer() {
    let desk = Desk::new();
    let settings = settings(desk.directory.path(), PgnGrouping::Game);
    let error = Journal::open(&settings).err().expect("it is in use");
    let JournalError::InUse { process, .. } = &error else { panic!("{error}") };
    assert_eq!(*process, Some(std::process::id()));
    let text = error.to_string();
    assert!(text.contains("stop that program") && text.lines().count() == 1, "{text}");
    desk.archive();
    // The lock is released at the end.
    desk.restarts();
}

/// Simulates a full disk until the flag is cleared.
fn fill_the_disk(journal: &Journal) -> Arc<AtomicBool> {
    let full = Arc::new(AtomicBool::new(true));
    let is_full = Arc::clone(&full);
    // The simulation is an entry itself, and SQLite reports the full disk as for any write.
    journal.writer.note("a full disk", move |store| store.fill(is_full.load(Ordering::SeqCst)));
    full
}

/// Promise 5 on a full disk: play is not delayed, and the record is complete once there is space again.
#[tokio::test(start_paused = true)]
async fn full_disk_stops_no_game() {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    let mut line = desk.play(&key, &start, "e2e4 e7e5").await;
    let full = fill_the_disk(&desk.journal);
    for (ours, theirs) in [("g1f3", "b8c6"), ("f3g1", "c6b8")].iter().cycle().take(20) {
        let outcome = desk.journal.move_decided(decided(&key, &line, uci(ours))).await;
        assert!(matches!(&outcome, Err(JournalError::Unwritable(reason)) if reason.contains("full")), "{outcome:?}");
        line = played(&played(&line, uci(ours)), uci(theirs));
        desk.journal.line_seen(&key, &line, Some(clocks(40)));
    }
    let over = desk.journal.game_over(&key, &GameStatus::Resign, Some(Color::White)).await;
    assert!(matches!(over, Err(JournalError::Unwritable(_))), "{over:?}");
    for _ in 0..200 {
        // Failed flushes do not drop entries.
        assert!(desk.journal.flush().await.is_err());
    }

    full.store(false, Ordering::SeqCst);
    desk.journal.flush().await.expect("there is room");
    let game = desk.game(&key);
    assert_eq!((game.status, game.winner), (GameStatus::Resign, Some(Color::White)));
    let (archive, moves) = (desk.archive(), desk.moves(&key));
    assert_eq!(moves.len(), 42);
    for played in moves.iter().filter(|played| played.ply % 2 == 0) {
        assert!(played.ours.is_some() && played.confirmed, "{played:?}");
        assert_eq!(archive.proposals(played).expect("readable").len(), 8, "with its votes");
    }
    within_a_minute(|| desk.game(&key).pgn_path.is_some()).await;
}

/// A transaction may fail as a whole, through no fault of what is written in it.
#[tokio::test]
async fn failed_transaction_is_retried() {
    let desk = Desk::new();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    // What is queued meanwhile shares a transaction.
    desk.journal.writer.note("a pause", move |_| {
        let _ = wait.recv();
        Ok(())
    });
    let mut is_first = true;
    desk.journal.writer.note("a state", move |store| {
        store.set_state("games", "1", 0)?;
        if std::mem::take(&mut is_first) { store.undo_all() } else { Ok(()) }
    });
    desk.journal.fault(&desk.server, None, "a cable");
    drop(go);
    // The first question may be asked in the transaction that fails.
    let _ = desk.journal.flush().await;
    desk.journal.flush().await.expect("written");
    assert_eq!(desk.journal.state("games").await, Ok(Some("1".to_owned())));
    assert_eq!(desk.count("faults"), 1, "nothing is written twice");
}

async fn within_a_minute(happened: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !happened() {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not happen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn takebacks_granted_are_remembered() {
    let desk = Desk::new();
    let (key, _) = desk.start("abcdefgh", Variant::Standard, "");
    assert_eq!(desk.journal.takebacks_granted(&key).await, Ok(0));
    desk.journal.takeback_granted(&key);
    desk.journal.takeback_granted(&key);
    let (again, _directory) = desk.restarts();
    assert_eq!(again.takebacks_granted(&key).await, Ok(2));
}

/// The last program to close a database deletes its log: our lock must survive any number of our own connections.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn second_connection_keeps_the_lock() {
    use std::os::unix::fs::MetadataExt;
    let desk = Desk::new();
    let _study = Judgements::open(desk.journal.path()).expect("the same journal");
    desk.start("game0001", Variant::Standard, "");
    desk.journal.flush().await.expect("written");
    let inode = std::fs::metadata(desk.journal.path()).expect("a file").ino();
    let locks = std::fs::read_to_string("/proc/locks").expect("the system's locks");
    assert!(locks.lines().any(|lock| lock.contains(&format!(":{inode} "))), "no lock on {inode}:\n{locks}");
}

#[tokio::test]
async fn games_without_an_end_are_listed() {
    let desk = Desk::new();
    let (ended, _) = desk.start("game0001", Variant::Standard, "");
    let (unseen, _) = desk.start("game0002", Variant::Standard, "");
    desk.journal.game_over(&ended, &GameStatus::Draw, None).await.expect("written");
    let (waiting, _) = desk.start("game0003", Variant::Standard, "");
    desk.journal.game_over(&waiting, &GameStatus::Adjourned, None).await.expect("written");
    let unfinished = desk.journal.unfinished(&desk.server).await.expect("readable");
    assert_eq!(unfinished.iter().map(|game| &game.info.id).collect::<Vec<_>>(), [&unseen.id]);
    assert!(desk.journal.unfinished(&ServerName::from("elsewhere")).await.expect("readable").is_empty());
}

/// A game that was adjourned and goes on under its name is one whose end is to be seen, as any other.
#[tokio::test]
async fn resumed_game_is_unfinished_again() {
    let desk = Desk::new();
    let unfinished = async || {
        let games = desk.journal.unfinished(&desk.server).await.expect("readable");
        games.into_iter().map(|game| game.info.id).collect::<Vec<_>>()
    };
    let (key, _) = desk.start("game0001", Variant::Standard, "");
    desk.journal.game_over(&key, &GameStatus::Adjourned, None).await.expect("written");
    assert_eq!(unfinished().await, []);
    desk.start("game0001", Variant::Standard, "");
    assert_eq!(unfinished().await, std::slice::from_ref(&key.id));
    desk.journal.game_over(&key, &GameStatus::Resign, Some(Color::White)).await.expect("written");
    desk.start("game0001", Variant::Standard, "");
    assert_eq!(unfinished().await, [], "what is over does not begin again");
    let game = desk.game(&key);
    assert_eq!((game.status, game.winner), (GameStatus::Resign, Some(Color::White)));
}

#[tokio::test]
async fn repeated_state_changes_nothing() {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    let line = desk.play(&key, &start, "e2e4 e7e5 g1f3").await;
    desk.journal.flush().await.expect("written");
    let before = desk.moves(&key);

    desk.journal.game_started(&desk.server, &info("abcdefgh", Variant::Standard, ""));
    for _ in 0..3 {
        desk.journal.line_seen(&key, &line, Some(clocks(7)));
    }
    desk.journal.flush().await.expect("written");
    assert_eq!(desk.moves(&key), before);
    assert_eq!(desk.archive().games(&Filter::default()).expect("readable").len(), 1);
    let clock = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(
        before.iter().map(|played| (played.clock_before, played.clock_after)).collect::<Vec<_>>(),
        [(clock(60), clock(58)), (clock(60), clock(58)), (clock(58), clock(56))]
    );
    assert!(before.iter().all(|played| played.confirmed));
}

#[tokio::test]
async fn takeback_supersedes_a_move() {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    desk.play(&key, &start, "e2e4 e7e5 g1f3 b8c6").await;
    let shorter = Arc::new({
        let mut line = Line::clone(&start);
        line.play_all("e2e4 e7e5").expect("legal");
        line
    });
    desk.journal.line_seen(&key, &shorter, Some(clocks(50)));
    assert_eq!(desk.journal.decided_move(&key, &shorter).await, Ok(None), "the move taken back is not sent again");
    desk.play(&key, &shorter, "f2f4 e5f4").await;
    desk.journal.flush().await.expect("written");
    assert_eq!(desk.uci_moves(&key), "e2e4 e7e5 f2f4 e5f4");
    assert_eq!(desk.count("moves"), 6);
}

#[tokio::test]
async fn late_state_keeps_the_vote() {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    let line = desk.play(&key, &start, "e2e4 e7e5 g1f3").await;
    desk.journal.line_seen(&key, &start, Some(clocks(60)));
    desk.journal.line_seen(&key, &line, Some(clocks(50)));
    desk.journal.flush().await.expect("written");
    assert_eq!(desk.uci_moves(&key), "e2e4 e7e5 g1f3");
    let moves = desk.moves(&key);
    assert_eq!(moves.iter().map(|played| played.ours.is_some()).collect::<Vec<_>>(), [true, false, true]);
}

#[tokio::test]
async fn an_adjourned_game_has_not_ended() {
    let desk = Desk::grouped(PgnGrouping::All);
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    let line = desk.play(&key, &start, "e2e4 e7e5").await;
    assert_eq!(desk.journal.game_over(&key, &GameStatus::Adjourned, None).await, Ok(None));
    desk.journal.game_started(&desk.server, &info("abcdefgh", Variant::Standard, ""));
    desk.play(&key, &line, "g1f3 b8c6").await;
    assert!(desk.pgn(&key, GameStatus::Draw, None).await.contains("[PlyCount \"4\"]"));
}

#[tokio::test]
async fn server_state_overrides_a_decision() {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    desk.journal.move_decided(decided(&key, &start, uci("e2e4"))).await.expect("written");
    desk.journal.move_decided(decided(&key, &start, uci("c2c4"))).await.expect("decided anew");
    desk.journal.line_seen(&key, &played(&start, uci("d2d4")), Some(clocks(60)));
    desk.journal.flush().await.expect("written");
    assert_eq!(desk.uci_moves(&key), "d2d4");
}

#[tokio::test]
async fn failed_entry_spares_its_neighbours() {
    let desk = Desk::new();
    let unknown = GameKey::new(&desk.server, &GameId::from("nothere1"));
    let start = Arc::new(Line::start(Variant::Standard));
    let e4 = uci("e2e4");
    let (key, _) = desk.start("abcdefgh", Variant::Standard, "");
    let (failed, written) = tokio::join!(
        desk.journal.move_decided(decided(&unknown, &start, e4)),
        desk.journal.move_decided(decided(&key, &start, e4)),
    );
    assert_eq!((failed, written), (Err(JournalError::UnknownGame(unknown)), Ok(())));
    assert_eq!(desk.uci_moves(&key), "e2e4");
}

#[tokio::test]
async fn games_write_while_a_program_reads() {
    let desk = Arc::new(Desk::new());
    let mut games = tokio::task::JoinSet::new();
    for number in 0..8 {
        let desk = Arc::clone(&desk);
        games.spawn(async move {
            let (key, start) = desk.start(&format!("game{number:04}"), Variant::Standard, "");
            desk.play(&key, &start, "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6").await;
        });
    }
    let reader = Arc::clone(&desk);
    games.spawn_blocking(move || {
        let archive = reader.archive();
        for _ in 0..50 {
            for game in archive.games(&Filter::default()).expect("readable while written") {
                let moves = archive.moves(&game).expect("readable while written");
                assert!(moves.iter().enumerate().all(|(ply, played)| played.ply as usize == ply), "no gaps: {moves:?}");
            }
        }
    });
    games.join_all().await;
    desk.journal.flush().await.expect("written");
    let games = desk.archive().games(&Filter::default()).expect("readable");
    assert_eq!(games.iter().map(|game| game.plies).collect::<Vec<_>>(), [8; 8]);
}

#[tokio::test]
async fn every_kind_of_entry_is_kept() {
    let desk = Desk::new();
    assert_eq!(desk.journal.state("policy").await, Ok(None));
    desk.journal.set_state("policy", "{\"games\":1}".to_owned()).await.expect("written");
    desk.journal.set_state("policy", "{\"games\":2}".to_owned()).await.expect("written");
    assert_eq!(desk.journal.state("policy").await, Ok(Some("{\"games\":2}".to_owned())));

    let (key, _) = desk.start("abcdefgh", Variant::Standard, "");
    desk.journal.chat(&key, &ChatLine { room: ChatRoom::Player, username: "a".to_owned(), text: "'); --".to_owned() });
    desk.journal.fault(&desk.server, Some(&key.id), "the stream ended");
    let account = Account {
        player: Player::named("Concilio"),
        is_bot: true,
        ratings: vec![("blitz".to_owned(), 1500)],
        games_played: 3,
    };
    desk.journal.account(&desk.server, &account);
    let terms = info("x", Variant::Standard, "").terms;
    let challenge = Challenge::to_us(ChallengeId::from("chal0001"), Player::named("Ann"), terms);
    desk.journal.challenge(&desk.server, &challenge);
    desk.journal.challenge_decided(&desk.server, &challenge, ChallengeOutcome::Declined, "too fast");
    desk.journal.flush().await.expect("written");

    let connection = rusqlite::Connection::open(desk.journal.path()).expect("a database");
    let text = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).expect(sql);
    assert_eq!(text("SELECT text FROM chat"), "'); --");
    assert_eq!(text("SELECT game || what FROM faults"), "abcdefghthe stream ended");
    assert_eq!(text("SELECT ratings FROM accounts"), "{\"blitz\":1500}");
    assert_eq!(text("SELECT decision || ' ' || reason FROM challenges"), "declined too fast");
}

/// Plays a game, ends it, reads its PGN, and compares every move.
async fn round_trip(variant: Variant, fen: &str, moves: &str) -> String {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", variant, fen);
    let end = desk.play(&key, &start, moves).await;
    let text = desk.pgn(&key, GameStatus::Resign, Some(Color::White)).await;

    let start = |game: &PgnGame| Line::from_fen(variant, game.tag("FEN")).map_err(|error| error.to_string());
    let games: Vec<_> =
        PgnGame::read_all(text.as_bytes(), usize::MAX, start).collect::<Result<_, _>>().expect("readable");
    let [game] = games.as_slice() else { panic!("one game only: {games:?}") };
    let line = game.line.as_ref().expect("moves that can be played");
    assert_eq!(*line, *end, "{text}");
    assert_eq!(game.tag("Black"), "Some\"body");
    let comments = text.split('{').skip(1).filter_map(|part| part.split_once('}'));
    let clocks = comments.filter(|(comment, _)| comment.contains("[%clk "));
    assert_eq!(clocks.count(), line.ply(), "{text}");
    assert!(text.lines().all(|line| line.starts_with('[') || line.len() < 80), "{text}");
    text
}

#[tokio::test]
async fn a_game_reads_back_from_its_pgn() {
    let moves = "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1 f6e4 f1e1 e4d6";
    let text = round_trip(Variant::Standard, "", moves).await;
    let (dated, movetext): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.contains("Date") || line.contains("UTCTime"));
    assert_eq!(dated.len(), 3, "{text}");
    assert_eq!(
        movetext.join("\n"),
        r#"[Event "Rated bullet game"]
[Site "https://lichess.org/abcdefgh"]
[Round "-"]
[White "Concilio"]
[Black "Some\"body"]
[Result "1-0"]
[GameId "abcdefgh"]
[WhiteElo "2000"]
[WhiteTitle "BOT"]
[BlackElo "1900"]
[Variant "Standard"]
[TimeControl "60+0"]
[Termination "Normal"]
[PlyCount "10"]

1. e4 { [%eval 0.34] [%clk 0:00:58] [%emt 0:00:02] book } 1... e5 {
[%clk 0:00:58] [%emt 0:00:02] } 2. Nf3 { [%eval 0.34] [%clk 0:00:56]
[%emt 0:00:02] } 2... Nc6 { [%clk 0:00:56] [%emt 0:00:02] } 3. Bb5 {
[%eval 0.34] [%clk 0:00:54] [%emt 0:00:02] } 3... Nf6 { [%clk 0:00:54]
[%emt 0:00:02] } 4. O-O { [%eval 0.34] [%clk 0:00:52] [%emt 0:00:02] } 4...
Nxe4 { [%clk 0:00:52] [%emt 0:00:02] } 5. Re1 { [%eval 0.34] [%clk 0:00:50]
[%emt 0:00:02] } 5... Nd6 { [%clk 0:00:50] [%emt 0:00:02] } 1-0
"#
    );
}

#[tokio::test]
async fn chess960_and_variants_round_trip() {
    let fen = "bqnrkrnb/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRNB w KQkq - 0 1";
    let text = round_trip(Variant::Chess960, fen, "g1f3 g8f6 e1f1 e8f8").await;
    assert!(text.contains("[Variant \"Chess960\"]") && text.contains("O-O {"), "{text}");
    let usual = round_trip(Variant::Chess960, "", "e2e4 e7e5").await;
    assert!(usual.contains("[SetUp \"1\"]\n[FEN \"rnbqkbnr/"), "{usual}");

    let text = round_trip(Variant::FromPosition, "4k3/8/8/8/8/8/4P3/4K3 b - - 3 40", "e8e7 e2e4 e7e6").await;
    assert!(text.contains("40... Ke7"), "{text}");
    let text = round_trip(Variant::Crazyhouse, "", "e2e4 d7d5 e4d5 d8d5 P@e4 d5e4").await;
    assert!(text.contains("@e4"), "{text}");
    round_trip(Variant::ThreeCheck, "", "e2e4 e7e5 f1c4 b8c6 c4f7").await;
    round_trip(Variant::Antichess, "", "e2e3 b7b5 f1b5").await;
    round_trip(Variant::Atomic, "", "g1f3 e7e5 f3e5 d7d5").await;
    round_trip(Variant::Horde, "", "b5b6 a7b6 c5b6").await;
    round_trip(Variant::KingOfTheHill, "", "e2e4 e7e5 e1e2 e8e7").await;
    round_trip(Variant::RacingKings, "", "h2h3 a2a3").await;
}

#[tokio::test]
async fn grouped_games_are_appended_once() {
    let desk = Desk::grouped(PgnGrouping::Opponent);
    let mut files = Vec::new();
    for id in ["game0001", "game0002"] {
        let (key, start) = desk.start(id, Variant::Standard, "");
        desk.play(&key, &start, "e2e4 e7e5").await;
        for _ in 0..2 {
            files.push(desk.over(&key, GameStatus::Draw, None).await);
        }
    }
    files.dedup();
    let [file] = files.as_slice() else { panic!("one file: {files:?}") };
    assert_eq!(file.file_name().and_then(|name| name.to_str()), Some("lichess_some-body.pgn"));
    let text = std::fs::read_to_string(file).expect("a file");
    assert_eq!(text.matches("[Result \"1/2-1/2\"]").count(), 2, "{text}");
    let copy = JournalSettings { pgn_directory: PathBuf::new(), ..settings(desk.directory.path(), PgnGrouping::All) };
    let (key, _) = desk.start("game0003", Variant::Standard, "");
    desk.journal.flush().await.expect("written");
    let Desk { journal, directory: _kept, .. } = desk;
    drop(journal);
    let journal = Journal::open(&copy).expect("the same journal");
    assert_eq!(journal.game_over(&key, &GameStatus::Aborted, None).await, Ok(None), "no PGN is wanted");
}

/// A kill may come between the end of a game, its file, and the note of the file.
#[tokio::test]
async fn missing_pgn_is_written_at_next_start() {
    for grouping in [PgnGrouping::Game, PgnGrouping::All] {
        for file_was_written in [true, false] {
            let desk = Desk::grouped(grouping);
            let (key, start) = desk.start("game0001", Variant::Standard, "");
            desk.play(&key, &start, "e2e4 e7e5 g1f3").await;
            let path = desk.over(&key, GameStatus::Resign, Some(Color::White)).await;
            let killed = rusqlite::Connection::open(desk.journal.path()).expect("the journal");
            let kill = "UPDATE games SET pgn_path = NULL, ended_at = ended_at - 259200000";
            killed.execute(kill, []).expect("as after a kill, and three days without a start");
            if !file_was_written {
                std::fs::remove_file(&path).expect("there");
            }
            desk.journal.write_missing_pgn().await.expect("written");
            let text = std::fs::read_to_string(&path).expect("a PGN");
            assert_eq!(text.matches("[GameId \"game0001\"]").count(), 1, "{text}");
            assert_eq!(desk.game(&key).pgn_path, Some(path.display().to_string()));
        }
    }
}

#[tokio::test]
async fn games_are_found_by_every_filter() {
    let desk = Desk::new();
    for (id, winner) in [("game0001", Some(Color::White)), ("game0002", Some(Color::Black)), ("game0003", None)] {
        let (key, start) = desk.start(id, Variant::Standard, "");
        desk.play(&key, &start, "e2e4 e7e5 g1f3").await;
        let status = if winner.is_some() { GameStatus::Resign } else { GameStatus::Stalemate };
        desk.over(&key, status, winner).await;
    }
    desk.start("game0004", Variant::Standard, "");
    desk.journal.flush().await.expect("written");

    let archive = desk.archive();
    let found = |filter: Filter| -> Vec<String> {
        archive.games(&filter).expect("readable").iter().map(|game| game.game.to_string()).collect()
    };
    let all = Filter::default();
    assert_eq!(found(all.clone()), ["game0001", "game0002", "game0003", "game0004"]);
    assert_eq!(found(Filter { result: Some(GameResult::Lost), ..all.clone() }), ["game0002"]);
    assert_eq!(found(Filter { limit: Some(2), ..all.clone() }), ["game0003", "game0004"]);
    assert_eq!(found(Filter { opponent: Some("SOME\"body".to_owned()), ..all.clone() }).len(), 4);
    assert_eq!(found(Filter { opponent: Some("unknown".to_owned()), ..all.clone() }).len(), 0);
    assert_eq!(found(Filter { speed: Some(domain::Speed::Rapid), ..all.clone() }).len(), 0);
    assert_eq!(found(Filter { server: Some(ServerName::from("fics")), ..all.clone() }).len(), 0);
    let tomorrow = Timestamp::now() + jiff::SignedDuration::from_hours(24);
    assert_eq!(found(Filter { since: Some(tomorrow), ..all.clone() }).len(), 0);
    assert_eq!(found(Filter { until: Some(tomorrow), ..all.clone() }).len(), 4);
}

#[tokio::test]
async fn exports_are_pgn_and_json() {
    let desk = Desk::new();
    let (key, start) = desk.start("game0001", Variant::Standard, "");
    desk.play(&key, &start, "e2e4 e7e5 g1f3").await;
    let saved = desk.pgn(&key, GameStatus::Mate, Some(Color::White)).await;
    let archive = desk.archive();
    let games = archive.games(&Filter::default()).expect("readable");

    let table = text(|out| write_table(&games, false, out));
    let lines: Vec<&str> = table.lines().collect();
    let [titles, game] = lines.as_slice() else { panic!("two lines: {table}") };
    assert!(game.ends_with("white   Some\"body (1900)  60+0 bullet  rated standard  won     mate  2"), "{table}");
    assert_eq!(titles.find("OPPONENT"), game.find("Some"), "{table}");
    assert!(text(|out| write_table(&games, true, out)).contains("\x1b[32m"));

    let json = text(|out| write_json(&archive, &games, out));
    let json: serde_json::Value = serde_json::from_str(&json).expect("one line of JSON");
    for (pointer, value) in [
        ("/game", serde_json::json!("game0001")),
        ("/result", "won".into()),
        ("/white/title", "BOT".into()),
        ("/plies", 3.into()),
        ("/moves/0/uci", "e2e4".into()),
        ("/moves/0/ours/elapsed", 1.9.into()),
        ("/moves/0/ours/score", serde_json::json!({"cp": 34})),
        ("/moves/0/proposals/6/elector", "mbxk".into()),
        ("/moves/1/clock_after", 58.0.into()),
        ("/moves/1/ours", serde_json::Value::Null),
    ] {
        assert_eq!(json.pointer(pointer), Some(&value), "{pointer} of {json}");
    }

    let csv = text(|out| write_csv(&games, out));
    assert!(
        csv.contains("white,Concilio,BOT,2000,\"Some\"\"body\",,1900,standard,60+0,bullet,true,won,mate,white,3,https"),
        "{csv}"
    );

    assert_eq!(text(|out| write_pgn(&archive, &games, out)), saved);
}
