//! The spelling zoo.

use std::sync::{Arc, LazyLock};

use kourier_core::egress::{DenyRule, EgressRules};
use kourier_core::url::BaseUrl;
use kourier_sandbox::{Transport, Trust};

use super::check_denied;
use crate::case::{Case, Checked};
use crate::published::{self, Text};
use crate::world::{Probe, connector, near, probe};

/// The rules as they are by default.
static DEFAULT: LazyLock<Arc<dyn Transport>> = LazyLock::new(|| connector(EgressRules::default()));
/// An operator denies a network and a port, and the broker knows its API server.
static STRICT: LazyLock<Arc<dyn Transport>> = LazyLock::new(|| {
    connector(EgressRules {
        deny: vec!["10.20.0.0/16".parse().expect("a network"), "fd77::/16".parse().expect("a network")],
        deny_ports: vec![8443],
        api_server: vec!["10.96.0.1:443".parse().expect("an address")],
        ..EgressRules::default()
    })
});

pub(super) fn cases() -> Vec<Case> {
    let refused = REFUSED.iter().map(|(name, url)| Case::new(format!("egress::refused::{name}"), move || refuse(url)));
    let long = [
        ("a-host-of-8-kibibytes", format!("http://{}.example/", "h".repeat(8 << 10))),
        ("a-label-of-64-bytes", format!("http://{}.example/", "h".repeat(64))),
        ("a-name-of-254-bytes", format!("http://{}example/", "h.".repeat(124))),
        ("a-path-of-8-kibibytes", format!("http://agent.example/{}", "p".repeat(8 << 10))),
    ];
    let long = long
        .into_iter()
        .map(|(name, url)| Case::new(format!("egress::refused::{name}"), move || async move { refuse(&url).await }));
    let denied = DENIED.iter().flat_map(|(url, rule)| denials(url, *rule, &DEFAULT));
    let strict = STRICTLY.iter().flat_map(|(url, rule)| denials(url, *rule, &STRICT));
    refused.chain(long).chain(denied).chain(strict).collect()
}

/// The object that holds such a URL is invalid; the sentence does not repeat it.
async fn refuse(url: &str) -> Checked {
    match BaseUrl::parse(url) {
        Ok(taken) => Err(format!("{url:?} was taken as {taken}")),
        Err(words) if url.len() > 6 && words.contains(url) => Err(format!("the URL is in {words:?}")),
        Err(words) => {
            published::text(Text::Public("the problem", words));
            Ok(())
        }
    }
}

fn denials(url: &'static str, rule: DenyRule, network: &'static LazyLock<Arc<dyn Transport>>) -> Vec<Case> {
    let case = |which: Probe| {
        Case::new(format!("egress::{rule}::{url}::{}", which.name()), move || async move {
            if let Err(words) = BaseUrl::parse(url) {
                return Err(format!("the URL is refused: {words}"));
            }
            let judged = probe(which, url, Trust::System, Arc::clone(network)).await;
            // Nobody listens at the port that is for discarding.
            let dead = probe(which, "http://127.0.0.1:9", Trust::System, near()).await;
            check_denied(&judged, &dead, rule)
        })
    };
    Probe::ALL.map(case).into()
}

const REFUSED: &[(&str, &str)] = &[
    ("nothing", ""),
    ("a-host-alone", "agent.example"),
    ("a-path-alone", "/a2a"),
    ("no-scheme", "//127.0.0.1/"),
    ("a-scheme-in-capitals", "HTTP://127.0.0.1/"),
    ("one-slash", "http:/127.0.0.1/"),
    ("no-slash", "http:127.0.0.1"),
    ("three-slashes", "http:///127.0.0.1/"),
    ("backslashes", "http:\\\\127.0.0.1\\"),
    ("a-backslash-before-the-host", "http://agent.example\\@127.0.0.1/"),
    ("ftp", "ftp://127.0.0.1/"),
    ("file", "file:///etc/passwd"),
    ("gopher", "gopher://127.0.0.1:6379/_INFO"),
    ("data", "data:text/html,x"),
    ("javascript", "javascript:alert(1)"),
    ("unix", "unix:///var/run/docker.sock"),
    ("a-websocket", "ws://127.0.0.1/"),
    ("a-user", "http://user@127.0.0.1/"),
    ("a-user-and-a-password", "http://user:password@127.0.0.1/"),
    ("a-host-as-a-user", "http://agent.example@127.0.0.1/"),
    ("a-host-and-port-as-a-user", "http://agent.example:80@127.0.0.1/"),
    ("an-empty-user", "http://@127.0.0.1/"),
    ("an-encoded-at", "http://agent.example%40127.0.0.1/"),
    ("a-query", "http://agent.example/?url=http://127.0.0.1/"),
    ("a-fragment", "http://agent.example/#@127.0.0.1/"),
    ("a-fragment-before-the-host", "http://agent.example#@127.0.0.1/"),
    ("a-blank-before-it", " http://127.0.0.1/"),
    ("a-blank-after-it", "http://127.0.0.1/ "),
    ("a-tab-within", "http://127.0.\t0.1/"),
    ("a-line-feed-within", "ht\ntp://127.0.0.1/"),
    ("a-carriage-return-and-a-header", "http://agent.example/\r\nhost: 127.0.0.1"),
    ("a-nul", "http://127.0.0.1\0.example/"),
    ("an-encoded-nul", "http://127.0.0.1%00.example/"),
    ("an-encoded-nul-in-the-path", "http://agent.example/%00"),
    ("an-encoded-line-end-in-the-path", "http://agent.example/%0d%0ahost:%20x"),
    ("an-encoded-slash-in-the-host", "http://agent.example%2f@127.0.0.1/"),
    ("an-encoded-slash-in-the-path", "http://agent.example/a%2f..%2fb"),
    ("an-encoded-backslash-in-the-path", "http://agent.example/a%5cb"),
    ("dot-segments", "http://agent.example/a/../b"),
    ("encoded-dot-segments", "http://agent.example/a/%2e%2E/b"),
    ("half-encoded-dot-segments", "http://agent.example/a/.%2e/b"),
    ("an-encoded-colon-in-the-host", "http://127.0.0.1%3a80/"),
    ("a-percent-sign-alone", "http://agent.example/%"),
    ("a-percent-sign-and-one-digit", "http://agent.example/%4"),
    ("full-width-digits", "http://\u{ff11}\u{ff12}\u{ff17}.0.0.1/"),
    ("circled-digits", "http://\u{2460}\u{2465}\u{2468}.254.169.254/"),
    ("ideographic-full-stops", "http://127\u{3002}0\u{3002}0\u{3002}1/"),
    ("full-width-full-stops", "http://127\u{ff0e}0\u{ff0e}0\u{ff0e}1/"),
    ("arabic-digits", "http://\u{661}\u{662}\u{667}.0.0.1/"),
    ("a-soft-hyphen", "http://local\u{ad}host/"),
    ("a-zero-width-joiner", "http://local\u{200d}host/"),
    ("a-bidi-override", "http://\u{202e}tsohlacol/"),
    ("a-cyrillic-letter", "http://\u{430}gent.example/"),
    ("a-byte-order-mark", "\u{feff}http://127.0.0.1/"),
    ("punycode-that-is-none", "http://xn--/"),
    ("punycode-of-full-width-digits", "http://xn--127-pn8i.0.0.1/"),
    ("punycode-that-ends-early", "http://xn--a-ecp.ru\u{0}/"),
    ("a-number-past-32-bits", "http://4294967296/"),
    ("a-number-past-64-bits", "http://18446744073709551617/"),
    ("a-part-past-255", "http://127.0.0.256/"),
    ("a-part-past-a-byte-in-the-middle", "http://127.256.0.1/"),
    ("five-parts", "http://127.0.0.1.1/"),
    ("an-octal-nine", "http://0189.0.0.1/"),
    ("a-number-with-letters", "http://0x7g000001.0x/"),
    ("an-ipv4-address-with-two-dots-after-it", "http://127.0.0.1../"),
    ("an-ipv4-address-with-an-empty-part", "http://127..0.1/"),
    ("an-ipv4-address-in-brackets", "http://[127.0.0.1]/"),
    ("an-ipv6-address-without-brackets", "http://::1/"),
    ("an-ipv6-address-that-is-not-closed", "http://[::1/"),
    ("an-ipv6-address-closed-twice", "http://[::1]]/"),
    ("an-empty-ipv6-address", "http://[]/"),
    ("an-ipv6-address-with-two-gaps", "http://[1::2::3]/"),
    ("an-ipv6-address-with-nine-parts", "http://[1:2:3:4:5:6:7:8:9]/"),
    ("an-ipv6-address-with-five-digits", "http://[::10000]/"),
    ("an-ipv6-address-with-a-zone", "http://[fe80::1%25eth0]/"),
    ("an-ipv6-address-with-a-plain-zone", "http://[fe80::1%eth0]/"),
    ("an-ipv6-address-with-a-short-ipv4", "http://[::ffff:127.1]/"),
    ("an-ipv6-address-with-an-octal-ipv4", "http://[::ffff:0177.0.0.1]/"),
    ("an-ipv6-address-with-a-dot-after-it", "http://[::1]./"),
    ("an-address-of-the-future", "http://[v1.fe80::a+en1]/"),
    ("a-port-of-zero", "http://agent.example:0/"),
    ("a-port-of-zero-on-ipv6", "http://[::1]:0/"),
    ("a-port-past-16-bits", "http://agent.example:65536/"),
    ("a-port-that-wraps-to-etcd", "http://10.0.0.1:67915/"),
    ("a-negative-port", "http://agent.example:-1/"),
    ("a-port-in-hexadecimal", "http://agent.example:0x50/"),
    ("two-ports", "http://agent.example:80:80/"),
    ("a-port-that-is-a-word", "http://agent.example:http/"),
    ("no-host", "http://:80/"),
    ("a-dot-as-a-host", "http://./"),
    ("a-host-that-begins-with-a-dot", "http://.localhost/"),
    ("a-wildcard", "http://*.example/"),
    ("a-placeholder", "http://{host}/"),
    ("a-variable", "http://${HOST}/"),
    ("a-bar", "http://a|b/"),
    ("angle-brackets", "http://<host>/"),
    ("a-comma", "http://agent.example,127.0.0.1/"),
    ("a-semicolon", "http://agent.example;127.0.0.1/"),
];

/// Each with the rules as they are by default. Nothing is looked up but `localhost`.
const DENIED: &[(&str, DenyRule)] = &[
    ("http://127.0.0.1", DenyRule::Loopback),
    ("http://127.0.0.1:8080", DenyRule::Loopback),
    ("https://127.0.0.1", DenyRule::Loopback),
    ("http://127.0.0.1:00080", DenyRule::Loopback),
    ("http://127.0.0.1:", DenyRule::Loopback),
    ("http://127.0.0.1.", DenyRule::Loopback),
    ("http://127.255.255.254", DenyRule::Loopback),
    ("http://127.1", DenyRule::Loopback),
    ("http://127.0.1", DenyRule::Loopback),
    ("http://2130706433", DenyRule::Loopback),
    ("http://2130706433.", DenyRule::Loopback),
    ("http://017700000001", DenyRule::Loopback),
    ("http://0177.0.0.1", DenyRule::Loopback),
    ("http://0177.1", DenyRule::Loopback),
    ("http://00000177.0.0.01", DenyRule::Loopback),
    ("http://0x7f000001", DenyRule::Loopback),
    ("http://0X7F000001", DenyRule::Loopback),
    ("http://0x7f.0.0.0x1", DenyRule::Loopback),
    ("http://0x7f.1", DenyRule::Loopback),
    ("http://127.0x0.00.1", DenyRule::Loopback),
    ("http://127.0.0.1/agents/a", DenyRule::Loopback),
    ("http://%31%32%37.0.0.1", DenyRule::Loopback),
    ("http://127%2e0%2e0%2e1", DenyRule::Loopback),
    ("http://0%787f000001", DenyRule::Loopback),
    ("http://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1", DenyRule::Loopback),
    ("http://127%E3%80%820%E3%80%820%E3%80%821", DenyRule::Loopback),
    ("http://127%EF%BC%8E0%EF%BC%8E0%EF%BC%8E1", DenyRule::Loopback),
    ("http://localhost", DenyRule::Loopback),
    ("http://LOCALHOST", DenyRule::Loopback),
    ("http://%6c%6Fcalhost", DenyRule::Loopback),
    ("http://[::1]", DenyRule::Loopback),
    ("http://[::1]:8080", DenyRule::Loopback),
    ("http://[0:0:0:0:0:0:0:1]", DenyRule::Loopback),
    ("http://[0000:0000:0000:0000:0000:0000:0000:0001]", DenyRule::Loopback),
    ("http://[::0.0.0.1]", DenyRule::Loopback),
    ("http://[::ffff:127.0.0.1]", DenyRule::Loopback),
    ("http://[::FFFF:7F00:1]", DenyRule::Loopback),
    ("http://[0:0:0:0:0:ffff:127.0.0.1]", DenyRule::Loopback),
    ("http://[::127.0.0.1]", DenyRule::Loopback),
    ("http://[::7f00:1]", DenyRule::Loopback),
    ("http://[::ffff:0:127.0.0.1]", DenyRule::Loopback),
    ("http://[64:ff9b::127.0.0.1]", DenyRule::Loopback),
    ("http://[64:ff9b::7f00:1]", DenyRule::Loopback),
    ("http://[64:ff9b:1::127.0.0.1]", DenyRule::Loopback),
    ("http://[64:ff9b:1:7f00:0:100::]", DenyRule::Loopback),
    ("http://[2002:7f00:1::]", DenyRule::Loopback),
    ("http://[2002:7f00:1::1234]", DenyRule::Loopback),
    ("http://[2001:0:7f00:1::]", DenyRule::Loopback),
    ("http://169.254.169.254", DenyRule::Metadata),
    ("http://169.254.169.254./latest/meta-data", DenyRule::Metadata),
    ("http://2852039166", DenyRule::Metadata),
    ("http://0xa9fea9fe", DenyRule::Metadata),
    ("http://025177524776", DenyRule::Metadata),
    ("http://0251.0376.0251.0376", DenyRule::Metadata),
    ("http://0xA9.0xFE.0xA9.0xFE", DenyRule::Metadata),
    ("http://169.254.43518", DenyRule::Metadata),
    ("http://169.16689662", DenyRule::Metadata),
    ("http://0xa9.254.0251.254", DenyRule::Metadata),
    ("http://%E2%91%A0%E2%91%A5%E2%91%A8.254.169.254", DenyRule::Metadata),
    ("http://169.254.170.2", DenyRule::Metadata),
    ("http://169.254.170.23", DenyRule::Metadata),
    ("http://100.100.100.200", DenyRule::Metadata),
    ("http://168.63.129.16", DenyRule::Metadata),
    ("http://192.0.0.192", DenyRule::Metadata),
    ("http://[::ffff:169.254.169.254]", DenyRule::Metadata),
    ("http://[::ffff:a9fe:a9fe]", DenyRule::Metadata),
    ("http://[::169.254.169.254]", DenyRule::Metadata),
    ("http://[::ffff:0:a9fe:a9fe]", DenyRule::Metadata),
    ("http://[64:ff9b::a9fe:a9fe]", DenyRule::Metadata),
    ("http://[64:ff9b:1::a9fe:a9fe]", DenyRule::Metadata),
    ("http://[64:ff9b:1:a9fe:a9:fe00::]", DenyRule::Metadata),
    ("http://[2002:a9fe:a9fe::]", DenyRule::Metadata),
    ("http://[2001:0:a9fe:a9fe::]", DenyRule::Metadata),
    ("http://[2001:0:a00:1::5601:5601]", DenyRule::Metadata),
    ("http://[fd00:ec2::254]", DenyRule::Metadata),
    ("http://[fd00:ec2::23]", DenyRule::Metadata),
    ("http://[fd20:ce::254]", DenyRule::Metadata),
    ("http://[fd00:42::42]", DenyRule::Metadata),
    ("http://169.254.0.1", DenyRule::LinkLocal),
    ("http://169.254.255.255", DenyRule::LinkLocal),
    ("http://[fe80::1]", DenyRule::LinkLocal),
    ("http://[febf:ffff::1]", DenyRule::LinkLocal),
    ("http://[fe80::a9fe:a9fe]", DenyRule::LinkLocal),
    ("http://[::ffff:169.254.1.1]", DenyRule::LinkLocal),
    ("http://0", DenyRule::Unspecified),
    ("http://0.0.0.0", DenyRule::Unspecified),
    ("http://0x0", DenyRule::Unspecified),
    ("http://00000000000", DenyRule::Unspecified),
    ("http://0.1.2.3", DenyRule::Unspecified),
    ("http://[::]", DenyRule::Unspecified),
    ("http://[0:0:0:0:0:0:0:0]", DenyRule::Unspecified),
    ("http://[::ffff:0.0.0.0]", DenyRule::Unspecified),
    ("http://[::2]", DenyRule::Unspecified),
    ("http://[2002::]", DenyRule::Unspecified),
    ("http://224.0.0.1", DenyRule::Multicast),
    ("http://239.255.255.250:1900", DenyRule::Multicast),
    ("http://3758096385", DenyRule::Multicast),
    ("http://[ff02::1]", DenyRule::Multicast),
    ("http://[ff0e::fb]:5353", DenyRule::Multicast),
    ("http://[::ffff:224.0.0.1]", DenyRule::Multicast),
    ("http://255.255.255.255", DenyRule::Broadcast),
    ("http://4294967295", DenyRule::Broadcast),
    ("http://0xffffffff", DenyRule::Broadcast),
    ("http://[64:ff9b::ffff:ffff]", DenyRule::Broadcast),
    ("http://192.0.2.1", DenyRule::Documentation),
    ("http://198.51.100.1", DenyRule::Documentation),
    ("http://203.0.113.1", DenyRule::Documentation),
    ("http://198.18.0.1", DenyRule::Documentation),
    ("http://[2001:db8::1]", DenyRule::Documentation),
    ("http://[3fff::1]", DenyRule::Documentation),
    ("http://[2001:2::1]", DenyRule::Documentation),
    ("http://240.0.0.1", DenyRule::Reserved),
    ("http://192.0.0.1", DenyRule::Reserved),
    ("http://[100::1]", DenyRule::Reserved),
    ("http://[fec0::1]", DenyRule::Reserved),
    ("http://[5f00::1]", DenyRule::Reserved),
    ("http://[4000::1]", DenyRule::Reserved),
    ("http://[2001:20::1]", DenyRule::Reserved),
    ("http://10.0.0.1:10250", DenyRule::Port),
    ("https://10.0.0.1:10250/pods", DenyRule::Port),
    ("http://10.0.0.1:0010250", DenyRule::Port),
    ("http://10.0.0.1:10255", DenyRule::Port),
    ("http://167772161:2379", DenyRule::Port),
    ("http://[fd00::1]:2380", DenyRule::Port),
    ("http://[::ffff:10.0.0.1]:2379", DenyRule::Port),
];

/// Each with what an operator adds.
const STRICTLY: &[(&str, DenyRule)] = &[
    ("http://10.20.30.40", DenyRule::Operator),
    ("http://0x0a141e28", DenyRule::Operator),
    ("http://[::ffff:10.20.30.40]", DenyRule::Operator),
    ("http://[2002:a14:1e28::]", DenyRule::Operator),
    ("http://[64:ff9b::10.20.30.40]", DenyRule::Operator),
    ("http://[fd77::1]", DenyRule::Operator),
    ("https://10.0.0.1:8443", DenyRule::Operator),
    ("https://10.96.0.1", DenyRule::ApiServer),
    ("http://10.96.0.1:443", DenyRule::ApiServer),
    ("https://174063617", DenyRule::ApiServer),
    ("https://[::ffff:10.96.0.1]", DenyRule::ApiServer),
    ("https://[::10.96.0.1]", DenyRule::ApiServer),
    ("https://[64:ff9b::a60:1]", DenyRule::ApiServer),
];
