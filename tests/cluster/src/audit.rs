//! What API servers were asked, from their audit logs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

/// The ending of an audit log's name.
pub(crate) const ENDING: &str = "audit";

/// Who asked for what, and how it was answered: of every request, and of its content only that of a write of a status or
/// a Lease. Each is written when it is answered, a watch as well when it begins.
const POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
    "omitStages": ["RequestReceived"], "omitManagedFields": true, "rules": [
        {"level": "RequestResponse", "verbs": ["create", "update", "patch"], "resources": [
            {"group": "agentkourier.io", "resources": ["bindings/status"]},
            {"group": "coordination.k8s.io", "resources": ["leases"]}]},
        {"level": "Metadata"}]}"#;

/// A request that was answered, or a watch that began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Which server was asked: see [`Server::name`](crate::Server::name).
    pub server: String,
    /// Who asked, such as `system:serviceaccount:NAMESPACE:NAME`.
    pub user: String,
    /// As RBAC has it, such as `patch`; of what is no resource, that of HTTP.
    pub verb: String,
    /// The API group; empty for the core.
    pub group: String,
    /// The plural, such as `bindings`; empty for what is no resource, such as a look at what is served.
    pub resource: String,
    /// Such as `status`; mostly empty.
    pub subresource: String,
    /// Empty for a request about all of them.
    pub namespace: String,
    /// The object; empty where no one is named.
    pub name: String,
    /// The status code of the answer; 0 when there was none.
    pub code: u16,
    /// What was sent, of a write of a Binding's status or of a Lease; else null.
    pub sent: Value,
    /// What was answered, of the same writes; else null.
    pub answered: Value,
}

/// An entry of the log, as far as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "auditID")]
    id: String,
    verb: String,
    user: User,
    #[serde(default)]
    object_ref: Object,
    #[serde(default)]
    response_status: Answer,
    #[serde(default)]
    request_object: Value,
    #[serde(default)]
    response_object: Value,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Object {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Default, Deserialize)]
struct Answer {
    #[serde(default)]
    code: u16,
}

/// Writes the policy, and says where.
pub(crate) fn write_policy(folder: &Path) -> anyhow::Result<PathBuf> {
    let file = folder.join("audit.json");
    fs::write(&file, POLICY)?;
    Ok(file)
}

/// Everything that the servers with logs in this folder have answered by now, each request once.
pub(crate) fn read(folder: &Path) -> anyhow::Result<Vec<Call>> {
    let mut calls = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let file = file?.path();
        if file.extension().is_some_and(|ending| ending == ENDING) {
            let server = file.file_stem().unwrap_or_default().to_string_lossy();
            read_log(&server, &fs::read_to_string(&file)?, &mut calls).with_context(|| file.display().to_string())?;
        }
    }
    Ok(calls.into_values().collect())
}

fn read_log(server: &str, log: &str, calls: &mut BTreeMap<String, Call>) -> anyhow::Result<()> {
    // The last line may still be under way.
    for line in log.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let entry: Entry = serde_json::from_str(line).with_context(|| line.to_owned())?;
        calls.insert(entry.id.clone(), entry.into_call(server));
    }
    Ok(())
}

impl Entry {
    fn into_call(self, server: &str) -> Call {
        let Object { api_group: group, resource, subresource, namespace, name } = self.object_ref;
        let (user, verb, code) = (self.user.username, self.verb, self.response_status.code);
        let (server, sent, answered) = (server.to_owned(), self.request_object, self.response_object);
        Call { server, user, verb, group, resource, subresource, namespace, name, code, sent, answered }
    }
}
