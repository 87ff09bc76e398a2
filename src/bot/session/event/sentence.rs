//! One plain line for each event of interest to people.
//!
//! Names and texts come from servers and are inserted unchanged: the log and the terminal view make
//! them harmless ([`util::printable`]).

use std::time::Duration;

use tracing::Level;

use super::{AccountEvent, AccountMode, BotEvent, GameEvent, is_late};
use crate::{journal::ChallengeOutcome, policy::tournament::TournamentNews};
use council::{clock::Budget, player::vote_report};
use domain::{
    Account, Challenge, Color, Decision, GameInfo, GameStatus, GameTerms, Line, Source, Speed, Standing, Variant,
};

/// Least disagreement of a vote worth a line: the share of electors for another move.
const SPLIT: f64 = 0.7;
/// The fewest votes of a split vote: two different ones are an opinion each.
const COUNCIL: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// `INFO` for an operator's daily reading, `WARN` for faults, `ERROR` for the end of an account, `DEBUG` for each move.
    pub level: Level,
    /// The event's kind in one word, such as `connected`: for machines.
    pub kind: &'static str,
    /// One line; it begins with the account's name, and with `game ID` for an event of a game.
    pub text: String,
}

impl Sentence {
    pub const MOVE: &str = "move";

    pub const KINDS: [&str; 22] = [
        "connected",
        "reconnected",
        "disconnected",
        "rejected",
        "mode",
        "challenge",
        "challenged",
        "challenge_failed",
        "challenge_declined",
        "tournament",
        "limit",
        "tell",
        "command",
        "fault",
        "closed",
        "game_started",
        Self::MOVE,
        "chat",
        "opponent_gone",
        "opponent_back",
        "game_over",
        "rated",
    ];
}

impl BotEvent {
    /// Returns the event in words; `None` for events that come many times a move.
    pub fn sentence(&self) -> Option<Sentence> {
        self.sentence_up_to(Level::TRACE)
    }

    /// Returns the event in words, unless its level is more verbose than `most`. A move outside the log costs no text.
    pub fn sentence_up_to(&self, most: Level) -> Option<Sentence> {
        if let Self::Game(_, GameEvent::Decided { line, decision, budget, left_book, .. }) = self
            && most < Level::DEBUG
            && remark(line, decision, *budget, *left_book).is_none()
        {
            return None;
        }
        self.in_words().filter(|sentence| sentence.level <= most)
    }

    fn in_words(&self) -> Option<Sentence> {
        let (level, kind, words) = match self {
            Self::Account(_, event) => account(event),
            Self::Game(game, event) => {
                let (level, kind, words) = in_game(event)?;
                (level, kind, format!("game {}{words}", game.id))
            }
        };
        Some(Sentence { level, kind, text: format!("{}: {words}", self.server()) })
    }
}

type LeveledText = (Level, &'static str, String);

fn account(event: &AccountEvent) -> LeveledText {
    match event {
        AccountEvent::Connected { account, away: None } => {
            (Level::INFO, "connected", format!("connected as {}", whoami(account)))
        }
        AccountEvent::Connected { account, away: Some(away) } => {
            let away = seconds(*away);
            (Level::INFO, "reconnected", format!("connected again as {} after {away}", account.player))
        }
        AccountEvent::Disconnected { reason } => {
            (Level::WARN, "disconnected", format!("connection lost: {reason}; reconnecting"))
        }
        AccountEvent::Rejected { reason } => (Level::ERROR, "rejected", format!("cannot play: {reason}")),
        AccountEvent::Mode(mode) => (Level::INFO, "mode", mode.words().to_owned()),
        AccountEvent::Challenge { challenge, outcome, why } => {
            (Level::INFO, "challenge", challenged_by(challenge, *outcome, why))
        }
        AccountEvent::Challenged { request, outcome: Ok(id) } => {
            let (opponent, terms) = (&request.opponent, terms_in_words(request.terms));
            (Level::INFO, "challenged", format!("challenge sent to {opponent}: {terms} (challenge {id})"))
        }
        AccountEvent::Challenged { request, outcome: Err(error) } => {
            let (opponent, terms) = (&request.opponent, terms_in_words(request.terms));
            (Level::INFO, "challenge_failed", format!("cannot challenge {opponent} to {terms}: {error}"))
        }
        AccountEvent::Declined { challenge, opponent, reason } => {
            let who = opponent.as_deref().unwrap_or("the opponent");
            let reason = reason.words();
            (Level::INFO, "challenge_declined", format!("challenge {challenge} declined by {who}: {reason}"))
        }
        AccountEvent::Tournament { name, what } => (Level::INFO, "tournament", tournament(name, what)),
        AccountEvent::Limited { what, until } => {
            (Level::INFO, "limit", format!("limit of the server reached: {what} until {until:.0}"))
        }
        AccountEvent::Tell { from, text } => (Level::INFO, "tell", format!("message from {from}: {text}")),
        AccountEvent::Commanded { done } => (Level::INFO, "command", format!("operator command: {done}")),
        AccountEvent::Fault(what) => (Level::WARN, "fault", what.clone()),
        AccountEvent::Closed => (Level::INFO, "closed", "closed".to_owned()),
    }
}

fn tournament(name: &str, what: &TournamentNews) -> String {
    match what {
        TournamentNews::Joined => format!("joined {name}"),
        TournamentNews::NotJoined(why) => format!("not joining {name}: {why}"),
        TournamentNews::Over(None) => format!("{name} is over"),
        TournamentNews::Over(Some(Standing { rank, points })) => {
            format!("{name} is over: place {rank} with {points} points")
        }
    }
}

fn in_game(event: &GameEvent) -> Option<LeveledText> {
    Some(match event {
        GameEvent::Position { .. } | GameEvent::Proposal(_) | GameEvent::Sent { .. } => return None,
        GameEvent::Started { info, ply, .. } => (Level::INFO, "game_started", begun(info, *ply)),
        GameEvent::Decided { line, decision, budget, left_book, .. } => {
            let remark = remark(line, decision, *budget, *left_book);
            let level = if remark.is_some() { Level::INFO } else { Level::DEBUG };
            let remark = remark.map_or_else(String::new, |remark| format!("{remark}: "));
            (level, Sentence::MOVE, format!(": {remark}{}", vote_report::summary(&**line, decision)))
        }
        GameEvent::Chat { line, ours } => {
            let room = line.room.key();
            // The bot's own messages are no news: greetings and answers to commands.
            let level = if *ours { Level::DEBUG } else { Level::INFO };
            (level, "chat", format!(": {} in the {room} chat: {}", line.username, line.text))
        }
        GameEvent::OpponentGone { gone: true, claim_after } => {
            let claim =
                claim_after.map_or_else(String::new, |after| format!("; the win can be claimed in {}", seconds(after)));
            (Level::INFO, "opponent_gone", format!(": the opponent has left{claim}"))
        }
        GameEvent::OpponentGone { gone: false, .. } => {
            (Level::INFO, "opponent_back", ": the opponent is back".to_owned())
        }
        GameEvent::Fault(what) => (Level::WARN, "fault", format!(": {what}")),
        GameEvent::Over { info, status, winner, plies, pgn, rating_change } => {
            let mut text = format!(" over: {}", result(info.as_deref(), status, *winner));
            if let Some(info) = info {
                text += &format!(" against {} after {}", info.opponent(), moves(*plies));
            }
            if let Some(change) = rating_change {
                text += &format!(", rating {change:+}");
            }
            if let Some(pgn) = pgn {
                text += &format!(", written to {}", pgn.display());
            }
            (Level::INFO, "game_over", text)
        }
        GameEvent::Rated { change } => (Level::INFO, "rated", format!(": rating change {change:+}")),
    })
}

impl AccountMode {
    /// Returns the reason for declining challenges in this mode; `None` if they are accepted.
    pub const fn closed(self) -> Option<&'static str> {
        match self {
            Self::Playing => None,
            Self::Paused => Some("the bot is paused by its operator"),
            Self::Draining => Some("the bot is about to stop"),
        }
    }

    /// Returns the mode in words, to follow the account's name.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Playing => "accepting games again",
            Self::Paused => "paused: no new games; running games go on",
            Self::Draining => "stopping: no new games; finishing the running ones",
        }
    }
}

/// `BOT Concilio (bullet 1500, blitz 1620)`.
fn whoami(account: &Account) -> String {
    // Ratings of variants would fill the line.
    let speeds = [Speed::Bullet, Speed::Blitz, Speed::Rapid, Speed::Classical].map(Speed::key);
    let ratings = account.ratings.iter().filter(|(name, _)| speeds.contains(&name.as_str()));
    let ratings: Vec<String> = ratings.map(|(speed, rating)| format!("{speed} {rating}")).collect();
    let ratings = if ratings.is_empty() { String::new() } else { format!(" ({})", ratings.join(", ")) };
    format!("{}{ratings}", account.player)
}

/// `challenge from maia1 (1500), 3+2 rated blitz: declined, the rating is too low`.
fn challenged_by(challenge: &Challenge, outcome: ChallengeOutcome, why: &str) -> String {
    let who = challenge.opponent.as_ref().map_or_else(|| "an unknown player".to_owned(), ToString::to_string);
    let color =
        challenge.our_color.map_or_else(String::new, |color| format!(", bot has {}", color.fold_wb("white", "black")));
    format!("challenge from {who}, {}{color}: {}, {why}", terms_in_words(challenge.terms), outcome.word())
}

/// ` begun: white against maia1 (1500), 3+2 rated blitz, https://lichess.org/abcd1234`.
fn begun(info: &GameInfo, ply: usize) -> String {
    let begun = if ply < 2 { "begun".to_owned() } else { format!("goes on at move {}", ply / 2 + 1) };
    let (us, opponent) = (info.our_color.fold_wb("white", "black"), info.opponent());
    let link = info.url.as_ref().map_or_else(String::new, |url| format!(", {url}"));
    format!(" {begun}: {us} against {opponent}, {}{link}", terms_in_words(info.terms))
}

/// Returns the reason why a move is worth a line, if there is one.
fn remark(line: &Line, decision: &Decision, budget: Option<Budget>, left_book: bool) -> Option<String> {
    let second = decision.second_phase.as_ref().filter(|second| second.changed_the_choice());
    if left_book {
        Some("out of book".to_owned())
    } else if decision.source == Source::Fallback {
        Some("no elector answered in time".to_owned())
    } else if budget.is_some_and(|budget| is_late(decision, budget)) {
        Some("later than the clock allowed".to_owned())
    } else if let Some(second) = second {
        Some(format!("the second search overruled {}", line.san(second.first_choice)))
    } else if decision.split >= SPLIT && decision.votes_cast().count() >= COUNCIL {
        Some("the votes are split".to_owned())
    } else {
        None
    }
}

/// `3+2 rated blitz`; with the variant if it is not the usual one.
pub(in super::super) fn terms_in_words(terms: GameTerms) -> String {
    let rated = if terms.rated { "rated" } else { "casual" };
    let variant = if terms.variant == Variant::Standard { String::new() } else { format!(" {}", terms.variant) };
    format!("{} {rated} {}{variant}", terms.time_control.in_minutes(), terms.time_control.speed())
}

/// `won by resignation`, or `1-0 by resignation` without a known side of the bot.
fn result(info: Option<&GameInfo>, status: &GameStatus, winner: Option<Color>) -> String {
    let how = how_it_ended(status);
    match (winner, info) {
        (Some(winner), Some(info)) if winner == info.our_color => format!("won {how}"),
        (Some(_), Some(_)) => format!("lost {how}"),
        (Some(winner), None) => format!("{} {how}", if winner.is_white() { "1-0" } else { "0-1" }),
        (None, _) => match status {
            GameStatus::Aborted | GameStatus::NoStart | GameStatus::Adjourned => how,
            GameStatus::UnknownFinish => "the server does not say how".to_owned(),
            status if status.is_drawn() => format!("drawn {how}"),
            _ => format!("ended {how} with an unknown winner"),
        },
    }
}

/// Returns the end of a game in words, to follow "won" or "drawn".
pub fn how_it_ended(status: &GameStatus) -> String {
    match status {
        GameStatus::Created | GameStatus::Started => "while still running",
        GameStatus::Aborted => "aborted",
        GameStatus::Mate => "by checkmate",
        GameStatus::Resign => "by resignation",
        GameStatus::Stalemate => "by stalemate",
        GameStatus::Timeout => "because one side left",
        GameStatus::Draw => "by agreement or rule",
        GameStatus::OutOfTime => "on time",
        GameStatus::Cheat => "because of cheating",
        GameStatus::NoStart => "no side began",
        GameStatus::UnknownFinish => "for a reason the server does not name",
        GameStatus::InsufficientMaterialClaim => "on time, without enough to mate",
        GameStatus::VariantEnd => "by the variant's rule",
        GameStatus::Adjourned => "adjourned, to be resumed",
        GameStatus::Other(name) => return format!("by {name}"),
    }
    .to_owned()
}

fn moves(plies: usize) -> String {
    match plies.div_ceil(2) {
        1 => "1 move".to_owned(),
        moves => format!("{moves} moves"),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64().max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::GameKey;
    use domain::{ChallengeId, DeclineReason, GameId, Player, TimeControl};

    fn info() -> Box<GameInfo> {
        let time_control = TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2));
        let terms = GameTerms { variant: Variant::Standard, time_control, rated: true };
        let us = Player { title: Some("BOT".to_owned()), ..Player::named("Concilio") };
        let them = Player { rating: Some(1500), ..Player::named("maia1") };
        let url = Some("https://lichess.org/abcd1234".to_owned());
        Box::new(GameInfo { url, ..GameInfo::from_start("abcd1234", terms, us, them) })
    }

    fn of_account(event: AccountEvent) -> String {
        BotEvent::Account("lichess".into(), event).sentence().expect("a sentence").text
    }

    fn sentence(event: GameEvent) -> Sentence {
        let game = GameKey::new(&"lichess".into(), &GameId::new("abcd1234"));
        BotEvent::Game(game, event).sentence().expect("a sentence")
    }

    fn of_game(event: GameEvent) -> String {
        sentence(event).text
    }

    fn decision() -> Decision {
        Decision::without_vote("e2e4".parse().expect("a move"), Source::Council)
    }

    #[test]
    fn account_events_are_plain_sentences() {
        let account = Account {
            player: Player { title: Some("BOT".to_owned()), ..Player::named("Concilio") },
            is_bot: true,
            ratings: [("bullet", 1500), ("atomic", 1400), ("blitz", 1620)]
                .map(|(name, rating)| (name.to_owned(), rating))
                .to_vec(),
            games_played: 1,
        };
        let challenge = Challenge {
            our_color: Some(Color::Black),
            ..Challenge::to_us(ChallengeId::new("abcd1234"), info().black, info().terms)
        };
        let (challenge, why) = (Box::new(challenge), "their rating is too low".to_owned());
        let (ours, opponent) = (ChallengeId::new("ours0001"), Some("maia1".to_owned()));
        for (event, text) in [
            (
                AccountEvent::Connected { account: account.clone(), away: None },
                "lichess: connected as BOT Concilio (bullet 1500, blitz 1620)",
            ),
            (
                AccountEvent::Connected { account, away: Some(Duration::from_secs(12)) },
                "lichess: connected again as BOT Concilio after 12 s",
            ),
            (
                AccountEvent::Challenge { challenge, outcome: ChallengeOutcome::Declined, why },
                "lichess: challenge from maia1 (1500), 3+2 rated blitz, bot has black: declined, their rating is too low",
            ),
            (
                AccountEvent::Declined { challenge: ours, opponent, reason: DeclineReason::TooFast },
                "lichess: challenge ours0001 declined by maia1: too fast",
            ),
        ] {
            assert_eq!(of_account(event), text);
        }
    }

    #[test]
    fn game_events_are_plain_sentences() {
        let begun = |ply| of_game(GameEvent::Started { info: info(), electors: [].into(), ply });
        assert_eq!(
            begun(0),
            "lichess: game abcd1234 begun: white against maia1 (1500), 3+2 rated blitz, https://lichess.org/abcd1234"
        );
        assert!(begun(20).starts_with("lichess: game abcd1234 goes on at move 11: white against maia1 (1500)"));
        let over = |info, status, winner| {
            let pgn = Some("games/one.pgn".into());
            of_game(GameEvent::Over { info, status, winner, plies: 67, pgn, rating_change: None })
        };
        assert_eq!(
            over(Some(info()), GameStatus::Resign, Some(Color::White)),
            "lichess: game abcd1234 over: won by resignation against maia1 (1500) after 34 moves, written to games/one.pgn"
        );
        assert!(over(Some(info()), GameStatus::OutOfTime, Some(Color::Black)).contains("over: lost on time against"));
        assert!(over(Some(info()), GameStatus::Stalemate, None).contains("over: drawn by stalemate against"));
        let no_winner = over(Some(info()), GameStatus::Mate, None);
        assert!(no_winner.contains("over: ended by checkmate with an unknown winner against"), "{no_winner}");
        assert!(over(None, GameStatus::Mate, Some(Color::Black)).contains("over: 0-1 by checkmate, written"));
        assert!(over(Some(info()), GameStatus::Aborted, None).contains("over: aborted against"));
        let (status, winner, rating_change) = (GameStatus::Mate, Some(Color::White), Some(4));
        let rated = GameEvent::Over { info: Some(info()), status, winner, plies: 67, pgn: None, rating_change };
        assert!(of_game(rated).ends_with("won by checkmate against maia1 (1500) after 34 moves, rating +4"));
        assert_eq!(of_game(GameEvent::Rated { change: -9 }), "lichess: game abcd1234: rating change -9");
    }

    #[test]
    fn what_we_say_ourselves_is_no_news() {
        let level = |ours| {
            let line =
                domain::ChatLine { room: domain::ChatRoom::Player, username: "x".to_owned(), text: "hi".to_owned() };
            sentence(GameEvent::Chat { line, ours }).level
        };
        assert_eq!((level(true), level(false)), (Level::DEBUG, Level::INFO));
    }

    #[test]
    fn only_budgeted_moves_can_be_late() {
        let decision = Decision { elapsed: Duration::from_millis(130), ..decision() };
        assert!(!is_late(&decision, Budget::fixed(Duration::ZERO, Duration::ZERO)), "found in the opponent's time");
        assert!(is_late(&decision, Budget::fixed(Duration::ZERO, Duration::from_millis(100))));
        assert!(!is_late(&decision, Budget::fixed(Duration::ZERO, Duration::from_millis(200))));
    }

    #[test]
    fn moves_that_matter_say_why() {
        let line = std::sync::Arc::new(Line::start(Variant::Standard));
        let decided = |split, left_book| {
            let (line, decision) = (line.clone(), Decision { split, ..decision() }.into());
            sentence(GameEvent::Decided { line, decision, budget: None, lag: Duration::ZERO, left_book })
        };
        assert_eq!((decided(0.0, false).level, decided(0.0, true).level), (Level::DEBUG, Level::INFO));
        assert_eq!(decided(0.0, true).text, "lichess: game abcd1234: out of book: 1. e4  by council  (0.00 s)");
        assert_eq!(decided(0.8, false).level, Level::DEBUG, "there was no vote");
    }
}
