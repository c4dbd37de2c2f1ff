//! The closed sets of reasons, each with its status and the sentence that a reader of a status sees.
//!
//! This is the only place that spells a reason. A sentence says what is so and what the reader can do. It never names
//! a host, an address, a port, text of another object or a number that a peer sent; where the cause cannot be said it
//! points to the operator's log.

use std::fmt;

/// `status` of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It is so.
    True,
    /// It is not so.
    False,
    /// It could not be told.
    Unknown,
}

impl Status {
    /// As it is written in a condition.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `type` of a condition, in the order in which conditions are written and Ready looks at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionType {
    /// The broker took the Binding as written.
    Accepted,
    /// A fresh fetch of the agent's card worked and the card can be used.
    BackendReachable,
    /// The bot is in the channel, which exists and is not archived.
    ChannelJoined,
    /// Every other condition is True.
    Ready,
}

impl ConditionType {
    /// The four types, in order.
    pub const ALL: [Self; 4] = [Self::Accepted, Self::BackendReachable, Self::ChannelJoined, Self::Ready];

    /// As it is written in a condition.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "Accepted",
            Self::BackendReachable => "BackendReachable",
            Self::ChannelJoined => "ChannelJoined",
            Self::Ready => "Ready",
        }
    }
}

impl fmt::Display for ConditionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Declares one closed set: per reason its status, what it means, and what the reader of a status can do. A status's
/// message is the two put together, so the tables of the docs and the messages are the same words.
macro_rules! reasons {
    ($(#[$doc:meta])* $set:ident { $($(#[$rdoc:meta])* $reason:ident => $status:ident, $means:literal, $act:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $set {
            $($(#[$rdoc])* #[doc = $means] $reason,)+
        }

        impl $set {
            /// Every reason of the set, in order.
            pub const ALL: &'static [Self] = &[$(Self::$reason),+];

            /// As it is written in a condition.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::Ok => "OK",
                    #[allow(unreachable_patterns, reason = "the arm of Ok stands above")]
                    $(Self::$reason => stringify!($reason),)+
                }
            }

            /// The status of a condition with this reason.
            #[must_use]
            pub const fn status(self) -> Status {
                match self { $(Self::$reason => Status::$status),+ }
            }

            /// What is so: one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$reason => $means),+ }
            }

            /// What the reader of a status can do: a sentence or two, empty when there is nothing to do.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$reason => $act),+ }
            }
        }

        impl fmt::Display for $set {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

reasons! {
    /// Reasons of `Accepted`. The order of the refusals is the page's: the first that applies is the reason.
    AcceptedReason {
        Ok => True, "The broker took the Binding as written.", "";
        InvalidSpec => False, "The Binding fails the broker's checks.", "Mend the fields that the message names.";
        BackendNotFound => False, "spec.agent.backendRef names no AgentBackend.", "Create it, or mend the reference.";
        BackendRejected => False, "The AgentBackend that the Binding names is invalid.",
            "Mend the AgentBackend; if it had a good generation, that one runs meanwhile.";
        ConnectionNotFound => False, "spec.chat.connectionRef names no ChatConnection.", "Create it, or mend the reference.";
        ConnectionRejected => False, "The ChatConnection that the Binding names is invalid.",
            "Mend the ChatConnection; if it had a good generation, that one runs meanwhile.";
        NamespaceNotAllowed => False,
            "The AgentBackend or ChatConnection is in another namespace and does not allow this one.",
            "Ask its owner to add this namespace to its allowedNamespaces.";
        ChannelConflict => False, "Another Binding on the same ChatConnection holds the channel.",
            "Choose another channel, or remove the older Binding.";
    }
}

reasons! {
    /// Reasons of `BackendReachable`.
    BackendReason {
        Ok => True, "The agent answers with a card that the broker can use.", "";
        Pending => Unknown, "The first probe of the agent has not ended.", "Wait for the next pass.";
        Unreachable => False, "The agent does not answer.",
            "Check that it runs and that the AgentBackend's url leads to it; the operator's log has the cause.";
        AgentNotFound => False, "There is no agent card where one was looked for.",
            "Check the AgentBackend's url and cardPath and the Binding's agent.path.";
        AgentUnauthorized => False, "The agent does not let the broker read its card.",
            "Check the AgentBackend's auth and the Secret that it names.";
        AgentRedirected => False, "The agent answers with a redirect, and redirects are not followed.",
            "Give the AgentBackend the url at which the agent itself answers.";
        AgentError => False, "The agent answers with an error.",
            "Look into the agent's own log; the operator's log has the cause.";
        InvalidAgentCard => False, "What the agent serves is not an agent card that the broker can use.",
            "A card is a JSON object of at most 1 MiB with a name and a url; the operator's log has the cause.";
        UnsupportedProtocol => False, "The agent's card offers no protocol version and binding that the broker speaks.",
            "The broker speaks A2A 0.3 and 1.x over JSONRPC and HTTP+JSON.";
        AgentBusy => Unknown, "The agent asked to be asked again later.", "The broker tries again.";
        ProbeTimeout => Unknown, "The probe ran past its deadline, so nothing can be told.",
            "The broker tries again; the operator's log has the cause.";
        ProbeFailed => Unknown, "The probe itself failed, so nothing can be told.",
            "Ask the operator of the broker; the operator's log has the cause.";
        CredentialUnavailable => False, "The Secret that the AgentBackend names, or its key, is missing or cannot be used.",
            "Create the Secret with that key, in the AgentBackend's namespace, and let the broker read it.";
    }
}

reasons! {
    /// Reasons of `ChannelJoined`.
    ChannelReason {
        Ok => True, "The bot is in the channel.", "";
        Pending => Unknown, "The first probe of the channel has not ended.", "Wait for the next pass.";
        ChannelNotFound => False, "The platform shows the bot no such channel.",
            "Check the channel's id; if the channel is private, invite the bot to it: platforms do not tell these apart.";
        ChannelArchived => False, "The channel is archived, closed or replaced.",
            "Restore it and invite the bot again, or name another channel.";
        NotInChannel => False, "The channel exists, and the bot is not in it.",
            "Invite the bot to this channel; that it is installed is not enough.";
        CredentialsRejected => False, "The platform does not take the bot's credential.",
            "Put a valid one into the Secret that the ChatConnection names: this one is revoked, expired or of the wrong kind.";
        MissingScope => False, "The bot's credential lacks a permission to look at the channel.",
            "Grant the bot the permission to read channels and their members.";
        AccessRestricted => False, "A rule of the organisation or workspace keeps the bot out, or the credential is another workspace's.",
            "Ask who administers the workspace.";
        InvalidChannel => False, "The conversation is of a kind that cannot be bound, or the workspace needs a setting that is missing.",
            "Name a channel, and check the ChatConnection's settings; the operator's log has the cause.";
        RateLimited => Unknown, "The platform asked the broker to wait.", "The broker waits and tries again.";
        PlatformTimeout => Unknown, "The platform did not answer in time.", "The broker tries again.";
        PlatformUnavailable => Unknown, "The platform cannot be reached, or says that it has an error of its own.",
            "The broker tries again; the operator's log has the cause.";
        UnexpectedAnswer => Unknown, "The platform gave an answer that the probe does not know, so nothing can be told.",
            "Ask the operator of the broker; the operator's log has the cause.";
        ProbeTimeout => Unknown, "The probe ran past its deadline, so nothing can be told.",
            "The broker tries again; the operator's log has the cause.";
        ProbeFailed => Unknown, "The probe itself failed, so nothing can be told.",
            "Ask the operator of the broker; the operator's log has the cause.";
        CredentialUnavailable => False, "The Secret that the ChatConnection names, or its key, is missing or cannot be used.",
            "Create the Secret with that key, in the ChatConnection's namespace, and let the broker read it.";
    }
}

/// Reasons of `Ready`: its own two, and `<type>:<reason>` of the first condition that holds it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadyReason {
    /// Every other condition is True.
    Ok,
    /// The prober has not listed the Binding yet.
    Pending,
    /// The Binding is not accepted.
    Accepted(AcceptedReason),
    /// The agent holds it back.
    Backend(BackendReason),
    /// The channel holds it back.
    Channel(ChannelReason),
}

impl ReadyReason {
    /// The status of Ready with this reason: that of the condition that holds it back.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Ok => Status::True,
            Self::Pending => Status::Unknown,
            Self::Accepted(reason) => reason.status(),
            Self::Backend(reason) => reason.status(),
            Self::Channel(reason) => reason.status(),
        }
    }

    /// What is so: one sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "The Binding works.",
            Self::Pending => "The broker has not looked at the agent and the channel yet.",
            Self::Accepted(reason) => reason.meaning(),
            Self::Backend(reason) => reason.meaning(),
            Self::Channel(reason) => reason.meaning(),
        }
    }

    /// What the reader of a status can do: empty when there is nothing to do.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Ok => "",
            Self::Pending => "Wait for the first pass.",
            Self::Accepted(reason) => reason.advice(),
            Self::Backend(reason) => reason.advice(),
            Self::Channel(reason) => reason.advice(),
        }
    }
}

impl fmt::Display for ReadyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("OK"),
            Self::Pending => f.write_str("Pending"),
            Self::Accepted(reason) => write!(f, "{}:{reason}", ConditionType::Accepted),
            Self::Backend(reason) => write!(f, "{}:{reason}", ConditionType::BackendReachable),
            Self::Channel(reason) => write!(f, "{}:{reason}", ConditionType::ChannelJoined),
        }
    }
}

#[cfg(test)]
mod tests;
