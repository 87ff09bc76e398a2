//! The Lichess opening explorer: games of other players from a position.

use domain::{Color, Decision, Line, Source, UciMove};
use serde::Deserialize;

use super::{
    service::{ServiceQuestion, legal},
    settings::{ExplorerDatabase, ExplorerSelection, ExplorerSettings},
};

pub(crate) const URL: &str = "https://explorer.lichess.org";

#[derive(Debug, Deserialize)]
pub(crate) struct ExplorerAnswer {
    moves: Vec<ExplorerMove>,
}

#[derive(Debug, Deserialize)]
struct ExplorerMove {
    uci: String,
    white: u64,
    draws: u64,
    black: u64,
}

impl ExplorerMove {
    fn games(&self) -> u64 {
        self.white.saturating_add(self.draws).saturating_add(self.black)
    }

    /// The mean result for a side, 0 to 1.
    fn score(&self, of: Color) -> f64 {
        let won = of.fold_wb(self.white, self.black) as f64;
        (won + self.draws as f64 / 2.0) / (self.games() as f64).max(1.0)
    }
}

/// Builds the question about the last position of a line; `None` if the database has no games of
/// its variant.
pub(crate) fn question(settings: &ExplorerSettings, line: &Line) -> Option<ServiceQuestion> {
    let (path, variants) = match settings.database {
        ExplorerDatabase::Masters => ("masters", false),
        ExplorerDatabase::Lichess => ("lichess", true),
        ExplorerDatabase::Player => ("player", true),
    };
    if !variants && !line.variant().is_standard_rules() {
        return None;
    }
    let mut query = vec![("fen", line.fen()), ("topGames", "0".to_owned()), ("recentGames", "0".to_owned())];
    if variants {
        query.push(("variant", line.variant().key().to_owned()));
    }
    if settings.database == ExplorerDatabase::Player {
        query.push(("player", settings.player.clone()));
        query.push(("color", line.turn().fold_wb("white", "black").to_owned()));
    }
    Some(ServiceQuestion { path, query })
}

pub(crate) fn choose(answer: &ExplorerAnswer, line: &Line, settings: &ExplorerSettings) -> Option<Decision> {
    let us = line.turn();
    let known: Vec<(UciMove, &ExplorerMove)> = answer
        .moves
        .iter()
        .filter(|known| known.games() >= settings.min_games.max(1))
        .filter_map(|known| Some((legal(line, &known.uci)?, known)))
        .collect();
    let best = match settings.selection {
        ExplorerSelection::Games => known.iter().max_by_key(|(_, known)| known.games()),
        ExplorerSelection::Score => known.iter().max_by(|(_, a), (_, b)| a.score(us).total_cmp(&b.score(us))),
        ExplorerSelection::Weighted => {
            let total: u64 = known.iter().map(|(_, known)| known.games()).sum();
            let mut drawn = rand::random_range(0..total.max(1));
            known.iter().find(|(_, known)| match drawn.checked_sub(known.games()) {
                Some(rest) => {
                    drawn = rest;
                    false
                }
                None => true,
            })
        }
    };
    best.map(|(uci, _)| Decision::without_vote(*uci, Source::Explorer))
}

#[cfg(test)]
mod tests {
    use domain::Variant;

    use super::*;

    const ANSWER: &str = r#"{"white":100,"draws":50,"black":30,"opening":null,"topGames":[],"moves":[
        {"uci":"e2e4","san":"e4","averageRating":2400,"white":60,"draws":20,"black":20,"game":null},
        {"uci":"d2d4","san":"d4","averageRating":2400,"white":39,"draws":30,"black":6,"game":null},
        {"uci":"a2a3","san":"a3","averageRating":2400,"white":3,"draws":0,"black":0,"game":null},
        {"uci":"e2e5","san":"??","white":900,"draws":0,"black":0}]}"#;

    fn played(selection: ExplorerSelection, moves: &str) -> Option<String> {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal");
        let settings = ExplorerSettings { selection, ..ExplorerSettings::default() };
        let answer = serde_json::from_str(ANSWER).expect("an answer");
        choose(&answer, &line, &settings).map(|decision| decision.best.to_string())
    }

    #[test]
    fn rare_and_illegal_moves_are_skipped() {
        assert_eq!(played(ExplorerSelection::Games, "").as_deref(), Some("e2e4"));
        assert_eq!(played(ExplorerSelection::Score, "").as_deref(), Some("d2d4"));
        for _ in 0..50 {
            let drawn = played(ExplorerSelection::Weighted, "").expect("a move");
            assert!(["e2e4", "d2d4"].contains(&drawn.as_str()), "{drawn}");
        }
        // None of them is legal for Black.
        assert_eq!(played(ExplorerSelection::Games, "g1f3"), None);
    }

    #[test]
    fn question_depends_on_the_database() {
        let crazyhouse = Line::start(Variant::Crazyhouse);
        let mut settings = ExplorerSettings::default();
        assert!(question(&settings, &crazyhouse).is_none());
        settings.database = ExplorerDatabase::Player;
        settings.player = "Ann".to_owned();
        let asked = question(&settings, &crazyhouse).expect("asked");
        assert!(asked.query.contains(&("variant", "crazyhouse".to_owned())));
        assert!(asked.query.contains(&("color", "white".to_owned())), "{asked:?}");
    }
}
