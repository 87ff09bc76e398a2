//! Starts and ends of games: `{Game 12 (Ann vs. Bob) Bob checkmated} 1-0`.

use shakmaty::Color;

use super::{FicsMessage, is_name};
use domain::GameStatus;

/// `{Game 12 (Ann vs. Bob) Creating rated blitz match.}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameStart {
    pub game: u32,
    pub white: String,
    pub black: String,
    pub resumed: bool,
    pub rated: bool,
    pub kind: String,
}

impl GameStart {
    pub fn opponent_of(&self, name: &str) -> &str {
        if self.white.eq_ignore_ascii_case(name) { &self.black } else { &self.white }
    }
}

/// `{Game 12 (Ann vs. Bob) Bob checkmated} 1-0`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameEnd {
    pub game: u32,
    pub white: String,
    pub black: String,
    pub status: GameStatus,
    /// The side that won; `None` for a draw, or a game without result.
    pub winner: Option<Color>,
    pub words: String,
}

/// Reads a line that begins with `{Game `. What stands behind the closing brace decides: an end has a result there, a start has
/// nothing. The words between may begin with a player's name, and a player may be called `Creating`.
pub(super) fn read(line: &str) -> Option<FicsMessage> {
    let (game, rest) = line.strip_prefix("{Game ")?.split_once(" (")?;
    let game = game.parse().ok()?;
    let (players, rest) = rest.split_once(") ")?;
    let (white, black) = players.split_once(" vs. ").filter(|(white, black)| is_name(white) && is_name(black))?;
    let (words, result) = rest.rsplit_once('}')?;
    let players = [white, black];
    let (white, black) = (white.to_owned(), black.to_owned());
    let result = result.trim();
    if result.is_empty() {
        let (verb, terms) = words.split_once(' ')?;
        let resumed = match verb {
            "Creating" => false,
            "Continuing" => true,
            _ => return None,
        };
        let (rated, kind) = terms.split_once(' ')?;
        return Some(FicsMessage::GameStart(GameStart {
            game,
            white,
            black,
            resumed,
            rated: rated == "rated",
            kind: kind.trim_end_matches('.').trim_end_matches(" match").to_owned(),
        }));
    }
    // Some servers add the number of pieces in brackets.
    let (result, pieces) = result.split_once(' ').unwrap_or((result, "[]"));
    let winner = match result {
        "1-0" => Some(Color::White),
        "0-1" => Some(Color::Black),
        "1/2-1/2" | "*" => None,
        _ => return None,
    };
    let status = status_of(words, players, winner, result.contains("1/2"));
    let is_whole = pieces.starts_with('[') && pieces.ends_with(']');
    is_whole.then(|| FicsMessage::GameEnd(GameEnd { game, white, black, status, winner, words: words.to_owned() }))
}

/// Clauses after the name of a player who ends a game.
const PLAYERS_CLAUSES: [(&str, GameStatus); 17] = [
    ("resign", GameStatus::Resign),
    ("checkmated", GameStatus::Mate),
    ("forfeits on time", GameStatus::OutOfTime),
    ("forfeited on time", GameStatus::OutOfTime),
    ("forfeits by disconnection", GameStatus::Timeout),
    ("ran out of time and ", GameStatus::InsufficientMaterialClaim),
    ("ran out of time", GameStatus::OutOfTime),
    ("lost connection; game adjourned", GameStatus::Adjourned),
    ("lost connection", GameStatus::Aborted),
    ("aborts by disconnection", GameStatus::Aborted),
    ("wins by adjudication", GameStatus::UnknownFinish),
    ("exploded", GameStatus::VariantEnd),
    ("loses ", GameStatus::VariantEnd),
    ("wins by losing all", GameStatus::VariantEnd),
    ("has no pieces", GameStatus::VariantEnd),
    ("'s partner", GameStatus::VariantEnd),
    ("partner", GameStatus::VariantEnd),
];

/// Reasons that name no player at their beginning.
const SERVERS_CLAUSES: [(&str, GameStatus); 11] = [
    ("Game drawn by stalemate", GameStatus::Stalemate),
    ("Game drawn", GameStatus::Draw),
    ("Game adjourned", GameStatus::Adjourned),
    ("Game courtesyadjourned", GameStatus::Adjourned),
    ("Game aborted", GameStatus::Aborted),
    ("Game courtesyaborted", GameStatus::Aborted),
    ("adjourned", GameStatus::Adjourned),
    ("aborted", GameStatus::Aborted),
    ("Both players ran out of time", GameStatus::Draw),
    ("Neither player has mating material", GameStatus::Draw),
    ("Partners' game", GameStatus::VariantEnd),
];

/// Telling parts of reasons in words that are known from no server, the rarer ones first.
const PARTS: [(&str, GameStatus); 12] = [
    ("adjourned", GameStatus::Adjourned),
    ("aborted", GameStatus::Aborted),
    ("checkmated", GameStatus::Mate),
    (" resign", GameStatus::Resign),
    ("by stalemate", GameStatus::Stalemate),
    ("no material", GameStatus::InsufficientMaterialClaim),
    ("lacks mating material", GameStatus::InsufficientMaterialClaim),
    ("on time", GameStatus::OutOfTime),
    ("out of time", GameStatus::OutOfTime),
    ("by disconnection", GameStatus::Timeout),
    ("drawn", GameStatus::Draw),
    ("partner", GameStatus::VariantEnd),
];

/// Returns the status that the server's words mean. They begin with the name of one of the two
/// `players`, or are the server's own; and a player may be called `Game`, `Neither` or `adjourned`,
/// so whole clauses are compared before single words are looked for.
fn status_of(words: &str, players: [&str; 2], winner: Option<Color>, drawn: bool) -> GameStatus {
    let of_player = |name: &str| {
        let clause =
            words.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| &words[name.len()..])?;
        let clause = clause.strip_prefix(' ').or(clause.starts_with('\'').then_some(clause))?;
        PLAYERS_CLAUSES.into_iter().find_map(|(start, status)| clause.starts_with(start).then_some(status))
    };
    let of_server =
        || SERVERS_CLAUSES.into_iter().find_map(|(start, status)| words.starts_with(start).then_some(status));
    let of_parts = || {
        let text = without_names(words, players);
        PARTS.into_iter().find_map(|(part, status)| text.contains(part).then_some(status))
    };
    let known = players.into_iter().find_map(of_player).or_else(of_server).or_else(of_parts);
    known.unwrap_or(match (winner, drawn) {
        (Some(_), _) => GameStatus::UnknownFinish,
        (None, true) => GameStatus::Draw,
        (None, false) => GameStatus::Aborted,
    })
}

fn without_names(words: &str, players: [&str; 2]) -> String {
    let is_kept = |word: &&str| !players.iter().any(|name| name.eq_ignore_ascii_case(word));
    words.split(' ').filter(is_kept).fold(String::new(), |kept, word| kept + " " + word)
}

#[cfg(test)]
mod tests {
    use super::{GameStatus::*, *};

    #[test]
    fn ends_are_read_in_every_dialect() {
        for (words, result, status) in [
            ("Bob checkmated", "1-0", Mate),
            ("Bob resigns", "1-0", Resign),
            ("Bob forfeits on time", "1-0", OutOfTime),
            ("Bob forfeits by disconnection", "1-0", Timeout),
            ("Game drawn by stalemate", "1/2-1/2", Stalemate),
            ("Game drawn by mutual agreement", "1/2-1/2", Draw),
            ("Game drawn by agreement", "1/2-1/2", Draw),
            ("Game drawn because both players ran out of time", "1/2-1/2", Draw),
            ("Both players ran out of time", "1/2-1/2", Draw),
            ("Game drawn by repetition", "1/2-1/2", Draw),
            ("Game drawn by the 50 move rule", "1/2-1/2", Draw),
            ("Neither player has mating material", "1/2-1/2", Draw),
            ("Bob ran out of time and Ann has no material to mate", "1/2-1/2", InsufficientMaterialClaim),
            ("Bob ran out of time and Ann lacks mating material", "1/2-1/2", InsufficientMaterialClaim),
            ("Ann wins by adjudication", "1-0", UnknownFinish),
            ("Game drawn by adjudication", "1/2-1/2", Draw),
            ("Game aborted by adjudication", "*", Aborted),
            ("Game adjourned by mutual agreement", "*", Adjourned),
            ("Bob lost connection; game adjourned", "*", Adjourned),
            ("Bob lost connection and too few moves; game aborted", "*", Aborted),
            ("Game aborted on move 1", "*", Aborted),
            ("Game courtesyaborted by Bob", "*", Aborted),
            ("Game courtesyadjourned by Bob", "*", Adjourned),
            ("Game adjourned by server shutdown", "*", Adjourned),
            ("Bob aborts by disconnection", "*", Aborted),
            ("aborted", "*", Aborted),
            ("adjourned", "* [1 2 3 4 5]", Adjourned),
            ("Bob exploded", "1-0", VariantEnd),
        ] {
            let line = format!("{{Game 12 (Ann vs. Bob) {words}}} {result}");
            let Some(FicsMessage::GameEnd(end)) = read(&line) else { panic!("{line}") };
            assert_eq!(end.status, status, "{line}");
            assert_eq!(end.winner, (result == "1-0").then_some(Color::White), "{line}");
        }
    }

    #[test]
    fn player_names_do_not_set_the_end() {
        for (words, result, status) in [
            ("adjourned resigns", "0-1", Resign),
            ("adjourned lost connection; game aborted", "*", Aborted),
            ("adjourned lost connection; game adjourned", "*", Adjourned),
            ("Game aborted on move 1 by adjourned", "*", Aborted),
            ("Bob ran out of time and adjourned has no material to mate", "1/2-1/2", InsufficientMaterialClaim),
            ("adjourned", "*", Adjourned),
        ] {
            let line = format!("{{Game 12 (adjourned vs. Bob) {words}}} {result}");
            let Some(FicsMessage::GameEnd(end)) = read(&line) else { panic!("{line}") };
            assert_eq!((end.status, end.words.as_str()), (status, words), "{line}");
        }
    }

    #[test]
    fn any_word_may_be_a_players_name() {
        let names = "Creating Continuing Game Neither Both aborted adjourned resigns stalemate Partners";
        for name in names.split(' ') {
            for (words, result, status) in [
                ("NAME resigns", "0-1", Resign),
                ("NAME checkmated", "0-1", Mate),
                ("NAME forfeits on time", "0-1", OutOfTime),
                ("NAME aborts by disconnection", "*", Aborted),
                ("NAME lost connection; game adjourned", "*", Adjourned),
                ("NAME ran out of time and Bob has no material to mate", "1/2-1/2", InsufficientMaterialClaim),
                ("Game courtesyadjourned by NAME", "*", Adjourned),
                ("Game drawn by stalemate", "1/2-1/2", Stalemate),
                ("Game drawn by repetition", "1/2-1/2", Draw),
                ("Neither player has mating material", "1/2-1/2", Draw),
                ("Both players ran out of time", "1/2-1/2", Draw),
                ("Game aborted on move 1", "*", Aborted),
                ("adjourned", "*", Adjourned),
                ("aborted", "*", Aborted),
            ] {
                let words = words.replace("NAME", name);
                for players in [format!("{name} vs. Bob"), format!("Bob vs. {name}")] {
                    let line = format!("{{Game 1 ({players}) {words}}} {result}");
                    let Some(FicsMessage::GameEnd(end)) = read(&line) else { panic!("{line}") };
                    assert_eq!(end.status, status, "{line}");
                }
            }
            let line = format!("{{Game 1 ({name} vs. Bob) Continuing rated blitz match.}}");
            assert!(matches!(read(&line), Some(FicsMessage::GameStart(start)) if start.resumed), "{line}");
        }
    }

    #[test]
    fn starts_and_other_lines_are_read() {
        let Some(FicsMessage::GameStart(start)) = read("{Game 7 (Ann vs. Bob) Continuing rated wild/fr match.}") else {
            panic!("a start")
        };
        assert!(start.resumed && start.rated && start.kind == "wild/fr" && start.game == 7);
        for line in [
            "{Game",
            "{Game x (A vs. B) C} *",
            "{Game 1 (A vs. B) C}",
            "{Game 1 (A vs. B) C} 2-0",
            "{Game 1 (A vs. B) Creating }",
            "{Game 1 (A vs. B) Ann resigns}",
            "{Game 1 (A;resign vs. B) Creating rated blitz match.}",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
