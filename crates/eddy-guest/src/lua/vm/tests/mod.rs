//! Tests of VMs with misbehaving scripts.

mod access;
mod escapes;
mod faults;
mod limits;
mod patterns;
mod support;
