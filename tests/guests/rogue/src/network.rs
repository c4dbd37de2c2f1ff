//! Behaviours that ask for more than one peer's worth.

use alloc::format;
use alloc::string::String;
use alloc::vec;

use kourier_probe_sdk::chat::{Target, Verdict};
use kourier_probe_sdk::endpoint::{self, Failure, Header, Method, Request};
use kourier_probe_sdk::journal;

use crate::harm::{spin, text_at};
use crate::setting;

/// What the answer to one GET of the setting `path` is: Ok for a 200, `NotInChannel` for another status, and a verdict of
/// its own for each failure. The journal has status, fields and size.
pub(crate) fn fetch(target: &Target) -> Verdict {
    match endpoint::send(&Request::get(setting(target, "path").unwrap_or("/"))) {
        Ok(answer) => {
            let names: String = answer.headers.iter().map(|field| format!(" {}={}", field.name, field.value)).collect();
            journal::cause(&format!("status {} size {}{names}", answer.status, answer.body.len()));
            if answer.status == 200 { Verdict::Ok } else { Verdict::NotInChannel }
        }
        Err(Failure::Unreachable) => Verdict::PlatformUnavailable,
        Err(Failure::TimedOut) => Verdict::PlatformTimeout,
        Err(Failure::TooLarge) => Verdict::UnexpectedAnswer,
        Err(Failure::InvalidRequest) => Verdict::InvalidChannel,
        Err(Failure::Spent) => Verdict::AccessRestricted,
    }
}

/// Asks on, whatever it is told. Not reached to its end.
pub(crate) fn ask_forever(_target: &Target) -> Verdict {
    // What is tested is that this ends though nobody looks at the answer. Each is another question: one that was asked in
    // the same pass has the same failure at once.
    for number in 0_u64.. {
        let _ = endpoint::send(&Request::get(format!("/{number}")));
    }
    Verdict::Ok
}

/// A million requests, the answers to which it does not look at. Not reached to its end.
pub(crate) fn ask_a_million_times(_target: &Target) -> Verdict {
    for number in 0..1_000_000 {
        let _ = endpoint::send(&Request::get(format!("/{number}")));
    }
    Verdict::Ok
}

/// A million requests that the host has to refuse. Not reached to its end.
pub(crate) fn ask_wrongly_a_million_times(_target: &Target) -> Verdict {
    for number in 0..1_000_000 {
        let _ = endpoint::send(&Request::get(format!("/../{number}")));
    }
    Verdict::Ok
}

/// Ok as long as the peer answers 200. When it says anything else, the guest never ends.
pub(crate) fn spin_when_told_so(target: &Target) -> Verdict {
    match fetch(target) {
        Verdict::Ok => Verdict::Ok,
        _ => spin(),
    }
}

/// Ok when the 65th request is not sent.
pub(crate) fn ask_too_much(_target: &Target) -> Verdict {
    for number in 0..64 {
        if endpoint::send(&Request::get(format!("/{number}"))).is_err() {
            return Verdict::PlatformUnavailable;
        }
    }
    match endpoint::send(&Request::get("/64")) {
        Err(Failure::Spent) => Verdict::Ok,
        _ => Verdict::UnexpectedAnswer,
    }
}

/// Sends a path that is not UTF-8, which the interface's types cannot say.
pub(crate) fn lie_about_a_text(_target: &Target) -> Verdict {
    // SAFETY: there is none, which is what the host has to stand.
    let path = unsafe { String::from_utf8_unchecked(vec![b'/', 0xff, 0xfe]) };
    // Not reached.
    endpoint::send(&Request::get(path)).map_or(Verdict::PlatformUnavailable, |_| Verdict::Ok)
}

/// Sends a path that ends far outside its memory.
pub(crate) fn lie_about_a_length(_target: &Target) -> Verdict {
    // SAFETY: there is none, which is what the host has to stand. It is not freed, and not read here.
    let path = unsafe { text_at(&mut vec![b'/'; 16], 1 << 30) };
    endpoint::send(&Request::get(path)).map_or(Verdict::PlatformUnavailable, |_| Verdict::Ok)
}

/// Thirty headers that are all the same four megabytes: little for the guest, and more than a hundred for a host that
/// copies them before it looks.
pub(crate) fn hand_over_megabytes(_target: &Target) -> Verdict {
    let mut megabytes = vec![b'x'; 4 << 20];
    let headers = (0..30).map(|_| {
        // SAFETY: it is read only, and not freed: the request is forgotten below.
        let value = unsafe { text_at(&mut megabytes, 4 << 20) };
        Header { name: "x-probe".into(), value }
    });
    let request = Request { headers: headers.collect(), ..Request::get("/") };
    let answer = endpoint::send(&request);
    core::mem::forget(request);
    answer.map_or(Verdict::PlatformUnavailable, |_| Verdict::Ok)
}

/// Journals what it was told, as a careless probe does.
pub(crate) fn repeat_what_the_peer_says(_target: &Target) -> Verdict {
    match endpoint::send(&Request::get("/echo")) {
        Ok(answer) => {
            journal::cause(&String::from_utf8_lossy(&answer.body));
            journal::advise(&String::from_utf8_lossy(&answer.body));
            Verdict::Ok
        }
        Err(_) => Verdict::PlatformUnavailable,
    }
}

/// Ok when each of these is refused.
pub(crate) fn forbidden_headers(_target: &Target) -> Verdict {
    let names = [
        "Host",
        "connection",
        "Content-Length",
        "transfer-encoding",
        "TE",
        "trailer",
        "upgrade",
        "expect",
        "Authorization",
        "cookie",
        "accept-encoding",
        "forwarded",
        "proxy-authorization",
        "Proxy-Connection",
        "sec-fetch-site",
        "X-Forwarded-For",
        "x-forwarded-host",
        "",
        "a b",
        "a:b",
        "a\r\nhost",
        "h\u{f6}st",
    ];
    let values = ["a\r\nhost: b", "a\nb", "a\0b", "\u{fc}", " edge", "edge ", "a\tb"];
    let named = names.iter().map(|name| ((*name).into(), "x".into()));
    let valued = values.iter().map(|value| ("x-probe".into(), (*value).into()));
    let long = [("x-probe".into(), "x".repeat(1025))];
    let one_each = named.chain(valued).chain(long).map(|(name, value)| vec![Header { name, value }]);
    let too_many = vec![Header { name: "x-probe".into(), value: "x".into() }; 33];
    all_refused(one_each.chain([too_many]).map(|headers| Request { headers, ..Request::get("/") }))
}

/// Ok when each of these is refused.
pub(crate) fn forbidden_paths(_target: &Target) -> Verdict {
    let paths = [
        "",
        "a",
        "http://other.example/",
        "//other.example/",
        "/\\other.example",
        "\\\\other.example\\",
        "/..",
        "/.",
        "/a/..",
        "/a/../b",
        "/a/./b",
        "/%2e%2e/a",
        "/%2E./a",
        "/.%2e",
        "/a/%2e",
        "/%252e%252e/a",
        "/%25252e./a",
        "/..;x=y/a",
        "/.;/a",
        "/a%2fb",
        "/a%2Fb",
        "/a%5cb",
        "/a%252fb",
        "/a%255Cb",
        "/a#b",
        "/a b",
        "/a\tb",
        "/a\r\nHost: b",
        "/a\nb",
        "/a\0b",
        "/a%00b",
        "/a%0d%0ab",
        "/a%",
        "/a%4",
        "/a%zz",
        "/a?b=%",
        "/\u{e4}",
        "/a?b=\u{e4}",
        "@other.example/",
        ":80/",
        "?a=b",
        "#",
    ];
    let long = format!("/{}", "x".repeat(2048));
    all_refused(paths.into_iter().map(String::from).chain([long]).map(Request::get))
}

/// Ok when each of these is refused, and a body of exactly 64 KiB is not.
pub(crate) fn forbidden_bodies(_target: &Target) -> Verdict {
    let with_body = Request { method: Method::Get, ..Request::post("/", "x") };
    let refused = all_refused([with_body, Request::post("/", vec![b'x'; (64 << 10) + 1])]);
    match endpoint::send(&Request::post("/", vec![b'x'; 64 << 10])) {
        Ok(_) => refused,
        Err(_) => Verdict::PlatformUnavailable,
    }
}

fn all_refused(requests: impl IntoIterator<Item = Request>) -> Verdict {
    let mut verdict = Verdict::Ok;
    for request in requests {
        if endpoint::send(&request) != Err(Failure::InvalidRequest) {
            journal::cause(&format!("was not refused: {:?} {:?}", request.path, request.headers));
            verdict = Verdict::AccessRestricted;
        }
    }
    verdict
}
