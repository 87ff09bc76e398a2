//! Draws, resignation, takebacks, aborts and claims.
//!
//! Scores are centipawns from the bot's side, one for each of its moves, the newest last. A rule
//! about scores must hold for several moves in a row: one odd search ends nothing.

use std::time::Duration;

use crate::journal::GameResult;
use domain::values::Kind;
use domain::{Decision, Score, Source};
use util::values::{Seconds, WholeNumber};

util::settings! {
    /// The `player.draw` table: when draws are offered and accepted.
    pub struct DrawSettings {
        /// Offer draws. A draw by repetition or by fifty moves is claimed even if this is false, unless
        /// the bot stands better.
        pub offer: bool = true,
        /// Accept draw offers: where the bot would offer one, and where it stands worse.
        pub accept: bool = true,
        /// Largest distance of the bot's score from zero, in centipawns. 0 to 10000.
        #[serde(with = "WholeNumber::<0, 10000>")]
        pub max_score: i32 = 10,
        /// Own moves in a row for which that must hold. 1 to 100.
        #[serde(with = "WholeNumber::<1, 100>")]
        pub consecutive_moves: usize = 5,
        /// Moves that the game must have had. 0 to 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub min_game_length: u32 = 30,
        /// Largest number of pieces on the board, kings and pawns included; 32 is any number. 2 to 32.
        #[serde(with = "WholeNumber::<2, 32>")]
        pub max_pieces: usize = 32,
        /// Offer and accept a tablebase draw at once, whatever the rules on score, length and pieces.
        pub tablebase: bool = true,
        /// Kinds of opponents: "human", "bot" or both.
        pub opponents: Vec<Kind> = vec![Kind::Human, Kind::Bot],
        /// The opponent's least rating; one without a rating counts as 0. 0 to 4000.
        #[serde(with = "WholeNumber::<0, 4000>")]
        pub min_rating: u32 = 0,
    }
}

impl DrawSettings {
    /// Returns the conditions for a draw, in a sentence for the opponent; empty for never.
    pub fn in_words(&self) -> String {
        let does = match (self.offer, self.accept) {
            (true, true) => "offer and accept",
            (true, false) => "offer",
            (false, true) => "accept",
            (false, false) => return String::new(),
        };
        let (pawns, moves) = (f64::from(self.max_score) / 100.0, self.consecutive_moves);
        format!(
            "I {does} a draw after move {} if my score is within {pawns:.2} of zero for {moves} moves.",
            self.min_game_length
        )
    }
}

util::settings! {
    /// The `player.resign` table: when the bot resigns.
    pub struct ResignSettings {
        /// Resign lost games.
        pub enabled: bool = false,
        /// The score at or under which a position counts as lost, in centipawns. -30000 to 0.
        #[serde(with = "WholeNumber::<-30000, 0>")]
        pub score: i32 = -1000,
        /// Own moves in a row for which that must hold. 1 to 100.
        #[serde(with = "WholeNumber::<1, 100>")]
        pub consecutive_moves: usize = 5,
        /// Moves that the game must have had. 0 to 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub min_game_length: u32 = 0,
        /// Take a tablebase loss for a lost position, whatever the score.
        pub tablebase: bool = true,
        /// Kinds of opponents: "human", "bot" or both.
        pub opponents: Vec<Kind> = vec![Kind::Human, Kind::Bot],
        /// The opponent's least rating; one without a rating counts as 0. 0 to 4000.
        #[serde(with = "WholeNumber::<0, 4000>")]
        pub min_rating: u32 = 0,
    }
}

util::settings! {
    /// The `player.abort` table: the time for the opponent's first move.
    pub struct AbortSettings {
        /// A human, in seconds. 5 to 3600.
        #[serde(with = "Seconds::<5, 3600>")]
        pub human: Duration = Duration::from_mins(1),
        /// A bot, in seconds. 5 to 3600.
        #[serde(with = "Seconds::<5, 3600>")]
        pub bot: Duration = Duration::from_secs(30),
    }
}

util::settings! {
    /// The `player.claim` table: claims on an opponent after leaving the game.
    pub struct ClaimSettings {
        /// Claim the win, or the draw without mating material, when the server allows it.
        pub enabled: bool = true,
    }
}

/// Returns the tablebase's result of the position for the bot, if a tablebase made the decision; the fifty-move rule counts.
pub fn tablebase_result(decision: &Decision) -> Option<GameResult> {
    let score = decision.score.filter(|_| decision.source == Source::Tablebase)?;
    Some(match score.as_centipawns() {
        1.. => GameResult::Won,
        0 => GameResult::Drawn,
        ..0 => GameResult::Lost,
    })
}

#[derive(Clone, Debug)]
pub struct GameFacts<'a> {
    /// Scores for the bot's moves, newest last; `None` for moves without one (book, forced).
    pub scores: &'a [Option<Score>],
    /// Full moves played.
    pub moves: u32,
    /// The number of pieces on the board, kings and pawns included.
    pub pieces: usize,
    pub tablebase: Option<GameResult>,
    /// The full moves since the bot's last draw offer; `None` if it has made none.
    pub moves_since_offer: Option<u32>,
    pub opponent: Kind,
    pub opponent_rating: Option<u32>,
    pub opponent_clock: Option<Duration>,
    pub increment: Duration,
}

/// Clock of an opponent without increment who is about to lose on time: the bot neither resigns nor offers.
const FLAGGING: Duration = Duration::from_secs(10);

impl GameFacts<'_> {
    /// Returns true if the newest `moves` scores exist and all pass.
    fn newest_scores(&self, moves: usize, passes: impl Fn(i32) -> bool) -> bool {
        let Some(first) = self.scores.len().checked_sub(moves) else { return false };
        let newest = self.scores.get(first..).unwrap_or_default();
        newest.iter().all(|score| score.is_some_and(|score| passes(score.as_centipawns())))
    }

    fn opponent_is_flagging(&self) -> bool {
        self.increment.is_zero() && self.opponent_clock.is_some_and(|left| left < FLAGGING)
    }

    fn opponent_is_among(&self, kinds: &[Kind], min_rating: u32) -> bool {
        kinds.contains(&self.opponent) && self.opponent_rating.unwrap_or(0) >= min_rating
    }
}

fn is_drawish(settings: &DrawSettings, game: &GameFacts<'_>) -> bool {
    if !game.opponent_is_among(&settings.opponents, settings.min_rating) || game.opponent_is_flagging() {
        return false;
    }
    match game.tablebase {
        Some(GameResult::Drawn) if settings.tablebase => true,
        Some(GameResult::Won) => false,
        _ => {
            game.moves >= settings.min_game_length
                && game.pieces <= settings.max_pieces
                && game.newest_scores(settings.consecutive_moves, |score| score.abs() <= settings.max_score)
        }
    }
}

/// Full moves before an offer is repeated: Lichess passes on none within 20 half-moves of the last one.
const OFFER_AGAIN: u32 = 10;

pub fn offers_draw(settings: &DrawSettings, game: &GameFacts<'_>) -> bool {
    let asked_lately = game.moves_since_offer.is_some_and(|moves| moves < OFFER_AGAIN);
    settings.offer && !asked_lately && is_drawish(settings, game)
}

/// Centipawns at or below which the bot prefers a draw to an opponent's loss on time.
const CLEARLY_WORSE: i32 = -200;

/// Returns true to claim a draw by repetition or by fifty moves with the next move: unless the bot's
/// last score is better than [`DrawSettings::max_score`]. The settings of offers do not apply,
/// because a claim asks nothing of the opponent. FICS ends such a game only after `draw`, and then
/// at once; Lichess takes the claim for an offer, and a justified one for a draw. Against an
/// opponent with hardly any time the bot claims only if it stands clearly worse.
pub fn claims_draw(settings: &DrawSettings, game: &GameFacts<'_>) -> bool {
    let Some(score) = game.scores.iter().rev().find_map(|score| *score) else { return false };
    let most = if game.opponent_is_flagging() { CLEARLY_WORSE } else { settings.max_score };
    score.as_centipawns() <= most
}

/// Returns true to accept a draw offer: if the bot would offer a draw itself, or stands worse.
pub fn accepts_draw(settings: &DrawSettings, game: &GameFacts<'_>) -> bool {
    if !settings.accept || !game.opponent_is_among(&settings.opponents, settings.min_rating) {
        return false;
    }
    let worse = game.newest_scores(settings.consecutive_moves, |score| score < -settings.max_score);
    is_drawish(settings, game) || game.tablebase == Some(GameResult::Lost) || worse
}

pub fn resigns(settings: &ResignSettings, game: &GameFacts<'_>) -> bool {
    if !settings.enabled
        || game.moves < settings.min_game_length
        || !game.opponent_is_among(&settings.opponents, settings.min_rating)
        || game.opponent_is_flagging()
    {
        return false;
    }
    match game.tablebase {
        Some(GameResult::Lost) if settings.tablebase => true,
        Some(GameResult::Won | GameResult::Drawn) => false,
        _ => game.newest_scores(settings.consecutive_moves, |score| score <= settings.score),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(scores: &[Option<Score>]) -> GameFacts<'_> {
        GameFacts {
            scores,
            moves: 40,
            pieces: 12,
            tablebase: None,
            moves_since_offer: None,
            opponent: Kind::Bot,
            opponent_rating: Some(2000),
            opponent_clock: Some(Duration::from_mins(3)),
            increment: Duration::from_secs(2),
        }
    }

    fn scores<const N: usize>(centipawns: [i32; N]) -> [Option<Score>; N] {
        centipawns.map(|centipawns| Some(Score::Cp(centipawns)))
    }

    #[test]
    fn draw_is_offered_after_level_scores() {
        let settings = DrawSettings::default();
        let level = scores([300, 0, 5, -5, 10, -10]);
        assert!(offers_draw(&settings, &facts(&level)));
        assert!(!offers_draw(&settings, &facts(&scores([0, 0, 0, 0]))), "too few");
        assert!(!offers_draw(&settings, &facts(&scores([0, 0, 11, 0, 0]))), "one was not level");
        assert!(!offers_draw(&settings, &GameFacts { moves: 29, ..facts(&level) }), "too early");
        let few = DrawSettings { max_pieces: 10, ..settings.clone() };
        assert!(!offers_draw(&few, &facts(&level)), "too many pieces");
        let humans = DrawSettings { opponents: vec![Kind::Human], ..settings.clone() };
        assert!(!offers_draw(&humans, &facts(&level)), "not against bots");
        let strong = DrawSettings { min_rating: 2100, ..settings };
        assert!(!offers_draw(&strong, &facts(&level)), "not against the weak");
    }

    #[test]
    fn draw_offer_is_repeated_after_ten_moves() {
        let level = scores([0; 6]);
        let since = |moves| GameFacts { moves_since_offer: Some(moves), ..facts(&level) };
        assert!(!offers_draw(&DrawSettings::default(), &since(1)) && !offers_draw(&DrawSettings::default(), &since(9)));
        assert!(offers_draw(&DrawSettings::default(), &since(10)));
        assert!(accepts_draw(&DrawSettings::default(), &since(1)), "theirs is taken at any time");
        let known = GameFacts { tablebase: Some(GameResult::Drawn), ..since(1) };
        assert!(!offers_draw(&DrawSettings::default(), &known), "not even where a tablebase knows it");
    }

    #[test]
    fn rightful_draws_are_always_claimed() {
        fn early(scores: &[Option<Score>]) -> GameFacts<'_> {
            GameFacts { moves: 8, moves_since_offer: Some(1), ..facts(scores) }
        }
        fn flagging(scores: &[Option<Score>]) -> GameFacts<'_> {
            let opponent_clock = Some(Duration::from_secs(3));
            GameFacts { opponent_clock, increment: Duration::ZERO, ..facts(scores) }
        }
        let none = DrawSettings { offer: false, accept: false, opponents: Vec::new(), ..DrawSettings::default() };
        assert!(claims_draw(&none, &early(&scores([300, 10]))));
        assert!(claims_draw(&none, &early(&scores([-700]))));
        assert!(!claims_draw(&none, &early(&scores([0, 11]))), "we stand better");
        assert!(claims_draw(&none, &early(&[Some(Score::Cp(0)), None])), "a forced move has no score");
        assert!(!claims_draw(&none, &early(&[None])), "nothing is known");
        assert!(!claims_draw(&none, &flagging(&scores([-11]))), "the opponent's time is nearly over");
        assert!(claims_draw(&none, &flagging(&scores([-700]))), "a draw is more");
    }

    #[test]
    fn opponent_about_to_flag_gets_no_draw() {
        let level = scores([0; 6]);
        let flagging =
            GameFacts { opponent_clock: Some(Duration::from_secs(3)), increment: Duration::ZERO, ..facts(&level) };
        assert!(!offers_draw(&DrawSettings::default(), &flagging));
        let lost = scores([-2000; 6]);
        let resign = ResignSettings { enabled: true, ..ResignSettings::default() };
        assert!(resigns(&resign, &facts(&lost)));
        assert!(!resigns(&resign, &GameFacts { scores: &lost, ..flagging.clone() }));
        assert!(accepts_draw(&DrawSettings::default(), &GameFacts { scores: &lost, ..flagging }), "a draw is more");
    }

    #[test]
    fn tablebase_overrides_the_score() {
        let level = scores([0; 6]);
        let won = GameFacts { tablebase: Some(GameResult::Won), ..facts(&level) };
        assert!(!offers_draw(&DrawSettings::default(), &won) && !accepts_draw(&DrawSettings::default(), &won));
        let drawn = GameFacts { tablebase: Some(GameResult::Drawn), moves: 3, ..facts(&[]) };
        assert!(offers_draw(&DrawSettings::default(), &drawn));
        let resign = ResignSettings { enabled: true, ..ResignSettings::default() };
        let lost = scores([-2000; 6]);
        assert!(!resigns(&resign, &GameFacts { scores: &lost, ..drawn }));
        assert!(resigns(&resign, &GameFacts { tablebase: Some(GameResult::Lost), ..facts(&[]) }));
    }

    #[test]
    fn mate_counts_as_lost_and_gaps_do_not() {
        let resign = ResignSettings { enabled: true, ..ResignSettings::default() };
        let mated = [Some(Score::Mate(-3)); 5];
        assert!(resigns(&resign, &facts(&mated)));
        let mut gap = mated;
        gap[2] = None;
        assert!(!resigns(&resign, &facts(&gap)));
        assert!(!resigns(&ResignSettings::default(), &facts(&mated)), "off by default");
    }
}
