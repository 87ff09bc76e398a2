//! CECP as text, in both directions. Pure; any output of an engine is tolerated.

use shakmaty::CastlingMode;

use crate::electors::uci::protocol::Info;
use domain::{Line, Score, UciMove, Variant};

#[derive(Clone, Debug, PartialEq)]
pub enum EngineAnswer {
    Thinking(Info),
    Move(UciMove),
    Unreadable(String),
    Refused(String),
    Resigns,
    Over,
    /// Chatter, comments, offers, and complaints about commands that it does not know.
    Nothing,
}

/// The centipawns from which on a score is a mate: this plus the number of moves.
const MATE: i64 = 100_000;
/// The most moves to a mate in that form.
const LONGEST_MATE: i64 = 1000;
/// Numbers that a line of thinking begins with: depth, score, time, nodes.
const NUMBERS: usize = 4;

/// Reads an engine's line about the last position of `line`.
pub fn answer(text: &str, line: &Line) -> EngineAnswer {
    let text = text.trim();
    // GNU Chess still uses the words of version 1.
    if let Some(word) = text.strip_prefix("move ").or(text.strip_prefix("My move is")) {
        let word = word.trim_start_matches([' ', ':']).trim_end();
        return line.read_move(word).map_or_else(|| EngineAnswer::Unreadable(word.to_owned()), EngineAnswer::Move);
    }
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| text.starts_with(beginning));
    if text == "resign" {
        EngineAnswer::Resigns
    } else if begins(&["1-0", "0-1", "1/2-1/2"]) {
        EngineAnswer::Over
    } else if begins(&["Illegal move", "Invalid move", "Illegal position", "tellusererror Illegal"]) {
        EngineAnswer::Refused(text.to_owned())
    } else {
        thinking(text, line).map_or(EngineAnswer::Nothing, EngineAnswer::Thinking)
    }
}

/// Reads a line of thinking: depth, score in centipawns, time in centiseconds, nodes, the principal variation.
fn thinking(text: &str, line: &Line) -> Option<Info> {
    let mut words = text.split_ascii_whitespace();
    let depth = words.next()?.trim_end_matches(['.', '+', '-', '&', '?', '!']).parse().ok()?;
    let numbers: Option<Vec<i64>> = words.by_ref().take(NUMBERS - 1).map(|word| word.parse().ok()).collect();
    let &[centipawns, _, nodes] = numbers?.as_slice() else { return None };
    let (nodes, score) = (nodes.max(0).unsigned_abs(), Some(score(centipawns)));
    Some(Info { depth, score, nodes, pv: principal_variation(words, line), ..Info::default() })
}

/// Returns the moves among words, in any notation, up to the first word that is none. Move numbers
/// and further numbers before them are skipped.
fn principal_variation<'a>(words: impl Iterator<Item = &'a str>, line: &Line) -> Vec<UciMove> {
    let mut reached = line.clone();
    let is_mark = |letter: char| letter.is_ascii_digit() || letter == '.';
    for word in words {
        // Castling may be written with noughts, and drops begin with no digit.
        let text = if word.starts_with("0-0") { word } else { word.trim_start_matches(is_mark) };
        if text.is_empty() {
            continue;
        }
        let Some(mv) = reached.read_move(text.trim_end_matches(['!', '?', ';', ','])) else { break };
        if reached.play(mv).is_err() {
            break;
        }
    }
    reached.moves()[line.ply()..].to_vec()
}

fn score(centipawns: i64) -> Score {
    let sign = if centipawns < 0 { -1 } else { 1 };
    match centipawns.saturating_abs().saturating_sub(MATE) {
        // A mate in no moves would be on the board already.
        moves @ 0..=LONGEST_MATE => Score::Mate((moves as i32).max(1) * sign),
        _ => Score::Cp(centipawns.clamp(-MATE, MATE) as i32),
    }
}

/// The pairs of a `feature` line: `name=value name="a value"`.
pub fn features(text: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while let Some((name, value)) = rest.split_once('=') {
        let (value, left) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => value.split_once(' ').unwrap_or((value, "")),
        };
        pairs.push((name.trim().to_owned(), value.to_owned()));
        rest = left.trim_start();
    }
    pairs
}

/// Returns a move in an engine's notation: coordinates, castling of Chess960 with letters, or SAN for all moves.
pub fn move_text(line: &Line, mv: UciMove, san: bool) -> String {
    let in_san = line.san(mv);
    let castles_960 = line.castling_mode() == CastlingMode::Chess960 && in_san.starts_with('O');
    match (san, castles_960) {
        (true, _) => in_san,
        (false, true) => in_san.trim_end_matches(['+', '#']).to_owned(),
        (false, false) => mv.to_string(),
    }
}

/// The names under which engines announce and take the rules of a variant, the usual one first.
pub const fn names_of(variant: Variant) -> &'static [&'static str] {
    match variant {
        Variant::Standard | Variant::FromPosition => &["normal", "chess"],
        Variant::Chess960 => &["fischerandom"],
        Variant::Crazyhouse => &["crazyhouse"],
        // In the game that others call suicide, a stalemate is no win.
        Variant::Antichess => &["giveaway", "antichess"],
        Variant::Atomic => &["atomic"],
        Variant::Horde => &["horde"],
        Variant::KingOfTheHill => &["kingofthehill", "koth"],
        Variant::RacingKings => &["racingkings"],
        Variant::ThreeCheck => &["3check", "threecheck"],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moves(text: &str) -> Vec<UciMove> {
        text.split(' ').map(|text| text.parse().expect("a move")).collect()
    }

    #[test]
    fn quoted_features_are_read() {
        let pairs = features(r#"ping=1 myname="GNU Chess 6.2.7" variants="normal,suicide" san=0 done=1"#);
        let names: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        assert_eq!(names, ["ping:1", "myname:GNU Chess 6.2.7", "variants:normal,suicide", "san:0", "done:1"]);
    }

    #[test]
    fn thinking_is_read_in_any_notation() {
        let line = Line::start(Variant::Standard);
        let pv = moves("e2e4 e7e5 g1f3");
        let expected = Info { depth: 9, score: Some(Score::Cp(-15)), nodes: 48211, pv, ..Info::default() };
        for text in [
            " 9.  -15 120 48211 e2e4 e7e5 g1f3",
            "9 -15 120 48211\te4 e5 Nf3",
            "9 -15 120 48211 1. e4 e5 2. Nf3",
            "9& -15 120 48211 1.e4 e5 2.Nf3! and more",
            "9 -15 120 48211 22 402000 0\te4 e5 Nf3",
        ] {
            assert_eq!(answer(text, &line), EngineAnswer::Thinking(expected.clone()), "{text:?}");
        }
        let EngineAnswer::Thinking(mated) = answer("12 -100003 5 900", &line) else { panic!("thinking") };
        assert_eq!((mated.score, mated.pv), (Some(Score::Mate(-3)), Vec::new()));
    }

    #[test]
    fn moves_are_told_from_chatter() {
        let line = Line::start(Variant::Standard);
        let best = |text: &str| EngineAnswer::Move(text.parse().expect("a move"));
        assert_eq!(answer("move Nf3", &line), best("g1f3"));
        assert_eq!(answer("move e2e4", &line), best("e2e4"));
        assert_eq!(answer("My move is : b1c3", &line), best("b1c3"));
        assert_eq!(answer("move e2e5", &line), EngineAnswer::Unreadable("e2e5".to_owned()));
        assert_eq!(answer("resign", &line), EngineAnswer::Resigns);
        assert_eq!(answer("1/2-1/2 {Draw by repetition}", &line), EngineAnswer::Over);
        assert!(matches!(answer("Illegal move: e2e4", &line), EngineAnswer::Refused(_)));
        for chatter in
            ["", "1. e2e4", "Chess", "# 1 2 3 4", "Hint: e7e5", "offer draw", "Error (unknown command): easy"]
        {
            assert_eq!(answer(chatter, &line), EngineAnswer::Nothing, "{chatter:?}");
        }
    }

    #[test]
    fn chess960_castling_uses_letters() {
        let line = Line::from_fen(Variant::Chess960, "1r2k2r/8/8/8/8/8/8/1R2K2R w HBhb - 0 1").expect("a position");
        let castling = "e1h1".parse().expect("a move");
        assert_eq!(move_text(&line, castling, false), "O-O");
        assert_eq!(answer("move O-O", &line), EngineAnswer::Move(castling));
        let line = Line::from_fen(Variant::Standard, "4k3/8/8/8/8/8/8/4K2R w K - 0 1").expect("a position");
        assert_eq!(move_text(&line, "e1g1".parse().expect("a move"), false), "e1g1");
    }

    proptest! {
        #[test]
        fn no_line_of_an_engine_panics(text in ".{0,200}", numbers in proptest::collection::vec(any::<i64>(), 0..6)) {
            let line = Line::start(Variant::Standard);
            let _ = (answer(&text, &line), features(&text));
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let _ = answer(&format!("{} {text}", numbers.join(" ")), &line);
        }
    }
}
