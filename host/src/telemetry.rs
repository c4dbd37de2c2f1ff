//! The log: one line an event, facts in fields.
//!
//! The event is the message. `cause` is why, for the operator alone: it may name what a status must not. What is
//! absent: secrets, which no type of ours prints.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogFormat, LogSettings};

/// Starts the log, on standard error.
///
/// # Errors
///
/// When the level is not a filter, or a log was started before.
pub fn init(settings: &LogSettings) -> anyhow::Result<()> {
    let mut filter = EnvFilter::try_new(&settings.level)?;
    // The client logs each failed call again, and answers that it cannot read in full.
    if !settings.level.contains("kube_client") {
        filter = filter.add_directive("kube_client=off".parse()?);
    }
    // Who reads the log may go away: the broker serves on, and does not panic in the attempt to say so.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).log_internal_errors(false);
    match settings.format {
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).finish().try_init()?,
        LogFormat::Text => log.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).finish().try_init()?,
    }
    Ok(())
}
