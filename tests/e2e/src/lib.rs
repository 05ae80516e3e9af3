//! Tools of the end-to-end tests: the eddy binary, an origin that records every byte, a raw client and the checkers.
#![forbid(unsafe_code)]

pub mod calls;
pub mod conformance;
pub mod corpus;
pub mod differential;
pub mod drive;
pub mod evil;
pub mod framed;
pub mod gateway;
pub mod go;
pub mod http2_origin;
pub mod journal;
pub mod long_path;
pub mod mutants;
pub mod name_server;
pub mod origin;
pub mod others;
pub mod peer;
pub mod place;
pub mod secure;
pub mod secure_origin;
pub mod site;
pub mod wait;
pub mod wasm;
pub mod wire;
