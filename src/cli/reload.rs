//! Settings read again while games run: all of them are checked first, and where anything is wrong nothing changes.

use std::sync::Arc;

use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use super::{runtime, settings_args::SettingsArgs};
use crate::settings::Loaded;
use bot::session::{Control, PlayerSettings, control::Reload};

/// The tables, and keys of tables, that are looked at only when the program starts.
const AT_START: [&str; 8] = ["servers", "journal", "cluster", "log", "web", "webhook", "report", "shutdown"];

/// Receivers of new settings beside the accounts.
pub(super) struct Followers {
    /// Ends the reading of the lists of names that hold now.
    pub lists: CancellationToken,
    pub page_player: watch::Sender<PlayerSettings>,
}

/// Earlier settings, and their receivers.
struct KnownSettings {
    first: Loaded,
    last: Loaded,
    followers: Followers,
}

/// Reads the settings again from where they were `loaded`, and lets the accounts of `control` and the `followers` do as
/// they say.
pub(super) fn of(args: SettingsArgs, loaded: Loaded, control: Control, followers: Followers) -> Reload {
    let known = Arc::new(Mutex::new(KnownSettings { first: loaded.clone(), last: loaded, followers }));
    Arc::new(move || {
        let (args, control, known) = (args.clone(), control.clone(), Arc::clone(&known));
        Box::pin(async move {
            let mut known = known.lock().await;
            let loaded = args.load().map_err(|failure| failure.to_string())?;
            // How to end was settled when the program began.
            let mut settings = loaded.settings.clone();
            settings.shutdown = known.first.settings.shutdown.clone();
            // Files are read and engines asked what they play.
            let lists = CancellationToken::new();
            let others_hold = lists.clone();
            let rules = tokio::task::spawn_blocking(move || runtime::rules(&settings, others_hold)).await;
            let rules = rules.map_err(|error| error.to_string())?.map_err(|failure| failure.to_string())?;
            let said = difference(&known, &loaded);
            control.adopt(rules).await;
            std::mem::replace(&mut known.followers.lists, lists).cancel();
            known.followers.page_player.send_replace(loaded.settings.player.clone());
            known.last = loaded;
            Ok(said)
        })
    })
}

/// Returns the keys that new settings change now, and those that they change after a restart.
fn difference(known: &KnownSettings, new: &Loaded) -> String {
    let mut now = known.last.changed_keys(new);
    now.retain(|key| !is_read_at_start(key));
    let mut later = known.first.changed_keys(new);
    later.retain(|key| is_read_at_start(key));
    let now = match now.as_slice() {
        [] => "settings reloaded; nothing changed".to_owned(),
        keys => format!("settings reloaded; changed from the next game or decision on: {}", keys.join(", ")),
    };
    match later.as_slice() {
        [] => now,
        [key] => format!("{now}; {key} needs a restart"),
        keys => format!("{now}; these need a restart: {}", keys.join(", ")),
    }
}

fn is_read_at_start(key: &str) -> bool {
    AT_START.iter().any(|start| key.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}
