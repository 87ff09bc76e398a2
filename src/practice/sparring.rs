//! Players that live in the server: they accept every challenge and move by themselves, at once.
//!
//! A sparring player is an account like any other; it listens and plays through the server's state, and only its moves come from a
//! [`Sparring`] instead of a wire. It plays any number of games at the same time.

use std::sync::{Arc, atomic::AtomicBool};

use async_trait::async_trait;
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use shakmaty::{Move, Position as _, Role, variant::VariantPosition};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{
    account::AccountId,
    game::{PracticeGame, Stop},
    state::{BoardEvent, GameView, ListenerKey, PracticeAccountEvent, ServerStopped, StateHandle},
};
use domain::{Color, GameId, Line, UciMove, engine_position};
use engine::{Engine, EngineOptions, Limits};

#[async_trait]
pub trait Sparring: Send + Sync + 'static {
    /// A legal move in the last position of the game's line, in which there is at least one.
    async fn choose(&self, game: &GameView) -> Option<UciMove>;

    fn accepts_draw(&self, _game: &GameView) -> bool {
        false
    }

    /// Returns true to grant the opponent's request to abort or adjourn.
    fn grants_stop(&self, _game: &GameView, _stop: Stop) -> bool {
        true
    }

    fn grants_takeback(&self, _game: &GameView) -> bool {
        true
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SparringKind {
    Random,
    /// Mates when it can, takes the most valuable piece it can, and otherwise moves by lot.
    Greedy,
    /// The built-in engine with complete knowledge and a number of nodes a move.
    Engine {
        /// Nodes of each search, at least one.
        nodes: u64,
    },
    /// Plays these moves, in UCI notation, whenever the next one is legal; otherwise moves like [`Self::Greedy`].
    Script(Vec<UciMove>),
}

impl SparringKind {
    /// Returns the initial points: enough that other bots' matchmaking finds the player.
    pub const fn points(&self) -> i32 {
        match self {
            Self::Random => 800,
            Self::Greedy | Self::Script(_) => 1200,
            Self::Engine { .. } => 2200,
        }
    }

    pub fn player(self) -> Arc<dyn Sparring> {
        Arc::new(self)
    }
}

#[async_trait]
impl Sparring for SparringKind {
    async fn choose(&self, game: &GameView) -> Option<UciMove> {
        let found = match self {
            Self::Random => return game.line.legal_moves().choose(&mut rng_of(game)).copied(),
            Self::Greedy => None,
            Self::Engine { nodes } => {
                let (line, nodes) = (game.line.clone(), *nodes);
                // Searches block, so they run where blocking is allowed.
                tokio::task::spawn_blocking(move || engine_move(&line, nodes)).await.ok().flatten()
            }
            Self::Script(moves) => moves.get(game.line.ply() / 2).copied().filter(|uci| game.line.is_legal(*uci)),
        };
        found.or_else(|| greedy_move(&game.line, &mut rng_of(game)))
    }

    fn accepts_draw(&self, _game: &GameView) -> bool {
        matches!(self, Self::Greedy | Self::Engine { .. })
    }
}

/// Returns the engine's move after `nodes` nodes, from a clean table: the same position gives the
/// same move.
fn engine_move(line: &Line, nodes: u64) -> Option<UciMove> {
    if !line.variant().is_standard_rules() {
        return None;
    }
    let position = engine_position(line).ok()?;
    let mut engine = Engine::new(EngineOptions { hash: 1, ..EngineOptions::default() });
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let found = engine.search(&position, &[], &limits, &AtomicBool::new(false), &mut |_| {})?;
    position.move_to_uci(found.best).parse().ok()
}

/// The rng of one position of one game: the same game is played the same way again.
fn rng_of(game: &GameView) -> StdRng {
    let seed =
        game.pairing.id.as_str().bytes().fold(game.line.ply() as u64, |seed, byte| {
            seed.wrapping_mul(0x0100_0000_01b3).wrapping_add(u64::from(byte))
        });
    StdRng::seed_from_u64(seed)
}

fn greedy_move(line: &Line, rng: &mut StdRng) -> Option<UciMove> {
    let position = line.position();
    let worth = |mv: &Move| -> u32 {
        let mut after: VariantPosition = position.clone();
        after.play_unchecked(*mv);
        let wins = after.outcome().winner() == Some(position.turn());
        let gain = mv.capture().map_or(0, value) + mv.promotion().map_or(0, value);
        if wins { u32::MAX } else { gain * 100 + rng.random_range(0..100) }
    };
    position.legal_moves().iter().copied().max_by_key(worth).map(|mv| mv.to_uci(line.castling_mode()))
}

const fn value(role: Role) -> u32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 4,
    }
}

/// Runs a player: handles its account's events until `stop` is cancelled.
pub(super) async fn attend(
    server_state: StateHandle,
    account: AccountId,
    player: Arc<dyn Sparring>,
    stop: CancellationToken,
) -> Result<(), ServerStopped> {
    let key = ListenerKey { account: account.clone(), client: "sparring".to_owned() };
    let listening = key.clone();
    let mut events = server_state.ask(move |state| state.listen(listening)).await?;
    tokio::spawn(stop.run_until_cancelled_owned(async move {
        let mut games = JoinSet::new();
        while let Some(event) = events.next().await {
            while games.try_join_next().is_some() {}
            match event {
                PracticeAccountEvent::Challenge(challenge) if challenge.dest.account == account => {
                    let by = account.clone();
                    // It may have been withdrawn meanwhile, or a limit be reached: then there is no
                    // game.
                    let _ = server_state.ask(move |state| state.accept(&challenge.id, &by)).await;
                }
                PracticeAccountEvent::GameStart(view) => {
                    if let Some(color) = view.pairing.color_of(&account) {
                        let id = view.pairing.id.clone();
                        games.spawn(play(server_state.clone(), key.clone(), id, color, Arc::clone(&player)));
                    }
                }
                PracticeAccountEvent::ResumeOffer(view)
                    if view.pairing.color_of(&account).is_some_and(|color| view.resume_offer == Some(!color)) =>
                {
                    let (id, by) = (view.pairing.id.clone(), account.clone());
                    let _ = server_state.ask(move |state| state.resume(&id, &by, true)).await;
                }
                _ => {}
            }
        }
    }));
    Ok(())
}

async fn play(
    server_state: StateHandle,
    key: ListenerKey,
    id: GameId,
    color: Color,
    player: Arc<dyn Sparring>,
) -> Result<(), ServerStopped> {
    let me = key.account.clone();
    let board = id.clone();
    let Ok(mut events) = server_state.ask(move |state| state.join(&board, key)).await? else { return Ok(()) };
    let mut answered = None;
    while let Some(event) = events.next().await {
        let (BoardEvent::Full(view) | BoardEvent::State(view)) = event else { continue };
        let (id, me) = (id.clone(), me.clone());
        let theirs = Some(!color);
        let stops = [(view.abort_offer, Stop::Abort), (view.adjourn_offer, Stop::Adjourn)];
        if view.takeback_offer.is_some_and(|(by, _)| by != color) {
            let yes = player.grants_takeback(&view);
            answered = None;
            let takeback = move |game: &mut PracticeGame, color, now| game.takeback(color, yes, now);
            let _ = server_state.ask(move |state| state.act(&id, &me, takeback)).await?;
        } else if let Some((_, stop)) = stops.into_iter().find(|(by, _)| *by == theirs) {
            let yes = player.grants_stop(&view, stop);
            let stop = move |game: &mut PracticeGame, color, now| game.stop(color, stop, yes, now);
            let _ = server_state.ask(move |state| state.act(&id, &me, stop)).await?;
        } else if view.draw_offer == theirs && player.accepts_draw(&view) {
            let draw = |game: &mut PracticeGame, color, now| game.draw(color, true, now);
            let _ = server_state.ask(move |state| state.act(&id, &me, draw)).await?;
        } else if view.is_turn_of(color)
            && answered != Some(view.line.ply())
            && let Some(uci) = player.choose(&view).await
        {
            answered = Some(view.line.ply());
            let _ = server_state.ask(move |state| state.play(&id, &me, uci, None)).await?;
        }
    }
    Ok(())
}
