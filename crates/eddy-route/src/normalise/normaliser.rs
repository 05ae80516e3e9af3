//! Selection of a path normaliser.

use super::{EnvoyPaths, Normal, PathFault, eddy, envoy};

/// Normaliser for the requests of a listener.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Normaliser {
    /// eddy's normaliser.
    #[default]
    Eddy,
    /// Envoy's normaliser, with these settings.
    Envoy(EnvoyPaths),
}

impl Normaliser {
    /// Normalises a path; `out` is cleared and written only if the result is `Changed`.
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
