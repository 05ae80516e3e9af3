//! Facts about an exchange.

use std::str;

use crate::abi;
use crate::crossing::CallContext;

/// Facts about an exchange. A text that is not known (yet) is empty.
#[derive(Clone, Copy)]
pub struct About<'a> {
    crossing: &'a CallContext<'a>,
}

/// One item of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata<'a> {
    /// Whose it is, by custom the name of the filter that wrote it.
    pub space: &'a str,
    /// What it is.
    pub key: &'a str,
    /// JSON.
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
        /// The client's address, `192.0.2.1:4711`, `[2001:db8::1]:4711` or `unix`.
        peer;
        /// The address it connected to.
        local;
        /// The listener's name.
        listener;
        /// The name of the rule that won.
        rule;
        /// The name of the cluster that the rule says.
        cluster;
        /// The endpoint's address, once there is a response from it.
        endpoint;
        /// The request id, where the listener has them.
        request_id;
        /// Why eddy answered by itself, a word as in the access record.
        details;
    }

    numbers! {
        /// When the request's head was complete, microseconds since 1970.
        started_unix_us: u64;
        /// How long the exchange took, microseconds; only in [`crate::Phase::Log`].
        duration_us: u64;
        /// The number of the client's connection in this worker.
        connection: u64;
        /// Bytes of the request's body so far.
        request_bytes: u64;
        /// Bytes of the response's body so far.
        response_bytes: u64;
        /// Endpoints tried.
        attempts: u32;
    }

    /// The metadata of the exchange as the host knows it; [`crate::Exchange::metadata`] knows changes of this crossing as well.
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
