//! Tables for other programs: a line of titles, then one line a game, or one a move (RFC 4180, but with plain line ends).

use crate::{
    formulas::MoveLabel,
    study::{GameStudy, MoveStudy},
};

pub(super) const GAME_TITLES: &str = "server,game,started_at,our_color,opponent,opponent_rating,time_control,result,status,\
    eco,opening,plies,accuracy,opponent_accuracy,average_loss,opponent_average_loss,inaccuracies,mistakes,blunders,ending,\
    turning_point\n";

pub(super) const MOVE_TITLES: &str = "server,game,ply,mover,ours,san,uci,expected_before,expected_after,loss,centipawn_loss,\
    accuracy,label,better,phase,clock,taken,at_stake\n";

pub(super) fn game_line(game: &GameStudy) -> String {
    let record = &game.record;
    let (us, them) = (record.our_color, !record.our_color);
    let figure = |value: Option<f64>| value.map(|value| format!("{value:.2}")).unwrap_or_default();
    line([
        record.server.to_string(),
        record.game.to_string(),
        record.started_at.to_string(),
        us.to_string(),
        record.opponent().name.clone(),
        record.opponent().rating.map(|rating| rating.to_string()).unwrap_or_default(),
        record.time_control.to_string(),
        record.result.map(|result| result.word().to_owned()).unwrap_or_default(),
        record.status.name().to_owned(),
        game.opening.map(|opening| opening.eco.to_owned()).unwrap_or_default(),
        game.opening.map(|opening| opening.name.to_owned()).unwrap_or_default(),
        game.moves.len().to_string(),
        figure(game.accuracy.of(us)),
        figure(game.accuracy.of(them)),
        figure(game.average_loss.of(us)),
        figure(game.average_loss.of(them)),
        game.labels(us, MoveLabel::Inaccuracy).to_string(),
        game.labels(us, MoveLabel::Mistake).to_string(),
        game.labels(us, MoveLabel::Blunder).to_string(),
        game.ending.map(|(_, name)| name.to_owned()).unwrap_or_default(),
        game.turning_point.map(|index| index.to_string()).unwrap_or_default(),
    ])
}

pub(super) fn move_line(game: &GameStudy, played: &MoveStudy) -> String {
    let seconds =
        |time: Option<std::time::Duration>| time.map(|time| format!("{:.3}", time.as_secs_f64())).unwrap_or_default();
    line([
        game.record.server.to_string(),
        game.record.game.to_string(),
        played.ply.to_string(),
        played.mover.to_string(),
        (played.mover == game.record.our_color).to_string(),
        played.san.clone(),
        played.played.to_string(),
        format!("{:.2}", played.expected_before),
        format!("{:.2}", played.expected_after),
        format!("{:.2}", played.loss),
        played.centipawn_loss.to_string(),
        format!("{:.2}", played.accuracy),
        played.label.map(|label| label.word().to_owned()).unwrap_or_default(),
        played.better.map(|better| better.to_string()).unwrap_or_default(),
        played.phase.word().to_owned(),
        seconds(played.clock),
        seconds(played.taken),
        played.at_stake.map(|stake| format!("{stake:.2}")).unwrap_or_default(),
    ])
}

fn line<const N: usize>(cells: [String; N]) -> String {
    let quoted = cells.map(|cell| {
        if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
    });
    quoted.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stay_within_a_cell() {
        assert_eq!(line(["a,b".to_owned(), "say \"x\"".to_owned()]), "\"a,b\",\"say \"\"x\"\"\"\n");
    }
}
