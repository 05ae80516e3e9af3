//! Which rule matches, and why.

#![forbid(unsafe_code)]
