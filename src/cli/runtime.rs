//! Builds the runtime of a session from the settings.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{Failure, lists};
use crate::{frontend, settings::Settings};
use bot::{
    journal::Journal,
    policy::profile,
    session::{AccountPolicy, ChoosePlayer, Control, EventBus, PlayerError, PlayerSettings, PreparedPlayer, Runtime},
};
use cluster::{ClusterClient, ClusterSettings};
use council::{
    CouncilSettings, ElectorSettings,
    electors::{EngineProgram, Pool, RemotePool, variants_of},
};
use domain::{GameInfo, Variant};
use sources::{BookSettings, Library};
use util::Shutdown;

/// Builds the shared parts of all accounts. Foreign engines are started once, to learn their variants. The lists of names are
/// followed until `others_hold`.
pub(super) fn build(
    settings: &Settings,
    journal: Journal,
    event_bus: EventBus,
    shutdown: &Shutdown,
    others_hold: CancellationToken,
) -> Result<Runtime, Failure> {
    let (player, policy) = rules(settings, others_hold)?;
    let pool = Pool::with_remote(0, remote_pool(&settings.cluster, shutdown.now.child_token()));
    let control = Control::new(shutdown.clone());
    Ok(Runtime { pool, event_bus, policy, control, ..Runtime::new(journal, player) })
}

/// Returns the choice of players and the policy of the settings. Foreign engines are started once. The lists of names are updated
/// until `others_hold`.
pub(super) fn rules(
    settings: &Settings,
    others_hold: CancellationToken,
) -> Result<(ChoosePlayer, Arc<AccountPolicy>), Failure> {
    let (base, named) = players(settings)?;
    let known = variants(std::iter::once(&base).chain(named.values()))?;
    let others = variant_players(settings, &known)?;
    let newer_lists = lists::follow(Arc::new(settings.clone()), others_hold)?;
    // Including the names known from URLs.
    let known_lists = newer_lists.borrow().clone();
    let policy = AccountPolicy {
        challenge: settings.challenge.clone(),
        matchmaking: settings.matchmaking.clone(),
        tournament: settings.tournament_policy()?,
        lists: known_lists,
        newer_lists: Some(newer_lists),
        chat: settings.chat.clone(),
        variants: known.into_iter().chain(others.keys().copied()).collect(),
        keep_limits: true,
        time_zone: settings.zone(),
        games_at_shutdown: settings.shutdown.games,
    };
    let profiles = settings.profiles.clone();
    let choose = move |game: &GameInfo| {
        if let Some(player) = others.get(&game.terms.variant) {
            return Arc::clone(player);
        }
        let name = profile::choose(&profiles, game);
        tracing::debug!(game = %game.id, profile = name.unwrap_or("player"), "how the game is played");
        Arc::clone(name.and_then(|name| named.get(name)).unwrap_or(&base))
    };
    Ok((Arc::new(choose), Arc::new(policy)))
}

/// Connects to the workers of the cluster until `stop`, if the settings name a server.
pub(super) fn remote_pool(cluster: &ClusterSettings, stop: CancellationToken) -> Option<Arc<dyn RemotePool>> {
    cluster.is_on().then(|| Arc::new(ClusterClient::join(cluster.clone(), stop)) as _)
}

/// Gives connected workers a moment to answer, for a council that begins at once.
pub(super) async fn hear_from(remote_pool: Option<&Arc<dyn RemotePool>>) {
    const MOMENT: Duration = Duration::from_secs(2);
    let begun = Instant::now();
    while remote_pool.is_some_and(|remote_pool| remote_pool.cores(None).is_empty()) && begun.elapsed() < MOMENT {
        sleep(Duration::from_millis(10)).await;
    }
}

/// Returns the setup of the council under a chess program, with its remote workers.
pub(super) async fn setup(settings: &Settings) -> Result<frontend::Setup, Failure> {
    let remote_pool = remote_pool(&settings.cluster, CancellationToken::new());
    hear_from(remote_pool.as_ref()).await;
    let PreparedPlayer { settings, library, .. } = prepare("player", &settings.player)?;
    let mut setup = frontend::Setup::new(settings.council, &settings.clock).with_library(Library::clone(&library));
    setup.remote_pool = remote_pool;
    setup.limits = (&settings.limits).into();
    (setup.draw, setup.resign) = (settings.draw, settings.resign);
    Ok(setup)
}

/// Checks the rosters, books and tables of the settings, and the protocols of the engines: each is
/// started once.
pub(super) fn check(settings: &Settings) -> Result<(), Failure> {
    playable(settings)?;
    web::secret_for(&settings.web).map(drop).map_err(Failure::usage)
}

/// Returns the variants of the settings' engines. Each engine is started once.
pub(super) fn playable(settings: &Settings) -> Result<Vec<Variant>, Failure> {
    let (base, named) = players(settings)?;
    let known = variants(std::iter::once(&base).chain(named.values()))?;
    let others = variant_players(settings, &known)?;
    Ok(known.into_iter().chain(others.into_keys()).collect())
}

/// Returns the player of each accepted variant that no engine of the settings plays: the engine that plays every variant of Lichess,
/// if it is installed.
fn variant_players(settings: &Settings, known: &[Variant]) -> Result<BTreeMap<Variant, Arc<PreparedPlayer>>, Failure> {
    // Its name as distributions install it.
    const ENGINE: &str = "fairy-stockfish";
    let challenge = &settings.challenge;
    // Only settings that accept all variants leave the choice of their engine to the program.
    let accepts_all = |accepted: &[Variant]| Variant::ALL.iter().all(|variant| accepted.contains(variant));
    let mut missing = Variant::ALL.to_vec();
    missing.retain(|variant| !known.contains(variant));
    if !accepts_all(&challenge.human.variants) && !accepts_all(&challenge.bot.variants) {
        missing.clear();
    }
    let program = EngineProgram { path: ENGINE.into(), ..EngineProgram::default() };
    let Some(file) = program.file().filter(|_| !missing.is_empty()) else { return Ok(BTreeMap::new()) };
    let mut player = settings.player.clone();
    player.book = BookSettings::default();
    player.council.roster = "custom".to_owned();
    player.council.advisers = String::new();
    player.council.electors =
        vec![ElectorSettings { engine: Some(file), name: Some(ENGINE.to_owned()), ..Default::default() }];
    player.council.options.clear();
    let player = Arc::new(prepare(ENGINE, &player)?);
    let plays = variants(std::iter::once(&player)).unwrap_or_else(|failure| {
        tracing::warn!("{ENGINE}: {failure}; variants it would play are declined");
        Vec::new()
    });
    missing.retain(|variant| plays.contains(variant));
    Ok(missing.into_iter().map(|variant| (variant, Arc::clone(&player))).collect())
}

type ProfilePlayers = BTreeMap<String, Arc<PreparedPlayer>>;

fn players(settings: &Settings) -> Result<(Arc<PreparedPlayer>, ProfilePlayers), Failure> {
    warn_of_idle_electors(settings);
    let base = prepare("player", &settings.player)?;
    let named = settings.profiles.iter().map(|(name, profile)| {
        let player = prepare(&format!("profiles.{name}"), &profile.player)?;
        Ok((name.clone(), Arc::new(player)))
    });
    Ok((Arc::new(base), named.collect::<Result<_, Failure>>()?))
}

/// Warns of listed electors in no roster: they were meant to play.
fn warn_of_idle_electors(settings: &Settings) {
    let base = &settings.player.council;
    let profiles = settings.profiles.iter().map(|(name, profile)| (name, &profile.player.council));
    let names_electors = |council: &CouncilSettings| council.roster == "custom";
    let warn = |table: &str, council: &CouncilSettings| {
        tracing::warn!(
            "{table}.electors: roster = {:?} uses other electors; set roster = \"custom\" to use these",
            council.roster
        );
    };
    if !base.electors.is_empty()
        && !names_electors(base)
        && !profiles.clone().any(|(_, council)| names_electors(council))
    {
        warn("player.council", base);
    }
    for (name, council) in profiles {
        if council.electors != base.electors && !council.electors.is_empty() && !names_electors(council) {
            warn(&format!("profiles.{name}.council"), council);
        }
    }
}

fn prepare(table: &str, settings: &PlayerSettings) -> Result<PreparedPlayer, Failure> {
    let prepared = PreparedPlayer::new(settings.clone()).map_err(|error| match error {
        PlayerError::Roster(error) => Failure::usage(format_args!("{table}.{error}")),
        PlayerError::Library(error) => Failure::usage(error),
        PlayerError::Online(error) => Failure::usage(format_args!("{table}.{error}")),
    })?;
    let missing = prepared.roster.missing_knowledge();
    if !missing.is_empty() {
        tracing::warn!("{table}: no elector of the roster knows {missing}");
    }
    Ok(prepared)
}

/// Returns the variants that any of the rosters can play. An engine that does not start now,
/// perhaps because its machine is off, costs its vote until it does; a roster without any engine
/// that starts is a mistake.
fn variants<'a>(players: impl Iterator<Item = &'a Arc<PreparedPlayer>>) -> Result<Vec<Variant>, Failure> {
    let mut known = Vec::new();
    for player in players {
        let (mut starts, mut failure) = (false, None);
        for elector in player.roster.electors() {
            match variants_of(elector) {
                Ok(playable) => {
                    starts = true;
                    known.extend(playable);
                }
                Err(error) => {
                    let error = format!("elector {}: {error}", elector.name);
                    tracing::warn!("elector has no vote until its engine starts: {error}");
                    failure.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failure.filter(|_| !starts) {
            return Err(Failure::usage(error));
        }
    }
    Ok(Variant::ALL.into_iter().filter(|variant| known.contains(variant)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the variants of a council with `others` and an engine on a machine that is off.
    fn playable(others: Vec<ElectorSettings>) -> Result<Vec<Variant>, Failure> {
        let engine = "sh -c exit".into();
        let off =
            ElectorSettings { engine: Some(engine), name: Some("attic".to_owned()), ..ElectorSettings::default() };
        let mut settings = PlayerSettings::default();
        settings.council.roster = "custom".to_owned();
        settings.council.electors = std::iter::once(off).chain(others).collect();
        let player = Arc::new(prepare("player", &settings)?);
        variants(std::iter::once(&player))
    }

    #[test]
    fn absent_remote_engine_allows_play() {
        let ours = ElectorSettings { knowledge: "mbxkcpar".parse().ok(), ..ElectorSettings::default() };
        assert!(playable(vec![ours]).is_ok_and(|variants| variants.contains(&Variant::Standard)));
        assert!(playable(Vec::new()).is_err_and(|failure| failure.to_string().contains("elector attic")));
    }
}
