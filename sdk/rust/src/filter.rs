//! What a filter is.

use serde::de::DeserializeOwned;

use crate::abi;
use crate::context::Context;
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::phase::Interest;
use crate::verdict::Verdict;

/// A filter, made once for each place of the configuration and shared by all workers.
///
/// Hooks run on the thread of a worker, where every other exchange of the worker waits for them: a hook that must wait for
/// something [pauses](Exchange::pause), or its filter is configured with `blocking: true` and entered on threads of its own.
pub trait Filter: Sized + Send + Sync + 'static {
    /// The configuration, as JSON; [`serde_json::Value`] for any.
    type Config: DeserializeOwned;
    /// What is kept of an exchange from hook to hook; `()` for nothing.
    type State: Default + Send + 'static;

    /// The hooks that this filter has. One that is not named here is never entered.
    const INTEREST: Interest;

    /// Whether bodies are looked at but never changed, so that their framing stays as it is.
    const ONLY_READS_BODIES: bool = false;

    /// Makes the filter.
    ///
    /// # Errors
    /// What is wrong with the configuration, in words for the one who wrote it.
    fn new(config: Self::Config, context: &Context) -> Result<Self, String>;

    /// Makes the filter that takes this one's place where a rule has a configuration of its own; `merged` is what
    /// [`Self::merge`] made.
    ///
    /// # Errors
    /// As [`Self::new`].
    fn for_rule(&self, merged: Self::Config, context: &Context) -> Result<Self, String> {
        Self::new(merged, context)
    }

    /// Merges a rule's configuration with the filter's own. Default: members of the rule's object take the place of the
    /// filter's; anything but two objects is the rule's alone.
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

    /// The hooks that this one has, where its configuration decides; never more than `INTEREST`.
    fn interest(&self) -> Interest {
        Self::INTEREST
    }

    /// The request's head is there.
    ///
    /// # Errors
    /// A fault, which the failure policy of the filter answers; so with the other hooks.
    fn request_head(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// A piece of the request's body is there, or the whole of it.
    ///
    /// # Errors
    /// A fault.
    fn request_body(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// The request has trailers.
    ///
    /// # Errors
    /// A fault.
    fn request_trailers(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// The head of the final response is there, the endpoint's or eddy's own.
    ///
    /// # Errors
    /// A fault.
    fn response_head(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// A piece of the response's body is there, or the whole of it.
    ///
    /// # Errors
    /// A fault.
    fn response_body(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// The response has trailers.
    ///
    /// # Errors
    /// A fault.
    fn response_trailers(&self, _: &mut Exchange<'_, Self::State>) -> Result<Verdict, Fault> {
        Ok(Verdict::Continue)
    }

    /// The exchange is over and can be looked at, to write it down.
    fn log(&self, _: &mut Exchange<'_, Self::State>) {}

    /// The exchange is over and its state given back; told only where a hook has asked for the state.
    ///
    /// The filter is the one of the configuration, also where a rule had one of its own.
    fn ended(&self, _: Self::State, _: End) {}
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum End {
    /// The response went out whole.
    Complete = abi::END_COMPLETE,
    /// Either side left, a timeout, or a fault.
    Cut = abi::END_CUT,
}

impl End {
    pub(crate) fn from_number(number: u32) -> Self {
        if number == abi::END_COMPLETE { Self::Complete } else { Self::Cut }
    }
}
