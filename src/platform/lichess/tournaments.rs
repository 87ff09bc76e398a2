//! Arenas and Swiss tournaments: what there is, taking part, and taking part no more.

use jiff::Timestamp;

use super::{
    LichessServer,
    http::decode,
    objects,
    request::{HttpCall, Topic},
    taken, wire,
};
use domain::{ActionError, Done, Tournament, TournamentEntry, TournamentInfo, TournamentKind};

/// The number of a team's tournaments to fetch: the last to begin come first, so past ones are left
/// out.
const MOST_LISTED: &str = "30";

/// The word for this kind in addresses of the API.
const fn path_of(kind: TournamentKind) -> &'static str {
    match kind {
        TournamentKind::Arena => "tournament",
        TournamentKind::Swiss => "swiss",
    }
}

impl LichessServer {
    /// Takes part; a part that was given up for a while is taken up again.
    pub(super) async fn join_tournament(&self, entry: &TournamentEntry) -> Result<Done, ActionError> {
        let mut form = Vec::new();
        form.extend(entry.password.as_ref().map(|password| ("password", password.reveal().to_owned())));
        form.extend(entry.team.clone().map(|team| ("team", team)));
        if entry.pair_now {
            form.push(("pairMeAsap", "true".to_owned()));
        }
        self.ask_tournament(&entry.tournament, "join", &form).await
    }

    /// Takes part no more, or not for now: points are kept.
    pub(super) async fn leave_tournament(&self, tournament: &Tournament) -> Result<Done, ActionError> {
        self.ask_tournament(tournament, "withdraw", &[]).await
    }

    async fn ask_tournament(
        &self,
        tournament: &Tournament,
        what: &str,
        form: &[(&str, String)],
    ) -> Result<Done, ActionError> {
        self.by_kind(tournament, |kind| async move {
            let path = ["api", path_of(kind), &tournament.id, what];
            self.http.call(HttpCall::post(&path, Topic::Join).form(form)).await.map(taken)
        })
        .await
    }

    /// An arena and a Swiss tournament have different addresses; where the kind is not known, the second is tried after the first.
    async fn by_kind<T, F>(&self, tournament: &Tournament, ask: impl Fn(TournamentKind) -> F) -> Result<T, ActionError>
    where
        F: Future<Output = Result<T, ActionError>>,
    {
        match tournament.kind {
            Some(kind) => ask(kind).await,
            None => match ask(TournamentKind::Arena).await {
                Err(ActionError::NotFound(_)) => ask(TournamentKind::Swiss).await,
                other => other,
            },
        }
    }

    pub(super) async fn tournament_info(&self, tournament: &Tournament) -> Result<TournamentInfo, ActionError> {
        let us = self.http.our_id().await?;
        let us = &us;
        self.by_kind(tournament, |kind| async move {
            let body =
                self.http.call(HttpCall::get(&["api", path_of(kind), &tournament.id], Topic::Tournament)).await?;
            let json: wire::TournamentJson = decode("the tournament", &body)?;
            json.into_info(kind, us, Timestamp::now())
                .ok_or_else(|| ActionError::Refused(format!("{tournament} is played by rules that have no name here")))
        })
        .await
    }

    /// The arenas and Swiss tournaments of a team, those of the past among them.
    pub(super) async fn tournaments_of(&self, team: &str) -> Result<Vec<TournamentInfo>, ActionError> {
        let us = self.http.our_id().await?;
        let mut found = Vec::new();
        for (kind, path) in [(TournamentKind::Arena, "arena"), (TournamentKind::Swiss, "swiss")] {
            let query = [("max", MOST_LISTED)];
            let call = ["api", "team", team, path];
            let body = self.http.call(HttpCall::get(&call, Topic::Tournament).query(&query)).await?;
            let listed = objects::<wire::TournamentJson>("the team's tournaments", &body)?;
            found.extend(listed.into_iter().filter_map(|json| json.into_info(kind, &us, Timestamp::now())));
        }
        Ok(found)
    }
}
