//! Reads a line into its [`FicsMessage`]: the first byte, then the first words decide. Each
//! function knows one family of lines.

use super::{
    FicsMessage, FicsOffer, GameParameters, ListedTime, MatchTerms, OfferKind, ShownRating, Speaker, SpeechKind,
    Style12, ending, is_name, listing,
};

impl FicsMessage {
    /// Reads one line. Cannot fail: what is not known is [`FicsMessage::Unknown`].
    pub fn read(line: String) -> Self {
        let known = match line.as_bytes().first() {
            Some(b'<') => machine(&line),
            Some(b'{') => ending::read(&line),
            Some(b'*') => starred(&line),
            Some(b':') => Some(Self::Service(line[1..].trim().to_owned())),
            Some(b'(') => acknowledgement(&line),
            Some(b'-') => dashed(&line),
            Some(b'"') => registration(&line),
            Some(b' ' | b'0'..=b'9') => {
                announcement(&line).or_else(|| listing::read(&line)).or_else(|| adjourned_online(&line))
            }
            // Sentences about a player come first: one may be called Illegal or Move, and none of the server's own has their form.
            Some(byte) if byte.is_ascii_alphabetic() => speech(&line)
                .or_else(|| about_player(&line))
                .or_else(|| listing::players(&line))
                .or_else(|| rating_adjustment(&line))
                .or_else(|| server_phrase(&line)),
            _ => None,
        };
        known.or_else(|| unknown_command(&line)).unwrap_or(Self::Unknown(line))
    }
}

/// Returns true if `text` begins with one of `starts`, which bars separate.
fn begins_with_any(text: &str, starts: &str) -> bool {
    starts.split('|').any(|start| text.starts_with(start))
}

/// Lines made for programs: `<12>`, `<g1>`, `<pf>` and so on.
fn machine(line: &str) -> Option<FicsMessage> {
    let (tag, rest) = line.split_at(line.find('>')? + 1);
    match tag {
        "<12>" => Style12::read(line).map(|board| FicsMessage::Board(Box::new(board))),
        "<g1>" => game_facts(rest).map(FicsMessage::GameFacts),
        "<pf>" | "<pt>" => offer(rest, tag == "<pt>").map(FicsMessage::Offer),
        "<pr>" => {
            rest.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok().map(FicsMessage::OffersGone)
        }
        // Seeks of others, a game's moves in short, pieces in hand: all of it is told in another way where it is for us.
        "<s>" | "<sn>" | "<sr>" | "<sc>" | "<d1>" | "<b1>" | "<a1>" => Some(FicsMessage::Noise),
        _ => None,
    }
}

fn game_facts(text: &str) -> Option<GameParameters> {
    let mut fields = text.split_ascii_whitespace();
    let mut facts = GameParameters { game: fields.next()?.parse().ok()?, ..GameParameters::default() };
    for field in fields {
        let (key, value) = field.split_once('=')?;
        let pair = value.split_once(',');
        match (key, pair) {
            ("t", _) => value.clone_into(&mut facts.kind),
            ("r", _) => facts.rated = value == "1",
            ("rt", Some((white, black))) => facts.ratings = [white, black].map(ShownRating::read),
            ("ts", Some((white, black))) => facts.timeseal = [white, black].map(|used| used == "1"),
            _ => {}
        }
    }
    (!facts.kind.is_empty()).then_some(facts)
}

fn offer(text: &str, ours: bool) -> Option<FicsOffer> {
    let (index, rest) = text.trim_start().split_once(' ')?;
    let (with, rest) = rest.strip_prefix("w=")?.split_once(' ')?;
    let (kind, parameters) = rest.strip_prefix("t=")?.split_once(" p=")?;
    let what = match OfferKind::of_word(kind).unwrap_or(OfferKind::Other) {
        OfferKind::Takeback(_) => OfferKind::Takeback(parameters.trim().parse().ok()?),
        what => what,
    };
    let terms = match what {
        OfferKind::Match => Some(Box::new(MatchTerms::read(parameters)?)),
        _ => None,
    };
    Some(FicsOffer { index: index.parse().ok()?, ours, with: speaker(with)?.0.name, what, terms })
}

/// `**** ... ****` and `**ANNOUNCEMENT**`.
fn starred(line: &str) -> Option<FicsMessage> {
    let words = line.trim_matches(['*', ' ']);
    let said = || words.to_owned();
    if let Some((_, session)) = words.strip_prefix("Starting ").and_then(|words| words.split_once(" session as ")) {
        return speaker(session).map(|(speaker, _)| FicsMessage::Session(speaker));
    }
    // An administrator may say anything in one.
    if words.starts_with("ANNOUNCEMENT") {
        return Some(if shuts_down(words) { FicsMessage::Shutdown(said()) } else { FicsMessage::Noise });
    }
    let arrived = words.split_once(" has arrived").filter(|(name, _)| is_name(name));
    Some(if words.starts_with("Invalid password") {
        FicsMessage::WrongPassword
    } else if arrived.is_some_and(|(_, rest)| rest.contains("you can't both be logged in")) {
        FicsMessage::Displaced
    } else if words.contains("is already logged in") {
        // We are the newcomer: the other connection, most likely our own lost one, is closed.
        FicsMessage::Noise
    } else if words.starts_with("You have been kicked out") {
        FicsMessage::Kicked(said())
    } else if words.starts_with("Auto-logout") || words.starts_with("LOGIN TIMEOUT") {
        FicsMessage::TimedOut(said())
    } else if shuts_down(words) {
        FicsMessage::Shutdown(said())
    } else {
        return login_refusal(words);
    })
}

/// `    **ANNOUNCEMENT** ...`: some servers indent what they tell everybody. Nothing else is believed of such a line.
fn announcement(line: &str) -> Option<FicsMessage> {
    let text = line.trim_start();
    let known = text.starts_with("**").then(|| starred(text)).flatten();
    known.filter(|message| matches!(message, FicsMessage::Shutdown(_) | FicsMessage::Noise))
}

fn shuts_down(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    ["shutdown", "shutting down", "going down", "server is down"].into_iter().any(|part| words.contains(part))
}

/// Reads the reason for a refused login from a line that begins in the server's own way.
fn login_refusal(words: &str) -> Option<FicsMessage> {
    let lower = words.to_ascii_lowercase();
    let any = |parts: &str| parts.split('|').any(|part| lower.contains(part));
    let full = "server is full|reached its limit|too many users|too many connections|maximum number of|try again later";
    Some(if any("is banned|are banned|logins are blocked|no longer allowed|not allowed to log") {
        FicsMessage::Banned(words.to_owned())
    } else if any(full) {
        FicsMessage::Full(words.to_owned())
    } else if any("name should be|names should be|names may be|names can only|is not a valid name") {
        FicsMessage::BadName(words.to_owned())
    } else {
        return None;
    })
}

/// `(told X, who is playing)` and the like.
fn acknowledgement(line: &str) -> Option<FicsMessage> {
    let known = "(told |(kibitzed to |(whispered to |(After logging in|(shouted to |(c-shouted to ";
    let counted = || {
        let (count, rest) = line[1..].split_once(' ')?;
        (count.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with("player")).then_some(())
    };
    (begins_with_any(line, known) || counted().is_some()).then_some(FicsMessage::Noise)
}

/// `--** X is a computer **--`, `--> X shouts`, and rules across the screen.
fn dashed(line: &str) -> Option<FicsMessage> {
    if let Some(words) = line.strip_prefix("--** ") {
        let name = words.split_once(" is a computer").map(|(name, _)| name);
        let name = name.filter(|name| is_name(name));
        return Some(name.map_or(FicsMessage::Noise, |name| FicsMessage::IsComputer(name.to_owned())));
    }
    let is_rule = line.bytes().all(|byte| matches!(byte, b'-' | b' '));
    (line.starts_with("--> ") || is_rule).then_some(FicsMessage::Noise)
}

/// `"X" is a registered name.` or not.
fn registration(line: &str) -> Option<FicsMessage> {
    line.contains("registered name").then_some(FicsMessage::Noise)
}

/// `1 player, who has an adjourned game with you, is online: X`
fn adjourned_online(line: &str) -> Option<FicsMessage> {
    let (count, rest) = line.split_once(' ')?;
    if !count.bytes().all(|byte| byte.is_ascii_digit()) || !rest.starts_with("player") {
        return None;
    }
    let (_, names) = rest.split_once("adjourned game with you")?.1.split_once("online:")?;
    let names = names.split_ascii_whitespace().filter_map(|name| Some(speaker(name)?.0.name)).collect();
    Some(FicsMessage::AdjournedOnline(names))
}

/// `frobnicate: Command not found.` and what other servers say instead.
fn unknown_command(line: &str) -> Option<FicsMessage> {
    let ends = ": Command not found|: Command has failed|: command not found|: Unknown command|: No such command";
    let starts = "No such command (|Unknown command: |Unknown command |Bad command: ";
    let bare = line.trim_end_matches(['.', '!']);
    let command = ends
        .split('|')
        .find_map(|end| bare.strip_suffix(end))
        .or_else(|| Some(starts.split('|').find_map(|start| bare.strip_prefix(start))?.trim_end_matches(')')))?;
    let command = command.trim_matches(['"', '\'']).to_owned();
    // A server repeats what we have sent; before that no other person's words can stand.
    let is_repeated = command.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric) && !command.contains(": ");
    is_repeated.then_some(FicsMessage::UnknownCommand { command })
}

/// `blitz rating adjustment: 1500 --> 1512`; the kind of game may be several words, such as `wild/fr` or `blitz crazyhouse`.
fn rating_adjustment(line: &str) -> Option<FicsMessage> {
    let (kind, ratings) = line.split_once(" rating adjustment: ")?;
    // Speech has a colon before it.
    if !kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'/' | b'-')) {
        return None;
    }
    let (before, after) = ratings.split_once("-->")?;
    let [before, after] = [before, after].map(|rating| ShownRating::read(rating).value);
    let change = before.zip(after).and_then(|(before, after)| i32::try_from(i64::from(after) - i64::from(before)).ok());
    Some(FicsMessage::RatingAdjusted(change))
}

type Reading = fn(&str) -> Option<FicsMessage>;

/// Beginnings of the server's own lines, separated by bars, and their meanings. The first that fits counts.
const PHRASES: &[(&str, Reading)] = &[
    ("login: |Login: ", |_| Some(FicsMessage::AskName)),
    ("password: |Password: ", |_| Some(FicsMessage::AskPassword)),
    ("Press return|Press enter|Hit return|Hit enter", |line| {
        Some(FicsMessage::AskReturn(line.split('"').nth(1).map(str::to_owned)))
    }),
    ("Invalid move|Illegal move", |_| Some(FicsMessage::IllegalMove)),
    ("Invalid password|Incorrect password|Wrong password", |_| Some(FicsMessage::WrongPassword)),
    ("Challenge: ", |line| terms(line).map(FicsMessage::Challenge)),
    ("Issuing: ", |line| terms(line).map(FicsMessage::Issued)),
    ("Creating: ", |line| terms(line).map(FicsMessage::Creating)),
    ("Challenge from ", challenge_removed),
    (
        "It is not your move|It is not your turn|It's not your move|It's not your turn|Not your move|Not your turn",
        |_| Some(FicsMessage::NotOurMove),
    ),
    ("You can't flag an untimed", |_| Some(FicsMessage::NoClock)),
    ("Opponent is not out of time|Opponent has timeseal|Checking |The clock is not ticking|You can't flag", |_| {
        Some(FicsMessage::NotFlagged)
    }),
    ("Draw |Abort |Adjourn |Takeback |Switch |Pause |Unpause ", |line| {
        let kind = OfferKind::in_words(&line.to_ascii_lowercase()).filter(|_| line.contains("request sent"));
        kind.map(FicsMessage::AskSent)
    }),
    ("Offering |Requesting ", |line| OfferKind::in_words(line).map(FicsMessage::AskSent)),
    (
        "Accepting |Declining |Issuing |Removing |Ads |Logging |Thank |Ignoring |Movelist |Updating |Setting |Move |\
         Challenge to |Stored games for ",
        noise,
    ),
    ("Notification: ", notification),
    ("Player ", about_named_player),
    ("No ratings adjustment", |_| Some(FicsMessage::RatingAdjusted(None))),
    ("No such command", unknown_command),
    ("No such variable|No such ivariable|Bad value|Cannot alter", |line| {
        Some(FicsMessage::SettingRefused(line.to_owned()))
    }),
    (
        "There are no offers to|There are no pending offers|There is no offer|\
         You have no offers|You have more than one|You have no pending",
        no_such_offer,
    ),
    (
        "Match request|No player named|No user named|No such player|No such category|There is no player matching|\
         There is no such|Can't interpret ",
        refusal,
    ),
    ("There are no|There is no", noise),
    ("Local time|Server time|Greenwich time|GM time", |line| {
        Some(ListedTime::read(line).map_or(FicsMessage::Noise, FicsMessage::ServerTime))
    }),
    ("Server ", |line| {
        let goes_down = line.strip_prefix("Server ").is_some_and(shuts_down);
        if goes_down { Some(FicsMessage::Shutdown(line.to_owned())) } else { login_refusal(line) }
    }),
    ("Finger of |Statistics for ", |_| Some(FicsMessage::FingerBegins)),
    (
        "All players must be registered to adj|Both players must be registered to adj|You must be registered to adj",
        |_| Some(FicsMessage::CannotAdjourn),
    ),
    ("On for", |_| Some(FicsMessage::Presence(true))),
    ("Last disconnected", |_| Some(FicsMessage::Presence(false))),
    ("Only registered players may have stored games", |_| Some(FicsMessage::StoredEnd)),
    ("Only registered players", refusal),
    ("Rated |Unrated ", |line| line.contains("match, initial time").then_some(FicsMessage::Noise)),
    ("Game ", about_game),
    ("Command ignored", |line| Some(FicsMessage::UnknownCommand { command: line.to_owned() })),
    ("The |A |Names |Sorry, |Due ", login_refusal),
    ("You can \"accept\"", |_| Some(FicsMessage::ChallengeEnds)),
    ("You are not playing|You are neither playing|You have no game", |_| Some(FicsMessage::NotPlaying)),
    (
        "You have an adjourned game with |You can't|You cannot|You can only have|You are on |You are already|You must |\
         You do not |You don't ",
        refusal,
    ),
    ("You have ", |line| if line.contains(" on your noplay list") { refusal(line) } else { noise(line) }),
    ("You accept|You decline|You withdraw|You will |You are now|You are connected|You can |You would ", noise),
    ("Your opponent", about_opponent),
    ("Your ", your),
];

/// Lines that begin with words of the server's own.
fn server_phrase(line: &str) -> Option<FicsMessage> {
    // A word that a blank ends may also be the whole line.
    let is_word = |start: &str| start.strip_suffix(' ').is_some_and(|word| word == line && !word.contains(' '));
    let begins = |start: &str| line.starts_with(start) || is_word(start);
    let (_, reading) = PHRASES.iter().find(|(starts, _)| starts.split('|').any(begins))?;
    reading(line)
}

fn noise(_line: &str) -> Option<FicsMessage> {
    Some(FicsMessage::Noise)
}

/// Reads the terms after the first word.
fn terms(line: &str) -> Option<Box<MatchTerms>> {
    MatchTerms::read(line.split_once(' ')?.1).map(Box::new)
}

/// `Challenge from X removed.`
fn challenge_removed(line: &str) -> Option<FicsMessage> {
    let name = line.strip_prefix("Challenge from ")?.strip_suffix(" removed.").filter(|name| is_name(name))?;
    Some(FicsMessage::Withdrawn { by: name.to_owned(), what: OfferKind::Match })
}

/// `Player "X" is involved in another game.`
fn about_named_player(line: &str) -> Option<FicsMessage> {
    if line.ends_with("has no games stored.") {
        Some(FicsMessage::StoredEnd)
    } else if line.contains("banned") {
        Some(FicsMessage::Banned(line.to_owned()))
    } else {
        refusal(line)
    }
}

/// `X, who has an adjourned game with you, has arrived.`
fn notification(line: &str) -> Option<FicsMessage> {
    let (speaker, after) = speaker(line.split_once(' ')?.1)?;
    let (adjourned, news) = match after.strip_prefix(", ").and_then(|after| after.split_once(", ")) {
        Some((clause, news)) => (clause.contains("adjourned game with you"), news),
        None => (false, after.trim_start()),
    };
    let arrived = news.starts_with("has arrived");
    (arrived || news.starts_with("has departed")).then_some(FicsMessage::Notification {
        name: speaker.name,
        arrived,
        adjourned,
    })
}

fn refusal(line: &str) -> Option<FicsMessage> {
    Some(FicsMessage::Refused { words: line.to_owned(), about: named(line) })
}

/// `There are no pending offers from X.`, `There is no offer 5 to accept.` What we decline is done with for us, there or not.
fn no_such_offer(line: &str) -> Option<FicsMessage> {
    if line.contains(" to decline") || line.contains(" to withdraw") {
        return Some(FicsMessage::Noise);
    }
    let number = || line.split([' ', '.']).find(|word| word.parse::<u32>().is_ok()).map(str::to_owned);
    Some(FicsMessage::NoSuchOffer(named(line).or_else(number)))
}

/// The player whom a line of the server's own words names.
fn named(line: &str) -> Option<String> {
    let before = "Player \"| named \"|matching the name |pending offers from |pending offers to |adjourned game with ";
    let rest = before.split('|').find_map(|words| Some(line.split_once(words)?.1))?;
    Some(speaker(rest)?.0.name)
}

/// `Game 12: X has lagged for 30 seconds.`
fn about_game(line: &str) -> Option<FicsMessage> {
    let number = line.strip_prefix("Game ")?.split_once(':')?.0;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(FicsMessage::Noise)
}

/// `Your opponent has lost contact or quit.`
fn about_opponent(line: &str) -> Option<FicsMessage> {
    if line.contains("has lost contact") {
        Some(FicsMessage::OpponentLost)
    } else if line.contains("not out of time") || line.contains("has timeseal") {
        Some(FicsMessage::NotFlagged)
    } else {
        more_time(line)
    }
}

/// `Your seek has been posted with index 46.`
fn your(line: &str) -> Option<FicsMessage> {
    if let Some((_, index)) = line.split_once("posted with index ") {
        return index.trim_end_matches('.').parse().ok().map(FicsMessage::SeekPosted);
    }
    let known =
        "communication|seek|new RD|blitz rating|challenge intercepts|lightning rating|standard rating|interface";
    let is_known = begins_with_any(line.strip_prefix("Your ")?, known) || line.contains("rating will change");
    is_known.then_some(FicsMessage::Noise)
}

/// `... has added 30 seconds to your clock.`
fn more_time(words: &str) -> Option<FicsMessage> {
    let (seconds, rest) = words.split_once("has added ")?.1.split_once(' ')?;
    rest.contains("to your clock").then_some(())?;
    seconds.parse().ok().map(FicsMessage::MoreTime)
}

/// Reads `Name(titles)[game]` and gives what follows.
fn speaker(text: &str) -> Option<(Speaker, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let (name, mut rest) = text.split_at(length);
    if !is_name(name) {
        return None;
    }
    let mut titles = Vec::new();
    let mut game = None;
    loop {
        if let Some((title, after)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            titles.push(title.trim().to_owned());
            rest = after;
        } else if let Some((number, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            game = number.parse().ok();
            rest = after;
        } else {
            return Some((Speaker { name: name.to_owned(), titles, game }, rest));
        }
    }
}

/// `Name(titles) tells you: ...`
fn speech(line: &str) -> Option<FicsMessage> {
    let (by, rest) = speaker(line)?;
    let (verb, _) = rest.strip_prefix(' ')?.split_once(": ")?;
    let manner = match verb {
        "tells you" => SpeechKind::Tell,
        "says" => SpeechKind::Say,
        "kibitzes" => SpeechKind::Kibitz,
        "whispers" => SpeechKind::Whisper,
        _ => return None,
    };
    let text = rest.get(verb.len() + 3..)?.to_owned();
    Some(FicsMessage::Speech { by, manner, text })
}

/// Lines that begin with a player's name.
fn about_player(line: &str) -> Option<FicsMessage> {
    let (by, rest) = speaker(line)?;
    // `Name(53): ...` is a channel; `Name: ...` nothing we know.
    if rest.starts_with(": ") {
        return (!by.titles.is_empty()).then_some(FicsMessage::Noise);
    }
    // It may be with us that they have begun to play; the board will show it.
    if begins_with_any(rest, ", who was challenging you, has |, whom you were challenging, has ") {
        return Some(FicsMessage::Withdrawn { by: by.name, what: OfferKind::Match });
    }
    let rest = rest.trim_start();
    if rest.starts_with('(') {
        // An advertisement: `Ann (1500) seeking 5 0 ...`.
        return rest.contains(") seeking ").then_some(FicsMessage::Noise);
    }
    let (verb, object) = rest.split_once(' ')?;
    let refusal = |by: Speaker| FicsMessage::Refused { words: line.to_owned(), about: Some(by.name) };
    match verb {
        "shouts:" | "c-shouts:" | "seeking" | "accepts" | "updates" | "adjusts" | "intercepts" => {
            Some(FicsMessage::Noise)
        }
        "offers" => {
            let draw = object.trim_start_matches("you ").starts_with("a draw");
            draw.then_some(FicsMessage::Asked { by: by.name, what: OfferKind::Draw })
        }
        "would" | "requests" | "wants" | "asks" => asked(object).map(|what| FicsMessage::Asked { by: by.name, what }),
        "declines" => OfferKind::in_words(object).map(|what| FicsMessage::Declined { by: by.name, what }),
        "withdraws" => OfferKind::in_words(object).map(|what| FicsMessage::Withdrawn { by: by.name, what }),
        "has" if object.starts_with("no adjourned games") || object.starts_with("no stored games") => {
            Some(FicsMessage::StoredEnd)
        }
        "has" => more_time(rest).or_else(|| {
            let gone = object.starts_with("lost contact") || object.starts_with("disconnected");
            gone.then_some(FicsMessage::OpponentLost)
        }),
        "is" => {
            let refusals =
                "not open|censoring|playing|involved|in a tournament|not logged in|not online|examining|away";
            begins_with_any(object, refusals).then(|| refusal(by))
        }
        "only" => object.starts_with("wants to play ").then(|| refusal(by)),
        "set" | "unset" | "set." | "unset." | "left" => Some(FicsMessage::Noise),
        _ => None,
    }
}

/// `like to take back 2 half move(s).`, `to abort game 1.`
fn asked(object: &str) -> Option<OfferKind> {
    if let Some((_, count)) = object.split_once("take back ") {
        return count.split(' ').next()?.parse().ok().map(OfferKind::Takeback);
    }
    OfferKind::in_words(object)
}
