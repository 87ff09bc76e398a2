//! A hint: the council's move in the player's place, after a second of search.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::problem::HttpProblem;
use bot::session::PreparedPlayer;
use council::{Council, Question, electors::Pool};
use domain::{Limits, Line, vote_words};

const HINT_TIME: Duration = Duration::from_secs(1);

/// Asks a council with the same settings as the game's.
pub(super) async fn ask(pool: &Pool, player: &PreparedPlayer, line: Line) -> Result<Value, HttpProblem> {
    if line.legal_moves().is_empty() {
        return Err(HttpProblem::bad("the side to move has no legal move in this position"));
    }
    let settings = &player.settings;
    let mut council = Council::new(pool, &player.roster, &settings.council, line.variant());
    let limits = Limits { time: Some(HINT_TIME), ..(&settings.limits).into() };
    let question = Question { limits, ..Question::new("hint".into(), Arc::new(line.clone())) };
    let decision = council.decide(question, &CancellationToken::new(), &mut |_| ()).await;
    let decision = decision.ok_or_else(|| HttpProblem::busy("no elector proposed a move"))?;
    let votes = decision.votes.iter().map(|vote| {
        json!({
            "elector": vote.proposal.elector.as_str(),
            "san": line.san(vote.proposal.best),
            "uci": vote.proposal.best.to_string(),
            "score": vote.proposal.score.to_string(),
        })
    });
    Ok(json!({
        "sentence": vote_words::decision_sentence(&line, &decision),
        "san": line.san(decision.best),
        "uci": decision.best.to_string(),
        "score": decision.score.map(|score| score.to_string()),
        "votes": votes.collect::<Vec<_>>(),
    }))
}
