//! Why a list or a watch ended, and what the operator should hear of it.

use kourier_core::id::Kind;
use kourier_core::object::GROUP;
use kube::core::Status;

use crate::client::ApiError;
use crate::retry::{Told, cause};

/// What was asked of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// A list.
    List,
    /// A watch.
    Watch,
}

/// Why a list or a watch ended.
#[derive(Debug)]
pub(super) enum Fault {
    /// Nothing can be told from where the watch was: everything is to be listed.
    Lost(Lost),
    /// The call was refused, or could not be made.
    Call(Verb, ApiError),
    /// The watch broke off.
    Broken(ApiError),
    /// The watch was silent for longer than the API server keeps one open.
    Silent,
    /// The watch ended at once, without an error.
    Short,
}

/// Why nothing can be told from where a watch was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The API server does not remember as far back.
    Expired,
    /// The API server is at an older version than it was.
    Restored,
    /// An object is not what the watch told.
    Blind,
    /// An event could not be read.
    Unreadable,
    /// A list or an object without a version.
    Unversioned,
}

impl Fault {
    /// What ended a watch that was open.
    pub(super) fn stream(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::status(*status),
            kube::Error::SerdeError(_) => Self::Lost(Lost::Unreadable),
            error => Self::Broken(ApiError::Api(error)),
        }
    }

    /// What the API server said in a watch that was open.
    pub(super) fn status(status: Status) -> Self {
        if status.code == 410 {
            Self::Lost(Lost::Expired)
        } else {
            Self::Broken(ApiError::Api(kube::Error::Api(Box::new(status))))
        }
    }

    /// Whether everything is to be listed. That is so as well when the kind is not there, and when the start of a watch
    /// is answered with what is otherwise an event of it.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Lost(_) => true,
            Self::Call(_, error) => matches!(error.code(), Some(404 | 410)),
            Self::Broken(_) | Self::Silent | Self::Short => false,
        }
    }

    /// Whether what was known may be of a history that is gone.
    pub(super) const fn casts_doubt(&self) -> bool {
        matches!(self, Self::Lost(Lost::Restored | Lost::Blind))
    }

    /// Tells the operator what is new.
    pub(super) fn tell(&self, kind: Kind, told: &mut Told) {
        let (text, cause) = (self.text(kind), self.cause());
        match self {
            Self::Lost(_) => tracing::info!(kind = kind.as_str(), "{text}"),
            Self::Call(..) | Self::Broken(_) | Self::Silent | Self::Short => {
                if told.is_news(&format!("{text}: {cause}")) {
                    tracing::warn!(kind = kind.as_str(), cause, "{text}");
                }
            }
        }
    }

    /// What is so, and what can be done about it.
    fn text(&self, kind: Kind) -> String {
        let resource = format!("{}.{GROUP}", kind.plural());
        match self {
            Self::Lost(lost) => format!("{}: all objects of this kind are listed anew", lost.as_str()),
            Self::Call(verb, error) if error.code() == Some(403) => {
                let verb = verb.as_str();
                format!("the broker may not {verb} {resource}: grant its account get, list and watch in all namespaces")
            }
            Self::Call(_, error) if error.code() == Some(404) => {
                format!("there is no {resource} in this cluster: install the CRDs (agent-kourier crds prints them)")
            }
            Self::Call(verb, _) => format!("cannot {} {resource}, it is tried again", verb.as_str()),
            Self::Broken(_) => format!("the watch of {resource} broke off, it is opened again"),
            Self::Silent => format!("the watch of {resource} was silent for too long, it is opened again"),
            Self::Short => format!("the watch of {resource} ended at once, it is opened again"),
        }
    }

    fn cause(&self) -> String {
        match self {
            Self::Call(_, error) | Self::Broken(error) => cause(error),
            Self::Lost(_) | Self::Silent | Self::Short => String::new(),
        }
    }
}

impl Verb {
    const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Watch => "watch",
        }
    }
}

impl Lost {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "the API server does not remember as far back",
            Self::Restored => "the API server is at an older version than it was",
            Self::Blind => "a watch did not tell of a change",
            Self::Unreadable => "an event could not be read",
            Self::Unversioned => "an answer had no version",
        }
    }
}

#[cfg(test)]
mod tests {
    use kourier_core::id::Kind;
    use kube::core::Status;

    use super::{Fault, Lost, Verb};
    use crate::client::ApiError;

    fn refused(code: u16) -> Fault {
        let status = Status { code, message: "said".to_owned(), ..Status::default() };
        Fault::Call(Verb::Watch, ApiError::Api(kube::Error::Api(Box::new(status))))
    }

    #[test]
    fn a_missing_right_is_named_with_what_to_grant() {
        let text = refused(403).text(Kind::AgentBackend);
        let right = "the broker may not watch agentbackends.agentkourier.io: grant its account get, list and watch";
        assert!(text.starts_with(right), "{text}");
        assert_eq!(refused(403).cause(), "said");
    }

    #[test]
    fn a_crd_that_is_not_there_is_named_with_where_to_get_it() {
        let text = refused(404).text(Kind::Binding);
        assert!(text.contains("no bindings.agentkourier.io") && text.contains("agent-kourier crds"), "{text}");
    }

    #[test]
    fn what_cannot_be_resumed_is_listed_anew() {
        let gone = Status { code: 410, ..Status::default() };
        let busy = Status { code: 500, ..Status::default() };
        assert!(Fault::status(gone.clone()).is_lost());
        assert!(Fault::stream(kube::Error::Api(Box::new(gone))).is_lost());
        assert!(!Fault::status(busy).is_lost());
        assert!(refused(410).is_lost() && refused(404).is_lost());
        assert!(!refused(403).is_lost() && !refused(500).is_lost());
        assert!(Fault::Lost(Lost::Restored).is_lost());
        assert!(!Fault::Silent.is_lost() && !Fault::Short.is_lost());
    }

    #[test]
    fn an_event_that_cannot_be_read_is_not_passed_over() {
        let error = serde_json::from_str::<u8>("x").unwrap_err();
        assert!(Fault::stream(kube::Error::SerdeError(error)).is_lost());
    }
}
