//! Tools of the end-to-end tests.
