//! A paused exchange.

use std::fmt;

use crate::abi;
use crate::edit::{EditError, sealed};
use crate::edit_log::{EditLogRecord, OwnedLog};
use crate::host;
use crate::log::LogTarget;
use crate::phase::Phase;
use crate::reply::Reply;

/// An exchange that waits for its filter, to be resumed from any thread.
///
/// The host waits until the filter's timeout, 30 s by default. Dropping this without resuming fails the exchange at
/// once, since it can't be resumed any more.
#[derive(Debug)]
#[must_use = "an exchange whose pause is dropped fails"]
pub struct Paused {
    place: FilterPosition,
    log: OwnedLog,
    is_done: bool,
}

/// Identifies the exchange, its crossing and the filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterPosition {
    pub(crate) exchange: u64,
    pub(crate) turn: u32,
    pub(crate) filter: u32,
    pub(crate) step: u16,
    pub(crate) phase: Phase,
    /// The host's number of the filter; may be dereferenced only during the call.
    pub(crate) slot: u64,
}

/// Why an exchange was not resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeError {
    /// The exchange has ended.
    Gone,
    /// The exchange does not wait any more: it timed out or was answered.
    Stale,
    /// The edits exceed their limit.
    TooLarge,
    /// The host rejected it.
    Invalid,
}

impl Paused {
    pub(crate) fn new(place: FilterPosition, log: OwnedLog) -> Self {
        Self { place, log, is_done: false }
    }

    /// Resumes with the edits made through this.
    ///
    /// # Errors
    /// Returns an error if the exchange does not wait any more; the same holds for the other methods.
    pub fn resume(self) -> Result<(), ResumeError> {
        self.finish(abi::CONTINUE)
    }

    /// Answers the request.
    ///
    /// # Errors
    /// As [`Self::resume`].
    pub fn reply(self, reply: &Reply) -> Result<(), ResumeError> {
        let step = self.place.step;
        write_reply(reply, step, |record| self.log.append(record)).map_err(|_| ResumeError::TooLarge)?;
        self.finish(abi::REPLY)
    }

    /// Buffers the whole body first, if a head phase paused.
    ///
    /// # Errors
    /// As [`Self::resume`].
    pub fn buffer(self) -> Result<(), ResumeError> {
        self.finish(abi::BUFFER)
    }

    /// Ends the exchange without a response, or without the rest of it.
    ///
    /// # Errors
    /// As [`Self::resume`].
    pub fn reset(self) -> Result<(), ResumeError> {
        self.finish(abi::RESET)
    }

    /// Fails; the filter's failure policy decides how the exchange continues.
    ///
    /// # Errors
    /// As [`Self::resume`].
    pub fn fault(mut self, message: &str) -> Result<(), ResumeError> {
        // Earlier edits of a failed filter are discarded.
        self.log = OwnedLog::default();
        let record = fault_record(self.place.step, message);
        self.log.append(record).map_err(|_| ResumeError::TooLarge)?;
        self.finish(abi::FAULT)
    }

    fn finish(mut self, verdict: u8) -> Result<(), ResumeError> {
        self.is_done = true;
        let log = std::mem::take(&mut self.log);
        resume(self.place, verdict, &log.into_bytes())
    }
}

/// Resumes the exchange on the host.
pub(crate) fn resume(place: FilterPosition, verdict: u8, edits: &[u8]) -> Result<(), ResumeError> {
    match host::resume(place.exchange, place.turn, verdict, edits) {
        abi::OK => Ok(()),
        abi::GONE => Err(ResumeError::Gone),
        abi::STALE => Err(ResumeError::Stale),
        abi::TOO_LARGE => Err(ResumeError::TooLarge),
        _ => Err(ResumeError::Invalid),
    }
}

/// Writes the records of a reply.
pub(crate) fn write_reply(
    reply: &Reply,
    step: u16,
    append: impl Fn(EditLogRecord<'_>) -> Result<(), EditError>,
) -> Result<(), EditError> {
    let Reply { status, fields, body, details, grpc_status } = reply;
    let number = u32::from(*status);
    append(EditLogRecord { op: abi::EDIT_REPLY, step, number, name: details.as_bytes(), value: body })?;
    for (name, value) in fields {
        append(EditLogRecord { op: abi::EDIT_REPLY_FIELD, step, number: 0, name, value })?;
    }
    match *grpc_status {
        Some(number) => {
            append(EditLogRecord { op: abi::EDIT_REPLY_GRPC, step, number, name: &[], value: &[] })
        }
        None => Ok(()),
    }
}

/// Returns the record of a fault.
pub(crate) fn fault_record(step: u16, message: &str) -> EditLogRecord<'_> {
    let cut = message.floor_char_boundary(FAULT_BYTES_MAX);
    let value = message.as_bytes().get(..cut).unwrap_or_default();
    EditLogRecord { op: abi::EDIT_FAULT, step, number: 0, name: &[], value }
}

impl Drop for Paused {
    fn drop(&mut self) {
        if !self.is_done {
            let log = OwnedLog::default();
            // The record is not too large, and an exchange that has ended does not need it.
            let _ = log.append(fault_record(
                self.place.step,
                "the filter dropped a pause without resuming the \
                                                              exchange",
            ));
            let _ = resume(self.place, abi::FAULT, &log.into_bytes());
        }
    }
}

impl sealed::EditSink for Paused {
    fn sink_phase(&self) -> Phase {
        self.place.phase
    }

    fn sink(&mut self, op: u16, name: &[u8], value: &[u8], number: u32) -> Result<(), EditError> {
        self.log.append(EditLogRecord { op, step: self.place.step, number, name, value })
    }
}

impl LogTarget for Paused {
    fn filter_id(&self) -> u32 {
        self.place.filter
    }
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "the exchange has ended",
            Self::Stale => "the exchange is no longer paused",
            Self::TooLarge => "the edits exceed the limit",
            Self::Invalid => "the host rejected it; the log of eddy has the reason",
        })
    }
}

impl std::error::Error for ResumeError {}

/// Maximum length of a fault message, so that it fits on a log line.
const FAULT_BYTES_MAX: usize = 4096;
