//! `agent-kourier probe run`: one component once, against a live peer.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use kourier_core::accept::Rules;
use kourier_core::check;
use kourier_core::egress::{DenyRule, EgressRules};
use kourier_core::line::escaped;
use kourier_core::object::{AgentBackendSpec, Auth, AuthScheme, ChatConnectionSpec, DEFAULT_BROKER, SecretRef};
use kourier_core::outcome::{Fault, Outcome as Ended};
use kourier_core::platform::Platforms;
use kourier_core::reason::{BackendReason, ChannelReason, ConditionType, Status};
use kourier_core::snapshot::Problem;
use kourier_core::url::BaseUrl;
use kourier_sandbox::endpoint::Credential;
use kourier_sandbox::{AgentTarget, ChatTarget, Connector, Endpoint, Limits, ProbeKind, Run, Sandbox, Secret, Trust};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::cases::case::Verdict;
use crate::cli::{self, Failure, Format, Outcome};
use crate::components::{self, Loaded};
use crate::secrets;
use crate::shown::Shown;

/// Run a probe component once, against a live peer.
///
/// Exit codes: 0 the verdict is ok, 1 it is another one, 2 the component or the peer cannot be used as given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A built-in component's name, or a file.
    component: String,
    /// The agent's URL, or the base of the platform's API: without it, the platform's own.
    #[arg(long)]
    url: Option<String>,
    /// The only place of an agent's card below the URL.
    #[arg(long, value_name = "PATH")]
    card_path: Option<String>,
    /// The channel's id.
    #[arg(long, value_name = "ID")]
    channel: Option<String>,
    /// A setting of the platform; may be given several times.
    #[arg(long = "setting", value_name = "KEY=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// The file that holds the credential.
    #[arg(long, value_name = "FILE", conflicts_with = "credential_env")]
    credential_file: Option<PathBuf>,
    /// The environment variable that holds the credential. It is never given as an argument: others could see it.
    #[arg(long, value_name = "NAME")]
    credential_env: Option<String>,
    /// The header that carries an agent's credential, instead of `Authorization: Bearer`.
    #[arg(long, value_name = "NAME")]
    credential_header: Option<String>,
    /// The file of the certificates (PEM) that are trusted instead of the system's.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Let the probe reach this machine.
    #[arg(long)]
    allow_loopback: bool,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// How a run ended, for people and programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Report {
    component: String,
    digest: String,
    /// In the words of the interface.
    verdict: String,
    /// The condition that the broker would write.
    #[serde(rename = "type")]
    condition: &'static str,
    status: &'static str,
    reason: &'static str,
    message: String,
    causes: Vec<String>,
    advice: Vec<String>,
    dropped_lines: u32,
    requests: u32,
    seconds: f64,
    cpu_seconds: f64,
}

/// Runs the component and prints how it ended.
///
/// # Errors
///
/// When the component or what it is to check cannot be used.
pub fn run(args: &Args) -> Outcome {
    let limits = Limits::default();
    let sandbox = Sandbox::new(limits.clone()).map_err(Failure::internal)?;
    let component = components::load_one(&sandbox, &args.component).map_err(Failure::input)?;
    check_args(args, component.component.kind()).map_err(Failure::input)?;
    let rules = EgressRules { allow_loopback: args.allow_loopback, ..EgressRules::default() };
    let connector = Connector::new(rules, limits.body).map_err(Failure::internal)?;
    let peer = endpoint(args, component.component.kind(), connector).map_err(Failure::input)?;
    let report = cli::block_on(async { checked(args, &sandbox, &component, peer).await.map_err(Failure::input) })?;
    match args.output {
        Format::Json => cli::print_json(&report)?,
        Format::Table => cli::print(&report.render())?,
    }
    let good = report.status == Status::True.as_str();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn checked(args: &Args, sandbox: &Sandbox, component: &Loaded, peer: Endpoint) -> anyhow::Result<Report> {
    match component.component.kind() {
        ProbeKind::Agent => {
            let target = AgentTarget { card_path: args.card_path.clone() };
            let run = sandbox.check_agent(&component.component, target, peer).await;
            Ok(Report::new(component, &run, (ConditionType::BackendReachable, said_of_agent)))
        }
        ProbeKind::Chat { .. } => {
            let channel = args.channel.clone().context("which channel? give --channel")?;
            let target = ChatTarget { channel, settings: args.settings.iter().cloned().collect() };
            let run = sandbox.check_chat(&component.component, target, peer).await;
            Ok(Report::new(component, &run, (ConditionType::ChannelJoined, said_of_channel)))
        }
    }
}

/// What a run says: the verdict, the status, the reason, its meaning and its advice.
type Said = (Verdict, Status, [&'static str; 3]);
/// Says it for one kind of probe.
type Say<R> = fn(Ended<R>, Option<Fault>) -> Said;

fn said_of_agent(ended: Ended<BackendReason>, fault: Option<Fault>) -> Said {
    let reason = ended.reason;
    (Verdict::of_agent(ended, fault), reason.status(), [reason.as_str(), reason.meaning(), reason.advice()])
}

fn said_of_channel(ended: Ended<ChannelReason>, fault: Option<Fault>) -> Said {
    let reason = ended.reason;
    (Verdict::of_chat(ended, fault), reason.status(), [reason.as_str(), reason.meaning(), reason.advice()])
}

/// What to do where a rule of egress was in the way that a flag lifts.
fn way_out(denied: &[DenyRule]) -> Option<String> {
    let lifted = denied.contains(&DenyRule::Loopback);
    lifted.then(|| "with --allow-loopback the probe may reach this machine".to_owned())
}

impl Report {
    fn new<R: Copy>(component: &Loaded, run: &Run<R>, (condition, said): (ConditionType, Say<R>)) -> Self {
        let (verdict, status, [reason, meaning, advice]) = said(run.outcome, run.fault);
        Self {
            component: component.name.clone(),
            digest: component.component.digest().to_owned(),
            verdict: verdict.to_string(),
            condition: condition.as_str(),
            status: status.as_str(),
            reason,
            message: format!("{meaning} {advice}").trim_end().to_owned(),
            causes: run.causes.clone(),
            advice: run.advice.iter().cloned().chain(way_out(&run.denied)).collect(),
            dropped_lines: run.dropped,
            requests: run.requests,
            seconds: run.wall.as_secs_f64(),
            cpu_seconds: run.cpu.as_secs_f64(),
        }
    }

    fn render(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<10} {value}");
        };
        line("verdict", &self.verdict);
        line("condition", &format!("{}={} {}", self.condition, self.status, self.reason));
        line("message", &self.message);
        self.causes.iter().for_each(|cause| line("cause", cause));
        self.advice.iter().for_each(|advice| line("advice", advice));
        if self.dropped_lines > 0 {
            line("dropped", &format!("{} lines of the journal", self.dropped_lines));
        }
        line("requests", &self.requests.to_string());
        let (wall, cpu) = (Duration::from_secs_f64(self.seconds), Duration::from_secs_f64(self.cpu_seconds));
        line("took", &format!("{:.1} ms, of which {:.1} ms CPU", millis(wall), millis(cpu)));
        text
    }
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

fn endpoint(args: &Args, kind: &ProbeKind, connector: Connector) -> anyhow::Result<Endpoint> {
    let given = args.url.as_deref().map(BaseUrl::parse).transpose().map_err(|what| anyhow!("--url: {what}"))?;
    let (base, absolute_name) = match (given, kind) {
        (Some(url), _) => (url, false),
        (None, ProbeKind::Agent) => bail!("where is the agent? give --url"),
        (None, ProbeKind::Chat { descriptor, .. }) => {
            let own = descriptor.default_url.clone().context("this platform has no URL of its own: give --url")?;
            (own, true)
        }
    };
    let trust = match &args.ca_file {
        Some(file) => secrets::trust_file(file).with_context(named("--ca-file", file))?,
        None => Trust::System,
    };
    Ok(Endpoint { base, credential: credential(args, kind)?, trust, absolute_name, transport: Arc::new(connector) })
}

fn credential(args: &Args, kind: &ProbeKind) -> anyhow::Result<Option<Credential>> {
    let secret = match (&args.credential_file, &args.credential_env) {
        (Some(file), _) => secrets::credential_file(file).with_context(named("--credential-file", file))?,
        (None, Some(name)) => of_environment(name).with_context(|| format!("the environment variable {name:?}"))?,
        (None, None) => match kind {
            ProbeKind::Agent => return Ok(None),
            ProbeKind::Chat { .. } => bail!("the bot's credential? give --credential-file or --credential-env"),
        },
    };
    Ok(Some(placed(args, kind, secret)))
}

fn of_environment(name: &str) -> anyhow::Result<Secret> {
    // What is no text is not printed either.
    let content = Zeroizing::new(env::var_os(name).context("is not set")?.into_encoded_bytes());
    Ok(secrets::credential(&content)?)
}

fn placed(args: &Args, kind: &ProbeKind, secret: Secret) -> Credential {
    match (kind, &args.credential_header) {
        (ProbeKind::Agent, None) => Credential::bearer(secret),
        (ProbeKind::Agent, Some(name)) => {
            Credential::Header { name: name.to_ascii_lowercase(), prefix: String::new(), secret }
        }
        (ProbeKind::Chat { descriptor, .. }, _) => {
            let settings: BTreeMap<String, String> = args.settings.iter().cloned().collect();
            Credential::placed(&descriptor.credential, &settings, secret)
        }
    }
}

/// Checks what is given by what a probe of this kind takes, and by what a broker would check of the objects that say it.
fn check_args(args: &Args, kind: &ProbeKind) -> anyhow::Result<()> {
    let rules = |platforms| Rules { broker: DEFAULT_BROKER.to_owned(), platforms, single_label_hosts: true };
    let (foreign, problems) = match kind {
        ProbeKind::Agent => {
            let foreign = [("--channel", args.channel.is_some()), ("--setting", !args.settings.is_empty())];
            (foreign, check::backend(&backend(args), &rules(Platforms::new())))
        }
        ProbeKind::Chat { platform, descriptor } => {
            let foreign =
                [("--card-path", args.card_path.is_some()), ("--credential-header", args.credential_header.is_some())];
            let platforms = Platforms::from([(platform.clone(), descriptor.clone())]);
            (foreign, check::connection(&connection(args, platform), &rules(platforms)))
        }
    };
    let mut wrong: Vec<String> =
        foreign.iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| not_of(flag, kind)).collect();
    if args.credential_header.is_some() && args.credential_file.is_none() && args.credential_env.is_none() {
        wrong.push("--credential-header: has no credential: give --credential-file or --credential-env".to_owned());
    }
    let mut keys = BTreeSet::new();
    let twice = args.settings.iter().filter(|(key, _)| !keys.insert(key));
    wrong.extend(twice.map(|(key, _)| format!("--setting {}: stands twice: give it once", escaped(key))));
    if let (ProbeKind::Chat { descriptor, .. }, Some(channel)) = (kind, &args.channel)
        && !descriptor.channel_pattern.is_match(channel)
    {
        let pattern = &descriptor.channel_pattern;
        wrong.push(format!("--channel: it is not an id of this platform: those match {pattern}"));
    }
    // Of the URL it is said where it is read.
    wrong.extend(problems.iter().filter(|problem| problem.path != "spec.url").map(flagged));
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("; ")) }
}

fn not_of(flag: &str, kind: &ProbeKind) -> String {
    let kind = match kind {
        ProbeKind::Agent => "an agent probe",
        ProbeKind::Chat { .. } => "a chat probe",
    };
    format!("{flag}: {kind} takes none: remove it")
}

/// A problem of a field, as one of the flag that says it.
fn flagged(problem: &Problem) -> String {
    let what = &problem.what;
    match problem.path.strip_prefix("spec.settings.") {
        Some(key) => format!("--setting {key}: {what}"),
        None => match problem.path.as_str() {
            "spec.cardPath" => format!("--card-path: {what}"),
            "spec.auth.header" => format!("--credential-header: {what}"),
            "spec.settings" => format!("--setting: {what}"),
            _ => problem.to_string(),
        },
    }
}

fn backend(args: &Args) -> AgentBackendSpec {
    let auth = |header| Auth { scheme: AuthScheme::Header, header: Some(header), secret_ref: secret_ref() };
    AgentBackendSpec {
        url: args.url.clone().unwrap_or_default(),
        card_path: args.card_path.clone(),
        auth: args.credential_header.clone().map(auth),
        tls: None,
        allowed_namespaces: Vec::new(),
    }
}

fn connection(args: &Args, platform: &str) -> ChatConnectionSpec {
    ChatConnectionSpec {
        platform: platform.to_owned(),
        broker: None,
        url: args.url.clone(),
        settings: args.settings.iter().cloned().collect(),
        secret_ref: secret_ref(),
        tls: None,
        allowed_namespaces: Vec::new(),
    }
}

/// A Secret that nobody reads.
fn secret_ref() -> SecretRef {
    SecretRef { name: "credential".to_owned(), key: "token".to_owned() }
}

fn named(flag: &str, file: &Path) -> impl Fn() -> String {
    move || format!("{flag}: {}", Shown(file))
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it like teamId=T0001")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_in_one_line_a_fact() {
        let report = Report {
            component: "agent-card".to_owned(),
            digest: "d".to_owned(),
            verdict: "agent-not-found".to_owned(),
            condition: "BackendReachable",
            status: "False",
            reason: "AgentNotFound",
            message: "There is no agent card where one was looked for.".to_owned(),
            causes: vec!["404 at /.well-known/agent-card.json".to_owned()],
            advice: Vec::new(),
            dropped_lines: 2,
            requests: 2,
            seconds: 0.0123,
            cpu_seconds: 0.0004,
        };
        assert_eq!(
            report.render(),
            "\
verdict    agent-not-found
condition  BackendReachable=False AgentNotFound
message    There is no agent card where one was looked for.
cause      404 at /.well-known/agent-card.json
dropped    2 lines of the journal
requests   2
took       12.3 ms, of which 0.4 ms CPU
"
        );
    }
}
