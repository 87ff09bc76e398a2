//! From settings to a runtime: what the session needs, made of what the operator wrote.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{Failure, lists};
use crate::{
    frontend,
    settings::{BookSelection, LimitSettings, PlayerSettings, Settings},
};
use bot::{
    journal::Journal,
    session::{AccountPolicy, EventBus, GameSettings, Runtime},
};
use chess::{GameInfo, Limits, Shutdown, Variant};
use cluster::{ClusterClient, ClusterSettings};
use council::{
    council::Roster,
    player::{BookChoice, Library},
    pool::{Pool, RemotePool, variants_of},
};

/// Builds what all accounts share. Electors that are foreign engines are started once, to learn what they can play.
pub(super) fn build(
    settings: &Settings,
    journal: Journal,
    event_bus: EventBus,
    shutdown: &Shutdown,
) -> Result<Runtime, Failure> {
    let (base, named) = players(settings)?;
    let policy = AccountPolicy {
        challenge: settings.challenge.clone(),
        matchmaking: settings.matchmaking.clone(),
        lists: settings.name_lists()?,
        newer_lists: Some(lists::follow(Arc::new(settings.clone()))?),
        avoid: settings.names_to_avoid()?,
        chat: settings.chat.clone(),
        variants: variants(std::iter::once(&base).chain(named.values()))?,
        keep_limits: true,
        time_zone: settings.zone(),
        games_at_shutdown: settings.shutdown.games,
    };
    let pool = Pool::with_remote(0, remote_pool(&settings.cluster, shutdown.now.child_token()));
    let settings = Arc::new(settings.clone());
    let choose = move |game: &GameInfo| {
        let (chosen, name) = settings.profiles().choose(game);
        let player = name.and_then(|name| named.get(name)).unwrap_or(&base);
        tracing::debug!(game = %game.id, profile = name.unwrap_or("player"), "how the game is played");
        player.for_game(chosen, &settings)
    };
    Ok(Runtime { journal, pool, event_bus, player: Arc::new(choose), policy: Arc::new(policy) })
}

/// Who lends cores to this machine until `stop`, if the settings name a server.
pub(super) fn remote_pool(cluster: &ClusterSettings, stop: CancellationToken) -> Option<Arc<dyn RemotePool>> {
    cluster.is_on().then(|| Arc::new(ClusterClient::join(cluster.clone(), stop)) as _)
}

/// Gives workers that are there a moment to say so, for councils that sit down at once.
pub(super) async fn hear_from(remote_pool: Option<&Arc<dyn RemotePool>>) {
    const MOMENT: Duration = Duration::from_secs(2);
    let begun = Instant::now();
    while remote_pool.is_some_and(|remote_pool| remote_pool.cores().together == 0) && begun.elapsed() < MOMENT {
        sleep(Duration::from_millis(10)).await;
    }
}

/// How the council plays under a chess program, with whoever lends cores to it as long as it lives.
pub(super) async fn setup(settings: &Settings) -> Result<frontend::Setup, Failure> {
    let remote_pool = remote_pool(&settings.cluster, CancellationToken::new());
    hear_from(remote_pool.as_ref()).await;
    let settings = &settings.player;
    let player = Player::new("player", settings)?;
    let setup = frontend::Setup::new(settings.council.clone(), &settings.clock);
    Ok(frontend::Setup {
        remote_pool,
        library: Library::clone(&player.library),
        limits: limits(settings),
        draw: settings.draw.clone(),
        resign: settings.resign.clone(),
        ..setup
    })
}

/// Whether the rosters, books and tables that the settings name are there.
pub(super) fn check(settings: &Settings) -> Result<(), Failure> {
    players(settings).map(drop)
}

/// The player and those of the profiles.
fn players(settings: &Settings) -> Result<(Player, BTreeMap<String, Player>), Failure> {
    let base = Player::new("player", &settings.player)?;
    let named = settings.profiles.iter().map(|(name, profile)| {
        let player = Player::new(&format!("profiles.{name}"), &profile.player)?;
        Ok((name.clone(), player))
    });
    Ok((base, named.collect::<Result<_, Failure>>()?))
}

/// A player's settings with what is made of them once.
struct Player {
    roster: Arc<Roster>,
    library: Arc<Library>,
}

impl Player {
    fn new(table: &str, settings: &PlayerSettings) -> Result<Self, Failure> {
        let roster = Roster::from_settings(&settings.council)
            .map_err(|error| Failure::usage(format_args!("{table}.{error}")))?;
        let missing = roster.missing_knowledge();
        if !missing.is_empty() {
            tracing::warn!("{table}: no elector of the roster knows {missing}");
        }
        let (book, tables) = (&settings.book, &settings.tablebases);
        let choice = match book.selection {
            BookSelection::Weighted => BookChoice::Weighted,
            BookSelection::Uniform => BookChoice::Uniform,
            BookSelection::Best => BookChoice::Best,
        };
        let library = Library::default()
            .with_books(&book.files, choice, book.min_weight, book.max_plies)
            .and_then(|library| library.with_tablebases(&tables.paths, tables.max_pieces))
            .map_err(Failure::usage)?;
        Ok(Self { roster: Arc::new(roster), library: Arc::new(library) })
    }

    fn for_game(&self, player: &PlayerSettings, settings: &Settings) -> GameSettings {
        GameSettings {
            roster: Arc::clone(&self.roster),
            council: player.council.clone(),
            library: Arc::clone(&self.library),
            clock: player.clock.clone(),
            limits: limits(player),
            ponder: player.ponder,
            draw: player.draw.clone(),
            resign: player.resign.clone(),
            abort: player.abort.clone(),
            claim: player.claim.clone(),
            takebacks: player.takebacks,
            chat: settings.chat.clone(),
        }
    }
}

fn limits(player: &PlayerSettings) -> Limits {
    let LimitSettings { time, nodes, depth } = player.limits;
    Limits { time, nodes, depth, clocks: None }
}

/// What any of the rosters can play.
fn variants<'a>(players: impl Iterator<Item = &'a Player>) -> Result<Vec<Variant>, Failure> {
    let mut known = Vec::new();
    for player in players {
        for elector in player.roster.electors() {
            let playable = variants_of(elector)
                .map_err(|error| Failure::usage(format_args!("elector {}: {error}", elector.name)))?;
            known.extend(playable);
        }
    }
    Ok(Variant::ALL.into_iter().filter(|variant| known.contains(variant)).collect())
}
