//! Whether a guest's request is one that may be sent.

use kourier_core::request::{check_header, check_path};

use crate::bindings::endpoint::{Method, Request};
use crate::limits::Limits;

/// Fields of a request.
const FIELDS: usize = 32;

/// Checks a whole request. `credential` is the name of the field that carries the credential, in lower case.
///
/// # Errors
///
/// Which rule it breaks.
pub(crate) fn check(request: &Request, credential: Option<&str>, limits: &Limits) -> Result<(), String> {
    check_path(&request.path)?;
    if request.headers.len() > FIELDS {
        return Err(format!("more than {FIELDS} headers"));
    }
    request.headers.iter().try_for_each(|header| check_header(&header.name, &header.value, credential))?;
    match (&request.body, request.method) {
        (Some(_), Method::Get) => Err("a GET with a body".to_owned()),
        (Some(body), Method::Post) if body.len() > limits.request_body => {
            Err(format!("a body of more than {} bytes", limits.request_body))
        }
        _ => Ok(()),
    }
}
