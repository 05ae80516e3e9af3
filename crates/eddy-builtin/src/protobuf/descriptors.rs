//! Descriptor files, which are read when a filter is created.

use std::fmt::Display;
use std::path::Path;

use eddy_filter::{LoadError, LoadResult};
use eddy_protobuf::Schema;

use crate::context::BuiltinContext;

/// Reads a descriptor file.
///
/// # Errors
/// [`LoadError::Refused`] when the file cannot be read or is invalid.
pub(crate) fn load(path: &Path, context: &BuiltinContext) -> LoadResult<Schema> {
    let bytes = context.services.read(path).map_err(|why| refused(path, why))?;
    Schema::from_descriptors(&bytes).map_err(|error| refused(path, error))
}

/// Creates the error of invalid descriptors, or of a configuration that does not match them.
pub(crate) fn refused(path: &Path, why: impl Display) -> LoadError {
    LoadError::Refused { message: describe(path, why) }
}

/// Formats that error as a sentence.
pub(crate) fn describe(path: &Path, why: impl Display) -> String {
    format!("descriptors in {}: {why}", path.display())
}
