//! Draws, resignation, takebacks, aborts and claims.
//!
//! Scores are centipawns from the bot's side, one for each of its moves, the newest last. A rule
//! about scores must hold for several moves in a row, so that one odd search ends nothing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use domain::values::Kind;
use domain::{Decision, Score, Source};
use util::values::{Seconds, WholeNumber};

/// The `player.draw` table: when draws are offered and accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DrawSettings {
    pub offer: bool,
    /// Accept draw offers.
    pub accept: bool,
    /// Largest distance of the bot's score from zero, in centipawns. 0 to 10000.
    #[serde(with = "WholeNumber::<0, 10000>")]
    pub max_score: i32,
    /// Own moves in a row for which that must hold. 1 to 100.
    #[serde(with = "WholeNumber::<1, 100>")]
    pub consecutive_moves: usize,
    /// Moves that the game must have had. 0 to 1000.
    #[serde(with = "WholeNumber::<0, 1000>")]
    pub min_game_length: u32,
    /// Largest number of pieces on the board, kings and pawns included; 32 is any number. 2 to 32.
    #[serde(with = "WholeNumber::<2, 32>")]
    pub max_pieces: usize,
    /// Offer and accept a tablebase draw at once, whatever the rules on score, length and pieces.
    pub tablebase: bool,
    pub opponents: Vec<Kind>,
    /// The opponent's least rating; one without a rating counts as 0. 0 to 4000.
    #[serde(with = "WholeNumber::<0, 4000>")]
    pub min_rating: u32,
}

impl Default for DrawSettings {
    fn default() -> Self {
        Self {
            offer: true,
            accept: true,
            max_score: 10,
            consecutive_moves: 5,
            min_game_length: 30,
            max_pieces: 32,
            tablebase: true,
            opponents: vec![Kind::Human, Kind::Bot],
            min_rating: 0,
        }
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

/// The `player.resign` table: when we resign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResignSettings {
    /// Resign lost games.
    pub enabled: bool,
    /// The score at or under which a position counts as lost, in centipawns. -30000 to 0.
    #[serde(with = "WholeNumber::<-30000, 0>")]
    pub score: i32,
    /// Own moves in a row for which that must hold. 1 to 100.
    #[serde(with = "WholeNumber::<1, 100>")]
    pub consecutive_moves: usize,
    /// Moves that the game must have had. 0 to 1000.
    #[serde(with = "WholeNumber::<0, 1000>")]
    pub min_game_length: u32,
    /// Take a tablebase loss for a lost position, whatever the score.
    pub tablebase: bool,
    pub opponents: Vec<Kind>,
    /// The opponent's least rating; one without a rating counts as 0. 0 to 4000.
    #[serde(with = "WholeNumber::<0, 4000>")]
    pub min_rating: u32,
}

impl Default for ResignSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            score: -1000,
            consecutive_moves: 5,
            min_game_length: 0,
            tablebase: true,
            opponents: vec![Kind::Human, Kind::Bot],
            min_rating: 0,
        }
    }
}

/// The `player.abort` table: how long we wait for an opponent who does not begin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AbortSettings {
    /// A human, in seconds. 5 to 3600.
    #[serde(with = "Seconds::<5, 3600>")]
    pub human: Duration,
    /// A bot, in seconds. 5 to 3600.
    #[serde(with = "Seconds::<5, 3600>")]
    pub bot: Duration,
}

impl Default for AbortSettings {
    fn default() -> Self {
        Self { human: Duration::from_mins(1), bot: Duration::from_secs(30) }
    }
}

/// The `player.claim` table: what we do when the opponent has left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClaimSettings {
    /// Claim the win, or the draw without mating material, when the server allows it.
    pub enabled: bool,
}

impl Default for ClaimSettings {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// The tablebase's result of the position for the bot; the fifty-move rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablebaseResult {
    Win,
    Draw,
    Loss,
}

impl TablebaseResult {
    /// Returns the result for the bot, if a tablebase made the decision.
    pub fn of(decision: &Decision) -> Option<Self> {
        let score = decision.score.filter(|_| decision.source == Source::Tablebase)?;
        Some(match score.as_centipawns() {
            1.. => Self::Win,
            0 => Self::Draw,
            ..0 => Self::Loss,
        })
    }
}

/// The facts of a game that these rules use.
#[derive(Clone, Debug)]
pub struct GameFacts<'a> {
    /// Scores for the bot, one for each of its moves, newest last; `None` for moves without one
    /// (book, forced).
    pub scores: &'a [Option<Score>],
    /// The number of full moves played.
    pub moves: u32,
    /// The number of pieces on the board, kings and pawns included.
    pub pieces: usize,
    /// The tablebase's result, if there is one.
    pub tablebase: Option<TablebaseResult>,
    /// The full moves since the bot's last draw offer; `None` if it has made none.
    pub moves_since_offer: Option<u32>,
    pub opponent: Kind,
    pub opponent_rating: Option<u32>,
    /// The opponent's clock, if the game has one.
    pub opponent_clock: Option<Duration>,
    /// The time added by a move.
    pub increment: Duration,
}

/// The clock below which an opponent without increment is about to lose on time: no reason to give
/// anything away.
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

/// Returns true if the settings call the position drawn.
fn is_drawish(settings: &DrawSettings, game: &GameFacts<'_>) -> bool {
    if !game.opponent_is_among(&settings.opponents, settings.min_rating) || game.opponent_is_flagging() {
        return false;
    }
    match game.tablebase {
        Some(TablebaseResult::Draw) if settings.tablebase => true,
        Some(TablebaseResult::Win) => false,
        _ => {
            game.moves >= settings.min_game_length
                && game.pieces <= settings.max_pieces
                && game.newest_scores(settings.consecutive_moves, |score| score.abs() <= settings.max_score)
        }
    }
}

/// The full moves before an offer is repeated: asking after every move is a nuisance to a human,
/// and Lichess does not pass on an offer within 20 half-moves of the last one.
const OFFER_AGAIN: u32 = 10;

/// Returns true to offer a draw with the next move.
pub fn offers_draw(settings: &DrawSettings, game: &GameFacts<'_>) -> bool {
    let asked_lately = game.moves_since_offer.is_some_and(|moves| moves < OFFER_AGAIN);
    settings.offer && !asked_lately && is_drawish(settings, game)
}

/// Centipawns at which a draw is worth more than an opponent who is about to run out of time.
const CLEARLY_WORSE: i32 = -200;

/// Returns true to claim the draw by repetition or by fifty moves that the next move allows: unless
/// the bot stands better than [`DrawSettings::max_score`], by its last score. The claim is a right
/// and asks nothing of the opponent, so the settings of offers do not apply. FICS ends such a game
/// only after `draw`, and then at once; Lichess takes the claim for an offer, and a justified one
/// for a draw. An opponent with hardly any time gets one only if the bot stands clearly worse.
pub fn claims_draw(settings: &DrawSettings, game: &GameFacts<'_>) -> bool {
    let Some(score) = game.scores.iter().rev().find_map(|score| *score) else { return false };
    let most = if game.opponent_is_flagging() { CLEARLY_WORSE } else { settings.max_score };
    score.as_centipawns() <= most
}

/// Returns true to accept a draw offer: where the bot would offer one, and where it stands worse.
pub fn accepts_draw(settings: &DrawSettings, game: &GameFacts<'_>) -> bool {
    if !settings.accept || !game.opponent_is_among(&settings.opponents, settings.min_rating) {
        return false;
    }
    let worse = game.newest_scores(settings.consecutive_moves, |score| score < -settings.max_score);
    is_drawish(settings, game) || game.tablebase == Some(TablebaseResult::Loss) || worse
}

/// Returns true to resign now.
pub fn resigns(settings: &ResignSettings, game: &GameFacts<'_>) -> bool {
    if !settings.enabled
        || game.moves < settings.min_game_length
        || !game.opponent_is_among(&settings.opponents, settings.min_rating)
        || game.opponent_is_flagging()
    {
        return false;
    }
    match game.tablebase {
        Some(TablebaseResult::Loss) if settings.tablebase => true,
        Some(TablebaseResult::Win | TablebaseResult::Draw) => false,
        _ => game.newest_scores(settings.consecutive_moves, |score| score <= settings.score),
    }
}

/// Returns true to grant a takeback after `granted` ones in this game.
pub const fn grants_takeback(most: u32, granted: u32) -> bool {
    granted < most
}

/// Returns the time to wait for the opponent's first move before the game is aborted.
pub const fn abort_after(settings: &AbortSettings, opponent: Kind) -> Duration {
    match opponent {
        Kind::Human => settings.human,
        Kind::Bot => settings.bot,
    }
}

/// The possible claims on an opponent who has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Victory,
    /// The draw, because we could not mate.
    Draw,
}

/// Returns the claim on an opponent who has been gone for as long as the server demands.
///
/// The server answers 200 to an early claim and ignores it, so the caller repeats it until the game
/// ends.
pub const fn claim(settings: &ClaimSettings, we_can_mate: bool) -> Option<Claim> {
    match (settings.enabled, we_can_mate) {
        (false, _) => None,
        (true, true) => Some(Claim::Victory),
        (true, false) => Some(Claim::Draw),
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
        let known = GameFacts { tablebase: Some(TablebaseResult::Draw), ..since(1) };
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
        let won = GameFacts { tablebase: Some(TablebaseResult::Win), ..facts(&level) };
        assert!(!offers_draw(&DrawSettings::default(), &won) && !accepts_draw(&DrawSettings::default(), &won));
        let drawn = GameFacts { tablebase: Some(TablebaseResult::Draw), moves: 3, ..facts(&[]) };
        assert!(offers_draw(&DrawSettings::default(), &drawn));
        let resign = ResignSettings { enabled: true, ..ResignSettings::default() };
        let lost = scores([-2000; 6]);
        assert!(!resigns(&resign, &GameFacts { scores: &lost, ..drawn }));
        assert!(resigns(&resign, &GameFacts { tablebase: Some(TablebaseResult::Loss), ..facts(&[]) }));
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

    #[test]
    fn side_that_cannot_mate_claims_a_draw() {
        let settings = ClaimSettings::default();
        assert_eq!(claim(&settings, true), Some(Claim::Victory));
        assert_eq!(claim(&settings, false), Some(Claim::Draw));
        assert_eq!(claim(&ClaimSettings { enabled: false }, true), None);
        assert!(grants_takeback(1, 0) && !grants_takeback(1, 1) && !grants_takeback(0, 0));
    }
}
