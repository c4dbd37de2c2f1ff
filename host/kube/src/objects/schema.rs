//! The text that changes when the CRDs do.

use std::convert::Infallible;

use kourier_core::object::{GROUP, VERSION};
use kube::api::GetParams;
use kube::core::Request;
use serde_json::Value;

use super::{Hub, parsed};
use crate::client::{ApiError, CALL, timely};
use crate::retry::cause;

/// Looks at the schema now and then, and after each list.
pub(super) async fn follow(hub: &Hub) -> Infallible {
    loop {
        match ask(hub).await {
            Ok(schema) => hub.change(|cache| cache.schema(schema)),
            // The last one is kept: a change that did not happen would be as wrong as one that was missed.
            Err(error) => tracing::debug!(cause = cause(&error), "cannot look at the schema of the CRDs"),
        }
        tokio::select! {
            () = tokio::time::sleep(hub.rhythm.schema) => {}
            () = hub.listed.notified() => {}
        }
    }
}

async fn ask(hub: &Hub) -> Result<String, ApiError> {
    let request = Request::new("/openapi").get("v3", &GetParams::default()).map_err(kube::Error::BuildRequest)?;
    let index: Value = timely(CALL, parsed(hub.client.request_text(request))).await?;
    Ok(schema(&index))
}

/// Where the group's schema is: with a hash of it. Empty when it is not there.
fn schema(index: &Value) -> String {
    let entry = index.get("paths").and_then(|paths| paths.get(format!("apis/{GROUP}/{VERSION}")));
    entry.and_then(|entry| entry.get("serverRelativeURL")).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::schema;

    #[test]
    fn the_hash_of_our_group_is_taken_and_no_other() {
        let path = "/openapi/v3/apis/agentkourier.io/v1alpha1?hash=AB12";
        let index = json!({ "paths": {
            "apis/agentkourier.io/v1alpha1": { "serverRelativeURL": path },
            "apis/apps/v1": { "serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=FF" },
        } });
        assert_eq!(schema(&index), path);
    }

    #[test]
    fn an_index_without_our_group_says_nothing() {
        for index in [json!(null), json!({ "paths": {} }), json!({ "paths": { "apis/agentkourier.io/v1alpha1": 3 } })] {
            assert_eq!(schema(&index), "");
        }
    }
}
