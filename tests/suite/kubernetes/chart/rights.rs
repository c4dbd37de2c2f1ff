//! The rights that RBAC gives to an account, one by one, and the calls that use them.

use kourier_test_cluster::{Call, Kubectl};
use serde_json::{Value, json};

/// One verb on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Right {
    verb: String,
    group: String,
    /// With its subresource, as in `bindings/status`.
    resource: String,
    /// The one object that it is about; none: all.
    name: Option<String>,
    /// The one namespace; none: all.
    namespace: Option<String>,
}

impl Right {
    /// Whether the call needs this right, and whatever others as well.
    pub(super) fn covers(&self, call: &Call) -> bool {
        let resource = match call.subresource.as_str() {
            "" => call.resource.clone(),
            subresource => format!("{}/{subresource}", call.resource),
        };
        (&self.verb, &self.group, &self.resource) == (&call.verb, &call.group, &resource)
            && self.name.as_ref().is_none_or(|name| *name == call.name)
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == call.namespace)
    }
}

/// Every right that a binding of a role to this service account gives.
pub(super) fn of_account(kubectl: &Kubectl, namespace: &str, name: &str) -> Vec<Right> {
    let account = json!({"kind": "ServiceAccount", "namespace": namespace, "name": name});
    let mut rights = Vec::new();
    for binding in listed(kubectl, "clusterrolebindings,rolebindings") {
        let has = |subject: &Value| ["kind", "namespace", "name"].iter().all(|key| subject[key] == account[key]);
        if binding["subjects"].as_array().is_some_and(|subjects| subjects.iter().any(has)) {
            let place = binding["metadata"]["namespace"].as_str();
            rights.extend(spread(&role(kubectl, &binding["roleRef"], place), place));
        }
    }
    rights
}

/// All objects of these kinds.
pub(super) fn listed(kubectl: &Kubectl, kinds: &str) -> Vec<Value> {
    let list = kubectl.ok(&["get", kinds, "--all-namespaces", "--output=json"]).unwrap();
    let mut list: Value = serde_json::from_str(&list).unwrap();
    std::mem::take(list["items"].as_array_mut().unwrap())
}

fn role(kubectl: &Kubectl, reference: &Value, place: Option<&str>) -> Value {
    let (kind, name) = (reference["kind"].as_str().unwrap(), reference["name"].as_str().unwrap());
    let mut args = vec!["get", kind, name, "--output=json"];
    args.extend(place.iter().flat_map(|place| ["--namespace", place]));
    serde_json::from_str(&kubectl.ok(&args).unwrap()).unwrap()
}

/// The rights of a role, one by one.
fn spread(role: &Value, place: Option<&str>) -> Vec<Right> {
    let mut rights = Vec::new();
    for rule in role["rules"].as_array().unwrap() {
        assert!(rule["nonResourceURLs"].is_null(), "a right that is none of a resource: {rule}");
        let names = match texts(rule, "resourceNames") {
            names if names.is_empty() => vec![None],
            names => names.into_iter().map(Some).collect(),
        };
        for (group, resource, verb, name) in each(rule, &names) {
            assert!([&group, &resource, &verb].iter().all(|text| *text != "*"), "it gives more than it says: {rule}");
            rights.push(Right { verb, group, resource, name, namespace: place.map(str::to_owned) });
        }
    }
    rights
}

/// Everything that a rule combines.
fn each(rule: &Value, names: &[Option<String>]) -> Vec<(String, String, String, Option<String>)> {
    let mut all = Vec::new();
    for group in texts(rule, "apiGroups") {
        for resource in texts(rule, "resources") {
            for verb in texts(rule, "verbs") {
                let with = |name: &Option<String>| (group.clone(), resource.clone(), verb.clone(), name.clone());
                all.extend(names.iter().map(with));
            }
        }
    }
    all
}

fn texts(rule: &Value, key: &str) -> Vec<String> {
    rule[key].as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_right_is_used_by_its_own_verb_resource_name_and_namespace_alone() {
    let role = json!({"rules": [
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a", "b"], "verbs": ["get", "watch"]},
        {"apiGroups": ["agentkourier.io"], "resources": ["bindings/status"], "verbs": ["patch"]},
    ]});
    let rights = spread(&role, Some("team"));
    assert_eq!(rights.len(), 5);
    let call = |verb: &str, resource: &str, subresource: &str, name: &str, namespace: &str| Call {
        verb: verb.to_owned(),
        group: if resource == "secrets" { String::new() } else { "agentkourier.io".to_owned() },
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        ..Call::default()
    };
    let used = |call: &Call| rights.iter().filter(|right| right.covers(call)).count();
    assert_eq!(used(&call("get", "secrets", "", "a", "team")), 1);
    assert_eq!(used(&call("patch", "bindings", "status", "chat", "team")), 1);
    for other in [
        call("list", "secrets", "", "a", "team"),
        call("get", "secrets", "", "c", "team"),
        call("get", "secrets", "", "a", "other"),
        call("patch", "bindings", "", "chat", "team"),
        call("patch", "secrets", "status", "a", "team"),
    ] {
        assert_eq!(used(&other), 0, "{other:?}");
    }
}
