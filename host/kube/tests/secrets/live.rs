//! The watch of Secrets against a real API server, with no right but to `get` and `watch` one of them by name.

use kourier_kube::client::{Access, client};
use kourier_test_cluster::{Cluster, Kubectl, or_skip};

use super::*;

fn apply(kubectl: &Kubectl, namespace: &str, name: &str, value: &str) {
    let metadata = format!("{{name: {name}, namespace: {namespace}}}");
    kubectl
        .apply(&format!("{{apiVersion: v1, kind: Secret, metadata: {metadata}, stringData: {{token: {value}}}}}"))
        .unwrap();
}

/// Lets the account `broker` of the namespace get and watch the Secret `bot`, and do nothing else.
fn grant(kubectl: &Kubectl, namespace: &str) {
    let rule = "{apiGroups: [\"\"], resources: [secrets], resourceNames: [bot], verbs: [get, watch]}";
    let metadata = format!("{{name: bot, namespace: {namespace}}}");
    let role = "{apiGroup: rbac.authorization.k8s.io, kind: Role, name: bot}";
    let subject = format!("{{kind: ServiceAccount, name: broker, namespace: {namespace}}}");
    let group = "apiVersion: rbac.authorization.k8s.io/v1";
    kubectl.apply(&format!("{{{group}, kind: Role, metadata: {metadata}, rules: [{rule}]}}")).unwrap();
    let binding =
        format!("{{{group}, kind: RoleBinding, metadata: {metadata}, roleRef: {role}, subjects: [{subject}]}}");
    kubectl.apply(&binding).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_followed_with_the_right_to_get_and_watch_that_one_alone() {
    let Some(cluster) = or_skip("a followed Secret", Cluster::shared()) else { return };
    let (kubectl, namespace) = (cluster.kubectl(), cluster.namespace().unwrap());
    let account = cluster.service_account(&namespace, "broker").unwrap();
    let second = Duration::from_secs(1);
    // Watches are short, so that several of them are tried.
    let rhythm = SecretRhythm { watch: 2 * second, backoff: second / 10, cap: second, ..SecretRhythm::default() };
    let access = Access { kubeconfig: Some(account.to_path_buf()), context: None };
    let cache = SecretCache::new(client(&access).await.unwrap(), rhythm);
    let value = |name: &str| {
        let found = cache.get(&namespace, name)?;
        Some(found.map(|data| String::from_utf8(data.values["token"].to_vec()).unwrap()))
    };
    let is = |text: &str| value("bot") == Some(Ok(text.to_owned()));
    let wanted = ["bot", "other"].map(|name| (namespace.clone(), name.to_owned()));
    apply(kubectl, &namespace, "other", "hidden");
    cache.want(&BTreeSet::from(wanted));
    eventually("no right", || value("bot") == Some(Err(SecretTrouble::Forbidden))).await;

    grant(kubectl, &namespace);
    eventually("it is not there", || value("bot") == Some(Err(SecretTrouble::NotFound))).await;
    apply(kubectl, &namespace, "bot", "first");
    eventually("it is made", || is("first")).await;
    let first = cache.get(&namespace, "bot").unwrap().unwrap();
    // Through several watches, to the end of one and the start of the next.
    for round in 0..4 {
        tokio::time::sleep(Duration::from_millis(1300)).await;
        let text = format!("round-{round}");
        apply(kubectl, &namespace, "bot", &text);
        let began = Instant::now();
        eventually("it is changed", || is(&text)).await;
        assert!(began.elapsed() < second, "{:?}", began.elapsed());
    }
    let last = cache.get(&namespace, "bot").unwrap().unwrap();
    assert!(last.uid == first.uid && last.version != first.version);

    kubectl.ok(&["delete", "secret", "bot", "--namespace", &namespace]).unwrap();
    eventually("it is deleted", || value("bot") == Some(Err(SecretTrouble::NotFound))).await;
    apply(kubectl, &namespace, "bot", "again");
    eventually("it is made again", || is("again")).await;
    assert_ne!(cache.get(&namespace, "bot").unwrap().unwrap().uid, first.uid);
    assert_eq!(value("other"), Some(Err(SecretTrouble::Forbidden)));

    // What this account was refused is what the cache has no need of.
    let listed = kubectl.with(&account).run(&["get", "secrets", "--namespace", &namespace]).unwrap();
    assert!(!listed.status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_was_edited_long_before_is_followed() {
    let Some(cluster) = or_skip("an old Secret", Cluster::shared()) else { return };
    let (kubectl, namespace) = (cluster.kubectl(), cluster.namespace().unwrap());
    apply(kubectl, &namespace, "bot", "first");
    // Its version is left behind by many others.
    for round in 0..30 {
        apply(kubectl, &namespace, "busy", &format!("v{round}"));
    }
    let access = Access { kubeconfig: Some(cluster.kubeconfig().to_owned()), context: None };
    let cache = SecretCache::new(client(&access).await.unwrap(), SecretRhythm::default());
    cache.want(&BTreeSet::from([(namespace.clone(), "bot".to_owned())]));
    let token = || Some(cache.get(&namespace, "bot")?.ok()?.values["token"].to_vec());
    eventually("it is read", || token().as_deref() == Some(b"first")).await;
    let mut changes = cache.changes();
    changes.mark_unchanged();
    apply(kubectl, &namespace, "bot", "second");
    eventually("it is changed", || token().as_deref() == Some(b"second")).await;
    assert!(changes.has_changed().unwrap());
}
