//! Fingerprints of certificates.

/// SHA-256 hash of the text that a value was read from.
pub type Fingerprint = [u8; 32];
