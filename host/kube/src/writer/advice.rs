//! What the operator can do about a write: said with it in the log.

use std::collections::BTreeSet;

use crate::api::FIELD_MANAGER;

/// What the operator can do about a write that failed of this cause; none where it is for the API server, or for time.
pub(super) fn of_failure(cause: &str) -> Option<&'static str> {
    let advice: [(&[&str], &str); 3] = [
        (&["field not declared in schema"], "update the CRDs: they are older than this program"),
        (
            &["422:", "status.conditions: Too many"],
            "conditions of other types, which somebody else wrote, fill the list: remove some of them",
        ),
        (&["403:"], "a right is missing: patch bindings/status of agentkourier.io"),
    ];
    advice.into_iter().find(|(signs, _)| signs.iter().all(|sign| cause.contains(sign))).map(|(_, advice)| advice)
}

/// What the operator can do about a fight with these managers.
pub(super) fn of_fight(managers: &BTreeSet<String>) -> String {
    let who = if managers.is_empty() {
        format!("somebody who writes as {FIELD_MANAGER}, perhaps a second broker of the same name, changes")
    } else {
        "somebody else changes".to_owned()
    };
    format!("{who} a status again and again: stop them. Until then it is put back rarely")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_can_mend_comes_with_what_to_do() {
        let check = |cause: &str, expected: &str| {
            let advice = of_failure(cause).unwrap_or_default();
            assert!(advice.contains(expected) && advice.is_empty() == expected.is_empty(), "{cause}: {advice}");
        };
        let full = "422: Binding.agentkourier.io \"a\" is invalid: status.conditions: Too many: 36: must have at most 32 items";
        check(full, "remove some");
        check("500: failed to create: .status.conditions[0].reason: field not declared in schema", "update the CRDs");
        check("403: bindings.agentkourier.io \"a\" is forbidden: User \"b\" cannot patch", "patch bindings/status");
        check("500: etcdserver: request timed out", "");
        check("422: Binding.agentkourier.io \"a\" is invalid: status: Required value", "");
    }
}
