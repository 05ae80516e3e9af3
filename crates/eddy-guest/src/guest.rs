//! Interface of guests: libraries that create filters, in any language.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use eddy_filter::{
    ExchangeView, FilterInfo, FilterInvocation, FilterLibrary, LibraryCall, LibraryKeepAlive, LoadError,
    LoadResult, Phase, Verdict,
};

use crate::failure::GuestFailure;
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

/// Enters the filters of a call, each by `enter` with its step and index, until one does not continue. The edits of a
/// filter that fails are dropped.
pub(crate) fn enter_steps<'c>(
    call: &mut LibraryCall<'c>,
    mut enter: impl FnMut(
        &mut LibraryCall<'c>,
        &ExchangeView<'c>,
        &mut FilterInvocation,
        u16,
    ) -> Result<Verdict, GuestFailure>,
) {
    call.stopped = call.steps.len();
    let Some(view) = call.view else { return };
    for index in 0..call.steps.len() {
        let Some(mut step) = call.steps.get(index).copied() else { break };
        call.current.store(step.id, Relaxed);
        let started = call.is_sampled.then(Instant::now);
        let base = call.edits.len();
        let position = u16::try_from(index).unwrap_or(u16::MAX);
        step.verdict = match enter(call, view, &mut step, position) {
            Ok(verdict) => verdict,
            Err(why) => {
                call.edits.bytes_mut().truncate(base);
                // If the log has no room for the reason, it is omitted.
                let _ = call.edits.push(position, &why.edit());
                Verdict::Fault
            }
        };
        if let Some(started) = started {
            step.nanos = u32::try_from(started.elapsed().as_nanos()).unwrap_or(u32::MAX);
        }
        let verdict = step.verdict;
        if let Some(place) = call.steps.get_mut(index) {
            *place = step;
        }
        if verdict != Verdict::Continue && view.phase != Phase::Log {
            call.stopped = index;
            break;
        }
    }
    call.current.store(0, Relaxed);
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
