//! The boards a visitor sits at: what changed on them is worked out from one picture to the next.

use std::{io, sync::Arc};

use super::{JoinedBoard, VisitorSession};
use crate::{
    fics::{offers::PendingKind, text},
    game::Stop,
    state::{BoardEvent, GameView},
};
use domain::{ChatLine, ChatRoom, Color};

impl VisitorSession {
    pub(super) async fn join_board(&mut self, view: &Arc<GameView>) -> io::Result<()> {
        let Some(color) = view.pairing.color_of(&self.me.id) else { return Ok(()) };
        let (id, key) = (view.pairing.id.clone(), self.key());
        if self.playing.as_ref().is_some_and(|board| board.id == id) {
            return Ok(());
        }
        let game = id.clone();
        // It may be over already, and forgotten.
        let Ok(events) = self.ask(move |state| state.join(&game, key)).await? else { return Ok(()) };
        let number = self.number_of(&id).await?;
        self.last_game = Some(Arc::clone(view));
        self.playing = Some(JoinedBoard { id, number, relation: text::ViewerRole::Player(color), events, view: None });
        Ok(())
    }

    /// Handles an event at the board where we play; `None` is its end.
    pub(in crate::fics) fn at_board(&mut self, event: Option<BoardEvent>) {
        let Some(mut board) = self.playing.take() else { return };
        let text::ViewerRole::Player(color) = board.relation else { return };
        match event {
            None => return,
            Some(BoardEvent::Full(view)) => {
                self.show_beginning(&view, board.number);
                self.show_moves(&mut board, &view);
            }
            Some(BoardEvent::State(view)) => {
                self.show_moves(&mut board, &view);
                self.show_offers(&view, color);
            }
            Some(BoardEvent::Chat(line)) => self.hear(&line, board.number),
            Some(BoardEvent::OpponentGone(_) | BoardEvent::OpponentBack) => {}
        }
        let dialect = self.dialect();
        match board.view.as_ref().and_then(|view| Some((view, text::end_line(view, board.number, dialect)?))) {
            Some((view, end)) => {
                if view.left == Some(!color)
                    && let Some(lost) = dialect.opponent_lost(&view.pairing.players.get(!color).name)
                {
                    self.line(lost);
                }
                self.line(end);
                if !view.is_adjourned {
                    self.line(text::rating_lines(view, color));
                }
                self.withdraw_offers(|what| what.is_of_game());
                self.context.lobby.release_number(&board.id);
            }
            None => self.playing = Some(board),
        }
    }

    /// Handles an event at the board that we watch.
    pub(in crate::fics) fn at_watched_board(&mut self, event: Option<BoardEvent>) {
        let Some(mut board) = self.watching.take() else { return };
        match event {
            None => return,
            Some(BoardEvent::Full(view) | BoardEvent::State(view)) => {
                self.show_moves(&mut board, &view);
                if let Some(end) = text::end_line(&view, board.number, self.dialect()) {
                    self.line(end);
                    return self.line(format!("Removing game {} from observation list.", board.number));
                }
            }
            Some(BoardEvent::Chat(line)) if line.room == ChatRoom::Spectator => {
                self.line(format!("{}[{}] whispers: {}", line.username, board.number, line.text));
            }
            Some(_) => {}
        }
        self.watching = Some(board);
    }

    /// Shows the board unless its moves are as they were.
    fn show_moves(&mut self, board: &mut JoinedBoard, view: &Arc<GameView>) {
        let before = board.view.replace(Arc::clone(view));
        if before.is_none_or(|before| before.line.moves() != view.line.moves()) {
            self.show_board(view, board.number, board.relation);
        }
    }

    fn hear(&mut self, line: &ChatLine, number: u32) {
        // Whispers are not for players.
        if line.room == ChatRoom::Player && !line.username.eq_ignore_ascii_case(&self.me.name) {
            let number = if self.dialect().is_plain() { String::new() } else { format!("[{number}]") };
            self.line(format!("{}{number} says: {}", line.username, line.text));
        }
    }

    fn show_beginning(&mut self, view: &GameView, number: u32) {
        let lobby = self.context.lobby.clone();
        self.line(text::beginning(view, number, &lobby, self.dialect()));
        if self.variables.interface("gameinfo") {
            let ours = view.pairing.color_of(&self.me.id);
            let sealed = Color::ALL.map(|color| ours == Some(color) && self.telnet.seal.is_some());
            self.line(text::game_facts(view, number, sealed, &lobby));
        }
    }

    /// Shows a board as the player wants it: style 12 is for programs, everything else is drawn for people.
    pub(in crate::fics) fn show_board(&mut self, view: &GameView, number: u32, relation: text::ViewerRole) {
        let ours = matches!(relation, text::ViewerRole::Player(color) if view.is_turn_of(color));
        let mut board = if self.variables.number("style") == 12 {
            text::style12(view, number, relation, self.variables.interface("ms"), self.dialect())
        } else {
            let plays_black = relation == text::ViewerRole::Player(Color::Black);
            text::diagram(view, number, plays_black != self.variables.is_on("flip"))
        };
        if let Some(holdings) = text::holdings(view, number) {
            board.push('\n');
            board.push_str(&holdings);
        }
        self.board(board, view.line_facts(&self.me.id), ours);
    }

    fn show_offers(&mut self, view: &GameView, color: Color) {
        let opponent = view.pairing.players.get(!color).name.clone();
        let (takeback_by, plies) = view.takeback_offer.unzip();
        for (what, by) in [
            (PendingKind::Draw, view.draw_offer),
            (PendingKind::Takeback(plies.unwrap_or(1)), takeback_by),
            (PendingKind::Stop(Stop::Abort), view.abort_offer),
            (PendingKind::Stop(Stop::Adjourn), view.adjourn_offer),
        ] {
            for ours in [true, false] {
                if by == Some(if ours { color } else { !color }) {
                    self.offer_stands(ours, &opponent, what.clone());
                } else {
                    let word = what.word();
                    let gone = self.offers.remove(|offer| offer.ours == ours && offer.what.word() == word);
                    if ours && !gone.is_empty() && view.is_running() {
                        self.line(format!("{opponent} declines the {word} request."));
                    }
                    self.show_gone(&gone);
                }
            }
        }
    }

    fn offer_stands(&mut self, ours: bool, opponent: &str, what: PendingKind) {
        let Some(index) = self.offers.add(ours, opponent, what.clone(), "") else { return };
        let (asked, sent) = match &what {
            PendingKind::Draw => ("offers you a draw.".to_owned(), "Draw request sent."),
            PendingKind::Takeback(plies) => {
                (format!("would like to take back {plies} half move(s)."), "Takeback request sent.")
            }
            PendingKind::Stop(Stop::Abort) => {
                ("would like to abort the game; type \"abort\" to accept.".to_owned(), "Abort request sent.")
            }
            _ => ("would like to adjourn the game; type \"adjourn\" to accept.".to_owned(), "Adjourn request sent."),
        };
        self.line(if ours { sent.to_owned() } else { format!("{opponent} {asked}") });
        let parameter = if let PendingKind::Takeback(plies) = what { plies.to_string() } else { "#".to_owned() };
        self.show_pending(ours, index, opponent, what.word(), &parameter);
    }

    /// Tells programs of an offer that stands.
    pub(super) fn show_pending(&mut self, ours: bool, index: u32, with: &str, kind: &str, parameter: &str) {
        if self.variables.interface("pendinfo") {
            let tag = if ours { "<pt>" } else { "<pf>" };
            self.line(format!("{tag} {index} w={with} t={kind} p={parameter}"));
        }
    }
}
