use std::{
    collections::BTreeMap,
    fmt,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::{DraughtsError, Seated, runtime};
use crate::player::{DraughtsPlayer, Pace, PlayerSpec};
use council::electors::Pool;
use draughts_core::{
    board::{Color, Rules},
    endgame::{EndgameTables, Known},
    game::{Draw, Game, Outcome, ballots},
};
use experiment::{
    state::ExperimentState,
    stats::{self, Estimate},
};

#[derive(Clone, Debug)]
pub struct DraughtsContender {
    pub spec: PlayerSpec,
    /// The limits of a move, unless the player's text gives others.
    pub pace: Pace,
}

impl DraughtsContender {
    fn pace(&self) -> Pace {
        self.spec.pace().or(self.pace)
    }
}

#[derive(Clone, Debug)]
pub struct DraughtsMatch {
    /// A and B; scores are A's.
    pub players: [DraughtsContender; 2],
    pub pairs: usize,
    pub seed: u64,
    pub workers: NonZeroUsize,
    /// The endgame tables of the searches, which also end decided games.
    pub tables: Option<Arc<EndgameTables>>,
}

impl DraughtsMatch {
    /// Returns true if a player has a clock, so that the match cannot be repeated.
    pub fn is_timed(&self) -> bool {
        self.players.iter().any(|player| player.pace().is_timed())
    }

    /// Checks that it can be played.
    pub fn check(&self) -> Result<(), DraughtsError> {
        let ballots = ballots::draw(self.pairs, self.seed).len();
        if self.pairs > ballots && !self.is_timed() {
            return Err(DraughtsError::FewBallots { games: 2 * self.pairs, ballots });
        }
        Ok(())
    }
}

/// A player's work in a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Conduct {
    moves: u64,
    nodes: u64,
    microseconds: u64,
}

impl Conduct {
    fn add(&mut self, other: Self) {
        self.moves += other.moves;
        self.nodes += other.nodes;
        self.microseconds += other.microseconds;
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PlayedGame {
    /// White's points: 0, 1/2 or 1.
    white: f64,
    plies: usize,
    ending: String,
    conduct: [Conduct; 2],
}

/// Two games from one ballot, A's with White first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DraughtsPair {
    games: [PlayedGame; 2],
}

impl DraughtsPair {
    /// A's points in both games.
    fn points(&self) -> [f64; 2] {
        [self.games[0].white, 1.0 - self.games[1].white]
    }
}

/// The standing of a match. All scores are A's.
#[derive(Clone, Debug)]
pub struct DraughtsStanding {
    names: [String; 2],
    pairs: Vec<DraughtsPair>,
}

impl DraughtsStanding {
    /// The pairs before the first that is missing.
    fn of(plan: &DraughtsMatch, done: &BTreeMap<usize, DraughtsPair>) -> Self {
        let pairs = (0..plan.pairs).map_while(|pair| done.get(&pair).cloned()).collect();
        Self { names: plan.players.clone().map(|player| player.spec.to_string()), pairs }
    }

    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// A's mean score, 0 to 1. `None` for fewer than two pairs.
    pub fn score(&self) -> Option<Estimate> {
        let scores: Vec<f64> = self.pairs.iter().map(|pair| pair.points().iter().sum::<f64>() / 2.0).collect();
        stats::score(&scores)
    }

    /// Games won, drawn and lost by A.
    pub fn results(&self) -> [usize; 3] {
        let count = |points: f64| self.pairs.iter().flat_map(DraughtsPair::points).filter(|one| *one == points).count();
        [count(1.0), count(0.5), count(0.0)]
    }

    /// Mean time of a move of A and of B.
    pub fn time_a_move(&self) -> [Duration; 2] {
        self.conduct().map(|conduct| Duration::from_micros(conduct.microseconds / conduct.moves.max(1)))
    }

    fn conduct(&self) -> [Conduct; 2] {
        let mut sums = [Conduct::default(); 2];
        for DraughtsPair { games: [first, second] } in &self.pairs {
            for (player, sum) in sums.iter_mut().enumerate() {
                sum.add(first.conduct[player]);
                sum.add(second.conduct[1 - player]);
            }
        }
        sums
    }
}

impl fmt::Display for DraughtsStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [won, drawn, lost] = self.results();
        writeln!(f, "{} against {}", self.names[0], self.names[1])?;
        writeln!(f, "games        {}: {won} won, {drawn} drawn, {lost} lost", 2 * self.pairs())?;
        if let Some(score) = self.score() {
            writeln!(f, "score        {}", score.percent_with_error())?;
            let elo = score.map(stats::elo);
            writeln!(f, "Elo          {}", elo.signed())?;
        }
        let games = || self.pairs.iter().flat_map(|pair| &pair.games);
        let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
        games().for_each(|game| *endings.entry(&game.ending).or_default() += 1);
        let endings: Vec<String> = endings.into_iter().map(|(ending, count)| format!("{ending} {count}")).collect();
        let plies = games().map(|game| game.plies).sum::<usize>() / (2 * self.pairs()).max(1);
        writeln!(f, "endings      {}; {plies} plies a game", endings.join(", "))?;
        for ((name, conduct), time) in self.names.iter().zip(self.conduct()).zip(self.time_a_move()) {
            let nodes = conduct.nodes as f64 / conduct.moves.max(1) as f64;
            writeln!(f, "{name}: {nodes:.0} nodes and {:.2} ms a move", time.as_secs_f64() * 1000.0)?;
        }
        Ok(())
    }
}

/// Plays the pairs that `state` does not have yet, until all are played or `stop` is set. `progress` sees how it stands.
pub fn run_draughts(
    plan: &DraughtsMatch,
    state: &mut ExperimentState<DraughtsPair>,
    stop: &AtomicBool,
    mut progress: impl FnMut(&DraughtsStanding),
) -> Result<DraughtsStanding, DraughtsError> {
    let undone: Vec<usize> = (0..plan.pairs).filter(|pair| !state.done().contains_key(pair)).collect();
    plan.check()?;
    let openings = ballots::draw(plan.pairs, plan.seed);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, pairs) = mpsc::sync_channel(0);
        for _ in 0..plan.workers.get().min(undone.len()) {
            let (sender, undone, openings, next) = (sender.clone(), &undone, &openings, &next);
            scope.spawn(move || {
                while let Some(pair) = undone.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Where there are more pairs than ballots, they come again.
                    let start = Game::new(openings[pair % openings.len()], Rules::Official);
                    let Some(played) = play_pair(plan, &start, stop).transpose() else { return };
                    if sender.send(played.map(|played| (*pair, played))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for played in pairs {
            let (pair, played) = played?;
            state.record(pair, played)?;
            progress(&DraughtsStanding::of(plan, state.done()));
        }
        Ok::<(), DraughtsError>(())
    })?;
    Ok(DraughtsStanding::of(plan, state.done()))
}

/// Plays both games from a start; `None` if stopped.
fn play_pair(plan: &DraughtsMatch, start: &Game, stop: &AtomicBool) -> Result<Option<DraughtsPair>, DraughtsError> {
    let runtime = runtime()?;
    let seat = |place: usize| {
        let player = &plan.players[place];
        (DraughtsPlayer::new(&player.spec, &Pool::new(0), plan.tables.as_ref()), player.pace())
    };
    let mut games = Vec::with_capacity(2);
    for [white, black] in [[0, 1], [1, 0]] {
        let ((white, white_pace), (black, black_pace)) = (seat(white), seat(black));
        let mut board =
            DraughtsBoard { players: [white, black], paces: [white_pace, black_pace], tables: plan.tables.as_deref() };
        match board.play(start.clone(), &runtime, stop) {
            Some(game) => games.push(game),
            None => return Ok(None),
        }
    }
    Ok(<[PlayedGame; 2]>::try_from(games).ok().map(|games| DraughtsPair { games }))
}

struct DraughtsBoard<'a> {
    players: Seated,
    paces: [Pace; 2],
    tables: Option<&'a EndgameTables>,
}

impl DraughtsBoard<'_> {
    /// Plays it to its end; `None` if stopped.
    fn play(&mut self, mut game: Game, runtime: &Runtime, stop: &AtomicBool) -> Option<PlayedGame> {
        let mut conduct = [Conduct::default(); 2];
        let (white, ending) = loop {
            if let Some(end) = self.end(&game) {
                break end;
            }
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let side = usize::from(game.board().to_move() == Color::Black);
            let started = Instant::now();
            let decided = runtime.block_on(self.players[side].decide(&game, &self.paces[side], &mut |_| {}));
            // There is a legal move, and so there is a decision for it.
            let decision = decided?;
            let microseconds = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
            conduct[side].add(Conduct { moves: 1, nodes: decision.nodes(), microseconds });
            game.play(decision.best).ok()?;
        };
        Some(PlayedGame { white, plies: game.moves().len(), ending: ending.to_owned(), conduct })
    }

    /// White's points and a word, once the game is over or its outcome is known.
    fn end(&self, game: &Game) -> Option<(f64, &'static str)> {
        let for_white = |winner| if winner == Color::White { 1.0 } else { 0.0 };
        match game.outcome() {
            Some(Outcome::Won(winner)) => return Some((for_white(winner), "on the board")),
            Some(Outcome::Drawn(Draw::Repetition)) => return Some((0.5, "repetition")),
            Some(Outcome::Drawn(Draw::FortyMoves)) => return Some((0.5, "forty moves")),
            None => {}
        }
        let mover = game.board().to_move();
        Some(match self.tables?.probe(game.board())? {
            Known::Draw => (0.5, "tables"),
            Known::Win(_) => (for_white(mover), "tables"),
            Known::Loss(_) => (for_white(!mover), "tables"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(workers: usize, a: &str, b: &str) -> DraughtsMatch {
        let pace = Pace { nodes: Some(200), ..Pace::default() };
        let player = |text: &str| DraughtsContender { spec: text.parse().expect("a player"), pace };
        DraughtsMatch {
            players: [player(a), player(b)],
            pairs: 3,
            seed: 5,
            workers: NonZeroUsize::new(workers).expect("some"),
            tables: Some(Arc::new(EndgameTables::build(2, |_, _| {}))),
        }
    }

    fn standing(workers: usize, a: &str, b: &str) -> DraughtsStanding {
        let plan = plan(workers, a, b);
        let folder = tempfile::tempdir().expect("a folder");
        let mut state = ExperimentState::open(&folder.path().join("match.jsonl"), &json!({})).expect("a state");
        run_draughts(&plan, &mut state, &AtomicBool::new(false), |_| {}).expect("a match")
    }

    #[test]
    fn concurrency_does_not_change_a_match() {
        let text = |workers| {
            let standing = standing(workers, "council:hash=1", "fully-guarded:hash=1");
            assert_eq!((standing.pairs(), standing.results().iter().sum::<usize>()), (3, 6));
            // Times differ, of course.
            standing.to_string().lines().take(3).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(text(1), text(3));
    }

    #[test]
    fn deeper_search_wins_the_match() {
        let standing =
            standing(2, "fully-guarded:nodes=5000,hash=1", "published:strategy=peso-pedine,moves=1,quiescence=off");
        let [won, drawn, lost] = standing.results();
        assert!(won > drawn + lost, "{standing}");
    }

    #[test]
    fn too_few_ballots_are_an_error() {
        let ballots = ballots::all().len();
        let asked = |b: &str| {
            let plan = DraughtsMatch { pairs: ballots + 1, ..plan(1, "m:hash=1", b) };
            // Nothing is to be played.
            let pairs = run_draughts(&plan, &mut ExperimentState::in_memory(), &AtomicBool::new(true), |_| {});
            pairs.map(|standing| standing.pairs())
        };
        for b in ["mpgsk:hash=1", "m:depth=3,hash=1", "published:moves=1"] {
            let error = asked(b).expect_err(b).to_string();
            assert!(error.contains(&format!("from {ballots} ballots")) && error.contains("--games"), "{b}: {error}");
        }
        assert!(matches!(asked("m:movetime=0.01,hash=1"), Ok(0)), "the clock never does the same twice");
    }
}
