//! Arenas and Swiss tournaments: listed, shown, joined and left.

use axum::{
    Json, Router,
    extract::Path,
    response::Response,
    routing::{get, post},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    api::{Caller, JsonAnswer, LichessApi, ndjson, ok},
    error::ApiError,
    fields::FormFields,
    render,
};
use crate::{
    account::Category,
    state::{Denied, ServerState},
    tournament::PracticeTournament,
};
use domain::{TimeControl, Tournament, TournamentKind, TournamentStage};

pub(crate) fn routes() -> Router<LichessApi> {
    let mut routes = Router::new();
    for (kind, path, list) in
        [(TournamentKind::Arena, "tournament", "arena"), (TournamentKind::Swiss, "swiss", "swiss")]
    {
        let name = move |Path(id): Path<String>| Tournament { id, kind: Some(kind) };
        routes = routes
            .route(&format!("/api/{path}/{{id}}"), get(move |api, id| show(api, name(id))))
            .route(&format!("/api/team/{{team}}/{list}"), get(move |api, team| self::list(api, team, kind)))
            .route(
                &format!("/api/{path}/{{id}}/join"),
                post(move |api, id, caller, fields| join(api, name(id), caller, fields)),
            )
            .route(
                &format!("/api/{path}/{{id}}/withdraw"),
                post(move |api, id, caller| withdraw(api, name(id), caller)),
            );
    }
    routes
}

async fn join(api: LichessApi, name: Tournament, caller: Caller, fields: FormFields) -> JsonAnswer {
    caller.must_have(&["tournament:write"])?;
    let (password, pair_now) = (fields.text("password").map(str::to_owned), fields.is_true("pairMeAsap"));
    api.ask(move |state| state.take_part(&caller.account, &name, password.as_deref(), pair_now)).await?;
    ok()
}

async fn withdraw(api: LichessApi, name: Tournament, caller: Caller) -> JsonAnswer {
    caller.must_have(&["tournament:write"])?;
    api.ask(move |state| state.withdraw(&caller.account, &name)).await?;
    ok()
}

async fn show(api: LichessApi, name: Tournament) -> JsonAnswer {
    let shown = api.ask(move |state| {
        let held = name.kind.and_then(|kind| state.tournament(kind, &name.id)).ok_or(Denied::NoSuchTournament)?;
        Ok(page(state, held))
    });
    Ok(Json(shown.await?))
}

async fn list(api: LichessApi, Path(team): Path<String>, kind: TournamentKind) -> Result<Response, ApiError> {
    let lines = api.server_state.ask(move |state| {
        let held = state.tournaments_of_team(kind, &team);
        held.into_iter().map(|held| format!("{}\n", entry(state, held))).collect::<String>()
    });
    Ok(ndjson(lines.await?))
}

/// Fields of both a team's list and a tournament's page.
fn common(held: &PracticeTournament) -> Value {
    let plan = &held.plan;
    let (limit, increment) = match plan.terms.time_control {
        TimeControl::RealTime { initial, increment } => (initial.as_secs_f64(), increment.as_secs_f64()),
        TimeControl::Correspondence { .. } | TimeControl::Unlimited => (0.0, 0.0),
    };
    let category = Category::of(&plan.terms);
    json!({
        "id": plan.id,
        "createdBy": "practice",
        "clock": { "limit": limit, "increment": increment },
        "rated": plan.terms.rated,
        "nbPlayers": held.standing().len(),
        "perf": { "key": category.key(), "name": render::category_name(category), "position": 1, "icon": ")" },
    })
}

fn entry(state: &ServerState, held: &PracticeTournament) -> Value {
    if held.plan.kind == TournamentKind::Swiss {
        return page(state, held);
    }
    let (begins, ends) = held.times();
    let mut entry = common(held);
    describe_arena(&mut entry, held);
    entry["variant"] = render::variant(held.plan.terms.variant);
    entry["startsAt"] = json!(state.unix_millis(begins));
    entry["finishesAt"] = json!(ends.map(|ends| state.unix_millis(ends)));
    entry["status"] = json!(match held.stage {
        TournamentStage::Announced => 10,
        TournamentStage::Running => 20,
        TournamentStage::Over => 30,
    });
    entry
}

/// Fields of both the list and the page of an arena. False fields are left out, as on Lichess.
fn describe_arena(arena: &mut Value, held: &PracticeTournament) {
    let plan = &held.plan;
    arena["system"] = json!("arena");
    arena["fullName"] = json!(plan.name);
    arena["minutes"] = json!(plan.lasts.as_secs() / 60);
    render::put(arena, "botsAllowed", plan.bots_allowed.then_some(true));
    render::put(arena, "private", plan.password.is_some().then_some(true));
}

fn page(state: &ServerState, held: &PracticeTournament) -> Value {
    let plan = &held.plan;
    let (begins, ends) = held.times();
    let iso =
        |at| Timestamp::from_millisecond(i64::try_from(state.unix_millis(at)).unwrap_or_default()).unwrap_or_default();
    let mut page = common(held);
    page["variant"] = json!(plan.terms.variant.key());
    page["startsAt"] = json!(iso(begins).to_string());
    page["verdicts"] = json!({ "list": [], "accepted": true });
    if plan.kind == TournamentKind::Swiss {
        page["name"] = json!(plan.name);
        page["round"] = json!(held.round);
        page["nbRounds"] = json!(plan.rounds);
        page["nbOngoing"] = json!(held.games_running());
        page["status"] = json!(match held.stage {
            TournamentStage::Announced => "created",
            TournamentStage::Running => "started",
            TournamentStage::Over => "finished",
        });
        return page;
    }
    describe_arena(&mut page, held);
    let until = |at: std::time::Duration| at.saturating_sub(state.now).as_secs();
    match held.stage {
        TournamentStage::Announced => page["secondsToStart"] = json!(until(begins)),
        TournamentStage::Running => page["secondsToFinish"] = json!(ends.map(until)),
        TournamentStage::Over => page["isFinished"] = json!(true),
    }
    let players = held.standing().into_iter().enumerate().filter_map(|(index, (account, one))| {
        let sheet: String = one.sheet.iter().map(u32::to_string).collect();
        let name = &state.account(account)?.name;
        Some(json!({ "name": name, "rank": index + 1, "score": one.points, "sheet": { "scores": sheet } }))
    });
    page["standing"] = json!({ "page": 1, "players": players.take(10).collect::<Vec<_>>() });
    page
}
