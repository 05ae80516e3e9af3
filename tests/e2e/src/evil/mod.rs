//! Filters that fail in every possible way, for tests of the effect on other requests.

mod lua;
mod site;
mod wasm;

pub use lua::{SCRIPTS, script};
pub use site::{EvilFilter, EvilSite};
pub use wasm::{EvilModule, MODULES, module_in, module_in_head};
