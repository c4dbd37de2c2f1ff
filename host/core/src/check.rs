//! What is wrong with a spec that could be read.

use crate::accept::Rules;
use crate::object::{AgentBackendSpec, BindingSpec, ChatConnectionSpec};
use crate::snapshot::Problem;

/// Every problem of a Binding that can be told from it alone.
#[must_use]
pub fn binding(_spec: &BindingSpec) -> Vec<Problem> {
    unimplemented!()
}

/// Every problem of an AgentBackend.
#[must_use]
pub fn backend(_spec: &AgentBackendSpec, _rules: &Rules) -> Vec<Problem> {
    unimplemented!()
}

/// Every problem of a ChatConnection.
#[must_use]
pub fn connection(_spec: &ChatConnectionSpec, _rules: &Rules) -> Vec<Problem> {
    unimplemented!()
}
