//! Crossing into a library: the filters to enter, their view, and their results.

use eddy_ids::Millis;

use crate::edit::EditLog;
use crate::handle::Handle;
use crate::phase::Verdict;
use crate::view::ExchangeView;

/// Phase number of a crossing that only reports ends of exchanges.
pub const CALL_WITHOUT_PHASE: u8 = 255;

/// Crossing into a filter library.
#[derive(Debug)]
pub struct LibraryCall<'a> {
    /// Number of the worker.
    pub worker: u16,
    /// Handle of the exchange, for [`crate::HostApi::resume`].
    pub exchange: Handle,
    /// Number of this crossing in the exchange.
    pub turn: u32,
    /// Whether the time in each filter is measured.
    pub is_sampled: bool,
    /// View of the exchange; `None` in a crossing that only reports ends.
    pub view: Option<&'a ExchangeView<'a>>,
    /// Filters to enter, in order.
    pub steps: &'a mut [FilterInvocation],
    /// Exchanges that have ended; every library processes all of them first.
    pub ended: &'a [EndedExchange],
    /// Log to which edits are written.
    pub edits: &'a mut EditLog,
    /// Index of the first filter that did not return [`Verdict::Continue`]; the number of steps if all did.
    pub stopped: usize,
    /// If a step paused: time after which the host continues by itself; `None` for never.
    pub wait: Option<Millis>,
    /// Shared memory that holds the filter the worker is in; a library writes the step's `id` before it enters a filter
    /// and 0 afterwards.
    pub current: &'a std::sync::atomic::AtomicU32,
}

/// Filter to be entered in a crossing, with its result.
///
/// Native guests read and write it in place, so its layout is that of `eddy_step` in `abi/eddy_filter.h`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct FilterInvocation {
    /// The library's number of the filter.
    pub filter: u64,
    /// The library's number of the rule's configuration; 0 for none.
    pub config: u64,
    /// State of the filter for this exchange; 0 at first.
    pub state: u64,
    /// The host's number of the filter.
    pub id: u32,
    /// Time in the filter in nanoseconds, if [`LibraryCall::is_sampled`]; written by the library.
    pub nanos: u32,
    /// Verdict; written by the library.
    pub verdict: Verdict,
    /// Flags of the filter ABI: [`Self::BLOCKING`].
    pub flags: u8,
    /// Reserved by the filter ABI.
    pub reserved: [u8; 6],
}

impl FilterInvocation {
    /// Flag of a filter that must not run on the worker's thread.
    pub const BLOCKING: u8 = 1;
}

/// Ended exchange, for a filter that has state of it.
///
/// Guests read it in place, so its layout is that of `eddy_ended` in `abi/eddy_filter.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct EndedExchange {
    /// The library's number of the filter.
    pub filter: u64,
    /// State of the filter.
    pub state: u64,
    /// Reason of the end.
    pub reason: EndReason,
}

/// Reason of an exchange's end; the numbers are those of the filter ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum EndReason {
    /// The response was sent completely.
    Complete = 0,
    /// Either side disconnected, a timeout expired, or there was a fault.
    Cut = 1,
}
