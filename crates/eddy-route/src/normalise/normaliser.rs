//! The choice among normalisers.

use super::{EnvoyPaths, Normal, PathFault, eddy, envoy};

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
