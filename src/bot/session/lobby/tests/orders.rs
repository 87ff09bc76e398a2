//! The operator's orders hold, and are dropped when they should be.

use super::*;

fn order(opponent: &str, games: u32) -> LobbyInput {
    LobbyInput::Order(request(opponent), games)
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
fn pause_declines_until_resume() {
    let mut story = Story::for_games(2);
    story.plays("game0001", "Ann");
    let effects = story.happens(LobbyInput::Pause(true));
    assert!(matches!(answer(&effects), Some(Ok(_))), "{effects:?}");
    assert!(declines(&story.challenged("game0002", "Ben"), "game0002", DeclineReason::Later));
    let refused = story.happens(order("Cid", 1));
    assert!(matches!(answer(&refused), Some(Err(why)) if why.contains("resume")), "{refused:?}");
    story.happens(LobbyInput::Pause(false));
    assert!(accepts(&story.challenged("game0003", "Ben"), "game0003"));
}

#[test]
fn a_pause_outlives_a_restart() {
    let mut story = Story::for_games(2);
    let effects = story.happens(LobbyInput::Pause(true));
    assert!(effects.iter().any(|effect| matches!(effect, LobbyEffect::Save)), "{effects:?}");
    story.restarts();
    assert_eq!(story.lobby.mode(), AccountMode::Paused);
    assert!(declines(&story.challenged("game0001", "Ann"), "game0001", DeclineReason::Later));
    story.happens(LobbyInput::Pause(false));
    story.restarts();
    assert!(accepts(&story.challenged("game0002", "Ann"), "game0002"));
}

#[test]
fn ordered_games_run_in_turn() {
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
fn min_gap_counts_own_orders() {
    let mut story = Story::with(|policy| {
        policy.challenge.concurrency = 2;
        policy.challenge.min_gap = Duration::from_mins(5);
    });
    story.happens(order("Ann", 1));
    story.stands("ours0001", "Ann");
    story.begins("ours0001", "Ann");
    assert!(!accepts(&story.challenged("game0001", "Ben"), "game0001"));
    assert!(accepts(&story.after(Duration::from_mins(5)), "game0001"));
}

#[test]
fn orders_precede_waiting_challenges() {
    let mut story = Story::for_games(1);
    story.plays("game0001", "Ann");
    story.challenged("game0002", "Ben");
    assert!(!acts(&story.happens(order("Cid", 1))));
    let effects = story.ends("game0001");
    assert!(challenges(&effects, "Cid") && !accepts(&effects, "game0002"), "{effects:?}");
}

#[test]
fn refusal_cancels_the_series() {
    let mut story = Story::for_games(1);
    story.happens(order("Ann", 5));
    story.stands("ours0001", "Ann");
    assert!(!acts(&story.happens(LobbyInput::Declined(ChallengeId::new("ours0001"), DeclineReason::Later))));
    assert!(!acts(&story.after(Duration::from_secs(3600))));
}

/// A server in trouble, or an opponent who is playing, costs no ordered game.
#[test]
fn failed_order_is_retried() {
    let busy = ActionError::Limited {
        retry_after: Some(Duration::from_mins(5)),
        key: None,
        opponent: true,
        detail: "is playing or has left".to_owned(),
    };
    for (error, pause) in [(lost(), 60), (limited(None, 5), 60), (limited(None, 600), 600), (busy, 300)] {
        let mut story = Story::for_games(1);
        assert!(challenges(&story.happens(order("Ann", 2)), "Ann"));
        assert!(story.lobby.is_made_again(&request("Ann"), &error));
        let effects = story.happens(LobbyInput::Challenged(request("Ann"), Err(error.clone())));
        assert!(!acts(&effects), "{error}: {effects:?}");
        assert!(story.wakes_at().is_some_and(|at| at <= later(START, Duration::from_secs(pause))), "{error}");
        assert!(!acts(&story.after(Duration::from_secs(pause - 1))), "{error}");
        assert!(challenges(&story.after(Duration::from_secs(1)), "Ann"), "{error}");
        story.stands("ours0001", "Ann");
        story.begins("ours0001", "Ann");
        assert!(challenges(&story.ends("ours0001"), "Ann"), "{error}: two were ordered");
        story.stands("ours0002", "Ann");
        story.begins("ours0002", "Ann");
        assert!(!acts(&story.ends("ours0002")), "{error}: no more than two were ordered");
    }
}

#[test]
fn orders_back_off() {
    let mut story = Story::for_games(1);
    story.happens(order("Ann", 1));
    for minutes in [1, 2, 4, 8, 10, 10] {
        story.happens(LobbyInput::Challenged(request("Ann"), Err(lost())));
        assert!(!acts(&story.after(Duration::from_secs(60 * minutes - 1))), "{minutes}");
        assert!(challenges(&story.after(Duration::from_secs(1)), "Ann"), "{minutes}");
    }
}

#[test]
fn resting_order_blocks_no_other() {
    let mut story = Story::for_games(1);
    story.happens(order("Ann", 1));
    assert!(!acts(&story.happens(order("Ben", 1))));
    assert!(challenges(&story.happens(LobbyInput::Challenged(request("Ann"), Err(lost()))), "Ben"));
}

#[test]
fn order_survives_clock_set_back() {
    let mut story = Story::for_games(1);
    story.happens(order("Ann", 1));
    story.happens(LobbyInput::Challenged(request("Ann"), Err(lost())));
    story.now = START - 10.hours();
    assert!(!acts(&story.after(Duration::ZERO)));
    assert!(challenges(&story.after(Duration::from_mins(1)), "Ann"));
}

#[test]
fn impossible_order_is_dropped() {
    for error in [
        ActionError::Refused("they take no challenges".to_owned()),
        ActionError::NotFound("no such player".to_owned()),
        ActionError::Unsupported("correspondence"),
    ] {
        let mut story = Story::for_games(1);
        story.happens(order("Ann", 5));
        assert!(!story.lobby.is_made_again(&request("Ann"), &error));
        assert!(!acts(&story.happens(LobbyInput::Challenged(request("Ann"), Err(error.clone())))), "{error}");
        assert!(!acts(&story.after(Duration::from_secs(3600))), "{error}");
    }
}

#[test]
fn cancelled_order_is_not_retried() {
    for command in [LobbyInput::CancelOrders, LobbyInput::Block("Ann".to_owned())] {
        let what = format!("{command:?}");
        let mut story = Story::for_games(1);
        story.happens(order("Ann", 5));
        story.happens(command);
        assert!(!acts(&story.happens(LobbyInput::Challenged(request("Ann"), Err(lost())))), "{what}");
        assert!(!acts(&story.after(Duration::from_secs(3600))), "{what}");
    }
}

/// The operator gets the answer at once that the game is queued.
#[test]
fn order_waits_for_matchmaking() {
    let mut story = matchmaking();
    assert_eq!(story.after(Duration::from_secs(10)), [LobbyEffect::FetchBots]);
    assert!(!acts(&story.happens(order("Ben", 1))));
    assert!(!story.lobby.is_on_its_way(&request("Ben")));
    assert!(challenges(&story.happens(LobbyInput::Bots(Vec::new())), "Ben"));
    assert!(story.lobby.is_on_its_way(&request("Ben")));
}

#[test]
fn cancel_drops_orders() {
    let mut story = Story::for_games(1);
    story.happens(order("Ann", 5));
    story.stands("ours0001", "Ann");
    let effects = story.happens(LobbyInput::CancelOrders);
    assert!(does(&effects, &Action::Cancel(ChallengeId::new("ours0001"))), "{effects:?}");
    assert!(!acts(&story.happens(LobbyInput::Cancelled(ChallengeId::new("ours0001")))));
    let nothing = story.happens(LobbyInput::CancelOrders);
    assert!(matches!(answer(&nothing), Some(Err(_))), "{nothing:?}");
}

#[test]
fn blocks_survive_reload_and_restart() {
    let mut story = Story::for_games(1);
    story.happens(LobbyInput::Block("Mallory".to_owned()));
    story.happens(LobbyInput::Lists(NameLists::default()));
    assert!(declines(&story.challenged("game0001", "Mallory"), "game0001", DeclineReason::Generic));
    let kept = serde_json::to_string(story.lobby.memory()).expect("JSON");
    let policy = AccountPolicy { variants: vec![Variant::Standard], ..AccountPolicy::default() };
    let memory = serde_json::from_str(&kept).expect("its own words");
    story.lobby = Lobby::new(Arc::new(policy), memory, START, 7);
    assert!(declines(&story.challenged("game0002", "Mallory"), "game0002", DeclineReason::Generic));
}

#[test]
fn new_rules_apply_to_waiting_players() {
    let mut story = Story::for_games(1);
    story.plays("game0001", "Ann");
    story.challenged("game0002", "Ben");
    let mut policy = AccountPolicy { variants: vec![Variant::Standard], ..AccountPolicy::default() };
    policy.challenge.concurrency = 2;
    assert!(accepts(&story.happens(LobbyInput::Adopt(Arc::new(policy))), "game0002"));
}
