use proptest::prelude::*;

use super::*;

#[test]
fn a_url_is_kept_in_its_normal_form_without_a_slash_at_its_end() {
    for (text, want) in [
        ("https://slack.com/api", "https://slack.com/api"),
        ("https://slack.com/api/", "https://slack.com/api"),
        ("https://slack.com/api//", "https://slack.com/api"),
        ("http://Agents.Team-A.SVC:8080", "http://agents.team-a.svc:8080"),
        ("https://h.example:443/", "https://h.example"),
        ("http://localhost", "http://localhost"),
        ("http://[2001:DB8:0::1]:8080/a", "http://[2001:db8::1]:8080/a"),
        ("http://2852039166/", "http://169.254.169.254"),
        ("http://0xa9fea9fe", "http://169.254.169.254"),
        ("http://0251.0376.0251.0376", "http://169.254.169.254"),
        ("http://127.1", "http://127.0.0.1"),
        ("http://h.example/a%20b", "http://h.example/a%20b"),
        ("http://h.example/a;b=c/100%25", "http://h.example/a;b=c/100%25"),
        ("http://h.example./a", "http://h.example./a"),
    ] {
        let url = BaseUrl::parse(text).unwrap_or_else(|what| panic!("{text}: {what}"));
        assert_eq!(url.as_str(), want, "of {text}");
    }
}

#[test]
fn a_url_that_breaks_a_rule_is_refused_with_what_would_be_right() {
    let long = format!("http://h.example/{}", "a".repeat(MAX_URL_BYTES));
    let encoded = format!("http://h.example/{}", "<".repeat(MAX_URL_BYTES / 3));
    let label = format!("http://{}.example", "a".repeat(64));
    let host = format!("http://{}example", "a.".repeat(130));
    for (text, what) in [
        ("", "is empty"),
        (long.as_str(), "more than 2048 bytes"),
        (encoded.as_str(), "more than 2048 bytes"),
        (" http://h.example", "white space"),
        ("http://h.example\t", "white space"),
        ("http://h.exa\nmple", "white space"),
        ("http://h.example/\u{a0}", "white space"),
        ("http://h.example/\u{0}", "control character"),
        ("http://ехample.com", "outside ASCII"),
        ("http://①⑥⑨。254.169.254", "outside ASCII"),
        ("http:\\\\h.example", "backslash"),
        ("http://h.example\\@other.example", "backslash"),
        ("http://user:secret@h.example", "user info"),
        ("http://h.example/@x", "user info"),
        ("http://h.example?a=1", "query"),
        ("http://h.example/#x", "fragment"),
        ("ftp://h.example", "http or https"),
        ("HTTP://h.example", "small letters"),
        ("h.example", "absolute URL"),
        ("//h.example", "absolute URL"),
        ("http:h.example", "absolute URL"),
        ("http:/h.example", "absolute URL"),
        ("http://", "no host"),
        ("http:///h.example", "no host"),
        ("http://:80", "neither a DNS name nor an IP address"),
        ("http://h.example:0", "port 0"),
        ("http://h.example:99999", "1 to 65535"),
        ("http://h.example:80x", "1 to 65535"),
        ("http://a..example", "neither a DNS name nor an IP address"),
        (label.as_str(), "neither a DNS name nor an IP address"),
        (host.as_str(), "neither a DNS name nor an IP address"),
        ("http://[::1", "neither a DNS name nor an IP address"),
        ("http://h!.example", "neither a DNS name nor an IP address"),
        ("http://1.2.3.256", "neither a DNS name nor an IP address"),
        ("http://%00.example", "neither a DNS name nor an IP address"),
        ("http://h.example/a/../b", ".. segment: write the path that is meant"),
        ("http://h.example/%2E%2e/b", ".. segment"),
        ("http://h.example/.%2e", ".. segment"),
        ("http://h.example/a/%252e%252E/b", ".. segment"),
        ("http://h.example/a/..;b", ".. segment"),
        ("http://h.example/a/..%3fb", ".. segment"),
        ("http://h.example/a%00b", "encoded control character: write the path that is meant"),
        ("http://h.example/a%2Fb", "encoded slash or backslash"),
        ("http://h.example/a%5cb", "encoded slash or backslash"),
        ("http://h.example/a%252fb", "encoded slash or backslash"),
        ("http://h.example/%c0%ae%c0%ae/a", "overlong character"),
        ("http://h.example/a%+1", "percent sign without two hexadecimal digits"),
        ("http://h.example/a%", "percent sign"),
    ] {
        let fault = BaseUrl::parse(text).expect_err(text);
        assert!(fault.contains(what), "{text}: {fault}");
    }
}

#[test]
fn a_path_joins_with_exactly_one_slash() {
    for (base, path, want) in [
        ("http://h.example", "", "http://h.example"),
        ("http://h.example/", "/a", "http://h.example/a"),
        ("http://h.example/api/", "/a/b", "http://h.example/api/a/b"),
        ("http://h.example/api", "//a", "http://h.example/api/a"),
        ("http://h.example/api", "a", "http://h.example/api/a"),
        ("http://h.example/api", "/", "http://h.example/api"),
        ("http://h.example/api", "/a/?b=/", "http://h.example/api/a/?b=/"),
    ] {
        assert_eq!(BaseUrl::parse(base).unwrap().join(path).as_str(), want, "{base} with {path}");
    }
    let joined = BaseUrl::parse("http://h.example").unwrap().join("/a/").join("/b");
    assert_eq!(joined.as_str(), "http://h.example/a/b");
}

#[test]
fn an_origin_is_a_url_without_its_path() {
    for (text, want) in [
        ("https://a.example", "https://a.example"),
        ("https://a.example:443/b/c", "https://a.example"),
        ("http://a.example:8080/b://c", "http://a.example:8080"),
        ("http://[::1]:8080/b", "http://[::1]:8080"),
    ] {
        assert_eq!(BaseUrl::parse(text).unwrap().origin(), want);
    }
}

#[test]
fn a_host_of_one_label_is_told_from_names_with_dots_and_addresses() {
    for (text, want) in [
        ("http://agent", true),
        ("http://agent:8080/a.b", true),
        ("http://agent.", true),
        ("http://localhost/", true),
        ("http://agent.team-a", false),
        ("http://agent.team-a.svc:8080", false),
        ("http://[::1]:8080", false),
        ("http://10.0.0.1", false),
        ("http://1", false),
    ] {
        assert_eq!(BaseUrl::parse(text).unwrap().is_single_label_host(), want, "{text}");
    }
}

proptest! {
    #[test]
    fn what_was_parsed_parses_to_itself(text in "https?://[a-z0-9.:\\[\\]-]{1,20}(/[a-z0-9._~%-]{0,5}){0,4}") {
        if let Ok(url) = BaseUrl::parse(&text) {
            prop_assert_eq!(BaseUrl::parse(url.as_str()), Ok(url));
        }
    }

    #[test]
    fn a_problem_never_holds_the_value(secret in "[A-Z]{12}", text in "(http://|x)[ -~\u{80}-\u{ff}]{0,6}") {
        for text in [format!("{text}{secret}"), format!("{secret}{text}"), format!("http://{text}:{secret}@h")] {
            if let Err(what) = BaseUrl::parse(&text) {
                prop_assert!(!what.contains(&secret));
            }
        }
    }
}
