//! Any text becomes a message that a status may hold.
#![no_main]

use fuzz::{assert_is_line, bounded};
use kourier_core::message::Message;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let message = bounded(|| Message::new(text));
    let line = message.as_str();
    assert_is_line(line, Message::MAX_BYTES);
    assert_eq!(line.trim(), line);
    assert_eq!(Message::new(line), message, "a message of a message is another");
    assert!(!line.contains("://"), "a URL is left: {line:?}");
    for word in line.split([' ', ',', ';', '(', ')', '"', '\'', '…']) {
        assert!(!is_address(word), "the address {word} is left in {line:?}");
    }
});

/// Whether a word is an address as the standard library reads it, perhaps with a port. A number alone is none.
fn is_address(word: &str) -> bool {
    word.parse::<std::net::Ipv4Addr>().is_ok()
        || word.parse::<std::net::SocketAddr>().is_ok()
        || (word.parse::<std::net::Ipv6Addr>().is_ok() && word != "::")
}
