//! A real API server for tests.
