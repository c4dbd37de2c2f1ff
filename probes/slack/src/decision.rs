//! Which question to ask Slack next, and what its answers come to: a state machine without a network.
//!
//! First the listing of the bot's own conversations. Its requests are the same, byte for byte, for every channel of a
//! connection, so that the host makes them once a pass. A channel that stands there is decided. One that does not costs
//! a request of its own: a listing never says why a channel is missing. A listing that failed for a reason that is
//! every channel's settles the check; one that was cut, ran in a circle or is too large tells nothing, and the call for
//! the one channel decides.
//!
//! Archived is looked at before membership: Slack removes bots from a channel when it is archived, and an invitation
//! would not help.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use kourier_probe_sdk::chat::Verdict;
use kourier_probe_sdk::endpoint::{Failure, Response};

use crate::codes;
use crate::reading::{self, Answer, Conversation, Cursor};

/// Entries of a page. 200 are 130 to 400 kB, well below the body limit of 1 MiB.
const PAGE: u32 = 200;
/// Entries of a page of the second walk: another number, because whoever shares answers would repeat the first walk's.
const PAGE_AGAIN: u32 = 199;
/// Pages that are read of the listing, over both walks.
pub(crate) const MAX_PAGES: usize = 24;
/// Bytes that are read of the listing, over both walks, if its pages go on as large as they were. A run has 200 ms of CPU
/// time, and the answer for the one channel may have another megabyte: six of the smallest values took 140 to 200 ms of it.
pub(crate) const MAX_BYTES: usize = 3 << 20;
/// Bytes of a path that the host takes.
const MAX_PATH: usize = 2048;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Send a GET for this path and give the answer to [`Check::next`].
    Get(String),
    /// The check is over.
    Done(Finding),
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// What was found.
    pub(crate) verdict: Verdict,
    /// Why, for the operator's log. None with `ok`.
    pub(crate) cause: Option<String>,
    /// What the operator may want to mend although the channel is well: a listing that cannot be used.
    pub(crate) advice: Option<String>,
}

/// One check of one channel.
pub(crate) struct Check {
    channel: String,
    team: Option<String>,
    stage: Stage,
    /// Entries of a page of this walk.
    limit: u32,
    /// The cursors of this walk so far.
    cursors: Vec<String>,
    /// Pages so far, of both walks.
    pages: usize,
    /// Bytes so far.
    bytes: usize,
    /// Bytes of the largest answer so far.
    largest: usize,
}

/// What was asked for last.
enum Stage {
    /// A page of the listing.
    Listing,
    /// The one channel, after a listing that is complete, or tells nothing for this reason.
    Channel { untold: Option<String> },
}

impl Check {
    /// Begins the check of a channel, in the workspace `team` if the token is an organisation's. Yields the first path.
    pub(crate) fn begin(channel: &str, team: Option<&str>) -> (Self, String) {
        let check = Self {
            channel: channel.to_owned(),
            team: team.map(ToOwned::to_owned),
            stage: Stage::Listing,
            limit: PAGE,
            cursors: Vec::new(),
            pages: 0,
            bytes: 0,
            largest: 0,
        };
        let path = check.page(None);
        (check, path)
    }

    /// Takes the answer to the last request.
    pub(crate) fn next(&mut self, answer: Result<Response, Failure>) -> Step {
        let said = self.understand(answer);
        match &mut self.stage {
            Stage::Listing => self.after_page(said),
            Stage::Channel { untold } => {
                let untold = untold.take();
                Step::Done(after_channel(&self.channel, said, untold))
            }
        }
    }

    fn understand(&mut self, answer: Result<Response, Failure>) -> Said {
        match answer {
            Ok(response) => {
                self.bytes = self.bytes.saturating_add(response.body.len());
                self.largest = self.largest.max(response.body.len());
                understand(&response, &self.channel)
            }
            Err(failure) => Said::Nothing(failure),
        }
    }

    fn after_page(&mut self, said: Said) -> Step {
        self.pages += 1;
        match said {
            Said::Answer(answer) => self.read_page(answer),
            Said::Error { code, verdict, cause } => match code.as_deref() {
                Some("invalid_cursor") => self.walk_again(cause),
                _ if settles(code.as_deref(), &verdict) => {
                    Step::Done(Finding { verdict, cause: Some(on_listing(&cause)), advice: None })
                }
                _ => self.ask_channel(Some(cause)),
            },
            // Too late for another question.
            Said::Nothing(Failure::TimedOut) => {
                let cause = Some(on_listing("no whole answer in time"));
                Step::Done(Finding { verdict: Verdict::PlatformTimeout, cause, advice: None })
            }
            Said::Nothing(failure) => self.ask_channel(Some(no_answer(failure).to_owned())),
        }
    }

    fn read_page(&mut self, answer: Answer) -> Step {
        if let Some(Conversation { is_archived: Some(archived), .. }) = answer.listed {
            let (verdict, cause) = if archived {
                (Verdict::ChannelArchived, Some(on_listing("is_archived")))
            } else {
                (Verdict::Ok, None)
            };
            return Step::Done(Finding { verdict, cause, advice: None });
        }
        if answer.listed.is_some() {
            return self.ask_channel(Some("an entry without is_archived".to_owned()));
        }
        if !answer.whole || !answer.has_list {
            return self.ask_channel(Some("a page that is not whole".to_owned()));
        }
        match answer.cursor {
            Cursor::End => self.ask_channel(None),
            Cursor::Next(cursor) => self.turn_page(cursor),
            Cursor::Unusable => self.ask_channel(Some("a cursor that cannot be sent back".to_owned())),
        }
    }

    fn turn_page(&mut self, cursor: String) -> Step {
        if self.pages >= MAX_PAGES || self.bytes.saturating_add(self.largest) > MAX_BYTES {
            return self.ask_channel(Some("more than a check reads".to_owned()));
        }
        if self.cursors.contains(&cursor) {
            return self.ask_channel(Some("the same cursor again".to_owned()));
        }
        let path = self.page(Some(&cursor));
        if path.len() > MAX_PATH {
            return self.ask_channel(Some("a cursor that cannot be sent back".to_owned()));
        }
        self.cursors.push(cursor);
        Step::Get(path)
    }

    /// A cursor that went stale: from the first page, once.
    fn walk_again(&mut self, cause: String) -> Step {
        if self.limit == PAGE_AGAIN || self.pages >= MAX_PAGES {
            return self.ask_channel(Some(cause));
        }
        self.limit = PAGE_AGAIN;
        self.cursors.clear();
        Step::Get(self.page(None))
    }

    fn ask_channel(&mut self, untold: Option<String>) -> Step {
        self.stage = Stage::Channel { untold };
        Step::Get(format!("/conversations.info?channel={}", encode(&self.channel)))
    }

    fn page(&self, cursor: Option<&str>) -> String {
        let limit = self.limit;
        let mut path =
            format!("/users.conversations?types=public_channel%2Cprivate_channel&exclude_archived=false&limit={limit}");
        for (name, value) in [("team_id", self.team.as_deref()), ("cursor", cursor)] {
            if let Some(value) = value {
                path.push_str(&format!("&{name}={}", encode(value)));
            }
        }
        path
    }
}

/// What an answer says, whatever the question.
enum Said {
    /// `ok: true`.
    Answer(Answer),
    /// An error code, or a status that says enough.
    Error { code: Option<String>, verdict: Verdict, cause: String },
    /// Nothing arrived.
    Nothing(Failure),
}

/// The statuses first that come with any body: HTML on 5xx, plain text on 429. Then the code, then the status.
fn understand(response: &Response, channel: &str) -> Said {
    let status = response.status;
    let by_status = |verdict| Said::Error { code: None, verdict, cause: format!("HTTP {status}") };
    match status {
        429 => return by_status(Verdict::RateLimited(response.retry_after())),
        500..=599 => return by_status(Verdict::PlatformUnavailable),
        _ => {}
    }
    let answer = reading::read(&response.body, channel);
    match (answer.ok, answer.error) {
        (Some(false), Some(code)) => {
            let needed = answer.needed.map(|needed| format!(" (needed: {})", word(&needed))).unwrap_or_default();
            let verdict = codes::verdict(&code, response.retry_after());
            Said::Error { cause: format!("{}{needed}", word(&code)), verdict, code: Some(code) }
        }
        (Some(true), error) if (200..300).contains(&status) => Said::Answer(Answer { error, ..answer }),
        (Some(_) | None, _) => by_status(Verdict::UnexpectedAnswer),
    }
}

/// A code or a list of scopes as the log may have it: whatever else a peer wrote stays out.
fn word(text: &str) -> &str {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_:.,-".contains(&byte);
    if (1..=64).contains(&text.len()) && text.bytes().all(is_word) { text } else { "a code that is not one" }
}

fn settles(code: Option<&str>, verdict: &Verdict) -> bool {
    codes::settles_every_channel(code.unwrap_or_default(), verdict)
}

fn after_channel(channel: &str, said: Said, untold: Option<String>) -> Finding {
    let (verdict, cause) = match said {
        Said::Answer(answer) => judge(channel, &answer, untold.is_none()),
        Said::Error { verdict, cause, .. } => (verdict, cause),
        Said::Nothing(failure) => {
            let verdict = match failure {
                Failure::Unreachable => Verdict::PlatformUnavailable,
                Failure::TimedOut => Verdict::PlatformTimeout,
                Failure::InvalidRequest | Failure::TooLarge | Failure::Spent => Verdict::UnexpectedAnswer,
            };
            (verdict, no_answer(failure).to_owned())
        }
    };
    let untold = untold.map(|why| on_listing(&why));
    if matches!(verdict, Verdict::Ok) {
        let advice = untold.map(|why| format!("{why}: each channel of this connection costs a request of its own"));
        return Finding { verdict, cause: None, advice };
    }
    let cause = format!("conversations.info: {cause}");
    let cause = untold.map_or_else(|| cause.clone(), |why| format!("{cause}; {why}"));
    Finding { verdict, cause: Some(cause), advice: None }
}

/// What the channel's own object says; `complete`: the listing was read to its end and does not have the channel.
fn judge(channel: &str, answer: &Answer, complete: bool) -> (Verdict, String) {
    let Some(found) = answer.channel.as_ref().filter(|_| answer.whole) else {
        return (Verdict::UnexpectedAnswer, "no whole channel object".to_owned());
    };
    if found.id.as_deref() != Some(channel) {
        return (Verdict::UnexpectedAnswer, "another channel's object".to_owned());
    }
    let (verdict, cause) = match (found.is_archived, found.is_im, found.is_member) {
        (Some(true), ..) => (Verdict::ChannelArchived, "is_archived"),
        (_, Some(true), _) => (Verdict::InvalidChannel, "a direct message"),
        (None, ..) => (Verdict::UnexpectedAnswer, "no is_archived"),
        (Some(false), _, Some(true)) => (Verdict::Ok, ""),
        (Some(false), _, Some(false)) => (Verdict::NotInChannel, "is_member is false"),
        (Some(false), _, None) if complete => (Verdict::NotInChannel, "not in the listing, which is complete"),
        (Some(false), _, None) => (Verdict::UnexpectedAnswer, "no is_member"),
    };
    (verdict, cause.to_owned())
}

fn on_listing(why: &str) -> String {
    format!("users.conversations: {why}")
}

fn no_answer(failure: Failure) -> &'static str {
    match failure {
        Failure::InvalidRequest => "the host refused the request",
        Failure::Unreachable => "no answer",
        Failure::TimedOut => "no whole answer in time",
        Failure::TooLarge => "an answer that is too large",
        Failure::Spent => "no request left",
    }
}

/// Percent-encodes everything but unreserved characters.
fn encode(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests;
