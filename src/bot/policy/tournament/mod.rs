//! Choice of tournaments, and presence in them.
//!
//! The session fetches the list of tournaments, and the state of one, as [`Participation::due`]
//! demands, and reports the answers. A tournament pairs only present players, so the bot reports its
//! presence again and again while an arena runs without a game of its own. At a stop, a pause or
//! the end of its hours the bot withdraws: no opponent is paired with it in vain. It keeps its
//! points and may return while the tournament runs.
//!
//! The bot plays one tournament at a time, and skips one that overlaps with another.

mod settings;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};

pub use settings::{NamedTournament, TournamentSettings};

use super::{matchmaking::rating_for, rate_limits::later};
use domain::{
    ActionError, Standing, Tournament, TournamentEntry, TournamentInfo, TournamentKind, TournamentStage, Variant,
};
use util::values::HoursOfDay;

/// The interval of reporting presence. An arena remembers a player for a minute.
const PRESENT_AGAIN: Duration = Duration::from_secs(50);
/// The least time between two requests to take part: a server counts them, thirty in ten minutes.
const BETWEEN_JOINS: Duration = Duration::from_secs(20);
/// The delay before another look at a tournament with an overdue start or end.
const OVERDUE: Duration = Duration::from_secs(10);
/// The time before the bot may join a tournament automatically after it left or was refused.
const SET_ASIDE: Duration = Duration::from_hours(24);

/// The settings of tournaments and the contents of their files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TournamentPolicy {
    pub settings: TournamentSettings,
    /// The entries of its `join`, with passwords.
    pub named: Vec<TournamentEntry>,
}

#[derive(Clone, Copy)]
pub struct TournamentSituation<'a> {
    /// In the time zone of the settings.
    pub now: &'a Zoned,
    pub policy: &'a TournamentPolicy,
    /// True if the bot begins new games and the server is connected.
    pub open: bool,
    /// The names of tournaments with a running game of the bot.
    pub playing: &'a BTreeSet<String>,
    pub variants: &'a [Variant],
    /// The bot's ratings by the server's names.
    pub ratings: &'a [(String, u32)],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TournamentStep {
    /// Fetch the tournaments of these teams, and those named in the settings.
    Look { teams: Vec<String>, named: Vec<Tournament> },
    /// Fetch the state of a tournament.
    Ask(Tournament),
    /// Join, or report presence.
    Join(TournamentEntry),
    /// Withdraw for now.
    Withdraw(Tournament),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TournamentNews {
    Joined,
    NotJoined(String),
    /// The end, with the final standing if it is known.
    Over(Option<Standing>),
}

/// News with the full name of the tournament.
pub type NamedNews = (String, TournamentNews);

/// Joined and known tournaments. The serialised fields outlive the process; passwords are not among them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Participation {
    joined: BTreeMap<Tournament, Membership>,
    /// Tournaments with the time from which on the bot may join automatically.
    set_aside: BTreeMap<Tournament, Timestamp>,
    #[serde(skip)]
    looked_at: Option<Timestamp>,
    /// The tournaments of the last list.
    #[serde(skip)]
    known: Vec<TournamentInfo>,
    /// Tournaments with a logged reason for not joining.
    #[serde(skip)]
    passed_over: BTreeSet<Tournament>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Membership {
    /// True if the operator ordered it; the hours of the settings do not apply then.
    ordered: bool,
    team: Option<String>,
    /// True if the server has ever accepted the bot.
    taken: bool,
    #[serde(skip)]
    presence: Presence,
    #[serde(skip)]
    info: Option<TournamentInfo>,
    #[serde(skip)]
    asked_at: Option<Timestamp>,
    #[serde(skip)]
    join_sent_at: Option<Timestamp>,
    /// True after a pairing: the server forgets a player after the game, so presence must be reported again.
    #[serde(skip)]
    paired: bool,
    /// True if joining was reported.
    #[serde(skip)]
    told: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Presence {
    /// Absent or unknown: a new process reports presence again.
    #[default]
    Away,
    Asked,
    There,
}

impl Membership {
    /// Returns the stage by the times of the last known state.
    fn stage(&self, now: Timestamp) -> Option<TournamentStage> {
        let info = self.info.as_ref()?;
        Some(match info.stage {
            TournamentStage::Over => TournamentStage::Over,
            _ if info.ends_at.is_some_and(|end| end <= now) => TournamentStage::Over,
            TournamentStage::Announced if info.starts_at.is_some_and(|start| start <= now) => TournamentStage::Running,
            stage => stage,
        })
    }

    fn ask_at(&self, look_every: Duration) -> Timestamp {
        let (Some(info), Some(asked_at)) = (&self.info, self.asked_at) else {
            return self.asked_at.map_or(Timestamp::MIN, |asked_at| later(asked_at, OVERDUE));
        };
        let regular = later(asked_at, look_every);
        let turn = match info.stage {
            TournamentStage::Announced => info.starts_at,
            TournamentStage::Running => info.ends_at,
            TournamentStage::Over => None,
        };
        // Once after the turn, then every few seconds until the server confirms it.
        turn.map_or(regular, |turn| regular.min(turn.max(later(asked_at, OVERDUE))))
    }

    fn overlaps(&self, other: &TournamentInfo) -> bool {
        let end = |info: &TournamentInfo| info.ends_at.unwrap_or(Timestamp::MAX);
        let start = |info: &TournamentInfo| info.starts_at.unwrap_or(Timestamp::MIN);
        self.info.as_ref().is_none_or(|ours| start(ours) < end(other) && start(other) < end(ours))
    }
}

impl Participation {
    pub fn members(&self) -> impl Iterator<Item = &Tournament> {
        self.joined.keys()
    }

    /// Returns true if a game of a tournament may begin at any moment: a place must be kept for it.
    pub fn awaits_game(&self, now: Timestamp, playing: &BTreeSet<String>) -> bool {
        self.joined.iter().any(|(tournament, member)| {
            member.presence == Presence::There
                && member.stage(now) == Some(TournamentStage::Running)
                && !playing.contains(&tournament.id)
        })
    }

    /// Returns the steps due now; they count as begun.
    pub fn due(&mut self, situation: &TournamentSituation) -> Vec<TournamentStep> {
        let now = situation.now.timestamp();
        self.set_aside.retain(|_, until| *until > now);
        if self.may_play(situation, false) {
            self.join_what_suits(situation);
        }
        for (tournament, member) in &mut self.joined {
            member.paired |= situation.playing.contains(&tournament.id);
        }
        let planned = self.plan(situation);
        let due = planned.into_iter().filter(|(at, _)| *at <= now).map(|(_, step)| step);
        due.inspect(|step| self.begun(step, now)).collect()
    }

    /// Returns the time of the next step without other events.
    pub fn next_wakeup(&self, situation: &TournamentSituation) -> Option<Timestamp> {
        // A suitable tournament may begin later than it may be joined.
        let upcoming = self.known.iter().filter(|info| !self.is_settled(&info.tournament));
        let joined_at = upcoming.filter_map(|info| info.starts_at?.checked_sub(situation.policy.settings.ahead).ok());
        let planned = self.plan(situation).into_iter().map(|(at, _)| at);
        planned.chain(joined_at.filter(|at| *at > situation.now.timestamp())).min()
    }

    fn may_play(&self, situation: &TournamentSituation, ordered: bool) -> bool {
        let settings = &situation.policy.settings;
        let by_settings = || settings.enabled && HoursOfDay::any_contains(&settings.hours, situation.now.time());
        situation.open && (ordered || by_settings())
    }

    /// Returns the steps due without other events, with their times.
    fn plan(&self, situation: &TournamentSituation) -> Vec<(Timestamp, TournamentStep)> {
        let now = situation.now.timestamp();
        let look_every = situation.policy.settings.look_every;
        let mut plan = Vec::new();
        if self.may_play(situation, false) {
            let free = |entry: &&TournamentEntry| !self.is_settled(&entry.tournament);
            let named = situation.policy.named.iter().filter(free).map(|entry| entry.tournament.clone()).collect();
            let look = TournamentStep::Look { teams: situation.policy.settings.teams.clone(), named };
            plan.push((self.looked_at.map_or(now, |at| later(at, look_every)), look));
        }
        for (tournament, member) in &self.joined {
            if situation.open {
                plan.push((member.ask_at(look_every), TournamentStep::Ask(tournament.clone())));
            }
            plan.extend(self.presence_step(tournament, member, situation));
        }
        plan
    }

    /// Returns the step towards the wanted presence, if it differs from the present one.
    fn presence_step(
        &self,
        tournament: &Tournament,
        member: &Membership,
        situation: &TournamentSituation,
    ) -> Option<(Timestamp, TournamentStep)> {
        let now = situation.now.timestamp();
        let running = match member.stage(now)? {
            TournamentStage::Over => return None,
            stage => stage == TournamentStage::Running,
        };
        let after = |pause| member.join_sent_at.map_or(now, |at| later(at, pause));
        let wanted = self.may_play(situation, member.ordered);
        let arena = member.info.as_ref().is_some_and(|info| info.tournament.kind == Some(TournamentKind::Arena));
        match (wanted, member.presence) {
            (true, Presence::Away) => {
                Some((after(BETWEEN_JOINS), TournamentStep::Join(entry(tournament, member, situation.policy, running))))
            }
            (true, Presence::There) if running && arena && !situation.playing.contains(&tournament.id) => {
                let pause = if member.paired { BETWEEN_JOINS } else { PRESENT_AGAIN };
                Some((after(pause), TournamentStep::Join(entry(tournament, member, situation.policy, true))))
            }
            // A mere entry in the list of a later tournament is kept.
            (false, Presence::There) if running => Some((now, TournamentStep::Withdraw(tournament.clone()))),
            _ => None,
        }
    }

    fn begun(&mut self, step: &TournamentStep, now: Timestamp) {
        let tournament = match step {
            TournamentStep::Look { .. } => {
                self.looked_at = Some(now);
                return;
            }
            TournamentStep::Join(entry) => &entry.tournament,
            TournamentStep::Ask(tournament) | TournamentStep::Withdraw(tournament) => tournament,
        };
        let Some(member) = self.joined.get_mut(tournament) else { return };
        match step {
            TournamentStep::Look { .. } => (),
            TournamentStep::Ask(_) => member.asked_at = Some(now),
            TournamentStep::Join(_) => {
                member.join_sent_at = Some(now);
                member.paired = false;
                if member.presence == Presence::Away {
                    member.presence = Presence::Asked;
                }
            }
            TournamentStep::Withdraw(_) => member.presence = Presence::Away,
        }
    }

    /// Returns true if a tournament is joined, or set aside. A name without a kind matches both kinds.
    fn is_settled(&self, tournament: &Tournament) -> bool {
        let same = |known: &Tournament| known.id == tournament.id;
        self.joined.keys().any(same) || self.set_aside.keys().any(same)
    }

    /// Records a list of tournaments, `all` if complete. Upcoming and running tournaments that an
    /// incomplete list lacks stay known. Returns once for each the reason for not joining it.
    pub fn found(
        &mut self,
        mut found: Vec<TournamentInfo>,
        all: bool,
        situation: &TournamentSituation,
    ) -> Vec<NamedNews> {
        if !all {
            let now = situation.now.timestamp();
            let mut known = std::mem::take(&mut self.known);
            known.retain(|info| info.ends_at.or(info.starts_at).is_some_and(|at| at > now));
            known.retain(|info| found.iter().all(|newer| newer.tournament != info.tournament));
            found.append(&mut known);
        }
        self.passed_over.retain(|tournament| found.iter().any(|info| info.tournament == *tournament));
        self.known = found;
        let mut news = Vec::new();
        for info in &self.known {
            if info.stage == TournamentStage::Over || self.is_settled(&info.tournament) {
                continue;
            }
            if let Err(why) = suits(info, situation)
                && self.passed_over.insert(info.tournament.clone())
            {
                news.push((info.name.clone(), TournamentNews::NotJoined(why)));
            }
        }
        news
    }

    /// Adds suitable tournaments that begin soon to the joined ones; the plan sends the requests.
    fn join_what_suits(&mut self, situation: &TournamentSituation) {
        let now = situation.now.timestamp();
        let soon = later(now, situation.policy.settings.ahead);
        let known = std::mem::take(&mut self.known);
        for info in &known {
            let begins_soon = info.starts_at.is_none_or(|start| start <= soon);
            let ends_later =
                info.ends_at.is_none_or(|end| end > later(now, info.terms.time_control.estimate().unwrap_or_default()));
            let fits = begins_soon && ends_later && info.stage != TournamentStage::Over;
            let free = !self.is_settled(&info.tournament) && !self.joined.values().any(|member| member.overlaps(info));
            if fits && free && suits(info, situation).is_ok() {
                let member = Membership { info: Some(info.clone()), asked_at: Some(now), ..Membership::default() };
                self.joined.insert(info.tournament.clone(), member);
            }
        }
        self.known = known;
    }

    /// Records the fetched state of a tournament, by the name `asked`.
    pub fn described(&mut self, asked: &Tournament, info: TournamentInfo) -> Option<NamedNews> {
        let Some(mut member) = self.joined.remove(asked) else {
            if let Some(known) = self.known.iter_mut().find(|known| known.tournament == info.tournament) {
                *known = info;
            }
            return None;
        };
        if info.stage == TournamentStage::Over {
            self.known.retain(|known| known.tournament != info.tournament);
            return Some((info.name, TournamentNews::Over(info.standing)));
        }
        let tournament = info.tournament.clone();
        let news = (!std::mem::replace(&mut member.told, true) && member.presence == Presence::There)
            .then(|| (info.name.clone(), TournamentNews::Joined));
        member.info = Some(info);
        self.joined.insert(tournament, member);
        news
    }

    /// Records a failed fetch of a tournament's state. A missing tournament is dropped. Otherwise the
    /// state is not fetched again that day, and the bot plays the games as they come.
    pub fn not_described(&mut self, asked: &Tournament, error: &ActionError, now: Timestamp) -> Option<NamedNews> {
        let taken = self.joined.get(asked)?.taken;
        if matches!(error, ActionError::NotFound(_)) {
            let member = self.joined.remove(asked)?;
            return Some((name_of(asked, &member), TournamentNews::NotJoined(error.to_string())));
        }
        if !will_pass(error, taken) {
            self.joined.get_mut(asked)?.asked_at = Some(later(now, SET_ASIDE));
        }
        None
    }

    pub fn answered(
        &mut self,
        tournament: &Tournament,
        outcome: Result<(), ActionError>,
        now: Timestamp,
    ) -> Option<NamedNews> {
        let member = self.joined.get_mut(tournament)?;
        match outcome {
            Ok(()) => {
                member.presence = Presence::There;
                member.taken = true;
                let told = std::mem::replace(&mut member.told, true);
                (!told).then(|| (name_of(tournament, member), TournamentNews::Joined))
            }
            // The request may have arrived or not: it is repeated.
            Err(error) if will_pass(&error, member.taken) => {
                if member.presence == Presence::Asked {
                    member.presence = Presence::Away;
                }
                None
            }
            Err(error) => {
                let name = name_of(tournament, member);
                self.set_aside(tournament, now);
                Some((name, TournamentNews::NotJoined(error.to_string())))
            }
        }
    }

    /// Records an accepted order of the operator to join.
    pub fn ordered(&mut self, entry: TournamentEntry, now: Timestamp) {
        self.set_aside.retain(|known, _| known.id != entry.tournament.id);
        self.joined.retain(|known, _| known.id != entry.tournament.id);
        let member = Membership {
            ordered: true,
            team: entry.team,
            taken: true,
            presence: Presence::There,
            join_sent_at: Some(now),
            told: true,
            ..Membership::default()
        };
        self.joined.insert(entry.tournament, member);
    }

    /// Drops a tournament, and does not join it automatically for a while.
    pub fn set_aside(&mut self, tournament: &Tournament, now: Timestamp) {
        self.joined.retain(|known, _| known.id != tournament.id);
        self.set_aside.insert(tournament.clone(), later(now, SET_ASIDE));
    }

    /// Adapts to a system clock set back to `now`: no wait becomes longer.
    pub fn clock_set_back(&mut self, now: Timestamp) {
        let earlier = |at: &mut Option<Timestamp>| *at = at.map(|at| at.min(now));
        earlier(&mut self.looked_at);
        for member in self.joined.values_mut() {
            earlier(&mut member.asked_at);
            earlier(&mut member.join_sent_at);
        }
        for until in self.set_aside.values_mut() {
            *until = (*until).min(later(now, SET_ASIDE));
        }
    }
}

/// Returns true if an error says nothing about the tournament itself: the request is repeated. Once
/// the server has `taken` the bot, a refused token is such an error: servers in trouble refuse valid
/// tokens too, and a revoked token ends the account elsewhere.
fn will_pass(error: &ActionError, taken: bool) -> bool {
    match error {
        ActionError::Unavailable(_) | ActionError::Limited { .. } => true,
        ActionError::Unauthorised(_) => taken,
        _ => false,
    }
}

fn entry(tournament: &Tournament, member: &Membership, policy: &TournamentPolicy, pair_now: bool) -> TournamentEntry {
    let named = named(tournament, policy);
    TournamentEntry {
        tournament: tournament.clone(),
        team: member.team.clone().or_else(|| named.and_then(|entry| entry.team.clone())),
        password: named.and_then(|entry| entry.password.clone()),
        pair_now,
    }
}

fn named<'a>(tournament: &Tournament, policy: &'a TournamentPolicy) -> Option<&'a TournamentEntry> {
    policy.named.iter().find(|entry| entry.tournament.id == tournament.id)
}

fn name_of(tournament: &Tournament, member: &Membership) -> String {
    member.info.as_ref().map_or_else(|| tournament.to_string(), |info| info.name.clone())
}

fn suits(info: &TournamentInfo, situation: &TournamentSituation) -> Result<(), String> {
    let named = named(&info.tournament, situation.policy);
    if named.is_none()
        && let Some(objection) = situation.policy.settings.objection(info)
    {
        return Err(objection.to_owned());
    }
    let rating = rating_for(situation.ratings, info.terms);
    let (least, most) = (info.min_rating.unwrap_or(0), info.max_rating.unwrap_or(u32::MAX));
    if !situation.variants.contains(&info.terms.variant) {
        Err(format!("no engine plays {}", info.terms.variant))
    } else if !info.bots_allowed {
        Err("bots may not take part".to_owned())
    } else if info.has_password && named.is_none_or(|entry| entry.password.is_none()) {
        Err("it asks for a password: name it in tournament.join with a password_file".to_owned())
    } else if let Some(rating) = rating.filter(|rating| !(least..=most).contains(rating)) {
        Err(format!("the bot's rating {rating} is not within its bounds"))
    } else if let Some(refusal) = &info.refusal {
        Err(format!("the bot does not meet its conditions: {refusal}"))
    } else {
        Ok(())
    }
}
