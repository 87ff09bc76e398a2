//! What the operator says holds, and is forgotten when it should be.

use super::*;
use crate::session::control::ChallengeOrder;

fn order(opponent: &str, games: u32) -> LobbyInput {
    LobbyInput::Command(LobbyCommand::Challenge(ChallengeOrder { request: request(opponent), games }))
}

fn request(opponent: &str) -> ChallengeRequest {
    let terms = challenge("any", opponent).terms;
    ChallengeRequest { opponent: opponent.to_owned(), terms, our_color: None, initial_fen: None }
}

fn challenges(effects: &[LobbyEffect], opponent: &str) -> bool {
    does(effects, &Action::Challenge(request(opponent)))
}

fn answer(effects: &[LobbyEffect]) -> Option<&Result<String, String>> {
    effects.iter().find_map(|effect| match effect {
        LobbyEffect::Answer(answer) => Some(answer),
        _ => None,
    })
}

impl Story {
    fn stands(&mut self, id: &str, opponent: &str) -> Vec<LobbyEffect> {
        self.happens(LobbyInput::Challenged(request(opponent), Ok(ChallengeId::new(id))))
    }
}

#[test]
fn a_pause_takes_nothing_new_and_ends_when_it_is_told_to() {
    let mut story = Story::for_games(2);
    story.plays("game0001", "Ann");
    let effects = story.happens(LobbyInput::Command(LobbyCommand::Pause(true)));
    assert!(matches!(answer(&effects), Some(Ok(_))), "{effects:?}");
    assert!(declines(&story.challenged("game0002", "Ben"), "game0002", DeclineReason::Later));
    let refused = story.happens(order("Cid", 1));
    assert!(matches!(answer(&refused), Some(Err(why)) if why.contains("resume")), "{refused:?}");
    story.happens(LobbyInput::Command(LobbyCommand::Pause(false)));
    assert!(accepts(&story.challenged("game0003", "Ben"), "game0003"));
}

#[test]
fn a_pause_outlives_a_restart() {
    let mut story = Story::for_games(2);
    let effects = story.happens(LobbyInput::Command(LobbyCommand::Pause(true)));
    assert!(effects.iter().any(|effect| matches!(effect, LobbyEffect::Save)), "{effects:?}");
    story.restarts();
    assert_eq!(story.lobby.mode(), AccountMode::Paused);
    assert!(declines(&story.challenged("game0001", "Ann"), "game0001", DeclineReason::Later));
    story.happens(LobbyInput::Command(LobbyCommand::Pause(false)));
    story.restarts();
    assert!(accepts(&story.challenged("game0002", "Ann"), "game0002"));
}

#[test]
fn ordered_games_are_played_one_after_the_other() {
    let mut story = Story::for_games(1);
    assert!(challenges(&story.happens(order("Ann", 2)), "Ann"));
    assert!(!acts(&story.stands("ours0001", "Ann")), "one challenge stands at a time");
    story.begins("ours0001", "Ann");
    assert!(challenges(&story.ends("ours0001"), "Ann"), "the second one follows");
    story.stands("ours0002", "Ann");
    story.begins("ours0002", "Ann");
    assert!(!acts(&story.ends("ours0002")), "two were ordered");
}

#[test]
fn an_order_waits_for_a_place_and_comes_before_those_who_wait() {
    let mut story = Story::for_games(1);
    story.plays("game0001", "Ann");
    story.challenged("game0002", "Ben");
    assert!(!acts(&story.happens(order("Cid", 1))));
    let effects = story.ends("game0001");
    assert!(challenges(&effects, "Cid") && !accepts(&effects, "game0002"), "{effects:?}");
}

#[test]
fn whoever_declines_is_not_asked_for_the_other_games() {
    let mut story = Story::for_games(1);
    story.happens(order("Ann", 5));
    story.stands("ours0001", "Ann");
    assert!(!acts(&story.happens(LobbyInput::Declined(ChallengeId::new("ours0001"), DeclineReason::Later))));
    assert!(!acts(&story.after(Duration::from_secs(3600))));
}

#[test]
fn cancelling_withdraws_what_stands_and_forgets_the_rest() {
    let mut story = Story::for_games(1);
    story.happens(order("Ann", 5));
    story.stands("ours0001", "Ann");
    let effects = story.happens(LobbyInput::Command(LobbyCommand::Cancel));
    assert!(does(&effects, &Action::Cancel(ChallengeId::new("ours0001"))), "{effects:?}");
    assert!(!acts(&story.happens(LobbyInput::Cancelled(ChallengeId::new("ours0001")))));
    let nothing = story.happens(LobbyInput::Command(LobbyCommand::Cancel));
    assert!(matches!(answer(&nothing), Some(Err(_))), "{nothing:?}");
}

#[test]
fn whoever_is_blocked_stays_so_under_newer_lists_and_after_a_restart() {
    let mut story = Story::for_games(1);
    story.happens(LobbyInput::Command(LobbyCommand::Block("Mallory".to_owned())));
    story.happens(LobbyInput::Lists(NameLists::default()));
    assert!(declines(&story.challenged("game0001", "Mallory"), "game0001", DeclineReason::Generic));
    let kept = serde_json::to_string(story.lobby.memory()).expect("JSON");
    let policy = AccountPolicy { variants: vec![Variant::Standard], ..AccountPolicy::default() };
    let memory = serde_json::from_str(&kept).expect("its own words");
    story.lobby = Lobby::new(Arc::new(policy), memory, START, 7);
    assert!(declines(&story.challenged("game0002", "Mallory"), "game0002", DeclineReason::Generic));
}

#[test]
fn other_rules_hold_for_who_already_waits() {
    let mut story = Story::for_games(1);
    story.plays("game0001", "Ann");
    story.challenged("game0002", "Ben");
    let mut policy = AccountPolicy { variants: vec![Variant::Standard], ..AccountPolicy::default() };
    policy.challenge.concurrency = 2;
    assert!(accepts(&story.happens(LobbyInput::Adopt(Arc::new(policy))), "game0002"));
}
