//! From descriptors to tables: read, named, linked.

mod define;
mod features;
mod file;
mod link;
mod raw;

pub(super) use file::load;
