//! Carries out the lobby's effects: requests run in tasks of their own, and their answers come back to the lobby.

use std::sync::Arc;

use domain::{Action, Tournament};
use tokio::sync::mpsc;

use super::{GameHandle, Manager, memory::memory_key, requests::ask};
use crate::{
    metrics,
    session::{
        AccountEvent,
        account_context::{AccountContext, defended},
        game_task,
        lobby::{LobbyEffect, LobbyInput},
    },
};

impl Manager {
    pub(super) fn carry_out(&mut self, effect: LobbyEffect) {
        match effect {
            LobbyEffect::Play(id) => {
                let (context, exits) = (Arc::clone(&self.context), self.exits_sender.clone());
                let start = || GameHandle { inbox: game_task::start(id.clone(), context, exits), catching_up: None };
                self.games.entry(id.clone()).or_insert_with(start);
                metrics::games_running(&self.context.name, self.games.len());
            }
            LobbyEffect::Do(action) => {
                let ordered = matches!(&action, Action::Challenge(request) if self.lobby.is_on_its_way(request));
                self.request(|context, answers| async move {
                    if let Err(fault) = ask(&*context.server, action, ordered, &answers, &context.stopping).await {
                        context.fault(None, fault);
                    }
                });
            }
            LobbyEffect::Watch(id) => self.request(|context, _| async move { context.server.resync(&id).await }),
            LobbyEffect::FetchBots => {
                self.request(|context, answers| async move {
                    let bots = defended(context.server.online_bots()).await.unwrap_or_else(|error| {
                        context.fault(None, format!("cannot fetch the list of online bots: {error}"));
                        Vec::new()
                    });
                    let _ = answers.send(LobbyInput::Bots(bots));
                });
            }
            LobbyEffect::FetchTournaments { teams, named } => self.fetch_tournaments(teams, named),
            LobbyEffect::AskTournament(tournament) => {
                self.request(|context, answers| async move {
                    let outcome = defended(context.server.tournament(&tournament)).await;
                    let _ = answers.send(LobbyInput::Tournament(tournament, outcome));
                });
            }
            LobbyEffect::TournamentNews(name, what) => self.context.tell(AccountEvent::Tournament { name, what }),
            LobbyEffect::Record(challenge, outcome, why) => {
                self.context.tell(AccountEvent::Challenge { challenge, outcome, why });
            }
            LobbyEffect::Limited(what, until) => {
                self.context.tell(AccountEvent::Limited { what: what.to_owned(), until });
            }
            // Only commands have answers, and their caller takes them.
            LobbyEffect::Answer(_) => (),
            LobbyEffect::Save => self.save_memory(),
        }
    }

    /// Fetches tournaments; a failed request is a fault, and the lobby gets the rest.
    fn fetch_tournaments(&self, teams: Vec<String>, named: Vec<Tournament>) {
        self.request(|context, answers| async move {
            let (mut found, mut all) = (Vec::new(), true);
            let mut missed = |what: String| {
                all = false;
                context.fault(None, what);
            };
            for team in &teams {
                match defended(context.server.team_tournaments(team)).await {
                    Ok(tournaments) => found.extend(tournaments),
                    Err(error) => missed(format!("the tournaments of team {team}: {error}")),
                }
            }
            for tournament in &named {
                match defended(context.server.tournament(tournament)).await {
                    Ok(info) => found.push(info),
                    Err(error) => missed(format!("tournament {tournament}: {error}")),
                }
            }
            let _ = answers.send(LobbyInput::Tournaments(found, all));
        });
    }

    fn save_memory(&self) {
        match serde_json::to_string(self.lobby.memory()) {
            Ok(text) => self.store(memory_key(&self.context.name), text),
            Err(error) => tracing::error!(%error, "cannot write the stored limits"),
        }
    }

    pub(super) fn store(&self, key: String, value: String) {
        let stored = self.context.runtime.journal.set_state(&key, value);
        self.context.requests.spawn(async move {
            if let Err(error) = stored.await {
                tracing::debug!(key, %error, "not stored yet");
            }
        });
    }

    /// Runs a request in a task of its own; answers go to the lobby.
    pub(super) fn request<F: Future<Output = ()> + Send + 'static>(
        &self,
        request: impl FnOnce(Arc<AccountContext>, mpsc::UnboundedSender<LobbyInput>) -> F,
    ) {
        self.context.requests.spawn(request(Arc::clone(&self.context), self.answers_sender.clone()));
    }
}
