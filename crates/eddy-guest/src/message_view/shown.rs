//! View, lent or owned, with its changes.

use std::ptr::NonNull;

use eddy_filter::{EditLog, ExchangeView, FilterEdit, KeptView, Phase};
use proxy_wasm_host::abi::{HostResult, Status};

use super::overlay::Overlay;
use super::start::StartLine;

/// View for a module, with the module's changes.
#[derive(Default)]
pub(crate) struct MessageView {
    shown: ViewSource,
    pub(super) request: Overlay,
    pub(super) response: Overlay,
    pub(super) trailers: Overlay,
    pub(super) start: StartLine,
    /// Copy of the body with its changes, if any.
    pub(super) body: Vec<u8>,
    pub(super) has_body: bool,
    /// Log of the edits.
    pub(crate) edits: EditLog,
    /// Index of the filter's step in the crossing.
    pub(crate) step: u16,
    /// Whether the head can still be changed in a body phase.
    pub(crate) is_head_open: bool,
    /// Whether the complete body is shown.
    pub(crate) is_body_whole: bool,
    /// Whether an earlier filter of the crossing has added trailers, which the module sees after this phase.
    pub(crate) has_new_trailers: bool,
}

#[derive(Default)]
enum ViewSource {
    #[default]
    Nothing,
    /// View lent for a callback.
    Lent(NonNull<ExchangeView<'static>>),
    /// Copy for a paused exchange.
    Kept(Box<KeptView>),
}

// SAFETY: the pointer exists only while a callback runs on the thread that lent the view, which no other thread enters
// meanwhile; it is removed before the view ends.
unsafe impl Send for MessageView {}

impl MessageView {
    /// Lends a view.
    ///
    /// # Safety
    /// The view outlives every use of the message view before [`MessageView::remove_view`].
    pub(crate) unsafe fn lend(&mut self, view: &ExchangeView<'_>) {
        self.shown = ViewSource::Lent(NonNull::from(view).cast());
    }

    /// Removes the view and discards the changes, except for the log.
    pub(crate) fn remove_view(&mut self) {
        self.shown = ViewSource::Nothing;
        self.request.clear();
        self.response.clear();
        self.trailers.clear();
        self.start.clear();
        self.body.clear();
        self.has_body = false;
        self.has_new_trailers = false;
    }

    /// Moves the view with its changes into a new message view with a copy of the view and an empty log.
    pub(crate) fn keep(&mut self) -> Option<Self> {
        let kept = Box::new(KeptView::of(&self.view()?));
        Some(Self {
            shown: ViewSource::Kept(kept),
            request: std::mem::take(&mut self.request),
            response: std::mem::take(&mut self.response),
            trailers: std::mem::take(&mut self.trailers),
            start: std::mem::take(&mut self.start),
            body: std::mem::take(&mut self.body),
            has_body: std::mem::take(&mut self.has_body),
            edits: EditLog::new(),
            step: self.step,
            is_head_open: self.is_head_open,
            is_body_whole: self.is_body_whole,
            has_new_trailers: self.has_new_trailers,
        })
    }

    /// Returns the view without changes.
    pub(crate) fn view(&self) -> Option<ExchangeView<'_>> {
        match &self.shown {
            ViewSource::Nothing => None,
            // SAFETY: `lend` requires that the view lives until it is taken back; the lifetime is shortened to that of
            // the borrow.
            ViewSource::Lent(view) => Some(unsafe { *view.as_ref() }),
            ViewSource::Kept(kept) => Some(kept.view()),
        }
    }

    /// Returns the phase of the view.
    pub(crate) fn phase(&self) -> Option<Phase> {
        self.view().map(|view| view.phase)
    }

    /// Appends an edit to the log.
    pub(crate) fn push(&mut self, edit: &FilterEdit<'_>) -> HostResult {
        self.edits.push(self.step, edit).map_err(|_| Status::InternalFailure)
    }
}
