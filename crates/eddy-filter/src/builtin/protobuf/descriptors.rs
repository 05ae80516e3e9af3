//! Descriptors, which are read when a filter is made.

use std::fmt::Display;
use std::path::Path;

use eddy_protobuf::Schema;

use crate::builtin::make::BuiltinContext;
use crate::filter::LoadError;

/// Reads the descriptors in a file.
///
/// # Errors
/// [`LoadError::Refused`] when the file can't be read or has none.
pub(in crate::builtin) fn load(path: &Path, context: &BuiltinContext) -> Result<Schema, LoadError> {
    let bytes = context.services.read(path).map_err(|why| refused(path, why))?;
    Schema::from_descriptors(&bytes).map_err(|error| refused(path, error))
}

/// Says what is wrong with the descriptors in a file, or with what is asked of them.
pub(in crate::builtin) fn refused(path: &Path, why: impl Display) -> LoadError {
    LoadError::Refused { message: told(path, why) }
}

/// The same as a sentence.
pub(in crate::builtin) fn told(path: &Path, why: impl Display) -> String {
    format!("the descriptors in {}: {why}", path.display())
}
