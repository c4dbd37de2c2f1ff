//! A writer, an API server and a watch in virtual time, and a record of what happened.

use super::super::*;
use crate::condition::Finding;
use crate::message::Message;
use crate::reason::{AcceptedReason, BackendReason, ChannelReason, ReadyReason};

/// Seconds as milliseconds.
pub(super) const fn s(seconds: u64) -> u64 {
    seconds * 1000
}

/// How the server treats writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// It makes them.
    Well,
    /// It refuses them.
    Refuses,
    /// It makes them, and the answer is lost.
    LosesAnswers,
    /// It does not make them, and there is no answer.
    Hangs,
    /// It makes them without `status.observedGeneration`, which its CRD does not have.
    Prunes,
    /// It refuses them and asks not to be asked for so many seconds.
    AsksToWait(u64),
    /// It says that there is no such object.
    FindsNothing,
}

/// The object on the server.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) uid: Uid,
    pub(super) version: u64,
    pub(super) standing: Standing,
    pub(super) managers: BTreeSet<String>,
}

/// A write as it was sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) key: ObjectKey,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) put_back: bool,
    pub(super) conditions: Vec<Condition>,
    /// What the watch had shown when it was sent.
    pub(super) seen: Standing,
}

pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) now: u64,
    pub(super) server: BTreeMap<ObjectKey, Object>,
    pub(super) says: BTreeMap<ObjectKey, Assessment>,
    pub(super) mood: Mood,
    /// How long after a change the watch shows it.
    pub(super) lag: u64,
    /// How long a write takes; its effect is there at once.
    pub(super) takes: u64,
    pub(super) schema: String,
    /// Bindings of which nothing is to be said where their words stand: another broker speaks for them as well.
    pub(super) shared: BTreeSet<ObjectKey>,
    pub(super) sent: Vec<Sent>,
    pub(super) log: Vec<String>,
    cache: BTreeMap<ObjectKey, Object>,
    coming: Vec<(u64, ObjectKey, Object)>,
    under_way: Vec<(u64, Order, Answer)>,
    versions: u64,
    /// The cases of the last look: one of which nothing changed is the very same in the next.
    cases: BTreeMap<ObjectKey, Arc<Case>>,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            plan: Plan::new(Pace::default(), Moment::ORIGIN),
            now: 0,
            server: BTreeMap::new(),
            says: BTreeMap::new(),
            mood: Mood::Well,
            lag: 100,
            takes: 200,
            schema: "1".to_owned(),
            shared: BTreeSet::new(),
            sent: Vec::new(),
            log: Vec::new(),
            cache: BTreeMap::new(),
            coming: Vec::new(),
            under_way: Vec::new(),
            versions: 0,
            cases: BTreeMap::new(),
        }
    }

    /// Makes the object, or makes it again.
    pub(super) fn make(&mut self, name: &str) {
        self.versions += 1;
        let uid = Uid(format!("uid-{}", self.versions));
        let object = Object { uid, version: self.versions, standing: Standing::default(), managers: BTreeSet::new() };
        self.server.insert(key(name), object.clone());
        self.cache.insert(key(name), object);
        self.says.insert(key(name), ok(1));
    }

    /// Another leader takes over, who knows what the watch shows.
    pub(super) fn next_leader(&mut self) {
        self.plan = Plan::new(Pace::default(), self.moment());
        self.under_way.clear();
    }

    pub(super) fn say(&mut self, name: &str, assessment: Assessment) {
        self.says.insert(key(name), assessment);
    }

    /// Somebody else changes the reason of the first condition.
    pub(super) fn interfere(&mut self, name: &str, manager: &str) {
        self.change(name, |object| {
            if let Some(condition) = object.standing.conditions.first_mut() {
                condition.reason = "Vandalised".to_owned();
            }
            object.managers.insert(manager.to_owned());
        });
        self.note(&format!("{name} is changed by {manager}"));
    }

    /// Somebody else changes something that is not ours.
    pub(super) fn touch(&mut self, name: &str) {
        self.change(name, |_| ());
    }

    fn change(&mut self, name: &str, change: impl Fn(&mut Object)) {
        let Some(object) = self.server.get_mut(&key(name)) else { return };
        self.versions += 1;
        object.version = self.versions;
        change(object);
        self.coming.push((self.now + self.lag, key(name), object.clone()));
    }

    /// Lets time pass up to this millisecond, and does all that is to be done in it.
    pub(super) fn run_until(&mut self, until: u64) {
        loop {
            self.show();
            self.end_writes();
            match self.plan.next(self.moment()) {
                Step::Look => self.look(),
                Step::Take(key) => self.take(&key),
                Step::Wait { until: moment } => {
                    let moment = moment.since(Moment::ORIGIN).as_millis() as u64;
                    let shows = self.coming.iter().map(|(when, ..)| *when);
                    let ends = self.under_way.iter().map(|(when, ..)| *when);
                    let next = shows.chain(ends).min().unwrap_or(u64::MAX).min(moment);
                    assert!(next > self.now, "a wait that is over");
                    if next > until {
                        self.now = until;
                        return;
                    }
                    self.now = next;
                }
            }
        }
    }

    pub(super) fn moment(&self) -> Moment {
        Moment::after_origin(Duration::from_millis(self.now))
    }

    pub(super) fn settled(&self, name: &str) -> bool {
        self.server[&key(name)].standing.text() == self.case(&key(name)).unwrap().wanted()
    }

    fn case(&self, key: &ObjectKey) -> Option<Case> {
        let object = self.cache.get(key)?;
        let case = Case {
            uid: object.uid.clone(),
            version: Version(object.version.to_string()),
            standing: object.standing.clone(),
            managers: object.managers.clone(),
            assessment: self.says.get(key)?.clone(),
        };
        let is_said = case.standing.text() == case.wanted();
        (!self.shared.contains(key) || !is_said).then_some(case)
    }

    fn look(&mut self) {
        let same = |key: &ObjectKey, case: Case| match self.cases.get(key).filter(|before| ***before == case) {
            Some(before) => Arc::clone(before),
            None => Arc::new(case),
        };
        self.cases = self.cache.keys().filter_map(|key| Some((key.clone(), same(key, self.case(key)?)))).collect();
        let notes = self.plan.look(self.moment(), &self.schema, &self.cases);
        for (key, note) in notes {
            self.hear(&key, &note);
        }
    }

    fn take(&mut self, key: &ObjectKey) {
        let case = self.case(key);
        let clock = Timestamp(1_000_000 + (self.now / 1000) as i64);
        let Some(order) = self.plan.take(self.moment(), clock, key, case.as_ref()) else { return };
        let what = if order.put_back { "put back" } else { "write" };
        let ready = order.conditions.last().unwrap();
        self.note(&format!("{key} {what}: Ready {} {} since {}", ready.status, ready.reason, since(ready)));
        self.sent.push(Sent {
            key: key.clone(),
            begin: self.now,
            end: self.now + self.takes,
            put_back: order.put_back,
            conditions: order.conditions.clone(),
            seen: case.unwrap().standing,
        });
        let answer = self.serve(&order);
        self.under_way.push((self.now + self.takes, order, answer));
        assert!(self.under_way.len() <= 4, "more than 4 at a time");
    }

    /// What the server does with a write.
    fn serve(&mut self, order: &Order) -> Answer {
        match self.mood {
            Mood::Refuses => return Answer::Failed(Failure { code: Some(403), wait: None }),
            Mood::Hangs => return Answer::InDoubt(Failure::default()),
            Mood::AsksToWait(seconds) => {
                return Answer::Failed(Failure { code: Some(429), wait: Some(Duration::from_secs(seconds)) });
            }
            Mood::FindsNothing => return Answer::Stale,
            Mood::Well | Mood::LosesAnswers | Mood::Prunes => {}
        }
        let Some(object) = self.server.get(&order.key) else { return Answer::Stale };
        if object.version.to_string() != order.version.0 {
            return Answer::Stale;
        }
        let observed_generation = (self.mood != Mood::Prunes).then_some(order.observed_generation);
        let standing = Standing { conditions: order.conditions.clone(), observed_generation };
        let kept = standing.clone();
        self.change(&format!("{}", order.key), move |object| object.standing = kept.clone());
        let version = Version(self.server[&order.key].version.to_string());
        if self.mood == Mood::LosesAnswers {
            Answer::InDoubt(Failure::default())
        } else {
            Answer::Written { version, standing }
        }
    }

    /// The watch shows what it has by now.
    fn show(&mut self) {
        let (shown, coming) =
            std::mem::take(&mut self.coming).into_iter().partition::<Vec<_>, _>(|(when, ..)| *when <= self.now);
        self.coming = coming;
        for (_, key, object) in shown {
            // An object that was made again meanwhile is not shown as its predecessor, and no watch goes back in time.
            if self.cache.get(&key).is_some_and(|seen| seen.uid == object.uid && seen.version < object.version) {
                self.cache.insert(key, object);
            }
        }
    }

    fn end_writes(&mut self) {
        let (ended, under_way) =
            std::mem::take(&mut self.under_way).into_iter().partition::<Vec<_>, _>(|(when, ..)| *when <= self.now);
        self.under_way = under_way;
        for (_, order, answer) in ended {
            match answer {
                Answer::Written { .. } => {}
                Answer::Stale => self.note(&format!("{} Stale", order.key)),
                Answer::Failed(_) => self.note(&format!("{} Failed", order.key)),
                Answer::InDoubt(_) => self.note(&format!("{} InDoubt", order.key)),
            }
            for note in self.plan.answered(self.moment(), &order, answer) {
                self.hear(&order.key, &note);
            }
        }
    }

    fn hear(&mut self, key: &ObjectKey, note: &Note) {
        match note {
            Note::PutBack => {}
            Note::Unseen => self.note(&format!("{key} has no newer version in the watch")),
            Note::Failing { failures, wait, first } => {
                let warning = if *first { "warning" } else { "quiet" };
                self.note(&format!("{key} failure {failures}, wait {} s, {warning}", wait.as_secs()));
            }
            Note::Pruned => self.note(&format!("{key} was pruned")),
            Note::Fight { managers } => {
                let managers: Vec<_> = managers.iter().map(String::as_str).collect();
                self.note(&format!("{key} is fought over by {}", managers.join(", ")));
            }
        }
    }

    fn note(&mut self, line: &str) {
        self.log.push(format!("t={} {line}", self.now as f64 / 1000.0));
    }
}

fn since(condition: &Condition) -> i64 {
    condition.last_transition_time.0 - 1_000_000
}

pub(super) fn key(name: &str) -> ObjectKey {
    let (namespace, name) = name.split_once('/').unwrap();
    ObjectKey::new(namespace, name)
}

fn finding<R>(reason: R, generation: i64) -> Finding<R> {
    Finding { reason, message: Message::default(), observed_generation: Generation(generation) }
}

/// All is well with this generation.
pub(super) fn ok(generation: i64) -> Assessment {
    Assessment::Served {
        accepted: finding(AcceptedReason::Ok, generation),
        backend: finding(BackendReason::Ok, generation),
        channel: finding(ChannelReason::Ok, generation),
        ready: finding(ReadyReason::Ok, generation),
    }
}

/// The agent of this generation does not answer.
pub(super) fn unreachable(generation: i64) -> Assessment {
    Assessment::Served {
        accepted: finding(AcceptedReason::Ok, generation),
        backend: finding(BackendReason::Unreachable, generation),
        channel: finding(ChannelReason::Ok, generation),
        ready: finding(ReadyReason::Backend(BackendReason::Unreachable), generation),
    }
}

/// This generation is refused, and none is served.
pub(super) fn refused(generation: i64) -> Assessment {
    Assessment::NotServed {
        accepted: finding(AcceptedReason::InvalidSpec, generation),
        ready: finding(ReadyReason::Accepted(AcceptedReason::InvalidSpec), generation),
    }
}
