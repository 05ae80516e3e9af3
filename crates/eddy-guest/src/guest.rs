//! Interface of guests: libraries that create filters, in any language.

use eddy_filter::{ExchangeView, FilterInfo, FilterLibrary, LibraryKeepAlive, LoadError, LoadResult};

use crate::reclaim::ReclaimQueue;

/// Library whose filters are created from a configuration.
pub trait Guest: FilterLibrary {
    /// Creates a filter from its configuration, a JSON text; `id` is the host's number of the filter.
    ///
    /// Runs the guest's code, always on the same thread.
    ///
    /// # Errors
    /// [`LoadError::UnknownFilter`]; [`LoadError::Refused`] with the filter's message.
    fn filter(
        &self,
        name: &str,
        config: &str,
        id: u32,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<CreatedFilter>;

    /// Creates a rule's configuration of a filter, from a JSON text; returns its number and the owner that frees it.
    ///
    /// # Errors
    /// [`LoadError::Refused`] with the filter's message.
    fn rule_config(
        &self,
        filter: u64,
        owner: &LibraryKeepAlive,
        config: &str,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<(u64, LibraryKeepAlive)>;
}

/// Checks that a library has a filter of this name.
///
/// # Errors
/// [`LoadError::UnknownFilter`] with the known names.
pub(crate) fn find(library: &str, filters: &[String], name: &str) -> LoadResult {
    if filters.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(LoadError::UnknownFilter {
        library: library.to_owned(),
        name: name.to_owned(),
        known: plain_names(filters).join(", "),
    })
}

/// Returns the names of a library's filters, without the qualified duplicates `IMPORT/PATH:NAME`.
pub(crate) fn plain_names(filters: &[String]) -> Vec<&str> {
    let is_known = |name: &str| filters.iter().any(|known| known == name);
    let is_plain = |known: &&str| known.rsplit_once(':').is_none_or(|(_, name)| !is_known(name));
    filters.iter().map(String::as_str).filter(is_plain).collect()
}

/// Returns the scheme of the client's request.
#[inline]
pub(crate) fn scheme(view: &ExchangeView<'_>) -> &'static [u8] {
    if view.request.is_tls { b"https" } else { b"http" }
}

/// Returns the index that a guest's or library's number stands for: numbers are counted from 1, and 0 is none.
#[inline]
pub(crate) fn index_of(number: u64) -> Option<usize> {
    usize::try_from(number).ok()?.checked_sub(1)
}

/// Filter created by a guest.
#[derive(Clone, Debug)]
pub struct CreatedFilter {
    /// The guest's number of the filter.
    pub number: u64,
    /// Properties reported by the filter.
    pub info: FilterInfo,
    /// Frees the filter through the reclaim queue.
    pub owner: LibraryKeepAlive,
}
