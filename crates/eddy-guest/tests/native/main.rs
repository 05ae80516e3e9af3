//! Libraries in C that keep the contract and such that break it, opened and entered as the gateway does.
#![cfg(test)]

mod answers;
mod opening;
mod support;
