//! The way to the API server: from the pod's service account, or from a kubeconfig.
//!
//! The client's own retries are off: a write that is tried again within one call outlives the claim it was made under,
//! and a backoff within a backoff is none. Nor does it have a deadline for reading, because a watch is silent for
//! minutes: [`timely`] gives one to each call that is not a watch.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::header::HeaderValue;
pub use kube::Client;
use kube::Config;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};

use crate::gate;

/// How long a call may take that is not a watch. 5 s: two of them end within the 15 s after which another may lead.
pub const CALL: Duration = Duration::from_secs(5);

/// Where the API server is, and who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The kubeconfig; none: `KUBECONFIG`, then `~/.kube/config`, then the pod's service account.
    pub kubeconfig: Option<PathBuf>,
    /// The context in it; none: its current one.
    pub context: Option<String>,
}

/// Why there is no way to the API server, or how a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The kubeconfig or service account cannot be used.
    #[error("no way to an API server: {0}")]
    Access(String),
    /// There was no answer in time.
    #[error("the API server did not answer within {}", time(*.0))]
    Timeout(Duration),
    /// The API server refused, or could not be reached.
    #[error(transparent)]
    Api(#[from] kube::Error),
}

/// In seconds where it is whole ones.
fn time(time: Duration) -> String {
    if time.subsec_nanos() == 0 { format!("{} s", time.as_secs()) } else { format!("{} ms", time.as_millis()) }
}

impl ApiError {
    /// The status code with which the API server refused; none when it did not answer.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Api(kube::Error::Api(status)) => Some(status.code),
            Self::Api(_) | Self::Access(_) | Self::Timeout(_) => None,
        }
    }
}

/// An API server and the way to it.
#[derive(Clone)]
pub struct Server {
    /// The way.
    pub client: Client,
    config: Config,
    /// Its host, a name or an address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The namespace of the pod, or of the kubeconfig's context.
    pub namespace: String,
}

/// The API server of `access`. Nothing is asked of it.
///
/// # Errors
///
/// When the kubeconfig, or the pod's service account, cannot be used.
pub async fn server(access: &Access) -> Result<Server, ApiError> {
    let mut config = config(access).await?;
    check_tokens(&config.auth_info)?;
    config.default_retry = false;
    config.connect_timeout = Some(CALL);
    config.read_timeout = None;
    // The environment's proxies are nobody's say on whom the broker talks to; a kubeconfig brings them along.
    config.proxy_url = None;
    let (url, namespace) = (config.cluster_url.clone(), config.default_namespace.clone());
    let https = url.scheme_str() != Some("http");
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = url.port_u16().unwrap_or(if https { 443 } else { 80 });
    let client = Client::try_from(config.clone()).map_err(no_way)?;
    Ok(Server { client, config, host, port, namespace })
}

impl Server {
    /// A way for writes that must not be made late: it heeds a server that stands still. As [`server`], it may run the
    /// plugin of a kubeconfig, and block.
    ///
    /// # Errors
    ///
    /// When there are no credentials.
    pub fn writes(&self) -> Result<Client, ApiError> {
        gate::client(&self.config).map_err(no_way)
    }
}

/// What an exec plugin printed, and its environment, are in such an error: neither is for a log.
fn no_way(error: kube::Error) -> ApiError {
    match error {
        kube::Error::Auth(_) => {
            ApiError::Access("the user of the kubeconfig has no credentials: run its plugin by hand".to_owned())
        }
        error => said(&error),
    }
}

/// What a reader of a kubeconfig says, in one line. Those after it show the place in the file, where credentials stand.
fn said(error: &dyn std::error::Error) -> ApiError {
    ApiError::Access(error.to_string().lines().next().unwrap_or_default().to_owned())
}

/// A client for the API server of `access`.
///
/// # Errors
///
/// As those of [`server`].
pub async fn client(access: &Access) -> Result<Client, ApiError> {
    Ok(server(access).await?.client)
}

async fn config(access: &Access) -> Result<Config, ApiError> {
    let options = KubeConfigOptions { context: access.context.clone(), ..KubeConfigOptions::default() };
    let config = match &access.kubeconfig {
        Some(file) => match Kubeconfig::read_from(regular(file)?) {
            Ok(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options).await,
            Err(error) => Err(error),
        },
        None if access.context.is_some() => Config::from_kubeconfig(&options).await,
        None => return Config::infer().await.map_err(|error| said(&error)),
    };
    config.map_err(|error| said(&error))
}

/// Whether the user's tokens can stand in a header. Of one that cannot, the client panics; of one in a file, it says so
/// with each call. The token that a plugin prints is the client's alone to see.
fn check_tokens(user: &AuthInfo) -> Result<(), ApiError> {
    // The type of a token shows its text only when it is serialised.
    let shown = AuthInfo { token: user.token.clone(), ..AuthInfo::default() };
    let shown = serde_json::to_value(shown).map_err(|error| said(&error))?;
    let provided = user.auth_provider.as_ref().and_then(|provider| provider.config.get("id-token"));
    let read = match &user.token_file {
        Some(file) if user.token.is_none() => Some(read_token(Path::new(file))?),
        Some(_) | None => None,
    };
    let tokens = [
        ("token", shown["token"].as_str()),
        ("auth-provider.config.id-token", provided.map(String::as_str)),
        ("tokenFile", read.as_deref()),
    ];
    let is_wrong = |token: &str| HeaderValue::from_bytes(token.as_bytes()).is_err();
    match tokens.into_iter().find(|(_, token)| token.is_some_and(is_wrong)) {
        None => Ok(()),
        Some((field, _)) => Err(ApiError::Access(format!(
            "the user's {field} has a line end or another control character: write nothing but the token"
        ))),
    }
}

fn read_token(file: &Path) -> Result<String, ApiError> {
    let read = std::fs::read_to_string(regular(file)?);
    read.map_err(|error| ApiError::Access(format!("the user's tokenFile {} cannot be read: {error}", file.display())))
}

/// The longest kubeconfig, or file of a token, in bytes: one of a hundred clusters with their certificates.
const MAX_KUBECONFIG: u64 = 4 << 20;

/// A file that has an end, and not too far off.
fn regular(file: &Path) -> Result<&Path, ApiError> {
    let metadata = std::fs::metadata(file);
    let metadata = metadata.map_err(|error| ApiError::Access(format!("{} cannot be read: {error}", file.display())))?;
    if metadata.is_file() && metadata.len() <= MAX_KUBECONFIG {
        return Ok(file);
    }
    Err(ApiError::Access(format!("{} is not a file of at most {} MiB", file.display(), MAX_KUBECONFIG >> 20)))
}

/// Gives a call its deadline: at most [`CALL`], and no more than `left`.
///
/// # Errors
///
/// When the call fails, or does not end in time.
pub async fn timely<T>(left: Duration, call: impl Future<Output = kube::Result<T>>) -> Result<T, ApiError> {
    let deadline = left.min(CALL);
    match tokio::time::timeout(deadline, call).await {
        Ok(answer) => answer.map_err(ApiError::from),
        Err(_) => Err(ApiError::Timeout(deadline)),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::{Value, json};

    use super::*;

    fn check(user: &Value, want: Result<(), &str>) {
        let got = check_tokens(&AuthInfo::deserialize(user).unwrap()).map_err(|error| error.to_string());
        assert_eq!(got, want.map_err(|problem| format!("no way to an API server: {problem}")), "{user}");
    }

    fn wrong(field: &str) -> String {
        format!("the user's {field} has a line end or another control character: write nothing but the token")
    }

    #[test]
    fn a_token_that_no_header_can_hold_is_refused_by_the_name_of_its_field() {
        for token in ["a\nb", "a\n", "\r\na", "a\0", "\u{1b}[1m", "a\u{7f}"] {
            check(&json!({"token": token}), Err(&wrong("token")));
            let provider = json!({"name": "oidc", "config": {"id-token": token}});
            check(&json!({"auth-provider": provider}), Err(&wrong("auth-provider.config.id-token")));
        }
        for user in [json!({}), json!({"token": ""}), json!({"token": "a.b-c_d~e+f/g=\tä"}), json!({"username": "\n"})]
        {
            check(&user, Ok(()));
        }
    }

    #[test]
    fn a_file_of_a_token_is_looked_into_when_it_is_the_one_that_counts() {
        let file = std::env::temp_dir().join(format!("kourier-token-of-{}", std::process::id()));
        let user = json!({"tokenFile": file});
        let absent = format!("{} cannot be read: No such file or directory (os error 2)", file.display());
        check(&user, Err(&absent));
        check(&json!({"token": "a", "tokenFile": file}), Ok(()));
        std::fs::write(&file, "token").unwrap();
        check(&user, Ok(()));
        std::fs::write(&file, "token\n").unwrap();
        check(&user, Err(&wrong("tokenFile")));
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_time_that_is_less_than_a_second_is_told() {
        let within = |millis| ApiError::Timeout(Duration::from_millis(millis)).to_string();
        assert_eq!(within(5000), "the API server did not answer within 5 s");
        assert_eq!(within(312), "the API server did not answer within 312 ms");
        assert_eq!(within(1250), "the API server did not answer within 1250 ms");
    }
}
