//! The eddy program.

fn main() {}
