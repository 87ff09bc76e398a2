//! A game on the console, against any player of draughts.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};

use super::{
    TablesFile,
    arguments::{PaceArguments, add, move_limit, side},
    drawing,
    record::{self, JournalFile},
    start_from,
};
use crate::player::{DraughtsPlayer, GameRecorder, Occasion, PlayerSpec, play_decided, vote_lines};
use bot::journal::JournalSettings;
use council::electors::Pool;
use domain::{Limits, TimeControl};
use draughts_core::{
    board::{Board, Color, Move, Rules},
    endgame::EndgameTables,
    game::{
        Game, Outcome,
        pdn::{GameResult, PdnRecord},
    },
};
use util::{Failure, outln, printable};

/// Help on the console's commands.
const HELP: &str = "a move    22-18, 22x15x6, or 22x6 where that is enough
moves     list the legal moves
board     show the board
undo      take back your last move, and the answer to it
go        let the program move for you; then you play the other side
player P  play on against another player: council, fully-guarded, published:moves=2,quiescence=off ...
pace P    let its moves cost something else: movetime=0.5, nodes=20000 or depth=8
pdn       show the game so far, with the votes
resign    give up
quit      end";

/// The setup of a game on the console.
#[derive(Debug, Args)]
pub(super) struct PlayArguments {
    /// Opponent
    #[arg(long, default_value = "council", value_name = "PLAYER")]
    against: PlayerSpec,
    /// Your colour
    #[arg(long, value_parser = side(), default_value = "white")]
    color: Color,
    #[command(flatten)]
    pace: PaceArguments,
    /// Start of the game: a position, ballot, or ballot:NUMBER
    #[arg(long, value_name = "FEN", value_parser = start_from)]
    start: Option<Board>,
    #[command(flatten)]
    tables: TablesFile,
    /// Add the game to this file, with the votes as comments
    #[arg(long, value_name = "FILE")]
    pdn: Option<PathBuf>,
    #[command(flatten)]
    journal: JournalFile,
}

impl PlayArguments {
    pub(super) async fn run(mut self, usual: impl FnOnce() -> Result<JournalSettings, Failure>) -> Result<(), Failure> {
        let tables = self.tables.load()?;
        self.against.kind.tables.clone_from(&tables);
        let pool = Pool::new(0);
        let game = Game::new(self.start.unwrap_or_default(), Rules::Official);
        let (program, human) = (self.against.to_string(), "human".to_owned());
        let names = if self.color == Color::White { [human, program] } else { [program, human] };
        let journal = self.journal.open(usual)?;
        let occasion = Occasion {
            place: "console",
            players: names.each_ref().map(String::as_str),
            ours: !self.color,
            clock: TimeControl::Unlimited,
        };
        let mut console = Console {
            recorder: GameRecorder::start(journal.as_ref(), &occasion, &game),
            player: DraughtsPlayer::new(&self.against, &pool),
            pool,
            tables,
            limits: self.pace.limits(),
            human: self.color,
            sheet: PdnRecord::between(&names[0], &names[1], game),
            said: BufReader::new(tokio::io::stdin()).lines(),
        };
        let agreed = console.play().await?;
        console.recorder.over(&console.sheet.game, agreed).await;
        drop(console.recorder);
        record::close(journal).await?;
        if let Some(path) = &self.pdn {
            add(path, &console.sheet.text(agreed))?;
        }
        Ok(())
    }
}

struct Console {
    pool: Pool,
    tables: Option<Arc<EndgameTables>>,
    player: DraughtsPlayer,
    limits: Limits,
    human: Color,
    sheet: PdnRecord,
    recorder: GameRecorder,
    said: Lines<BufReader<Stdin>>,
}

impl Console {
    /// Plays to the end, and says how it ended where the board does not.
    async fn play(&mut self) -> Result<GameResult, Failure> {
        self.show();
        loop {
            if let Some(outcome) = self.sheet.game.outcome() {
                outln!("{}", in_words(outcome));
                return Ok(GameResult::Unknown);
            }
            if self.sheet.game.board().to_move() != self.human {
                self.program_moves().await?;
                continue;
            }
            // At the end of the input the game is left as it stands.
            let Some(line) = self.said.next_line().await? else { return Ok(GameResult::Unknown) };
            if let Some(result) = self.hear(line.trim()) {
                return Ok(result);
            }
        }
    }

    async fn program_moves(&mut self) -> Result<(), Failure> {
        let decided = self.player.decide(&self.sheet.game, &self.limits, &mut |_| {}).await;
        let decision = decided.ok_or_else(|| Failure::failed("the program found no move"))?;
        vote_lines(&self.sheet.game, &decision).iter().for_each(|line| outln!("{line}"));
        self.recorder.decided(&self.sheet.game, &decision).await;
        play_decided(&mut self.sheet, &decision)?;
        self.show();
        Ok(())
    }

    /// Handles a line of input in the human's turn. Returns the result of a game that ends here, where the board has none.
    fn hear(&mut self, line: &str) -> Option<GameResult> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (word, rest.trim()) {
            ("", _) => {}
            ("help" | "?", _) => outln!("{HELP}"),
            ("moves", _) => outln!("{}", legal(&self.sheet.game)),
            ("board", _) => self.show(),
            ("undo", _) => self.take_back(),
            ("go", _) => self.human = !self.human,
            ("player", name) => match name.parse::<PlayerSpec>() {
                Ok(mut spec) => {
                    spec.kind.tables.clone_from(&self.tables);
                    self.player = DraughtsPlayer::new(&spec, &self.pool);
                }
                Err(error) => outln!("{}", printable(&error.to_string())),
            },
            ("pace", bound) => match move_limit(bound) {
                Ok(pace) => self.limits = pace.limits(),
                Err(error) => outln!("{}", printable(&error)),
            },
            ("pdn", _) => outln!("{}", self.sheet.text(GameResult::Unknown)),
            ("resign", _) => return Some(GameResult::Won(!self.human)),
            ("quit" | "exit", _) => return Some(GameResult::Unknown),
            (text, _) => match self.sheet.game.play_text(text) {
                Ok(_) => self.show(),
                Err(error) => outln!("{} (help lists the commands)", printable(&error.to_string())),
            },
        }
        None
    }

    /// Back to the human's last turn.
    fn take_back(&mut self) {
        while self.sheet.undo() {
            if self.sheet.game.board().to_move() == self.human {
                break;
            }
        }
        self.show();
    }

    fn show(&self) {
        drawing::board(self.sheet.game.board()).iter().for_each(|line| outln!("{line}"));
    }
}

fn legal(game: &Game) -> String {
    game.legal_moves().iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
}

pub(super) fn in_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Won(Color::White) => "White wins",
        Outcome::Won(Color::Black) => "Black wins",
        Outcome::Repetition => "drawn: the same position for the third time",
        Outcome::FortyMoves => "drawn: forty moves of each side without a capture or a man's move",
    }
}
