//! The commands of the protocol. What is typed at the console and is no command here goes on to [`console`](super::console).

use std::{
    io::{self, Write},
    sync::Arc,
};

use shakmaty::Color;

use super::{Edit, Opponent, Purpose, XboardSession, words};
use crate::frontend::options;
use domain::{Line, Variant};

/// The reason for refusing a command, in CECP's form.
pub(super) enum Problem {
    /// `Error (reason): command`.
    Error(String),
    /// `Illegal move: text`.
    IllegalMove(String),
}

impl From<String> for Problem {
    fn from(reason: String) -> Self {
        Self::Error(reason)
    }
}

impl From<&str> for Problem {
    fn from(reason: &str) -> Self {
        Self::Error(reason.to_owned())
    }
}

/// The outcome of a command: executed, or refused; the outer error is a lost output.
pub(super) type CommandOutcome = io::Result<Result<(), Problem>>;

impl<W: Write> XboardSession<W> {
    /// Executes one line; a faulty one is answered and changes nothing.
    pub(super) async fn obey(&mut self, line: &str) -> io::Result<()> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let done = if self.edit.is_some() { self.edit_line(line) } else { self.command(command, rest.trim()).await? };
        match done {
            Ok(()) => (),
            Err(Problem::Error(reason)) => self.say(format_args!("Error ({reason}): {line}"))?,
            Err(Problem::IllegalMove(text)) => self.say(format_args!("Illegal move: {text}"))?,
        }
        self.consider()?;
        self.answer_pings()
    }

    async fn command(&mut self, command: &str, rest: &str) -> CommandOutcome {
        match command {
            "" | "xboard" | "accepted" | "rejected" => Ok(Ok(())),
            "protover" => self.tell_features().map(Ok),
            "ping" => self.ping(rest).await.map(Ok),
            "new" => Ok(self.new_game(Variant::Standard)),
            "variant" => Ok(self.variant(rest)),
            "setboard" | "setup" => Ok(self.set_board(rest)),
            "edit" => Ok(self.begin_edit()),
            "usermove" => self.user_move(rest),
            "undo" => Ok(self.take_back(1)),
            "remove" => Ok(self.take_back(2)),
            "result" => Ok(self.end_game()),
            "draw" => self.consider_draw().map(Ok),
            "?" => Ok(self.move_now()),
            "." => self.tell_status().map(Ok),
            "option" => Ok(self.set_option(rest)),
            "memory" => Ok(self.set("Hash", rest)),
            "cores" => Ok(self.set("Threads", rest)),
            "egtpath" => Ok(self.set_tablebases(rest)),
            _ => match self.turn_switch(command, rest).or_else(|| self.wind_clock(command, rest)) {
                Some(done) => Ok(done),
                None => self.console(command, rest).await,
            },
        }
    }

    fn tell_features(&mut self) -> io::Result<()> {
        self.say(words::FEATURES)?;
        for option in options::list(&self.engine.setup).iter().filter_map(words::option) {
            self.say(option)?;
        }
        self.say("feature done=1")
    }

    /// Answered as soon as we can search, but after our move if we are thinking about one.
    async fn ping(&mut self, number: &str) -> io::Result<()> {
        self.pings.push(number.to_owned());
        if self.search.is_none() {
            // A faulty roster is reported when a move is requested.
            let _ = self.engine.start_council().await;
        }
        self.answer_pings()
    }

    /// Answers pings, except during thought about the own move.
    pub(super) fn answer_pings(&mut self) -> io::Result<()> {
        if self.search.as_ref().is_some_and(|search| search.purpose == Purpose::Move) {
            return Ok(());
        }
        std::mem::take(&mut self.pings).into_iter().try_for_each(|ping| self.say(format_args!("pong {ping}")))
    }

    // --- The game ------------------------------------------------------------------------------------------------------

    /// Begins another game with fixed ties; analysis goes on.
    fn new_game(&mut self, variant: Variant) -> Result<(), Problem> {
        if self.usual_seed.is_some() {
            self.draw_by_lot();
        }
        self.begin(Line::start(variant));
        self.switches.chess960 = variant == Variant::Chess960;
        self.ours = if self.analyzing { None } else { Some(Color::Black) };
        self.opponent = Opponent::default();
        self.clock.reset();
        Ok(())
    }

    fn variant(&mut self, name: &str) -> Result<(), Problem> {
        let variant = match name {
            "normal" => Variant::Standard,
            "fischerandom" => Variant::Chess960,
            _ => return Err(format!("variant {name:?} is not played here (accepted: normal, fischerandom)").into()),
        };
        self.new_game(variant)
    }

    /// A game from this position on, with a council that has learnt nothing yet.
    pub(super) fn begin(&mut self, line: Line) {
        self.drop_search();
        if line.variant() != self.engine.line.variant() {
            self.engine.replace_council();
        } else {
            self.engine.new_game();
        }
        self.engine.line = Arc::new(line);
        self.record.truncate(0);
        self.offered_at = None;
        (self.expected, self.ended) = (None, false);
    }

    pub(super) fn set_board(&mut self, fen: &str) -> Result<(), Problem> {
        let variant = if self.switches.chess960 { Variant::Chess960 } else { Variant::Standard };
        if fen.is_empty() {
            return Err("setboard needs a FEN".into());
        }
        let line = Line::from_fen(variant, fen).map_err(|error| error.to_string())?;
        self.begin(line);
        Ok(())
    }

    fn begin_edit(&mut self) -> Result<(), Problem> {
        self.edit = Some(Edit::of(&self.engine.line));
        Ok(())
    }

    fn edit_line(&mut self, line: &str) -> Result<(), Problem> {
        let Some(edit) = &mut self.edit else { return Ok(()) };
        if line != "." {
            return Ok(edit.command(line)?);
        }
        let fen = edit.fen();
        self.edit = None;
        self.set_board(&fen)
    }

    pub(super) fn user_move(&mut self, text: &str) -> CommandOutcome {
        let Some(uci) = self.engine.line.read_move(text) else {
            return Ok(Err(Problem::IllegalMove(text.to_owned())));
        };
        if let Err(reason) = self.play(uci) {
            return Ok(Err(reason.into()));
        }
        self.announce_result().map(Ok)
    }

    fn take_back(&mut self, plies: usize) -> Result<(), Problem> {
        let left = self.engine.line.ply().checked_sub(plies).ok_or("there is no such move to take back")?;
        Arc::make_mut(&mut self.engine.line).truncate(left);
        self.record.truncate(left);
        (self.expected, self.ended) = (None, false);
        Ok(())
    }

    fn end_game(&mut self) -> Result<(), Problem> {
        self.ended = true;
        Ok(())
    }

    fn move_now(&mut self) -> Result<(), Problem> {
        if self.search.as_ref().is_some_and(|search| search.purpose == Purpose::Move) {
            self.engine.answer_now();
        }
        Ok(())
    }

    // --- Switches and clocks -------------------------------------------------------------------------------------------

    fn turn_switch(&mut self, command: &str, rest: &str) -> Option<Result<(), Problem>> {
        let switches = &mut self.switches;
        match command {
            "force" => (self.ours, self.switches.both) = (None, false),
            "go" => (self.ours, self.ended) = (Some(self.engine.line.turn()), false),
            "playother" => self.ours = Some(!self.engine.line.turn()),
            // The side to move becomes this one, and we play the other.
            "white" => return Some(self.side_to_move(Color::White)),
            "black" => return Some(self.side_to_move(Color::Black)),
            "hard" => switches.hard = true,
            "easy" => switches.hard = false,
            "post" => switches.post = true,
            "nopost" => switches.post = false,
            "random" => self.draw_by_lot(),
            "computer" => self.opponent.computer = true,
            "name" => self.opponent.name = Some(rest.to_owned()),
            "ics" => (),
            "rating" => self.opponent.rating = rest.split(' ').nth(1).and_then(|rating| rating.parse().ok()),
            "pause" => self.paused = true,
            "resume" => self.paused = false,
            "analyze" => self.analyze(),
            "exit" => self.stop_analyzing(),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// `random`: with other lots in this game, or as always again.
    fn draw_by_lot(&mut self) {
        let seed = &mut self.engine.setup.council.seed;
        match self.usual_seed.take() {
            Some(usual) => *seed = usual,
            None => self.usual_seed = Some(std::mem::replace(seed, rand::random())),
        }
        self.drop_search();
        self.engine.replace_council();
    }

    /// The old commands `white` and `black` only ever come where the other side is on the move already, or in a position
    /// that was set up.
    fn side_to_move(&mut self, color: Color) -> Result<(), Problem> {
        self.ours = Some(!color);
        Ok(())
    }

    fn wind_clock(&mut self, command: &str, rest: &str) -> Option<Result<(), Problem>> {
        let clock = &mut self.clock;
        let number = |name: &str| rest.parse::<i64>().map_err(|_| format!("{name} needs a number"));
        let wound = match command {
            "level" => clock.level(rest),
            "st" => clock.each(rest),
            "gamein" => clock.game_in(rest),
            "time" => clock.ours_is(rest),
            "otim" => clock.theirs_is(rest),
            "sd" | "depth" => {
                number(command).map(|depth| clock.depth = u32::try_from(depth).ok().filter(|depth| *depth > 0))
            }
            "nps" => number(command).map(|speed| {
                clock.nodes_per_second = u64::try_from(speed).ok().filter(|speed| *speed > 0);
            }),
            _ => return None,
        };
        Some(wound.map_err(Problem::from))
    }

    // --- Options -------------------------------------------------------------------------------------------------------

    fn set_option(&mut self, text: &str) -> Result<(), Problem> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        self.set(name, value)
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        if options::set(&mut self.engine.setup, name, value)? {
            // A running search belongs to the old council.
            self.drop_search();
            self.engine.replace_council();
        }
        Ok(())
    }

    fn set_tablebases(&mut self, rest: &str) -> Result<(), Problem> {
        match rest.split_once(' ') {
            Some(("syzygy", folders)) => self.set("SyzygyPath", folders),
            _ => Err("egtpath needs: syzygy FOLDERS".into()),
        }
    }
}
