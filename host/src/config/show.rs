//! The settings as documentation.

use std::fmt::Write;

use crate::config::{SETTINGS, Settings};

/// These settings as YAML, each with its unit and reason, as a file that [`Settings::parse`] reads.
#[must_use]
pub fn yaml(settings: &Settings) -> String {
    let mut text = String::new();
    let mut section = "";
    for setting in SETTINGS {
        let (above, name) = setting.key.rsplit_once('.').unwrap_or(("", setting.key));
        if above != section && !above.is_empty() {
            push(&mut text, &format!("{above}:"));
        }
        section = above;
        let indent = if above.is_empty() { "" } else { "  " };
        push(&mut text, &format!("{indent}# {} ({})", setting.why, setting.unit.replace('`', "")));
        push(&mut text, &format!("{indent}{name}: {}", (setting.show)(settings)));
    }
    text
}

/// docs/limits.md: every setting with its default, unit and reason, then what is fixed.
#[must_use]
pub fn markdown() -> String {
    let mut text = HEAD.to_owned();
    let defaults = Settings::default();
    for setting in SETTINGS {
        let default = (setting.show)(&defaults);
        push(&mut text, &format!("| `{}` | `{default}` | {} | {} |", setting.key, setting.unit, setting.why));
    }
    text.push_str(FIXED);
    text
}

fn push(text: &mut String, line: &str) {
    let _ = writeln!(text, "{line}");
}

const HEAD: &str = "\
# Limits and settings

Generated from the program's table of settings; a test keeps the two equal. `agent-kourier run --config FILE` reads a
YAML file of these keys (a dot is one level), over the defaults below. A key that is not in the table is refused.
Durations are written as `250ms`, `15s`, `5m` or `1h`, sizes as a number of bytes, `512Ki` or `1Mi`.

| Key | Default | Unit | Why |
|---|---|---|---|
";

const FIXED: &str = "
## Fixed

| What | Limit | Why |
|---|---|---|
| A file of manifests, settings or cases | 1 MiB | What a ConfigMap can hold. FIFOs and devices are not read. |
| The standard input of `check` | 16 MiB | A rendered chart, or thousands of objects of a cluster. |
| Runs of probes at a time, `describe` among them | `prober.concurrency`; 64 in other commands than `run` | The engine has room for no more. Those beyond wait, and their time does not run yet. |
| Modules and components in a component file | 1000 | What is made from JavaScript or Python has some dozens. |
| Instances that a component is made of | 1000 | A run may have 100 of modules; a small file could ask for billions. |
| What a component hands over in one call | `probe.requestBody`, three times `probe.body`, and 64 KiB | One piece of its memory can stand for texts without number. |
| Nesting of a manifest | 32 levels | Manifests need fewer than ten. |
| Values that a manifest's aliases repeat | 10000 | Enough for shared labels, too few for a bomb. |
| Documents of a file | 10000 | A file of 1 MiB that means something has fewer. |
| Values of a document | 600000 | A file of 1 MiB that repeats none has fewer. |
| Problems that are told of one document | 100 | As many as a person may want to read. |
| Entries of the folder of manifests | 10000 | A folder that is not one of manifests does not keep the broker busy. |
| A credential | 64 KiB | No header that a server takes is longer. |
| The certificates of a CA | 1 MiB | What a Secret can hold. |
| A condition's message | 1024 bytes | One line that fits a terminal and a watch event. |
";
