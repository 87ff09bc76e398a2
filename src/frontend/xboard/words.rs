use std::fmt::Write as _;

use shakmaty::{CastlingMode, Color, Position as _, san::San};

use crate::frontend::{
    options::{EngineOption, OptionKind},
    search_progress::LeadingProposal,
};
use council::player::vote_report;
use domain::{Decision, Line, Proposal, Score, UciMove};

pub(super) const FEATURES: &str = concat!(
    "feature done=0\n",
    "feature myname=\"concilio ",
    env!("CARGO_PKG_VERSION"),
    "\" ping=1 setboard=1 playother=1 san=0 usermove=1 time=1 draw=1 sigint=0 sigterm=0 reuse=1\n",
    "feature analyze=1 variants=\"normal,fischerandom\" colors=1 ics=1 name=1 pause=1 nps=1 debug=1\n",
    "feature memory=1 smp=1 egt=\"syzygy\""
);

/// Writes an option's description; `None` for options that have commands in CECP.
pub(super) fn option(choice: &EngineOption) -> Option<String> {
    let EngineOption { name, kind, value } = choice;
    if ["Hash", "Threads", "Ponder", "UCI_Chess960", "SyzygyPath"].contains(name) {
        return None;
    }
    let takes = match kind {
        OptionKind::Check => format!("-check {}", u8::from(value == "true")),
        OptionKind::Spin(least, most) => format!("-spin {value} {least} {most}"),
        OptionKind::Combo(words) => {
            let marked = words.iter().map(|word| if word == value { format!("*{word}") } else { (*word).to_owned() });
            format!("-combo {}", marked.collect::<Vec<_>>().join(" /// "))
        }
        OptionKind::Text => format!("-string {value}"),
        OptionKind::Button => "-button".to_owned(),
    };
    Some(format!("feature option=\"{name} {takes}\""))
}

/// A line of thinking: plies, centipawns (100000 and more for mates), hundredths of a second, nodes, moves.
pub(super) fn thinking(line: &Line, standing: &LeadingProposal<'_>) -> String {
    let Proposal { depth, score, pv, .. } = standing.proposal;
    let score = match score {
        Score::Cp(centipawns) => *centipawns,
        Score::Mate(moves) if *moves > 0 => 100_000 + moves,
        Score::Mate(moves) => -100_000 + moves,
    };
    let mut text = format!("{depth} {score} {} {}", standing.time.as_millis() / 10, standing.nodes);
    let mut line = line.clone();
    for uci in pv {
        let _ = write!(text, " {}", line.san(*uci));
        if line.play(*uci).is_err() {
            break;
        }
    }
    text
}

pub(super) fn votes(line: &Line, decision: &Decision) -> Vec<String> {
    vote_report::lines(line, decision).iter().map(|vote| format!("# {vote}")).collect()
}

/// A move as CECP writes it: coordinates, but castling of Chess960 as `O-O`.
pub(super) fn written(line: &Line, uci: UciMove, chess960: bool) -> String {
    let castles = || match uci.to_move(line.position()) {
        Ok(castling @ shakmaty::Move::Castle { .. }) => Some(San::from_move(line.position(), castling).to_string()),
        _ => None,
    };
    let standard = || match uci.to_move(line.position()) {
        Ok(mv) => mv.to_uci(CastlingMode::Standard).to_string(),
        Err(_) => uci.to_string(),
    };
    if chess960 { castles().unwrap_or_else(standard) } else { standard() }
}

/// Returns the result, or the reason why a draw may be claimed.
pub(super) fn result(line: &Line) -> Option<&'static str> {
    let position = line.position();
    let mated = position.is_checkmate();
    match line.turn() {
        Color::Black if mated => Some("1-0 {White mates}"),
        Color::White if mated => Some("0-1 {Black mates}"),
        _ if position.legal_moves().is_empty() => Some("1/2-1/2 {Stalemate}"),
        _ if position.is_insufficient_material() => Some("1/2-1/2 {Insufficient material}"),
        _ if line.occurrences() >= 3 => Some("1/2-1/2 {Draw by repetition}"),
        _ if position.halfmoves() >= 100 => Some("1/2-1/2 {Draw by fifty moves rule}"),
        _ => None,
    }
}
