//! Scripts that misbehave, and what becomes of them.

mod access;
mod limits;
mod support;
