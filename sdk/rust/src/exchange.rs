//! An exchange as seen by a hook.

use std::cell::OnceCell;
use std::marker::PhantomData;
use std::str;

use crate::abi;
use crate::about::About;
use crate::blocking::{self, BlockingHook};
use crate::crossing::{CallContext, HeadSection};
use crate::edit::{EditError, sealed};
use crate::edit_log::{EditLogRecord, OwnedLog};
use crate::fault::Fault;
use crate::guard;
use crate::head::Head;
use crate::instance;
use crate::library::FilterSlot;
use crate::log::LogTarget;
use crate::outbound::{Answer, Outbound, OutboundCall, OutboundError};
use crate::paused::{FilterPosition, Paused};
use crate::phase::{Phase, Version};
use crate::place::Places;
use crate::state::{StateAccess, StateCell};
use crate::verdict::{PauseToken, Verdict};

/// An exchange as seen by a hook: the message, edits of it, and the filter's own state.
///
/// The returned data remains valid until the hook returns, even after edits. The methods of [`crate::Edit`] change
/// the message. Reads return the message with the edits made so far.
pub struct Exchange<'a, S> {
    crossing: &'a CallContext<'a>,
    place: FilterPosition,
    state: StateAccess<'a, S>,
    is_paused: bool,
    /// Not `Send`: a hook belongs to one thread, and its data is memory of the worker.
    on_thread: PhantomData<*const ()>,
}

impl<'a, S: Default> Exchange<'a, S> {
    pub(crate) fn new(
        crossing: &'a CallContext<'a>,
        place: FilterPosition,
        state: StateAccess<'a, S>,
    ) -> Self {
        Self { crossing, place, state, is_paused: false, on_thread: PhantomData }
    }

    /// Returns the filter's state of this exchange; created with its default on first use.
    pub fn state(&mut self) -> &mut S {
        self.state.get()
    }
}

impl<S: Default + Send + 'static> Exchange<'_, S> {
    /// Continues the hook on a thread of the library, with a copy of the host's data, for slow or blocking work.
    /// Return the result of this method from the hook.
    ///
    /// There, `go_on` sees the edits made so far, and the state. If the hook already runs on another thread, `go_on`
    /// is called directly.
    ///
    /// # Errors
    /// Returns an error if too many hooks wait for a thread.
    ///
    /// # Cost
    /// A copy of heads and body, and some microseconds to switch to the thread and back.
    pub fn elsewhere(
        &mut self,
        go_on: impl FnOnce(&mut Exchange<'_, S>) -> Result<Verdict, Fault> + Send + 'static,
    ) -> Result<Verdict, Fault> {
        if self.crossing.is_detached() {
            return go_on(self);
        }
        let hook: BlockingHook = Box::new(move |_, crossing, place, state| {
            let cell = OnceCell::new();
            if state != 0 {
                // SAFETY: the number is of this exchange's state, and the thread that runs this holds a reference to
                // it.
                let shared = unsafe { StateCell::<S>::share(state) };
                let _ = cell.set(shared);
            }
            let outcome =
                guard::catch(|| go_on(&mut Exchange::new(crossing, place, StateAccess::new(&cell))));
            instance::say(crossing, place, outcome.unwrap_or_else(Err), 0)
        });
        // SAFETY: the call of this hook is still in progress, so the host holds the filter.
        let slot = unsafe { FilterSlot::share(self.place.slot) };
        let state = self.state.share();
        // SAFETY: the reference to the state was just counted and is of the slot's filter.
        unsafe { blocking::detach(slot, self.place, state, self.crossing, hook) }?;
        self.is_paused = true;
        Ok(Verdict::Pause(PauseToken(())))
    }
}

impl<'a, S> Exchange<'a, S> {
    /// Returns the phase of the exchange.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.crossing.phase
    }

    /// Returns the request head.
    #[must_use]
    pub fn request(&self) -> Head<'a> {
        Head::of_crossing(self.crossing, HeadSection::Request)
    }

    /// Returns the response head; without fields before [`Phase::ResponseHead`].
    #[must_use]
    pub fn response(&self) -> Head<'a> {
        Head::of_crossing(self.crossing, HeadSection::Response)
    }

    /// Returns the trailers in their phases; otherwise without fields.
    #[must_use]
    pub fn trailers(&self) -> Head<'a> {
        Head::of_crossing(self.crossing, HeadSection::Trailers)
    }

    /// Returns the current piece of the body, or the whole body if it was buffered; empty outside body phases.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.crossing.body()
    }

    /// Returns the method name.
    #[must_use]
    pub fn method(&self) -> &'a str {
        let method = self.crossing.text(abi::EDIT_METHOD, self.crossing.view.method_name());
        // A method is a token, and tokens are ASCII.
        str::from_utf8(method).unwrap_or_default()
    }

    /// Returns path and query, as changed by earlier filters, otherwise as sent.
    #[must_use]
    pub fn target(&self) -> &'a [u8] {
        self.crossing.text(abi::EDIT_TARGET, self.crossing.view.target())
    }

    /// Returns the path: the target up to its first question mark.
    #[must_use]
    pub fn path(&self) -> &'a [u8] {
        self.target().split(|byte| *byte == b'?').next().unwrap_or_default()
    }

    /// Returns the query: the part of the target after its first question mark.
    #[must_use]
    pub fn query(&self) -> Option<&'a [u8]> {
        let target = self.target();
        let mark = target.iter().position(|byte| *byte == b'?')?;
        target.get(mark + 1..)
    }

    /// Returns host, or host and port; empty if an HTTP/1.0 client sent none.
    #[must_use]
    pub fn authority(&self) -> &'a [u8] {
        self.crossing.text(abi::EDIT_AUTHORITY, self.crossing.view.authority())
    }

    /// Returns `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &'a str {
        str::from_utf8(self.crossing.view.scheme()).unwrap_or_default()
    }

    /// Returns the response status; 0 before there is one.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.crossing.status()
    }

    /// Returns the HTTP version of the client.
    #[must_use]
    pub fn version(&self) -> Version {
        Version::from_number(self.crossing.view.call().version)
    }

    /// Returns the number of the worker.
    #[must_use]
    pub fn worker(&self) -> u16 {
        self.crossing.view.call().worker
    }

    /// Whether this is the end of the message in this direction: there is no body, or this is its last piece.
    #[must_use]
    pub fn is_end(&self) -> bool {
        self.crossing.view.has(abi::CALL_END)
    }

    /// Whether the response is a local reply of eddy.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.crossing.view.has(abi::CALL_LOCAL)
    }

    /// Whether the body is complete.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        self.crossing.view.has(abi::CALL_BUFFERED)
    }

    /// Whether the client connection uses TLS.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.crossing.view.has(abi::CALL_TLS)
    }

    /// Returns facts about the exchange.
    #[must_use]
    pub fn about(&self) -> About<'a> {
        About::of(self.crossing)
    }

    /// Returns metadata set by an earlier filter, or by this one.
    #[must_use]
    pub fn metadata(&self, space: &str, key: &str) -> Option<serde_json::Value> {
        serde_json::from_slice(self.crossing.metadata(space, key)).ok()
    }

    /// Returns the positions in the body of a protobuf field's values, by its key under `fields` in the configuration
    /// of this filter. Nothing is decoded for this.
    #[must_use]
    pub fn places(&self, key: &str) -> Places<'a> {
        Places::of_json(self.crossing.metadata_with("message_fields", key, "_at"))
    }

    /// Returns the bytes of a protobuf field at the positions of [`Self::places`]: its last value, which is the
    /// effective one. Only available for a whole body ([`Verdict::Buffer`]), as long as no filter in between has
    /// changed it. Numbers are not available: their value is in the metadata.
    #[must_use]
    pub fn field_bytes(&self, key: &str) -> Option<&'a [u8]> {
        let body = self.body();
        let all = self.places(key).filter(|place| self.is_buffered() && place.length > 0);
        all.filter_map(|place| place.of(body)).last()
    }

    /// Pauses the exchange: return the verdict, and resume later through the handle, from any thread.
    ///
    /// From here on, edits are made through the handle.
    #[must_use = "the exchange waits only if the verdict is returned"]
    pub fn pause(&mut self) -> (Verdict, Paused) {
        self.is_paused = true;
        // On another thread than the worker, only the handle passes earlier edits to the host.
        let own = if self.crossing.is_detached() { self.crossing.own_edits() } else { Vec::new() };
        (Verdict::Pause(PauseToken(())), Paused::new(self.place, OwnedLog::of(own)))
    }

    /// Sends a request to one of eddy's clusters for this exchange; the request is cancelled if the exchange ends
    /// earlier.
    ///
    /// `done` gets the response, or a word for the reason why there is none. It runs on the thread of a worker and
    /// should only pass the response on, usually to a [`Paused`] that it owns.
    ///
    /// # Errors
    /// Returns an error if the host rejects the request; `done` is dropped then.
    pub fn send(
        &self,
        request: &Outbound<'_>,
        done: impl FnOnce(Result<Answer<'_>, &str>) + Send + 'static,
    ) -> Result<OutboundCall, OutboundError> {
        request.send(self.place.filter, self.place.exchange, Box::new(done))
    }
}

impl<S> sealed::EditSink for Exchange<'_, S> {
    fn sink_phase(&self) -> Phase {
        self.crossing.phase
    }

    fn sink(&mut self, op: u16, name: &[u8], value: &[u8], number: u32) -> Result<(), EditError> {
        if self.is_paused {
            return Err(EditError::Paused);
        }
        self.crossing.append(EditLogRecord { op, step: self.place.step, number, name, value })
    }
}

impl<S> LogTarget for Exchange<'_, S> {
    fn filter_id(&self) -> u32 {
        self.place.filter
    }
}

impl<S> std::fmt::Debug for Exchange<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange").field("place", &self.place).field("request", &self.request()).finish()
    }
}
