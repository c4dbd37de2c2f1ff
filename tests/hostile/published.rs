//! What a case would publish - statuses, Events, labels of metrics, lines of the log - and that none of it tells what it
//! must not.
//!
//! [`of`] runs a case and keeps what its probes came to; [`Published::judge`] looks at it when the case is over, so that
//! the looking is not in the case's time and memory. A case of which nothing was published has not been looked at, and
//! fails.

use std::cell::RefCell;
use std::future::Future;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use agent_kourier::components::Components;
use agent_kourier::metrics::Metrics;
use kourier_core::accept::{AgentPeer, ChatPeer, Judged, Served, Used};
use kourier_core::condition::{Assessment, Condition, Results, advance, assess};
use kourier_core::egress::DenyRule;
use kourier_core::id::{Generation, ObjectKey, Uid};
use kourier_core::object::SecretRef;
use kourier_core::outcome::{Fault, Outcome};
use kourier_core::platform::CredentialPlace;
use kourier_core::reason::{BackendReason, ChannelReason};
use kourier_core::schedule::Said;
use kourier_core::snapshot::Meta;
use kourier_core::time::Timestamp;
use kourier_core::url::BaseUrl;
use kourier_kube::api::Binding;
use kourier_kube::events;
use kourier_sandbox::Run;
use serde_json::json;
use suite::leak::{Forbidden, Leak, none, series};

use crate::case::Checked;
use crate::world::{CHANNEL, SANDBOX, SECRET};

/// When statuses are written.
const NOW: Timestamp = Timestamp(2_000_000_000);

tokio::task_local! {
    /// What the case that runs has published so far.
    static PUBLISHED: RefCell<Published>;
}

/// How a run ended, and against whom.
struct EndedRun {
    url: String,
    said: Said,
    fault: Option<Fault>,
    denied: Vec<DenyRule>,
    lines: Vec<String>,
}

/// What a case published.
#[derive(Default)]
pub(crate) struct Published {
    runs: Vec<EndedRun>,
    texts: Vec<Text>,
    peers: Vec<Vec<u8>>,
    by_itself: bool,
}

/// Something that the program said.
#[derive(Clone, Debug)]
pub(crate) enum Text {
    /// To anybody, in this place.
    Public(&'static str, String),
    /// To the operator, in this place.
    Log(&'static str, String),
}

/// Runs a case, or a part of one that is a task of its own: probes run nowhere else.
pub(crate) async fn of<T>(case: impl Future<Output = T>) -> (T, Published) {
    PUBLISHED
        .scope(RefCell::default(), async {
            let ended = case.await;
            (ended, PUBLISHED.with(RefCell::take))
        })
        .await
}

/// A run of this case against the peer at this URL ended so.
pub(crate) fn ran<R: Copy>(run: &Run<R>, said: impl FnOnce(Outcome<R>) -> Said, url: &str) {
    let ended = EndedRun {
        url: url.to_owned(),
        said: said(run.outcome),
        fault: run.fault,
        denied: run.denied.clone(),
        lines: run.causes.iter().chain(&run.advice).cloned().collect(),
    };
    PUBLISHED.with(|published| published.borrow_mut().runs.push(ended));
}

/// A task of this case published this.
pub(crate) fn include(other: Published) {
    PUBLISHED.with(|published| {
        let Published { runs, texts, peers, by_itself } = &mut *published.borrow_mut();
        runs.extend(other.runs);
        texts.extend(other.texts);
        peers.extend(other.peers);
        *by_itself |= other.by_itself;
    });
}

/// The case made the program say this.
pub(crate) fn text(text: Text) {
    PUBLISHED.with(|published| published.borrow_mut().texts.push(text));
}

/// The case publishes nothing, or looks at it by itself, or the process does in which it runs.
pub(crate) fn by_itself() {
    PUBLISHED.with(|published| published.borrow_mut().by_itself = true);
}

/// A peer of this case said this.
pub(crate) fn peer(said: Vec<u8>) {
    PUBLISHED.with(|published| published.borrow_mut().peers.push(said));
}

impl Published {
    /// What the case comes to when what it published is looked at.
    pub(crate) fn judge(&self, checked: Checked) -> Checked {
        checked.and_then(|()| {
            if self.runs.is_empty() && self.texts.is_empty() && !self.by_itself {
                return Err("nothing that it published was looked at".to_owned());
            }
            none(&self.leaks())
        })
    }

    fn leaks(&self) -> Vec<Leak> {
        let forbidden = self.runs.iter().fold(own(), |forbidden, run| forbidden.url(&run.url));
        let forbidden = self.peers.iter().fold(forbidden, |forbidden, said| forbidden.said(said));
        let of_texts = self.texts.iter().flat_map(|text| match text {
            Text::Public(place, text) => forbidden.in_public(place, text),
            Text::Log(place, text) => forbidden.in_log(place, text),
        });
        let of_runs = self.runs.iter().flat_map(|run| run.leaks(&forbidden));
        of_texts.chain(of_runs).collect()
    }
}

/// The credential of every run is forbidden. The words of the reasons are the program's own, and so are those of a
/// Binding that is well.
static OWN: LazyLock<Forbidden> = LazyLock::new(|| {
    let well =
        conditions(&assessment("http://agent.example", Outcome::of(BackendReason::Ok), Outcome::of(ChannelReason::Ok)));
    Forbidden::new().secret(SECRET).own(&status(&well)).own(&event(&[], &well).unwrap_or_default())
});

/// What is forbidden whoever the peers are.
pub(crate) fn own() -> Forbidden {
    OWN.clone()
}

impl EndedRun {
    fn leaks(&self, forbidden: &Forbidden) -> Vec<Leak> {
        let (agent, channel) = (Outcome::of(BackendReason::Ok), Outcome::of(ChannelReason::Ok));
        let before = conditions(&assessment(&self.url, agent, channel));
        let after = match self.said {
            Said::Agent(agent) => assessment(&self.url, agent, channel),
            Said::Channel(channel) => assessment(&self.url, agent, channel),
        };
        LABELS.lock().unwrap_or_else(PoisonError::into_inner).count(self, &after);
        let after = conditions(&after);
        let mut leaks = forbidden.in_public("the status", &status(&after));
        // From well to whatever it is now, or from nothing to well: that is what people hear of.
        let event = event(&before, &after).or_else(|| event(&[], &after)).unwrap_or_default();
        leaks.extend(forbidden.in_public("the Event", &event));
        leaks.extend(self.lines.iter().flat_map(|line| forbidden.in_log("the log", line)));
        leaks
    }
}

/// What acceptance and the probes come to for the one Binding, whose peers are at this URL.
fn assessment(url: &str, agent: Outcome<BackendReason>, channel: Outcome<ChannelReason>) -> Assessment {
    let url = BaseUrl::parse(url).expect("a URL");
    let (generation, uid) = (Generation(1), Uid("uid".to_owned()));
    let used = |name: &str| Used { key: ObjectKey::new("hostile", name), uid: uid.clone(), generation };
    let served = Served {
        generation,
        agent: AgentPeer { backend: used("agents"), url: url.clone(), card_path: None, auth: None, tls: None },
        chat: ChatPeer {
            connection: used("chat"),
            platform: "slack".to_owned(),
            url,
            default_url: false,
            channel: CHANNEL.to_owned(),
            settings: [].into(),
            credential: CredentialPlace::Bearer,
            secret_ref: SecretRef { name: "chat".to_owned(), key: "token".to_owned() },
            tls: None,
        },
    };
    let channel_name = Some(CHANNEL.to_owned());
    let judged = Judged {
        uid: uid.clone(),
        generation,
        owned: true,
        channel: channel_name,
        refusal: None,
        served: Some(served),
    };
    let results = Results { uid, backend: Some((generation, agent)), channel: Some((generation, channel)) };
    assess(&judged, Some(&results), &[])
}

fn conditions(assessment: &Assessment) -> Vec<Condition> {
    advance(&[], assessment, NOW)
}

/// The Binding with its status, as the API server has it.
fn status(conditions: &[Condition]) -> String {
    let key = ObjectKey::new("hostile", "one");
    let meta = Meta { key, uid: Uid("uid".to_owned()), generation: Generation(1), created: NOW };
    let chat = json!({"connectionRef": {"name": "chat"}, "channel": CHANNEL});
    let spec = json!({"agent": {"backendRef": {"name": "agents"}}, "chat": chat});
    serde_json::to_string(&Binding::new(&meta, spec, conditions)).expect("a Binding is JSON")
}

/// The Event of this transition, if there is one.
fn event(before: &[Condition], after: &[Condition]) -> Option<String> {
    let event = events::transition(before, after)?.event();
    Some(format!("{} {} {}", event.reason, event.action, event.note.unwrap_or_default()))
}

/// The metrics of all cases, and whom they were about.
struct Labels {
    metrics: Metrics,
    forbidden: Forbidden,
    /// How many runs were counted.
    runs: usize,
}

static LABELS: LazyLock<Mutex<Labels>> = LazyLock::new(|| {
    let metrics = Metrics::new(&Components::load(&SANDBOX, None));
    Mutex::new(Labels { metrics, forbidden: Forbidden::new().secret(SECRET), runs: 0 })
});

impl Labels {
    fn count(&mut self, run: &EndedRun, assessment: &Assessment) {
        self.runs += 1;
        let wall = Duration::from_millis(1);
        let component = match run.said {
            Said::Agent(outcome) => {
                self.metrics.agent_probed(outcome.reason, wall);
                "agent-card"
            }
            Said::Channel(outcome) => {
                self.metrics.channel_probed("slack", outcome.reason, wall);
                "slack"
            }
        };
        run.fault.iter().for_each(|fault| self.metrics.fault(component, *fault));
        run.denied.iter().for_each(|rule| self.metrics.denied(*rule));
        self.metrics.count_conditions([assessment]);
        self.forbidden = std::mem::take(&mut self.forbidden).url(&run.url);
    }
}

/// Looks at the labels of the metrics of all cases that ran.
pub(crate) fn labels() -> Checked {
    let labels = LABELS.lock().unwrap_or_else(PoisonError::into_inner);
    if labels.runs == 0 {
        return Err("no run was counted: nothing else was run".to_owned());
    }
    none(&labels.forbidden.in_public("the labels of the metrics", &series(&labels.metrics.encode())))
}

/// Whether what must not be told is found where it is told.
pub(crate) fn planted() -> Checked {
    let url = "http://127.0.0.1:45213";
    let run = |lines: &[&str]| {
        let said = Said::Agent(Outcome::of(BackendReason::Unreachable));
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        EndedRun { url: url.to_owned(), said, fault: None, denied: Vec::new(), lines }
    };
    let with = |lines: &[&str], text: &str| Published {
        runs: vec![run(lines)],
        texts: vec![Text::Public("a text", text.to_owned())],
        peers: vec![b"<title>Klabautermann</title>".to_vec()],
        by_itself: false,
    };
    let encoded = "eG94Yi03ZjNhOWM1MWQyZTgtaG9zdGlsZQ";
    let cases = [
        (Published::default(), "nothing that it published was looked at"),
        (with(&["refused", SECRET], ""), "Secret (Plain) in the log"),
        (with(&[encoded], ""), "Secret (Base64) in the log"),
        (with(&[], encoded), "Secret (Base64) in a text"),
        (with(&[], "the agent at ::1 does not answer"), "Address (Plain) in a text"),
        (with(&[], "Klabautermann"), "Word (Plain) in a text"),
        (with(&[], "port 45213"), "Port (Plain) in a text"),
    ];
    for (published, expected) in cases {
        let found = published.judge(Ok(()));
        if !found.as_ref().is_err_and(|error| error.starts_with(expected)) {
            return Err(format!("not {expected}: {found:?}"));
        }
    }
    let failed = with(&["127.0.0.1 refused"], "the agent does not answer").judge(Err("it failed".to_owned()));
    let well = with(&["127.0.0.1:45213 refused: Klabautermann"], "the agent does not answer").judge(Ok(()));
    if failed == Err("it failed".to_owned()) { well } else { Err(format!("{failed:?}")) }
}
