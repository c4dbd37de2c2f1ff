//! What is known of a component that is loaded. Files that are refused are in `hostile`.

use kourier_core::platform::CredentialPlace;
use kourier_sandbox::ProbeKind;

use super::{ROGUE, SANDBOX};

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
fn instances_come_from_a_pool() {
    assert_eq!(SANDBOX.no_pool(), None);
}
