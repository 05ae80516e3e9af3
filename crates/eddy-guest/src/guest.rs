//! What makes filters, whatever tongue they are written in.

use eddy_filter::{FilterInfo, FilterLibrary, LibraryKeepAlive, LoadError};

use crate::reclaim::ReclaimQueue;

/// A library whose filters are made from a configuration.
pub trait Guest: FilterLibrary {
    /// Makes a filter from its configuration, a JSON text; `id` is the host's number of it.
    ///
    /// Runs the guest's code, always on one thread.
    ///
    /// # Errors
    /// [`LoadError::UnknownFilter`]; [`LoadError::Refused`] with what the filter says.
    fn filter(
        &self,
        name: &str,
        config: &str,
        id: u32,
        reclaim_queue: &ReclaimQueue,
    ) -> Result<MadeFilter, LoadError>;

    /// Makes the configuration that a rule has for a filter, a JSON text; answers with its number and what frees it.
    ///
    /// # Errors
    /// [`LoadError::Refused`] with what the filter says.
    fn rule_config(
        &self,
        filter: u64,
        owner: &LibraryKeepAlive,
        config: &str,
        reclaim_queue: &ReclaimQueue,
    ) -> Result<(u64, LibraryKeepAlive), LoadError>;
}

/// Finds a name among those of a library's filters.
///
/// # Errors
/// [`LoadError::UnknownFilter`] with the names that there are.
pub(crate) fn find(library: &str, filters: &[String], name: &str) -> Result<(), LoadError> {
    if filters.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(LoadError::UnknownFilter {
        library: library.to_owned(),
        name: name.to_owned(),
        known: plain_names(filters).join(", "),
    })
}

/// The names of a library's filters, without those that name a filter's package, too: `IMPORT/PATH:NAME`.
pub(crate) fn plain_names(filters: &[String]) -> Vec<&str> {
    let is_known = |name: &str| filters.iter().any(|known| known == name);
    let is_plain = |known: &&str| known.rsplit_once(':').is_none_or(|(_, name)| !is_known(name));
    filters.iter().map(String::as_str).filter(is_plain).collect()
}

/// A filter that a guest has made.
#[derive(Clone, Debug)]
pub struct MadeFilter {
    /// The guest's number of it.
    pub number: u64,
    /// What it says of itself.
    pub info: FilterInfo,
    /// Frees it, by way of the reclaim_queue.
    pub owner: LibraryKeepAlive,
}
