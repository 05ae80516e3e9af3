//! Filter ABI, host side.

mod layout;

pub(crate) use layout::*;

#[cfg(test)]
mod tests;
