//! Generates the buffa code for the messages of the crate's own tests.

const SCHEMA: &str = "../../../crates/eddy-protobuf/tests/schema";

fn main() {
    println!("cargo::rerun-if-changed={SCHEMA}/eddy.binpb");
    buffa_build::Config::new()
        .files(&["eddy.proto"])
        .descriptor_set(format!("{SCHEMA}/eddy.binpb"))
        .compile()
        .expect("the descriptors are sound");
}
