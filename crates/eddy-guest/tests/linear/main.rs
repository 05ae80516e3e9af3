//! A module in Go by the contract over linear memory: the cases of `abi/vectors`, modules that fail, and what a
//! crossing costs.
//!
//! Skipped aloud where there is no Go.

#[cfg(test)]
mod faults;
#[cfg(test)]
mod support;
#[cfg(test)]
mod vectors;
