//! The types of the SDK that the agent probe's modules use, without the code that makes a component of them.

#![allow(dead_code, reason = "the measured modules use a part of what the SDK has")]

pub(crate) use crate::json;

/// Of `kourier_probe_sdk::agent`.
pub(crate) mod agent {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Verdict {
        Ok,
        Unreachable,
        AgentNotFound,
        AgentUnauthorized,
        AgentRedirected,
        AgentError,
        InvalidAgentCard,
        UnsupportedProtocol,
        AgentBusy(Option<u32>),
    }
}

/// Of `kourier_probe_sdk::endpoint`.
pub(crate) mod endpoint {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Failure {
        Unreachable,
        TimedOut,
        TooLarge,
        InvalidRequest,
        Spent,
    }

    pub(crate) struct Request {
        pub(crate) path: String,
        pub(crate) headers: Vec<(String, String)>,
    }

    impl Request {
        pub(crate) fn get(path: impl Into<String>) -> Self {
            Self { path: path.into(), headers: Vec::new() }
        }

        pub(crate) fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
            self.headers.push((name.into(), value.into()));
            self
        }
    }

    pub(crate) struct Response {
        pub(crate) status: u16,
        pub(crate) body: Vec<u8>,
    }

    impl Response {
        pub(crate) fn retry_after(&self) -> Option<u32> {
            None
        }
    }
}
