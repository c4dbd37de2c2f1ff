//! Peers behind TLS, or what they say is TLS.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::Result;
use kourier_sandbox::Trust;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, date_time_ymd};
use rustls::ServerConfig;
use rustls::version::{TLS12, TLS13};
use suite::leak::{Form, spellings};
use suite::peer::{Act, Peer, send};
use suite::tls::{Authority, Identity, server_params};

use super::pieces::{endless, head, honest_document, honest_with};
use super::{GOOD, LARGE, LATE, NONE, Script, Want};
use crate::world::SECRET;

/// The authority that the probes trust here.
static TRUSTED: LazyLock<Authority> = LazyLock::new(|| Authority::new("trusted").expect("an authority"));
/// One that nobody trusts.
static UNKNOWN: LazyLock<Authority> = LazyLock::new(|| Authority::new("unknown").expect("an authority"));

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = certificates();
    scripts.extend(authorities());
    scripts.extend(versions());
    scripts.extend(no_tls());
    scripts.extend(behind_tls());
    scripts
}

/// A peer with this configuration of TLS, to whom the authority above is all that counts.
fn secure(
    name: &str,
    want: Want,
    config: impl Fn() -> Result<Arc<ServerConfig>> + Send + Sync + 'static,
    acts: impl Fn() -> Vec<Act> + Send + Sync + 'static,
) -> Script {
    Script::started(format!("tls-{name}"), want, move || {
        let (config, acts) = (config().expect("a configuration"), acts());
        async move {
            let trust = Trust::Only(Arc::from(TRUSTED.pem()));
            (Peer::start_tls(config, move |_| acts.clone()).await.expect("a port"), trust)
        }
    })
}

/// An honest peer that shows this.
fn shows(name: &str, want: Want, identity: impl Fn() -> Result<Identity> + Send + Sync + 'static) -> Script {
    secure(name, want, move || identity()?.server(), || honest_with(""))
}

fn good_params() -> Result<CertificateParams> {
    server_params(&["127.0.0.1"])
}

/// What a good certificate says, but for this.
fn but(change: impl Fn(&mut CertificateParams)) -> Result<Identity> {
    let mut params = good_params()?;
    change(&mut params);
    TRUSTED.issue(&params)
}

fn certificates() -> Vec<Script> {
    vec![
        shows("good", GOOD, || but(|_| ())),
        shows("expired", NONE, || but(|params| params.not_after = date_time_ymd(2020, 1, 1))),
        shows("not-yet-valid", NONE, || but(|params| params.not_before = date_time_ymd(2100, 1, 1))),
        shows("of-another-address", NONE, || TRUSTED.issue(&server_params(&["127.0.0.2"])?)),
        shows("of-another-name", NONE, || TRUSTED.issue(&server_params(&["agent.example"])?)),
        shows("of-a-name-that-is-the-credential", NONE, || {
            let names =
                spellings(SECRET).into_iter().filter(|(form, _)| matches!(form, Form::Plain | Form::Hexadecimal));
            let names =
                names.map(|(_, word)| word).filter(|word| word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
            let names: Vec<String> = names.map(|word| format!("{word}.example")).collect();
            TRUSTED.issue(&server_params(&names.iter().map(String::as_str).collect::<Vec<_>>())?)
        }),
        shows("of-any-name", NONE, || TRUSTED.issue(&server_params(&["*"])?)),
        shows("of-the-address-as-a-name", NONE, || {
            but(|params| {
                let name = "127.0.0.1".try_into().expect("ASCII");
                params.subject_alt_names = vec![rcgen::SanType::DnsName(name)];
            })
        }),
        shows("with-the-address-as-its-subject-alone", NONE, || {
            but(|params| {
                params.subject_alt_names.clear();
                params.distinguished_name.push(DnType::CommonName, "127.0.0.1");
            })
        }),
    ]
}

/// Certificates of authorities that are not trusted, or not known.
fn authorities() -> Vec<Script> {
    vec![
        shows("that-signs-itself", NONE, || Identity::own(&good_params()?)),
        shows("of-an-unknown-authority", NONE, || UNKNOWN.issue(&good_params()?)),
        shows("of-an-authority-with-the-trusted-one-s-name", NONE, || {
            Authority::new("trusted")?.issue(&good_params()?)
        }),
        shows("of-an-unknown-authority-that-is-sent-along", NONE, || {
            let mut identity = UNKNOWN.issue(&good_params()?)?;
            identity.chain.push(UNKNOWN.certificate());
            Ok(identity)
        }),
        shows("for-clients-alone", NONE, || {
            but(|params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth])
        }),
        shows("without-the-one-between", NONE, || TRUSTED.below("between")?.issue(&good_params()?)),
        shows("with-the-one-between", GOOD, || {
            let between = TRUSTED.below("between")?;
            let mut identity = between.issue(&good_params()?)?;
            identity.chain.push(between.certificate());
            Ok(identity)
        }),
        shows("with-100-others-sent-along", GOOD, || {
            let mut identity = but(|_| ())?;
            let other = UNKNOWN.certificate();
            identity.chain.extend((0..99).map(|_| other.clone()));
            Ok(identity)
        }),
        shows("with-a-chain-of-a-mebibyte", NONE, || {
            let mut identity = but(|_| ())?;
            let other = UNKNOWN.certificate();
            let count = (1 << 20) / other.len();
            identity.chain.extend((0..count).map(|_| other.clone()));
            Ok(identity)
        }),
        shows("below-ten-authorities", NONE, || {
            let mut above = vec![TRUSTED.below("0")?];
            for number in 1..10 {
                let next = above[number - 1].below(&number.to_string())?;
                above.push(next);
            }
            let mut identity = above[9].issue(&good_params()?)?;
            identity.chain.extend(above.iter().rev().map(Authority::certificate));
            Ok(identity)
        }),
    ]
}

fn versions() -> Vec<Script> {
    let good = || but(|_| ());
    vec![
        secure("1-2", GOOD, move || good()?.server_with(&[&TLS12], None, &[]), || honest_with("")),
        secure("1-3", GOOD, move || good()?.server_with(&[&TLS13], None, &[]), || honest_with("")),
        secure("http-2-alone", NONE, move || good()?.server_with(&[&TLS13], None, &[b"h2"]), || honest_with("")),
        secure(
            "http-1-1-in-the-handshake",
            GOOD,
            move || good()?.server_with(&[&TLS13], None, &[b"http/1.1"]),
            || honest_with(""),
        ),
        secure(
            "that-wants-a-certificate",
            NONE,
            move || good()?.server_with(&[&TLS12], Some(&TRUSTED), &[]),
            || honest_with(""),
        ),
        secure(
            "1-3-that-wants-a-certificate",
            NONE,
            move || good()?.server_with(&[&TLS13], Some(&TRUSTED), &[]),
            || honest_with(""),
        )
        .racing(),
    ]
}

/// A peer at a URL with https that says this to whoever comes.
fn speaks(name: &str, acts: impl Fn() -> Vec<Act> + Send + Sync + 'static) -> Script {
    let acts = Arc::new(acts);
    Script::started(format!("tls-{name}"), NONE, move || {
        let acts = acts();
        async move { (Peer::speaking_as_tls(acts).await.expect("a port"), Trust::Only(Arc::from(TRUSTED.pem()))) }
    })
}

/// A server's hello in this version of TLS, with a cipher suite of that time.
fn hello(minor: u8) -> Vec<u8> {
    let mut body = vec![3, minor];
    body.extend([0x42; 32]);
    body.extend([0, 0, 0x2f, 0]);
    let handshake = [vec![2, 0, 0, u8::try_from(body.len()).expect("short")], body].concat();
    [vec![0x16, 3, minor, 0, u8::try_from(handshake.len()).expect("short")], handshake].concat()
}

fn no_tls() -> Vec<Script> {
    let second = Duration::from_secs(1);
    let plain = |status: &str| format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
    let (bad_request, found) = (plain("400 Bad Request"), honest_document(""));
    vec![
        speaks("plain-http", move || vec![send(&bad_request), Act::Wait(Duration::from_millis(100))]),
        speaks("plain-http-with-an-honest-document", move || {
            vec![
                head(&format!("content-length: {}\r\n", found.len())),
                send(&found),
                Act::Wait(Duration::from_millis(100)),
            ]
        }),
        speaks("noise", || vec![send([0xff; 64]), Act::Wait(Duration::from_millis(100))]),
        speaks("noise-without-end", || vec![endless(b"\x16\x03\x03\x40\x00")]),
        speaks("a-record-that-is-too-long", || vec![send(b"\x16\x03\x03\xff\xff"), endless(b"\0")]),
        speaks("a-handshake-message-of-16-mebibytes", || vec![endless(b"\x16\x03\x03\x00\x04\x02\xff\xff\xff")]),
        speaks("empty-records-without-end", || vec![endless(b"\x16\x03\x03\x00\x00")]),
        speaks("warnings-without-end", || vec![endless(b"\x15\x03\x03\x00\x02\x01\x70")]),
        speaks("an-alert", || vec![send(b"\x15\x03\x03\x00\x02\x02\x28"), Act::Wait(Duration::from_millis(100))]),
        speaks("ssl-3", || vec![send(hello(0)), Act::Wait(Duration::from_millis(100))]),
        speaks("1-0", || vec![send(hello(1)), Act::Wait(Duration::from_millis(100))]),
        speaks("1-1", || vec![send(hello(2)), Act::Wait(Duration::from_millis(100))]),
        speaks("an-old-cipher-suite", || vec![send(hello(3)), Act::Wait(Duration::from_millis(100))]),
        speaks("closed-at-once", || vec![Act::Close]),
        speaks("reset-at-once", || vec![Act::Reset]),
        speaks("silence", move || vec![Act::Wait(second * 20)]).slow(),
        speaks("half-a-hello", move || vec![send(&hello(3)[..20]), Act::Wait(second * 20)]).slow(),
        speaks("one-byte-a-second", move || vec![Act::Drip(hello(3).into(), second)]).slow(),
    ]
}

fn behind_tls() -> Vec<Script> {
    let behind = |name: &str, want, acts: fn() -> Vec<Act>| secure(name, want, || but(|_| ())?.server(), acts);
    vec![
        behind("until-close", GOOD, || vec![head(""), send(honest_document("")), Act::Finish]),
        // Whoever cuts the connection could have cut the answer.
        behind("until-a-close-without-a-word", NONE, || vec![head(""), send(honest_document("")), Act::Close]),
        behind("closed-before-an-answer", NONE, || vec![Act::Close]),
        behind("ended-before-an-answer", NONE, || vec![Act::Finish, Act::Hang]),
        behind("reset-before-an-answer", NONE, || vec![Act::Reset]),
        behind("closed-in-the-body", NONE, || vec![head("content-length: 9\r\n"), send("{}"), Act::Close]),
        behind("an-endless-body", LARGE, || vec![head(""), endless(b" ")]),
        behind("fields-without-end", NONE, || vec![send("HTTP/1.1 200 OK\r\n"), endless(b"x: y\r\n")]),
        behind("a-field-of-10-mebibytes", NONE, || {
            vec![send("HTTP/1.1 200 OK\r\nx: "), Act::Flood(b"y".as_slice().into(), Some(10 << 20))]
        }),
        behind("silence-after-the-handshake", LATE, || vec![Act::Hang]).slow(),
    ]
}
