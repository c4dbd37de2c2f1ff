use super::*;

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_hint_fits_what_was_wanted() {
    let cases = [
        (&["wasi:cli/stdout@0.2.6", "wasi:io/streams@0.2.6"][..], WASI_HINT),
        (&["agentkourier:probe/endpoint@0.2.0", "wasi:cli/stdout@0.2.6"], VERSION_HINT),
        (&["agentkourier:probe/clock@0.1.0"], VERSION_HINT),
        (&["host", "acme:secrets/read"], OTHER_HINT),
    ];
    for (foreign, want) in cases {
        assert_eq!(hint(&owned(foreign)), want, "{foreign:?}");
    }
}

#[test]
fn exactly_one_of_the_two_interfaces_makes_a_probe() {
    let cases = [
        (&["agentkourier:probe/agent@0.1.0"][..], Ok(World::Agent)),
        (&["agentkourier:probe/chat@0.1.0", "exports", "memory"], Ok(World::Chat)),
        (&["agentkourier:probe/agent@0.1.0", "agentkourier:probe/chat@0.1.0"], Err("both")),
        (&["agentkourier:probe/agent@0.2.0"], Err("agentkourier:probe/agent@0.2.0")),
        (&["run\u{202e}"], Err("run\\u{202e}")),
        (&[], Err("nothing")),
    ];
    for (exports, want) in cases {
        let want = want.map_err(|found| LoadError::Exports { found: found.to_owned() });
        assert_eq!(world(&owned(exports)), want, "{exports:?}");
    }
}
