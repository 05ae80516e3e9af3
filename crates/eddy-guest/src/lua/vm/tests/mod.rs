//! Scripts that misbehave, and what becomes of them.

mod access;
mod escapes;
mod faults;
mod limits;
mod patterns;
mod support;
