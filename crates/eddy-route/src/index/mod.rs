//! Index that finds the first matching entry without evaluating the others. It only knows ranks and matchers: in
//! whatever order a dialect puts its rules, the lowest rank wins.

mod candidate;
mod hash;
mod host;
mod list;
mod literals;
mod path;
mod shard;
mod split;
mod trie;

pub(crate) use hash::ByValue;
pub(crate) use host::HostIndex;
pub(crate) use list::NONE;
pub(crate) use path::{PathIndex, path_key};
pub(crate) use trie::{CAPTURE, NO_VALUE, Trie};
