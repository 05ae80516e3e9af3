//! Facts about an exchange.

use std::str;

use crate::abi;
use crate::crossing::CallContext;

/// Facts about an exchange. A text that is not known, or not yet known, is empty.
#[derive(Clone, Copy)]
pub struct About<'a> {
    crossing: &'a CallContext<'a>,
}

/// One metadata entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata<'a> {
    /// Namespace, by convention the name of the filter that wrote it.
    pub space: &'a str,
    /// Key within the namespace.
    pub key: &'a str,
    /// Value as JSON.
    pub value: &'a str,
}

/// Declares a method for each text.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> &'a str {
                self.text(|about| about.$name)
            }
        )*
    };
}

/// Declares a method for each number.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $kind:ty;)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> $kind {
                self.crossing.view.about().map_or(0, |about| about.$name)
            }
        )*
    };
}

impl<'a> About<'a> {
    pub(crate) fn of(crossing: &'a CallContext<'a>) -> Self {
        Self { crossing }
    }

    texts! {
        /// Returns the client's address, `192.0.2.1:4711`, `[2001:db8::1]:4711` or `unix`.
        peer;
        /// Returns the local address that the client connected to.
        local;
        /// Returns the listener's name.
        listener;
        /// Returns the name of the matched rule.
        rule;
        /// Returns the name of the cluster selected by the rule.
        cluster;
        /// Returns the endpoint's address, once it has sent a response.
        endpoint;
        /// Returns the request ID, if the listener assigns them.
        request_id;
        /// Returns the reason for a local reply, a word as in the access log entry.
        details;
    }

    numbers! {
        /// Returns when the request head was complete, in microseconds since 1970.
        started_unix_us: u64;
        /// Returns the duration of the exchange in microseconds; only in [`crate::Phase::Log`].
        duration_us: u64;
        /// Returns the number of the client's connection in this worker.
        connection: u64;
        /// Returns the bytes of the request body so far.
        request_bytes: u64;
        /// Returns the bytes of the response body so far.
        response_bytes: u64;
        /// Returns the number of attempts at endpoints.
        attempts: u32;
    }

    /// Returns the metadata of the exchange as known to the host; [`crate::Exchange::metadata`] includes changes of
    /// this crossing.
    pub fn metadata(&self) -> impl ExactSizeIterator<Item = Metadata<'a>> + use<'a> {
        let view = &self.crossing.view;
        let text = |text| str::from_utf8(view.text(text)).unwrap_or_default();
        view.metadata().iter().map(move |pair| Metadata {
            space: text(pair.space),
            key: text(pair.key),
            value: text(pair.value),
        })
    }

    fn text(&self, of: impl FnOnce(&abi::AbiAbout) -> abi::AbiText) -> &'a str {
        let Some(about) = self.crossing.view.about() else { return "" };
        str::from_utf8(self.crossing.view.text(of(about))).unwrap_or_default()
    }
}
