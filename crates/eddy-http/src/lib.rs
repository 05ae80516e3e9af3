//! HTTP messages and wire forms, framing rules; no I/O.

#![forbid(unsafe_code)]
