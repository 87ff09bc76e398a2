//! Settings read again while games run: all of them are checked first, and a mistake leaves all settings as they are.

use std::sync::Arc;

use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use super::{runtime, settings_args::SettingsArgs};
use crate::settings::Loaded;
use bot::session::{Control, PlayerSettings, control::Reload};

/// The tables and keys that are read at the start only.
const AT_START: [&str; 8] = ["servers", "journal", "cluster", "log", "web", "webhook", "report", "shutdown"];

/// Reads the settings again from where they were `loaded`, and lets the accounts of `control` and the page do as they say. `lists` ends
/// the reading of the lists of names that hold now.
pub(super) fn of(
    args: SettingsArgs,
    loaded: Loaded,
    control: Control,
    lists: CancellationToken,
    page_player: watch::Sender<PlayerSettings>,
) -> Reload {
    let first = Arc::new(loaded.clone());
    let known = Arc::new(Mutex::new((loaded, lists)));
    Arc::new(move || {
        let (args, control, page_player) = (args.clone(), control.clone(), page_player.clone());
        let (first, known) = (Arc::clone(&first), Arc::clone(&known));
        Box::pin(async move {
            let mut known = known.lock().await;
            let (last, last_lists) = &mut *known;
            let loaded = args.load().map_err(|failure| failure.to_string())?;
            // The table `shutdown` is read at the start only.
            let mut settings = loaded.settings.clone();
            settings.shutdown = first.settings.shutdown.clone();
            // Files are read, and engines are started to learn their variants.
            let lists = CancellationToken::new();
            let others_hold = lists.clone();
            let rules = tokio::task::spawn_blocking(move || runtime::rules(&settings, others_hold)).await;
            let (player, policy) = rules.map_err(|error| error.to_string())?.map_err(|failure| failure.to_string())?;
            let said = difference(&first, last, &loaded);
            control.adopt(player, policy).await;
            std::mem::replace(last_lists, lists).cancel();
            page_player.send_replace(loaded.settings.player.clone());
            *last = loaded;
            Ok(said)
        })
    })
}

/// Returns the keys that new settings change now, and those that they change after a restart.
fn difference(first: &Loaded, last: &Loaded, new: &Loaded) -> String {
    let mut now = last.changed_keys(new);
    now.retain(|key| !is_read_at_start(key));
    let mut later = first.changed_keys(new);
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
