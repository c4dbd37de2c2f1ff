//! When a pass starts and what is due in it.
