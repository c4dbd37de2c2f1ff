use std::thread;

use futures::future::BoxFuture;
use kourier_core::url::BaseUrl;

use super::*;
use crate::transport::{Failure, HttpRequest, HttpResponse, Transport, Trust};

/// A probe that tells on which thread it runs, or is cut there.
struct Tell;

#[derive(Clone, Copy)]
enum Act {
    Tell,
    Spin,
}

impl World for Tell {
    type Pre = ();
    type Target = Act;
    type Answer = String;

    async fn call(_: &mut Store<Guest>, (): (), act: Act) -> Result<String, Fault> {
        match act {
            Act::Tell => Ok(thread::current().name().unwrap_or_default().to_owned()),
            Act::Spin => Err(Fault::CpuBudget),
        }
    }
}

struct Nowhere;

impl Transport for Nowhere {
    fn send(&self, _: HttpRequest, _: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        Box::pin(async { Err(Failure::Unreachable(String::new())) })
    }
}

#[tokio::test]
async fn a_component_whose_run_spun_starts_on_the_slow_lane_until_one_ends_well() {
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let habit = Habit::default();
    let run = async |act| {
        let peer = Endpoint {
            base: BaseUrl::parse("http://peer.example").unwrap(),
            credential: None,
            trust: Trust::System,
            absolute_name: false,
            transport: Arc::new(Nowhere),
        };
        sandbox.apart::<Tell>((), &habit, act, peer).await.answer
    };
    assert_eq!(run(Act::Tell).await.unwrap(), "probe");
    assert_eq!(run(Act::Spin).await, Err(Fault::CpuBudget));
    assert_eq!(run(Act::Tell).await.unwrap(), "probe-slow");
    assert_eq!(run(Act::Tell).await.unwrap(), "probe");
}
