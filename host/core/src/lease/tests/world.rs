//! A server with one Lease, candidates whose calls are delayed, lost or late, and a clock.

use super::*;

/// What becomes of the calls of a candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Milliseconds until a call is at the server. A call that its candidate gave up arrives all the same.
    pub(super) there: u64,
    /// Milliseconds until the answer is back.
    pub(super) back: u64,
    /// Whether the server is reached, and its answer comes.
    pub(super) loses: Loses,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loses {
    Nothing,
    Calls,
    Answers,
    /// Nothing, but the server answers each write with an error, and writes nothing.
    Refuses,
}

pub(super) const WELL: Link = Link { there: 10, back: 10, loses: Loses::Nothing };

pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) election: Election,
    pub(super) link: Link,
    /// Its process does not run before this time.
    pub(super) frozen: u64,
    pub(super) running: bool,
    pub(super) has_seen: bool,
    /// Milliseconds on its clock in a second of the world's.
    rate: u64,
    calling: Option<Calling>,
    wakes: u64,
    leads: bool,
}

struct Calling {
    number: u64,
    sent: u64,
    deadline: u64,
    answer: Option<(u64, Answer)>,
}

struct OnItsWay {
    at: u64,
    number: u64,
    step: Step,
    link: Link,
}

pub(super) struct World {
    /// Milliseconds.
    pub(super) now: u64,
    pub(super) candidates: Vec<Candidate>,
    pub(super) log: Vec<String>,
    /// Whether renewals are logged.
    pub(super) wordy: bool,
    pub(super) lease: Option<(Record, u64)>,
    counter: u64,
    on_their_way: Vec<OnItsWay>,
}

impl World {
    pub(super) fn new() -> Self {
        let (candidates, log, on_their_way) = (Vec::new(), Vec::new(), Vec::new());
        Self { now: 0, candidates, log, wordy: false, lease: None, counter: 0, on_their_way }
    }

    /// A candidate starts; the seconds of its clock are so many milliseconds long.
    pub(super) fn start(&mut self, name: &str, rate: u64) -> usize {
        self.candidates.push(Candidate {
            name: name.to_owned(),
            election: Election::new(name, Timing::default()).unwrap(),
            link: WELL,
            frozen: 0,
            running: true,
            has_seen: false,
            rate,
            calling: None,
            wakes: self.now,
            leads: false,
        });
        self.candidates.len() - 1
    }

    /// The process is gone; calls that it sent may still arrive.
    pub(super) fn kill(&mut self, index: usize) {
        self.candidates[index].running = false;
        self.note_claims();
    }

    pub(super) fn resign(&mut self, index: usize) {
        let now = self.now;
        let candidate = &mut self.candidates[index];
        candidate.election.resign();
        candidate.wakes = now;
        self.note_claims();
    }

    /// Somebody writes the Lease by hand.
    pub(super) fn put(&mut self, record: Record) {
        self.counter += 1;
        self.lease = Some((record, self.counter));
    }

    /// Somebody changes what does not matter.
    pub(super) fn touch(&mut self) {
        if let Some((record, _)) = self.lease.clone() {
            self.put(record);
        }
    }

    pub(super) fn delete(&mut self) {
        self.lease = None;
    }

    pub(super) fn leaders(&self) -> Vec<&str> {
        let leading = self.candidates.iter().filter(|candidate| candidate.claims(self.now));
        leading.map(|candidate| candidate.name.as_str()).collect()
    }

    pub(super) fn run_until(&mut self, end: u64) {
        while let Some(next) = self.next_event().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.arrive();
            for index in 0..self.candidates.len() {
                self.turn(index);
                self.note_claims();
            }
        }
        self.now = end;
        self.note_claims();
    }

    fn next_event(&self) -> Option<u64> {
        let arrivals = self.on_their_way.iter().map(|call| call.at);
        let running = self.candidates.iter().filter(|candidate| candidate.running);
        arrivals.chain(running.map(Candidate::next_event)).min()
    }

    fn arrive(&mut self) {
        let now = self.now;
        let (arrived, later) = std::mem::take(&mut self.on_their_way).into_iter().partition(|call| call.at <= now);
        self.on_their_way = later;
        let mut arrived: Vec<OnItsWay> = arrived;
        arrived.sort_by_key(|call| call.at);
        for OnItsWay { number, step, link, .. } in arrived {
            let answer = self.serve(step, link.loses);
            let Some(answer) = answer.filter(|_| link.loses != Loses::Answers) else { continue };
            for calling in self.candidates.iter_mut().filter_map(|candidate| candidate.calling.as_mut()) {
                if calling.number == number {
                    calling.answer = Some((now + link.back, answer.clone()));
                }
            }
        }
    }

    fn serve(&mut self, step: Step, loses: Loses) -> Option<Answer> {
        let stands = self.lease.as_ref().map(|(_, version)| version.to_string());
        Some(match step {
            _ if loses == Loses::Calls => return None,
            Step::Read => match &self.lease {
                Some((record, number)) => Answer::Found(record.clone(), version(*number)),
                None => Answer::Missing,
            },
            Step::Write(_) if loses == Loses::Refuses => Answer::Failed,
            Step::Write(Write { version: Some(_), .. }) if stands.is_none() => Answer::Missing,
            Step::Write(write) if write.version.as_ref().map(|version| &version.0) != stands.as_ref() => {
                Answer::Conflict
            }
            Step::Write(write) => {
                if self.wordy || write.purpose != Purpose::Renew {
                    let Record { holder, transitions, .. } = &write.record;
                    self.log.push(format!(
                        "t={} {:?} by '{holder}', {transitions} changes",
                        time(self.now),
                        write.purpose
                    ));
                }
                self.put(write.record.clone());
                Answer::Stored(write, version(self.counter))
            }
            Step::Wait { .. } | Step::Done => return None,
        })
    }

    fn turn(&mut self, index: usize) {
        let (now, counter) = (self.now, self.counter);
        let candidate = &mut self.candidates[index];
        if !candidate.running || candidate.next_event() > now {
            return;
        }
        if candidate.calling.is_some() && !candidate.hear(now, counter) {
            return;
        }
        let moment = candidate.moment(now);
        match candidate.election.next(moment) {
            Step::Wait { until } => {
                // The first millisecond of the world's at which its clock is there.
                let wait = u64::try_from(until.since(moment).as_millis()).unwrap() * 1000 / candidate.rate;
                candidate.wakes = now + wait.max(1);
            }
            Step::Done => candidate.running = false,
            step @ (Step::Read | Step::Write(_)) => self.send(index, step),
        }
    }

    fn send(&mut self, index: usize, step: Step) {
        self.counter += 1;
        let (now, number) = (self.now, self.counter);
        let candidate = &mut self.candidates[index];
        let moment = candidate.moment(now);
        let left = candidate.election.claim(moment).map_or(u64::MAX, |until| {
            u64::try_from(until.since(moment).as_millis()).unwrap() * 1000 / candidate.rate + 1
        });
        let deadline = now + 3000.min(left);
        candidate.calling = Some(Calling { number, sent: now, deadline, answer: None });
        let link = candidate.link;
        self.on_their_way.push(OnItsWay { at: now + link.there, number, step, link });
    }

    /// Whether anything changed for someone: who leads, as each sees it.
    fn note_claims(&mut self) {
        let now = self.now;
        for candidate in &mut self.candidates {
            let leads = candidate.claims(now);
            if leads != candidate.leads {
                let what = if leads { "leads" } else { "leads no more" };
                self.log.push(format!("t={} {} {what}", time(now), candidate.name));
                candidate.leads = leads;
            }
        }
        let leaders = self.leaders();
        assert!(leaders.len() <= 1, "t={} {leaders:?} all lead\n{}", time(now), self.log.join("\n"));
    }
}

impl Candidate {
    /// Its clock.
    fn moment(&self, now: u64) -> Moment {
        Moment::after_origin(Duration::from_micros(now * self.rate))
    }

    fn claims(&self, now: u64) -> bool {
        self.running && self.election.claim(self.moment(now)).is_some()
    }

    fn next_event(&self) -> u64 {
        let own = match &self.calling {
            None => self.wakes,
            Some(calling) => calling.answer.as_ref().map_or(calling.deadline, |(at, _)| calling.deadline.min(*at)),
        };
        own.max(self.frozen)
    }

    /// Takes the answer, or gives the call up. Whether it ended.
    fn hear(&mut self, now: u64, chance: u64) -> bool {
        let Some(calling) = self.calling.take() else { return false };
        // Of a call whose process did not run for a while, the answer counts that came after its deadline.
        let answer = match calling.answer {
            Some((at, answer)) if at <= now => answer,
            _ => Answer::Failed,
        };
        self.has_seen |= matches!(answer, Answer::Found(..) | Answer::Stored(..));
        let jitter = u8::try_from(chance * 37 % 256).unwrap();
        let call = Call { sent: self.moment(calling.sent), ended: self.moment(now), jitter };
        self.election.answered(answer, call);
        true
    }
}

fn time(millis: u64) -> String {
    format!("{}.{:02}", millis / 1000, millis % 1000 / 10)
}
