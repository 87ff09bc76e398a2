//! Checks settings against each other, and against this machine.

use std::path::Path as FilePath;

use jiff::tz::TimeZone;

use super::{
    LogSettings, Problem, Protocol, ServerSettings, Settings,
    layers::Layers,
    problem::{dotted, written},
    values::rank,
};
use bot::{policy::Conditions, session::PlayerSettings};
use council::{ElectorSettings, Roster};
use platform::{fics::FicsSettings, lichess::ServerUrl};
use util::Fault;

/// Adds all problems, except those that only follow from a value already reported.
pub(super) fn check(settings: &Settings, layers: &Layers, problems: &mut Vec<Problem>) {
    problems.extend(faults(settings).into_iter().filter_map(|fault| problem(fault, layers)));
}

fn faults(settings: &Settings) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut add = |table: &[&str], found: Vec<Fault>| {
        let below = |fault: Fault| table.iter().rev().fold(fault, |fault, table| fault.below(table));
        faults.extend(found.into_iter().map(below));
    };
    if settings.time_zone != "local" && TimeZone::get(&settings.time_zone).is_err() {
        add(&[], vec![Fault::value("time_zone", "local, UTC or a name such as Europe/Rome")]);
    }
    for (name, server) in &settings.servers {
        add(&["servers", name], self::server(server));
    }
    add(&["challenge"], settings.challenge.faults());
    add(&["challenge"], files("block_files", &settings.challenge.block_files));
    add(&["challenge"], addresses("block_urls", &settings.challenge.block_urls));
    add(&["challenge"], files("allow_files", &settings.challenge.allow_files));
    add(&["matchmaking"], settings.matchmaking.faults());
    add(&["matchmaking"], files("avoid_files", &settings.matchmaking.avoid_files));
    add(&["matchmaking"], addresses("avoid_urls", &settings.matchmaking.avoid_urls));
    add(&["tournament"], settings.tournament.faults());
    add(&["chat"], settings.chat.faults());
    add(&["player"], player(&settings.player));
    for (name, profile) in &settings.profiles {
        add(&["profiles", name], player(&profile.player));
        if profile.when == Conditions::default() {
            let accepted = "at least one condition, such as { speed = \"blitz\" }";
            add(&["profiles", name], vec![Fault::value("when", accepted)]);
        }
    }
    add(&["cluster"], settings.cluster.faults());
    add(&["web"], settings.web.faults());
    add(&["webhook"], settings.webhook.faults());
    if !LogSettings::is_filter(&settings.log.level) {
        add(&["log"], vec![Fault::value("level", LogSettings::ACCEPTED)]);
    }
    faults
}

fn server(server: &ServerSettings) -> Vec<Fault> {
    let mut faults = Vec::new();
    let is_fics = server.protocol == Protocol::Fics;
    if !is_fics && server.address().parse::<ServerUrl>().is_err() {
        faults.push(Fault::value("url", "https://..., or http://... only to localhost, 127.0.0.1 or [::1]"));
    }
    if !is_fics && server.fics != FicsSettings::default() {
        faults.push(Fault::value("protocol", "\"fics\" beside a table fics, which means nothing to Lichess"));
    }
    if is_fics && server.fics().is_err() {
        faults.push(Fault::value("url", "HOST:PORT, such as freechess.org:5000"));
    }
    if server.enabled && is_fics && server.fics.password_file.as_ref().is_some_and(|file| !file.is_file()) {
        faults.push(Fault::value("password_file", "a file that exists and holds the password").below("fics"));
    }
    if server.enabled && server.token_file().is_some_and(|file| !file.is_file()) {
        faults.push(Fault::value("token_file", "a file that exists and holds the token"));
    }
    faults
}

fn player(player: &PlayerSettings) -> Vec<Fault> {
    let mut faults: Vec<Fault> =
        files("files", &player.book.files).into_iter().map(|fault| fault.below("book")).collect();
    faults.extend(player.online.faults().into_iter().map(|fault| fault.below("online")));
    if let Err(error) = Roster::from_settings(&player.council) {
        faults.push(Fault::value(error.key, error.accepted).below("council"));
    }
    let custom = player.council.electors.iter().filter(|_| player.council.roster == "custom");
    let programs: Vec<_> = custom.filter_map(ElectorSettings::program).collect();
    let engine = programs.iter().find(|program| program.file().is_none()).map(|program| &program.path);
    let folder = programs.iter().filter_map(|program| program.working_dir.as_ref()).find(|folder| !folder.is_dir());
    for (what, missing) in [("engines", engine), ("working folders", folder)] {
        faults.extend(missing.map(|missing| {
            let accepted = format!("{what} that exist ({} does not)", missing.display());
            Fault::value("electors", accepted).below("council")
        }));
    }
    if let Some(missing) = player.tablebases.paths.iter().find(|path| !path.is_dir()) {
        let accepted = format!("folders that exist ({} does not)", missing.display());
        faults.push(Fault::value("paths", accepted).below("tablebases"));
    }
    faults
}

fn addresses(key: &str, addresses: &[String]) -> Vec<Fault> {
    let wrong = addresses.iter().find(|address| !address.starts_with("https://") && !address.starts_with("http://"));
    let fault = |wrong| Fault::value(key, format!("addresses that begin with https:// ({wrong} does not)"));
    wrong.map(fault).into_iter().collect()
}

fn files(key: &str, files: &[impl AsRef<FilePath>]) -> Vec<Fault> {
    let missing = files.iter().map(AsRef::as_ref).filter(|path| !path.is_file());
    missing.map(|path| Fault::value(key, format!("files that exist ({} does not)", path.display()))).collect()
}

fn problem(fault: Fault, layers: &Layers) -> Option<Problem> {
    let value = |path: &[String]| layers.get(path).as_ref().map(written);
    let place = |key: &[String]| {
        let key = layers.written_at(key.to_vec());
        let known = layers.mended.iter().any(|path| path.starts_with(&key) || key.starts_with(path));
        (!known).then_some(key)
    };
    match fault {
        Fault::Value { key, accepted } => {
            let key = place(&key)?;
            let accepted = format!("expected {accepted}");
            Some(Problem::of_value(&layers.origin(&key, None), &key, value(&key).as_deref(), &accepted))
        }
        Fault::Order { low, high } => {
            let (low, high) = (place(&low)?, place(&high)?);
            let (low_origin, high_origin) = (layers.origin(&low, None), layers.origin(&high, None));
            // The value set last is to blame.
            let (origin, key, bound, other) = if rank(&high_origin) > rank(&low_origin) {
                (high_origin, high, "at least", low)
            } else {
                (low_origin, low, "at most", high)
            };
            let accepted = format!("expected {bound} {} ({})", dotted(&other), value(&other).unwrap_or_default());
            Some(Problem::of_value(&origin, &key, value(&key).as_deref(), &accepted))
        }
    }
}
