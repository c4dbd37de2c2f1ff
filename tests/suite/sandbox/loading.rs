//! What is loaded, and what is refused with which words.

use kourier_core::outcome::Fault;
use kourier_core::platform::CredentialPlace;
use kourier_sandbox::{Limits, LoadError, ProbeKind, Sandbox};
use suite::guests;

use super::{ROGUE, SANDBOX};

fn refusal(bytes: &[u8]) -> LoadError {
    SANDBOX.load(bytes).err().expect("it is refused")
}

#[test]
fn a_chat_probe_says_what_it_is_for() {
    let ProbeKind::Chat { platform, descriptor } = ROGUE.kind() else { panic!("a chat probe") };
    assert_eq!(platform, "rogue");
    assert_eq!(descriptor.default_url.as_ref().unwrap().as_str(), "https://rogue.example/api");
    assert_eq!(descriptor.credential, CredentialPlace::Bearer);
    assert!(descriptor.channel_pattern.is_match("a-b") && !descriptor.channel_pattern.is_match("a-b\nX"));
    assert_eq!(descriptor.settings.keys().collect::<Vec<_>>(), ["head", "path", "tail"]);
    assert_eq!(ROGUE.imports(), ["agentkourier:probe/endpoint@0.1.0", "agentkourier:probe/journal@0.1.0"]);
    assert_eq!(ROGUE.digest().len(), 64);
}

#[test]
fn a_component_that_wants_wasi_is_refused_and_told_what_it_wants() {
    let LoadError::ForeignImports { imports, hint } = refusal(guests::WASI_HELLO) else { panic!("foreign imports") };
    assert!(imports.iter().any(|name| name.starts_with("wasi:cli/stdout@")), "{imports:?}");
    assert!(imports.is_sorted() && imports.iter().all(|name| name.starts_with("wasi:")), "{imports:?}");
    assert!(hint.contains("SDK") && hint.contains("--stub-wasi") && hint.contains("--disable all"));
    let words = refusal(guests::WASI_HELLO).to_string();
    assert!(words.contains("wasi:cli/stdout@"), "{words}");
}

#[test]
fn what_is_no_component_is_refused_without_being_compiled() {
    assert_eq!(refusal(b"\0asm\x01\0\0\0"), LoadError::CoreModule);
    for bytes in [&b""[..], b"\0", b"\0asm", b"\x7fELF and so on", b"{\"kind\": \"List\"}", b"\0asm\x0d\0\x02\0"] {
        assert!(matches!(refusal(bytes), LoadError::NotAComponent(_)), "{bytes:?}");
    }
    assert!(matches!(refusal(b"\0asm\x0d\0\x01\0"), LoadError::Exports { .. }));
}

#[test]
fn a_component_of_both_kinds_is_refused() {
    let LoadError::Exports { found } = refusal(guests::TWO_WORLDS) else { panic!("both") };
    assert_eq!(found, "both");
}

#[test]
fn a_probe_that_cannot_describe_itself_within_the_limits_is_refused() {
    for (guest, fault) in [(guests::SPINS_IN_DESCRIBE, Fault::CpuBudget), (guests::LIAR, Fault::BadAnswer)] {
        let LoadError::Faulty { fault: found, causes } = refusal(guest) else { panic!("faulty") };
        assert_eq!(found, fault, "{causes:?}");
    }
    let LoadError::Descriptor { field, problem } = refusal(guests::LOUD) else { panic!("a wrong descriptor") };
    assert_eq!((field.as_str(), problem.as_str()), ("platform", "has to be 1 to 63 characters of [a-z0-9-]"));
}

#[test]
fn a_file_over_the_limit_is_not_looked_at() {
    let small = Sandbox::new(Limits { component: 1000, ..Limits::default() }).unwrap();
    let error = small.load(guests::ROGUE).err().unwrap();
    assert_eq!(error, LoadError::TooLarge { bytes: guests::ROGUE.len(), limit: 1000 });
}

#[test]
fn a_damaged_component_is_an_error_and_never_a_panic() {
    // Cut at many places, and one byte changed at many places. Each has to end in a value, loaded or not.
    let whole = guests::SPINS_IN_DESCRIBE;
    for end in (0..whole.len()).step_by(whole.len() / 60) {
        assert!(SANDBOX.load(&whole[..end]).is_err(), "cut at {end}");
    }
    let header_and_types = 0..whole.len().min(400);
    for place in header_and_types.step_by(7) {
        let mut damaged = whole.to_vec();
        damaged[place] ^= 0x55;
        drop(SANDBOX.load(&damaged));
    }
}

#[test]
fn components_nested_without_end_are_refused() {
    let mut nested = b"\0asm\x0d\0\x01\0".to_vec();
    for _ in 0..3000 {
        let mut outer = b"\0asm\x0d\0\x01\0\x04".to_vec();
        push_size(&mut outer, nested.len());
        outer.extend_from_slice(&nested);
        nested = outer;
    }
    assert!(matches!(refusal(&nested), LoadError::Exports { .. }));
    // With the right exports, so that the engine gets to see it.
    let mut hidden = guests::SPINS_IN_DESCRIBE.to_vec();
    hidden.push(4);
    push_size(&mut hidden, nested.len());
    hidden.extend_from_slice(&nested);
    let error = refusal(&hidden);
    assert!(matches!(error, LoadError::Refused(_) | LoadError::Faulty { fault: Fault::CpuBudget, .. }), "{error}");
}

/// LEB128.
fn push_size(bytes: &mut Vec<u8>, mut size: usize) {
    while size >= 0x80 {
        bytes.push((size & 0x7f) as u8 | 0x80);
        size >>= 7;
    }
    bytes.push(size as u8);
}

/// With the pool as without it: the limiter denies it, and not the engine.
#[test]
fn a_component_that_begins_with_too_much_memory_is_told_so() {
    let small = Sandbox::new(Limits { memory: 64 << 10, ..Limits::default() }).unwrap();
    let error = small.load(guests::LOUD).err().unwrap();
    assert!(matches!(error, LoadError::Faulty { fault: Fault::Memory, .. }), "{error}");
}

#[test]
fn instances_come_from_a_pool() {
    assert_eq!(SANDBOX.no_pool(), None);
}
