//! Programs that tests need beside Rust, Go and a C compiler, their recorded answers, and notices of tests that run
//! without them.
//!
//! A test checks for its peers with [`all_present`] and returns when one is missing. The notice names the skipped test,
//! the missing peer and the command that installs it. With `EDDY_REQUIRE_PEERS=1` a missing peer is an error.
//! The crate has no dependencies, so that the tests of every crate can use it.
#![forbid(unsafe_code)]

mod answers;
mod catalogue;
mod notice;
mod peer;
mod program;

pub use answers::{AnswerDifference, AnswerError, AnswerRecord, AnsweringPeer, Fnv, PeerAnswers};
pub use catalogue::{
    CLANG_WASM, CORAZA, CURL_HTTP2, ENVOY, FROM_REGISTRY, FROM_REPOSITORY, GCC_SANITIZERS, GO, H2LOAD,
    HAPROXY, HAPROXY_LUA, HTTP_PARSERS, NGINX, NGINX_1_22, NGINX_HTTP2, NGINX_LUA, NGINX_STREAM, NGINX_TLS,
    OPENAPI_VALIDATOR, RUST_WASM, SANITIZERS, STRACE, TESTSSL,
};
pub use notice::{
    MissingPeer, NOTICES_VARIABLE, Notice, NoticeKind, is_required, skip, skip_optional, skip_part,
    use_recorded,
};
pub use peer::{TestDependency, all_present, present_or_optional, present_or_partial, present_or_recorded};
pub use program::{cache_folder, envoy, nginx_modules, program, python, testssl};
