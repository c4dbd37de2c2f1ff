//! The subcommands that need no broker, as a person calls them.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use suite::broker::{program, run};
use suite::leak::Forbidden;

/// Runs a subcommand: its exit code, what it printed, and what it said went wrong.
fn said(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// An address on which nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn exit_codes_tell_bad_usage_from_what_was_found() {
    let nobody = nobody();
    let url = format!("http://{nobody}");
    let cases: [(&[&str], i32, &str); 8] = [
        (&["--version"], 0, ""),
        (&["explain", "ChannelConflict"], 0, ""),
        (&["explain", "ChanelConflict"], 2, "Did you mean ChannelConflict?"),
        (&["status", "--admin", &nobody], 2, "no broker answers at"),
        (&["status", "--frobnicate"], 2, "unexpected argument"),
        (&["run", "--config", "/nowhere/settings.yaml"], 2, "/nowhere/settings.yaml"),
        (&["probe", "run", "agent-card", "--url", &url, "--allow-loopback"], 1, ""),
        (&["probe", "run", "nothing", "--url", &url], 2, "built-in"),
    ];
    for (arguments, expected, words) in cases {
        let (code, _, error) = said(arguments);
        assert_eq!(code, Some(expected), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
}

#[test]
fn bad_usage_names_the_flag_and_what_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo.yaml").display().to_string();
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let dir = folder.path().display().to_string();
    let probe = ["probe", "run", "agent-card", "--url", "http://127.0.0.1:9", "--credential-file", &fifo];
    let cases: [(&[&str], &[&str]); 11] = [
        (&["check", ".", "--broker", "A B"], &["--broker", "write a name"]),
        (&["check", ".", "--config", &fifo], &[&fifo, "is not a file"]),
        (&["components", "--config", &fifo], &[&fifo, "is not a file"]),
        (&["check", ".", "--components", "/nowhere"], &["--components", "/nowhere", "No such file"]),
        (&["status", "--admin", "http://127.0.0.1:9090"], &["--admin", "without http://"]),
        (&["status", "--admin", "127.0.0.1"], &["--admin", "has no port: write HOST:PORT"]),
        (&["status", "--wait", "--timeout", "90"], &["--timeout", "such as 250ms, 15s"]),
        (&["run", "--config", &fifo], &[&fifo, "is not a file"]),
        (&["run", "--config", "/dev/zero"], &["/dev/zero", "is not a file"]),
        (&["probe", "test", &dir], &[&fifo, "is not a file"]),
        (&probe, &["--credential-file", &fifo, "is not a file"]),
    ];
    for (arguments, words) in cases {
        let (code, _, error) = said(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        words.iter().for_each(|word| assert!(error.contains(word), "{arguments:?}: {error}"));
    }
}

#[test]
fn check_tells_of_a_component_that_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broken.wasm"), "no").unwrap();
    let dir = folder.path().display().to_string();
    let (code, text, _) = said(&["check", &dir, "--components", &dir]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("broken.wasm: is no probe component that can be used: not a WebAssembly"), "{text}");
}

#[test]
fn the_settings_of_a_broker_mean_the_same_to_check_and_to_components() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (settings, objects, none) = (path("settings.yaml"), path("objects.yaml"), path("none"));
    std::fs::create_dir(&none).unwrap();
    std::fs::write(path("broken.wasm"), "no").unwrap();
    let text = format!("broker: east\nconfig: {{source: crds}}\ncomponents: {{dir: {}}}\n", folder.path().display());
    std::fs::write(&settings, text).unwrap();
    std::fs::write(
        &objects,
        "apiVersion: agentkourier.io/v1alpha1\nkind: AgentBackend\nmetadata: {namespace: a, name: agents}\n\
         spec: {url: \"http://agents\"}\n---\n\
         apiVersion: agentkourier.io/v1alpha1\nkind: ChatConnection\nmetadata: {namespace: a, name: chat}\n\
         spec: {platform: slack, broker: west, secretRef: {name: bot, key: token}}\n---\n\
         apiVersion: agentkourier.io/v1alpha1\nkind: Binding\nmetadata: {namespace: a, name: b}\n\
         spec: {agent: {backendRef: {name: none}}, chat: {connectionRef: {name: chat}, channel: C1}}\n",
    )
    .unwrap();
    let check = |more: &[&str], expected: &[&str]| {
        let (code, text, error) = said(&[&["check", &objects, "--config", &settings], more].concat());
        assert_eq!(code, Some(1), "{more:?}: {error}");
        let count = format!("{} problem{}\n", expected.len(), if expected.len() == 1 { "" } else { "s" });
        assert!(text.ends_with(&count) && expected.iter().all(|words| text.contains(words)), "{more:?}: {text}");
    };
    check(&[], &["broken.wasm: is no probe component", "has a host without a dot"]);
    check(&["--components", &none], &["has a host without a dot"]);
    let lost = "there is no AgentBackend a/none";
    check(&["--components", &none, "--broker", "west"], &["has a host without a dot", lost]);
    let (code, text, _) = said(&["components", "--config", &settings]);
    assert!(code == Some(1) && text.contains("broken.wasm"), "{text}");
    let (code, text, _) = said(&["components", "--config", &settings, "--components", &none]);
    assert!(code == Some(0) && !text.contains("broken.wasm"), "{text}");
}

#[test]
fn a_problem_of_a_backend_is_told_once_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "apiVersion: agentkourier.io/v1alpha1\nkind: AgentBackend\nmetadata: {namespace: a, name: agents}\n\
                    spec: {url: ftp://agents.example}\n---\n\
                    apiVersion: agentkourier.io/v1alpha1\nkind: ChatConnection\nmetadata: {namespace: a, name: chat}\n\
                    spec: {platform: slack, secretRef: {name: bot, key: token}}\n"
        .to_owned();
    for (name, channel) in [("one", "C1"), ("two", "C2")] {
        text += &format!(
            "---\napiVersion: agentkourier.io/v1alpha1\nkind: Binding\nmetadata: {{namespace: a, name: {name}}}\n\
             spec: {{agent: {{backendRef: {{name: agents}}}}, chat: {{connectionRef: {{name: chat}}, channel: {channel}}}}}\n"
        );
    }
    let file = folder.path().join("a.yaml");
    std::fs::write(&file, text).unwrap();
    let (code, text, _) = said(&["check", &file.display().to_string()]);
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(text.matches("spec.url").count(), 1, "{text}");
    assert!(text.ends_with("4 objects, 1 problem\n"), "{text}");
}

#[test]
fn components_lists_the_built_in_ones_and_refuses_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broken.wasm"), "no").unwrap();
    let dir = folder.path().display().to_string();
    let (code, text, _) = said(&["components", "--output", "json"]);
    assert_eq!(code, Some(0));
    let listing: serde_json::Value = serde_json::from_str(&text).unwrap();
    let names: Vec<&str> = listing["loaded"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["agent-card", "slack"]);
    let (code, text, _) = said(&["components", "--components", &dir]);
    assert_eq!(code, Some(1));
    assert!(text.contains("REFUSED") && text.contains("broken.wasm"), "{text}");
}

#[test]
fn a_probe_without_its_credential_is_bad_usage() {
    let (code, _, error) = said(&["probe", "run", "slack", "--channel", "C0000000001"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("--credential-file or --credential-env"), "{error}");
}

/// What stands around a credential that cannot be used as it is written.
const UNUSABLE: [&[u8]; 4] = [b"\xff", b" ", b"\n\n", b"\x07"];
/// How a kubeconfig's user is written who cannot be read.
const USERS: [&str; 7] = [
    "user:\n    token: TOKEN\n   password: [",
    "user:\n    token: \"TOKEN\\n\"",
    // The file that the test wrote last.
    "user:\n    tokenFile: token",
    "user:\n    auth-provider: {name: oidc, config: {id-token: \"TOKEN\\e\"}}",
    "user: TOKEN",
    "user:\n    username: u\n    password: [TOKEN]",
    "user:\n    client-certificate-data: TOKEN\n    client-key-data: TOKEN",
];

#[test]
fn a_credential_that_cannot_be_used_is_not_printed() {
    const TOKEN: &str = "xoxb-7f3a9c51d2e8-unusable";
    let folder = tempfile::tempdir().unwrap();
    let (file, config) = (folder.path().join("token"), folder.path().join("kubeconfig"));
    let settings = folder.path().join("settings.yaml");
    let check = |command: &mut Command, words: &str| {
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(matches!(output.status.code(), Some(2 | 3)) && said.contains(words), "{command:?}: {said}");
        assert_eq!(Forbidden::new().secret(TOKEN).in_log("the output", &said), [], "{command:?}");
    };
    for around in UNUSABLE {
        let content = [TOKEN.as_bytes(), around].concat();
        std::fs::write(&file, &content).unwrap();
        let probe = || {
            let mut command = Command::new(program());
            command.args(["probe", "run", "agent-card", "--url", "http://127.0.0.1:9"]);
            command
        };
        check(probe().arg("--credential-file").arg(&file), "--credential-file");
        check(probe().args(["--credential-env", "TOKEN"]).env("TOKEN", OsStr::from_bytes(&content)), "TOKEN");
    }
    for user in USERS {
        let text = format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: \"https://127.0.0.1:9\"}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\ncurrent-context: c\nusers:\n- name: u\n  {}\n",
            user.replace("TOKEN", TOKEN)
        );
        std::fs::write(&config, text).unwrap();
        std::fs::write(
            &settings,
            format!(
                "config: {{source: crds}}\nkubernetes: {{kubeconfig: {}}}\nstorePath: {}\n",
                config.display(),
                folder.path().join("store.db").display()
            ),
        )
        .unwrap();
        let no_way = "no way to an API server";
        check(Command::new(program()).args(["why", "a/b", "--kubeconfig"]).arg(&config), no_way);
        check(Command::new(program()).args(["status", "--context", "c"]).env("KUBECONFIG", &config), no_way);
        check(Command::new(program()).args(["status", "--cluster"]).env("KUBECONFIG", &config), no_way);
        let run = ["run", "--admin", "127.0.0.1:0", "--config"];
        check(Command::new(program()).args(run).arg(&settings), no_way);
    }
}

#[test]
fn a_run_of_a_probe_says_what_the_status_would_say() {
    let url = format!("http://{}", nobody());
    let (code, text, _) = said(&["probe", "run", "agent-card", "--url", &url, "--allow-loopback", "--output", "json"]);
    assert_eq!(code, Some(1));
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["verdict"], "unreachable");
    assert_eq!(report["type"], "BackendReachable");
    assert_eq!(report["status"], "False");
    assert_eq!(report["reason"], "Unreachable");
    assert!(!report["causes"].as_array().unwrap().is_empty(), "{report}");
}

/// With the pool of instances, terabytes are reserved.
#[test]
fn what_a_probe_cannot_be_given_is_refused_before_anything_is_sent() {
    let agent = ["probe", "run", "agent-card", "--url", "http://127.0.0.1:9"];
    let chat = ["probe", "run", "slack", "--url", "http://127.0.0.1:9", "--channel", "C0000000001"];
    for (base, more, want) in [
        (&agent[..], &["--card-path", "x y"][..], "--card-path: "),
        (&agent, &["--channel", "C1"], "--channel: an agent probe takes none: remove it"),
        (&agent, &["--setting", "a=b"], "--setting: an agent probe takes none: remove it"),
        (&agent, &["--credential-header", "x-key"], "--credential-header: has no credential: give --credential-file"),
        (&agent, &["--credential-env", "PATH", "--credential-header", "bad name"], "--credential-header: "),
        (
            &agent,
            &["--credential-env", "PATH", "--credential-header", "Host"],
            "--credential-header: is a header of the",
        ),
        (&chat, &["--card-path", "/a"], "--card-path: a chat probe takes none: remove it"),
        (
            &chat,
            &["--credential-env", "PATH", "--credential-header", "a"],
            "--credential-header: a chat probe takes none",
        ),
        (&chat, &["--setting", "teamId=T1", "--setting", "teamId=T2"], "--setting teamId: stands twice: give it once"),
        (&chat, &["--setting", "b=c"], "--setting b: is no setting of this platform: it knows teamId"),
    ] {
        let (code, _, error) = said(&[base, more].concat());
        assert_eq!(code, Some(2), "{more:?}: {error}");
        assert!(error.contains(want), "{more:?}: {error}");
    }
}

#[test]
fn probes_run_where_address_space_is_limited() {
    let gib = 1 << 20;
    for limit in ["unlimited".to_owned(), (32 * gib).to_string()] {
        let script = format!("ulimit -v {limit} && exec \"$0\" components");
        let output = Command::new("sh").args(["-c", &script]).arg(program()).output().unwrap();
        assert!(output.status.success(), "{limit}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("slack"), "{limit}: {output:?}");
    }
}

#[test]
fn a_binding_is_named_as_one_word_or_beside_a_namespace() {
    let cases: [(&[&str], &str); 4] = [
        (&["status", "team-a/chat", "-n", "team-a"], "--namespace: the Binding has one already"),
        (&["status", "a/b/c"], "\"a/b/c\" is no Binding: write NAMESPACE/NAME, or NAME"),
        (&["status", "chat", "-n", "Team_A"], "--namespace: "),
        (&["why", "a/b/c", "--kubeconfig", "/nowhere"], "\"a/b/c\" is no Binding"),
    ];
    for (arguments, words) in cases {
        let (code, _, error) = said(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
}

#[test]
fn a_plugin_of_kubectl_asks_the_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("kubectl-kourier");
    std::os::unix::fs::symlink(program(), &plugin).unwrap();
    let said = |arguments: &[&str]| {
        let mut command = Command::new(&plugin);
        command.args(arguments).env("KUBECONFIG", "/nowhere").env("AGENT_KOURIER_ADMIN", nobody());
        String::from_utf8_lossy(&command.stdin(Stdio::null()).output().unwrap().stderr).into_owned()
    };
    assert!(said(&["status"]).contains("no way to an API server"), "{}", said(&["status"]));
    let named = ["status", "--admin", &nobody()];
    assert!(said(&named).contains("no broker answers at"), "{}", said(&named));
}

#[test]
fn a_file_that_is_no_component_is_told_apart_from_a_name_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.wasm").display().to_string();
    std::fs::write(&file, "").unwrap();
    let told = |component: &str| said(&["probe", "run", component, "--url", "http://127.0.0.1:9"]).2;
    assert_eq!(told(&file), format!("error: {file}: it is empty: build it, or copy it again\n"));
    assert!(told("slak").ends_with("a component is a file, or one of the built-in ones: agent-card, slack\n"));
}

#[test]
fn nothing_to_check_is_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "none").unwrap();
    let (code, _, error) = said(&["check", &folder.path().display().to_string()]);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("holds no object to check"), "{error}");
}

#[test]
fn a_probe_that_may_not_reach_this_machine_is_told_the_flag() {
    let (code, text, _) = said(&["probe", "run", "agent-card", "--url", &format!("http://{}", nobody())]);
    assert_eq!(code, Some(1));
    assert!(text.contains("advice     with --allow-loopback the probe may reach this machine"), "{text}");
}
