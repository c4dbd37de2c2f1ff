//! `agent-kourier status`: what `kubectl get akbinding` shows, asked of the running broker.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use clap::ValueEnum;
use tokio::time::{Instant, sleep};

use crate::cli::{self, Failure, Outcome, table};
use crate::clock;
use kourier_kube::api::{Binding, BindingList};

mod ask;
mod view;

use ask::Broker;
use view::Columns;

/// From one question to the next while it watches or waits.
const LOOK: Duration = Duration::from_millis(500);

/// Shows what `kubectl get akbinding` shows, asked of the running broker.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only the Bindings of this name.
    name: Option<String>,
    /// Only the Bindings of this namespace. Without it, those of all namespaces.
    #[arg(short, long, value_name = "NS")]
    namespace: Option<String>,
    /// The admin address of the broker, as its setting `admin.listen` has it.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9090", env = "AGENT_KOURIER_ADMIN")]
    admin: String,
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
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "wait")]
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
/// When no broker answers.
pub fn run(args: &Args) -> Outcome {
    cli::block_on(async {
        let broker = Broker::new(&args.admin).map_err(Failure::internal)?;
        if args.watch {
            return watch(args, &broker).await;
        }
        if args.wait {
            return wait(args, &broker).await;
        }
        let found = select(args, broker.bindings().await.map_err(Failure::input)?);
        show(args, &found)
    })
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

async fn wait(args: &Args, broker: &Broker) -> Outcome {
    // None: so far away that it never comes.
    let until = Instant::now().checked_add(args.timeout);
    loop {
        let answer = broker.bindings().await.map(|list| select(args, list));
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

/// Prints all, and then each Binding that changed or is gone. It ends when it is interrupted.
async fn watch(args: &Args, broker: &Broker) -> Outcome {
    let mut shown: BTreeMap<(String, String), Binding> = BTreeMap::new();
    let mut paper = table::Paper::new(columns(args).header());
    loop {
        let found = select(args, broker.bindings().await.map_err(Failure::input)?);
        let changed = view::changes(&mut shown, found);
        if matches!(args.output, Output::Table | Output::Wide) {
            let lines = changed.iter().map(|binding| columns(args).cells(binding, clock::now()));
            cli::print(&paper.lines(lines))?;
        } else {
            changed.iter().try_for_each(|binding| print_object(args, binding))?;
        }
        sleep(LOOK).await;
    }
}

fn duration(text: &str) -> anyhow::Result<Duration> {
    let parsed: jiff::SignedDuration = text.parse().map_err(|_| anyhow!("write it like 90s or 2m"))?;
    Duration::try_from(parsed).map_err(|_| anyhow!("it must not be negative"))
}
