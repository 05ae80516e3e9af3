//! A view, lent or kept, and what was changed of it.

use std::ptr::NonNull;

use eddy_filter::{EditLog, ExchangeView, FilterEdit, KeptView, Phase};
use proxy_wasm_host::abi::{HostResult, Status};

use super::overlay::Overlay;
use super::start::StartLine;

/// What a module is shown, and what it changed.
#[derive(Default)]
pub(crate) struct MessageView {
    shown: ViewSource,
    pub(super) request: Overlay,
    pub(super) response: Overlay,
    pub(super) trailers: Overlay,
    pub(super) start: StartLine,
    /// The body with its changes, where there are any.
    pub(super) body: Vec<u8>,
    pub(super) has_body: bool,
    /// What was changed.
    pub(crate) edits: EditLog,
    /// The filter's step in the crossing.
    pub(crate) step: u16,
    /// Whether the head can still be changed while a body is shown.
    pub(crate) is_head_open: bool,
    /// Whether the body is shown from its beginning to its end.
    pub(crate) is_body_whole: bool,
}

#[derive(Default)]
enum ViewSource {
    #[default]
    Nothing,
    /// Lent for a callback.
    Lent(NonNull<ExchangeView<'static>>),
    /// Kept while the exchange waits.
    Kept(Box<KeptView>),
}

// SAFETY: the pointer is only there while a callback runs on the thread that lent the view, which no other thread enters
// meanwhile; it is taken back before the view ends.
unsafe impl Send for MessageView {}

impl MessageView {
    /// Shows a view.
    ///
    /// # Safety
    /// The view outlives everything that is done with the message_view before [`MessageView::take_back`].
    pub(crate) unsafe fn lend(&mut self, view: &ExchangeView<'_>) {
        self.shown = ViewSource::Lent(NonNull::from(view).cast());
    }

    /// Shows nothing any more, and forgets what was changed, but for the log.
    pub(crate) fn take_back(&mut self) {
        self.shown = ViewSource::Nothing;
        self.request.clear();
        self.response.clear();
        self.trailers.clear();
        self.start.clear();
        self.body.clear();
        self.has_body = false;
    }

    /// Makes a message_view of its own of what is shown here, with the changes but without their log.
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
        })
    }

    /// What is shown, as it was before any change.
    pub(crate) fn view(&self) -> Option<ExchangeView<'_>> {
        match &self.shown {
            ViewSource::Nothing => None,
            // SAFETY: who lent it promised that it lives until it is taken back; the lifetime is shortened to that of the
            // borrow.
            ViewSource::Lent(view) => Some(unsafe { *view.as_ref() }),
            ViewSource::Kept(kept) => Some(kept.view()),
        }
    }

    /// The phase that is shown.
    pub(crate) fn phase(&self) -> Option<Phase> {
        self.view().map(|view| view.phase)
    }

    /// Adds a change to the log.
    pub(crate) fn push(&mut self, edit: &FilterEdit<'_>) -> HostResult {
        self.edits.push(self.step, edit).map_err(|_| Status::InternalFailure)
    }
}
