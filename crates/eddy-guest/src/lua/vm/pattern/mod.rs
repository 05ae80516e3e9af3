//! Lua patterns with CPU time checks: the library's own functions run to completion, however long they take.

mod class;
mod functions;
mod matcher;

use class::{set_end, set_has};
pub(super) use functions::FUNCTIONS;
use matcher::{Captured, MatchAbort, Matcher};
