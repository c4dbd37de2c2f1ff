//! Which protocol versions and bindings the broker speaks: A2A 0.3 and 1.x, over JSONRPC and HTTP+JSON.

/// What a member says, measured by what the broker speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    /// Nothing: it is missing, blank or no string.
    Nothing,
    /// Something that the broker speaks.
    Ours,
    /// Something else.
    Other,
}

/// Where a version stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// At the root of a card of 0.x, where 0.2 is called like 0.3.
    Legacy,
    /// In an entry of `supportedInterfaces`.
    Interface,
}

/// Judges a `protocolVersion`: `MAJOR.MINOR`, perhaps with a `v` before it and more after it.
pub(crate) fn version(text: Option<&str>, shape: Shape) -> Stated {
    let text = text.unwrap_or_default().trim();
    if text.is_empty() {
        return Stated::Nothing;
    }
    match (major_minor(text), shape) {
        (Some((1, _) | (0, 3)), _) | (Some((0, 2)), Shape::Legacy) => Stated::Ours,
        _ => Stated::Other,
    }
}

/// Judges a `protocolBinding` or what stands for it.
pub(crate) fn binding(text: Option<&str>) -> Stated {
    match text.unwrap_or_default().trim() {
        "" => Stated::Nothing,
        name if name.eq_ignore_ascii_case("JSONRPC") || name.eq_ignore_ascii_case("HTTP+JSON") => Stated::Ours,
        _ => Stated::Other,
    }
}

/// The first two numbers of a version. A word in their place is no version.
pub(crate) fn major_minor(text: &str) -> Option<(u32, u32)> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let (major, rest) = text.split_once('.').unwrap_or((text, "0"));
    let minor = rest.split(['.', '-', '+']).next().unwrap_or_default();
    Some((number(major)?, number(minor)?))
}

fn number(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(want: Stated, shape: Shape, versions: &[&str]) {
        for text in versions {
            assert_eq!(version(Some(text), shape), want, "{text:?} {shape:?}");
        }
    }

    #[test]
    fn the_patch_of_a_version_does_not_matter() {
        let ours = [
            "0.3", "0.3.0", "0.3.26", "1.0", "1.0.0", "1.0.1", "1.2", "v1.0", "V0.3.0", "v1", "1", " 1.0 ", "1.0-rc1",
            "1.0.0+x",
        ];
        check(Stated::Ours, Shape::Interface, &ours);
        check(Stated::Ours, Shape::Legacy, &ours);
    }

    #[test]
    fn a_version_before_or_after_ours_is_another() {
        let other = ["0.1", "0.1.0", "0.4", "0", "0.0.3", "2.0", "9.0", "10.0", "4294967296.0"];
        check(Stated::Other, Shape::Interface, &other);
        check(Stated::Other, Shape::Legacy, &other);
    }

    #[test]
    fn the_calls_of_0_2_are_those_of_0_3_where_a_card_of_that_time_says_so() {
        check(Stated::Ours, Shape::Legacy, &["0.2", "0.2.0", "0.2.6", "v0.2.9"]);
        check(Stated::Other, Shape::Interface, &["0.2", "0.2.0", "0.2.6", "v0.2.9"]);
    }

    #[test]
    fn a_word_is_no_version() {
        let words = [
            "latest",
            "one",
            "v",
            "1.x",
            "1.",
            ".3",
            "1,0",
            "-1.0",
            "+1.0",
            "0x1.0",
            "1 .0",
            "2025-06-18",
            "\u{661}.\u{660}",
        ];
        check(Stated::Other, Shape::Legacy, &words);
        check(Stated::Nothing, Shape::Legacy, &["", "  "]);
    }

    #[test]
    fn a_binding_is_told_by_its_name_in_any_case() {
        for name in ["JSONRPC", "jsonrpc", "JsonRpc", "HTTP+JSON", "http+json", " JSONRPC "] {
            assert_eq!(binding(Some(name)), Stated::Ours, "{name}");
        }
        for name in
            ["GRPC", "JSON-RPC", "https", "sse", "mcp", "TRANSPORT_PROTOCOL_REST", "https://example.com/binding"]
        {
            assert_eq!(binding(Some(name)), Stated::Other, "{name}");
        }
        assert_eq!((binding(Some(" ")), binding(None)), (Stated::Nothing, Stated::Nothing));
    }
}
