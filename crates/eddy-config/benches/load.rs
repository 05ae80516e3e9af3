//! How long it takes to parse and check a large configuration.

fn main() {}
