//! Whole evenings against a small server in each dialect, on which players and terms are called like words of the protocol.
//!
//! Whatever they are called: no game is lost, begun against the policy, left unended, or resumed as another variant, and no command
//! reaches anyone but the opponent.

use std::collections::BTreeSet;

use super::*;
use chess::{DeclineReason, GameInfo, Variant};

/// First words of the server's sentences, commands and their abbreviations, and markers.
const WORDS: [&str; 78] = [
    "Creating",
    "Continuing",
    "Game",
    "Challenge",
    "Issuing",
    "Offering",
    "Requesting",
    "Accepting",
    "Declining",
    "Removing",
    "Updating",
    "Setting",
    "Notification",
    "Match",
    "Player",
    "Players",
    "No",
    "There",
    "Bad",
    "Can",
    "Cannot",
    "The",
    "Local",
    "Server",
    "Stored",
    "Finger",
    "Statistics",
    "All",
    "Both",
    "Neither",
    "Partners",
    "On",
    "Last",
    "Move",
    "Movelist",
    "Only",
    "Rated",
    "Unrated",
    "Command",
    "Names",
    "Sorry",
    "Due",
    "You",
    "Your",
    "It",
    "Not",
    "Opponent",
    "Checking",
    "Illegal",
    "Invalid",
    "Press",
    "Draw",
    "Abort",
    "Adjourn",
    "Takeback",
    "Switch",
    "Pause",
    "draw",
    "abort",
    "adjourn",
    "accept",
    "decline",
    "withdraw",
    "match",
    "resume",
    "resign",
    "resigns",
    "stored",
    "history",
    "moves",
    "refresh",
    "dra",
    "mat",
    "acc",
    "tell",
    "adjourned",
    "aborted",
    "guest",
];

/// Kinds of games that the policy of these tests takes, and others.
const PLAYED: &str = "blitz";
const KINDS: [&str; 10] =
    ["suicide", "wild/1", "bughouse", "blitz suicide", "wild", "draw", "Creating", "(adjourned)", "resigns", "match"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Freechess,
    Fatics,
    Capablanca,
    /// A match proposes a new game although one waits.
    Uhlin,
    /// The same server, when it can read back what it has adjourned.
    Uhlin2,
}

const DIALECTS: [Dialect; 5] =
    [Dialect::Freechess, Dialect::Fatics, Dialect::Capablanca, Dialect::Uhlin, Dialect::Uhlin2];

impl Dialect {
    const fn numbers_offers(self) -> bool {
        matches!(self, Self::Freechess | Self::Fatics)
    }
}

#[derive(Clone, Debug)]
struct Table {
    number: u32,
    we_are_white: bool,
    terms: String,
    ply: usize,
}

#[derive(Clone, Debug)]
struct Offer {
    index: u32,
    ours: bool,
    terms: String,
    resumes: bool,
}

/// The server, with us and one opponent on it.
struct SmallServer {
    dialect: Dialect,
    us: String,
    opponent: String,
    offers: Vec<Offer>,
    serial: u32,
    stored: Option<Table>,
    game: Option<Table>,
    /// Whether the opponent accepts whatever we offer at once.
    is_eager: bool,
    sent: Vec<String>,
}

impl SmallServer {
    fn board(&self, table: &Table) -> String {
        const PLACEMENTS: [&str; 4] = [
            "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1",
            "rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4",
            "rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR W 4",
            "rnbqkbnr pppp-ppp -------- ----p--- ----P--- -----N-- PPPP-PPP RNBQKB-R B -1",
        ];
        const LAST: [&str; 4] = ["none (0:00) none", "P/e2-e4 (0:00) e4", "P/e7-e5 (0:00) e5", "N/g1-f3 (0:00) Nf3"];
        let [white, black] = self.seats(table);
        let relation = if table.ply.is_multiple_of(2) == table.we_are_white { 1 } else { -1 };
        format!(
            "<12> {} 1 1 1 1 0 {} {white} {black} {relation} 5 0 39 39 300 300 {} {} 1 0",
            PLACEMENTS[table.ply],
            table.number,
            table.ply / 2 + 1,
            LAST[table.ply],
        )
    }

    fn seats(&self, table: &Table) -> [&str; 2] {
        if table.we_are_white { [&self.us, &self.opponent] } else { [&self.opponent, &self.us] }
    }

    /// The opponent challenges us.
    fn challenges(&mut self, terms: &str, resumes: bool) -> Vec<String> {
        self.serial += 1;
        let offer = Offer { index: self.serial, ours: false, terms: terms.to_owned(), resumes };
        let mark = if resumes { " (adjourned)" } else { "" };
        let said = format!("{} (----) {} (----) {terms}{mark}", self.opponent, self.us);
        let mut lines = vec![format!("Challenge: {said}."), ENDS.to_owned()];
        if self.dialect.numbers_offers() {
            lines.push(format!("<pf> {} w={} t=match p={said}", offer.index, self.opponent));
        }
        self.offers.retain(|offer| offer.ours);
        self.offers.push(offer);
        lines
    }

    fn issue(&mut self, terms: &str, resumes: bool) -> Vec<String> {
        self.serial += 1;
        let offer = Offer { index: self.serial, ours: true, terms: terms.to_owned(), resumes };
        let mark = if resumes { " (adjourned)" } else { "" };
        let said = format!("{} (----) {} (----) {terms}{mark}", self.us, self.opponent);
        let mut lines = vec![format!("Issuing: {said}.")];
        if self.dialect.numbers_offers() {
            lines.push(format!("<pt> {} w={} t=match p={said}", offer.index, self.opponent));
        }
        if self.is_eager {
            lines.push(format!("{} accepts the match offer.", self.opponent));
            lines.extend(self.begin(&offer, true));
        } else {
            self.offers.push(offer);
        }
        lines
    }

    fn begin(&mut self, offer: &Offer, we_are_white: bool) -> Vec<String> {
        self.serial += 1;
        let stored = self.stored.take_if(|_| offer.resumes);
        let table = match stored {
            Some(table) => Table { number: self.serial, ..table },
            None => Table { number: self.serial, we_are_white, terms: offer.terms.clone(), ply: 0 },
        };
        self.offers.clear();
        let [white, black] = self.seats(&table);
        let (rated, kind) = table.terms.split_once(' ').expect("rated or not");
        let kind = kind.trim_end_matches(" 5 0").trim_end_matches(" 2 12");
        let verb = if offer.resumes { "Continuing" } else { "Creating" };
        let mut lines = Vec::new();
        if !matches!(self.dialect, Dialect::Uhlin | Dialect::Uhlin2) {
            lines.push(format!("Creating: {white} (0) {black} (0) {}", table.terms));
        }
        lines.push(format!("{{Game {} ({white} vs. {black}) {verb} {rated} {kind} match.}}", table.number));
        lines.push(self.board(&table));
        self.game = Some(table);
        lines
    }

    /// The line that ends the game on the board; `NAME` is the opponent's.
    fn ends(&mut self, reason: &str, result: &str) -> Vec<String> {
        let Some(table) = self.game.take() else { return Vec::new() };
        let [white, black] = self.seats(&table);
        let reason = reason.replace("NAME", &self.opponent).replace("US", &self.us);
        let line = format!("{{Game {} ({white} vs. {black}) {reason}}} {result}", table.number);
        if reason.contains("adjourned") && !reason.ends_with("resigns") {
            self.stored = Some(table);
        }
        if self.dialect == Dialect::Fatics { vec![line] } else { vec![line, "No ratings adjustment done.".to_owned()] }
    }

    /// Whom a name means: the exact one, or whoever's begins so.
    fn is_opponent(&self, name: &str) -> bool {
        self.opponent.to_lowercase().starts_with(&name.to_lowercase()) && !name.is_empty()
    }

    fn offer_by(&self, handle: &str, ours: bool) -> Option<Offer> {
        const KINDS_OF_OFFERS: [&str; 8] = ["match", "draw", "abort", "adjourn", "takeback", "switch", "pause", "all"];
        let is_meant = |offer: &&Offer| match handle.parse::<u32>() {
            Ok(index) => offer.index == index,
            Err(_) => !KINDS_OF_OFFERS.contains(&handle.to_lowercase().as_str()) && self.is_opponent(handle),
        };
        self.offers.iter().filter(|offer| offer.ours == ours).find(is_meant).cloned()
    }

    fn answers(&mut self, command: &str) -> Vec<String> {
        self.sent.push(command.to_owned());
        let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
        let target = rest.split(' ').next().unwrap_or_default();
        if matches!(word, "match" | "resume" | "tell" | "accept" | "decline" | "withdraw" | "finger") {
            let is_index = self.dialect.numbers_offers() && target.parse::<u32>().is_ok();
            assert!(is_index || self.is_opponent(target), "{command:?} reaches somebody else");
        }
        let unknown = || match self.dialect {
            Dialect::Uhlin | Dialect::Uhlin2 => vec![format!("{word}: Command has failed.")],
            _ => vec![format!("{word}: Command not found.")],
        };
        let say = |line: &str| vec![line.to_owned()];
        let resumes = self.stored.is_some() && self.dialect != Dialect::Uhlin;
        match word {
            "stored" => match (&self.stored, self.dialect) {
                (None, Dialect::Capablanca) => say("0 stored games found."),
                (None, _) => vec![format!("{} has no adjourned games.", self.us)],
                (Some(_), Dialect::Capablanca) => {
                    vec![format!("   {} vs. {}", self.us, self.opponent), "1 stored game found.".to_owned()]
                }
                (Some(table), _) => {
                    let rated = if table.terms.starts_with("rated") { 'r' } else { 'u' };
                    let kind = if table.terms.contains(PLAYED) { 'b' } else { 'S' };
                    let color = if table.we_are_white { 'W' } else { 'B' };
                    let opponent = &self.opponent;
                    vec![format!(
                        " 1: {color} {opponent:<15.15} Y [ {kind}{rated}  5   0] 39-39 W2 C20 Fri Nov 20, 21:10 UTC 2026"
                    )]
                }
            },
            "history" => vec![format!("{} has no history games.", self.us)],
            "date" => say("Local time     - Fri Nov 20, 21:12 UTC 2026"),
            "resume" if self.dialect != Dialect::Freechess => unknown(),
            "resume" if !resumes => vec![format!("{target} has no adjourned games.")],
            "match" if resumes && self.dialect == Dialect::Fatics && rest.contains(' ') => vec![format!(
                "You have an adjourned game with {}.  You cannot start a new game until you finish it.",
                self.opponent
            )],
            "resume" | "match" if resumes => {
                let terms = self.stored.as_ref().map(|table| table.terms.clone()).unwrap_or_default();
                self.issue(&terms, true)
            }
            "match" => {
                let terms = if rest.contains("unrated") { "unrated blitz 5 0" } else { "rated blitz 2 12" };
                self.issue(terms, false)
            }
            "withdraw" => match self.offer_by(target, true) {
                Some(offer) => {
                    self.offers.retain(|other| other.index != offer.index);
                    vec![format!("You withdraw the match offer to {}.", self.opponent)]
                }
                None => say("You have no offers to withdraw."),
            },
            "accept" => match self.offer_by(target, false) {
                Some(offer) => {
                    let mut lines = vec![format!("You accept the challenge of {}.", self.opponent)];
                    if self.dialect.numbers_offers() {
                        lines.push(format!("<pr> {}", offer.index));
                    }
                    lines.extend(self.begin(&offer, false));
                    lines
                }
                None => say("You have no offers to accept."),
            },
            "decline" => {
                self.offers.retain(|offer| offer.ours);
                vec![format!("You decline the match offer from {}.", self.opponent)]
            }
            "refresh" => match &self.game {
                Some(table) => vec![self.board(table)],
                None => say("You are neither playing, observing nor examining a game."),
            },
            "e2e4" | "e7e5" | "g1f3" => match &mut self.game {
                Some(table) => {
                    table.ply += 1;
                    let table = table.clone();
                    vec![self.board(&table)]
                }
                None => say("You are not playing or examining a game."),
            },
            "abort" if self.game.as_ref().is_some_and(|table| table.ply < 2) && self.dialect.numbers_offers() => {
                self.ends("Game aborted on move 1", "*")
            }
            "resign" if self.game.is_some() => self.ends("US resigns", "1-0"),
            "abort" | "adjourn" if self.game.is_some() => say("Abort request sent."),
            "abort" | "resign" | "moves" | "flag" | "draw" | "adjourn" if self.game.is_none() => {
                say("You are not playing a game.")
            }
            "tell" | "say" | "set" | "flag" | "draw" => say("Done."),
            _ => unknown(),
        }
    }
}

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
        let (us, opponent) = (us.to_owned(), opponent.to_owned());
        let speaker = Speaker { name: us.clone(), titles: vec!["C".to_owned()], game: None };
        let session = FicsSession::new(FicsSettings::default(), "run".to_owned());
        let server = SmallServer {
            dialect,
            us,
            opponent,
            offers: Vec::new(),
            serial: 0,
            stored: None,
            game: None,
            is_eager: false,
            sent: Vec::new(),
        };
        let evening = Evening { session, now: Instant::now(), tickets: 0 };
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
        for line in lines {
            self.evening.session.on(FicsMessage::read(line), self.evening.now);
        }
        self.evening.session.prompted(self.evening.now);
        self.settle();
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
                        for line in lines {
                            self.evening.session.on(FicsMessage::read(line), self.evening.now);
                        }
                        self.evening.session.prompted(self.evening.now);
                    }
                    SessionEffect::Event(event) => self.told(event),
                    SessionEffect::Nudge | SessionEffect::Answer(..) => {}
                }
            }
        }
    }

    fn act(&mut self, action: Action) {
        self.evening.tickets += 1;
        let ticket = Ticket(self.evening.tickets);
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

    /// Moves where it is our turn, once a ply.
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

    /// The opponent moves.
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
        let lines = self.server.challenges("unrated blitz 5 0", false);
        self.hear(lines);
        assert_eq!(self.server.game.as_ref().map(|table| table.ply), Some(0), "{:?}", self.server.sent);
        self.opponent_moves();
        assert_eq!(self.server.game.as_ref().map(|table| table.ply), Some(2), "we have answered");
        assert_eq!(self.played.len(), 1);
    }

    /// Nothing is left: no game runs, here or there, and another one can begin.
    #[track_caller]
    fn is_over(&mut self, case: &str) {
        self.pass(200);
        assert!(self.open.is_empty(), "{case}: {:?} are not told to be over", self.open);
        assert!(self.evening.session.running().is_empty(), "{case}");
        assert!(self.server.game.is_none(), "{case}: {:?} is left on the server", self.server.game);
    }
}

/// Every word as the opponent's name and as ours.
fn everyone(mut check: impl FnMut(Dialect, &str, &str)) {
    for dialect in DIALECTS {
        for word in WORDS {
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
fn every_end_is_understood_whatever_players_are_called() {
    everyone(|dialect, us, opponent| {
        for end in ENDS_OF_GAMES {
            let case = format!("{dialect:?} {us} {opponent} {end:?}");
            let mut story = Story::begin(dialect, us, opponent);
            story.a_game();
            match end {
                Some((reason, result)) => {
                    let lines = story.server.ends(reason, result);
                    story.hear(lines);
                    assert!(story.open.len() <= 1 && story.evening.session.running().is_empty(), "{case}");
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
fn an_adjourned_game_goes_on_or_nothing_does() {
    everyone(|dialect, us, opponent| {
        for (is_given_up, is_eager, they_ask) in
            [(false, true, false), (false, false, true), (true, true, false), (true, false, false), (true, true, true)]
        {
            let case = format!("{dialect:?} {us} {opponent} {is_given_up} {is_eager} {they_ask}");
            let mut story = Story::begin(dialect, us, opponent);
            story.a_game();
            let lines = story.server.ends("NAME lost connection; game adjourned", "*");
            story.hear(lines);
            story.pass(1);
            story.server.is_eager = is_eager;
            if is_given_up {
                story.server.stored = None;
            }
            let here = format!("Notification: {opponent}, who has an adjourned game with you, has arrived.");
            story.hear(vec![here]);
            story.pass(70);
            if they_ask && story.server.game.is_none() && story.server.stored.is_some() {
                let lines = story.server.challenges("unrated blitz 5 0", true);
                story.hear(lines);
            }
            story.pass(130);
            let goes_on = !is_given_up && (they_ask || is_eager && dialect != Dialect::Uhlin);
            let game = story.server.game.as_ref().map(|table| table.ply);
            assert_eq!(game, goes_on.then_some(2), "{case}: {:?}", story.server.sent);
            assert_eq!(story.played.len(), if goes_on { 2 } else { story.played.len() }, "{case}");
            let matches = story.server.sent.iter().filter(|sent| sent.starts_with("match ")).count();
            assert!(matches <= 4, "{case}: {:?}", story.server.sent);
            let lines = story.server.ends("NAME resigns", "0-1");
            story.hear(lines);
            story.server.is_eager = false;
            story.is_over(&case);
        }
    });
}

#[test]
fn no_words_begin_a_game_against_the_policy() {
    for dialect in DIALECTS {
        for word in WORDS {
            let lines: Vec<String> = ["rated blitz 5 0", "unrated blitz 3 0"]
                .map(str::to_owned)
                .into_iter()
                .chain(KINDS.map(|kind| format!("unrated {kind} 5 0")))
                .chain([format!("unrated {word} 5 0")])
                .collect();
            for terms in lines.iter().filter(|terms| *terms != "unrated blitz 5 0") {
                for marked in [false, true] {
                    let case = format!("{dialect:?} {word} {terms} {marked}");
                    let mut story = Story::begin(dialect, "Somebot", word);
                    let lines = story.server.challenges(terms, marked);
                    story.hear(lines);
                    assert!(story.played.is_empty() && story.server.game.is_none(), "{case}: {:?}", story.server.sent);
                    story.is_over(&case);
                }
                // The server resumes a game as one that we have never agreed on.
                let mut story = Story::begin(dialect, "Somebot", word);
                story.server.stored = Some(Table { number: 0, we_are_white: false, terms: terms.clone(), ply: 2 });
                let here = format!("Notification: {word}, who has an adjourned game with you, has arrived.");
                story.hear(vec![here]);
                story.pass(70);
                let lines = story.server.challenges(terms, true);
                story.hear(lines);
                assert!(story.played.is_empty() && story.server.game.is_none(), "{dialect:?} {word} {terms}");
            }
        }
    }
}
