//! Many hostile peers at once, against the program itself.

use std::net::Ipv4Addr;
use std::sync::LazyLock;

use suite::broker::{Broker, Setup};
use suite::leak::series;
use suite::peer::{Act, Peer, Seen, answer, send};
use tokio::net::TcpSocket;

use crate::case::Case;
use crate::peers::honest_document;
use crate::published::{self, Text};
use crate::world::PEERS;

/// Backends whose card has no end.
const HOSTILE: usize = 1000;
/// Backends with a good card.
const HONEST: usize = 20;
/// KiB by which the peak of the broker's resident memory may rise.
const MEMORY: u64 = 64 << 10;

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new("load::1000-backends-that-send-endless-bodies", || async {
        let labels = tokio::task::spawn_blocking(endless_backends).await.map_err(|error| error.to_string())??;
        published::text(Text::Public("the labels of the metrics", labels));
        Ok(())
    })]
}

/// The three peers: who sends without end, who is honest, and the chat platform, whose one page has every channel.
fn peers() -> [Peer; 3] {
    static ENDLESS: LazyLock<Vec<Act>> =
        LazyLock::new(|| vec![send("HTTP/1.1 200 OK\r\n\r\n{\"name\": \""), Act::Flood(b"a".as_slice().into(), None)]);
    let channels: Vec<_> =
        (0..HOSTILE + HONEST).map(|number| format!(r#"{{"id":"C{number}","is_archived":false}}"#)).collect();
    let listing = format!(r#"{{"ok":true,"channels":[{}]}}"#, channels.join(","));
    PEERS.block_on(async {
        // What lies in the sockets' buffers is work for this machine and shows nothing.
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_send_buffer_size(64 << 10).expect("a small buffer");
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a port");
        let listener = socket.listen(128).expect("a port");
        let endless = Peer::on(listener, |_: &Seen| ENDLESS.clone()).expect("an address");
        let honest = Peer::start(|_: &Seen| vec![answer("200 OK", "", honest_document("").as_bytes())]);
        let chat = Peer::start(move |_: &Seen| vec![answer("200 OK", "", listing.as_bytes())]);
        [endless, honest.await.expect("a port"), chat.await.expect("a port")]
    })
}

/// The objects.
fn manifest([endless, honest, chat]: &[Peer; 3]) -> String {
    let mut text = format!(
        "apiVersion: agentkourier.io/v1alpha1\nkind: ChatConnection\nmetadata: {{namespace: team-a, name: chat}}\n\
         spec: {{platform: slack, url: \"{}\", secretRef: {{name: chat, key: token}}}}\n",
        chat.url()
    );
    for number in 0..HOSTILE + HONEST {
        let peer = if number < HOSTILE { endless } else { honest };
        text += &format!(
            "---\napiVersion: agentkourier.io/v1alpha1\nkind: AgentBackend\nmetadata: {{namespace: team-a, name: b{number}}}\n\
             spec: {{url: \"{}/{number}\"}}\n---\napiVersion: agentkourier.io/v1alpha1\nkind: Binding\n\
             metadata: {{namespace: team-a, name: b{number}}}\nspec: {{agent: {{backendRef: {{name: b{number}}}}}, \
             chat: {{connectionRef: {{name: chat}}, channel: C{number}}}}}\n",
            peer.url()
        );
    }
    text
}

/// The names and labels of the broker's metrics.
fn endless_backends() -> Result<String, String> {
    let peers = peers();
    let setup = Setup::new();
    setup.settings("prober: {startDelay: 0s, lookInterval: 1s, passGap: 1s}\negress: {allowLoopback: true}");
    setup.secret("team-a", "chat", "token", "xoxb-not-a-token\n");
    let mut broker = setup.start();
    broker.wait("it is ready", |broker| broker.get("/ready").filter(|(status, _)| *status == 200));
    setup.manifest("all.yaml", &manifest(&peers));
    broker.wait_with_few_looks("all is accepted", |broker| {
        (broker.bindings("Accepted", "True", "OK") == Some(HOSTILE + HONEST)).then_some(())
    });
    // The objects themselves take memory too, whatever their peers send: what counts is what comes on top.
    let before = broker.memory("VmRSS").ok_or("the kernel tells no memory of a process")?;
    let judged = |broker: &Broker| broker.bindings("BackendReachable", "False", "InvalidAgentCard");
    // In small steps, each of which has the whole patience of a test: machines are busy.
    for enough in (20..=HOSTILE).step_by(20) {
        let is_enough = |broker: &Broker| (judged(broker) >= Some(enough)).then_some(());
        broker.wait_with_few_looks(&format!("{enough} are judged"), is_enough);
    }
    let honest = broker.wait_with_few_looks("the honest ones are judged", |broker| {
        (broker.bindings("Ready", "True", "OK") == Some(HONEST)).then(|| broker.passes())
    });
    let rise = broker.memory("VmHWM").ok_or("the kernel tells no peak")?.saturating_sub(before);
    println!("load: the broker's memory rose by {rise} KiB from {before} KiB; honest Bindings in pass {}", honest + 1);
    if honest > 1 {
        return Err(format!("the honest Bindings took {honest} passes"));
    }
    if rise > MEMORY {
        return Err(format!("the broker's memory rose by {rise} KiB, at most {MEMORY} are allowed"));
    }
    Ok(series(&broker.get("/metrics").ok_or("it does not answer")?.1))
}
