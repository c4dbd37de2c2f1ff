//! The Dockerfile, compared with what it builds and with the chart that runs it. No container engine is needed, and none
//! has a say here: that the image builds is not shown.

use serde_json::Value;

use crate::chart::{read, repository, yaml};

/// The rest of the lines that begin with an instruction.
fn instructions<'d>(dockerfile: &'d str, instruction: &str) -> Vec<&'d str> {
    dockerfile.lines().filter_map(|line| line.strip_prefix(instruction)?.strip_prefix(' ')).collect()
}

/// What the build stage copies out of the repository.
fn copied(dockerfile: &str) -> Vec<&str> {
    let lines = instructions(dockerfile, "COPY").into_iter().filter(|line| !line.starts_with("--"));
    lines.flat_map(|line| line.rsplit_once(' ').unwrap().0.split(' ')).collect()
}

fn values() -> Value {
    yaml(&read("deploy/chart/agent-kourier/values.yaml"))
}

/// The text between the first `before` and the next `after`.
fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    text.split_once(before).and_then(|(_, rest)| rest.split_once(after)).unwrap_or_else(|| panic!("no {before}")).0
}

#[test]
fn the_image_is_built_with_the_toolchain_of_the_repository() {
    let dockerfile = read("deploy/Dockerfile");
    let channel = between(&read("rust-toolchain.toml"), "channel = \"", "\"").to_owned();
    let base = instructions(&dockerfile, "ARG").into_iter().find_map(|arg| arg.strip_prefix("RUST=")).unwrap();
    assert!(base.starts_with(&format!("docker.io/library/rust:{channel}-")), "{base} is not {channel}");
    assert!(dockerfile.contains("\nRUN cargo build --release --locked --package agent-kourier\n"));
}

#[test]
fn the_image_is_built_from_all_that_the_workspace_consists_of() {
    let dockerfile = read("deploy/Dockerfile");
    let copied = copied(&dockerfile);
    let manifest = read("Cargo.toml");
    let members = between(&manifest, "members = [", "]").split(',').map(|member| member.trim().trim_matches('"'));
    let others = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "probes", "wit"];
    for needed in members.filter(|member| !member.is_empty()).chain(others) {
        let covered = copied.iter().any(|path| needed == *path || needed.starts_with(&format!("{path}/")));
        assert!(covered, "{needed} is not copied into the image's build");
    }
    let ignore = read("deploy/Dockerfile.dockerignore");
    for path in copied {
        assert!(repository(path).exists(), "{path} is copied and is not there");
        assert!(ignore.lines().any(|line| line == format!("!{path}")), "{path} is ignored and copied");
    }
}

#[test]
fn the_chart_runs_the_image_as_it_is_made() {
    let dockerfile = read("deploy/Dockerfile");
    let values = values();
    let user = values["runAsUser"].as_u64().unwrap();
    assert_eq!(instructions(&dockerfile, "USER"), [format!("{user}:{user}")]);
    assert_eq!(instructions(&dockerfile, "EXPOSE"), [values["admin"]["port"].to_string()]);
    assert_eq!(instructions(&dockerfile, "ENTRYPOINT"), ["[\"/agent-kourier\"]"]);
    let deployment = read("deploy/chart/agent-kourier/templates/deployment.yaml");
    let args: Vec<&str> = between(&deployment, "args: [", "]").split(", ").collect();
    assert_eq!(instructions(&dockerfile, "CMD"), [format!("[\"{}\"]", args.join("\", \""))]);
}

#[test]
fn the_chart_installs_this_version() {
    let version = between(&read("Cargo.toml"), "[workspace.package]\nversion = \"", "\"").to_owned();
    assert_eq!(yaml(&read("deploy/chart/agent-kourier/Chart.yaml"))["appVersion"], version);
}
