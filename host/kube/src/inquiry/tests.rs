use serde_json::json;

use super::*;

#[test]
fn the_last_write_of_a_broker_is_the_newest_of_its_field_manager_on_the_status() {
    let entry = |manager: &str, subresource: &str, time: &str| json!({"manager": manager, "subresource": subresource, "time": time});
    let object = json!({"metadata": {"managedFields": [
        entry("agent-kourier", "status", "2026-11-29T10:00:00Z"),
        entry("agent-kourier", "status", "2026-11-29T10:00:05Z"),
        entry("agent-kourier", "", "2026-11-29T11:00:00Z"),
        entry("kubectl", "status", "2026-11-29T12:00:00Z"),
    ]}});
    assert_eq!(written(&object), parse_rfc3339("2026-11-29T10:00:05Z"));
    assert_eq!(written(&json!({"metadata": {}})), None);
}

#[test]
fn a_connection_is_looked_for_in_the_namespace_of_its_binding_unless_another_is_named() {
    let key = ObjectKey::new("team-a", "chat");
    let binding = |reference: Value| json!({"spec": {"chat": {"connectionRef": reference}}});
    let own = connection_of(&binding(json!({"name": "slack"})), &key);
    let other = connection_of(&binding(json!({"name": "slack", "namespace": "chat"})), &key);
    assert_eq!(own, Some(ObjectKey::new("team-a", "slack")));
    assert_eq!(other, Some(ObjectKey::new("chat", "slack")));
}
