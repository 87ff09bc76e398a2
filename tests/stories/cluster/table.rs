//! A council at a board, as the daemon has it: it plays both sides against the clock, and every move is looked at.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use cluster::{ClusterClient, ClusterSettings};
use council::{Council, CouncilSettings, CriterionName, GroupMode, Progress, Question, Roster, electors::Pool};
use domain::{Decision, GameId, Line, Proposal, Variant};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::processes::{PATIENCE, until};

/// Default time of a move.
const MOVE_TIME: Duration = Duration::from_millis(60);
/// A move that takes this many times its own time waited for an absent worker, or for a busy machine.
const LATE: u32 = 13;
/// Threads that wake one another up in turn until a move is decided.
const WAKES: u32 = 10;
pub(super) const MOVES: usize = 100;

/// A council of four with one core of its own.
pub(super) struct Table {
    pub cluster: ClusterClient,
    pool: Pool,
    council: Council,
    line: Line,
    moves: usize,
    /// Moves with at least one vote.
    voted: usize,
    metronome: Metronome,
    pub move_time: Duration,
    /// Wait for the first proposal, if that is longer: on a busy machine electors come late.
    pub first_word: Duration,
    /// Votes by machine; the table's own is "".
    pub votes: BTreeMap<String, usize>,
    _stop: DropGuard,
}

impl Table {
    pub(super) fn at(url: &str) -> Self {
        Self::with(url, |_| ())
    }

    pub(super) fn with(url: &str, change: impl FnOnce(&mut ClusterSettings)) -> Self {
        let stop = CancellationToken::new();
        let mut settings =
            ClusterSettings { nats: url.to_owned(), name: "table".to_owned(), ..ClusterSettings::default() };
        change(&mut settings);
        let cluster = ClusterClient::join(settings, stop.clone());
        let settings = CouncilSettings {
            roster: "balanced-4".to_owned(),
            criterion: CriterionName::ReSearch,
            groups: GroupMode::None,
            hash: 1,
            ..CouncilSettings::default()
        };
        let pool = Pool::with_remote(1, Some(Arc::new(cluster.clone())));
        let council = convene(&pool, &settings);
        let line = Line::start(Variant::Standard);
        let metronome = Metronome::start();
        Self {
            cluster,
            pool,
            council,
            line,
            moves: 0,
            voted: 0,
            metronome,
            move_time: MOVE_TIME,
            first_word: Duration::ZERO,
            votes: BTreeMap::new(),
            _stop: stop.drop_guard(),
        }
    }

    /// Replaces the council, as at the beginning of a game.
    pub(super) fn replace_council(&mut self, settings: &CouncilSettings) {
        self.council = convene(&self.pool, settings);
    }

    /// Waits until just these workers are there.
    pub(super) async fn knows(&self, workers: &[&str]) {
        let names = || self.cluster.workers().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        let sorted = |mut names: Vec<String>| {
            names.sort_unstable();
            names
        };
        until(&format!("{workers:?} are there"), || sorted(names()) == workers).await;
    }

    /// Makes `moves` moves.
    pub(super) async fn plays(&mut self, moves: usize) {
        self.plays_while(moves, |_, _| ()).await;
    }

    /// Makes `moves` moves, while `watch` sees every proposal with the number of the move.
    pub(super) async fn plays_while(&mut self, moves: usize, mut watch: impl FnMut(usize, &Proposal) + Send) {
        for _ in 0..moves {
            if self.line.legal_moves().is_empty() || self.line.ply() >= 200 {
                self.line = Line::start(Variant::Standard);
            }
            let line = Arc::new(self.line.clone());
            let (move_time, first_word) = (self.move_time, self.first_word.max(self.move_time));
            let time = move |progress: &Progress| if progress.proposals == 0 { first_word } else { move_time };
            let timing = Some(Box::new(time) as _);
            let question = Question { timing, ..Question::new(GameId::new("table"), Arc::clone(&line)) };
            self.metronome.longest_delay();
            let (begun, number) = (Instant::now(), self.moves);
            let mut watch = |proposal: &Proposal| watch(number, proposal);
            let decided = self.council.decide(question, &CancellationToken::new(), &mut watch).await;
            let taken = begun.elapsed();
            let decision = decided.expect("a decision");
            let delay = self.metronome.longest_delay();
            let late = move_time * LATE + delay * WAKES;
            assert!(taken < late, "move {number} of {move_time:?} took {taken:?}, and a wake-up {delay:?}");
            assert!(line.is_legal(decision.best), "move {number}, {}, is not legal", decision.best);
            assert!(decision.score.is_some(), "move {number}, {}, was not searched", decision.best);
            self.voted += usize::from(!decision.votes.is_empty());
            for vote in &decision.votes {
                assert!(line.is_legal(vote.proposal.best));
                let machine = vote.proposal.machine.as_ref().map(ToString::to_string).unwrap_or_default();
                *self.votes.entry(machine).or_default() += 1;
            }
            self.line.play(decision.best).expect("a legal move");
            self.moves += 1;
        }
    }

    /// Makes moves until a machine has a vote: it may take a while until one that was away is trusted again.
    pub(super) async fn plays_until_heard(&mut self, machine: &str) {
        let begun = Instant::now();
        self.votes.clear();
        while !self.votes.contains_key(machine) {
            assert!(begun.elapsed() < PATIENCE, "{machine} takes no part: {:?}", self.votes);
            self.plays(1).await;
        }
    }

    /// Makes moves until any machine but this has had a vote.
    pub(super) async fn plays_until_lent(&mut self) {
        let begun = Instant::now();
        while self.votes.keys().all(String::is_empty) {
            assert!(begun.elapsed() < PATIENCE, "no worker takes part: {:?}", self.votes);
            self.plays(1).await;
        }
    }

    /// Thinks about one move until a machine has proposed something; it comes after the first proposal of another.
    pub(super) async fn thinks_until_heard(&mut self, machine: &str, comes: impl FnOnce() + Send) -> Decision {
        let timing = Some(Box::new(|_: &Progress| PATIENCE) as _);
        let line = Arc::new(Line::start(Variant::Standard));
        let question = Question { timing, ..Question::new(GameId::new("table"), line) };
        let (answer_now, mut comes) = (question.answer_now.clone(), Some(comes));
        let mut watch = |proposal: &Proposal| {
            comes.take().into_iter().for_each(|comes| comes());
            if proposal.machine.as_ref().is_some_and(|other| other.as_str() == machine) {
                answer_now.cancel();
            }
        };
        let decided = self.council.decide(question, &CancellationToken::new(), &mut watch).await;
        decided.expect("a decision")
    }

    pub(super) fn electors(&self) -> usize {
        self.council.electors().len()
    }

    pub(super) fn voted(&self) -> usize {
        self.voted
    }

    /// Votes that a machine had; from now on they are counted anew.
    pub(super) fn votes_of(&mut self, machine: &str) -> usize {
        self.votes.remove(machine).unwrap_or_default()
    }
}

/// Measures how long the machine lets a thread wait that has nothing to do but to wake up.
struct Metronome(Arc<AtomicU64>);

impl Metronome {
    const BEAT: Duration = Duration::from_millis(5);

    fn start() -> Self {
        let longest = Arc::new(AtomicU64::new(0));
        let known = Arc::downgrade(&longest);
        std::thread::spawn(move || {
            loop {
                let begun = Instant::now();
                std::thread::sleep(Self::BEAT);
                let delay = begun.elapsed().saturating_sub(Self::BEAT);
                let Some(longest) = known.upgrade() else { return };
                longest.fetch_max(u64::try_from(delay.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
        });
        Self(longest)
    }

    /// The longest delay since this was asked last.
    fn longest_delay(&self) -> Duration {
        Duration::from_micros(self.0.swap(0, Ordering::Relaxed))
    }
}

fn convene(pool: &Pool, settings: &CouncilSettings) -> Council {
    let roster = Roster::from_settings(settings).expect("a roster");
    Council::new(pool, &roster, settings, Variant::Standard)
}
