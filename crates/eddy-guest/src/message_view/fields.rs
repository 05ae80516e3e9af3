//! Access of modules to header maps.
//!
//! Names are shown in lower case. Headers that frame a message or apply to this hop only can be read. Changing them has
//! no effect, because eddy writes them itself, with one exception: a module that removes or changes `content-length`
//! may change the length of the body.

use std::borrow::Cow;

use eddy_filter::{ExchangeView, FilterEdit, Phase, TrailerChange};
use eddy_http::{EditFault, FieldId, FieldRef, Fields};
use proxy_wasm_host::abi::{HostResult, Pairs, Status};

use super::MessageView;
use super::overlay::Overlay;
use super::start::Pseudo;

/// Section of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageSection {
    Request,
    RequestTrailers,
    Response,
    ResponseTrailers,
}

impl MessageView {
    /// Visits each header of a section; none if the section does not exist in this phase.
    pub(crate) fn visit(&self, part: MessageSection, visit: &mut dyn FnMut(&[u8], &[u8])) {
        let Some(view) = self.view() else { return };
        let Some(fields) = self.fields(&view, part) else { return };
        match part {
            MessageSection::Request => {
                for pseudo in Pseudo::OF_REQUEST {
                    visit(pseudo.name(), &self.start.value(&view, pseudo));
                }
            }
            MessageSection::Response => visit(b":status", &self.start.value(&view, Pseudo::Status)),
            MessageSection::RequestTrailers | MessageSection::ResponseTrailers => {}
        }
        let mut lower = [0; NAME_BYTES_USUAL];
        for field in fields.iter().filter(|field| !is_hidden(part, field)) {
            let room = lower.get_mut(..field.name.len());
            match room {
                Some(room) => {
                    room.copy_from_slice(field.name);
                    room.make_ascii_lowercase();
                    visit(room, field.value);
                }
                None => visit(&field.name.to_ascii_lowercase(), field.value),
            }
        }
    }

    /// Returns the number of headers of a section.
    pub(crate) fn count(&self, part: MessageSection) -> usize {
        let Some(view) = self.view() else { return 0 };
        let Some(fields) = self.fields(&view, part) else { return 0 };
        let pseudo = match part {
            MessageSection::Request => Pseudo::OF_REQUEST.len(),
            MessageSection::Response => 1,
            MessageSection::RequestTrailers | MessageSection::ResponseTrailers => 0,
        };
        pseudo + fields.iter().filter(|field| !is_hidden(part, field)).count()
    }

    /// Returns the value of a header; several values are joined by commas.
    pub(crate) fn value(&self, part: MessageSection, name: &[u8]) -> Option<Cow<'_, [u8]>> {
        let view = self.view()?;
        let fields = self.fields(&view, part)?;
        if let Some(pseudo) = pseudo_of(part, name) {
            return Some(self.start.value(&view, pseudo));
        }
        let mut values = fields.all_named(name);
        let first = values.next()?;
        let Some(second) = values.next() else { return Some(first.into()) };
        let mut joined = first.to_vec();
        for value in [second].into_iter().chain(values) {
            joined.push(b',');
            joined.extend_from_slice(value);
        }
        Some(joined.into())
    }

    /// Visits each value of a header, in order.
    pub(crate) fn visit_values(&self, part: MessageSection, name: &[u8], visit: &mut dyn FnMut(&[u8])) {
        let Some(view) = self.view() else { return };
        let Some(fields) = self.fields(&view, part) else { return };
        if let Some(pseudo) = pseudo_of(part, name) {
            visit(&self.start.value(&view, pseudo));
            return;
        }
        fields.all_named(name).for_each(visit);
    }

    /// Replaces all headers with a name by one.
    ///
    /// # Errors
    /// [`Status::BadArgument`] if the header is invalid, or the section cannot be changed now.
    pub(crate) fn replace(&mut self, part: MessageSection, name: &[u8], value: &[u8]) -> HostResult {
        self.change(part, &FilterEdit::Set { name, value }, name, value, |overlay| {
            overlay.edit().set(name, value)
        })
    }

    /// Adds a header.
    ///
    /// # Errors
    /// [`Status::BadArgument`] if the header is invalid, or the section cannot be changed now.
    pub(crate) fn add(&mut self, part: MessageSection, name: &[u8], value: &[u8]) -> HostResult {
        self.change(part, &FilterEdit::Add { name, value }, name, value, |overlay| {
            overlay.edit().add(name, value)
        })
    }

    /// Applies an edit that sets or adds a header, and records it.
    fn change(
        &mut self,
        part: MessageSection,
        edit: &FilterEdit<'_>,
        name: &[u8],
        value: &[u8],
        apply: impl FnOnce(&mut Overlay) -> Result<(), EditFault>,
    ) -> HostResult {
        self.check_open(part)?;
        if let Some(pseudo) = pseudo_of(part, name) {
            return self.set_start(pseudo, value);
        }
        if FieldId::from_name(name) == FieldId::ContentLength {
            return self.remove(part, name);
        }
        let done = apply(self.begin(part)?);
        self.settle(part, done, edit)
    }

    /// Records an edit that was applied; headers that eddy controls are left as they are.
    fn settle(
        &mut self,
        part: MessageSection,
        done: Result<(), EditFault>,
        edit: &FilterEdit<'_>,
    ) -> HostResult {
        match done {
            Ok(()) => match trailer_edit(part, self.phase(), edit) {
                Some(edit) => self.push(&edit),
                None => self.push(edit),
            },
            Err(EditFault::Reserved { .. }) => Ok(()),
            Err(_) => Err(Status::BadArgument),
        }
    }

    /// Removes all headers with a name. Pseudo-headers are not removed.
    ///
    /// # Errors
    /// [`Status::BadArgument`] if the section cannot be changed now.
    pub(crate) fn remove(&mut self, part: MessageSection, name: &[u8]) -> HostResult {
        self.check_open(part)?;
        if pseudo_of(part, name).is_some() {
            return Ok(());
        }
        let view = self.view().ok_or(Status::BadArgument)?;
        if self.fields(&view, part).is_none_or(|fields| fields.first_named(name).is_none()) {
            return Ok(());
        }
        let done = self.begin(part)?.edit().remove(name);
        self.settle(part, done, &FilterEdit::Remove { name })
    }

    /// Replaces a section by these pairs; unchanged headers are not edited.
    ///
    /// # Errors
    /// [`Status::BadArgument`] if a header is invalid, or the section cannot be changed now.
    pub(crate) fn set_all(&mut self, part: MessageSection, pairs: Pairs<'_>) -> HostResult {
        self.check_open(part)?;
        let mut gone: Vec<Vec<u8>> = Vec::new();
        self.visit(part, &mut |name, _| {
            let is_meant = pairs.get(name).is_some();
            if !is_meant && !gone.iter().any(|known| known == name) {
                gone.push(name.to_vec());
            }
        });
        for name in gone {
            self.remove(part, &name)?;
        }
        for (index, (name, value)) in pairs.clone().enumerate() {
            let is_first = !pairs.clone().take(index).any(|(other, _)| other.eq_ignore_ascii_case(name));
            if !is_first {
                continue;
            }
            let others = pairs.clone().skip(index + 1).filter(|(other, _)| other.eq_ignore_ascii_case(name));
            let view = self.view().ok_or(Status::BadArgument)?;
            let wanted = [value].into_iter().chain(others.clone().map(|(_, value)| value));
            let is_same = self.fields(&view, part).is_some_and(|fields| fields.all_named(name).eq(wanted));
            if is_same && pseudo_of(part, name).is_none() {
                continue;
            }
            self.replace(part, name, value)?;
            for (_, value) in others {
                self.add(part, name, value)?;
            }
        }
        Ok(())
    }

    /// Returns the fields of a section with their changes.
    fn fields<'a>(&'a self, view: &ExchangeView<'a>, part: MessageSection) -> Option<Fields<'a>> {
        match (part, view.phase) {
            (MessageSection::Request, _) => Some(self.request.over(view.request.fields)),
            (MessageSection::Response, _) => Some(self.response.over(view.response?.fields)),
            (MessageSection::RequestTrailers, Phase::RequestTrailers)
            | (MessageSection::ResponseTrailers, Phase::ResponseTrailers) => {
                Some(self.trailers.over(view.trailers))
            }
            (MessageSection::RequestTrailers, Phase::RequestBody)
            | (MessageSection::ResponseTrailers, Phase::ResponseBody)
                if self.may_add_trailers(view) =>
            {
                Some(self.trailers.over(Fields::default()))
            }
            (MessageSection::RequestTrailers | MessageSection::ResponseTrailers, _) => None,
        }
    }

    /// Checks that a section can be changed now.
    fn check_open(&self, part: MessageSection) -> HostResult {
        let is_open = match (part, self.phase()) {
            (MessageSection::Request, Some(Phase::RequestHead))
            | (MessageSection::Response, Some(Phase::ResponseHead))
            | (MessageSection::RequestTrailers, Some(Phase::RequestTrailers))
            | (MessageSection::ResponseTrailers, Some(Phase::ResponseTrailers)) => true,
            (MessageSection::Request, Some(Phase::RequestBody))
            | (MessageSection::Response, Some(Phase::ResponseBody)) => self.is_head_open,
            (MessageSection::RequestTrailers, Some(Phase::RequestBody))
            | (MessageSection::ResponseTrailers, Some(Phase::ResponseBody)) => {
                self.view().is_some_and(|view| self.may_add_trailers(&view))
            }
            _ => false,
        };
        if is_open { Ok(()) } else { Err(Status::BadArgument) }
    }

    /// Whether trailers can be added: with the end of a body, if the message has none.
    fn may_add_trailers(&self, view: &ExchangeView<'_>) -> bool {
        view.is_end && !self.has_new_trailers
    }

    /// Returns the copy of a section to which changes are applied.
    pub(super) fn begin(&mut self, part: MessageSection) -> HostResult<&mut Overlay> {
        if !self.overlay(part).is_used() {
            let mut overlay = std::mem::take(self.overlay(part));
            let view = self.view().ok_or(Status::BadArgument)?;
            overlay.begin(self.fields(&view, part).ok_or(Status::BadArgument)?);
            *self.overlay(part) = overlay;
        }
        Ok(self.overlay(part))
    }

    fn overlay(&mut self, part: MessageSection) -> &mut Overlay {
        match part {
            MessageSection::Request => &mut self.request,
            MessageSection::Response => &mut self.response,
            MessageSection::RequestTrailers | MessageSection::ResponseTrailers => &mut self.trailers,
        }
    }
}

/// Returns an edit of trailers in a body phase, where other edits change the head.
fn trailer_edit<'a>(
    part: MessageSection,
    phase: Option<Phase>,
    edit: &FilterEdit<'a>,
) -> Option<FilterEdit<'a>> {
    let is_of_trailers = matches!(part, MessageSection::RequestTrailers | MessageSection::ResponseTrailers);
    if !is_of_trailers || !matches!(phase, Some(Phase::RequestBody | Phase::ResponseBody)) {
        return None;
    }
    let (change, name, value): (_, &[u8], &[u8]) = if let FilterEdit::Set { name, value } = *edit {
        (TrailerChange::Set, name, value)
    } else if let FilterEdit::Add { name, value } = *edit {
        (TrailerChange::Add, name, value)
    } else if let FilterEdit::Remove { name } = *edit {
        (TrailerChange::Remove, name, b"")
    } else {
        return None;
    };
    Some(FilterEdit::Trailer { change, name, value })
}

fn pseudo_of(part: MessageSection, name: &[u8]) -> Option<Pseudo> {
    match part {
        MessageSection::Request => Pseudo::of_request(name),
        MessageSection::Response => (name == b":status").then_some(Pseudo::Status),
        MessageSection::RequestTrailers | MessageSection::ResponseTrailers => None,
    }
}

/// `Host` is hidden, because `:authority` represents it.
fn is_hidden(part: MessageSection, field: &FieldRef<'_>) -> bool {
    part == MessageSection::Request && field.id == FieldId::Host
}

const NAME_BYTES_USUAL: usize = 128;
