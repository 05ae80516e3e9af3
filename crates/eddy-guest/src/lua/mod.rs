//! Filters in Lua.

mod vm;
