//! Lua's patterns, with an eye on the clock: the library's own functions run to their end, however long that takes.

mod class;
mod functions;
mod matcher;

use class::{set_end, set_has};
pub(super) use functions::FUNCTIONS;
use matcher::{Captured, Matcher, Trouble};
