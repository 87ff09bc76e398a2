//! The fields of a request's body, whether it comes as a form or as JSON.

use std::{collections::HashMap, str::FromStr, time::Duration};

use axum::{
    Form, Json,
    extract::{FromRequest, Request},
    http::header,
};
use serde::Deserialize;
use serde_json::Value;

use super::error::ApiError;
use crate::state::ChallengeTerms;
use domain::{Color, GameTerms, Line, TimeControl, Variant};

/// Parameters of the requests that take one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QueryFields {
    pub nb: Option<usize>,
    /// Names with commas between them.
    #[serde(default)]
    pub ids: String,
    pub color: Option<String>,
    pub offering_draw: Option<bool>,
}

/// Named texts. Nested JSON objects are flattened: `{"clock":{"limit":60}}` is `clock.limit`.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormFields(HashMap<String, String>);

impl<S: Send + Sync> FromRequest<S> for FormFields {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
        let mut fields = Self::default();
        if kind.starts_with("application/json") {
            let Json(value) = Json::<Value>::from_request(request, state)
                .await
                .map_err(|rejection| ApiError::bad(rejection.body_text()))?;
            fields.flatten("", &value);
        } else if kind.starts_with("application/x-www-form-urlencoded") {
            let Form(pairs) = Form::<Vec<(String, String)>>::from_request(request, state)
                .await
                .map_err(|rejection| ApiError::bad(rejection.body_text()))?;
            fields.0.extend(pairs);
        }
        Ok(fields)
    }
}

fn invalid(field: &'static str) -> ApiError {
    ApiError::Form(field, "Invalid value".to_owned())
}

impl FormFields {
    fn flatten(&mut self, prefix: &str, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                    self.flatten(&name, value);
                }
            }
            Value::Null => {}
            Value::String(text) => {
                self.0.insert(prefix.to_owned(), text.clone());
            }
            other => {
                self.0.insert(prefix.to_owned(), other.to_string());
            }
        }
    }

    /// A field as it came; an empty one counts as absent.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field).map(String::as_str).filter(|text| !text.is_empty())
    }

    pub(crate) fn parse<T: FromStr>(&self, field: &'static str) -> Result<Option<T>, ApiError> {
        self.text(field).map(str::parse).transpose().map_err(|_| invalid(field))
    }

    pub(crate) fn is_true(&self, field: &str) -> bool {
        self.text(field).is_some_and(|text| text == "true" || text == "1")
    }

    /// The terms a challenge proposes. `strict`: only what Lichess's own form takes.
    pub(crate) fn challenge_terms(&self, strict: bool) -> Result<ChallengeTerms, ApiError> {
        let fen = self.text("fen").map(str::to_owned);
        let mut variant = match self.text("variant") {
            None => Variant::Standard,
            Some(key) => {
                Variant::ALL.into_iter().find(|variant| variant.key() == key).ok_or_else(|| invalid("variant"))?
            }
        };
        let is_usual = |fen: &str| Line::from_fen(Variant::Standard, fen).is_ok_and(|line| line.start_fen().is_none());
        if variant == Variant::Standard && fen.as_deref().is_some_and(|fen| !is_usual(fen)) {
            variant = Variant::FromPosition;
        }
        if variant == Variant::FromPosition && fen.as_deref().is_none_or(|fen| Line::from_fen(variant, fen).is_err()) {
            return Err(invalid("fen"));
        }
        let color = match self.text("color") {
            None | Some("random") => None,
            Some("white") => Some(Color::White),
            Some("black") => Some(Color::Black),
            Some(_) => return Err(invalid("color")),
        };
        let time_control = self.time_control(strict)?;
        Ok(ChallengeTerms { game: GameTerms { variant, time_control, rated: self.is_true("rated") }, color, fen })
    }

    fn time_control(&self, strict: bool) -> Result<TimeControl, ApiError> {
        if let Some(days) = self.parse("days")? {
            let known = matches!(days, 1 | 2 | 3 | 5 | 7 | 10 | 14);
            return if known { Ok(TimeControl::Correspondence { days }) } else { Err(invalid("days")) };
        }
        if strict { self.whole_clock() } else { self.any_clock() }
    }

    fn whole_clock(&self) -> Result<TimeControl, ApiError> {
        let (limit, increment) = match (self.parse("clock.limit")?, self.parse("clock.increment")?) {
            (None, None) => return Ok(TimeControl::Unlimited),
            (limit, increment) => (limit.unwrap_or(0), increment.unwrap_or(0)),
        };
        let limit_known = matches!(limit, 0 | 15 | 30 | 45 | 60 | 90) || (limit % 60 == 0 && limit <= 10_800);
        if !limit_known || (limit == 0 && increment == 0) {
            return Err(invalid("clock.limit"));
        }
        if increment > 60 {
            return Err(invalid("clock.increment"));
        }
        Ok(TimeControl::real_time(Duration::from_secs(limit), Duration::from_secs(increment)))
    }

    fn any_clock(&self) -> Result<TimeControl, ApiError> {
        let seconds = |field| -> Result<Option<Duration>, ApiError> {
            let Some(number) = self.parse::<f64>(field)? else { return Ok(None) };
            if (0.0..=1e6).contains(&number) { Ok(Some(Duration::from_secs_f64(number))) } else { Err(invalid(field)) }
        };
        Ok(match (seconds("clock.limit")?, seconds("clock.increment")?) {
            (None, None) => TimeControl::Unlimited,
            (limit, increment) => TimeControl::real_time(limit.unwrap_or_default(), increment.unwrap_or_default()),
        })
    }
}
