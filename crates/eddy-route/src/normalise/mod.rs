//! The path that rules are compared with, derived from the path as sent: one normaliser a dialect.

mod eddy;
mod envoy;
mod nginx;
#[cfg(test)]
mod tests;

pub(crate) use eddy::hex_value;
pub use eddy::{Normal, PathFault, check, eddy};
pub use envoy::{EnvoyPaths, EscapedSlashes, envoy};
pub use nginx::{Slashes, Spelling, nginx};

/// Which normaliser requests of a listener go through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Normaliser {
    /// eddy's.
    #[default]
    Eddy,
    /// Envoy's, with these settings.
    Envoy(EnvoyPaths),
}

impl Normaliser {
    /// Normalises a path; `out` is cleared and written only if the answer is `Changed`.
    ///
    /// # Errors
    ///
    /// As [`eddy`] and [`envoy`].
    pub fn apply(self, path: &[u8], out: &mut Vec<u8>) -> Result<Normal, PathFault> {
        match self {
            Self::Eddy => eddy(path, out),
            Self::Envoy(settings) => envoy(path, settings, out),
        }
    }
}
