//! Conversion between positions in the source texts and the files and lines that rules carry.

use eddy_route::SourceLocation;

use super::found::SourceText;
use super::report::SourceSpan;

/// Returns file and line of a position.
pub fn origin_of(place: SourceSpan, sources: &[SourceText]) -> SourceLocation {
    let file = sources.get(place.source as usize).map(|source| source.path.clone());
    SourceLocation { file: file.unwrap_or_default(), line: place.line }
}

/// Returns the position of the first character of a line.
pub fn place_of(origin: &SourceLocation, sources: &[SourceText]) -> SourceSpan {
    let source = (0..).zip(sources).find(|(_, source)| source.path == origin.file);
    SourceSpan { source: source.map_or(0, |(number, _)| number), line: origin.line, column: 1, length: 1 }
}
