//! What to write to a Binding's status, and when.
