//! Ages, as kubectl prints them.

use kourier_core::time::Timestamp;
use kourier_kube::api::parse_rfc3339;

/// How long ago a time was, as kubectl prints it: the two largest units that matter, fewer the older it is.
#[must_use]
pub fn age(time: Timestamp, now: Timestamp) -> String {
    span(now.0 - time.0)
}

/// The same of an RFC 3339 text.
#[must_use]
pub fn age_of(text: &str, now: Timestamp) -> String {
    parse_rfc3339(text).map_or_else(|| "<unknown>".to_owned(), |time| age(time, now))
}

/// A span of seconds in kubectl's words.
fn span(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, 'y', days % 365, 'd'),
        252_288_000.. => format!("{}y", days / 365),
    }
}

fn two(large: i64, large_unit: char, small: i64, small_unit: char) -> String {
    if small == 0 { format!("{large}{large_unit}") } else { format!("{large}{large_unit}{small}{small_unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_written_as_kubectl_writes_them() {
        const MINUTE: i64 = 60;
        const HOUR: i64 = 60 * MINUTE;
        const DAY: i64 = 24 * HOUR;
        const YEAR: i64 = 365 * DAY;
        let cases = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (2 * MINUTE, "2m"),
            (4 * MINUTE + 5, "4m5s"),
            (9 * MINUTE + 59, "9m59s"),
            (10 * MINUTE + 30, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 5 * MINUTE, "3h5m"),
            (8 * HOUR + 5 * MINUTE, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + 5 * HOUR, "2d5h"),
            (8 * DAY + 5 * HOUR, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + 3 * DAY, "2y3d"),
            (8 * YEAR + 3 * DAY, "8y"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(span(seconds), expected, "{seconds} s");
        }
        assert_eq!(age_of("never", Timestamp(0)), "<unknown>");
    }
}
