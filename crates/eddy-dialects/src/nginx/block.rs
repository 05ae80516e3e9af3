//! Blocks that may contain directives, one bit each.

/// Outside of all blocks.
pub(super) const MAIN: u16 = 1;
/// `events`
pub(super) const EVENTS: u16 = 2;
/// `http`
pub(super) const HTTP: u16 = 4;
/// `server` in `http`
pub(super) const SERVER: u16 = 8;
/// `if` in a server
pub(super) const SERVER_IF: u16 = 16;
/// `location`
pub(super) const LOCATION: u16 = 32;
/// `if` in a location
pub(super) const IF: u16 = 64;
/// `upstream`
pub(super) const UPSTREAM: u16 = 128;

/// Names of the blocks, in the order of the bits.
const NAMES: [&str; 8] =
    ["main", "events", "http", "server", "if in server", "location", "if in location", "upstream"];

/// Returns the names of some blocks, for messages.
pub(super) fn names(blocks: u16) -> String {
    if blocks == u16::MAX {
        return "anywhere".to_owned();
    }
    let names = NAMES.iter().enumerate().filter(|(bit, _)| blocks & (1 << bit) != 0).map(|(_, name)| *name);
    names.collect::<Vec<_>>().join(", ")
}
