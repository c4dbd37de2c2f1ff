//! A Slack that can be told what to be: a workspace with channels, members and tokens, on a loopback port.
//!
//! `users.conversations`, `conversations.info` and `auth.test`, as GET with a query or POST with a form; cursors, scopes,
//! organisations' tokens, limits of requests with 429 and `Retry-After`, and faults by script. Archiving a channel
//! removes its bots, as Slack does. Every answer is built from the state, none is canned: what a test sees is what a
//! change of the workspace does.
//!
//! What is absent: messages, events, user tokens, and every method that a probe of channels does not need.

mod control;
mod seed;
mod server;
mod traffic;
mod workspace;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use seed::{Limits, Seed};
pub use traffic::{Fault, Limit};
pub use workspace::{Channel, Token, Workspace};

use traffic::Traffic;

/// A running Slack. It ends when it is dropped.
pub struct FakeSlack {
    shared: Arc<Shared>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// What the server and the test both hold.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    workspace: Workspace,
    traffic: Traffic,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FakeSlack {
    /// Starts a Slack with this workspace on a free loopback port.
    ///
    /// # Errors
    ///
    /// When there is no port.
    pub async fn start(workspace: Workspace) -> std::io::Result<Self> {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), workspace).await
    }

    /// [`Self::start`] at this address; port 0 is any free one.
    ///
    /// # Errors
    ///
    /// When the address is not this machine's own (the control routes ask nobody who he is), or cannot be had.
    pub async fn start_at(address: SocketAddr, workspace: Workspace) -> std::io::Result<Self> {
        if !address.ip().is_loopback() {
            return Err(std::io::Error::other("a fake listens on a loopback address only"));
        }
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        shared.state().workspace = workspace;
        let routes = server::routes(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, routes).await {
                tracing::error!(%error, "the fake Slack ended");
            }
        });
        Ok(Self { shared, address, task })
    }

    /// The base URL, as a ChatConnection has it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the workspace.
    pub fn change<T>(&self, change: impl FnOnce(&mut Workspace) -> T) -> T {
        change(&mut self.shared.state().workspace)
    }

    /// Archives a channel, which removes its bots. Yields whether there is one.
    pub fn archive(&self, channel: &str) -> bool {
        self.change(|workspace| workspace.archive(channel))
    }

    /// Adds a user to a channel. Yields whether there is one.
    pub fn invite(&self, channel: &str, user: &str) -> bool {
        self.change(|workspace| workspace.invite(channel, user))
    }

    /// Removes a user from a channel. Yields whether there is one.
    pub fn kick(&self, channel: &str, user: &str) -> bool {
        self.change(|workspace| workspace.kick(channel, user))
    }

    /// Makes a token answer with this error code, for example `token_revoked`. Yields whether there is one.
    pub fn revoke(&self, token: &str, code: &str) -> bool {
        self.change(|workspace| workspace.revoke(token, code))
    }

    /// Sets how many requests each token may make to a method. None: as many as it likes.
    pub fn limit(&self, method: &str, limit: Option<Limit>) {
        self.shared.state().traffic.limit(method, limit);
    }

    /// Makes the next requests to a method meet this fault, after the faults that were asked for before.
    pub fn fault(&self, method: &str, fault: Fault, times: u32) {
        self.shared.state().traffic.fault(method, fault, times);
    }

    /// Takes back the faults that were not met yet.
    pub fn clear_faults(&self) {
        self.shared.state().traffic.clear_faults();
    }

    /// How many requests a method got, refused ones included.
    #[must_use]
    pub fn requests(&self, method: &str) -> u64 {
        self.shared.state().traffic.requests(method)
    }

    /// How many requests all methods got.
    #[must_use]
    pub fn all_requests(&self) -> u64 {
        self.shared.state().traffic.counts().values().sum()
    }

    /// Waits until the server ends, which it does not do by itself.
    pub async fn join(mut self) {
        let _ = (&mut self.task).await;
    }
}

impl Drop for FakeSlack {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A limit of Slack's Tier 3: 50 requests a minute.
pub const TIER_3: Limit = Limit { requests: 50, window: Duration::from_secs(60) };
