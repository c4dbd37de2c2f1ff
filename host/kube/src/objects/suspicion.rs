//! Looks at objects of which somebody found out that they are not what the view says.

use std::convert::Infallible;

use kourier_core::id::{Kind, ObjectKey};
use kourier_core::plan::Version;
use kube::api::GetParams;
use serde_json::Value;

use super::{Hub, collection, parsed, stored};
use crate::client::{ApiError, CALL, timely};
use crate::retry::cause;

/// Looks at each suspect; lists everything anew when a watch turns out to be blind.
pub(super) async fn follow(hub: &Hub) -> Infallible {
    loop {
        hub.suspicion.notified().await;
        let suspects = std::mem::take(&mut *hub.suspects());
        for key in suspects {
            if is_blind(hub, &key).await {
                tracing::warn!(binding = %key, "the watch does not tell what is so, all objects are listed anew");
                hub.anew.send_replace(());
                break;
            }
        }
    }
}

/// Whether the object is another one than the cache has, and the watch does not tell.
async fn is_blind(hub: &Hub, key: &ObjectKey) -> bool {
    let known = hub.cache().version(Kind::Binding, key);
    match look(hub, key).await {
        Ok(found) if found == known => return false,
        Ok(_) => {}
        Err(error) => {
            tracing::debug!(binding = %key, cause = cause(&error), "cannot look at a Binding");
            return false;
        }
    }
    // It may be on its way.
    tokio::time::sleep(hub.rhythm.grace).await;
    hub.cache().version(Kind::Binding, key) == known
}

/// The version of the Binding in the API server; none when it is not there.
async fn look(hub: &Hub, key: &ObjectKey) -> Result<Option<Version>, ApiError> {
    let request = collection(Kind::Binding, Some(&key.namespace)).get(&key.name, &GetParams::default());
    let request = request.map_err(kube::Error::BuildRequest)?;
    match timely(CALL, parsed::<Value>(hub.client.request_text(request))).await {
        Ok(object) => Ok(stored::version(&object)),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}
