//! The requested game: the council's electors, the clock, the colour.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::problem::HttpProblem;
use bot::session::{LimitSettings, PlayerSettings, PreparedPlayer};
use council::{CouncilSettings, Roster};
use domain::{GameTerms, Line, TimeControl, Variant};
use practice::ChallengeTerms;

const LONGEST_ROSTER: usize = 200;

const MOST_ELECTORS: usize = 32;

/// Returns the councils to choose from, in groups. Each is named by a field of the request, `roster`
/// or `preset`, and its value there; both are empty for the bot's own council.
pub(super) fn menu(usual: &PlayerSettings) -> Value {
    let entry = |field: &str, value: &str, label: &str| json!({ "field": field, "value": value, "label": label });
    let roster = |name: &str| entry("roster", name, name);
    let preset = |name: &str| entry("preset", name, name);
    let group =
        |name: &str, about: &str, councils: Vec<Value>| json!({ "name": name, "about": about, "councils": councils });
    let own = entry("", "", &format!("as the bot plays ({})", usual.council.roster));
    let copies = [1, 2, 4, 8].into_iter();
    let copies = copies.flat_map(|size| ["learned", "complete"].map(|kind| format!("{kind}-{size}")));
    json!({ "groups": [
        group(
            "Default",
            "Copies of the whole engine: learned ones judge by a net, complete ones by the eight hand-written heuristics.",
            [own, roster("auto")].into_iter().chain(copies.map(|name| roster(&name))).collect(),
        ),
        group(
            "Specialists",
            "Each elector knows a part of chess, such as pawns or king safety, and has one vote. The number counts the \
             electors.",
            Roster::names().map(roster).collect(),
        ),
        group(
            "Published players",
            "The councils of two theses: Gnupar (Santi, 1993) and ChessPar (Castellani, 2002).",
            CouncilSettings::presets().map(preset).collect(),
        ),
        group(
            "Custom",
            "Your own electors: each word lists the knowledge of one (m material, b placement, x mobility, k king \
             safety, c centre, p pawn structure, a attack, r piece relations).",
            vec![entry("roster", "letters", "letters of knowledge …")],
        ),
    ] })
}

/// A requested game. Empty fields have defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GameRequest {
    /// A published player by name, instead of a roster.
    preset: String,
    /// A roster by name, or letters of knowledge.
    roster: String,
    /// Minutes and seconds such as `5+3`, or `unlimited`.
    time_control: String,
    /// `white`, `black`, or random.
    color: String,
    fen: String,
    /// The node limit of each elector and move; 0 is none.
    nodes: u64,
}

impl GameRequest {
    /// Returns the council's player, and the terms of the challenge to it.
    pub(super) fn check(self, usual: &PlayerSettings) -> Result<(Arc<PreparedPlayer>, ChallengeTerms), HttpProblem> {
        let time_control = if self.time_control.is_empty() { "5+3" } else { &self.time_control };
        let time_control = clock(time_control).map_err(|error| error.about("time_control"))?;
        let color = self.color.parse().ok();
        let fen = Some(self.fen.trim().to_owned()).filter(|fen| !fen.is_empty());
        if let Some(fen) = &fen {
            let line = Line::from_fen(Variant::FromPosition, fen);
            let line = line.map_err(|error| HttpProblem::bad(error.to_string()).about("fen"))?;
            if line.legal_moves().is_empty() {
                return Err(HttpProblem::bad("the side to move has no legal move in this position").about("fen"));
            }
        }
        let variant = if fen.is_some() { Variant::FromPosition } else { Variant::Standard };
        let player = self.player(usual).map_err(|error| error.about("council"))?;
        Ok((player, ChallengeTerms { game: GameTerms { variant, time_control, rated: false }, color, fen }))
    }

    fn player(&self, usual: &PlayerSettings) -> Result<Arc<PreparedPlayer>, HttpProblem> {
        let mut settings = PlayerSettings { takebacks: 100, ..usual.clone() };
        if !self.preset.is_empty() {
            settings.council = CouncilSettings::preset(&self.preset)
                .ok_or_else(|| HttpProblem::bad(format!("there is no preset {:?}", self.preset)))?;
        } else if !self.roster.is_empty() {
            // External programs are started only if the settings name them.
            if self.roster == "custom" || self.roster.len() > LONGEST_ROSTER {
                return Err(HttpProblem::bad(
                    "name one of the rosters, or letters of knowledge such as \"mbxkcpar mp\"",
                ));
            }
            settings.council.roster.clone_from(&self.roster);
        }
        if self.nodes > 0 {
            settings.limits = LimitSettings { nodes: Some(self.nodes), ..settings.limits };
            settings.ponder = 0;
        }
        let player = PreparedPlayer::new(settings).map_err(|error| HttpProblem::bad(error.to_string()))?;
        if player.roster.electors().len() > MOST_ELECTORS {
            return Err(HttpProblem::bad(format!("a council on the page has at most {MOST_ELECTORS} electors")));
        }
        Ok(Arc::new(player))
    }
}

fn clock(text: &str) -> Result<TimeControl, HttpProblem> {
    match TimeControl::from_minutes(text).map_err(|error| HttpProblem::bad(error.to_string()))? {
        TimeControl::Correspondence { .. } => {
            Err(HttpProblem::bad("the page plays no correspondence games; choose minutes such as 5+3, or unlimited"))
        }
        TimeControl::RealTime { initial, increment } if initial.is_zero() && increment.is_zero() => {
            Err(HttpProblem::bad("0+0 leaves no time for a move; choose minutes such as 5+3, or unlimited"))
        }
        control => Ok(control),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut GameRequest)) -> Result<(Arc<PreparedPlayer>, ChallengeTerms), HttpProblem> {
        let mut request = GameRequest::default();
        change(&mut request);
        request.check(&PlayerSettings::default())
    }

    #[test]
    fn presets_rosters_and_letters_work() {
        for preset in CouncilSettings::presets() {
            assert!(check(|request| request.preset = preset.to_owned()).is_ok(), "{preset}");
        }
        for roster in ["auto", "balanced-7", "mbxkcpar mp ma", "complete-4"] {
            assert!(check(|request| request.roster = roster.to_owned()).is_ok(), "{roster}");
        }
        assert_eq!(check(|_| ()).ok().map(|(_, terms)| terms.game.time_control.in_minutes()).as_deref(), Some("5+3"));
    }

    #[test]
    fn what_cannot_be_played_is_said() {
        assert!(check(|request| request.roster = "custom".to_owned()).is_err());
        assert!(check(|request| request.roster = "complete-99".to_owned()).is_err());
        assert!(check(|request| request.preset = "deepblue".to_owned()).is_err());
        assert!(check(|request| request.time_control = "3d".to_owned()).is_err());
        assert!(check(|request| request.time_control = "soon".to_owned()).is_err());
        assert!(check(|request| request.time_control = "0+0".to_owned()).is_err());
        assert!(check(|request| request.time_control = "0+1".to_owned()).is_ok());
        assert!(check(|request| request.fen = "8/8/8/8/8/8/8/8 w - - 0 1".to_owned()).is_err());
        // Mated already.
        assert!(check(|request| request.fen = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1".to_owned()).is_err());
    }
}
