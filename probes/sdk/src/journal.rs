//! Words for the operator's log. They never reach a status, a metric or another tenant.
//!
//! The host cuts a text at 512 bytes, escapes control characters, masks a credential in it, and takes 16 lines of a run.

use crate::bindings::agent_world::agentkourier::probe::journal as host;

/// Says why the verdict is what it is. The host logs it together with the verdict.
///
/// Name members and rules. What a peer wrote is not for the log: it may be long, and it may be somebody's secret.
///
/// # Panics
///
/// Always, where there is no host: on the build machine.
pub fn cause(text: &str) {
    host::cause(text);
}

/// Says something that the verdict does not depend on and that the operator may want to mend.
///
/// # Panics
///
/// Always, where there is no host: on the build machine.
pub fn advise(text: &str) {
    host::advise(text);
}
