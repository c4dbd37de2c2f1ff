//! A prober in virtual time: peers that answer as they are told to, and a record of what happened.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::*;
use crate::accept::{AgentPeer, ChatPeer};
use crate::object::SecretRef;
use crate::platform::CredentialPlace;
use crate::url::BaseUrl;

pub(super) const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(super) fn key(name: &str) -> ObjectKey {
    let (namespace, name) = name.split_once('/').unwrap();
    ObjectKey::new(namespace, name)
}

pub(super) struct World {
    pub(super) schedule: Schedule,
    pub(super) now: u64,
    pub(super) objects: BTreeMap<ObjectKey, Inputs>,
    /// Second, Binding and probe of each request that was begun.
    pub(super) events: Vec<(u64, String, Check)>,
    /// What happened, line by line.
    pub(super) log: Vec<String>,
    /// The starts of passes.
    pub(super) passes: Vec<u64>,
    running: Vec<(u64, Job)>,
    durations: BTreeMap<(ObjectKey, Check), u64>,
    waits: BTreeMap<(ObjectKey, Check), u64>,
    made: u32,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            schedule: Schedule::new(Cadence::default(), Moment::ORIGIN),
            now: 0,
            objects: BTreeMap::new(),
            events: Vec::new(),
            log: Vec::new(),
            passes: Vec::new(),
            running: Vec::new(),
            durations: BTreeMap::new(),
            waits: BTreeMap::new(),
            made: 0,
        }
    }

    pub(super) fn serve(&mut self, name: &str) -> &mut Self {
        self.made += 1;
        let uid = Uid(format!("uid-{}", self.made));
        self.objects.insert(key(name), inputs(name, uid));
        self
    }

    /// Deletes it and makes it again under the same name.
    pub(super) fn remake(&mut self, name: &str) -> &mut Self {
        self.remove(name).serve(name)
    }

    pub(super) fn remove(&mut self, name: &str) -> &mut Self {
        self.objects.remove(&key(name));
        self
    }

    pub(super) fn edit(&mut self, name: &str) -> &mut Self {
        self.change(name, |inputs| inputs.served.generation.0 += 1)
    }

    pub(super) fn edit_connection(&mut self, name: &str) -> &mut Self {
        self.change(name, |inputs| inputs.served.chat.connection.generation.0 += 1)
    }

    pub(super) fn edit_secret(&mut self, name: &str) -> &mut Self {
        self.change(name, |inputs| inputs.secrets.0.push("newer".to_owned()))
    }

    fn change(&mut self, name: &str, change: impl Fn(&mut Inputs)) -> &mut Self {
        if let Some(inputs) = self.objects.get_mut(&key(name)) {
            change(inputs);
        }
        self
    }

    /// From now on this probe takes so many seconds.
    pub(super) fn takes(&mut self, name: &str, check: Check, seconds: u64) -> &mut Self {
        self.durations.insert((key(name), check), seconds);
        self
    }

    /// From now on the peer of this probe asks to be left alone for so many seconds.
    pub(super) fn asks_to_wait(&mut self, name: &str, check: Check, seconds: u64) -> &mut Self {
        self.waits.insert((key(name), check), seconds);
        self
    }

    pub(super) fn results(&self, name: &str) -> Results {
        self.schedule.results().remove(&key(name)).unwrap()
    }

    pub(super) fn begun(&self, name: &str, check: Check) -> Vec<u64> {
        self.events.iter().filter(|(_, of, kind)| of == name && *kind == check).map(|(second, _, _)| *second).collect()
    }

    /// Lets time pass up to this second, and does all that is to be done in it.
    pub(super) fn run_until(&mut self, second: u64) {
        loop {
            self.end_probes();
            match self.schedule.next(self.moment()) {
                Step::Look => self.look(),
                Step::Begin(job) => self.begin(job),
                Step::Gated(job, _) => self.note(&format!("{} {} is left alone", job.key, job.check.as_str())),
                Step::Wait { until } => {
                    let until = until.since(Moment::ORIGIN).as_secs();
                    let ends = self.running.iter().map(|(end, _)| *end).min().unwrap_or(u64::MAX);
                    let next = until.min(ends);
                    assert!(next > self.now, "a wait that is over");
                    if next > second {
                        self.now = second;
                        return;
                    }
                    self.now = next;
                }
            }
        }
    }

    fn look(&mut self) {
        let before = self.schedule.passes();
        self.schedule.look(self.moment(), self.objects.clone());
        if self.schedule.passes() > before {
            self.passes.push(self.now);
            self.note(&format!("pass {} begins", self.schedule.passes()));
        }
    }

    fn begin(&mut self, job: Job) {
        let duration = self.durations.get(&(job.key.clone(), job.check)).copied().unwrap_or(1);
        self.note(&format!("{} {} begins, generation {}", job.key, job.check.as_str(), job.generation()));
        self.events.push((self.now, job.key.to_string(), job.check));
        self.running.push((self.now + duration, job));
        assert!(self.running.len() <= 4, "more than 4 at a time");
    }

    fn end_probes(&mut self) {
        let (ended, running): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.running).into_iter().partition(|(end, _)| *end <= self.now);
        self.running = running;
        for (_, job) in ended {
            self.note(&format!("{} {} ends", job.key, job.check.as_str()));
            let gate = self.waits.get(&(job.key.clone(), job.check)).map(|wait| seconds(*wait));
            let said = match job.check {
                Check::Agent if gate.is_some() => Said::Agent(Outcome { reason: BackendReason::AgentBusy, gate }),
                Check::Agent => Said::Agent(Outcome::of(BackendReason::Ok)),
                Check::Channel if gate.is_some() => Said::Channel(Outcome { reason: ChannelReason::RateLimited, gate }),
                Check::Channel => Said::Channel(Outcome::of(ChannelReason::Ok)),
            };
            self.schedule.ended(&job, said, self.moment());
        }
    }

    fn moment(&self) -> Moment {
        Moment::after_origin(seconds(self.now))
    }

    fn note(&mut self, line: &str) {
        self.log.push(format!("t={} {line}", self.now));
    }
}

fn inputs(name: &str, uid: Uid) -> Inputs {
    let used = |kind: &str| Used {
        key: ObjectKey::new(key(name).namespace, format!("{kind}-{}", key(name).name)),
        uid: Uid(format!("{kind} of {name}")),
        generation: Generation(1),
    };
    let served = Served {
        generation: Generation(1),
        agent: AgentPeer {
            backend: used("backend"),
            url: BaseUrl::parse("http://agent.example").unwrap(),
            card_path: None,
            auth: None,
            tls: None,
        },
        chat: ChatPeer {
            connection: used("connection"),
            platform: "slack".to_owned(),
            url: BaseUrl::parse("https://chat.example").unwrap(),
            default_url: true,
            channel: "C1".to_owned(),
            settings: BTreeMap::new(),
            credential: CredentialPlace::Bearer,
            secret_ref: SecretRef { name: "bot".to_owned(), key: "token".to_owned() },
            tls: None,
        },
    };
    Inputs { uid, served, secrets: SecretVersions(vec!["1".to_owned()]) }
}
