//! Words for the operator's log. They never reach a status, a metric or another tenant.
//!
//! The host cuts a text at 512 bytes, escapes control characters, masks a credential in it, and takes 16 lines of a run.

use crate::bindings::agent_world::agentkourier::probe::journal as host;

/// Says why the verdict is what it is. The host logs it together with the verdict.
///
/// Name members and rules. What a peer wrote is not for the log: it may be long, and it may be somebody's secret.
///
/// Where there is no host, on the build machine, it does nothing: a decision can be tested with its words.
pub fn cause(text: &str) {
    if cfg!(target_arch = "wasm32") {
        host::cause(text);
    }
}

/// Says something that the verdict does not depend on and that the operator may want to mend.
///
/// Where there is no host, on the build machine, it does nothing.
pub fn advise(text: &str) {
    if cfg!(target_arch = "wasm32") {
        host::advise(text);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_is_said_where_there_is_no_host() {
        super::cause("why");
        super::advise("what to mend");
    }
}
