//! The same card fetched by `blackbox_exporter`, which only looks at the status: what others pay for a plain probe.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

/// Its configuration: one module that does a GET.
const CONFIG: &str = "modules:\n  card:\n    prober: http\n    timeout: 10s\n    http:\n      method: GET\n";

/// A running exporter. It is killed when this is dropped.
pub(crate) struct Blackbox {
    child: Child,
    url: String,
    client: reqwest::Client,
    _config: tempfile::NamedTempFile,
}

impl Blackbox {
    /// Starts the program that `tests/bench/blackbox` installs.
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let program = installed()?;
        let config = tempfile::Builder::new().suffix(".yml").tempfile()?;
        std::fs::write(config.path(), CONFIG)?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let child = Command::new(&program)
            .arg(format!("--config.file={}", config.path().display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--log.level=error")
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?;
        let started = Self { child, url: format!("http://127.0.0.1:{port}"), client, _config: config };
        started.ready().await?;
        Ok(started)
    }

    async fn ready(&self) -> anyhow::Result<()> {
        let until = Instant::now() + Duration::from_secs(20);
        while self.client.get(format!("{}/-/healthy", self.url)).send().await.is_err() {
            ensure!(Instant::now() < until, "blackbox_exporter does not answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Microseconds of its CPU time for one probe of this URL.
    pub(crate) async fn cost(&self, target: &str, times: u32) -> anyhow::Result<f64> {
        // Once to warm up.
        self.probe(target, times / 10 + 1).await?;
        let before = self.cpu()?;
        self.probe(target, times).await?;
        Ok((self.cpu()? - before) * 1e6 / f64::from(times))
    }

    async fn probe(&self, target: &str, times: u32) -> anyhow::Result<()> {
        for _ in 0..times {
            let url = format!("{}/probe?module=card&target={target}", self.url);
            let answer = self.client.get(url).send().await?.text().await?;
            ensure!(answer.contains("\nprobe_success 1"), "blackbox_exporter does not reach {target}");
        }
        Ok(())
    }

    /// Seconds of CPU time, user and system, in the kernel's hundredths.
    fn cpu(&self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields = stat.rsplit(") ").next().context("no fields")?.split(' ').collect::<Vec<_>>();
        let ticks = |index: usize| fields[index].parse::<f64>();
        Ok((ticks(11)? + ticks(12)?) / 100.0)
    }
}

impl Drop for Blackbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn installed() -> anyhow::Result<PathBuf> {
    let setup = concat!(env!("CARGO_MANIFEST_DIR"), "/bench/blackbox");
    let done = Command::new(setup).stderr(Stdio::inherit()).output().context("cannot run tests/bench/blackbox")?;
    if !done.status.success() {
        bail!("tests/bench/blackbox failed");
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&done.stdout).trim()))
}
