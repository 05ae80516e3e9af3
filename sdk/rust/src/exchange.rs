//! An exchange as a hook sees it.

use std::cell::OnceCell;
use std::marker::PhantomData;
use std::str;

use crate::abi;
use crate::about::About;
use crate::blocking::{self, BlockingHook};
use crate::crossing::{CallContext, HeadSection};
use crate::edit::{EditError, sealed};
use crate::edit_log::{EditLogRecord, OwnLog};
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

/// An exchange as a hook sees it: the message, changes to it, and the filter's own state.
///
/// What it gives out can be looked at until the hook returns, also after changes; changes are methods of [`crate::Edit`].
/// Reading shows the message with the changes made so far.
pub struct Exchange<'a, S> {
    crossing: &'a CallContext<'a>,
    place: FilterPosition,
    state: StateAccess<'a, S>,
    is_paused: bool,
    /// A hook is one thread's affair: what is seen is memory of the worker.
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

    /// What the filter keeps of this exchange; made with its default when first asked for.
    pub fn state(&mut self) -> &mut S {
        self.state.get()
    }
}

impl<S: Default + Send + 'static> Exchange<'_, S> {
    /// Goes on with the hook on a thread of the library's own, over a copy of what the host shows: for what takes time or blocks.
    /// Return what this gives.
    ///
    /// There, `go_on` sees the changes made so far, and the state. Where the hook runs elsewhere already, it is called at once.
    ///
    /// # Errors
    /// When too many hooks wait for a thread.
    ///
    /// # Cost
    /// A copy of heads and body, and some microseconds for the way there and back.
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
                // SAFETY: the number is of this exchange's state, and whoever runs this holds a reference to it.
                let shared = unsafe { StateCell::<S>::share(state) };
                let _ = cell.set(shared);
            }
            let outcome =
                guard::catch(|| go_on(&mut Exchange::new(crossing, place, StateAccess::new(&cell))));
            instance::say(crossing, place, outcome.unwrap_or_else(Err), 0)
        });
        // SAFETY: the call that this hook was entered with lasts, so the host has what was entered.
        let slot = unsafe { FilterSlot::share(self.place.slot) };
        let state = self.state.share();
        // SAFETY: the reference to the state was just counted and is of the slot's filter.
        unsafe { blocking::detach(slot, self.place, state, self.crossing, hook) }?;
        self.is_paused = true;
        Ok(Verdict::Pause(PauseToken(())))
    }
}

impl<'a, S> Exchange<'a, S> {
    /// Where the exchange stands.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.crossing.phase
    }

    /// The request's head.
    #[must_use]
    pub fn request(&self) -> Head<'a> {
        Head::of_crossing(self.crossing, HeadSection::Request)
    }

    /// The response's head; without fields before [`Phase::ResponseHead`].
    #[must_use]
    pub fn response(&self) -> Head<'a> {
        Head::of_crossing(self.crossing, HeadSection::Response)
    }

    /// The trailers, in their phases; else without fields.
    #[must_use]
    pub fn trailers(&self) -> Head<'a> {
        Head::of_crossing(self.crossing, HeadSection::Trailers)
    }

    /// The piece of the body, or the whole where it was collected; empty outside the phases of bodies.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.crossing.body()
    }

    /// The method's name.
    #[must_use]
    pub fn method(&self) -> &'a str {
        let method = self.crossing.text(abi::EDIT_METHOD, self.crossing.view.method_name());
        // A method is a token, and those are ASCII.
        str::from_utf8(method).unwrap_or_default()
    }

    /// Path and query, as an earlier filter left it, else as sent.
    #[must_use]
    pub fn target(&self) -> &'a [u8] {
        self.crossing.text(abi::EDIT_TARGET, self.crossing.view.target())
    }

    /// The path: the target up to its first question mark.
    #[must_use]
    pub fn path(&self) -> &'a [u8] {
        self.target().split(|byte| *byte == b'?').next().unwrap_or_default()
    }

    /// The query: what follows the target's first question mark.
    #[must_use]
    pub fn query(&self) -> Option<&'a [u8]> {
        let target = self.target();
        let mark = target.iter().position(|byte| *byte == b'?')?;
        target.get(mark + 1..)
    }

    /// Host, or host and port; empty where an HTTP/1.0 client named none.
    #[must_use]
    pub fn authority(&self) -> &'a [u8] {
        self.crossing.text(abi::EDIT_AUTHORITY, self.crossing.view.authority())
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &'a str {
        str::from_utf8(self.crossing.view.scheme()).unwrap_or_default()
    }

    /// The status of the response; 0 before there is one.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.crossing.status()
    }

    /// The version of HTTP that the client speaks.
    #[must_use]
    pub fn version(&self) -> Version {
        Version::from_number(self.crossing.view.call().version)
    }

    /// The number of the worker.
    #[must_use]
    pub fn worker(&self) -> u16 {
        self.crossing.view.call().worker
    }

    /// Whether nothing follows in this direction: there is no body, or this is its last piece.
    #[must_use]
    pub fn is_end(&self) -> bool {
        self.crossing.view.has(abi::CALL_END)
    }

    /// Whether the response is eddy's own.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.crossing.view.has(abi::CALL_LOCAL)
    }

    /// Whether the body is the whole of it.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        self.crossing.view.has(abi::CALL_BUFFERED)
    }

    /// Whether the client came by TLS.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.crossing.view.has(abi::CALL_TLS)
    }

    /// Facts about the exchange.
    #[must_use]
    pub fn about(&self) -> About<'a> {
        About::of(self.crossing)
    }

    /// A note of an earlier filter, or of this one.
    #[must_use]
    pub fn metadata(&self, space: &str, key: &str) -> Option<serde_json::Value> {
        serde_json::from_slice(self.crossing.metadata(space, key)).ok()
    }

    /// Where the values of a message's field stand in the body, by the key that it has under `fields` in the configuration of
    /// this filter. Nothing is decoded for it.
    #[must_use]
    pub fn places(&self, key: &str) -> Places<'a> {
        Places::of_json(self.crossing.metadata_with("message_fields", key, "_at"))
    }

    /// The bytes of a message's field, where [`Self::places`] says that they stand: its last value, which is the one that
    /// counts. Only a whole body has it ([`Verdict::Buffer`]), as long as no filter between has changed it. A number is not
    /// found: its value stands in the metadata.
    #[must_use]
    pub fn field_bytes(&self, key: &str) -> Option<&'a [u8]> {
        let body = self.body();
        let all = self.places(key).filter(|place| self.is_buffered() && place.length > 0);
        all.filter_map(|place| place.of(body)).last()
    }

    /// Makes the exchange wait: return the verdict, and go on later through the handle, from any thread.
    ///
    /// From here on changes are made through the handle.
    #[must_use = "the exchange waits only if the verdict is returned"]
    pub fn pause(&mut self) -> (Verdict, Paused) {
        self.is_paused = true;
        // Elsewhere than on the worker nobody but the handle takes what was written before to the host.
        let own = if self.crossing.is_detached() { self.crossing.own_edits() } else { Vec::new() };
        (Verdict::Pause(PauseToken(())), Paused::new(self.place, OwnLog::of(own)))
    }

    /// Sends a request to one of eddy's clusters for this exchange; if that is over earlier, the request is given up.
    ///
    /// `done` gets the answer, or a word that tells why there is none. It runs on the thread of a worker and is for passing
    /// the answer on, mostly to a [`Paused`] that it owns.
    ///
    /// # Errors
    /// When the host does not take the request; `done` is dropped then.
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
