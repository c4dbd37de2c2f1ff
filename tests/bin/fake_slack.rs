//! `fake-slack SEED [ADDRESS]`: a Slack on a loopback address, with the workspace that a YAML or JSON file describes.
//!
//! It is changed while it runs: `curl -X POST 'http://ADDRESS/fake/archive?channel=C1'`, likewise `unarchive`,
//! `invite` and `kick` (with `user`), `revoke` (`token`), `limit` (`method`, `requests`, `seconds`) and `outage`
//! (`method`, `times`); `GET /fake/requests` counts.

use std::net::SocketAddr;

use anyhow::Context;
use suite::slack::{FakeSlack, Seed};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: fake-slack SEED [ADDRESS]";
    let seed = arguments.next().filter(|seed| !seed.starts_with('-')).context(usage)?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8787".to_owned());
    let address: SocketAddr = address.parse().with_context(|| format!("{address} is not an address with a port"))?;
    let text = std::fs::read_to_string(&seed).with_context(|| format!("cannot read {seed}"))?;
    let (workspace, limits) = Seed::read(&text).with_context(|| format!("{seed} is not a workspace"))?.build();
    let fake = FakeSlack::start_at(address, workspace).await.with_context(|| format!("cannot listen on {address}"))?;
    fake.set_limits(limits);
    // Whoever started it with port 0 reads the port here.
    println!("{}", fake.url());
    fake.join().await;
    Ok(())
}
