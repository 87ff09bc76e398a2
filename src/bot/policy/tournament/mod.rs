//! Which tournaments we take part in, and when we want to be paired.
//!
//! The session looks for tournaments, and asks how one stands, when [`Participation::due`] says so, and brings back what it
//! heard. A tournament pairs only those who say that they are there: while an arena runs and we have no game in it, we say so
//! again and again. Whoever stops, pauses or has no more hours withdraws, so that nobody is paired with an empty chair; points
//! are kept, and we come back while it runs.
//!
//! One tournament at a time: one that would overlap with another of ours is passed over.

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
use chess::{
    ActionError, Standing, Tournament, TournamentEntry, TournamentInfo, TournamentKind, TournamentStage, Variant,
    values::HoursOfDay,
};

/// How long an arena keeps us in mind for its next pairing is a minute; we speak up before that is over.
const PRESENT_AGAIN: Duration = Duration::from_secs(50);
/// The least time between two requests to take part: a server counts them, thirty in ten minutes.
const BETWEEN_JOINS: Duration = Duration::from_secs(20);
/// How soon a tournament is looked at again whose beginning or end should have come.
const OVERDUE: Duration = Duration::from_secs(10);
/// For how long a tournament that was left or refused us is not joined by itself.
const SET_ASIDE: Duration = Duration::from_hours(24);

/// What the settings say about tournaments, with what their files say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TournamentPolicy {
    /// The table itself.
    pub settings: TournamentSettings,
    /// Those of its `join`, with their passwords.
    pub named: Vec<TournamentEntry>,
}

/// What a decision about tournaments rests on besides the settings.
#[derive(Clone, Copy)]
pub struct TournamentSituation<'a> {
    /// The time, in the zone of the settings.
    pub now: &'a Zoned,
    /// Whether new games are begun, and the server is there to ask.
    pub open: bool,
    /// The names of tournaments of which we play a game now.
    pub playing: &'a BTreeSet<String>,
    /// What our electors can play.
    pub variants: &'a [Variant],
    /// Our ratings by the server's names.
    pub ratings: &'a [(String, u32)],
}

/// What is to be done about tournaments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TournamentStep {
    /// Fetch the tournaments of these teams, and these tournaments.
    Look {
        /// Teams by name.
        teams: Vec<String>,
        /// Tournaments that the settings name.
        named: Vec<Tournament>,
    },
    /// Ask how a tournament stands.
    Ask(Tournament),
    /// Take part, or say that we are there.
    Join(TournamentEntry),
    /// Take part no more, for now.
    Withdraw(Tournament),
}

/// What is worth telling about a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TournamentNews {
    /// We take part.
    Joined,
    /// We do not, and why.
    NotJoined(String),
    /// It is over; where we ended, if that was said.
    Over(Option<Standing>),
}

/// The tournaments that we take part in, and those that we know of. What is written down outlives the process; passwords are not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Participation {
    joined: BTreeMap<Tournament, Membership>,
    /// Not to be joined by themselves until then.
    set_aside: BTreeMap<Tournament, Timestamp>,
    #[serde(skip)]
    looked_at: Option<Timestamp>,
    /// Those of the last look.
    #[serde(skip)]
    known: Vec<TournamentInfo>,
    /// Those of which it was said why we do not take part.
    #[serde(skip)]
    passed_over: BTreeSet<Tournament>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Membership {
    /// Whether the operator wanted it, who is not bound to the hours of the settings.
    ordered: bool,
    team: Option<String>,
    /// Whether the server has ever agreed that we take part.
    taken: bool,
    #[serde(skip)]
    presence: Presence,
    /// What the server last said.
    #[serde(skip)]
    info: Option<TournamentInfo>,
    #[serde(skip)]
    asked_at: Option<Timestamp>,
    #[serde(skip)]
    join_sent_at: Option<Timestamp>,
    /// Whether a game came of that: who has played is forgotten, and has to speak up for the next one.
    #[serde(skip)]
    paired: bool,
    /// Whether it was told that we take part.
    #[serde(skip)]
    told: bool,
}

/// Whether the server counts on us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Presence {
    /// It does not, or we do not know: a process that begins says anew that it is there.
    #[default]
    Away,
    /// It was asked to.
    Asked,
    /// It does.
    There,
}

impl Membership {
    /// The stage that it should be in by now.
    fn stage(&self, now: Timestamp) -> Option<TournamentStage> {
        let info = self.info.as_ref()?;
        Some(match info.stage {
            TournamentStage::Over => TournamentStage::Over,
            _ if info.ends_at.is_some_and(|end| end <= now) => TournamentStage::Over,
            TournamentStage::Announced if info.starts_at.is_some_and(|start| start <= now) => TournamentStage::Running,
            stage => stage,
        })
    }

    /// When the server is to be asked how it stands.
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
        // Once after the turn, then every few seconds until the server agrees that it has come.
        turn.map_or(regular, |turn| regular.min(turn.max(later(asked_at, OVERDUE))))
    }

    fn overlaps(&self, other: &TournamentInfo) -> bool {
        let end = |info: &TournamentInfo| info.ends_at.unwrap_or(Timestamp::MAX);
        let start = |info: &TournamentInfo| info.starts_at.unwrap_or(Timestamp::MIN);
        self.info.as_ref().is_none_or(|ours| start(ours) < end(other) && start(other) < end(ours))
    }
}

impl Participation {
    /// The tournaments that we take part in.
    pub fn members(&self) -> impl Iterator<Item = &Tournament> {
        self.joined.keys()
    }

    /// Whether a game of a tournament may begin at any moment, so that a place is to be kept for it.
    pub fn awaits_game(&self, now: Timestamp, playing: &BTreeSet<String>) -> bool {
        self.joined.iter().any(|(tournament, member)| {
            member.presence == Presence::There
                && member.stage(now) == Some(TournamentStage::Running)
                && !playing.contains(&tournament.id)
        })
    }

    /// What is to be done now; it counts as begun.
    pub fn due(&mut self, policy: &TournamentPolicy, situation: &TournamentSituation) -> Vec<TournamentStep> {
        let now = situation.now.timestamp();
        self.set_aside.retain(|_, until| *until > now);
        if self.may_play(policy, situation, false) {
            self.join_what_suits(policy, situation);
        }
        for (tournament, member) in &mut self.joined {
            member.paired |= situation.playing.contains(&tournament.id);
        }
        let planned = self.plan(policy, situation);
        let due = planned.into_iter().filter(|(at, _)| *at <= now).map(|(_, step)| step);
        due.inspect(|step| self.begun(step, now)).collect()
    }

    /// When something is to be done next, if nothing happens before.
    pub fn next_wakeup(&self, policy: &TournamentPolicy, situation: &TournamentSituation) -> Option<Timestamp> {
        // What suits may begin later than it may be joined.
        let upcoming = self.known.iter().filter(|info| !self.is_settled(&info.tournament));
        let joined_at = upcoming.filter_map(|info| info.starts_at?.checked_sub(policy.settings.ahead).ok());
        let planned = self.plan(policy, situation).into_iter().map(|(at, _)| at);
        planned.chain(joined_at.filter(|at| *at > situation.now.timestamp())).min()
    }

    /// Whether we would play in a tournament now.
    fn may_play(&self, policy: &TournamentPolicy, situation: &TournamentSituation, ordered: bool) -> bool {
        let by_settings =
            || policy.settings.enabled && HoursOfDay::any_contains(&policy.settings.hours, situation.now.time());
        situation.open && (ordered || by_settings())
    }

    /// All that is to be done without anything else happening, and when.
    fn plan(&self, policy: &TournamentPolicy, situation: &TournamentSituation) -> Vec<(Timestamp, TournamentStep)> {
        let now = situation.now.timestamp();
        let look_every = policy.settings.look_every;
        let mut plan = Vec::new();
        if self.may_play(policy, situation, false) {
            let free = |entry: &&TournamentEntry| !self.is_settled(&entry.tournament);
            let named = policy.named.iter().filter(free).map(|entry| entry.tournament.clone()).collect();
            let look = TournamentStep::Look { teams: policy.settings.teams.clone(), named };
            plan.push((self.looked_at.map_or(now, |at| later(at, look_every)), look));
        }
        for (tournament, member) in &self.joined {
            if situation.open {
                plan.push((member.ask_at(look_every), TournamentStep::Ask(tournament.clone())));
            }
            plan.extend(self.presence_step(tournament, member, policy, situation));
        }
        plan
    }

    /// What is to be done so that the server counts on us exactly when it may.
    fn presence_step(
        &self,
        tournament: &Tournament,
        member: &Membership,
        policy: &TournamentPolicy,
        situation: &TournamentSituation,
    ) -> Option<(Timestamp, TournamentStep)> {
        let now = situation.now.timestamp();
        let running = match member.stage(now)? {
            TournamentStage::Over => return None,
            stage => stage == TournamentStage::Running,
        };
        let after = |pause| member.join_sent_at.map_or(now, |at| later(at, pause));
        let wanted = self.may_play(policy, situation, member.ordered);
        let arena = member.info.as_ref().is_some_and(|info| info.tournament.kind == Some(TournamentKind::Arena));
        match (wanted, member.presence) {
            (true, Presence::Away) => {
                Some((after(BETWEEN_JOINS), TournamentStep::Join(entry(tournament, member, policy, running))))
            }
            (true, Presence::There) if running && arena && !situation.playing.contains(&tournament.id) => {
                let pause = if member.paired { BETWEEN_JOINS } else { PRESENT_AGAIN };
                Some((after(pause), TournamentStep::Join(entry(tournament, member, policy, true))))
            }
            // Who is merely on the list of one that begins later keeps the place.
            (false, Presence::There) if running => Some((now, TournamentStep::Withdraw(tournament.clone()))),
            _ => None,
        }
    }

    fn begun(&mut self, step: &TournamentStep, now: Timestamp) {
        match step {
            TournamentStep::Look { .. } => self.looked_at = Some(now),
            TournamentStep::Ask(tournament) => {
                if let Some(member) = self.joined.get_mut(tournament) {
                    member.asked_at = Some(now);
                }
            }
            TournamentStep::Join(entry) => {
                if let Some(member) = self.joined.get_mut(&entry.tournament) {
                    member.join_sent_at = Some(now);
                    member.paired = false;
                    if member.presence == Presence::Away {
                        member.presence = Presence::Asked;
                    }
                }
            }
            TournamentStep::Withdraw(tournament) => {
                if let Some(member) = self.joined.get_mut(tournament) {
                    member.presence = Presence::Away;
                }
            }
        }
    }

    /// Whether a tournament is joined already, or not to be joined by itself. A name without a kind stands for both kinds.
    fn is_settled(&self, tournament: &Tournament) -> bool {
        let same = |known: &Tournament| known.id == tournament.id;
        self.joined.keys().any(same) || self.set_aside.keys().any(same)
    }

    // --- What the server says ------------------------------------------------------------------------------------------

    /// These tournaments are there; why those that are named or whose terms suit are not joined is said once. Where these are not
    /// `all`, since a part could not be had, those that were known and are still to begin or to end stay known.
    pub fn found(
        &mut self,
        mut found: Vec<TournamentInfo>,
        all: bool,
        policy: &TournamentPolicy,
        situation: &TournamentSituation,
    ) -> Vec<(String, TournamentNews)> {
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
            if let Err(why) = suits(info, policy, situation)
                && self.passed_over.insert(info.tournament.clone())
            {
                news.push((info.name.clone(), TournamentNews::NotJoined(why)));
            }
        }
        news
    }

    /// Puts on the list what suits and begins soon enough; the plan does the rest.
    fn join_what_suits(&mut self, policy: &TournamentPolicy, situation: &TournamentSituation) {
        let now = situation.now.timestamp();
        let soon = later(now, policy.settings.ahead);
        let known = std::mem::take(&mut self.known);
        for info in &known {
            let begins_soon = info.starts_at.is_none_or(|start| start <= soon);
            let ends_later =
                info.ends_at.is_none_or(|end| end > later(now, info.terms.time_control.estimate().unwrap_or_default()));
            let fits = begins_soon && ends_later && info.stage != TournamentStage::Over;
            let free = !self.is_settled(&info.tournament) && !self.joined.values().any(|member| member.overlaps(info));
            if fits && free && suits(info, policy, situation).is_ok() {
                let member = Membership { info: Some(info.clone()), asked_at: Some(now), ..Membership::default() };
                self.joined.insert(info.tournament.clone(), member);
            }
        }
        self.known = known;
    }

    /// A tournament that was asked for by this name stands so.
    pub fn described(&mut self, asked: &Tournament, info: TournamentInfo) -> Option<(String, TournamentNews)> {
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

    /// What came of asking how a tournament stands, where there was no answer. One that is gone is not ours any more; of one that
    /// the server cannot describe nothing more is asked that day, and its games are played as they come.
    pub fn not_described(
        &mut self,
        asked: &Tournament,
        error: &ActionError,
        now: Timestamp,
    ) -> Option<(String, TournamentNews)> {
        let taken = self.joined.get(asked)?.taken;
        match error {
            ActionError::NotFound(_) => {
                let member = self.joined.remove(asked)?;
                Some((name_of(asked, &member), TournamentNews::NotJoined(error.to_string())))
            }
            error if will_pass(error, taken) => None,
            _ => {
                self.joined.get_mut(asked)?.asked_at = Some(later(now, SET_ASIDE));
                None
            }
        }
    }

    /// What came of taking part.
    pub fn answered(
        &mut self,
        tournament: &Tournament,
        outcome: Result<(), ActionError>,
        now: Timestamp,
    ) -> Option<(String, TournamentNews)> {
        let member = self.joined.get_mut(tournament)?;
        match outcome {
            Ok(()) => {
                member.presence = Presence::There;
                member.taken = true;
                let told = std::mem::replace(&mut member.told, true);
                (!told).then(|| (name_of(tournament, member), TournamentNews::Joined))
            }
            // It may have been heard or not: it is asked for again.
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

    // --- What the operator wants ---------------------------------------------------------------------------------------

    /// The operator had us join it, and the server agreed.
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

    /// It is not ours any more, and not joined by itself for a while.
    pub fn set_aside(&mut self, tournament: &Tournament, now: Timestamp) {
        self.joined.retain(|known, _| known.id != tournament.id);
        self.set_aside.insert(tournament.clone(), later(now, SET_ASIDE));
    }

    /// The system's clock was set back: nothing waits longer for that than it was meant to.
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

/// Whether an error says nothing of the tournament itself, so that it is tried again. Where the server has `taken` us before, a refusal
/// of our token is such an error: servers in trouble refuse as well, and a token that is taken back ends the account elsewhere.
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

/// Whether we want to take part and, as far as the server says, may.
///
/// # Errors
/// Why not.
fn suits(info: &TournamentInfo, policy: &TournamentPolicy, situation: &TournamentSituation) -> Result<(), String> {
    let named = named(&info.tournament, policy);
    if named.is_none()
        && let Some(objection) = policy.settings.objection(info)
    {
        return Err(objection.to_owned());
    }
    let rating = rating_for(situation.ratings, info.terms);
    let (least, most) = (info.min_rating.unwrap_or(0), info.max_rating.unwrap_or(u32::MAX));
    if !situation.variants.contains(&info.terms.variant) {
        Err(format!("no engine of ours plays {}", info.terms.variant))
    } else if !info.bots_allowed {
        Err("bots may not take part".to_owned())
    } else if info.has_password && named.is_none_or(|entry| entry.password.is_none()) {
        Err("it asks for a password: name it in tournament.join with a password_file".to_owned())
    } else if let Some(rating) = rating.filter(|rating| !(least..=most).contains(rating)) {
        Err(format!("our rating {rating} is not within its bounds"))
    } else if let Some(refusal) = &info.refusal {
        Err(format!("we do not meet its conditions: {refusal}"))
    } else {
        Ok(())
    }
}
