//! Who leads, on a real API server.
//!
//! Where a takeover is waited for, the timing is short (3 s, 2 s, 0.4 s, and half of it for the frozen servers), so that
//! it takes seconds and not a quarter of a minute.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kourier_core::lease::{SLACK, Timing};
use kourier_kube::client::{Access, client};
use kourier_kube::lease::{Candidacy, Claim, Elections, identity, leads, lease_name};
use kourier_kube::observe::Observation;
use kourier_test_cluster::{Cluster, or_skip};
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// The longest that anything here may take to happen.
const DEADLINE: Duration = Duration::from_secs(60);

fn millis([duration, renew_deadline, retry, call]: [u64; 4]) -> Timing {
    let [duration, renew_deadline, retry, call] = [duration, renew_deadline, retry, call].map(Duration::from_millis);
    Timing { duration, renew_deadline, retry, call }
}

/// For tests that wait for a takeover.
fn short() -> Timing {
    millis([3000, 2000, 400, 500])
}

/// For tests in which nobody may lose a Lease because the machine is busy.
fn calm() -> Timing {
    millis([15_000, 10_000, 400, 3000])
}

async fn client_of(kubeconfig: &Path) -> Client {
    client(&Access { kubeconfig: Some(kubeconfig.to_owned()), context: None }).await.unwrap()
}

/// One candidate, and what was observed of it.
struct Replica {
    claim: watch::Receiver<Option<Claim>>,
    elections: Elections,
    identity: String,
    observed: Arc<Mutex<Vec<Observation>>>,
}

impl Replica {
    fn start(client: &Client, namespace: &str, timing: Timing) -> Self {
        let identity = identity("pod");
        let (namespace, name) = (namespace.to_owned(), lease_name("default"));
        let candidacy = Candidacy { namespace, name, identity: identity.clone(), timing };
        let observed = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&observed);
        let observer = Arc::new(move |observation| told.lock().unwrap().push(observation));
        let (claim, elections) = Elections::start(client.clone(), candidacy, observer).unwrap();
        Self { claim, elections, identity, observed }
    }

    fn leads(&self) -> bool {
        leads(&self.claim, Instant::now()).is_some()
    }

    async fn until_leads(&self) -> Instant {
        until("it to lead", || self.leads()).await;
        Instant::now()
    }

    fn observed(&self, what: Observation) -> usize {
        self.observed.lock().unwrap().iter().filter(|observation| **observation == what).count()
    }
}

async fn until(what: &str, so: impl Fn() -> bool) {
    let waits = async {
        while !so() {
            sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(timeout(DEADLINE, waits).await.is_ok(), "waited for {what}");
}

/// A namespace, and the Leases in it.
async fn leases(cluster: &Cluster) -> (Client, String, Api<Lease>) {
    let client = client_of(cluster.kubeconfig()).await;
    let namespace = cluster.namespace().unwrap();
    let api = Api::namespaced(client.clone(), &namespace);
    (client, namespace, api)
}

async fn spec(api: &Api<Lease>) -> LeaseSpec {
    api.get(&lease_name("default")).await.unwrap().spec.unwrap()
}

#[tokio::test]
async fn the_follower_of_a_killed_holder_leads_within_the_lease_and_two_seconds_but_not_before_its_claim_is_over() {
    let Some(cluster) = or_skip("a killed holder", Cluster::shared()) else { return };
    let (client, namespace, api) = leases(cluster).await;
    let first = Replica::start(&client, &namespace, short());
    first.until_leads().await;
    let second = Replica::start(&client, &namespace, short());
    let renewed = first.observed(Observation::Renewed);
    until("some renewals", || first.observed(Observation::Renewed) > renewed + 2).await;
    assert!(!second.leads(), "a candidate of the same name took a Lease that is held");

    let claim = leads(&first.claim, Instant::now()).unwrap();
    drop(first.elections);
    let killed = Instant::now();
    let led = second.until_leads().await;
    let took = led - killed;
    assert!(took <= short().duration + Duration::from_secs(2), "{took:?}");
    assert!(led > claim.until, "the claim lasted {:?} longer", claim.left(led));
    assert_eq!(*first.claim.borrow(), None, "a task that ended leaves no claim");

    let spec = spec(&api).await;
    assert_eq!(spec.holder_identity, Some(second.identity));
    assert_eq!((spec.lease_duration_seconds, spec.lease_transitions), (Some(3), Some(1)));
    assert!(spec.acquire_time.is_some() && spec.renew_time >= spec.acquire_time, "{spec:?}");
}

#[tokio::test]
async fn a_release_hands_over_within_one_retry() {
    let Some(cluster) = or_skip("a release", Cluster::shared()) else { return };
    let (client, namespace, api) = leases(cluster).await;
    let first = Replica::start(&client, &namespace, calm());
    first.until_leads().await;
    let second = Replica::start(&client, &namespace, calm());
    until("the second to stand by", || first.observed(Observation::Renewed) > 3).await;

    let released = Instant::now();
    let Replica { claim, elections, observed, .. } = first;
    let fallen = async {
        until("the claim to fall", || leads(&claim, Instant::now()).is_none()).await;
        released.elapsed()
    };
    let ((), fell) = tokio::join!(elections.release(), fallen);
    assert!(fell < calm().call, "the claim fell after {fell:?}");
    second.until_leads().await;
    let took = released.elapsed();
    println!("a handover took {took:?}");
    // The calls on a busy machine take longest; waiting the Lease out would take 15 s.
    assert!(took < calm().retry + Duration::from_secs(3), "{took:?}");
    assert_eq!(observed.lock().unwrap().last(), Some(&Observation::Leading(false)));
    assert_eq!(spec(&api).await.lease_transitions, Some(1));

    second.elections.release().await;
    let spec = spec(&api).await;
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_duration_seconds), (Some(""), Some(1)));
}

#[tokio::test]
async fn a_lease_that_somebody_deletes_is_made_again_by_its_holder_which_leads_on() {
    let Some(cluster) = or_skip("a deleted Lease", Cluster::shared()) else { return };
    let (client, namespace, api) = leases(cluster).await;
    let first = Replica::start(&client, &namespace, calm());
    first.until_leads().await;
    let second = Replica::start(&client, &namespace, calm());
    for _ in 0..3 {
        let renewed = first.observed(Observation::Renewed);
        until("some renewals", || first.observed(Observation::Renewed) > renewed + 2).await;
        let before = api.get(&lease_name("default")).await.unwrap();
        api.delete(&lease_name("default"), &DeleteParams::default()).await.unwrap();
        let made_again = async {
            loop {
                match api.get_opt(&lease_name("default")).await.unwrap() {
                    Some(lease) if lease.metadata.uid != before.metadata.uid => return lease,
                    _ => sleep(Duration::from_millis(20)).await,
                }
            }
        };
        let lease = timeout(DEADLINE, made_again).await.expect("a new Lease");
        assert_eq!(lease.spec.unwrap().holder_identity.as_ref(), Some(&first.identity));
    }
    assert!(first.leads() && !second.leads());
    assert_eq!(first.observed(Observation::Leading(false)), 0);
    assert_eq!(second.observed(Observation::Leading(true)), 0);
}

#[tokio::test]
async fn of_two_writes_on_one_version_the_second_loses() {
    let Some(cluster) = or_skip("two writes", Cluster::shared()) else { return };
    let (_, _, api) = leases(cluster).await;
    let mut lease = Lease::default();
    lease.metadata.name = Some("contested".to_owned());
    let params = PostParams::default();
    let made = api.create(&params, &lease).await.unwrap();
    let hold = |holder: &str| {
        let spec = LeaseSpec { holder_identity: Some(holder.to_owned()), ..LeaseSpec::default() };
        Lease { spec: Some(spec), ..made.clone() }
    };
    api.replace("contested", &params, &hold("first")).await.unwrap();
    let refused = api.replace("contested", &params, &hold("second")).await;
    assert!(matches!(&refused, Err(kube::Error::Api(status)) if status.code == 409), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_never_lead_while_the_api_server_of_the_leader_is_frozen_again_and_again() {
    let Some(cluster) = or_skip("frozen servers", Cluster::start()) else { return };
    let second = cluster.second_server().unwrap();
    let servers = [cluster.server().unwrap(), &second];
    let namespace = cluster.namespace().unwrap();
    let timing = millis([2000, 1200, 250, 400]);
    let mut replicas = Vec::new();
    for server in servers {
        replicas.push(Replica::start(&client_of(server.kubeconfig()).await, &namespace, timing.clone()));
    }
    let claims: Vec<_> = replicas.iter().map(|replica| replica.claim.clone()).collect();
    let overlaps = Arc::new(Mutex::new(Vec::new()));
    let found = Arc::clone(&overlaps);
    let watcher = tokio::spawn(async move {
        loop {
            let now = Instant::now();
            if claims.iter().all(|claim| leads(claim, now).is_some()) {
                found.lock().unwrap().push(now);
            }
            sleep(Duration::from_millis(1)).await;
        }
    });
    let mut longest = Duration::ZERO;
    for round in 0..20 {
        until("a leader", || replicas.iter().any(Replica::leads)).await;
        let leader = replicas.iter().position(Replica::leads).unwrap();
        servers[leader].freeze().unwrap();
        let frozen = Instant::now();
        until("the other one to lead", || replicas[1 - leader].leads()).await;
        longest = longest.max(frozen.elapsed());
        // Frozen at different places of its calls, and thawed while the other one leads.
        sleep(Duration::from_millis(37 * round)).await;
        servers[leader].thaw().unwrap();
        assert_eq!(*overlaps.lock().unwrap(), [], "round {round}");
        // The thawed one takes part again before its turn to be frozen comes back.
        sleep(timing.retry + SLACK).await;
    }
    watcher.abort();
    assert_eq!(*overlaps.lock().unwrap(), []);
    println!("20 takeovers, the longest {longest:?}");
    // On an idle machine it is the duration and a retry.
    assert!(longest < timing.duration * 5, "{longest:?}");

    // Nor is a shutdown held up by a server that does not answer.
    until("a leader", || replicas.iter().any(Replica::leads)).await;
    let leader = replicas.iter().position(Replica::leads).unwrap();
    servers[leader].freeze().unwrap();
    let begun = Instant::now();
    replicas.swap_remove(leader).elections.release().await;
    assert!(begun.elapsed() < timing.call * 2 + Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// What was logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn lines_with(&self, text: &str) -> Vec<String> {
        let text_of = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text_of.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn a_right_that_is_missing_is_named_once_and_the_candidate_leads_once_it_has_it() {
    let Some(cluster) = or_skip("missing rights", Cluster::shared()) else { return };
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let namespace = cluster.namespace().unwrap();
    let account = cluster.service_account(&namespace, "broker").unwrap();
    let grant = |verbs: &str| {
        let namespaced = format!("--namespace={namespace}");
        let role = format!("{}-leases", verbs.replace(',', "-"));
        let verbs = format!("--verb={verbs}");
        let resource = "--resource=leases.coordination.k8s.io";
        cluster.kubectl().ok(&["create", "role", &role, &verbs, resource, &namespaced]).unwrap();
        let (role_is, to) = (format!("--role={role}"), format!("--serviceaccount={namespace}:broker"));
        cluster.kubectl().ok(&["create", "rolebinding", &role, &role_is, &to, &namespaced]).unwrap();
    };

    let replica = Replica::start(&client_of(&account).await, &namespace, calm());
    until("the first line", || !log.lines_with("get leases.coordination.k8s.io").is_empty()).await;
    sleep(calm().retry * 5).await;
    assert_eq!(log.lines_with("a right is missing").len(), 1, "{:?}", log.lines_with(""));
    grant("get");
    until("the second line", || !log.lines_with("create leases.coordination.k8s.io").is_empty()).await;
    grant("create,update");
    replica.until_leads().await;
    until("a renewal", || replica.observed(Observation::Renewed) > 1).await;
    assert_eq!(log.lines_with("a right is missing").len(), 2, "{:?}", log.lines_with(""));
    assert!(log.lines_with("broker").iter().all(|line| !line.contains("Bearer")), "a token in the log");
}

#[tokio::test]
async fn a_timing_that_could_make_two_leaders_is_refused_at_the_start() {
    let timing = Timing { renew_deadline: Duration::from_secs(12), ..Timing::default() };
    let config = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
    let candidacy = Candidacy { namespace: "a".to_owned(), name: "b".to_owned(), identity: "c".to_owned(), timing };
    let refused = Elections::start(Client::try_from(config).unwrap(), candidacy, Arc::new(|_| ())).err().unwrap();
    assert!(refused.to_string().starts_with("renewDeadline: "), "{refused}");
}
