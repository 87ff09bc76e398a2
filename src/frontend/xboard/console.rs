//! The console of GNU Chess 4.0 (docs/method.md §10). docs/xboard.md lists the missing commands.

use std::io::{self, Write};

use shakmaty::{Position as _, Role, fen::Fen};

use super::{Purpose, XboardSession, commands::CommandOutcome};
use crate::frontend::board;
use domain::engine_position;
use engine::Breakdown;

const HELP: &str = "\
play      e2e4 or Nf3    your move             go          the council moves now, and plays on
          first          the same              switch      the council takes the other side
          both           it plays both sides   force       no side plays; moves are only entered
          ?              move at once          hint        what it expects of you
          undo, remove   one move back, two    new         from the beginning; you are White
          draw           offer one             quit
time      level M T I    M moves in T min, I s more a move     gamein T   the whole game in T min
          level M T I M T I ...   up to four controls in a game, one after another
          st S           S seconds a move      depth N     at most N plies (sd N)
show      bd             the board             list [F]    moves with score, depth, nodes, time
          reverse        from the other side   coords      with files and ranks
          stars          dark squares          post        what leads while it thinks (nopost)
          debug          every vote            eval        the position, heuristic by heuristic
          p              what each piece is worth          bk   what the book says
          test           speed of moves and evaluation
council   roster NAME    who proposes          criterion NAME   how one is elected
          options        all of them, with their values     option NAME=VALUE
          hash N         tables of all, MiB    cores N     cores to search with
          book           the book on or off    random      other lots in this game
          easy, hard     think in your time    beep        a bell with every move
files     save F, get F  a game as PGN         xget F      a position (FEN)
          edit           piece by piece        setboard FEN
          analyze        look on, until exit";

impl<W: Write> XboardSession<W> {
    pub(super) async fn console(&mut self, command: &str, rest: &str) -> CommandOutcome {
        match command {
            "help" => self.say(HELP).map(Ok),
            "bd" | "d" => self.say(board::draw(&self.engine.line, self.switches.look)).map(Ok),
            "list" => self.list(rest),
            "save" => Ok(self.save(rest)),
            "get" => Ok(self.get(rest)),
            "xget" => Ok(self.get_position(rest)),
            "hint" => self.hint().map(Ok),
            "bk" => self.tell_book().map(Ok),
            "eval" => self.evaluate(),
            "p" => self.tell_pieces(),
            "test" => self.test().await,
            "first" => Ok(self.play_side(self.engine.line.turn())),
            "switch" => Ok(self.switch_sides()),
            "both" => {
                self.switches.both = true;
                Ok(self.play_side(self.engine.line.turn()))
            }
            "options" => self.tell_options().map(Ok),
            "roster" => Ok(self.set("Roster", rest)),
            "criterion" => Ok(self.set("Criterion", rest)),
            "hash" => Ok(self.set("Hash", rest)),
            "book" => Ok(self.set("OwnBook", if self.engine.setup.own_book { "false" } else { "true" })),
            _ if self.flip(command) => Ok(Ok(())),
            _ => self.perhaps_a_move(command),
        }
    }

    fn flip(&mut self, command: &str) -> bool {
        let switches = &mut self.switches;
        let switch = match command {
            "debug" => &mut switches.debug,
            "beep" => &mut switches.beep,
            "coords" => &mut switches.look.coordinates,
            "reverse" => &mut switches.look.reversed,
            "stars" => &mut switches.look.stars,
            _ => return false,
        };
        *switch = !*switch;
        true
    }

    fn perhaps_a_move(&mut self, text: &str) -> CommandOutcome {
        let is_move = self.engine.line.read_move(text).is_some();
        let looks_like_one = text.len() >= 4 && text.parse::<domain::UciMove>().is_ok();
        if is_move || looks_like_one {
            return self.user_move(text);
        }
        Ok(Err("unknown command".into()))
    }

    fn play_side(&mut self, color: shakmaty::Color) -> Result<(), String> {
        (self.ours, self.ended) = (Some(color), false);
        Ok(())
    }

    fn switch_sides(&mut self) -> Result<(), String> {
        self.clock.swap();
        self.play_side(self.ours.map_or(self.engine.line.turn(), |ours| !ours))
    }

    // --- Showing -------------------------------------------------------------------------------------------------------

    /// Prints the expected move; without one, searches briefly.
    fn hint(&mut self) -> io::Result<()> {
        match self.expected {
            Some(expected) => self.say(format_args!("Hint: {expected}")),
            None if self.search.is_none() && !self.engine.line.legal_moves().is_empty() => self.think(Purpose::Hint),
            None => Ok(()),
        }
    }

    /// The book's moves with their shares; the list ends with an empty line.
    fn tell_book(&mut self) -> io::Result<()> {
        let moves = self.engine.setup.library.book_moves(&self.engine.line);
        let total: u32 = moves.iter().map(|(_, weight)| u32::from(*weight)).sum();
        for (uci, weight) in moves {
            let share = u32::from(weight) * 100 / total.max(1);
            self.say(format_args!("\t{} {share}%", self.engine.line.san(uci)))?;
        }
        self.say("")
    }

    fn tell_options(&mut self) -> io::Result<()> {
        for choice in crate::frontend::options::list(&self.engine.setup) {
            self.say(format_args!("{:<18}{}", choice.name, choice.value))?;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> CommandOutcome {
        match engine_position(&self.engine.line) {
            Ok(position) => self.say(Breakdown::as_played(position.board()).to_string().trim_end()).map(Ok),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// Prints the value of each piece: its side's loss without it, by complete knowledge.
    fn tell_pieces(&mut self) -> CommandOutcome {
        let line = std::sync::Arc::clone(&self.engine.line);
        let Some(position) = line.standard() else { return Ok(Err("only standard chess is evaluated".into())) };
        let value = |setup: shakmaty::Setup| -> Option<i32> {
            let fen = Fen::try_from_setup(setup).ok()?.to_string();
            let position = engine::Position::from_line(&fen, false, []).ok()?;
            let recipe = engine::evaluation::Recipe::COMPLETE;
            let sign = if line.turn() == shakmaty::Color::White { 1 } else { -1 };
            Some(engine::evaluation::evaluate(position.board(), &recipe) * sign)
        };
        let whole = position.to_setup(shakmaty::EnPassantMode::Legal);
        let Some(all) = value(whole.clone()) else { return Ok(Err("this position is not evaluated".into())) };
        for (square, piece) in position.board() {
            if piece.role == Role::King {
                continue;
            }
            let mut without = whole.clone();
            without.board.discard_piece_at(square);
            if let Some(rest) = value(without) {
                let worth = if piece.color == shakmaty::Color::White { all - rest } else { rest - all };
                self.say(format_args!("{} {square} {worth:>5}", piece.char()))?;
            }
        }
        Ok(Ok(()))
    }

    async fn test(&mut self) -> CommandOutcome {
        let measured = tokio::task::spawn_blocking(|| {
            let began = std::time::Instant::now();
            let leaves = engine::Position::from_line("startpos", false, [])
                .map_or(0, |position| engine::board::perft(position.board(), 5));
            (leaves, began.elapsed(), engine::bench_evaluation())
        });
        let Ok((leaves, time, evaluations)) = measured.await else { return Ok(Err("it cannot be measured".into())) };
        let millions = leaves as f64 / time.as_secs_f64().max(1e-9) / 1e6;
        self.say(format_args!("{leaves} moves generated and made, {millions:.1} million per second"))?;
        for (knowledge, time) in evaluations {
            self.say(format_args!("{knowledge:8} {:4} ns an evaluation", time.as_nanos()))?;
        }
        Ok(Ok(()))
    }

    fn list(&mut self, file: &str) -> CommandOutcome {
        let table = self.record.table(&self.engine.line);
        if file.is_empty() {
            return self.say(table).map(Ok);
        }
        Ok(std::fs::write(file, table + "\n").map_err(|error| format!("{file}: {error}")))
    }
}
