//! Failures of guests, with the limit that was exceeded.

use std::fmt;
use std::time::Duration;

use eddy_filter::{FilterEdit, FilterLimit, LibraryCall, Verdict};

/// Failure of a guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GuestFailure {
    /// Limit that the guest exceeded; `None` for an error of its own.
    pub(crate) limit: Option<FilterLimit>,
    /// Whether the limit applies to the guest's start only.
    pub(crate) is_of_start: bool,
    /// Reason, for the log.
    pub(crate) why: String,
}

impl GuestFailure {
    /// Creates the failure of a guest that used more CPU time than the configuration key `key` allows.
    pub(crate) fn of_cpu(key: &str, allowed: Duration, detail: &dyn fmt::Display) -> Self {
        let why = format!("it used more CPU time than `{key}` allows ({allowed:?}): {detail}");
        Self { limit: Some(FilterLimit::Cpu), is_of_start: false, why }
    }

    /// Creates the failure of a module whose start took longer than `wasm.start_cpu` allows.
    pub(crate) fn of_start(allowed: Duration, detail: &dyn fmt::Display) -> Self {
        Self { is_of_start: true, ..Self::of_cpu("wasm.start_cpu", allowed, detail) }
    }

    /// Creates the failure of a guest that needs more memory than the configuration key `key` allows.
    pub(crate) fn of_memory(key: &str, allowed: u64, detail: &dyn fmt::Display) -> Self {
        let why = format!("it needs more memory than `{key}` allows ({}): {detail}", size_text(allowed));
        Self { limit: Some(FilterLimit::Memory), is_of_start: false, why }
    }

    /// Creates the failure of a guest that needs more memory than it can have, whatever its configuration allows.
    pub(crate) fn of_own_memory(detail: &dyn fmt::Display) -> Self {
        let why = format!(
            "it got no more memory: its own maximum is reached, or the system is out of memory: {detail}"
        );
        Self { limit: Some(FilterLimit::Memory), is_of_start: false, why }
    }

    /// Returns the failure with another text.
    pub(crate) fn with_message(&self, why: String) -> Self {
        Self { limit: self.limit, is_of_start: self.is_of_start, why }
    }

    /// Marks the step at `index` of a call as failed; the call stops there. Has no effect on a call without a view.
    #[cold]
    pub(crate) fn blame(&self, call: &mut LibraryCall<'_>, index: usize) {
        if call.view.is_none() {
            return;
        }
        for step in call.steps.iter_mut() {
            step.verdict = Verdict::Continue;
        }
        // If the log has no room for the reason, the verdict still counts.
        let _ = call.edits.push(u16::try_from(index).unwrap_or(u16::MAX), &self.edit());
        call.stopped = index;
        if let Some(step) = call.steps.get_mut(index) {
            step.verdict = Verdict::Fault;
        }
    }

    /// Marks the first step of a call as failed, without entering any.
    #[cold]
    pub(crate) fn refuse(&self, call: &mut LibraryCall<'_>) {
        call.stopped = call.steps.len();
        self.blame(call, 0);
    }

    /// Returns the edit that reports the failure to the gateway.
    pub(crate) fn edit(&self) -> FilterEdit<'_> {
        match self.limit {
            Some(limit) => FilterEdit::LimitFault { limit, why: self.why.as_bytes() },
            None => FilterEdit::Fault(self.why.as_bytes()),
        }
    }
}

impl From<String> for GuestFailure {
    fn from(why: String) -> Self {
        Self { limit: None, is_of_start: false, why }
    }
}

impl From<&str> for GuestFailure {
    fn from(why: &str) -> Self {
        why.to_owned().into()
    }
}

impl fmt::Display for GuestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// Formats a size as in a configuration.
pub(crate) fn size_text(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::size_text;

    #[test]
    fn sizes_are_written_as_in_a_configuration() {
        let sizes =
            [(64 << 20, "64MiB"), (1 << 30, "1GiB"), (1536, "1536 bytes"), (2048, "2KiB"), (0, "0 bytes")];
        for (bytes, text) in sizes {
            assert_eq!(size_text(bytes), text);
        }
    }
}
