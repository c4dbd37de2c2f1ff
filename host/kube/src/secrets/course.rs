//! Watches one Secret, for as long as it is wanted.

use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::AsyncBufRead;
use kourier_core::plan::Version;
use kourier_core::rule::{LABEL, NAME};
use kube::api::{GetParams, WatchParams};
use kube::core::Request;
use tokio::time::{Instant, timeout};

use super::wire::{Event, Lines, event, secret, whole};
use super::{Place, SecretData, SecretTrouble, Shared};
use crate::client::{ApiError, CALL, timely};
use crate::retry::{Backoff, Told, cause, seconds};

/// A watch that ends sooner is a failure.
const SHORT: Duration = Duration::from_secs(5);

/// The way of one Secret through reads and watches.
pub(super) struct Course {
    shared: Arc<Shared>,
    place: Place,
    ticket: u64,
    request: Request,
    watch: Duration,
    backoff: Backoff,
    told: Told,
    /// The version that was taken last, when it is a number: what a watch tells of older ones is past. Another look at
    /// the Secret begins anew, so a server that was restored from a backup is followed back.
    taken: Option<u64>,
}

/// Why a watch could not be opened or go on, for the operator.
#[derive(Debug)]
enum Fault {
    /// A call was refused or could not be made.
    Call(Verb, ApiError),
    /// The API server ended the watch with this status code.
    Ended(u16),
    /// Something else. The text says nothing of what was read.
    Other(&'static str),
}

/// What is asked of the API server. There is no list among it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    /// Read the Secret.
    Get,
    /// Watch the Secret by its name.
    Watch,
}

type Reader = Pin<Box<dyn AsyncBufRead + Send>>;

impl Course {
    pub(super) fn new(shared: Arc<Shared>, place: Place, ticket: u64) -> Self {
        let least = shared.rhythm.watch.as_secs();
        let more = RandomState::new().hash_one(&place).checked_rem(least).unwrap_or(0);
        Self {
            request: Request::new(format!("/api/v1/namespaces/{}/secrets", place.0)),
            watch: Duration::from_secs(least + more),
            backoff: Backoff::new(shared.rhythm.backoff, shared.rhythm.cap),
            told: Told::default(),
            taken: None,
            shared,
            place,
            ticket,
        }
    }

    /// Watches the Secret until the task is ended.
    pub(super) async fn follow(mut self) {
        // The names become a path and a selector.
        if LABEL.fault(&self.place.0).is_some() || NAME.fault(&self.place.1).is_some() {
            return self.put(Err(SecretTrouble::NotFound));
        }
        loop {
            if let Err(fault) = self.turn().await {
                self.tell(&fault);
                tokio::time::sleep(self.backoff.next()).await;
            }
        }
    }

    /// One watch, with a look at the Secret after it was opened: so nothing is missed in between.
    async fn turn(&mut self) -> Result<(), Fault> {
        let (lines, look) = self.begin().await;
        look?;
        let (mut lines, began) = (lines?, Instant::now());
        if self.told.is_over() {
            tracing::info!(secret = self.name(), "the Secret is watched again");
        }
        let ended = self.listen(&mut lines).await;
        if began.elapsed() < SHORT {
            return ended.and(Err(Fault::Other("its watch ended at once")));
        }
        self.backoff.reset();
        ended
    }

    /// Opens a watch and reads the Secret, when it is this one's turn.
    async fn begin(&mut self) -> (Result<Lines<Reader>, Fault>, Result<(), Fault>) {
        let shared = Arc::clone(&self.shared);
        let _turn = shared.openings.acquire().await;
        let lines = self.ask(Verb::Watch).await.map(Lines::new);
        (lines, self.look().await)
    }

    /// Reads the Secret, and says what is so.
    async fn look(&mut self) -> Result<(), Fault> {
        let answer = match self.ask(Verb::Get).await {
            Ok(reader) => timeout(CALL, whole(reader)).await,
            Err(fault) => return self.is_refused(fault),
        };
        let Ok(Ok(answer)) = answer else { return self.is_out_of_reach(Fault::Other("the answer was cut off")) };
        match secret(&answer, &self.place.1) {
            Ok(data) => {
                self.take(data);
                Ok(())
            }
            Err(_) => {
                self.put(Err(SecretTrouble::Unreadable));
                Err(Fault::Other("the answer is no such Secret"))
            }
        }
    }

    fn is_refused(&mut self, fault: Fault) -> Result<(), Fault> {
        match fault.code() {
            Some(404) => {
                self.taken = None;
                self.put(Err(SecretTrouble::NotFound));
                Ok(())
            }
            Some(403) => {
                self.put(Err(SecretTrouble::Forbidden));
                Err(fault)
            }
            _ => self.is_out_of_reach(fault),
        }
    }

    /// While the API server cannot be reached, what was read stays.
    fn is_out_of_reach(&self, fault: Fault) -> Result<(), Fault> {
        if self.shared.lacks(&self.place) {
            self.put(Err(SecretTrouble::Unreadable));
        }
        Err(fault)
    }

    async fn ask(&self, verb: Verb) -> Result<Reader, Fault> {
        let request = match verb {
            Verb::Get => self.request.get(&self.place.1, &GetParams::default()),
            // "0": what the server has in memory is told first, whatever its version.
            Verb::Watch => self.request.watch(&self.only(), "0"),
        };
        let failed = |error| Fault::Call(verb, error);
        let request = request.map_err(|error| failed(ApiError::Api(kube::Error::BuildRequest(error))))?;
        let reader = timely(CALL, self.shared.client.request_stream(request)).await.map_err(failed)?;
        Ok(Box::pin(reader))
    }

    /// The one Secret and no other: a right to watch it by name is judged by this.
    fn only(&self) -> WatchParams {
        WatchParams::default().timeout(seconds(self.watch)).fields(&format!("metadata.name={}", self.place.1))
    }

    async fn listen(&mut self, lines: &mut Lines<Reader>) -> Result<(), Fault> {
        let silence = self.watch + self.shared.rhythm.patience;
        loop {
            let Ok(line) = timeout(silence, lines.next()).await else {
                return Err(Fault::Other("its watch was silent for too long"));
            };
            let Ok(line) = line else { return Err(Fault::Other("its watch broke off")) };
            let Some(line) = line else { return Ok(()) };
            match event(line, &self.place.1) {
                Ok(Event::Is(data)) if self.is_past(&data.version) => {}
                Ok(Event::Is(data)) => self.take(data),
                Ok(Event::Deleted(version)) if self.is_past(&version) => {}
                Ok(Event::Deleted(_)) => self.put(Err(SecretTrouble::NotFound)),
                Ok(Event::Bookmark | Event::Foreign) => {}
                Ok(Event::Error(code)) => return Err(Fault::Ended(code)),
                Err(_) => return Err(Fault::Other("its watch told what cannot be read")),
            }
        }
    }

    fn take(&mut self, data: SecretData) {
        self.taken = data.version.0.parse().ok();
        self.put(Ok(Arc::new(data)));
    }

    /// Whether this is older than what was taken last. The same version is told again at the start of a watch.
    fn is_past(&self, version: &Version) -> bool {
        self.taken.zip(version.0.parse().ok()).is_some_and(|(taken, version): (u64, u64)| version < taken)
    }

    fn put(&self, found: Result<Arc<SecretData>, SecretTrouble>) {
        self.shared.put(&self.place, self.ticket, found);
    }

    fn name(&self) -> String {
        format!("{}/{}", self.place.0, self.place.1)
    }

    fn tell(&mut self, fault: &Fault) {
        let (text, cause) = (fault.text(), fault.cause());
        if self.told.is_news(&format!("{text}: {cause}")) {
            tracing::warn!(secret = self.name(), cause, "{text}");
        }
    }
}

impl Fault {
    fn code(&self) -> Option<u16> {
        match self {
            Self::Call(_, error) => error.code(),
            Self::Ended(_) | Self::Other(_) => None,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Call(verb, _) if self.code() == Some(403) => {
                format!("the broker may not {} a Secret: grant its account get and watch on it by name", verb.as_str())
            }
            Self::Call(verb, _) => format!("cannot {} a Secret, it is tried again", verb.as_str()),
            Self::Ended(_) | Self::Other(_) => "a Secret cannot be watched, it is tried again".to_owned(),
        }
    }

    fn cause(&self) -> String {
        match self {
            Self::Call(_, error) => cause(error),
            Self::Ended(code) => format!("the API server ended its watch with {code}"),
            Self::Other(text) => (*text).to_owned(),
        }
    }
}

impl Verb {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Watch => "watch",
        }
    }
}
