//! Moves, offers and everything else at the board.

use std::io;

use shakmaty::{CastlingSide, Move, Position, san::San};

use crate::{
    dialect::Dialect,
    fics::{
        commands::NO_BOARD,
        session::{JoinedBoard, VisitorSession},
        text,
    },
    game::{GameRefusal, PracticeGame, Stop},
    state::Denied,
};
use domain::{Color, Line, UciMove};

/// Returns true if a line has the form of a move. No command has it.
pub(crate) fn looks_like_a_move(line: &str) -> bool {
    if read_castling(line).is_some() {
        return true;
    }
    let first = line.bytes().next();
    let long_form = matches!(
        line.as_bytes(),
        [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8']
            | [b'a'..=b'h', b'1'..=b'8', b'-', b'a'..=b'h', b'1'..=b'8']
            | [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8', b'=', _]
    );
    let in_san = |byte: u8| matches!(byte, b'a'..=b'h' | b'1'..=b'8' | b'x' | b'=' | b'+' | b'#' | b'@' | b'K' | b'Q' | b'R' | b'B' | b'N' | b'P');
    let short_form = matches!(first, Some(b'a'..=b'h' | b'K' | b'Q' | b'R' | b'B' | b'N' | b'P'))
        && line.len() >= 2
        && line.bytes().all(in_san)
        && San::from_ascii(line.trim_end_matches(['+', '#']).as_bytes()).is_ok();
    long_form || short_form || with_capital(line).is_some()
}

/// Capitalises a piece written in lower case: `nf3`, `qxd5`. `None` for anything that can be a
/// pawn's move.
fn with_capital(line: &str) -> Option<String> {
    let first = line.chars().next().filter(|first| matches!(first, 'k' | 'q' | 'r' | 'n' | 'b'))?;
    let text = format!("{}{}", first.to_ascii_uppercase(), &line[1..]);
    let squares = text[1..].trim_end_matches(['+', '#']);
    let form = squares.len() >= 2 && squares.bytes().all(|byte| matches!(byte, b'a'..=b'h' | b'1'..=b'8' | b'x'));
    (form && San::from_ascii(text.trim_end_matches(['+', '#']).as_bytes()).is_ok()).then_some(text)
}

fn read_castling(text: &str) -> Option<CastlingSide> {
    match text.to_lowercase().as_str() {
        "o-o" => Some(CastlingSide::KingSide),
        "o-o-o" => Some(CastlingSide::QueenSide),
        _ => None,
    }
}

/// The move that a line means; `None` if it is not legal.
fn read_move(line: &Line, text: &str) -> Option<UciMove> {
    let position = line.position();
    let uci_of = |mv: Move| mv.to_uci(line.castling_mode());
    if let Some(side) = read_castling(text) {
        return San::Castle(side).to_move(position).ok().map(uci_of);
    }
    let squares = text.replace(['-', '='], "").to_lowercase();
    // A pawn without a named promotion becomes a queen.
    let mut coordinates = [squares.clone(), format!("{squares}q")].into_iter().filter_map(|uci| uci.parse().ok());
    // The king does not capture his rook to castle here.
    let is_meant = |uci: &UciMove| uci.to_move(position).is_ok_and(|mv| position.is_legal(mv) && uci_of(mv) == *uci);
    let read = |text: &str| San::from_ascii(text.trim_end_matches(['+', '#']).as_bytes()).ok()?.to_move(position).ok();
    // A pawn's move comes first: `bc3` is the bishop's only where no pawn can.
    coordinates.find(is_meant).or_else(|| read(text).or_else(|| read(&with_capital(text)?)).map(uci_of))
}

impl VisitorSession {
    pub(super) async fn make_move(&mut self, text: &str) -> io::Result<()> {
        let Some(board) = &self.playing else { return self.answer("You are not playing or examining a game.") };
        if self.telnet.pings > 0 {
            self.line("timeseal error: your timeseal did not reply to the server ping");
            self.leaving = true;
            return Ok(());
        }
        let (id, me, wanted) = (board.id.clone(), self.me.id.clone(), text.to_owned());
        let played = self.ask(move |state| {
            let view = state.game_view(&id).ok_or(Denied::NoSuchGame)?;
            if view.pairing.color_of(&me).is_some_and(|color| view.line.turn() != color) {
                return Err(Denied::Game(GameRefusal::NotYourTurn));
            }
            match read_move(&view.line, &wanted) {
                Some(uci) => state.play(&id, &me, uci, None).map(|()| true),
                None => Ok(false),
            }
        });
        match played.await? {
            Ok(true) => {}
            Err(Denied::Game(GameRefusal::NotYourTurn)) => self.line("It is not your move."),
            Ok(false) | Err(Denied::Game(GameRefusal::Illegal(_))) => {
                self.line(format!("Illegal move ({text})."));
                self.refresh().await?;
            }
            Err(_) => self.line("You are not playing or examining a game."),
        }
        Ok(())
    }

    pub(super) async fn resign(&mut self) -> io::Result<()> {
        // The board shows whether it was still running.
        self.in_game(|state, id, me| state.resign(id, me)).await.map(drop)
    }

    pub(super) async fn draw(&mut self) -> io::Result<()> {
        let heard = self.in_game(|state, id, me| {
            state.act(id, me, |game, color, now| {
                let before = game.draw_offer;
                game.draw(color, true, now);
                game.outcome.is_some() || game.draw_offer != before
            })
        });
        // The game accepts one offer in ten moves; further ones are ignored silently.
        if let Some(Ok(false)) = heard.await? {
            self.line("Draw request sent.");
        }
        Ok(())
    }

    pub(super) async fn abort(&mut self) -> io::Result<()> {
        let at_once = !self.dialect().is_plain();
        let aborted = self.in_game(move |state, id, me| {
            state.act(id, me, |game, color, now| {
                if !at_once || game.abort(color, now) == Err(GameRefusal::CannotAbort) {
                    game.stop(color, Stop::Abort, true, now);
                }
            })
        });
        aborted.await.map(drop)
    }

    pub(super) async fn adjourn(&mut self) -> io::Result<()> {
        let view = self.playing.as_ref().and_then(|board| board.view.as_ref());
        let lobby = &self.context.lobby;
        if view.is_some_and(|view| view.pairing.players.iter().any(|seat| lobby.is_guest(&seat.account))) {
            return self.answer("You cannot adjourn a game with an unregistered player.");
        }
        let stop = |game: &mut PracticeGame, color, now| game.stop(color, Stop::Adjourn, true, now);
        self.in_game(move |state, id, me| state.act(id, me, stop)).await.map(drop)
    }

    pub(super) async fn takeback(&mut self, plies: &str) -> io::Result<()> {
        let wanted = if plies.is_empty() { Some(1) } else { plies.parse::<usize>().ok() };
        let enough = self.in_game(move |state, id, me| {
            let enough = state.ply(id).is_some_and(|ply| wanted.is_none_or(|plies| plies <= ply));
            if wanted.is_some() {
                let _ = state.act(id, me, |game, color, now| game.takeback_of(color, wanted, now));
            }
            enough
        });
        match (enough.await?, wanted) {
            (Some(_), None) => self.line("Usage: takeback [number of half moves]"),
            (Some(false), Some(plies)) => self.line(format!("There are not {plies} half moves to take back.")),
            _ => {}
        }
        Ok(())
    }

    /// Claims the opponent's time. Where flags fall by themselves no clock is ever over at this
    /// point.
    pub(super) async fn flag(&mut self) -> io::Result<()> {
        let untimed =
            self.playing.as_ref().and_then(|board| board.view.as_ref()).is_some_and(|view| view.clocks.is_none());
        let claimed = self.in_game(|state, id, me| state.act(id, me, PracticeGame::claim_flag));
        let Some(claimed) = claimed.await? else { return Ok(()) };
        if untimed {
            self.line("You can't flag an untimed game.");
        } else if !matches!(claimed, Ok(Ok(true))) {
            self.line("Opponent is not out of time.");
        }
        Ok(())
    }

    pub(super) async fn refresh(&mut self) -> io::Result<()> {
        let Some(board) = self.board_in_sight() else { return self.answer(NO_BOARD) };
        let (id, number, relation) = (board.id.clone(), board.number, board.relation);
        if let Some(view) = self.ask(move |state| state.game_view(&id)).await? {
            self.show_board(&view, number, relation);
        }
        Ok(())
    }

    pub(super) async fn moves(&mut self, words: &str) -> io::Result<()> {
        let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
        let (long, which) = if first == "l" { (true, rest.trim()) } else { (false, words) };
        if long && self.dialect() != Dialect::Freechess {
            return Ok(());
        }
        let board = self.board_in_sight();
        let (id, number) = match (which.parse::<u32>(), board) {
            (Ok(number), _) => match self.context.lobby.game(number) {
                Some(id) => (id, number),
                None => return self.answer("There is no such game."),
            },
            (Err(_), Some(board)) => (board.id.clone(), board.number),
            (Err(_), None) => return self.answer(NO_BOARD),
        };
        if let Some(view) = self.ask(move |state| state.game_view(&id)).await? {
            let (exact, start) = (self.variables.interface("ms"), self.variables.interface("startpos"));
            let list = text::move_list(&view, Some(number), exact, start, long, &self.context.lobby);
            self.line(list);
        }
        Ok(())
    }

    pub(super) async fn games(&mut self) -> io::Result<()> {
        let running = self.ask(|state| state.running_games()).await?;
        self.release_numbers().await?;
        let lobby = &self.context.lobby;
        let mut rows: Vec<String> =
            running.iter().map(|view| text::game_row(view, lobby.number_of(&view.pairing.id), lobby)).collect();
        rows.push(format!("\n  {} game{} displayed.", rows.len(), if rows.len() == 1 { "" } else { "s" }));
        self.answer(rows.join("\n"))
    }

    pub(super) async fn observe(&mut self, which: &str) -> io::Result<()> {
        if self.playing.is_some() {
            return self.answer("You are playing a game.");
        }
        let running = self.ask(|state| state.running_games()).await?;
        let lobby = self.context.lobby.clone();
        let wanted = running.into_iter().find(|view| match which.parse::<u32>() {
            Ok(number) => lobby.game(number).as_ref() == Some(&view.pairing.id),
            Err(_) => view.pairing.players.iter().any(|seat| seat.name.eq_ignore_ascii_case(which)),
        });
        let Some(view) = wanted else { return self.answer("There is no such game.") };
        self.unobserve();
        let (id, key) = (view.pairing.id.clone(), self.key());
        let game = id.clone();
        let Ok(events) = self.ask(move |state| state.watch(&game, key)).await? else { return Ok(()) };
        let number = self.number_of(&id).await?;
        self.line(format!("You are now observing game {number}."));
        let players = &view.pairing.players;
        self.line(format!(
            "Game {number}: {} ({}) {} ({}) {}",
            players.white.name,
            text::rating(&players.white, &lobby),
            players.black.name,
            text::rating(&players.black, &lobby),
            text::terms(&view.pairing.terms, view.line.start_fen().as_deref()),
        ));
        self.watching = Some(JoinedBoard { id, number, relation: text::ViewerRole::Watcher, events, view: None });
        Ok(())
    }

    pub(super) fn unobserve(&mut self) {
        if let Some(board) = self.watching.take() {
            self.line(format!("Removing game {} from observation list.", board.number));
        }
    }

    pub(super) async fn time(&mut self) -> io::Result<()> {
        let Some(board) = self.board_in_sight() else { return self.answer(NO_BOARD) };
        let id = board.id.clone();
        let Some(view) = self.ask(move |state| state.game_view(&id)).await? else { return Ok(()) };
        let (white, black) = (text::clock(&view, Color::White), text::clock(&view, Color::Black));
        self.answer(format!("White Clock : {white}\nBlack Clock : {black}"))
    }

    pub(super) async fn flip(&mut self) -> io::Result<()> {
        self.set("flip").await?;
        if self.playing.is_some() || self.watching.is_some() {
            self.refresh().await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Variant;

    #[test]
    fn moves_have_a_form() {
        for text in [
            "e2e4", "e2-e4", "e7e8=Q", "e7e8=n", "o-o", "O-O-O", "Nf3", "exd5", "exd8=B+", "N@f5", "bc3", "nf3",
            "qxd5+", "rae1",
        ] {
            assert!(looks_like_a_move(text), "{text}");
        }
        for text in ["e7e8q", "abort", "accept", "help", "accept 17", "b", "bell", "", "e9e4", "date"] {
            assert!(!looks_like_a_move(text), "{text}");
        }
    }

    #[test]
    fn moves_are_read_in_every_notation() {
        let mut line = Line::start(Variant::Standard);
        line.play_all("e2e4 e7e5 g1f3 b8c6 f1c4 g8f6").expect("legal");
        for (text, uci) in [
            ("e1g1", Some("e1g1")),
            ("o-o", Some("e1g1")),
            ("O-O", Some("e1g1")),
            ("Nxe5", Some("f3e5")),
            ("nxe5", Some("f3e5")),
            ("bb5", Some("c4b5")),
            ("nc3", Some("b1c3")),
            ("f3-e5", Some("f3e5")),
            ("d2d4", Some("d2d4")),
            ("e1h1", None),
            ("e4e5", None),
        ] {
            assert_eq!(read_move(&line, text).map(|uci| uci.to_string()).as_deref(), uci, "{text}");
        }
        let line = Line::from_fen(Variant::FromPosition, "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1").expect("a position");
        for (text, uci) in [("e7e8", "e7e8q"), ("e7e8=N", "e7e8n"), ("e7e8=q", "e7e8q"), ("e8=R", "e7e8r")] {
            assert_eq!(read_move(&line, text).map(|uci| uci.to_string()).as_deref(), Some(uci), "{text}");
        }
    }
}
