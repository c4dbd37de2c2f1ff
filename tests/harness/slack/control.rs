//! The control routes, for a person with a command line: `POST /fake/archive?channel=C1`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use serde_json::json;

use super::server::pairs;
use super::workspace::Params;
use super::{Fault, Limit, Shared};

/// `GET /fake/requests`: how many requests each method got.
pub(super) async fn requests(State(shared): State<Arc<Shared>>) -> String {
    json!(shared.state().traffic.counts()).to_string() + "\n"
}

/// `POST /fake/{archive,unarchive,invite,kick,revoke,limit,outage}`, with its parameters in the query.
pub(super) async fn change(
    State(shared): State<Arc<Shared>>,
    Path(change): Path<String>,
    RawQuery(query): RawQuery,
) -> (StatusCode, String) {
    match apply(&shared, &change, &pairs(query.unwrap_or_default().as_bytes())) {
        Ok(()) => (StatusCode::OK, "done\n".to_owned()),
        Err(problem) => (StatusCode::BAD_REQUEST, format!("{problem}\n")),
    }
}

fn apply(shared: &Shared, change: &str, params: &Params) -> Result<(), String> {
    let text = |name: &str| params.get(name).map(String::as_str).ok_or_else(|| format!("{change} wants {name}="));
    let number = |name: &str| text(name)?.parse::<u32>().map_err(|_| format!("{name} is not a number"));
    let mut state = shared.state();
    let found = match change {
        "archive" => state.workspace.archive(text("channel")?),
        "unarchive" => state.workspace.unarchive(text("channel")?),
        "invite" => state.workspace.invite(text("channel")?, text("user")?),
        "kick" => state.workspace.kick(text("channel")?, text("user")?),
        "revoke" => state.workspace.revoke(text("token")?, text("code").unwrap_or("token_revoked")),
        "limit" => {
            let window = Duration::from_secs(number("seconds")?.into());
            let limit = Limit { requests: number("requests")?, window };
            state.traffic.limit(text("method")?, Some(limit));
            true
        }
        "outage" => {
            state.traffic.fault(text("method")?, Fault::Html(503), number("times")?);
            true
        }
        _ => return Err("there is archive, unarchive, invite, kick, revoke, limit and outage".to_owned()),
    };
    if found { Ok(()) } else { Err("no such channel or token".to_owned()) }
}
