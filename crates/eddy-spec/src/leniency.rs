//! Severity of unsupported settings.

/// Severity of settings in another program's configuration that eddy does not support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leniency {
    /// They are errors.
    #[default]
    Strict,
    /// They are warnings.
    Lenient,
}
