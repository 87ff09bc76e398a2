//! Whole evenings against a small server in each dialect, on which players and terms are called like words of the protocol.
//!
//! Whatever they are called: no game is lost, begun against the policy, left unended, or resumed as another variant, and no command
//! reaches anyone but the opponent.

use std::collections::BTreeSet;

use super::small_server::{DIALECTS, Dialect, PLAYED, SmallServer, Table};
use super::*;
use domain::{DeclineReason, GameInfo, Variant};

/// First words of the server's sentences, commands and their abbreviations, and markers.
const WORDS: &str = "\
    Creating Continuing Game Challenge Issuing Offering Requesting Accepting Declining Removing Updating Setting \
    Notification Match Player Players No There Bad Can Cannot The Local Server Stored Finger Statistics All Both \
    Neither Partners On Last Move Movelist Only Rated Unrated Command Names Sorry Due You Your It Not Opponent \
    Checking Illegal Invalid Press Draw Abort Adjourn Takeback Switch Pause draw abort adjourn accept decline \
    withdraw match resume resign resigns stored history moves refresh dra mat acc tell adjourned aborted guest";

/// Kinds of games that the policy of these tests declines.
const KINDS: [&str; 10] =
    ["suicide", "wild/1", "bughouse", "blitz suicide", "wild", "draw", "Creating", "(adjourned)", "resigns", "match"];

/// The server, a player on it, and a policy that takes casual blitz of five minutes.
struct Story {
    evening: Evening,
    server: SmallServer,
    /// Games that are told to run, and not to be over.
    open: BTreeSet<GameId>,
    played: Vec<GameInfo>,
    /// The game that we have last moved in, and at which ply.
    moved: Option<(GameId, usize)>,
}

impl Story {
    fn begin(dialect: Dialect, us: &str, opponent: &str) -> Self {
        let speaker = Speaker { name: us.to_owned(), titles: vec!["C".to_owned()], game: None };
        let server = SmallServer::new(dialect, us, opponent);
        let evening = Evening::new(FicsSettings::default());
        let mut story = Self { evening, server, open: BTreeSet::new(), played: Vec::new(), moved: None };
        let now = story.evening.now;
        story.evening.session.connected(speaker, now);
        if dialect.numbers_offers() {
            story.evening.session.offers_are_numbered();
        }
        story.settle();
        story
    }

    /// The server says these lines, and everything that follows happens.
    fn hear(&mut self, lines: Vec<String>) {
        self.say(lines);
        self.settle();
    }

    fn say(&mut self, lines: Vec<String>) {
        for line in lines {
            self.evening.session.on(FicsMessage::read(line), self.evening.now);
        }
        self.evening.session.prompted(self.evening.now);
    }

    fn challenged(&mut self, terms: &str, resumes: bool) {
        let lines = self.server.challenges(terms, resumes);
        self.hear(lines);
    }

    fn game_ends(&mut self, reason: &str, result: &str) {
        let lines = self.server.ends(reason, result);
        self.hear(lines);
    }

    fn opponent_arrives(&mut self) {
        self.hear(vec![HERE.replace("Ann", &self.server.opponent)]);
    }

    fn settle(&mut self) {
        loop {
            let effects = self.evening.session.effects();
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                match effect {
                    SessionEffect::Send(command) => {
                        let lines = self.server.answers(&command);
                        self.say(lines);
                    }
                    SessionEffect::Event(event) => self.told(event),
                    SessionEffect::Nudge | SessionEffect::Answer(..) => {}
                }
            }
        }
    }

    fn act(&mut self, action: Action) {
        self.evening.tickets += 1;
        let ticket = self.evening.tickets;
        self.evening.session.act(action, ticket, self.evening.now);
    }

    fn told(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Challenge(challenge) if challenge.incoming => {
                let terms = &challenge.terms;
                let suits = challenge.obstacle.is_none()
                    && !terms.rated
                    && terms.variant == Variant::Standard
                    && terms.time_control.to_string() == "300+0";
                self.act(match suits {
                    true => Action::Accept(challenge.id),
                    false => Action::Decline(challenge.id, DeclineReason::Casual),
                });
            }
            ServerEvent::GameStarted(id) => {
                self.open.insert(id);
            }
            ServerEvent::Game(info, state) => {
                assert!(!info.terms.rated, "a rated game is played: {info:?}");
                let table = self.server.game.as_ref().expect("a game on the server as well");
                assert!(table.terms.contains(PLAYED) && !table.terms.contains("suicide"), "{table:?} is played");
                self.play(&info.id, &state.moves);
                self.played.push(*info);
            }
            ServerEvent::GameState(id, state) if state.status.is_running() => self.play(&id, &state.moves),
            ServerEvent::GameFinished { id, .. } | ServerEvent::GameGone(id) => {
                self.open.remove(&id);
            }
            ServerEvent::GameUnplayable { id, .. } => {
                self.act(Action::Abort(id.clone()));
                self.act(Action::Resign(id));
            }
            _ => {}
        }
    }

    fn play(&mut self, id: &GameId, moves: &str) {
        let ply = moves.split_ascii_whitespace().count();
        let we_are_white = self.server.game.as_ref().is_some_and(|table| table.we_are_white);
        let is_new = self.moved.as_ref() != Some(&(id.clone(), ply));
        if let Some(uci) = ["e2e4", "e7e5", "g1f3"].get(ply)
            && ply.is_multiple_of(2) == we_are_white
            && is_new
        {
            self.moved = Some((id.clone(), ply));
            self.act(Action::Move { game: id.clone(), uci: uci.parse().expect("a move"), offer_draw: false });
        }
    }

    fn opponent_moves(&mut self) {
        let Some(table) = &mut self.server.game else { return };
        table.ply += 1;
        let table = table.clone();
        let board = self.server.board(&table);
        self.hear(vec![board]);
    }

    /// Time passes, with all that is asked and answered.
    fn pass(&mut self, seconds: u64) {
        let end = self.evening.now + Duration::from_secs(seconds);
        while let Some(wake) = self.evening.session.wake_at().filter(|wake| *wake <= end) {
            self.evening.now = self.evening.now.max(wake);
            self.evening.session.tick(self.evening.now);
            self.settle();
        }
        self.evening.now = end;
    }

    /// A game is on the board and both have moved.
    fn a_game(&mut self) {
        self.challenged("unrated blitz 5 0", false);
        assert_eq!(self.server.game.as_ref().map(|table| table.ply), Some(0), "{:?}", self.server.sent);
        self.opponent_moves();
        assert_eq!(self.server.game.as_ref().map(|table| table.ply), Some(2), "we have answered");
        assert_eq!(self.played.len(), 1);
    }

    /// Asserts that no game runs, here or there, and that another one can begin.
    #[track_caller]
    fn is_over(&mut self, case: &str) {
        self.pass(200);
        assert!(self.open.is_empty(), "{case}: {:?} are not told to be over", self.open);
        assert!(self.evening.session.current_id().is_none(), "{case}");
        assert!(self.server.game.is_none(), "{case}: {:?} is left on the server", self.server.game);
    }
}

/// Every word as the opponent's name and as ours.
fn everyone(mut check: impl FnMut(Dialect, &str, &str)) {
    for dialect in DIALECTS {
        for word in WORDS.split(' ') {
            check(dialect, "Somebot", word);
            check(dialect, word, "Ann");
        }
        check(dialect, "Creating", "Continuing");
        check(dialect, "resigns", "Game");
    }
}

/// Ends of games, as the servers word them; `None`: the line is lost.
const ENDS_OF_GAMES: [Option<(&str, &str)>; 9] = [
    Some(("NAME resigns", "0-1")),
    Some(("NAME forfeits on time", "0-1")),
    Some(("NAME lost connection; game adjourned", "*")),
    Some(("adjourned", "*")),
    Some(("NAME aborts by disconnection", "*")),
    Some(("aborted", "*")),
    Some(("Game drawn by mutual agreement", "1/2-1/2")),
    Some(("Game courtesyadjourned by NAME", "*")),
    None,
];

#[test]
fn ends_are_read_for_any_names() {
    everyone(|dialect, us, opponent| {
        for end in ENDS_OF_GAMES {
            let case = format!("{dialect:?} {us} {opponent} {end:?}");
            let mut story = Story::begin(dialect, us, opponent);
            story.a_game();
            match end {
                Some((reason, result)) => {
                    story.game_ends(reason, result);
                    assert!(story.open.len() <= 1 && story.evening.session.current_id().is_none(), "{case}");
                    story.server.stored = None;
                }
                None => story.server.game = None,
            }
            story.is_over(&case);
            story
                .hear(vec![format!("{opponent} offers you a draw."), format!("{opponent} declines the draw request.")]);
            story.is_over(&case);
        }
    });
}

#[test]
fn adjourned_game_resumes_or_none() {
    everyone(|dialect, us, opponent| {
        for (is_given_up, is_eager, they_ask) in
            [(false, true, false), (false, false, true), (true, true, false), (true, false, false), (true, true, true)]
        {
            let case = format!("{dialect:?} {us} {opponent} {is_given_up} {is_eager} {they_ask}");
            let mut story = Story::begin(dialect, us, opponent);
            story.a_game();
            story.game_ends("NAME lost connection; game adjourned", "*");
            story.pass(1);
            story.server.is_eager = is_eager;
            if is_given_up {
                story.server.stored = None;
            }
            story.opponent_arrives();
            story.pass(70);
            if they_ask && story.server.game.is_none() && story.server.stored.is_some() {
                story.challenged("unrated blitz 5 0", true);
            }
            story.pass(130);
            let goes_on = !is_given_up && (they_ask || is_eager && dialect != Dialect::Uhlin);
            let game = story.server.game.as_ref().map(|table| table.ply);
            assert_eq!(game, goes_on.then_some(2), "{case}: {:?}", story.server.sent);
            assert_eq!(story.played.len(), if goes_on { 2 } else { story.played.len() }, "{case}");
            let matches = story.server.sent.iter().filter(|sent| sent.starts_with("match ")).count();
            assert!(matches <= 4, "{case}: {:?}", story.server.sent);
            story.game_ends("NAME resigns", "0-1");
            story.server.is_eager = false;
            story.is_over(&case);
        }
    });
}

#[test]
fn no_line_bypasses_the_policy() {
    for dialect in DIALECTS {
        for word in WORDS.split(' ') {
            let others = KINDS.into_iter().chain([word]).map(|kind| format!("unrated {kind} 5 0"));
            let all = ["rated blitz 5 0", "unrated blitz 3 0"].into_iter().map(str::to_owned).chain(others);
            for terms in all.filter(|terms| terms != "unrated blitz 5 0") {
                let terms = &terms;
                for marked in [false, true] {
                    let case = format!("{dialect:?} {word} {terms} {marked}");
                    let mut story = Story::begin(dialect, "Somebot", word);
                    story.challenged(terms, marked);
                    assert!(story.played.is_empty() && story.server.game.is_none(), "{case}: {:?}", story.server.sent);
                    story.is_over(&case);
                }
                // The server resumes a game as one that we have never agreed on.
                let mut story = Story::begin(dialect, "Somebot", word);
                story.server.stored = Some(Table { number: 0, we_are_white: false, terms: terms.clone(), ply: 2 });
                story.opponent_arrives();
                story.pass(70);
                story.challenged(terms, true);
                assert!(story.played.is_empty() && story.server.game.is_none(), "{dialect:?} {word} {terms}");
            }
        }
    }
}
