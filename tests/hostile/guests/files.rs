//! Component files that mean harm: huge, cut off, damaged, of another kind, nested without end.
//!
//! Each is refused with words that say what is wrong, and that a terminal and a log can stand, or is loaded as it should.

use std::time::Instant;

use kourier_sandbox::Limits;
use suite::guests;

use super::bytes::{
    COMPONENT, MODULE, importing, memories, module, nest, section, sections, starting, tables, with_instance_of_given,
    with_instances_of_instances, with_module, with_nested,
};
use super::is_plain;
use crate::case::{Case, Checked};
use crate::memory::Peak;
use crate::published::{self, Text};
use crate::world::SANDBOX;

/// Each guest as it lies in its folder.
pub(super) const GUESTS: [&str; 4] = ["misdescribes", "rogue", "two-worlds", "wasi-hello"];

/// KiB by which loading a file may raise the peak of the process's memory, beside the file itself. To compile takes some.
const MEMORY: u64 = 32 << 10;
/// Bytes of the words of a refusal.
const WORDS: usize = 2048;

/// What comes of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Want {
    /// It can be run.
    Loaded,
    /// It cannot, in words that begin with these.
    Refused(&'static str),
    /// It cannot, whatever the words.
    Faulty,
    /// Either way: what counts is that there is an end.
    Either,
}

/// Loads a file, and checks what comes of it.
pub(super) async fn load(bytes: impl FnOnce() -> Vec<u8> + Send + 'static, want: Want) -> Checked {
    let loaded = tokio::task::spawn_blocking(move || checked(&bytes(), want)).await;
    let words = loaded.map_err(|error| error.to_string())??;
    published::text(Text::Log("the words of a refusal", words));
    Ok(())
}

/// The words of the refusal; none when it can be run.
fn checked(bytes: &[u8], want: Want) -> Result<String, String> {
    let (peak, started) = (Peak::begin(), Instant::now());
    let loaded = SANDBOX.load(bytes);
    let took = started.elapsed();
    let memory = peak.at_most(MEMORY);
    let words = loaded.err().map(|error| error.to_string());
    let told = |what: &str| Err(format!("{what}, after {took:?}: {words:?}"));
    match (want, &words) {
        (Want::Refused(start), Some(words)) if !words.starts_with(start) => return told(&format!("not {start:?}")),
        (Want::Loaded, Some(_)) => return told("it is refused"),
        (Want::Refused(_) | Want::Faulty, None) => return told("it is loaded"),
        (Want::Loaded | Want::Either, None) | (Want::Refused(_) | Want::Faulty | Want::Either, Some(_)) => {}
    }
    if words.iter().any(|words| words.len() > WORDS || !is_plain(words)) {
        return told("words that the log must not have");
    }
    memory.map_err(|error| format!("{error}; {words:?}"))?;
    Ok(words.unwrap_or_default())
}

/// A whole component, small as they come.
fn whole() -> Vec<u8> {
    guests::misdescribing("well")
}

pub(super) fn cases() -> Vec<Case> {
    let mut files = as_they_are();
    files.extend(no_components());
    files.extend(large());
    files.extend(nested());
    files.extend(greedy());
    files.extend(wanting());
    let mut cases: Vec<Case> = files.into_iter().map(File::case).collect();
    cases.extend(cut_off());
    cases.extend(damaged());
    cases
}

/// A file, and what comes of it.
struct File {
    name: String,
    bytes: Box<dyn FnOnce() -> Vec<u8> + Send>,
    want: Want,
}

impl File {
    fn case(self) -> Case {
        Case::new(format!("guest::file::{}", self.name), move || load(self.bytes, self.want))
    }
}

fn file(name: impl Into<String>, want: Want, bytes: impl FnOnce() -> Vec<u8> + Send + 'static) -> File {
    File { name: name.into(), bytes: Box::new(bytes), want }
}

fn refused(name: impl Into<String>, words: &'static str, bytes: impl FnOnce() -> Vec<u8> + Send + 'static) -> File {
    file(name, Want::Refused(words), bytes)
}

fn as_they_are() -> Vec<File> {
    let want = |name: &str| match name {
        "rogue" => Want::Loaded,
        "two-worlds" => Want::Refused("it exports both; a probe exports exactly one of "),
        "wasi-hello" => Want::Refused("it imports what a probe does not get: wasi:"),
        // Nothing stands behind its mark.
        _ => Want::Refused("it cannot be run: trap; "),
    };
    let guest = |name: &'static str| {
        let bytes = guests::ALL.iter().find(|(known, _)| *known == name).expect("there is such a guest").1;
        file(format!("the-guest-{name}"), want(name), || bytes.to_vec())
    };
    GUESTS.map(guest).into()
}

fn no_components() -> Vec<File> {
    const NONE: &str = "not a WebAssembly component: ";
    const CORE: &str = "a core module, not a component: build it for wasm32-wasip2";
    vec![
        refused("empty", NONE, Vec::new),
        refused("of-one-byte", NONE, || vec![0]),
        refused("of-the-magic-alone", NONE, || b"\0asm".to_vec()),
        refused("of-another-layer", NONE, || b"\0asm\x0d\0\x02\0".to_vec()),
        refused("of-an-older-draft-of-components", NONE, || [&b"\0asm\x0a\0\x01\0"[..], &whole()[8..]].concat()),
        refused("that-is-a-program", NONE, || std::fs::read("/proc/self/exe").expect("this program")[..1 << 20].into()),
        refused("that-is-text", NONE, || b"(component)".to_vec()),
        refused("that-is-json", NONE, || b"{\"kind\": \"List\"}".to_vec()),
        refused("that-is-compressed", NONE, || [&b"\x1f\x8b\x08\0"[..], &whole()].concat()),
        refused("with-a-mark-of-the-byte-order", NONE, || [&b"\xef\xbb\xbf"[..], &whole()].concat()),
        refused("of-a-component-without-anything", "it exports nothing; ", || COMPONENT.to_vec()),
        refused("of-an-empty-core-module", CORE, || MODULE.to_vec()),
        refused("of-a-core-module", CORE, || starting(&[])),
        refused("of-a-core-module-that-is-cut-off", CORE, || starting(&[])[..12].to_vec()),
    ]
}

fn large() -> Vec<File> {
    let limit = Limits::default().component;
    // What stands before the content of a custom section without a name.
    let padded = move |size: usize| {
        let whole = whole();
        let frame = section(0, &vec![0; 4 << 20]).len() - (4 << 20);
        [&whole[..], &section(0, &vec![0; size - whole.len() - frame])].concat()
    };
    vec![
        refused("one-byte-over-the-limit", "the file has 33554433 bytes, more than the limit of 33554432", move || {
            padded(limit + 1)
        }),
        file("of-the-limit-with-nothing-in-most-of-it", Want::Loaded, move || padded(limit)),
        refused("of-32-mebibytes-of-zeros", "not a WebAssembly component: ", move || vec![0; limit]),
        refused("of-a-component-and-32-mebibytes-of-zeros", "not a WebAssembly component: ", move || {
            let mut bytes = whole();
            bytes.resize(limit, 0);
            bytes
        }),
        refused("of-a-million-empty-sections", "not a WebAssembly component: ", || {
            [whole(), section(0, &[]).repeat(1 << 20)].concat()
        }),
        file("of-a-million-small-sections", Want::Loaded, || [whole(), section(0, &[0]).repeat(1 << 20)].concat()),
    ]
}

fn nested() -> Vec<File> {
    const PARTS: &str = "it consists of more than 1000 modules and components";
    const INSTANCES: &str = "it consists of more than 1000 instances of modules and components";
    vec![
        refused("nested-1000-deep", "it exports nothing; ", || nest(1000)),
        refused("nested-a-million-deep", PARTS, || nest(1_000_000)),
        file("with-components-nested-50-deep", Want::Loaded, || with_nested(&whole(), &nest(50))),
        file("with-components-nested-900-deep", Want::Either, || with_nested(&whole(), &nest(900))),
        refused("with-components-nested-1000-deep", PARTS, || with_nested(&whole(), &nest(1000))),
        refused("with-components-nested-a-million-deep", PARTS, || with_nested(&whole(), &nest(1_000_000))),
        refused("with-a-thousand-modules-in-each-of-a-thousand-components", PARTS, || {
            let modules = [&COMPONENT[..], &section(1, &MODULE).repeat(1000)].concat();
            [whole(), section(4, &modules).repeat(1000)].concat()
        }),
        file("with-9-instances-in-each-of-9", Want::Loaded, || with_instances_of_instances(&whole(), 9, 2)),
        refused("with-100-instances-in-each-of-100", INSTANCES, || with_instances_of_instances(&whole(), 100, 2)),
        refused("with-100-instances-in-each-of-100-and-so-on-9-deep", INSTANCES, || {
            with_instances_of_instances(&whole(), 100, 9)
        }),
        refused("with-instances-of-a-component-that-it-is-given", INSTANCES, || with_instance_of_given(&whole())),
    ]
}

/// What takes more than a run may have before the probe's own code begins.
fn greedy() -> Vec<File> {
    const SPINS: [u8; 5] = [0x03, 0x40, 0x0c, 0, 0x0b];
    const TRAPS: [u8; 1] = [0];
    const RECURSES: [u8; 2] = [0x10, 0];
    let with = |name: &str, words, module: Vec<u8>, instances| {
        refused(name, words, move || with_module(&whole(), &module, instances))
    };
    vec![
        with("that-spins-before-it-begins", "it cannot be run: cpu-budget; ", starting(&SPINS), 1),
        with("that-traps-before-it-begins", "it cannot be run: trap; ", starting(&TRAPS), 1),
        with("that-recurses-before-it-begins", "it cannot be run: stack; ", starting(&RECURSES), 1),
        with("with-64-mebibytes-of-memory", "it cannot be run: memory; ", memories(1, 1024), 1),
        with("with-20-memories", "the engine refuses it: module memory does not fit", memories(20, 0), 1),
        with("with-a-million-elements", "the engine refuses it: module table does not fit", tables(1, 1_000_000), 1),
        with(
            "with-120-tables",
            "the engine refuses it: The component transitively contains 122 tables",
            tables(60, 0),
            2,
        ),
        with(
            "with-900-instances",
            "the engine refuses it: The component transitively contains 903 core module",
            module(&[]),
            900,
        ),
    ]
}

/// What asks for interfaces.
fn wanting() -> Vec<File> {
    const FOREIGN: &str = "it imports what a probe does not get: ";
    let named = |name: &str, names: Vec<String>| refused(name, FOREIGN, move || importing(&names));
    vec![
        named("that-imports-a-file-system", vec!["wasi:filesystem/types@0.2.6".to_owned()]),
        named("that-imports-another-version", vec!["agentkourier:probe/endpoint@9.9.9".to_owned()]),
        named("that-imports-100000-interfaces", (0..100_000).map(|n| format!("a:b/c{n}")).collect()),
        named("that-imports-100000-bytes-of-a-name", vec!["x".repeat(100_000)]),
        named("that-imports-what-moves-a-cursor", vec!["a\u{1b}[2J\r\nb\u{202e}".to_owned()]),
    ]
}

/// Cut off in the middle of each section, at its start, and in its head.
fn cut_off() -> Vec<Case> {
    let whole = whole();
    let found = sections(&whole);
    // What is cut off behind the last section that is no custom one is as good as whole.
    let last = found.iter().rposition(|(_, id)| *id != 0).expect("a component has sections");
    let ends = found.iter().skip(1).map(|(at, _)| *at).chain([whole.len()]);
    let places = found.iter().zip(ends).take(last + 1).enumerate().flat_map(|(index, ((at, _), end))| {
        [
            ("at-the-start", *at),
            ("in-the-head", at + 1),
            ("in-the-middle", usize::midpoint(*at, end)),
            ("before-the-end", end - 1),
        ]
        .map(|(place, at)| (format!("{place}-of-section-{index}"), at))
    });
    let case = |(name, at): (String, usize)| {
        let whole = whole.clone();
        file(format!("cut-off-{name}"), Want::Faulty, move || whole[..at].to_vec()).case()
    };
    places.map(case).collect()
}

/// One byte is another, at many places. Whatever comes of it: there is an end, and it can be told.
fn damaged() -> Vec<Case> {
    const PLACES: usize = 40;
    let size = whole().len();
    let place = |number: usize| number * size / PLACES + number % 7;
    let case = |number: usize| {
        let at = place(number);
        file(format!("with-another-byte-at-{at}"), Want::Either, move || {
            let mut bytes = whole();
            bytes[at] ^= 0x55;
            bytes
        })
        .case()
    };
    (0..PLACES).map(case).collect()
}
