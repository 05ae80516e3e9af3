//! C libraries that follow or violate the ABI, opened and entered as the gateway does.
#![cfg(test)]

mod answers;
mod opening;
mod support;
