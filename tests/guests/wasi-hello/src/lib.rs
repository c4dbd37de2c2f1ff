//! What somebody loads who thinks that any component will do: the standard library asks for WASI.

/// Says hello.
#[unsafe(no_mangle)]
pub extern "C" fn hello() {
    println!("hello");
}
