//! How games begin and end: `{Game 12 (Ann vs. Bob) Bob checkmated} 1-0`.

use shakmaty::Color;

use chess::GameStatus;

/// `{Game 12 (Ann vs. Bob) Creating rated blitz match.}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameStart {
    /// The server's number.
    pub game: u32,
    /// Who has White.
    pub white: String,
    /// Who has Black.
    pub black: String,
    /// Whether it goes on after an adjournment.
    pub resumed: bool,
    /// Whether ratings change.
    pub rated: bool,
    /// `blitz`, `wild/fr`.
    pub kind: String,
}

impl GameStart {
    /// The player who is not `name`.
    pub fn opponent_of(&self, name: &str) -> &str {
        if self.white.eq_ignore_ascii_case(name) { &self.black } else { &self.white }
    }
}

/// `{Game 12 (Ann vs. Bob) Bob checkmated} 1-0`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameEnd {
    /// The server's number.
    pub game: u32,
    /// Who had White.
    pub white: String,
    /// Who had Black.
    pub black: String,
    /// How it ended.
    pub status: GameStatus,
    /// The side that won; `None` for a draw, or a game without result.
    pub winner: Option<Color>,
    /// The server's words.
    pub words: String,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GameNotice {
    /// It begins or goes on.
    Start(GameStart),
    /// It is over, or adjourned.
    End(GameEnd),
}

impl GameNotice {
    /// Reads a line that begins with `{Game `.
    pub fn read(line: &str) -> Option<Self> {
        let (game, rest) = line.strip_prefix("{Game ")?.split_once(" (")?;
        let game = game.parse().ok()?;
        let (white, rest) = rest.split_once(" vs. ")?;
        let (black, rest) = rest.split_once(") ")?;
        let (words, result) = rest.rsplit_once('}')?;
        let (white, black) = (white.to_owned(), black.to_owned());
        let start = words.strip_prefix("Creating ").or_else(|| words.strip_prefix("Continuing "));
        if let Some(start) = start {
            let (rated, kind) = start.split_once(' ')?;
            return Some(Self::Start(GameStart {
                game,
                white,
                black,
                resumed: words.starts_with("Con"),
                rated: rated == "rated",
                kind: kind.trim_end_matches('.').trim_end_matches(" match").to_owned(),
            }));
        }
        // Some servers add the number of pieces in brackets.
        let winner = match result.trim().split(' ').next()? {
            "1-0" => Some(Color::White),
            "0-1" => Some(Color::Black),
            "1/2-1/2" | "*" => None,
            _ => return None,
        };
        let status = status_of(&without_names(words, [&white, &black]), winner, result.contains("1/2"));
        Some(Self::End(GameEnd { game, white, black, status, winner, words: words.to_owned() }))
    }
}

/// The server's words without the players' names, since somebody may be called `aborted`. Names stand at the beginning, and after "by" and
/// "and".
fn without_names(words: &str, players: [&str; 2]) -> String {
    if !words.contains(' ') {
        return words.to_owned();
    }
    let mut before = "by";
    let mut kept = String::new();
    for word in words.split(' ') {
        let may_be_name = matches!(before, "by" | "and");
        if !(may_be_name && players.iter().any(|name| name.eq_ignore_ascii_case(word))) {
            kept.push(' ');
            kept.push_str(word);
        }
        before = word;
    }
    kept
}

/// What the server's words for an end mean. They differ between servers, so the telling part is looked for, the rarer one first.
pub fn status_of(words: &str, winner: Option<Color>, drawn: bool) -> GameStatus {
    const MEANINGS: [(&str, GameStatus); 22] = [
        ("adjourned", GameStatus::Adjourned),
        ("aborted", GameStatus::Aborted),
        ("aborts by disconnection", GameStatus::Aborted),
        ("checkmated", GameStatus::Mate),
        (" resign", GameStatus::Resign),
        ("by stalemate", GameStatus::Stalemate),
        ("oth players ran out of time", GameStatus::Draw),
        ("has no material", GameStatus::InsufficientMaterialClaim),
        ("lacks mating material", GameStatus::InsufficientMaterialClaim),
        ("forfeits on time", GameStatus::OutOfTime),
        ("forfeited on time", GameStatus::OutOfTime),
        ("ran out of time", GameStatus::OutOfTime),
        ("by disconnection", GameStatus::Timeout),
        ("Neither player has mating material", GameStatus::Draw),
        ("Game drawn", GameStatus::Draw),
        ("drawn by", GameStatus::Draw),
        ("exploded", GameStatus::VariantEnd),
        ("loses all material", GameStatus::VariantEnd),
        ("wins by losing all", GameStatus::VariantEnd),
        ("partner", GameStatus::VariantEnd),
        ("Partners", GameStatus::VariantEnd),
        ("has no pieces", GameStatus::VariantEnd),
    ];
    let meaning = MEANINGS.into_iter().find_map(|(part, status)| words.contains(part).then_some(status));
    meaning.unwrap_or(match (winner, drawn) {
        (Some(_), _) => GameStatus::UnknownFinish,
        (None, true) => GameStatus::Draw,
        (None, false) => GameStatus::Aborted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_in_the_words_of_several_servers() {
        for (words, result, status) in [
            ("Bob checkmated", "1-0", GameStatus::Mate),
            ("Bob resigns", "1-0", GameStatus::Resign),
            ("Bob forfeits on time", "1-0", GameStatus::OutOfTime),
            ("Bob forfeits by disconnection", "1-0", GameStatus::Timeout),
            ("Game drawn by stalemate", "1/2-1/2", GameStatus::Stalemate),
            ("Game drawn by mutual agreement", "1/2-1/2", GameStatus::Draw),
            ("Game drawn by agreement", "1/2-1/2", GameStatus::Draw),
            ("Game drawn because both players ran out of time", "1/2-1/2", GameStatus::Draw),
            ("Both players ran out of time", "1/2-1/2", GameStatus::Draw),
            ("Game drawn by repetition", "1/2-1/2", GameStatus::Draw),
            ("Game drawn by the 50 move rule", "1/2-1/2", GameStatus::Draw),
            ("Neither player has mating material", "1/2-1/2", GameStatus::Draw),
            ("Bob ran out of time and Ann has no material to mate", "1/2-1/2", GameStatus::InsufficientMaterialClaim),
            ("Bob ran out of time and Ann lacks mating material", "1/2-1/2", GameStatus::InsufficientMaterialClaim),
            ("Ann wins by adjudication", "1-0", GameStatus::UnknownFinish),
            ("Game drawn by adjudication", "1/2-1/2", GameStatus::Draw),
            ("Game aborted by adjudication", "*", GameStatus::Aborted),
            ("Game adjourned by mutual agreement", "*", GameStatus::Adjourned),
            ("Bob lost connection; game adjourned", "*", GameStatus::Adjourned),
            ("Bob lost connection and too few moves; game aborted", "*", GameStatus::Aborted),
            ("Game aborted on move 1", "*", GameStatus::Aborted),
            ("Game courtesyaborted by Bob", "*", GameStatus::Aborted),
            ("Game courtesyadjourned by Bob", "*", GameStatus::Adjourned),
            ("Game adjourned by server shutdown", "*", GameStatus::Adjourned),
            ("Bob aborts by disconnection", "*", GameStatus::Aborted),
            ("aborted", "*", GameStatus::Aborted),
            ("adjourned", "* [1 2 3 4 5]", GameStatus::Adjourned),
            ("Bob exploded", "1-0", GameStatus::VariantEnd),
        ] {
            let line = format!("{{Game 12 (Ann vs. Bob) {words}}} {result}");
            let Some(GameNotice::End(end)) = GameNotice::read(&line) else { panic!("{line}") };
            assert_eq!(end.status, status, "{line}");
            assert_eq!(end.winner, (result == "1-0").then_some(Color::White), "{line}");
        }
    }

    #[test]
    fn a_players_name_does_not_say_how_a_game_ended() {
        for (words, result, status) in [
            ("adjourned resigns", "0-1", GameStatus::Resign),
            ("adjourned lost connection; game aborted", "*", GameStatus::Aborted),
            ("adjourned lost connection; game adjourned", "*", GameStatus::Adjourned),
            ("Game aborted on move 1 by adjourned", "*", GameStatus::Aborted),
            (
                "Bob ran out of time and adjourned has no material to mate",
                "1/2-1/2",
                GameStatus::InsufficientMaterialClaim,
            ),
            ("adjourned", "*", GameStatus::Adjourned),
        ] {
            let line = format!("{{Game 12 (adjourned vs. Bob) {words}}} {result}");
            let Some(GameNotice::End(end)) = GameNotice::read(&line) else { panic!("{line}") };
            assert_eq!((end.status, end.words.as_str()), (status, words), "{line}");
        }
    }

    #[test]
    fn starts_and_lines_that_are_neither() {
        let Some(GameNotice::Start(start)) = GameNotice::read("{Game 7 (Ann vs. Bob) Continuing rated wild/fr match.}")
        else {
            panic!("a start")
        };
        assert!(start.resumed && start.rated && start.kind == "wild/fr" && start.game == 7);
        for line in [
            "{Game",
            "{Game x (A vs. B) C} *",
            "{Game 1 (A vs. B) C}",
            "{Game 1 (A vs. B) C} 2-0",
            "{Game 1 (A vs. B) Creating }",
        ] {
            assert_eq!(GameNotice::read(line), None, "{line}");
        }
    }
}
