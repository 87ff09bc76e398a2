//! One game of ours, followed board by board.
//!
//! The server shows positions, not moves; what was played is found out by asking which legal move leads from our position
//! to the one shown. So the line and the board cannot disagree: a board that our line does not reach, forwards by one
//! move or backwards by any, is [`Followed::Lost`], and the list of moves has to be fetched.

use std::time::{Duration, Instant};

use shakmaty::{Move, Position, san::San};

use crate::fics::message::{
    GameParameters, GameStart, ListedMoves, MatchTerms, OfferKind, Style12, ToldRules, time_control,
};
use domain::{
    Clock, Clocks, Color, GameId, GameInfo, GameState, GameStatus, GameTerms, Line, LineError, Offers, Player,
    TimeControl, UciMove, Variant,
};

const STANDARD_START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// Time from the opponent's last second to our claim: the server's clock differs from ours.
const FLAG_MARGIN: Duration = Duration::from_secs(1);

/// Words of the server about a game before its first board.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcement {
    pub terms: Option<Box<MatchTerms>>,
    pub start: Option<GameStart>,
    pub facts: Option<GameParameters>,
    /// The players who are known to be computers, in lower case.
    pub computers: Vec<String>,
    /// The challenge that the game comes of: it says what the announcement leaves out.
    pub challenge: Option<Box<MatchTerms>>,
    /// The rules by which it is played, once they are settled.
    pub variant: Variant,
}

impl Announcement {
    pub(super) fn rules(&self) -> ToldRules {
        let start = self.start.as_ref().map(|start| ToldRules::of(&start.kind));
        let facts = self.facts.as_ref().map(|facts| ToldRules::of(&facts.kind));
        let terms = self.terms.as_ref().map(|terms| terms.rules());
        [start, facts, terms].into_iter().flatten().fold(ToldRules::Untold, ToldRules::and)
    }

    /// Settles by which rules the game is played: those that the server tells; where it tells no more than `wild`, those of the
    /// challenge, or of the game as it was `known` before a pause. The error is the word for rules that are not known.
    pub(super) fn settle_rules(&mut self, known: Option<Variant>) -> Result<(), String> {
        let asked_for = self.challenge.as_ref().and_then(|terms| terms.variant());
        let rules = self.rules();
        let likely = [known, asked_for].into_iter().flatten().find(|variant| rules.allow(*variant));
        self.variant = match rules {
            ToldRules::Known(variant) => variant,
            ToldRules::Unknown(word) => return Err(word),
            ToldRules::Wild => likely.ok_or("wild")?,
            ToldRules::Untold => likely.unwrap_or_default(),
        };
        Ok(())
    }

    /// Returns true if, as far as the server says, the game that begins differs from `terms`.
    pub(super) fn contradicts(&self, terms: &MatchTerms, board: &Style12) -> bool {
        let is_told = self.start.is_some() || self.facts.is_some();
        let is_other_variant = match terms.variant() {
            Some(variant) => !self.rules().allow(variant),
            None => self.rules() != ToldRules::Untold,
        };
        is_told && (self.rated() != terms.rated || is_other_variant)
            || terms.time.is_some_and(|time| time != (board.initial_minutes, board.increment))
    }

    pub(super) fn rated(&self) -> bool {
        self.start.as_ref().map(|start| start.rated).or(self.facts.as_ref().map(|facts| facts.rated)).unwrap_or(false)
    }

    fn player(&self, name: &str, color: Color) -> Player {
        let seat = self.terms.as_ref().and_then(|terms| terms.seat_of(name));
        let mut player = seat.map_or_else(|| Player::named(name), |seat| seat.player(false));
        // Some servers mark a guest in the challenge alone.
        let challenge = self.challenge.as_ref().and_then(|terms| terms.seat_of(name));
        if challenge.is_some_and(|seat| seat.rating.guest) {
            player.title = Some("U".to_owned());
        }
        if self.computers.contains(&player.id) {
            player.title = Some("C".to_owned());
        }
        let facts = self.facts.as_ref().map(|facts| facts.ratings[color.fold_wb(0, 1)]);
        if let Some(rating) = facts.filter(|_| player.rating.is_none()) {
            player.rating = rating.value;
            player.provisional = rating.provisional;
        }
        player
    }
}

/// The answer to `moves`, as far as it has come.
#[derive(Clone, Debug, Default)]
pub(super) struct MovesAnswer {
    /// The position it begins from, where that is not the usual one.
    pub start: Option<Style12>,
    moves: Vec<String>,
    /// Set by the header: rows before it belong to something else.
    begun: bool,
}

impl MovesAnswer {
    /// Takes a line; whether it was the last one.
    pub(super) fn take(&mut self, line: ListedMoves) -> bool {
        match line {
            ListedMoves::Players { .. } => {
                self.begun = true;
                self.moves.clear();
                false
            }
            ListedMoves::Row { moves, .. } => {
                self.moves.extend(moves.into_iter().filter(|san| san != "..."));
                false
            }
            ListedMoves::End => self.begun,
        }
    }

    /// The moves, in short algebraic notation; `None` before the list has begun.
    pub(super) fn moves(&self) -> Option<&[String]> {
        self.begun.then_some(self.moves.as_slice())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// The same position; the clocks may be others.
    Same,
    Moved,
    Back,
    /// We do not know how the game came there.
    Lost,
}

pub(super) struct FollowedGame {
    /// The server's number of it, for as long as it runs.
    pub number: u32,
    pub info: GameInfo,
    /// Announcement of its start, in case the game is read again.
    pub said: Announcement,
    line: Line,
    /// Plies that were made before `info.start`, by the server's count.
    first_ply: usize,
    clocks: Option<Clocks>,
    ticking: bool,
    received: Instant,
    pub draw_offers: Offers,
    pub takeback_offers: Offers,
    takeback_plies: u32,
    /// Offers that stand, by the server's numbers.
    pub offers: Vec<(u32, bool, OfferKind)>,
}

impl FollowedGame {
    /// A game that stands at `board`, with the moves that led there.
    pub(super) fn resume(
        id: GameId,
        board: &Style12,
        list: &MovesAnswer,
        said: &Announcement,
        received: Instant,
    ) -> Option<Self> {
        let start = match &list.start {
            Some(start) => start_line(start, said.variant).ok()?,
            None => Line::start(said.variant),
        };
        let mut game = Self::new(id, start, board, said, received);
        game.first_ply = list.start.as_ref().map_or(0, Style12::ply);
        for san in &list.moves {
            let mv = read_san(&game.line, san)?;
            game.line.play(mv).ok()?;
        }
        (game.follow(board, received) != Followed::Lost).then_some(game)
    }

    /// A game whose `start` is at `board`.
    pub(super) fn new(id: GameId, start: Line, board: &Style12, said: &Announcement, received: Instant) -> Self {
        // Clocks that show nothing before the first move are none, whatever the server says of an increment.
        let is_untimed = board.ply() == 0 && board.clocks.iter().all(Duration::is_zero);
        let told = time_control(board.initial_minutes, board.increment);
        let info = GameInfo {
            id,
            terms: GameTerms {
                variant: start.variant(),
                time_control: if is_untimed { TimeControl::Unlimited } else { told },
                rated: said.rated(),
            },
            white: said.player(&board.white, Color::White),
            black: said.player(&board.black, Color::Black),
            our_color: board.our_color().unwrap_or(board.turn),
            start: start.clone(),
            tournament: None,
            url: None,
        };
        let mut game = Self {
            number: board.game,
            info,
            said: said.clone(),
            line: start,
            first_ply: board.ply(),
            clocks: None,
            ticking: false,
            received,
            draw_offers: Offers::default(),
            takeback_offers: Offers::default(),
            takeback_plies: 1,
            offers: Vec::new(),
        };
        game.read_clocks(board, received);
        game
    }

    pub(super) fn is_between(&self, name: &str) -> bool {
        [&self.info.white.name, &self.info.black.name].into_iter().any(|player| player.eq_ignore_ascii_case(name))
    }

    /// Returns true if the server's line about a game means this one.
    pub(super) fn is(&self, number: u32, white: &str, black: &str) -> bool {
        self.number == number
            && self.info.white.name.eq_ignore_ascii_case(white)
            && self.info.black.name.eq_ignore_ascii_case(black)
    }

    /// Continues the game under the name and the number that it has after a pause; returns true if
    /// `board` follows from what we know of it.
    pub(super) fn goes_on(&mut self, id: GameId, board: &Style12, said: Announcement, received: Instant) -> bool {
        self.info.id = id;
        self.number = board.game;
        self.said = said;
        self.draw_offers = Offers::default();
        self.takeback_offers = Offers::default();
        self.offers.clear();
        let same_players = self.is(board.game, &board.white, &board.black);
        same_players && self.follow(board, received) != Followed::Lost
    }

    pub(super) fn follow(&mut self, board: &Style12, received: Instant) -> Followed {
        let here = self.plies_made();
        let followed = if board.ply() == here && self.stands_at(board) {
            Followed::Same
        } else if board.ply() == here + 1 {
            match move_to(&self.line, board).map(|uci| self.line.play(uci)) {
                Some(Ok(())) => Followed::Moved,
                _ => return Followed::Lost,
            }
        } else if (self.first_ply..here).contains(&board.ply()) {
            self.line.truncate(board.ply() - self.first_ply);
            if !self.stands_at(board) {
                return Followed::Lost;
            }
            Followed::Back
        } else {
            return Followed::Lost;
        };
        match followed {
            // A move declines the opponent's offers.
            Followed::Moved => {
                for offers in [&mut self.draw_offers, &mut self.takeback_offers] {
                    *self.line.turn().fold_wb(&mut offers.white, &mut offers.black) = false;
                }
            }
            Followed::Back => {
                self.draw_offers = Offers::default();
                self.takeback_offers = Offers::default();
            }
            Followed::Same | Followed::Lost => {}
        }
        self.read_clocks(board, received);
        followed
    }

    /// The boards show clocks that do not count.
    pub(super) fn has_no_clock(&mut self) {
        self.info.terms.time_control = TimeControl::Unlimited;
        self.clocks = None;
    }

    fn stands_at(&self, board: &Style12) -> bool {
        self.line.turn() == board.turn && placement(self.line.position()) == board.placement
    }

    fn read_clocks(&mut self, board: &Style12, received: Instant) {
        let increment = Duration::from_secs(board.increment.into());
        let [white, black] = board.clocks.map(|remaining| Clock { remaining, increment });
        self.clocks = (self.info.terms.time_control != TimeControl::Unlimited).then_some(Clocks { white, black });
        // Servers that do not tell run the clock from the second move on.
        self.ticking = board.ticking.unwrap_or_else(|| board.ply() >= self.first_ply + 2);
        self.received = received;
    }

    /// Adds to a clock what the server announces before it shows it.
    pub(super) fn add_time(&mut self, color: Color, more: Duration) {
        if let Some(clocks) = &mut self.clocks {
            let clock = clocks.of_mut(color);
            clock.remaining = clock.remaining.saturating_add(more);
        }
    }

    /// Notes that `color` offers or no longer offers something; whether that is news.
    pub(super) fn note_offer(&mut self, color: Color, what: OfferKind, stands: bool) -> bool {
        let offers = match what {
            OfferKind::Draw => &mut self.draw_offers,
            OfferKind::Takeback(plies) => {
                if stands {
                    self.takeback_plies = plies;
                }
                &mut self.takeback_offers
            }
            _ => return false,
        };
        std::mem::replace(color.fold_wb(&mut offers.white, &mut offers.black), stands) != stands
    }

    pub(super) fn their_offer(&self, kind: OfferKind) -> Option<u32> {
        // How many plies a takeback is about makes it no other kind.
        let is_kind = |what: OfferKind| std::mem::discriminant(&what) == std::mem::discriminant(&kind);
        self.offers.iter().find_map(|(index, ours, what)| (!ours && is_kind(*what)).then_some(*index))
    }

    pub(super) fn takeback_command(&self) -> String {
        match self.their_offer(OfferKind::Takeback(self.takeback_plies)) {
            Some(index) => format!("accept {index}"),
            None => format!("takeback {}", self.takeback_plies),
        }
    }

    /// Returns the number of half-moves, including unknown ones.
    pub(super) fn plies_made(&self) -> usize {
        self.first_ply + self.line.ply()
    }

    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Returns true if no move is possible any more. A position without mating material is not one:
    /// many servers play on there until a clock runs out.
    pub(super) fn is_played_out(&self) -> bool {
        let position = self.line.position();
        position.is_variant_end() || position.legal_moves().is_empty()
    }

    pub(super) fn is_our_move(&self) -> bool {
        self.line.turn() == self.info.our_color
    }

    pub(super) fn state(&self) -> GameState {
        let status = if self.line.ply() == 0 { GameStatus::Created } else { GameStatus::Started };
        self.ended(status, None)
    }

    pub(super) fn ended(&self, status: GameStatus, winner: Option<Color>) -> GameState {
        GameState {
            moves: domain::moves_text(self.line.moves()),
            clocks: self.clocks,
            status,
            winner,
            draw_offers: self.draw_offers,
            takeback_offers: self.takeback_offers,
            received: self.received,
        }
    }

    pub(super) fn our_clock(&self) -> Option<Duration> {
        self.clocks.map(|clocks| clocks.of(self.info.our_color).remaining)
    }

    /// Returns the time at which the opponent's clock runs out, if nothing happens.
    pub(super) fn flag_at(&self) -> Option<Instant> {
        let clocks = self.clocks.filter(|_| self.ticking && !self.is_our_move())?;
        let remaining = clocks.of(self.info.our_color.other()).remaining;
        self.received.checked_add(remaining)?.checked_add(FLAG_MARGIN)
    }

    /// The server's way to write a move: `e2e4`, `e7e8=Q`, `o-o`, `N@f5`. `None` if it is not legal here.
    pub(super) fn command(&self, uci: UciMove) -> Option<String> {
        Some(match uci.to_move(self.line.position()).ok()? {
            Move::Castle { king, rook } => if rook > king { "o-o" } else { "o-o-o" }.to_owned(),
            Move::Put { role, to } => format!("{}@{to}", role.upper_char()),
            Move::Normal { from, to, promotion: Some(role), .. } => format!("{from}{to}={}", role.upper_char()),
            Move::Normal { from, to, .. } | Move::EnPassant { from, to } => format!("{from}{to}"),
        })
    }
}

/// Returns a line that starts at `board`, the first one of its game.
pub(super) fn start_line(board: &Style12, variant: Variant) -> Result<Line, LineError> {
    let is_usual = variant == Variant::Standard && board.placement == STANDARD_START && board.ply() == 0;
    if is_usual { Ok(Line::start(variant)) } else { line_from(board, variant) }
}

/// Returns a line that starts at `board`, of which no more is known.
pub(super) fn line_from(board: &Style12, variant: Variant) -> Result<Line, LineError> {
    let variant = if variant == Variant::Standard { Variant::FromPosition } else { variant };
    Line::from_fen(variant, &board.fen())
}

fn placement(position: &impl Position) -> String {
    position.board().board_fen().to_string()
}

/// The move that leads from the end of `line` to `board`: the one the server names, if that is it, or any other.
fn move_to(line: &Line, board: &Style12) -> Option<UciMove> {
    let leads_there = |mv: Move| {
        let mut after = line.position().clone();
        after.play_unchecked(mv);
        after.turn() == board.turn && placement(&after) == board.placement
    };
    let position = line.position();
    let named =
        board.last_san.as_deref().and_then(|san| san_of(san)?.to_move(position).ok()).filter(|mv| leads_there(*mv));
    let mv = named.or_else(|| position.legal_moves().into_iter().find(|mv| leads_there(*mv)))?;
    Some(mv.to_uci(line.castling_mode()))
}

pub(super) fn read_san(line: &Line, san: &str) -> Option<UciMove> {
    Some(san_of(san)?.to_move(line.position()).ok()?.to_uci(line.castling_mode()))
}

fn san_of(san: &str) -> Option<San> {
    San::from_ascii(san.trim_end_matches(['+', '#', '!', '?']).as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(line: &str) -> Style12 {
        Style12::read(line).expect("a board")
    }

    fn started() -> FollowedGame {
        let first = board(
            "<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 1 Ann Bob 1 5 2 39 39 \
             300000 300000 1 none (0:00.000) none 0 0 0",
        );
        let start = start_line(&first, Variant::Standard).expect("a start");
        FollowedGame::new(GameId::new("g"), start, &first, &Announcement::default(), Instant::now())
    }

    const E4: &str = "<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 1 Ann Bob -1 5 2 39 39 \
                      300000 300000 1 P/e2-e4 (0:00.000) e4 0 0 0";
    const E5: &str = "<12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR W 4 1 1 1 1 0 1 Ann Bob 1 5 2 39 39 \
                      299000 298000 2 P/e7-e5 (0:02.000) e5 0 1 0";

    #[test]
    fn boards_and_takebacks_make_a_line() {
        let mut game = started();
        let now = Instant::now();
        assert_eq!(game.state().status, GameStatus::Created);
        assert_eq!(game.follow(&board(E4), now), Followed::Moved);
        assert_eq!(game.follow(&board(E4), now), Followed::Same);
        game.note_offer(Color::White, OfferKind::Draw, true);
        assert_eq!(game.follow(&board(E5), now), Followed::Moved);
        assert_eq!(game.draw_offers, Offers::default(), "a move declines");
        let state = game.state();
        assert_eq!((state.moves.as_str(), state.status), ("e2e4 e7e5", GameStatus::Started));
        let clocks = state.clocks.expect("clocks");
        assert_eq!((clocks.white.remaining.as_millis(), clocks.black.increment.as_millis()), (299_000, 2000));
        assert_eq!(game.follow(&board(E4), now), Followed::Back);
        assert_eq!(game.state().moves, "e2e4");
    }

    #[test]
    fn unconnected_board_is_not_believed() {
        let mut game = started();
        assert_eq!(game.follow(&board(E5), Instant::now()), Followed::Lost);
        let wrong = E4.replace("----P---", "---P----");
        assert_eq!(game.follow(&board(&wrong), Instant::now()), Followed::Lost);
    }

    #[test]
    fn move_list_completes_the_game() {
        let mut list = MovesAnswer::default();
        list.take(ListedMoves::Players { white: "Ann".to_owned(), black: "Bob".to_owned() });
        list.take(ListedMoves::Row { number: 1, moves: vec!["e4".to_owned()] });
        assert!(list.take(ListedMoves::End));
        let said = Announcement::default();
        // The opponent has moved while the list was on its way.
        let game = FollowedGame::resume(GameId::new("g"), &board(E5), &list, &said, Instant::now()).expect("a game");
        assert_eq!(game.state().moves, "e2e4 e7e5");
        let empty = MovesAnswer::default();
        assert!(FollowedGame::resume(GameId::new("g"), &board(E5), &empty, &said, Instant::now()).is_none());
        let start = line_from(&board(E5), Variant::Standard).expect("a position");
        let here = FollowedGame::new(GameId::new("g"), start, &board(E5), &said, Instant::now());
        assert_eq!((here.state().moves.as_str(), here.info.terms.variant), ("", Variant::FromPosition));
    }

    #[test]
    fn moves_suit_every_server() {
        let fen = "r3k2r/P7/8/8/8/8/8/R3K2R w KQkq - 0 1";
        let mut game = started();
        for (variant, uci, command) in [
            (Variant::FromPosition, "e1g1", "o-o"),
            (Variant::FromPosition, "e1c1", "o-o-o"),
            (Variant::Chess960, "e1h1", "o-o"),
            (Variant::FromPosition, "a1a2", "a1a2"),
            (Variant::FromPosition, "h1h8", "h1h8"),
        ] {
            game.line = Line::from_fen(variant, fen).expect("a position");
            let uci = uci.parse().expect("a move");
            assert_eq!(game.command(uci).as_deref(), Some(command));
        }
        game.line = Line::from_fen(Variant::FromPosition, "4k3/P7/8/8/8/8/8/4K3 w - - 0 1").expect("a position");
        assert_eq!(game.command("a7a8n".parse().expect("a move")).as_deref(), Some("a7a8=N"));
        assert_eq!(game.command("a7a9q".parse().unwrap_or("e1e8".parse().expect("a move"))), None);
    }
}
