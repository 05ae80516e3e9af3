//! Settings whose default a written value replaces.

use eddy_spec::problem::SourceSpan;
use eddy_spec::read::Spanned;

/// Sets a value that is given; otherwise the target keeps its default.
pub(crate) fn set<T, V: Into<T>>(target: &mut T, written: Option<Spanned<V>>) {
    if let Some(written) = written {
        *target = written.value.into();
    }
}

/// Returns the position of a value that is given.
pub(crate) fn place_of<T>(written: Option<&Spanned<T>>) -> Option<SourceSpan> {
    written.map(|written| written.place)
}
