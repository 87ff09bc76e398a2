//! Stories of tournaments, minute by minute.

use jiff::{SignedDuration, tz::TimeZone};

use super::*;
use domain::{GameTerms, TimeControl};
use util::Secret;

/// A day of the story, from noon.
struct Story {
    participation: Participation,
    policy: TournamentPolicy,
    now: Timestamp,
    open: bool,
    playing: BTreeSet<String>,
}

const VARIANTS: [Variant; 1] = [Variant::Standard];

impl Story {
    fn new() -> Self {
        let teams = vec!["bots".to_owned()];
        let settings = TournamentSettings { enabled: true, teams, ..TournamentSettings::default() };
        Self {
            participation: Participation::default(),
            policy: TournamentPolicy { settings, named: Vec::new() },
            now: "2026-11-23T12:00:00Z".parse().expect("a time"),
            open: true,
            playing: BTreeSet::new(),
        }
    }

    fn with<T>(&mut self, ask: impl FnOnce(&mut Participation, &TournamentSituation) -> T) -> T {
        let now = self.now.to_zoned(TimeZone::UTC);
        let ratings = [("blitz".to_owned(), 2000)];
        let (policy, open, playing) = (&self.policy, self.open, &self.playing);
        let situation =
            TournamentSituation { now: &now, policy, open, playing, variants: &VARIANTS, ratings: &ratings };
        ask(&mut self.participation, &situation)
    }

    /// Finds an arena that begins now, and asks to join it.
    fn asked_to_take_part() -> (Self, TournamentInfo) {
        let mut story = Self::new();
        let arena = story.arena("abcd1234", 0, 60);
        story.due();
        story.found(vec![arena.clone()]);
        assert_eq!(story.due(), [join(&arena, true)]);
        (story, arena)
    }

    fn due(&mut self) -> Vec<TournamentStep> {
        self.with(Participation::due)
    }

    fn found(&mut self, tournaments: Vec<TournamentInfo>) -> Vec<(String, TournamentNews)> {
        self.with(|known, situation| known.found(tournaments, true, situation))
    }

    fn wait(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    /// Lets time pass until the next step, and returns it.
    fn next(&mut self) -> Vec<TournamentStep> {
        self.now = self.with(|known, situation| known.next_wakeup(situation)).expect("a wakeup");
        self.due()
    }

    /// Returns the next request to join or to withdraw; fetches before it are answered with `info`.
    fn next_move(&mut self, info: &TournamentInfo) -> TournamentStep {
        for _ in 0..50 {
            for step in self.next() {
                match step {
                    TournamentStep::Look { .. } => drop(self.found(vec![info.clone()])),
                    TournamentStep::Ask(asked) => drop(self.participation.described(&asked, info.clone())),
                    step => return step,
                }
            }
        }
        panic!("nothing comes of it");
    }

    fn answered(&mut self, info: &TournamentInfo, outcome: Result<(), ActionError>) -> Option<TournamentNews> {
        self.participation.answered(&info.tournament, outcome, self.now).map(|(_, news)| news)
    }

    fn agreed(&mut self, info: &TournamentInfo) -> Option<TournamentNews> {
        self.answered(info, Ok(()))
    }

    fn ordered(&mut self, tournament: &Tournament) {
        self.participation.ordered(TournamentEntry::open(tournament.clone()), self.now);
    }

    /// Goes on with the saved state only.
    fn restarts(&mut self) {
        let kept = serde_json::to_string(&self.participation).expect("it can be written");
        self.participation = serde_json::from_str(&kept).expect("and read");
    }

    /// An arena of `minutes` minutes that begins in `begins_in`.
    fn arena(&self, id: &str, begins_in: i64, minutes: i64) -> TournamentInfo {
        let at = |minutes| Some(self.now + SignedDuration::from_mins(minutes));
        let time_control = TimeControl::real_time(Duration::from_mins(3), Duration::from_secs(2));
        TournamentInfo {
            tournament: Tournament { id: id.to_owned(), kind: Some(TournamentKind::Arena) },
            name: format!("Arena {id}"),
            terms: GameTerms { variant: Variant::Standard, time_control, rated: true },
            stage: if begins_in > 0 { TournamentStage::Announced } else { TournamentStage::Running },
            starts_at: at(begins_in),
            ends_at: at(begins_in + minutes),
            players: 8,
            bots_allowed: true,
            has_password: false,
            min_rating: None,
            max_rating: None,
            refusal: None,
            standing: None,
        }
    }
}

fn join(info: &TournamentInfo, pair_now: bool) -> TournamentStep {
    TournamentStep::Join(TournamentEntry { pair_now, ..TournamentEntry::open(info.tournament.clone()) })
}

#[test]
fn arena_presence_is_repeated() {
    let mut story = Story::new();
    let look = TournamentStep::Look { teams: vec!["bots".to_owned()], named: Vec::new() };
    assert_eq!(story.due(), [look]);
    let mut arena = story.arena("abcd1234", 60, 60);
    assert_eq!(story.found(vec![arena.clone()]), []);
    assert_eq!(story.due(), [], "an hour before is too early");
    assert_eq!(story.next_move(&arena), join(&arena, false));
    assert_eq!(arena.starts_at.expect("a time").duration_since(story.now), SignedDuration::from_mins(10));
    assert_eq!(story.agreed(&arena), Some(TournamentNews::Joined));
    assert!(!story.participation.awaits_game(story.now, &story.playing), "it has not begun");

    let running = arena.starts_at.expect("a time");
    assert_eq!(story.next_move(&arena), join(&arena, true));
    assert_eq!(story.now, running, "we are there when it begins, whether the server says so already or not");
    arena.stage = TournamentStage::Running;
    assert!(story.participation.awaits_game(story.now, &story.playing));
    assert_eq!(story.agreed(&arena), None, "this is no news");
    let before = story.now;
    assert_eq!(story.next_move(&arena), join(&arena, true), "the server keeps us in mind for a minute");
    assert!(story.now.duration_since(before) < SignedDuration::from_mins(1));

    let before = story.now;
    story.playing.insert("abcd1234".to_owned());
    assert_eq!(story.due(), []);
    story.playing.clear();
    assert_eq!(story.next_move(&arena), join(&arena, true), "a short game");
    assert_eq!(story.now.duration_since(before), SignedDuration::from_secs(20), "as soon as the server's limit allows");
    story.playing.insert("abcd1234".to_owned());
    assert!(!story.participation.awaits_game(story.now, &story.playing));
    story.wait(600);
    assert!(!story.due().iter().any(|step| matches!(step, TournamentStep::Join(_))), "who plays is paired already");
    story.playing.clear();
    assert!(story.due().contains(&join(&arena, true)), "and ready for the next game");

    arena.stage = TournamentStage::Over;
    arena.standing = Some(Standing { rank: 3, points: 14 });
    let over = story.participation.described(&arena.tournament, arena.clone()).map(|(_, news)| news);
    assert_eq!(over, Some(TournamentNews::Over(arena.standing)));
    assert_eq!(story.participation.members().count(), 0);
}

#[test]
fn pause_withdraws_and_resume_rejoins() {
    let (mut story, arena) = Story::asked_to_take_part();
    story.agreed(&arena);
    story.open = false;
    assert_eq!(story.due(), [TournamentStep::Withdraw(arena.tournament.clone())]);
    assert_eq!(story.due(), [], "once is enough");
    story.wait(60);
    story.open = true;
    assert_eq!(story.due(), [join(&arena, true)]);
    assert_eq!(story.agreed(&arena), None);

    // The hours of the settings end, which do not bind what the operator ordered.
    story.policy.settings.hours = vec!["18:00-20:00".parse().expect("hours")];
    let withdrawn = TournamentStep::Withdraw(arena.tournament.clone());
    assert_eq!(story.due(), [withdrawn]);
    story.ordered(&arena.tournament);
    assert_eq!(story.due(), [TournamentStep::Ask(arena.tournament.clone())]);
    story.participation.described(&arena.tournament, arena.clone());
    story.wait(50);
    assert_eq!(story.due(), [join(&arena, true)]);
}

#[test]
fn a_restart_says_anew_that_it_is_there() {
    let mut story = Story::new();
    let arena = story.arena("abcd1234", 0, 60);
    story.ordered(&"abcd1234".parse().expect("a name"));
    story.restarts();
    story.policy.settings.enabled = false;
    let asked = story.due();
    assert_eq!(asked, [TournamentStep::Ask("abcd1234".parse().expect("a name"))], "the kind is unknown");
    story.participation.described(&"abcd1234".parse().expect("a name"), arena.clone());
    assert_eq!(story.due(), [join(&arena, true)]);
}

#[test]
fn what_is_passed_over_says_why_once() {
    type Change = fn(&mut TournamentInfo);
    let cases: [(Change, &str); 7] = [
        (|info| info.bots_allowed = false, "bots may not"),
        (|info| info.has_password = true, "password_file"),
        (|info| info.min_rating = Some(2100), "the bot's rating 2000"),
        (|info| info.refusal = Some("In team X".to_owned()), "In team X"),
        (|info| info.terms.variant = Variant::Atomic, "tournament.variants"),
        (|info| info.terms.rated = false, "tournament.modes"),
        (
            |info| info.terms.time_control = TimeControl::real_time(Duration::from_hours(1), Duration::ZERO),
            "time_controls",
        ),
    ];
    for (change, words) in cases {
        let mut story = Story::new();
        story.policy.settings.modes = vec![domain::values::Mode::Rated];
        let mut arena = story.arena("abcd1234", 0, 60);
        change(&mut arena);
        story.due();
        let news = story.found(vec![arena.clone()]);
        assert!(matches!(&news[..], [(_, TournamentNews::NotJoined(why))] if why.contains(words)), "{words}: {news:?}");
        assert_eq!(story.due(), []);
        assert_eq!(story.found(vec![arena]), [], "{words}: once");
    }
}

#[test]
fn named_tournaments_use_team_and_password() {
    let mut story = Story::new();
    let mut arena = story.arena("abcd1234", 0, 60);
    arena.has_password = true;
    arena.terms.rated = false;
    story.policy.settings.modes = vec![domain::values::Mode::Rated];
    let named: Tournament = "abcd1234".parse().expect("a name");
    let entry = TournamentEntry {
        team: Some("blue".to_owned()),
        password: Some(Secret::new("sesame")),
        ..TournamentEntry::open(named.clone())
    };
    story.policy.named = vec![entry.clone()];
    let look = TournamentStep::Look { teams: vec!["bots".to_owned()], named: vec![named] };
    assert_eq!(story.due(), [look]);
    story.found(vec![arena.clone()]);
    let expected = TournamentEntry { tournament: arena.tournament.clone(), pair_now: true, ..entry };
    assert_eq!(story.due(), [TournamentStep::Join(expected)]);
}

#[test]
fn silence_is_no_refusal() {
    let (mut story, arena) = Story::asked_to_take_part();
    let now = story.now;
    let lost = Err(ActionError::Unavailable("cut".to_owned()));
    assert_eq!(story.answered(&arena, lost), None);
    assert_eq!(story.next_move(&arena), join(&arena, true), "it may not have been heard");
    assert_eq!(story.now.duration_since(now), SignedDuration::from_secs(20), "but not at once");
    let refused = Err(ActionError::Refused("you are not in the team".to_owned()));
    let news = story.answered(&arena, refused);
    assert_eq!(news, Some(TournamentNews::NotJoined("the server refused: you are not in the team".to_owned())));
    story.wait(3600);
    story.due();
    story.found(vec![arena]);
    assert_eq!(story.due(), []);
}

/// A server in trouble refuses the token of a player it had accepted, in a running process and in a new one.
#[test]
fn refused_token_keeps_participation() {
    let refused = || ActionError::Unauthorised("No such token".to_owned());
    let (mut story, arena) = Story::asked_to_take_part();
    assert_eq!(story.agreed(&arena), Some(TournamentNews::Joined));
    assert_eq!(story.next_move(&arena), join(&arena, true));
    assert_eq!(story.answered(&arena, Err(refused())), None);
    assert_eq!(story.next_move(&arena), join(&arena, true), "it is asked again");

    story.restarts();
    let ask = TournamentStep::Ask(arena.tournament.clone());
    assert!(story.due().contains(&ask));
    let now = story.now;
    assert_eq!(story.participation.not_described(&arena.tournament, &refused(), now), None);
    story.wait(10);
    assert!(story.due().contains(&ask), "how it stands is asked again");
    story.participation.described(&arena.tournament, arena.clone());
    assert!(story.due().contains(&join(&arena, true)));
    assert_eq!(story.answered(&arena, Err(refused())), None);
    story.wait(20);
    assert!(story.due().contains(&join(&arena, true)), "and so is to take part");

    // A player who was never accepted may lack the scope, and does not ask every few seconds.
    let (mut story, arena) = Story::asked_to_take_part();
    let news = story.answered(&arena, Err(refused()));
    assert_eq!(news, Some(TournamentNews::NotJoined("not authorised: No such token".to_owned())));
    story.wait(600);
    assert!(!story.due().contains(&join(&arena, true)));
}

#[test]
fn failed_list_forgets_no_tournament() {
    let mut story = Story::new();
    story.policy.settings.ahead = Duration::from_mins(1);
    let arena = story.arena("abcd1234", 4, 60);
    story.due();
    story.found(vec![arena.clone()]);
    story.with(|known, situation| known.found(Vec::new(), false, situation));
    assert_eq!(story.next(), [join(&arena, false)], "a minute before it begins, and before the next look");

    // One that is over is not remembered for as long as a list is incomplete.
    story.wait(2 * 3600);
    story.with(|known, situation| known.found(Vec::new(), false, situation));
    assert!(story.participation.known.is_empty());
}

#[test]
fn one_tournament_at_a_time() {
    let mut story = Story::new();
    story.due();
    let (first, overlapping, after) =
        (story.arena("first", 0, 60), story.arena("second", 5, 60), story.arena("third", 61, 60));
    story.policy.settings.ahead = Duration::from_hours(2);
    story.found(vec![first.clone(), overlapping, after.clone()]);
    assert_eq!(story.due(), [join(&first, true), join(&after, false)]);
    // Left by the operator, it frees the bot, and is not joined again.
    let now = story.now;
    story.participation.set_aside(&first.tournament, now);
    let joined: Vec<_> = story.due();
    assert!(!joined.contains(&join(&first, true)), "{joined:?}");
}

#[test]
fn ending_tournaments_are_skipped() {
    let mut story = Story::new();
    story.due();
    let ending = story.arena("abcd1234", -58, 60);
    story.found(vec![ending]);
    assert_eq!(story.due(), []);
}

/// FICS reports nothing of a tournament but its games.
#[test]
fn undescribed_tournament_is_not_polled() {
    let mut story = Story::new();
    story.policy.settings.enabled = false;
    let (now, tournament) = (story.now, "12".parse::<Tournament>().expect("a name"));
    story.ordered(&tournament);
    assert_eq!(story.due(), [TournamentStep::Ask(tournament.clone())]);
    let error = ActionError::Unsupported("tournaments are not listed");
    assert_eq!(story.participation.not_described(&tournament, &error, now), None);
    story.wait(3600);
    assert_eq!(story.due(), []);
    assert_eq!(story.participation.members().collect::<Vec<_>>(), [&tournament]);
}
