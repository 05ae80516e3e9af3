//! Filters that fail in every way they can, for tests that look at what others notice of it.

mod lua;
mod site;
mod wasm;

pub use lua::{SCRIPTS, script};
pub use site::{EvilFilter, EvilSite};
pub use wasm::{EvilModule, MODULES, module_in, module_in_head};
