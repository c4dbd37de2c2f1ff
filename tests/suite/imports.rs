//! What each built-in probe imports, compared with the committed list.

use std::fs;
use std::path::Path;

use agent_kourier::builtin;
use kourier_sandbox::{Limits, Sandbox};

#[test]
fn each_built_in_probe_imports_what_its_list_says_and_nothing_else() {
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let lists = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/imports");
    for built_in in builtin::ALL {
        let list = lists.join(format!("{}.txt", built_in.name));
        let want = fs::read_to_string(&list).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
        let component = sandbox.load(built_in.wasm).unwrap_or_else(|error| panic!("{}: {error}", built_in.name));
        let imports: String = component.imports().iter().map(|name| format!("{name}\n")).collect();
        assert_eq!(imports, want, "{}", built_in.name);
    }
    assert_eq!(fs::read_dir(&lists).unwrap().count(), builtin::ALL.len(), "a list without a probe");
}
