//! A guest that tries to tell another Binding's run a word.
//!
//! What a run finds, says, and sends has to be the same whether another run told the word before, meanwhile, or never. Two
//! ways are left, and the docs name them: how long things take, and the answers that one pass shares between those who
//! ask the same question with the same credential.

use std::sync::Arc;

use futures::future::join_all;
use kourier_core::reason::ChannelReason;
use kourier_sandbox::{Pass, Run, Transport};
use suite::peer::{Act, Peer, Seen, answer, send};

use super::Rogue;
use crate::case::{Case, Checked};
use crate::world::{PEERS, near};

/// The word, as both know it: the one who listens never has its halves side by side.
pub(super) const WORD: &[(&str, &str)] = &[("head", "7d41-told-"), ("tail", "9ab2-heard")];
/// The same, as it is told.
const WHOLE: &str = "7d41-told-9ab2-heard";

/// Runs that tell it.
const TELLERS: usize = 2;

pub(super) fn cases() -> Vec<Case> {
    let case =
        |name: &str, place: fn(&World) -> Place| Case::new(format!("guest::tells-{name}"), move || unheard(place));
    vec![
        case("a-run-with-another-peer", |world| world.place(&world.other, "second")),
        case("a-run-with-another-peer-and-the-same-credential", |world| world.place(&world.other, "first")),
        case("a-run-with-another-credential", |world| world.place(&world.honest, "second")),
        case("a-run-of-the-next-pass", |world| {
            let pass: Arc<dyn Transport> = Arc::new(Pass::new(near()));
            Place { pass, ..world.place(&world.honest, "first") }
        }),
        Case::new("guest::tells-a-run-of-the-same-pass-by-a-shared-answer-and-no-other-way", shared),
    ]
}

/// The tellers have the honest and the sticky peer, the credential `first`, and the pass.
struct World {
    /// Answers whoever asks in the same words.
    honest: Arc<Peer>,
    /// The same for others.
    other: Arc<Peer>,
    /// Leaves what a server can leave with whoever asks it.
    sticky: Arc<Peer>,
    pass: Arc<dyn Transport>,
}

/// Where a run is, as far as another one could reach it.
struct Place {
    peer: Arc<Peer>,
    secret: &'static str,
    pass: Arc<dyn Transport>,
}

impl World {
    async fn new() -> Self {
        let [honest, other] =
            [start(|_| vec![answer("200 OK", "", b"{}")]), start(|_| vec![answer("200 OK", "", b"{}")])];
        let (honest, other, sticky) = futures::join!(honest, other, start(stick));
        Self { honest, other, sticky, pass: Arc::new(Pass::new(near())) }
    }

    fn place(&self, peer: &Arc<Peer>, secret: &'static str) -> Place {
        Place { peer: Arc::clone(peer), secret, pass: Arc::clone(&self.pass) }
    }

    async fn tell(&self) -> Checked {
        tell(&self.honest, &self.pass).await?;
        tell(&self.sticky, &self.pass).await
    }
}

async fn start(script: fn(&Seen) -> Vec<Act>) -> Arc<Peer> {
    Arc::new(PEERS.spawn(Peer::start(script)).await.expect("no panic").expect("a port"))
}

/// An answer with all that a client may keep, and a second one behind it.
fn stick(seen: &Seen) -> Vec<Act> {
    let fields = format!(
        "set-cookie: word={WHOLE}; Path=/\r\netag: \"{WHOLE}\"\r\ncache-control: public, max-age=86400, immutable\r\n\
         strict-transport-security: max-age=86400\r\nalt-svc: h2=\"127.0.0.1:{}\"; ma=86400; persist=1\r\n\
         www-authenticate: Basic realm=\"{WHOLE}\"\r\nkeep-alive: timeout=86400\r\n",
        seen.connection % 60_000 + 1
    );
    let glued = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{WHOLE}", WHOLE.len());
    vec![answer("200 OK", &fields, WHOLE.as_bytes()), send(glued)]
}

/// What a run that listens said.
#[derive(Debug, PartialEq, Eq)]
struct Heard {
    reason: ChannelReason,
    told: Vec<String>,
    requests: u32,
    dropped: u32,
}

async fn listen(place: &Place) -> Result<Heard, String> {
    let run = run("hear", place).await;
    if run.fault.is_some() {
        return Err(format!("it could not listen: {run:?}"));
    }
    let told = run.causes.into_iter().chain(run.advice).collect();
    Ok(Heard { reason: run.outcome.reason, told, requests: run.requests, dropped: run.dropped })
}

async fn run(behaviour: &str, place: &Place) -> Run<ChannelReason> {
    let Place { peer, secret, pass } = place;
    Rogue { behaviour, settings: WORD, url: &peer.url(), secret, transport: Arc::clone(pass) }.run().await
}

/// Tells the word to whoever listens. In its own journal it may stand.
async fn tell(peer: &Arc<Peer>, pass: &Arc<dyn Transport>) -> Checked {
    let place = Place { peer: Arc::clone(peer), secret: "first", pass: Arc::clone(pass) };
    let runs = join_all((0..TELLERS).map(|_| run("tell", &place))).await;
    let is_told = |run: &Run<ChannelReason>| run.fault.is_none() && run.advice == [WHOLE];
    if runs.iter().all(is_told) { Ok(()) } else { Err(format!("the word was not told: {runs:?}")) }
}

/// A run at `place` hears nothing, of what is told while it runs and of what was told before: it ends as where nobody
/// told anything, and the peer is sent the same.
async fn unheard(place: fn(&World) -> Place) -> Checked {
    // Another world for each who listens, so that none hears what another one of them asked.
    let (silent, before, meanwhile) = futures::join!(World::new(), World::new(), World::new());
    let silence = (listen(&place(&silent)).await?, sent(&place(&silent), 0));
    if silence.0.reason != ChannelReason::Ok || silence.1.len() != 2 {
        return Err(format!("there is something to hear where nobody told anything: {silence:?}"));
    }
    before.tell().await?;
    let there = place(&before);
    let old = there.peer.seen().len();
    let after = (listen(&there).await?, sent(&there, old));
    let there = place(&meanwhile);
    let (told, heard) = futures::join!(meanwhile.tell(), listen(&there));
    told?;
    let during = heard?;
    if after != silence || during != silence.0 {
        return Err(format!("{after:?} after it was told, {during:?} while it was, {silence:?} where it was not"));
    }
    Ok(())
}

/// What the peer of a run was sent since it had seen `old` requests. Its port is another in each world.
fn sent(place: &Place, old: usize) -> Vec<String> {
    let is_same = |line: &&str| !line.starts_with("host: ");
    let text = |seen: Seen| seen.head.lines().filter(is_same).collect::<Vec<_>>().join("\n");
    let mut sent: Vec<_> = place.peer.seen().split_off(old).into_iter().map(text).collect();
    sent.sort();
    sent
}

/// The one who asks the same question in the same pass with the same credential is given the answer that another one got,
/// and the peer does not see that it asked.
async fn shared() -> Checked {
    let repeats = start(|_| vec![answer("200 OK", "", WHOLE.as_bytes())]).await;
    let place = Place { peer: repeats, secret: "first", pass: Arc::new(Pass::new(near())) };
    tell(&place.peer, &place.pass).await?;
    let old = place.peer.seen().len();
    let heard = listen(&place).await?;
    if heard.told != ["the word is in an answer"] || heard.reason != ChannelReason::AccessRestricted {
        return Err(format!("it did not hear the answer that was there for it: {heard:?}"));
    }
    // Having heard it, it asks no second time, and its first question is not sent again.
    let sent = sent(&place, old);
    if sent.is_empty() { Ok(()) } else { Err(format!("the peer was asked again: {sent:?}")) }
}
