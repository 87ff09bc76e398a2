//! Style 12, and what goes with it.

use std::time::Duration;

use shakmaty::{Board, CastlingSide, File, Move, Position, Rank, Role, Square};

use super::{minutes_and_increment, minutes_and_seconds};
use crate::{dialect::Dialect, state::GameView};
use domain::{Clock, Clocks, Color, Line, TimeControl, Variant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewerRole {
    Player(Color),
    Watcher,
    Examiner,
    /// A reader of a list of moves that begins with the board.
    ListReader,
}

/// Returns the board before the first move, as in a list of moves.
pub(super) fn start_board(view: &GameView, number: u32, exact: bool) -> String {
    let clocks = match view.pairing.terms.time_control {
        TimeControl::RealTime { initial, increment } => Some(Clocks::both(Clock { remaining: initial, increment })),
        TimeControl::Correspondence { .. } | TimeControl::Unlimited => None,
    };
    let mut start = GameView { clocks, ..view.clone() };
    start.game.truncate(0);
    style12(&start, number, ViewerRole::ListReader, exact, Dialect::Freechess)
}

pub(crate) fn style12(view: &GameView, number: u32, relation: ViewerRole, exact: bool, dialect: Dialect) -> String {
    let relation_number = match relation {
        ViewerRole::Watcher => 0,
        ViewerRole::Examiner => 2,
        ViewerRole::ListReader => -4,
        ViewerRole::Player(color) if color == view.line.turn() => 1,
        ViewerRole::Player(_) => -1,
    };
    let ply = view.line.ply();
    let ticking = view.is_running() && ply >= 2;
    let flip = relation == ViewerRole::Player(Color::Black);
    let position = view.line.position();
    let board = position.board();
    let mut text = "<12>".to_owned();
    for rank in Rank::ALL.into_iter().rev() {
        text.push(' ');
        for file in File::ALL {
            text.push(board.piece_at(Square::from_coords(file, rank)).map_or('-', |piece| piece.char()));
        }
    }
    let castles = [Color::White, Color::Black]
        .map(|color| CastlingSide::ALL.map(|side| u8::from(position.castles().has(color, side))));
    let (minutes, increment) = minutes_and_increment(view.pairing.terms.time_control);
    let clock = |color| {
        let left = view.clocks.map_or(Duration::ZERO, |clocks| clocks.of(color).remaining);
        if exact { left.as_millis() } else { u128::from(left.as_secs()) }
    };
    let last = last_move(&view.line);
    let double_push = match last {
        Some((Move::Normal { role: Role::Pawn, from, to, .. }, _)) if from.rank().distance(to.rank()) == 2 => {
            to.file() as i32
        }
        _ => -1,
    };
    let none = || ("none".to_owned(), "none".to_owned());
    let (verbose, san) = last.map_or_else(none, |(mv, san)| (verbose(mv), san));
    let players = &view.pairing.players;
    text.push_str(&format!(
        " {} {double_push} {} {} {} {} {} {} {} {} {} {minutes} {increment} {} {} {} {} {} {verbose} ({}) {}",
        position.turn().fold_wb('W', 'B'),
        castles[0][0],
        castles[0][1],
        castles[1][0],
        castles[1][1],
        position.halfmoves(),
        number,
        players.white.name,
        players.black.name,
        relation_number,
        material(board, Color::White),
        material(board, Color::Black),
        clock(Color::White),
        clock(Color::Black),
        position.fullmoves(),
        time_taken(taken(view, ply.saturating_sub(1)), exact),
        san.replace('#', dialect.mate().encode_utf8(&mut [0; 4])),
    ));
    for field in [flip, ticking, false].into_iter().take(dialect.last_fields()) {
        text.push_str(if field { " 1" } else { " 0" });
    }
    text
}

/// The pieces of one side, in pawns; the king counts nothing.
pub(super) fn material(board: &Board, color: Color) -> u32 {
    board.by_color(color).into_iter().filter_map(|square| board.role_at(square)).map(value).sum()
}

const fn value(role: Role) -> u32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    }
}

/// Returns `0:06`, or `0:06.123` with milliseconds.
pub(crate) fn time_taken(time: Duration, exact: bool) -> String {
    let whole = minutes_and_seconds(time);
    if exact { format!("{whole}.{:03}", time.subsec_millis()) } else { whole }
}

/// Returns the last move, and how people write it.
pub(super) fn last_move(line: &Line) -> Option<(Move, String)> {
    let before = line.prefix(line.ply().checked_sub(1)?);
    let uci = *line.moves().last()?;
    Some((uci.to_move(before.position()).ok()?, before.san(uci)))
}

/// Returns `P/e2-e4`, `o-o`, `P/h7-h8=Q`, `N/@@-f5`.
fn verbose(mv: Move) -> String {
    match mv {
        Move::Castle { king, rook } => if rook > king { "o-o" } else { "o-o-o" }.to_owned(),
        Move::Put { role, to } => format!("{}/@@-{to}", role.upper_char()),
        Move::EnPassant { from, to } => format!("P/{from}-{to}"),
        Move::Normal { role, from, to, promotion, .. } => {
            let promotion = promotion.map_or(String::new(), |role| format!("={}", role.upper_char()));
            format!("{}/{from}-{to}{promotion}", role.upper_char())
        }
    }
}

/// `e2e4`, `o-o`, `h7h8=Q`, `N@f5`, as a long list of moves has it.
pub(super) fn coordinates(mv: Move) -> String {
    match mv {
        Move::Put { role, to } => format!("{}@{to}", role.upper_char()),
        Move::Castle { .. } => verbose(mv),
        Move::EnPassant { .. } | Move::Normal { .. } => verbose(mv)[2..].replace('-', ""),
    }
}

/// Returns the time of a move, by the clocks before and after it. Each side's first move took none.
pub(crate) fn taken(view: &GameView, ply: usize) -> Duration {
    let TimeControl::RealTime { increment, .. } = view.pairing.terms.time_control else { return Duration::ZERO };
    let shown = |ply: usize| view.move_times.get(ply).copied().flatten();
    match (ply.checked_sub(2).and_then(shown), shown(ply)) {
        (Some(before), Some(after)) => (before + increment).saturating_sub(after),
        _ => Duration::ZERO,
    }
}

/// The pieces in hand, where there are any: `<b1> game 3 white [PN] black []`.
pub(crate) fn holdings(view: &GameView, number: u32) -> Option<String> {
    if view.line.variant() != Variant::Crazyhouse {
        return None;
    }
    let pockets = view.line.position().pockets()?;
    let held = |color: Color| -> String {
        let pocket = pockets.get(color);
        Role::ALL
            .into_iter()
            .flat_map(|role| std::iter::repeat_n(role.upper_char(), usize::from(*pocket.get(role))))
            .collect()
    };
    Some(format!("<b1> game {number} white [{}] black [{}]", held(Color::White), held(Color::Black)))
}
