//! Finds the first entry that matches without looking at the others. It works on ranks and matchers alone: whatever
//! order a dialect gives its rules, the lowest rank wins.

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
