//! The filter trait.

use serde::de::DeserializeOwned;

use crate::abi;
use crate::context::Context;
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::phase::Interest;
use crate::verdict::Verdict;

/// A filter, created once for each use in the configuration and shared by all workers.
///
/// Hooks run on the thread of a worker and delay every other exchange of the worker. A hook that must wait
/// [pauses](Exchange::pause) the exchange, or its filter is configured with `blocking: true` and called on threads of
/// its own.
pub trait Filter: Sized + Send + Sync + 'static {
    /// Configuration, as JSON; [`serde_json::Value`] accepts any.
    type Config: DeserializeOwned;
    /// State kept per exchange from hook to hook; `()` for none.
    type State: Default + Send + 'static;

    /// Hooks that this filter implements. Other hooks are never called.
    const INTEREST: Interest;

    /// Whether bodies are only read and never changed, so that their framing can be kept.
    const ONLY_READS_BODIES: bool = false;

    /// Creates the filter.
    ///
    /// # Errors
    /// An error in the configuration, as a text for its author.
    fn new(config: Self::Config, context: &Context) -> Result<Self, String>;

    /// Creates the filter that replaces this one for a rule with a configuration of its own; `merged` is the result
    /// of [`Self::merge`].
    ///
    /// # Errors
    /// As [`Self::new`].
    fn for_rule(&self, merged: Self::Config, context: &Context) -> Result<Self, String> {
        Self::new(merged, context)
    }

    /// Merges a rule's configuration with the filter's own. Default: members of the rule's object replace those of
    /// the filter's; unless both are objects, the rule's value is used alone.
    #[must_use]
    fn merge(own: &serde_json::Value, rule: serde_json::Value) -> serde_json::Value {
        match (own, rule) {
            (serde_json::Value::Object(own), serde_json::Value::Object(rule)) => {
                let mut merged = own.clone();
                merged.extend(rule);
                serde_json::Value::Object(merged)
            }
            (_, rule) => rule,
        }
    }

    /// Hooks of this instance, if they depend on its configuration; always a subset of `INTEREST`.
    fn interest(&self) -> Interest {
        Self::INTEREST
    }

    /// Called with the request head.
    ///
    /// # Errors
    /// A fault, which is handled by the failure policy of the filter; the same holds for the other hooks.
    fn request_head(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// Called with a piece of the request body, or the whole body.
    ///
    /// # Errors
    /// A fault.
    fn request_body(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// Called with the request trailers.
    ///
    /// # Errors
    /// A fault.
    fn request_trailers(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// Called with the head of the final response, the endpoint's or a local reply.
    ///
    /// # Errors
    /// A fault.
    fn response_head(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// Called with a piece of the response body, or the whole body.
    ///
    /// # Errors
    /// A fault.
    fn response_body(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// Called with the response trailers.
    ///
    /// # Errors
    /// A fault.
    fn response_trailers(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// Called when the exchange has ended, for logging.
    fn log(&self, _: &mut Exchange<'_, Self::State>) {}

    /// Called with the state when the exchange has ended; only if a hook has used the state.
    ///
    /// The filter is the one of the configuration, even if a rule replaced it.
    fn ended(&self, _: Self::State, _: End) {}
}

/// Outcome of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum End {
    /// The response was sent completely.
    Complete = abi::END_COMPLETE,
    /// Ended early by either side, a timeout, or a fault.
    Cut = abi::END_CUT,
}

impl End {
    pub(crate) fn from_number(number: u32) -> Self {
        if number == abi::END_COMPLETE { Self::Complete } else { Self::Cut }
    }
}
