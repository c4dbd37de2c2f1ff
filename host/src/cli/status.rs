//! `agent-kourier status`: what `kubectl get akbinding` shows, asked of the running broker or of a cluster.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use kourier_kube::api::{Binding, BindingList};
use tokio::time::{Instant, sleep};

use crate::cli::cluster::ClusterArgs;
use crate::cli::{self, Failure, Outcome, table};
use crate::clock;
use crate::duration;

mod ask;
mod view;

use ask::{Asked, Broker};
use view::Columns;

/// From one question to the next while it watches or waits.
const LOOK: Duration = Duration::from_millis(500);

/// Shows what `kubectl get akbinding` shows, asked of the running broker, or of the API server of a kubeconfig.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only the Binding of this name, as NAMESPACE/NAME; NAME alone is looked for in --namespace, or in all.
    #[arg(value_name = "NAMESPACE/NAME")]
    name: Option<String>,
    /// Only the Bindings of this namespace. Without it, those of all namespaces.
    #[arg(short, long, value_name = "NS")]
    namespace: Option<String>,
    /// The Bindings of all namespaces: as without --namespace.
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
    /// The admin address of the broker, as its setting `admin.listen` has it.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9090", env = "AGENT_KOURIER_ADMIN", value_parser = ask::address)]
    admin: Option<String>,
    /// Ask the API server instead of a broker; so do --kubeconfig and --context.
    #[arg(long)]
    cluster: bool,
    #[command(flatten)]
    server: ClusterArgs,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
    /// Print what changes, until it is interrupted.
    #[arg(short, long, conflicts_with = "wait")]
    watch: bool,
    /// Wait until every Binding that is asked for is Ready at its newest generation. Exit code 1: not within --timeout.
    #[arg(long)]
    wait: bool,
    /// How long to wait, for example `90s` or `2m`.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = timeout, requires = "wait")]
    timeout: Duration,
}

/// How Bindings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// The columns of kubectl.
    #[default]
    Table,
    /// The columns of kubectl, and the message of Ready.
    Wide,
    /// The objects with their status, as JSON.
    Json,
    /// The same as YAML.
    Yaml,
}

/// Prints what was asked for.
///
/// # Errors
///
/// When what is asked for cannot be a Binding, or nobody answers.
pub fn run(args: &Args) -> Outcome {
    let args = &args.parted()?;
    cli::block_on(async {
        let asked = match args.broker() {
            Some(admin) => Asked::Broker(Broker::new(admin).map_err(Failure::internal)?),
            None => Asked::cluster(&args.server.access(), args.namespace.clone()).await.map_err(Failure::input)?,
        };
        if args.watch {
            return watch(args, &asked).await;
        }
        if args.wait {
            return wait(args, &asked).await;
        }
        let answer = asked.bindings().await.map_err(Failure::input)?;
        if answer.problems > 0 {
            cli::complain(&broken_files(answer.problems));
        }
        show(args, &select(args, answer.list))
    })
}

fn broken_files(problems: usize) -> String {
    let count = if problems == 1 { "a problem".to_owned() } else { format!("{problems} problems") };
    format!("the files have {count}: `agent-kourier check` names them, and so does the broker's log")
}

/// The command as kubectl's plugin: it asks the cluster, unless `--admin` names a broker.
pub fn of_the_cluster(command: clap::Command) -> clap::Command {
    let command =
        command.about("Shows what `kubectl get akbinding` shows, asked of the API server, or with --admin of a broker");
    command
        .mut_arg("admin", |admin| admin.env(None).default_value(None))
        .mut_arg("cluster", |cluster| cluster.hide(true))
}

impl Args {
    /// The admin address of the broker that is asked; none: the API server is.
    pub(super) fn broker(&self) -> Option<&str> {
        self.admin.as_deref().filter(|_| !self.cluster && !self.server.is_given())
    }

    /// The same, with the namespace and the name of NAMESPACE/NAME apart.
    fn parted(&self) -> Result<Self, Failure> {
        let Some(written) = &self.name else { return Ok(self.clone()) };
        let (namespace, name) = cli::binding(written, self.namespace.as_deref())?;
        Ok(Self { namespace: namespace.map(str::to_owned), name: Some(name.to_owned()), ..self.clone() })
    }
}

fn select(args: &Args, list: BindingList) -> Vec<Binding> {
    let wanted = |asked: &Option<String>, is: &str| asked.as_deref().is_none_or(|asked| asked == is);
    let mut found = list.items;
    found.retain(|binding| {
        wanted(&args.namespace, &binding.metadata.namespace) && wanted(&args.name, &binding.metadata.name)
    });
    found
}

fn show(args: &Args, found: &[Binding]) -> Outcome {
    match args.output {
        Output::Table | Output::Wide if found.is_empty() => cli::complain(&nothing(args)),
        Output::Table | Output::Wide => {
            let lines = found.iter().map(|binding| columns(args).cells(binding, clock::now()));
            cli::print(&table::render(columns(args).header(), lines))?;
        }
        Output::Json | Output::Yaml => print_objects(args, found)?,
    }
    let missing = args.name.is_some() && found.is_empty();
    Ok(if missing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

const fn columns(args: &Args) -> Columns {
    Columns { namespace: args.namespace.is_none(), message: matches!(args.output, Output::Wide) }
}

fn nothing(args: &Args) -> String {
    let what = args.name.as_ref().map_or_else(|| "no Bindings".to_owned(), |name| format!("no Binding {name:?}"));
    let place = args.namespace.as_ref().map_or_else(String::new, |namespace| format!(" in namespace {namespace}"));
    format!("{what}{place}")
}

/// The one object that was named, or a List.
fn print_objects(args: &Args, found: &[Binding]) -> Result<(), Failure> {
    match found {
        [one] if args.name.is_some() && args.namespace.is_some() => print_object(args, one),
        several => print_object(args, &BindingList::new(several.to_vec())),
    }
}

fn print_object(args: &Args, object: &impl serde::Serialize) -> Result<(), Failure> {
    match args.output {
        Output::Yaml => cli::print(&serde_saphyr::to_string(object).map_err(Failure::internal)?),
        Output::Table | Output::Wide | Output::Json => cli::print_json(object),
    }
}

async fn wait(args: &Args, asked: &Asked) -> Outcome {
    // None: so far away that it never comes.
    let until = Instant::now().checked_add(args.timeout);
    loop {
        let answer = asked.bindings().await.map(|answer| select(args, answer.list));
        let good = answer.as_ref().is_ok_and(|found| !found.is_empty() && found.iter().all(view::is_ready));
        if !good && until.is_none_or(|until| Instant::now() < until) {
            sleep(LOOK).await;
            continue;
        }
        let found = answer.map_err(Failure::input)?;
        show(args, &found)?;
        if good {
            return Ok(ExitCode::SUCCESS);
        }
        cli::complain(&format!("not Ready within {:?}: {}", args.timeout, view::names_of_unready(&found)));
        return Ok(ExitCode::FAILURE);
    }
}

/// Prints all, and then each Binding that changed or is gone. It ends when it is interrupted, or nobody reads any more.
async fn watch(args: &Args, asked: &Asked) -> Outcome {
    tokio::select! {
        () = cli::deaf(std::io::stdout()) => Ok(ExitCode::SUCCESS),
        ended = follow(args, asked) => ended,
    }
}

/// A question that fails, as while the broker restarts, is told once, and asked again.
async fn follow(args: &Args, asked: &Asked) -> Outcome {
    let mut shown: BTreeMap<(String, String), Binding> = BTreeMap::new();
    let mut paper = table::Paper::new(columns(args).header());
    let mut trouble: Option<String> = None;
    loop {
        match asked.bindings().await.map(|answer| view::changes(&mut shown, select(args, answer.list))) {
            Ok(changed) => {
                if trouble.take().is_some() {
                    cli::complain("there is an answer again");
                }
                show_changes(args, &mut paper, &changed)?;
            }
            Err(error) => {
                let said = format!("{error:#}");
                if trouble.as_ref() != Some(&said) {
                    cli::complain(&said);
                    trouble = Some(said);
                }
            }
        }
        sleep(LOOK).await;
    }
}

fn show_changes(args: &Args, paper: &mut table::Paper, changed: &[Binding]) -> Result<(), Failure> {
    if matches!(args.output, Output::Table | Output::Wide) {
        let lines = changed.iter().map(|binding| columns(args).cells(binding, clock::now()));
        return cli::print(&paper.lines(lines));
    }
    changed.iter().try_for_each(|binding| print_object(args, binding))
}

fn timeout(text: &str) -> Result<Duration, String> {
    duration::parse(text).ok_or_else(|| format!("write {}", duration::RIGHT))
}
