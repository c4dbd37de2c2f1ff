//! The watch against a real API server.

use std::path::PathBuf;

use kourier_core::id::Generation;
use kourier_core::reason::{ConditionType, Status};
use kourier_kube::client::{Access, client};
use kourier_test_cluster::{Cluster, Kubectl, or_skip};

use super::*;

/// Objects of a real API server that are followed.
struct Live {
    views: watch::Receiver<Option<Arc<View>>>,
    seen: Arc<Mutex<Vec<Observation>>>,
    refresh: Refresh,
    task: JoinHandle<()>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Live {
    async fn new(kubeconfig: PathBuf, rhythm: Rhythm) -> Self {
        let access = Access { kubeconfig: Some(kubeconfig), context: None };
        let seen: Arc<Mutex<Vec<Observation>>> = Arc::default();
        let told = Arc::clone(&seen);
        let observer = Arc::new(move |observation| told.lock().unwrap().push(observation));
        let objects = Objects::new(client(&access).await.unwrap(), rhythm, observer);
        let (views, refresh) = (objects.views(), objects.refresh());
        Self { views, seen, refresh, task: tokio::spawn(objects.run(std::future::pending())) }
    }

    fn object(&self, kind: Kind, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        let view = self.views.borrow().clone()?;
        view.objects.get(&(kind, ObjectKey::new(namespace, name))).cloned()
    }

    fn binding(&self, namespace: &str) -> Option<Arc<Stored>> {
        self.object(Kind::Binding, namespace, "chat")
    }

    fn schema(&self) -> String {
        self.views.borrow().as_ref().map(|view| view.schema.clone()).unwrap_or_default()
    }

    fn restarts(&self, kind: Kind) -> usize {
        self.seen.lock().unwrap().iter().filter(|seen| **seen == Observation::WatchRestarted(kind)).count()
    }
}

/// Waits that suit a test: what takes half a minute otherwise takes a second or two.
fn brisk() -> Rhythm {
    let second = Duration::from_secs(1);
    let (watch, patience) = (3 * second, second);
    Rhythm { watch, patience, backoff: second / 10, cap: second, schema: second, ..Rhythm::default() }
}

fn apply(kubectl: &Kubectl, namespace: &str, channel: &str) {
    let binding = format!(
        "{{apiVersion: agentkourier.io/v1alpha1, kind: Binding, metadata: {{name: chat, namespace: {namespace}}}, \
         spec: {{agent: {{backendRef: {{name: agent}}}}, chat: {{connectionRef: {{name: slack}}, channel: {channel}}}}}}}"
    );
    kubectl.apply(&binding).unwrap();
}

fn channel(stored: &Stored) -> &str {
    stored.spec.pointer("/chat/channel").and_then(Value::as_str).unwrap()
}

/// Measured: the time from the end of kubectl to the view.
async fn within_a_second(what: &str, met: impl FnMut() -> bool) {
    let began = Instant::now();
    eventually(what, met).await;
    assert!(began.elapsed() < Duration::from_secs(1), "{what}: {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_do_with_a_binding_is_in_the_view_within_a_second() {
    let Some(cluster) = or_skip("a followed Binding", Cluster::shared()) else { return };
    cluster.crds().unwrap();
    let (kubectl, namespace) = (cluster.kubectl(), cluster.namespace().unwrap());
    let live = Live::new(cluster.kubeconfig().to_owned(), Rhythm::default()).await;
    eventually("a first view", || live.views.borrow().is_some()).await;

    apply(kubectl, &namespace, "C1");
    within_a_second("a new Binding", || live.binding(&namespace).is_some()).await;
    let first = live.binding(&namespace).unwrap();
    assert_eq!((channel(&first), first.meta.generation), ("C1", Generation(1)));
    assert!(first.standing.conditions.is_empty() && first.managers.is_empty());

    apply(kubectl, &namespace, "C2");
    within_a_second("an edit", || live.binding(&namespace).is_some_and(|stored| channel(&stored) == "C2")).await;
    assert_eq!(live.binding(&namespace).unwrap().meta.generation, Generation(2));

    let of = ["--namespace", &namespace];
    kubectl.ok(&[&["delete", "akbinding", "chat"], &of[..]].concat()).unwrap();
    within_a_second("the deletion", || live.binding(&namespace).is_none()).await;
    apply(kubectl, &namespace, "C2");
    within_a_second("the Binding made again", || live.binding(&namespace).is_some()).await;
    let again = live.binding(&namespace).unwrap();
    assert_ne!(again.meta.uid, first.meta.uid);
    assert_eq!(again.meta.generation, Generation(1));

    // A look at an object that is what the view says changes nothing.
    live.refresh.suspect(&ObjectKey::new(&namespace, "chat"));
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(Kind::ALL.map(|kind| live.restarts(kind)), [0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_edit_of_a_status_shows_with_its_manager() {
    let Some(cluster) = or_skip("a foreign edit", Cluster::shared()) else { return };
    cluster.crds().unwrap();
    let (kubectl, namespace) = (cluster.kubectl(), cluster.namespace().unwrap());
    let live = Live::new(cluster.kubeconfig().to_owned(), Rhythm::default()).await;
    apply(kubectl, &namespace, "C1");
    let condition = |kind: &str| {
        let time = "2026-01-02T03:04:05Z";
        json!({
            "type": kind, "status": "False", "reason": "Mine", "message": "said by hand", "observedGeneration": 1,
            "lastTransitionTime": time,
        })
    };
    let status = json!({ "status": { "conditions": [condition("Ready"), condition("Synced")] } }).to_string();
    let patch = ["patch", "akbinding", "chat", "--namespace", &namespace, "--subresource=status", "--type=merge"];
    kubectl.ok(&[&patch[..], &["--field-manager=intruder", "--patch", &status]].concat()).unwrap();
    let managers =
        || live.binding(&namespace).map(|stored| Vec::from_iter(stored.managers.clone())).unwrap_or_default();
    within_a_second("the manager's name", || managers() == ["intruder"]).await;
    let standing = live.binding(&namespace).unwrap().standing.clone();
    assert_eq!(standing.conditions.len(), 1, "a type that is not ours is not looked at");
    let ready = &standing.conditions[0];
    assert_eq!((ready.kind, ready.status, ready.reason.as_str()), (ConditionType::Ready, Status::False, "Mine"));
    assert_eq!(standing.observed_generation, Some(Generation(-1)), "the default of the CRD");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_is_granted_later_is_found() {
    let Some(cluster) = or_skip("a granted right", Cluster::shared()) else { return };
    cluster.crds().unwrap();
    let (kubectl, namespace) = (cluster.kubectl(), cluster.namespace().unwrap());
    let account = cluster.service_account(&namespace, "broker").unwrap();
    let grant = |resources: &str| {
        let name = format!("{namespace}-{resources}");
        let user = format!("--serviceaccount={namespace}:broker");
        let resource = format!("--resource={resources}.agentkourier.io");
        kubectl.ok(&["create", "clusterrole", &name, "--verb=get,list,watch", &resource]).unwrap();
        kubectl.ok(&["create", "clusterrolebinding", &name, "--clusterrole", &name, &user]).unwrap();
    };
    grant("bindings");
    grant("chatconnections");
    let live = Live::new(account.to_path_buf(), brisk()).await;
    let listed = |kind| live.seen.lock().unwrap().contains(&Observation::Listed(kind));
    eventually("the kinds that may be read", || listed(Kind::Binding) && listed(Kind::ChatConnection)).await;
    eventually("tries of the other", || live.restarts(Kind::AgentBackend) >= 3).await;
    assert!(live.views.borrow().is_none());
    grant("agentbackends");
    eventually("a view", || live.views.borrow().is_some()).await;
    for resources in ["bindings", "chatconnections", "agentbackends"] {
        let name = format!("{namespace}-{resources}");
        kubectl.ok(&["delete", "clusterrolebinding,clusterrole", &name]).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn crds_that_come_late_a_changed_one_and_a_server_that_falls_silent_are_found() {
    let Some(cluster) = or_skip("late CRDs", Cluster::start()) else { return };
    let live = Live::new(cluster.kubeconfig().to_owned(), brisk()).await;
    eventually("it is asked for what is not there", || live.restarts(Kind::Binding) >= 2).await;
    assert!(live.views.borrow().is_none());
    cluster.crds().unwrap();
    eventually("a view", || live.views.borrow().is_some()).await;

    eventually("a schema", || live.schema().contains("?hash=")).await;
    let (kubectl, before) = (cluster.kubectl(), live.schema());
    let patch =
        r#"[{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/description", "value": "Another."}]"#;
    kubectl.ok(&["patch", "crd", "bindings.agentkourier.io", "--type=json", "--patch", patch]).unwrap();
    eventually("another schema", || live.schema() != before && live.schema().contains("?hash=")).await;

    let namespace = cluster.namespace().unwrap();
    let second = cluster.second_server().unwrap();
    let restarts = live.restarts(Kind::Binding);
    cluster.server().unwrap().freeze().unwrap();
    apply(second.kubectl(), &namespace, "C1");
    eventually("the silence is noticed", || live.restarts(Kind::Binding) > restarts).await;
    cluster.server().unwrap().thaw().unwrap();
    eventually("what happened meanwhile", || live.binding(&namespace).is_some()).await;
}
