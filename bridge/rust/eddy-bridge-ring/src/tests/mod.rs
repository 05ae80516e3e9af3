//! Tests of the parts, and of links within one process.

mod fixture;
mod hellos;
mod lies;
mod links;
mod rings;
