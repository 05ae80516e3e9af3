//! Lua scripts, entered as the gateway does.
#![cfg(test)]

mod bodies;
mod calls;
mod compiled;
mod cost;
mod envoy_api;
mod failures;
mod handle;
mod headers;
mod info;
mod signatures;
mod support;
