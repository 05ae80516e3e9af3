//! The contract as this side of it sees it.

mod layout;

pub(crate) use layout::*;

#[cfg(test)]
mod tests;
