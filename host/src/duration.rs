//! Durations as people write them: in the settings, on the command line and in recorded cases alike.

use std::time::Duration;

/// What is right, after "write".
pub(crate) const RIGHT: &str = "a whole number and its unit, such as 250ms, 15s, 5m or 1h";

/// Reads `250ms`, `15s`, `5m` or `1h`; nothing else is a duration.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let millis: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.parse::<u64>().ok()?.checked_mul(millis)?))
}

/// A duration as [`parse`] reads it, in its largest whole unit.
pub(crate) fn show(duration: Duration) -> String {
    let millis = duration.as_millis();
    match (millis % 3_600_000, millis % 60_000, millis % 1_000) {
        (0, _, _) if millis > 0 => format!("{}h", millis / 3_600_000),
        (_, 0, _) if millis > 0 => format!("{}m", millis / 60_000),
        (_, _, 0) => format!("{}s", millis / 1_000),
        _ => format!("{millis}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_whole_number_and_its_unit() {
        for text in ["250ms", "0s", "15s", "5m", "1h"] {
            assert_eq!(show(parse(text).unwrap()), text);
        }
        assert_eq!(parse("90s").map(show).as_deref(), Some("90s"));
        for text in ["", "5", "s", "-1s", "1.5s", "1 s", "1h30m", "1d", "18446744073709551615h"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
