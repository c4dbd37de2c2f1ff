//! From what a guest asks to what goes on the wire.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kourier_core::request::is_token;
use kourier_core::rule::is_host_header;
use url::Url;
use zeroize::Zeroizing;

use crate::bindings::{Response, endpoint as wit};
use crate::endpoint::{Credential, Endpoint};
use crate::transport::{HttpRequest, HttpResponse, Method};

/// The default User-Agent.
const USER_AGENT: &str = concat!("agent-kourier/", env!("CARGO_PKG_VERSION"));
/// Fields of an answer that a guest may see.
const FIELDS: usize = 100;
/// Fields of an answer that are the connection's own business, or a session's.
const NOT_FOR_GUESTS: [&str; 8] =
    ["set-cookie", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade"];

/// An [`Endpoint`] whose URL is parsed and whose credential has its form on the wire.
pub(crate) struct Peer {
    pub(crate) endpoint: Endpoint,
    base: Url,
    /// The header that carries the credential: name and value.
    header: Option<(String, Zeroizing<String>)>,
    /// What stands between the base and the guest's path, with its slash.
    path_prefix: Zeroizing<String>,
}

/// The credential cannot be put where it belongs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnusableCredential(pub(crate) &'static str);

impl Peer {
    pub(crate) fn new(endpoint: Endpoint) -> Result<Self, UnusableCredential> {
        let base = Url::parse(endpoint.base.as_str()).map_err(|_| UnusableCredential("the configured URL is none"))?;
        let mut peer = Self { base, header: None, path_prefix: Zeroizing::default(), endpoint };
        match &peer.endpoint.credential {
            None => {}
            Some(Credential::Header { name, prefix, secret }) => {
                let value = Zeroizing::new(format!("{prefix}{}", secret.expose()));
                peer.header = Some(header(name, value)?);
            }
            Some(Credential::Basic { user, secret }) => {
                peer.header = Some(header("authorization", basic(user, secret.expose())?)?);
            }
            Some(Credential::PathPrefix { prefix, secret }) => peer.path_prefix = path_prefix(prefix, secret.expose())?,
        }
        Ok(peer)
    }

    /// The name of the header that carries the credential.
    pub(crate) fn credential_header(&self) -> Option<&str> {
        self.header.as_ref().map(|(name, _)| name.as_str())
    }

    /// The request as it goes on the wire; none when the joined URL would leave the base.
    pub(crate) fn outgoing(&self, request: wit::Request) -> Option<HttpRequest> {
        let url = self.url(&request.path)?;
        let mut headers: Vec<(String, String)> =
            request.headers.into_iter().map(|header| (header.name.to_ascii_lowercase(), header.value)).collect();
        if !headers.iter().any(|(name, _)| name == "user-agent") {
            headers.push(("user-agent".to_owned(), USER_AGENT.to_owned()));
        }
        headers.push(("accept-encoding".to_owned(), "identity".to_owned()));
        headers.extend(self.header.as_ref().map(|(name, value)| (name.clone(), value.to_string())));
        Some(HttpRequest {
            method: match request.method {
                wit::Method::Get => Method::Get,
                wit::Method::Post => Method::Post,
            },
            url,
            headers,
            body: request.body.map(Into::into),
            trust: self.endpoint.trust.clone(),
            absolute_name: self.endpoint.absolute_name,
        })
    }

    /// Joins and looks again: whatever the parser made of the text, it has to lie below the base.
    fn url(&self, path: &str) -> Option<Url> {
        let prefix = self.base.path().trim_end_matches('/');
        let text =
            Zeroizing::new(format!("{}{}{path}", self.endpoint.base.as_str().trim_end_matches('/'), *self.path_prefix));
        let url = Url::parse(&text).ok()?;
        let below = url.path().strip_prefix(prefix)?.strip_prefix(self.path_prefix.as_str())?.starts_with('/');
        let same = url.origin() == self.base.origin() && url.username().is_empty() && url.fragment().is_none();
        (below && same).then_some(url)
    }
}

fn header(name: &str, value: Zeroizing<String>) -> Result<(String, Zeroizing<String>), UnusableCredential> {
    let name = name.to_ascii_lowercase();
    if !is_token(&name) || is_host_header(&name) {
        return Err(UnusableCredential("its header cannot carry a credential"));
    }
    if value.chars().any(char::is_control) || value.trim() != value.as_str() {
        return Err(UnusableCredential("it has characters that cannot stand in a header"));
    }
    Ok((name, value))
}

fn basic(user: &str, secret: &str) -> Result<Zeroizing<String>, UnusableCredential> {
    if user.contains(':') {
        return Err(UnusableCredential("its user name has a colon"));
    }
    let pair = Zeroizing::new(format!("{user}:{secret}"));
    Ok(Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes()))))
}

fn path_prefix(prefix: &str, secret: &str) -> Result<Zeroizing<String>, UnusableCredential> {
    let text = Zeroizing::new(format!("/{prefix}{secret}"));
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:!$&'()*+,;=@".contains(&byte);
    if text.len() == 1 || !text[1..].bytes().all(fits) || ["/.", "/.."].contains(&text.as_str()) {
        return Err(UnusableCredential("it has characters that cannot stand in a path"));
    }
    Ok(text)
}

/// What the guest sees of an answer.
pub(crate) fn incoming(response: HttpResponse) -> Response {
    let headers = response
        .headers
        .into_iter()
        .filter(|(name, _)| !NOT_FOR_GUESTS.contains(&name.as_str()))
        .take(FIELDS)
        .map(|(name, value)| wit::Header { name, value })
        .collect();
    Response { status: response.status, headers, body: response.body }
}

#[cfg(test)]
mod tests;
