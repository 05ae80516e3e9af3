//! One crossing: the filters to be entered, what they see, and where they answer.

use crate::edit::EditLog;
use crate::handle::Handle;
use crate::phase::Verdict;
use crate::view::ExchangeView;

/// The number that stands for "no phase" in a crossing that only tells of ends.
pub const CALL_WITHOUT_PHASE: u8 = 255;

/// One crossing into a library.
#[derive(Debug)]
pub struct LibraryCall<'a> {
    /// The worker's number.
    pub worker: u16,
    /// Names the exchange, for [`crate::Host::resume`].
    pub exchange: Handle,
    /// Number of this crossing in the exchange.
    pub turn: u32,
    /// Whether the time in each filter is to be measured.
    pub is_sampled: bool,
    /// What the filters see; nothing in a crossing that only tells of ends.
    pub view: Option<&'a ExchangeView<'a>>,
    /// The filters, in the order in which they are entered.
    pub steps: &'a mut [FilterInvocation],
    /// Exchanges that are over; every library looks at all of them first.
    pub ended: &'a [EndedExchange],
    /// Where changes go.
    pub edits: &'a mut EditLog,
    /// Index of the filter that did not say [`Verdict::Continue`]; the number of steps if there is none.
    pub stopped: usize,
    /// Where a step paused: after how many milliseconds the host goes on by itself; 0 for never.
    pub wait_ms: u32,
    /// Shared memory that says which filter the worker is in; a library writes the step's `id` before it enters a
    /// filter and 0 afterwards.
    pub current: &'a std::sync::atomic::AtomicU32,
}

/// One filter of a crossing.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilterInvocation {
    /// The library's number of the filter.
    pub filter: u64,
    /// The library's number of the rule's configuration; 0 for none.
    pub config: u64,
    /// The filter's own for this exchange; 0 at first.
    pub state: u64,
    /// The host's number of the filter.
    pub id: u32,
    /// Time in the filter, nanoseconds, where [`Call::is_sampled`]; written by the library.
    pub nanos: u32,
    /// Written by the library.
    pub verdict: Verdict,
    /// Whether the filter must not run on the worker's thread.
    pub is_blocking: bool,
}

/// An exchange that is over, for a filter that has state of it.
///
/// Guests read it in place, so its layout is that of `eddy_ended` in `abi/eddy_filter.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct EndedExchange {
    /// The library's number of the filter.
    pub filter: u64,
    /// Its state.
    pub state: u64,
    /// How the exchange ended.
    pub reason: EndReason,
}

/// How an exchange ended; the numbers are those of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum EndReason {
    /// The response went out whole.
    Complete = 0,
    /// Either side left, a timeout, or a fault.
    Cut = 1,
}
