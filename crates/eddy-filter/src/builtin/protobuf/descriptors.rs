//! Descriptor files, which are read when a filter is created.

use std::fmt::Display;
use std::path::Path;

use eddy_protobuf::Schema;

use crate::builtin::make::BuiltinContext;
use crate::filter::LoadError;

/// Reads a descriptor file.
///
/// # Errors
/// [`LoadError::Refused`] when the file cannot be read or is invalid.
pub(in crate::builtin) fn load(path: &Path, context: &BuiltinContext) -> Result<Schema, LoadError> {
    let bytes = context.services.read(path).map_err(|why| refused(path, why))?;
    Schema::from_descriptors(&bytes).map_err(|error| refused(path, error))
}

/// Creates the error of invalid descriptors, or of a configuration that does not match them.
pub(in crate::builtin) fn refused(path: &Path, why: impl Display) -> LoadError {
    LoadError::Refused { message: told(path, why) }
}

/// Formats that error as a sentence.
pub(in crate::builtin) fn told(path: &Path, why: impl Display) -> String {
    format!("descriptors in {}: {why}", path.display())
}
