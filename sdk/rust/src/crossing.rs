//! One crossing from the host into the library: the visible data, and the edits so far.

use crate::abi;
use crate::edit::EditError;
use crate::edit_log::{EditLog, EditLogRecord, EditLogRecords};
use crate::overlay::{self, Arena, OwnedHead};
use crate::phase::Phase;
use crate::view::{CallView, RawHead};

/// State shared by the hooks of one crossing.
pub(crate) struct CallContext<'a> {
    pub(crate) view: CallView<'a>,
    pub(crate) phase: Phase,
    /// Edits by earlier filters of the call that `log` does not contain.
    prior: &'a [u8],
    log: EditLog,
    arena: Arena,
}

/// Section of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadSection {
    Request,
    Response,
    Trailers,
}

impl<'a> CallContext<'a> {
    pub(crate) fn new(view: CallView<'a>, phase: Phase, prior: &'a [u8], log: EditLog) -> Self {
        Self { view, phase, prior, log, arena: Arena::default() }
    }

    pub(crate) fn append(&self, record: EditLogRecord<'_>) -> Result<(), EditError> {
        self.log.append(record)
    }

    /// Returns the bytes of edits of this crossing.
    pub(crate) fn edits_len(&self) -> usize {
        self.log.len()
    }

    /// Reverts the edits after the first `len` bytes.
    pub(crate) fn truncate_edits(&self, len: usize) {
        self.log.truncate(len);
    }

    /// Returns all edits so far, those of earlier filters first.
    pub(crate) fn edits(&self) -> Vec<u8> {
        let mut edits = self.prior.to_vec();
        self.log.read(|records| edits.extend_from_slice(records.as_bytes()));
        edits
    }

    /// Returns only the edits of this crossing.
    pub(crate) fn own_edits(&self) -> Vec<u8> {
        self.log.read(|records| records.as_bytes().to_vec())
    }

    /// Whether the hook runs on another thread than the one that the host called.
    pub(crate) fn is_detached(&self) -> bool {
        matches!(self.log, EditLog::Own(_))
    }

    /// Returns the section's fields as provided by the host.
    pub(crate) fn raw_head(&self, section: HeadSection) -> RawHead<'a> {
        match section {
            HeadSection::Request => self.view.request(),
            HeadSection::Response => self.view.response(),
            HeadSection::Trailers => self.view.trailers(),
        }
    }

    /// Returns the section's fields with the edits of this crossing, which must exist.
    pub(crate) fn edited_head(&'a self, section: HeadSection) -> RawHead<'a> {
        let head = self.raw_head(section);
        let own = self.read(|prior, log| OwnedHead::edited(head, prior.chain(log)));
        self.arena.keep_head(own)
    }

    /// Whether edits of this crossing change fields of this section, or those called `name` if given.
    pub(crate) fn is_edited(&self, section: HeadSection, name: Option<&[u8]>) -> bool {
        if !self.has_edits() || section != self.edited_section() {
            return false;
        }
        let is_about = |record: EditLogRecord<'_>| {
            overlay::field_of(&record)
                .is_some_and(|field| name.is_none_or(|name| field.eq_ignore_ascii_case(name)))
        };
        self.read(|mut prior, mut log| prior.any(is_about) || log.any(is_about))
    }

    /// Returns a text of the head after the last edit of this kind.
    pub(crate) fn text(&'a self, op: u16, original: &'a [u8]) -> &'a [u8] {
        if !self.has_edits() {
            return original;
        }
        let last =
            self.read(|prior, log| overlay::last_value(log, op).or_else(|| overlay::last_value(prior, op)));
        last.map_or(original, |value| self.arena.keep(value))
    }

    /// Returns the status after the last edit.
    pub(crate) fn status(&self) -> u16 {
        let of_call = self.view.call().status;
        if !self.has_edits() {
            return of_call;
        }
        let last = self.read(|prior, log| {
            prior.chain(log).filter(|record| record.op == abi::EDIT_STATUS).last().map(|record| record.number)
        });
        last.and_then(|status| u16::try_from(status).ok()).unwrap_or(of_call)
    }

    /// Returns the body after the edits.
    pub(crate) fn body(&'a self) -> &'a [u8] {
        let body = self.view.body();
        if !self.has_edits() {
            return body;
        }
        let edited = self.read(|prior, log| {
            let before = overlay::edited_body(body, prior);
            let after = overlay::edited_body(before.as_deref().unwrap_or(body), log);
            after.or(before)
        });
        edited.map_or(body, |edited| self.arena.keep(edited))
    }

    /// Returns the metadata of a key after the edits; empty for none.
    pub(crate) fn metadata(&'a self, space: &str, key: &str) -> &'a [u8] {
        self.metadata_with(space, key, "")
    }

    /// Returns the metadata of a key that has a suffix appended.
    pub(crate) fn metadata_with(&'a self, space: &str, key: &str, suffix: &str) -> &'a [u8] {
        let is_key = |name: &[u8]| name.strip_suffix(suffix.as_bytes()) == Some(key.as_bytes());
        let is_name = |name: &[u8]| {
            let name = name.strip_prefix(space.as_bytes()).and_then(|rest| rest.strip_prefix(b"\0"));
            name.is_some_and(is_key)
        };
        let is_it = |record: &EditLogRecord<'_>| record.op == abi::EDIT_METADATA && is_name(record.name);
        if self.has_edits() {
            let last = self
                .read(|prior, log| prior.chain(log).filter(is_it).last().map(|found| found.value.to_vec()));
            if let Some(value) = last {
                return self.arena.keep(value);
            }
        }
        let pairs = self.view.metadata().iter();
        let mut found = pairs.filter(|pair| {
            self.view.text(pair.space) == space.as_bytes() && is_key(self.view.text(pair.key))
        });
        found.next().map_or(&[], |pair| self.view.text(pair.value))
    }

    fn has_edits(&self) -> bool {
        !self.prior.is_empty() || self.log.len() != 0
    }

    fn read<R>(&self, look: impl FnOnce(EditLogRecords<'_>, EditLogRecords<'_>) -> R) -> R {
        self.log.read(|log| look(EditLogRecords::of(self.prior), log))
    }

    /// Returns the section that field edits change in this phase.
    fn edited_section(&self) -> HeadSection {
        match self.phase {
            Phase::RequestHead | Phase::RequestBody => HeadSection::Request,
            Phase::ResponseHead | Phase::ResponseBody | Phase::Log => HeadSection::Response,
            Phase::RequestTrailers | Phase::ResponseTrailers => HeadSection::Trailers,
        }
    }
}
