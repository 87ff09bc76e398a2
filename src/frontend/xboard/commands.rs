//! The commands of the protocol. All other words go on to [`console`](super::console).

use std::{
    io::{self, Write},
    sync::Arc,
};

use shakmaty::Color;

use super::{Edit, Opponent, Purpose, XboardSession, words};
use crate::frontend::options;
use domain::{Line, Variant};

/// The outcome of a command: executed, or refused for a reason; the outer error is a lost output.
pub(super) type CommandOutcome = io::Result<Result<(), String>>;

impl<W: Write> XboardSession<W> {
    /// Executes one line; a faulty one is answered and changes nothing.
    pub(super) async fn obey(&mut self, line: &str) -> io::Result<()> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let done = if self.edit.is_some() { self.edit_line(line) } else { self.command(command, rest.trim()).await? };
        if let Err(reason) = done {
            self.say(format_args!("Error ({reason}): {line}"))?;
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
            "usermove" => self.user_move(rest),
            "undo" => Ok(self.take_back(1)),
            "remove" => Ok(self.take_back(2)),
            "draw" => self.consider_draw().map(Ok),
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

    /// Answers as soon as a search can begin; after the own move, if one is being searched.
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
        if self.is_thinking() {
            return Ok(());
        }
        std::mem::take(&mut self.pings).into_iter().try_for_each(|ping| self.say(format_args!("pong {ping}")))
    }

    /// `.`: reports the progress of the analysis, without root moves: each elector is at another one.
    fn tell_status(&mut self) -> io::Result<()> {
        let search = self.search.as_ref().filter(|search| search.purpose == Purpose::Analysis);
        let Some(standing) = search.and_then(|search| search.progress.standing_or_deepest()) else { return Ok(()) };
        let text =
            format!("stat01: {} {} {} 0 0", standing.time.as_millis() / 10, standing.nodes, standing.proposal.depth);
        self.say(text)
    }

    // --- The game ------------------------------------------------------------------------------------------------------

    /// Begins another game, with the usual random seed; analysis goes on.
    fn new_game(&mut self, variant: Variant) -> Result<(), String> {
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

    fn variant(&mut self, name: &str) -> Result<(), String> {
        let variant = match name {
            "normal" => Variant::Standard,
            "fischerandom" => Variant::Chess960,
            _ => return Err(format!("variant {name:?} is not played here (accepted: normal, fischerandom)")),
        };
        self.new_game(variant)
    }

    /// Begins a game from this position, with a council that has learnt nothing yet.
    pub(super) fn begin(&mut self, line: Line) {
        self.search = None;
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

    pub(super) fn set_board(&mut self, fen: &str) -> Result<(), String> {
        let variant = if self.switches.chess960 { Variant::Chess960 } else { Variant::Standard };
        if fen.is_empty() {
            return Err("setboard needs a FEN".into());
        }
        let line = Line::from_fen(variant, fen).map_err(|error| error.to_string())?;
        self.begin(line);
        Ok(())
    }

    fn edit_line(&mut self, line: &str) -> Result<(), String> {
        let Some(edit) = &mut self.edit else { return Ok(()) };
        if line != "." {
            return edit.command(line);
        }
        let fen = edit.fen();
        self.edit = None;
        self.set_board(&fen)
    }

    pub(super) fn user_move(&mut self, text: &str) -> CommandOutcome {
        let Some(uci) = self.engine.line.read_move(text) else {
            return self.say(format_args!("Illegal move: {text}")).map(Ok);
        };
        if let Err(reason) = self.play(uci) {
            return Ok(Err(reason));
        }
        self.announce_result().map(Ok)
    }

    fn take_back(&mut self, plies: usize) -> Result<(), String> {
        let left = self.engine.line.ply().checked_sub(plies).ok_or("there is no such move to take back")?;
        Arc::make_mut(&mut self.engine.line).truncate(left);
        self.record.truncate(left);
        (self.expected, self.ended) = (None, false);
        Ok(())
    }

    // --- Switches and clocks -------------------------------------------------------------------------------------------

    fn turn_switch(&mut self, command: &str, rest: &str) -> Option<Result<(), String>> {
        let switches = &mut self.switches;
        match command {
            "force" => (self.ours, self.switches.both) = (None, false),
            "go" => (self.ours, self.ended) = (Some(self.engine.line.turn()), false),
            "playother" => self.ours = Some(!self.engine.line.turn()),
            // The old commands come only when that side is to move, or after a position was set up: the council plays the other.
            "white" => self.ours = Some(Color::Black),
            "black" => self.ours = Some(Color::White),
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
            "analyze" => (self.analyzing, self.ours, self.switches.post) = (true, None, true),
            "exit" => self.analyzing = false,
            "edit" => self.edit = Some(Edit::of(&self.engine.line)),
            "result" => self.ended = true,
            "?" => {
                if let Some(search) = self.search.as_ref().filter(|search| search.purpose == Purpose::Move) {
                    search.handle.answer_now();
                }
            }
            _ => return None,
        }
        Some(Ok(()))
    }

    /// `random`: draws a seed for this game, or goes back to the usual one.
    fn draw_by_lot(&mut self) {
        let seed = &mut self.engine.setup.council.seed;
        match self.usual_seed.take() {
            Some(usual) => *seed = usual,
            None => self.usual_seed = Some(std::mem::replace(seed, rand::random())),
        }
        self.search = None;
        self.engine.replace_council();
    }

    fn wind_clock(&mut self, command: &str, rest: &str) -> Option<Result<(), String>> {
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
        Some(wound)
    }

    // --- Options -------------------------------------------------------------------------------------------------------

    fn set_option(&mut self, text: &str) -> Result<(), String> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        self.set(name, value)
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if options::set(&mut self.engine.setup, name, value)? {
            // A running search belongs to the old council.
            self.search = None;
            self.engine.replace_council();
        }
        Ok(())
    }

    fn set_tablebases(&mut self, rest: &str) -> Result<(), String> {
        match rest.split_once(' ') {
            Some(("syzygy", folders)) => self.set("SyzygyPath", folders),
            _ => Err("egtpath needs: syzygy FOLDERS".into()),
        }
    }
}
