//! Measures reports: `cargo run --release -p concilio-report --example measure [GAMES [PLIES
//! [NODES]]]`.
//!
//! Makes a journal of GAMES games (100 of 120 plies by default, the moves by searches of a few
//! nodes, seven electors voting for one side), judges them with NODES nodes a position (20000) on
//! two threads, then makes the report again, which searches nothing, and repeats the elections of
//! all votes by every criterion. Prints a table.

extern crate concilio_report as report;

use std::{
    num::NonZeroUsize,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use bot::journal::{DecidedMove, Filter, GameKey, Journal, JournalSettings};
use chess::{
    Bound, Color, CriterionName, Decision, ElectorName, GameId, GameInfo, GameStatus, GameTerms, Knowledge, Line,
    Phase, Player, Proposal, Score, SearchId, ServerName, Source, TimeControl, UciMove, Variant, Vote, engine_position,
};
use engine::{Engine, EngineOptions, Limits};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use report::{
    ReportRequest,
    judge::{JudgeEffort, JudgeSpec},
    make_report,
    study::GameStudy,
    votes::CouncilSums,
};

/// Games that are played; more than these are copies, which cost a report as much as others do, but for the judging.
const PLAYED: usize = 100;

/// Plies of the lines that electors expect.
const LONGEST_LINE: usize = 10;

/// Electors of the balanced seven.
const ELECTORS: [&str; 7] = ["mpar", "mbxp", "mbkc", "mcar", "mxar", "mkcp", "mbxk"];

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let given = |index: usize, usual: usize| arguments.get(index).copied().unwrap_or(usual);
    let (games, plies, nodes) = (given(0, 100), given(1, 120), given(2, 20_000));
    let folder = std::env::temp_dir().join(format!("concilio-report-measure-{}", std::process::id()));
    let settings =
        JournalSettings { path: folder.join("journal.db"), pgn_directory: "".into(), ..JournalSettings::default() };
    let began = PhaseTimer::start();
    let lines: Vec<Line> = (0..games.min(PLAYED)).map(|seed| play(seed as u64, plies)).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(record(&settings, games, &lines));
    tell("games made and recorded", games, began);

    let request = ReportRequest {
        journal: settings.path.clone(),
        filter: Filter::default(),
        judge: JudgeSpec::own(JudgeEffort::Nodes(nodes as u64)),
        threads: NonZeroUsize::new(2).expect("two"),
        tables: None,
        output: Some(folder.join("pages")),
        suggest: false,
    };
    let began = PhaseTimer::start();
    report_on(&request, &mut |_| ());
    tell("judged and written, two threads", games, began);
    let began = PhaseTimer::start();
    let mut studies: Vec<GameStudy> = Vec::new();
    report_on(&request, &mut |game| studies.extend((studies.len() < 1000).then(|| game.clone())));
    tell("written again, nothing to judge", games, began);
    let began = PhaseTimer::start();
    let mut council = CouncilSums::default();
    studies.iter().for_each(|game| council.add(game));
    let council = council.study();
    tell(&format!("{} votes by {} criteria", council.votes, council.criteria.len()), studies.len(), began);
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len() / 1024);
    println!("first page {} KiB, journal {} KiB", size(&folder.join("pages/index.html")), size(&settings.path));
    println!("in {}", folder.display());
}

fn report_on(request: &ReportRequest, each: &mut dyn FnMut(&GameStudy)) {
    make_report(request, &AtomicBool::new(false), &mut |_| (), each).expect("a report");
}

fn tell(what: &str, games: usize, began: PhaseTimer) {
    let (wall, processor) = (began.wall.elapsed().as_secs_f64(), (processor_time() - began.processor).as_secs_f64());
    println!("{what:<40} {games:>6} games {wall:>9.2} s, {processor:>9.2} s of processors");
}

/// The start of a phase: wall time and processor time.
struct PhaseTimer {
    wall: Instant,
    processor: Duration,
}

impl PhaseTimer {
    fn start() -> Self {
        Self { wall: Instant::now(), processor: processor_time() }
    }
}

fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).expect("below a second"))
}

/// A game of quick moves from a random opening.
fn play(seed: u64, plies: usize) -> Line {
    let mut random = StdRng::seed_from_u64(seed);
    let mut engine = Engine::new(EngineOptions { hash: 1, ..EngineOptions::default() });
    let mut line = Line::start(Variant::Standard);
    for ply in 0..plies {
        let legal = line.legal_moves();
        if legal.is_empty() {
            break;
        }
        let at_random = ply < 8 || random.random_range(0..6) == 0;
        let chosen = if at_random { None } else { search(&mut engine, &line, 300) };
        let uci = chosen.unwrap_or_else(|| legal[random.random_range(0..legal.len())]);
        line.play(uci).expect("a legal move");
    }
    line
}

fn search(engine: &mut Engine, line: &Line, nodes: u64) -> Option<UciMove> {
    let position = engine_position(line).ok()?;
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let found = engine.search(&position, &[], &limits, &AtomicBool::new(false), &mut |_| ())?;
    position.line_to_uci(&[found.best]).first()?.parse().ok()
}

/// A line of any legal moves.
fn at_random(from: &Line, random: &mut StdRng) -> Vec<UciMove> {
    let mut line = from.clone();
    for _ in 0..LONGEST_LINE {
        let legal = line.legal_moves();
        if legal.is_empty() {
            break;
        }
        line.play(legal[random.random_range(0..legal.len())]).expect("a legal move");
    }
    line.moves()[from.ply()..].to_vec()
}

async fn record(settings: &JournalSettings, games: usize, lines: &[Line]) {
    let journal = Journal::open(settings).expect("a journal");
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..games {
        let (journal, line) = (journal.clone(), lines[number % lines.len()].clone());
        tasks.spawn(async move { record_game(&journal, number, &line).await });
        if tasks.len() >= 64 {
            tasks.join_next().await;
        }
    }
    while tasks.join_next().await.is_some() {}
    journal.flush().await.expect("written");
}

async fn record_game(journal: &Journal, number: usize, line: &Line) {
    let server = ServerName::from("made");
    let player = |name: &str, rating| Player { rating: Some(rating), ..Player::named(name) };
    let ours = if number.is_multiple_of(2) { Color::White } else { Color::Black };
    let (us, them) =
        (player("Concilio", 2000), player(&format!("Opponent{}", number % 50), 1500 + (number % 1000) as u32));
    let (white, black) = if ours.is_white() { (us, them) } else { (them, us) };
    let time_control = TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2));
    let info = GameInfo {
        id: GameId::from(format!("made{number:05}").as_str()),
        terms: GameTerms { variant: Variant::Standard, time_control, rated: true },
        white,
        black,
        our_color: ours,
        start: Line::start(Variant::Standard),
        tournament: None,
        url: None,
    };
    let key = GameKey::new(&server, &info.id);
    journal.game_started(&server, &info);
    let mut random = StdRng::seed_from_u64(number as u64 % PLAYED as u64);
    let mut now = Line::start(Variant::Standard);
    for (ply, uci) in line.moves().iter().enumerate() {
        if now.turn() == ours {
            let rest = &line.moves()[ply..];
            journal.move_decided(decided(&key, &now, rest, &mut random)).await.expect("written");
        }
        now.play(*uci).expect("a legal move");
        if now.ply() == line.ply() || now.turn() == ours {
            journal.line_seen(&key, &Arc::new(now.clone()), None);
        }
    }
    let winner = [None, Some(Color::White), Some(Color::Black)][number % 3];
    journal.game_over(&key, &GameStatus::Resign, winner).await.expect("written");
}

/// Most electors propose the move that was played, the first of `rest`, and expect the following
/// ones; some propose another.
fn decided(key: &GameKey, line: &Line, rest: &[UciMove], random: &mut StdRng) -> DecidedMove {
    let best = rest[0];
    let played: Vec<UciMove> = rest.iter().copied().take(LONGEST_LINE).collect();
    let other = at_random(line, random);
    let votes = ELECTORS.map(|name| {
        let pv = if random.random_range(0..4) == 0 { other.clone() } else { played.clone() };
        let proposal = Proposal {
            search: SearchId { game: key.id.clone(), ply: line.ply(), serial: 0, phase: Phase::First },
            elector: ElectorName::new(name),
            machine: None,
            best: pv[0],
            score: Score::Cp(random.random_range(-100..100)),
            bound: Bound::Exact,
            depth: random.random_range(6..12),
            selective_depth: 14,
            root_moves_done: 3,
            nodes: 20_000,
            time: Duration::from_millis(100),
            pv,
        };
        Vote { proposal, knowledge: name.parse::<Knowledge>().ok(), weight: Some(1.0) }
    });
    DecidedMove {
        game: key.clone(),
        line: Arc::new(line.clone()),
        decision: Arc::new(Decision {
            criterion: Some(CriterionName::ScoreMargin),
            votes: votes.to_vec(),
            split: 0.3,
            ..Decision::without_vote(best, Source::Council)
        }),
        clock: None,
        spent: Duration::ZERO,
        response: Duration::from_secs(2),
        extra: Duration::from_secs(1),
        lag: Duration::ZERO,
    }
}
