//! Settings of tournaments.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use domain::{
    Speed, Tournament, TournamentEntry, TournamentInfo, TournamentKind, Variant,
    values::{Mode, TimeControlRule},
};
use util::{
    Fault, Secret, SecretError,
    values::{HoursOfDay, Seconds, SecondsOrNone, named},
};

util::settings! {
    pub struct TournamentSettings {
        /// Join tournaments automatically. Needs `teams` or `join`. The token needs the scope
        /// tournament:write.
        pub enabled: bool = false,
        /// Teams whose tournaments are joined, by the last word of their address, such as
        /// `["lichess-bots"]`.
        pub teams: Vec<String> = Vec::new(),
        /// Tournaments that are joined in any case, by the address of their page; the team to play for
        /// and the password where a tournament needs them:
        ///
        /// ```toml
        /// [{ tournament = "https://lichess.org/tournament/abcd1234", team = "my-team", password_file = "arena.password" }]
        /// ```
        pub join: Vec<NamedTournament> = Vec::new(),
        /// This and the next five keys choose among the tournaments of the teams. Kinds: "arena" or
        /// "swiss".
        pub kinds: Vec<TournamentKind> = vec![TournamentKind::Arena, TournamentKind::Swiss],
        /// Variants, as in `challenge.variants`.
        pub variants: Vec<Variant> = vec![Variant::Standard, Variant::Chess960, Variant::FromPosition],
        /// Speeds or time controls, as in `challenge.time_controls`.
        pub time_controls: Vec<TimeControlRule> = [Speed::Bullet, Speed::Blitz, Speed::Rapid].map(TimeControlRule::Speed).to_vec(),
        /// Modes: "rated", "casual" or both.
        pub modes: Vec<Mode> = vec![Mode::Rated, Mode::Casual],
        /// The longest tournament, in seconds. 60 to 604800, or "none".
        #[serde(with = "SecondsOrNone::<60, 604800>")]
        pub max_duration: Option<Duration> = None,
        /// Longest time before its start at which a tournament is joined, in seconds. 0 to 604800.
        #[serde(with = "Seconds::<0, 604800>")]
        pub ahead: Duration = Duration::from_mins(10),
        /// Interval of fetching lists and states of tournaments, in seconds. 60 to 86400.
        #[serde(with = "Seconds::<60, 86400>")]
        pub look_every: Duration = Duration::from_mins(5),
        /// Hours for tournaments, as in `challenge.hours`. A tournament that still runs then is left,
        /// and joined again when the hours come.
        pub hours: Vec<HoursOfDay> = Vec::new(),
    }
}

/// A tournament named in the settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedTournament {
    /// The address of its page, or its last word.
    pub tournament: Tournament,
    /// The team we play for, where teams play each other.
    #[serde(default)]
    pub team: String,
    /// The file with the password in its first line; empty for none.
    #[serde(default)]
    pub password_file: PathBuf,
}

impl NamedTournament {
    /// Returns the entry with the password from its file; an error if there is such a file and it gives none.
    pub fn entry(&self) -> Result<TournamentEntry, SecretError> {
        let password = named(&self.password_file).map(|file| Secret::read("password of a tournament", file));
        Ok(TournamentEntry {
            tournament: self.tournament.clone(),
            team: Some(self.team.clone()).filter(|team| !team.is_empty()),
            password: password.transpose()?,
            pair_now: false,
        })
    }
}

impl TournamentSettings {
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.enabled && self.teams.is_empty() && self.join.is_empty() {
            let accepted = r#"false, or where to look, such as teams = ["lichess-bots"]"#;
            faults.push(Fault::value("enabled", accepted));
        }
        let plain = |name: &String| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if !self.teams.iter().all(plain) {
            faults.push(Fault::value("teams", "the last words of teams' addresses, such as \"lichess-bots\""));
        }
        let there = |entry: &NamedTournament| named(&entry.password_file).is_none_or(Path::is_file);
        if !self.join.iter().all(there) {
            faults.push(Fault::value("join", "password files that exist"));
        }
        faults
    }

    pub(super) fn objection(&self, info: &TournamentInfo) -> Option<&'static str> {
        let mode = if info.terms.rated { Mode::Rated } else { Mode::Casual };
        let duration = info.starts_at.zip(info.ends_at).map(|(from, to)| to.duration_since(from).unsigned_abs());
        if info.tournament.kind.is_none_or(|kind| !self.kinds.contains(&kind)) {
            Some("its kind is not among tournament.kinds")
        } else if !self.variants.contains(&info.terms.variant) {
            Some("its variant is not among tournament.variants")
        } else if !self.time_controls.iter().any(|rule| rule.covers(info.terms.time_control)) {
            Some("its clock is not among tournament.time_controls")
        } else if !self.modes.contains(&mode) {
            Some("rated or casual as it is, it is not among tournament.modes")
        } else if duration.zip(self.max_duration).is_some_and(|(duration, most)| duration > most) {
            Some("it lasts longer than tournament.max_duration")
        } else {
            None
        }
    }
}
