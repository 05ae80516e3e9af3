//! Tests of built-in filters with views built from text.

pub(crate) mod support;

mod address;
mod allocations;
mod body_limit;
mod cors;
mod fault;
mod headers;
mod ip_access;
mod request_id;
mod template;
