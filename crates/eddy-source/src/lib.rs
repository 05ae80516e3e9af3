//! Where configuration comes from.

#![forbid(unsafe_code)]
