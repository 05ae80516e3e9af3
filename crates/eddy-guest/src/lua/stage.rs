//! Context of a running hook: its view, its changes and its host services.

use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::ptr::NonNull;
use std::sync::Arc;

use eddy_filter::{
    DynamicMetadata, EditLog, ExchangeInfo, ExchangeView, FilterEdit, Handle, HostApi, KeptFields, KeptView,
    Phase,
};
use eddy_http::{FieldId, Fields, FieldsEditor, Method, Span};

use super::context::Contexts;
use super::numbers::BodySeen;
use super::order::LuaOutboundRequest;
use super::shared::SharedStores;
use super::shown::{LuaFieldsView, LuaMessageLayout, LuaTextRef};
use super::stats::LuaStats;
use crate::failure::GuestFailure;
use crate::guest::scheme;

/// Hook context, one per VM; it never moves, because the VM's code has its address.
pub(super) struct LuaHookContext {
    /// Invariant: all pointers in it are valid until the entry ends; [`LuaHookContext::leave`] clears it.
    pub(super) shown: LuaMessageLayout,
    /// View of the hook; `None` while no hook runs.
    view: Option<NonNull<ExchangeView<'static>>>,
    pub(super) hook: LuaHook,
    pub(super) host: Arc<dyn HostApi>,
    pub(super) stores: Arc<SharedStores>,
    pub(super) contexts: Arc<Contexts>,
    pub(super) stats: LuaStats,
    /// Whether response hooks may read request headers after a wait.
    pub(super) keeps_request: bool,
    /// Edits of this entry.
    edits: EditLog,
    head: KeptFields,
    trailers: KeptFields,
    /// Replacements of method, target, authority and body.
    texts: [Option<Vec<u8>>; 4],
    metadata: Option<DynamicMetadata>,
    /// Answer of the last host call.
    pub(super) answer: Vec<u8>,
    /// Outbound request under construction.
    pub(super) order: LuaOutboundRequest,
    last_scope: u32,
    last_piece: u32,
}

/// Running or waiting hook.
#[derive(Clone, Copy, Debug)]
pub(super) struct LuaHook {
    /// Number of the hook in its VM.
    pub(super) scope: u32,
    pub(super) piece: u32,
    /// Whether the head can still be changed.
    pub(super) is_open: bool,
    pub(super) body: BodySeen,
    /// The host's number of the filter.
    pub(super) id: u32,
    /// Number of the configuration value that the script gets.
    pub(super) context: u64,
    /// Index of the filter among the steps of the call.
    pub(super) step: u16,
    pub(super) exchange: Handle,
    pub(super) turn: u32,
}

/// Section of a message whose fields a hook changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditedSection {
    Head,
    Trailers,
}

/// Text that a hook can replace.
#[derive(Clone, Copy)]
enum Own {
    Method = 0,
    Target = 1,
    Authority = 2,
    Body = 3,
}

impl LuaHook {
    /// Returns a placeholder for no hook.
    pub(super) fn none() -> Self {
        Self {
            scope: 0,
            piece: 0,
            is_open: false,
            body: BodySeen::Nothing,
            id: 0,
            context: 0,
            step: 0,
            exchange: Handle::from_number(0),
            turn: 0,
        }
    }
}

impl LuaHookContext {
    pub(super) fn new(
        host: Arc<dyn HostApi>,
        stores: Arc<SharedStores>,
        contexts: Arc<Contexts>,
        stats: LuaStats,
    ) -> Self {
        Self {
            shown: LuaMessageLayout::default(),
            view: None,
            hook: LuaHook::none(),
            host,
            stores,
            contexts,
            stats,
            keeps_request: false,
            edits: EditLog::new(),
            head: KeptFields::default(),
            trailers: KeptFields::default(),
            texts: [None, None, None, None],
            metadata: None,
            answer: Vec::new(),
            order: LuaOutboundRequest::default(),
            last_scope: 0,
            last_piece: 0,
        }
    }

    /// Returns a number for a new hook.
    pub(super) fn next_scope(&mut self) -> u32 {
        self.last_scope = self.last_scope.wrapping_add(1).max(1);
        self.last_scope
    }

    /// Returns a number for a piece of a body.
    pub(super) fn next_piece(&mut self) -> u32 {
        self.last_piece = self.last_piece.wrapping_add(1).max(1);
        self.last_piece
    }

    /// Sets the view for the hook that is about to run.
    ///
    /// # Safety
    /// The view lives, and nothing changes it, until [`Self::leave`] is called.
    #[inline]
    pub(super) unsafe fn enter(&mut self, view: &ExchangeView<'_>, hook: LuaHook) {
        self.view = Some(NonNull::from(view).cast());
        self.hook = hook;
        let is_response = view.phase.is_reversed();
        let response = view.response.unwrap_or_default();
        let shown = &mut self.shown;
        shown.scope = hook.scope;
        shown.piece = hook.piece;
        shown.status = response.status.into();
        shown.way = view.phase.direction() as u8;
        shown.is_end = view.is_end;
        shown.is_open = hook.is_open;
        shown.body_seen = hook.body;
        shown.has_piece = matches!(view.phase, Phase::RequestBody | Phase::ResponseBody);
        shown.head = LuaFieldsView::of(if is_response { response.fields } else { view.request.fields });
        shown.trailers = LuaFieldsView::of(view.trailers);
        shown.request =
            if is_response { LuaFieldsView::of(view.request.fields) } else { LuaFieldsView::default() };
        shown.method = LuaTextRef::of(view.request.method_name);
        shown.target = LuaTextRef::of(view.request.target);
        shown.authority = LuaTextRef::of(view.request.authority);
        shown.scheme = LuaTextRef::of(scheme(view));
        shown.body = LuaTextRef::of(view.body);
    }

    /// Ends an entry begun with [`Self::enter`]; returns the hook's state.
    #[inline]
    pub(super) fn leave(&mut self) -> LuaHook {
        self.view = None;
        let (answer, number) = (self.shown.answer, self.shown.number);
        let changes = self.shown.changes;
        self.shown = LuaMessageLayout { answer, number, changes, ..LuaMessageLayout::default() };
        if changes != 0 {
            self.shown.changes = 0;
            self.discard_changes();
        }
        mem::replace(&mut self.hook, LuaHook::none())
    }

    #[cold]
    fn discard_changes(&mut self) {
        self.edits.clear();
        self.texts = [None, None, None, None];
        self.metadata = None;
        for copy in [&mut self.head, &mut self.trailers] {
            copy.bytes.clear();
            copy.bytes.shrink_to(COPY_BYTES_KEPT_MAX);
        }
    }

    /// Returns the records of the hook's edits.
    pub(super) fn edits(&mut self) -> &[u8] {
        self.edits.bytes_mut()
    }

    /// Discards the hook's edits and records the reason of its failure instead.
    pub(super) fn blame(&mut self, failure: &GuestFailure) {
        self.edits.clear();
        self.shown.changes += 1;
        // If there is no room for the reason, it is omitted; the verdict still counts.
        let _ = self.edits.push(self.hook.step, &failure.edit());
    }

    /// Returns the view of the hook.
    pub(super) fn view(&self) -> Option<&ExchangeView<'_>> {
        // SAFETY: by the contract of `enter` the view lives until `leave` removes it; the lifetime that was cast away
        // becomes that of this borrow, which ends before.
        self.view.map(|view| unsafe { view.cast::<ExchangeView<'_>>().as_ref() })
    }

    /// Returns the metadata of the exchange, with the changes of this hook.
    pub(super) fn metadata(&self) -> Option<&DynamicMetadata> {
        self.metadata.as_ref().or_else(|| self.view()?.about().metadata)
    }

    /// Returns a copy of the view with the hook's changes; the headers of the other direction are left out, unless the
    /// script reads them.
    pub(super) fn kept(&self) -> Option<KeptView> {
        let view = self.view()?;
        let mut now = *view;
        let own = |which: Own| self.texts.get(which as usize).and_then(Option::as_deref);
        let is_reversed = view.phase.is_reversed();
        let change_to =
            |fields| if self.is_copied(EditedSection::Head) { self.head.fields() } else { fields };
        now.request.fields = match (is_reversed, self.keeps_request) {
            (false, _) => change_to(view.request.fields),
            (true, true) => view.request.fields,
            (true, false) => Fields::default(),
        };
        if let Some(response) = &mut now.response {
            response.fields = if is_reversed { change_to(response.fields) } else { Fields::default() };
            response.status = u16::try_from(self.shown.status).unwrap_or(response.status);
        }
        now.request.method_name = own(Own::Method).unwrap_or(now.request.method_name);
        now.request.method = Method::from_bytes(now.request.method_name);
        now.request.target = own(Own::Target).unwrap_or(now.request.target);
        now.request.authority = own(Own::Authority).unwrap_or(now.request.authority);
        now.body = own(Own::Body).unwrap_or(now.body);
        let about = ExchangeInfo { metadata: self.metadata(), ..view.about() };
        now.facts = &about;
        Some(KeptView::of(&now))
    }

    /// Applies an edit; later reads see it.
    ///
    /// # Errors
    /// An error message for the author of the script.
    pub(super) fn change(&mut self, edit: &FilterEdit<'_>, section: EditedSection) -> Result<(), String> {
        self.shown.changes += 1;
        let too_large = |error: eddy_filter::EditError| error.to_string();
        match *edit {
            // eddy frames messages itself; scripts that set the length or transfer coding would only repeat it.
            // `Content-Length` may be removed.
            FilterEdit::Set { name, .. } | FilterEdit::Add { name, .. }
                if FieldId::from_name(name) == FieldId::ContentLength =>
            {
                return Ok(());
            }
            FilterEdit::Set { name, .. } | FilterEdit::Add { name, .. } | FilterEdit::Remove { name }
                if FieldId::from_name(name) == FieldId::TransferEncoding =>
            {
                return Ok(());
            }
            // `Connection: close` applies to the connection and is not part of a head.
            FilterEdit::Set { .. } | FilterEdit::Add { .. }
                if edit.ends_connection() && section == EditedSection::Head => {}
            FilterEdit::Set { .. } | FilterEdit::Add { .. } | FilterEdit::Remove { .. } => {
                self.change_fields(edit, section)?
            }
            FilterEdit::Method(text) => self.own(Own::Method, text),
            FilterEdit::Target(text) => self.own(Own::Target, text),
            FilterEdit::Authority(text) => {
                self.own(Own::Authority, text);
                self.change_host(text);
            }
            FilterEdit::BodySet(text) => self.own(Own::Body, text),
            FilterEdit::Status(status) => self.shown.status = status,
            FilterEdit::Metadata { space, key, value } => {
                let mut noted = self.metadata.take().or_else(|| self.metadata().cloned()).unwrap_or_default();
                let outcome = noted.set(space, key, value);
                self.metadata = Some(noted);
                outcome.map_err(|full| full.to_string())?;
            }
            FilterEdit::Endpoint { address, .. } if !is_ip_address(address) => {
                return Err("host is not a valid IP address".to_owned());
            }
            FilterEdit::BodyAppend(_)
            | FilterEdit::BodyPrepend(_)
            | FilterEdit::BodyDrain(_)
            | FilterEdit::Reply { .. }
            | FilterEdit::ReplyField { .. }
            | FilterEdit::ReplyGrpc(_)
            | FilterEdit::Trailer { .. }
            | FilterEdit::ClearRoute
            | FilterEdit::Endpoint { .. }
            | FilterEdit::Fault(_)
            | FilterEdit::LimitFault { .. } => {}
        }
        self.edits.push(self.hook.step, edit).map_err(too_large)
    }

    /// Whether the visible fields are a copy.
    fn is_copied(&self, section: EditedSection) -> bool {
        let (shown, copy) = match section {
            EditedSection::Head => (&self.shown.head, &self.head),
            EditedSection::Trailers => (&self.shown.trailers, &self.trailers),
        };
        !copy.bytes.is_empty() && shown.bytes == copy.bytes.as_ptr()
    }

    /// Returns the copy of the head or the trailers, made on the first change.
    fn open(&mut self, section: EditedSection) -> &mut KeptFields {
        if !self.is_copied(section) {
            let view = self.view.map(|view| {
                // SAFETY: as in `view`; the borrow is of the view and not of the context, and ends with this function.
                unsafe { view.cast::<ExchangeView<'_>>().as_ref() }
            });
            let fields = match view {
                None => Fields::default(),
                Some(view) if section == EditedSection::Trailers => view.trailers,
                Some(view) if view.phase.is_reversed() => view.response.unwrap_or_default().fields,
                Some(view) => view.request.fields,
            };
            self.copy_of(section).fill(fields);
        }
        self.copy_of(section)
    }

    fn copy_of(&mut self, section: EditedSection) -> &mut KeptFields {
        match section {
            EditedSection::Head => &mut self.head,
            EditedSection::Trailers => &mut self.trailers,
        }
    }

    fn change_fields(&mut self, edit: &FilterEdit<'_>, section: EditedSection) -> Result<(), String> {
        let KeptFields { bytes, fields } = self.open(section);
        let mut editor = FieldsEditor::new(bytes, fields);
        let outcome = if let FilterEdit::Set { name, value } = *edit {
            editor.set(name, value)
        } else if let FilterEdit::Add { name, value } = *edit {
            editor.add(name, value)
        } else if let FilterEdit::Remove { name } = *edit {
            editor.remove(name)
        } else {
            Ok(())
        };
        self.show_copy(section);
        outcome.map_err(|fault| fault.to_string())
    }

    /// Updates the visible `Host` header, if any, to another authority.
    fn change_host(&mut self, authority: &[u8]) {
        let KeptFields { bytes, fields } = self.open(EditedSection::Head);
        let start = bytes.len();
        bytes.extend_from_slice(authority);
        let value = Span::new(start, bytes.len());
        if let Some(field) = fields.iter_mut().find(|field| field.id == FieldId::Host) {
            field.value = value;
        }
        self.show_copy(EditedSection::Head);
    }

    fn show_copy(&mut self, section: EditedSection) {
        match section {
            EditedSection::Head => self.shown.head = LuaFieldsView::of(self.head.fields()),
            EditedSection::Trailers => self.shown.trailers = LuaFieldsView::of(self.trailers.fields()),
        }
    }

    fn own(&mut self, which: Own, text: &[u8]) {
        let Some(place) = self.texts.get_mut(which as usize) else { return };
        let text = place.insert(text.to_vec());
        let shown = LuaTextRef::of(text);
        match which {
            Own::Method => self.shown.method = shown,
            Own::Target => self.shown.target = shown,
            Own::Authority => self.shown.authority = shown,
            Own::Body => self.shown.body = shown,
        }
    }
}

/// Whether a text is an IP address, with or without a port.
fn is_ip_address(text: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(text) else { return false };
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    text.parse::<SocketAddr>().is_ok() || bare.parse::<IpAddr>().is_ok()
}

const COPY_BYTES_KEPT_MAX: usize = 16 * 1024;
