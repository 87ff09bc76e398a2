use clap::Args;

use super::Failure;
use engine::{Breakdown, Position};
use util::print;

#[derive(Debug, Args)]
#[command(after_help = "Example:
  concilio eval \"r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3\"")]
pub(super) struct EvalCommand {
    /// The position; the usual starting position by default
    #[arg(default_value = "startpos")]
    fen: String,
    /// Read castling as Chess960's
    #[arg(long)]
    chess960: bool,
}

impl EvalCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let position = Position::from_line(&self.fen, self.chess960, []).map_err(Failure::usage)?;
        print(format_args!("{}", Breakdown::as_played(position.board())));
        Ok(())
    }
}
