//! Reads a line into its [`FicsMessage`]: the first byte, then the first words decide. Each
//! function knows one family of lines.

use super::{
    FicsMessage, FicsOffer, GameParameters, ListedTime, MatchTerms, OfferKind, ShownRating, Speaker, SpeechKind,
    Style12, ending, listing, name::is_name,
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
    ["shutdown", "shutting down", "going down", "server is down"].iter().any(|part| words.contains(part))
}

/// Reads the server's reason for refusing a login. Only lines that begin in the server's own way
/// come here.
fn login_refusal(words: &str) -> Option<FicsMessage> {
    let lower = words.to_ascii_lowercase();
    let any = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    Some(if any(&["is banned", "are banned", "logins are blocked", "no longer allowed", "not allowed to log"]) {
        FicsMessage::Banned(words.to_owned())
    } else if any(&[
        "server is full",
        "reached its limit",
        "too many users",
        "too many connections",
        "maximum number of",
        "try again later",
    ]) {
        FicsMessage::Full(words.to_owned())
    } else if any(&["name should be", "names should be", "names may be", "names can only", "is not a valid name"]) {
        FicsMessage::BadName(words.to_owned())
    } else {
        return None;
    })
}

/// `(told X, who is playing)` and the like.
fn acknowledgement(line: &str) -> Option<FicsMessage> {
    let known = ["(told ", "(kibitzed to ", "(whispered to ", "(After logging in", "(shouted to ", "(c-shouted to "];
    let counted = || {
        let (count, rest) = line[1..].split_once(' ')?;
        (count.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with("player")).then_some(())
    };
    (known.iter().any(|start| line.starts_with(start)) || counted().is_some()).then_some(FicsMessage::Noise)
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
    let ends = [
        ": Command not found",
        ": Command has failed",
        ": command not found",
        ": Unknown command",
        ": No such command",
    ];
    let starts = ["No such command (", "Unknown command: ", "Unknown command ", "Bad command: "];
    let bare = line.trim_end_matches(['.', '!']);
    let command = ends
        .iter()
        .find_map(|end| bare.strip_suffix(end))
        .or_else(|| Some(starts.iter().find_map(|start| bare.strip_prefix(start))?.trim_end_matches(')')))?;
    let command = command.trim_matches(['"', '\'']).to_owned();
    // A server repeats what we have sent; before that no other person's words can stand.
    let is_repeated = command.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric) && !command.contains(": ");
    is_repeated.then_some(())?;
    Some(FicsMessage::UnknownCommand { command })
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

/// Lines that begin with words of the server's own.
fn server_phrase(line: &str) -> Option<FicsMessage> {
    let refused = || Some(refusal(line));
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "login:" | "Login:" => Some(FicsMessage::AskName),
        "password:" | "Password:" => Some(FicsMessage::AskPassword),
        "Press" | "Hit" if rest.starts_with("return") || rest.starts_with("enter") => {
            Some(FicsMessage::AskReturn(rest.split('"').nth(1).map(str::to_owned)))
        }
        "Invalid" if rest.starts_with("move") => Some(FicsMessage::IllegalMove),
        "Invalid" | "Incorrect" | "Wrong" => rest.starts_with("password").then_some(FicsMessage::WrongPassword),
        "Challenge:" => MatchTerms::read(rest).map(|terms| FicsMessage::Challenge(Box::new(terms))),
        "Issuing:" => MatchTerms::read(rest).map(|terms| FicsMessage::Issued(Box::new(terms))),
        "Creating:" => MatchTerms::read(rest).map(|terms| FicsMessage::Creating(Box::new(terms))),
        "Challenge" => challenge_gone(rest),
        "Illegal" => rest.starts_with("move").then_some(FicsMessage::IllegalMove),
        "It" | "It's" => not_our_move(rest.trim_start_matches("is ").strip_prefix("not ")?),
        "Not" => not_our_move(rest),
        "Opponent" => {
            rest.starts_with("is not out of time").then_some(FicsMessage::NotFlagged).or_else(|| timeseal_check(rest))
        }
        "Checking" => Some(FicsMessage::NotFlagged),
        "Draw" | "Abort" | "Adjourn" | "Takeback" | "Switch" | "Pause" | "Unpause" if rest.contains("request sent") => {
            OfferKind::in_words(&line.to_ascii_lowercase()).map(FicsMessage::AskSent)
        }
        "Offering" | "Requesting" => OfferKind::in_words(rest).map(FicsMessage::AskSent),
        "Accepting" | "Declining" | "Issuing" | "Removing" | "Ads" | "Logging" | "Thank" | "Ignoring" | "Movelist"
        | "Updating" | "Setting" | "Move" => Some(FicsMessage::Noise),
        "Notification:" => notification(rest),
        "Match" => rest.starts_with("request").then(refused).flatten(),
        "Player" if rest.ends_with("has no games stored.") => Some(FicsMessage::StoredEnd),
        "Player" => rest.contains("banned").then(|| FicsMessage::Banned(line.to_owned())).or_else(refused),
        "No" => no_such(line, rest),
        "There" => there(line, rest),
        "Bad" => rest.starts_with("value").then(|| FicsMessage::SettingRefused(line.to_owned())),
        "Can't" => rest.starts_with("interpret ").then(refused).flatten(),
        "Cannot" => rest.starts_with("alter").then(|| FicsMessage::SettingRefused(line.to_owned())),
        "The" => {
            rest.starts_with("clock is not ticking").then_some(FicsMessage::NotFlagged).or_else(|| login_refusal(line))
        }
        "Local" | "Server" | "Greenwich" | "GM" if rest.starts_with("time") => {
            Some(ListedTime::read(rest).map_or(FicsMessage::Noise, FicsMessage::ServerTime))
        }
        "Server" => shuts_down(rest).then(|| FicsMessage::Shutdown(line.to_owned())).or_else(|| login_refusal(line)),
        "Stored" => rest.starts_with("games for ").then_some(FicsMessage::Noise),
        "Finger" => rest.starts_with("of ").then_some(FicsMessage::FingerBegins),
        "Statistics" => rest.starts_with("for ").then_some(FicsMessage::FingerBegins),
        "All" | "Both" => rest.starts_with("players must be registered to adj").then_some(FicsMessage::CannotAdjourn),
        "On" => rest.starts_with("for").then_some(FicsMessage::Presence(true)),
        "Last" => rest.starts_with("disconnected").then_some(FicsMessage::Presence(false)),
        "Only" if rest.starts_with("registered players may have stored games") => Some(FicsMessage::StoredEnd),
        "Only" if rest.starts_with("registered players") => refused(),
        "Rated" | "Unrated" => rest.contains("match, initial time").then_some(FicsMessage::Noise),
        "Game" => about_game(rest),
        "Command" => rest.starts_with("ignored").then(|| FicsMessage::UnknownCommand { command: line.to_owned() }),
        "A" | "Names" | "Sorry," | "Due" => login_refusal(line),
        "You" => you(line, rest),
        "Your" => your(rest),
        _ => None,
    }
}

/// `your move.` after a "not".
fn not_our_move(words: &str) -> Option<FicsMessage> {
    (words.starts_with("your move") || words.starts_with("your turn")).then_some(FicsMessage::NotOurMove)
}

/// `Challenge from X removed.`, `Challenge to X withdrawn.`
fn challenge_gone(rest: &str) -> Option<FicsMessage> {
    if rest.starts_with("to ") {
        return Some(FicsMessage::Noise);
    }
    let name = rest.strip_prefix("from ")?.strip_suffix(" removed.").filter(|name| is_name(name))?;
    Some(FicsMessage::Withdrawn { by: name.to_owned(), what: OfferKind::Match })
}

fn timeseal_check(rest: &str) -> Option<FicsMessage> {
    rest.starts_with("has timeseal").then_some(FicsMessage::NotFlagged)
}

/// `X, who has an adjourned game with you, has arrived.`
fn notification(rest: &str) -> Option<FicsMessage> {
    let (speaker, after) = speaker(rest)?;
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

fn no_such(line: &str, rest: &str) -> Option<FicsMessage> {
    if rest.starts_with("such variable") || rest.starts_with("such ivariable") {
        Some(FicsMessage::SettingRefused(line.to_owned()))
    } else if rest.starts_with("ratings adjustment") {
        Some(FicsMessage::RatingAdjusted(None))
    } else if rest.starts_with("such command") {
        unknown_command(line)
    } else if ["player named", "user named", "such player", "such category"].iter().any(|no| rest.starts_with(no)) {
        Some(refusal(line))
    } else {
        None
    }
}

fn there(line: &str, rest: &str) -> Option<FicsMessage> {
    if rest.starts_with("are no offers to")
        || rest.starts_with("are no pending offers")
        || rest.starts_with("is no offer")
    {
        Some(no_such_offer(line))
    } else if rest.starts_with("is no player matching") || rest.starts_with("is no such") {
        Some(refusal(line))
    } else if rest.starts_with("are no") || rest.starts_with("is no") {
        Some(FicsMessage::Noise)
    } else {
        None
    }
}

fn refusal(line: &str) -> FicsMessage {
    FicsMessage::Refused { words: line.to_owned(), about: named(line) }
}

/// `There are no pending offers from X.`, `There is no offer 5 to accept.` What we decline is done with for us, there or not.
fn no_such_offer(line: &str) -> FicsMessage {
    if line.contains(" to decline") || line.contains(" to withdraw") {
        return FicsMessage::Noise;
    }
    let number = || line.split([' ', '.']).find(|word| word.parse::<u32>().is_ok()).map(str::to_owned);
    FicsMessage::NoSuchOffer(named(line).or_else(number))
}

/// The player whom a line of the server's own words names.
fn named(line: &str) -> Option<String> {
    let before = [
        "Player \"",
        " named \"",
        "matching the name ",
        "pending offers from ",
        "pending offers to ",
        "adjourned game with ",
    ];
    let rest = before.iter().find_map(|words| Some(line.split_once(words)?.1))?;
    Some(speaker(rest)?.0.name)
}

/// `Game 12: X has lagged for 30 seconds.`
fn about_game(rest: &str) -> Option<FicsMessage> {
    let number = rest.split_once(':')?.0;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(FicsMessage::Noise)
}

/// `You are not playing a game.`, `You accept the challenge of X.`
fn you(line: &str, rest: &str) -> Option<FicsMessage> {
    const REFUSALS: &[&str] = &[
        "have an adjourned game with ",
        "can't",
        "cannot",
        "can only have",
        "are on ",
        "are already",
        "must ",
        "do not ",
        "don't ",
    ];
    let begins = |starts: &[&str]| starts.iter().any(|start| rest.starts_with(start));
    let is_on_our_list = rest.starts_with("have ") && rest.contains(" on your noplay list");
    Some(if begins(&["can \"accept\""]) {
        FicsMessage::ChallengeEnds
    } else if begins(&["are not playing", "are neither playing", "have no game"]) {
        FicsMessage::NotPlaying
    } else if begins(&["have no offers", "have more than one", "have no pending"]) {
        no_such_offer(line)
    } else if rest.starts_with("can't flag an untimed") {
        FicsMessage::NoClock
    } else if rest.starts_with("can't flag") {
        FicsMessage::NotFlagged
    } else if rest.starts_with("must be registered to adj") {
        FicsMessage::CannotAdjourn
    } else if is_on_our_list || begins(REFUSALS) {
        refusal(line)
    } else if begins(&["accept", "decline", "withdraw", "will ", "are now", "are connected", "have ", "can ", "would "])
    {
        FicsMessage::Noise
    } else {
        return None;
    })
}

/// `Your seek has been posted with index 46.`, `Your opponent has lost contact or quit.`
fn your(rest: &str) -> Option<FicsMessage> {
    if let Some(words) = rest.strip_prefix("opponent") {
        return if words.contains("has lost contact") {
            Some(FicsMessage::OpponentLost)
        } else if words.contains("not out of time") || words.contains("has timeseal") {
            Some(FicsMessage::NotFlagged)
        } else {
            more_time(words)
        };
    }
    if let Some((_, index)) = rest.split_once("posted with index ") {
        return index.trim_end_matches('.').parse().ok().map(FicsMessage::SeekPosted);
    }
    let known = [
        "communication",
        "seek",
        "new RD",
        "blitz rating",
        "challenge intercepts",
        "lightning rating",
        "standard rating",
        "interface",
    ];
    (known.iter().any(|start| rest.starts_with(start)) || rest.contains("rating will change"))
        .then_some(FicsMessage::Noise)
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
    if [", who was challenging you, has ", ", whom you were challenging, has "]
        .iter()
        .any(|gone| rest.starts_with(gone))
    {
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
            let refusals = [
                "not open",
                "censoring",
                "playing",
                "involved",
                "in a tournament",
                "not logged in",
                "not online",
                "examining",
                "away",
            ];
            let refused = refusals.iter().any(|start| object.starts_with(start));
            refused.then(|| refusal(by))
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
