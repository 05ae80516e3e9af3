//! Paths as written, with their places for messages.

use eddy_ids::Shared;
use eddy_model::{SourcePosition, WrittenPath};
use eddy_spec::problem::{SourceSpan, SourceText};
use eddy_spec::read::Spanned;
use eddy_spec::value::FilePath;

use super::filter::folder_of;

pub(crate) fn written(path: &Spanned<FilePath>, sources: &[SourceText]) -> WrittenPath {
    WrittenPath {
        path: folder_of(path.place, sources).join(&path.value.0),
        text: None,
        place: source_position(path.place, sources),
    }
}

/// Converts a position to one that can be used for problems found later.
pub fn source_position(place: SourceSpan, sources: &[SourceText]) -> SourcePosition {
    let source = sources.get(place.source as usize);
    SourcePosition {
        file: source.map_or_else(|| "".into(), |source| Shared::clone(&source.path)),
        line: place.line,
        column: place.column,
        length: place.length,
    }
}
