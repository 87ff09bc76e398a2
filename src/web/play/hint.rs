//! A hint: the council's move in the player's place, after a second of search.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::problem::HttpProblem;
use bot::session::PreparedPlayer;
use council::{Council, Question, electors::Pool};
use domain::{Limits, Line, vote_words};

const HINT_TIME: Duration = Duration::from_secs(1);

#[derive(Serialize)]
pub(super) struct Hint {
    /// The elected move, in standard algebraic notation.
    san: String,
    uci: String,
    score: Option<String>,
    sentence: String,
    votes: Vec<HintVote>,
}

#[derive(Serialize)]
struct HintVote {
    elector: String,
    san: String,
    uci: String,
    score: String,
}

/// Asks a council like the one that plays.
pub(super) async fn ask(pool: &Pool, player: &PreparedPlayer, line: Line) -> Result<Hint, HttpProblem> {
    if line.legal_moves().is_empty() {
        return Err(HttpProblem::bad("there is no move in this position"));
    }
    let settings = &player.settings;
    let mut council = Council::new(pool, &player.roster, &settings.council, line.variant());
    let limits = Limits { time: Some(HINT_TIME), ..(&settings.limits).into() };
    let question = Question { limits, ..Question::new("hint".into(), Arc::new(line.clone())) };
    let decision = council.decide(question, &CancellationToken::new(), &mut |_| ()).await;
    let decision = decision.ok_or_else(|| HttpProblem::busy("no elector proposed a move"))?;
    let votes = decision.votes.iter().map(|vote| HintVote {
        elector: vote.proposal.elector.to_string(),
        san: line.san(vote.proposal.best),
        uci: vote.proposal.best.to_string(),
        score: vote.proposal.score.to_string(),
    });
    Ok(Hint {
        sentence: vote_words::decision_sentence(&line, &decision),
        san: line.san(decision.best),
        uci: decision.best.to_string(),
        score: decision.score.map(|score| score.to_string()),
        votes: votes.collect(),
    })
}
