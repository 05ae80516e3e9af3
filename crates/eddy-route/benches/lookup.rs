//! What a lookup costs, by kind and number of rules.

fn main() {}
