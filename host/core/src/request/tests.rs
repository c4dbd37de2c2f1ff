use super::*;

fn check_one(path: &str, want: Result<(), &str>) {
    assert_eq!(check_path(path), want.map_err(|rule| format!("its path {rule}")), "{path:?}");
}

#[test]
fn a_path_below_the_base_is_taken() {
    let good = [
        "/",
        "/a",
        "/a/b/",
        "/a//b",
        "/a?b=c&d=%2F",
        "/a?b=../c",
        "/a?b=c?d",
        "/.well-known/agent-card.json",
        "/...",
        "/a..b/..c",
        "/%C3%A4",
        "/a%20b",
        "/100%25",
        "/!room:example.org",
        "/a;b=c",
        "/a%3fb",
        "/a..%23b",
        "/...%3f",
        "/~user/@me",
        "/%ff",
        "/%e0%a4%84",
        "/a%2525b",
    ];
    for path in good {
        check_one(path, Ok(()));
    }
    check_one(&format!("/{}", "x".repeat(2047)), Ok(()));
}

#[test]
fn a_dot_segment_is_refused_in_any_spelling() {
    let paths = [
        "/..",
        "/.",
        "/a/..",
        "/a/./b",
        "/../a?b",
        "/%2e",
        "/%2E%2e/",
        "/.%2e/a",
        "/%252e%252E/a",
        "/%25%32%65/",
        "/..;a=b/c",
        "/%2e;/c",
        "/..%3b/c",
        "/..%253Ba",
        "/..?a",
        "/..%3f",
        "/a/..%3Fb=c",
        "/%2e%2e%253fb",
        "/.%3f",
        "/.%23",
        "/a/..%23b/c",
        "/%2E.%2523",
    ];
    for path in paths {
        check_one(path, Err("has a . or .. segment"));
    }
}

#[test]
fn a_path_that_could_lead_elsewhere_is_refused_and_told_why() {
    let slash = "does not begin with exactly one slash";
    let plain = "has white space, a control character or one outside ASCII";
    let encoded = "has an encoded slash or backslash";
    let overlong = "has an overlong character";
    let percent = "has a percent sign without two hexadecimal digits";
    let control = "has an encoded control character";
    let cases = [
        ("", slash),
        ("a", slash),
        ("//a", slash),
        ("http://a/", slash),
        ("?a", slash),
        ("@a", slash),
        ("/a b", plain),
        ("/a\r\n", plain),
        ("/\u{e4}", plain),
        ("/a\u{7f}", plain),
        ("/\u{2025}/", plain),
        ("/\\a", "has a backslash or a fragment"),
        ("/a#b", "has a backslash or a fragment"),
        ("/a%2fb", encoded),
        ("/a%5Cb", encoded),
        ("/a%252fb", encoded),
        ("/a%25255cb", encoded),
        ("/%c0%ae%C0%AE/a", overlong),
        ("/.%c0%2e/%c0%ae", overlong),
        ("/a%25c0%25afb", overlong),
        ("/a%c1%9cb", overlong),
        ("/%c0", overlong),
        ("/%c0%2e%C0%2e/a", overlong),
        ("/%e0%80%ae/a", overlong),
        ("/%f8%80%80%80%ae%f8%80%80%80%ae/a", overlong),
        ("/a%fc%80%80%80%80%afb", overlong),
        ("/%252525252525", "is percent-encoded more than 4 times over"),
        ("/%f0%80%80%ae/a", overlong),
        ("/a%", percent),
        ("/a%2", percent),
        ("/a%g0", percent),
        ("/a?b=%", percent),
        ("/a%00", control),
        ("/a%0d%0a", control),
        ("/a%250a", control),
        ("/a%7f", control),
    ];
    for (path, rule) in cases {
        check_one(path, Err(rule));
    }
    check_one(&format!("/{}", "x".repeat(2048)), Err("is longer than 2048 bytes"));
}

#[test]
fn names_that_are_the_hosts_business_are_reserved() {
    for name in ["host", "te", "proxy-authorization", "sec-fetch-mode", "x-forwarded-for", "cookie", "accept-encoding"]
    {
        assert!(is_host_header(name), "{name}");
    }
    for name in ["accept", "authorization", "user-agent", "x-forward", "security", "range", "content-type"] {
        assert!(!is_host_header(name), "{name}");
    }
}

#[test]
fn tokens_and_values_are_what_http_says() {
    for text in ["a", "X-Y_z.1", "!#$%&'*+-.^_`|~"] {
        assert!(is_token(text), "{text}");
    }
    for text in ["", "a b", "a:", "a\n", "\u{e4}", "a/b", "(a)"] {
        assert!(!is_token(text), "{text}");
    }
    assert!(is_token(&"a".repeat(128)) && !is_token(&"a".repeat(129)));
    for text in ["", "a", "a b", "!~"] {
        assert!(is_value(text), "{text}");
    }
    for text in [" a", "a ", "a\tb", "a\r", "\u{e4}", "\u{7f}"] {
        assert!(!is_value(text), "{text}");
    }
}
