//! The host's data of an exchange, read in place.

use std::marker::PhantomData;
use std::slice;

use crate::abi;
use crate::host;
use crate::phase::Phase;

/// A call of the host whose memory can be read during `'a`.
pub(crate) struct CallView<'a> {
    /// A pointer, since the members of the edits change meanwhile.
    call: *const abi::AbiCall,
    memory: PhantomData<&'a [u8]>,
}

/// The bytes of a head and the positions of its fields in them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawHead<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) fields: &'a [abi::AbiField],
}

impl<'a> CallView<'a> {
    /// Creates a view, relying on the host's guarantees.
    ///
    /// # Safety
    /// `call` and all data that it points to for reading are valid, initialised and, apart from the members of the
    /// edits, unchanged during `'a`: heads, texts, facts and ends.
    pub(crate) unsafe fn new(call: *const abi::AbiCall) -> Self {
        Self { call, memory: PhantomData }
    }

    /// Returns the call's own members, which are not to be kept while edits are written; the other methods read the data
    /// that they point to.
    #[inline]
    pub(crate) fn call(&self) -> &abi::AbiCall {
        // SAFETY: the call is valid (see `new`), and the callers do not keep the reference while edits are written.
        unsafe { &*self.call }
    }

    pub(crate) fn phase(&self) -> Option<Phase> {
        Phase::from_number(self.call().phase)
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.call().flags & flag != 0
    }

    pub(crate) fn request(&self) -> RawHead<'a> {
        self.head(self.call().request)
    }

    pub(crate) fn response(&self) -> RawHead<'a> {
        self.head(self.call().response)
    }

    pub(crate) fn trailers(&self) -> RawHead<'a> {
        self.head(self.call().trailers)
    }

    pub(crate) fn method_name(&self) -> &'a [u8] {
        self.text(self.call().method_name)
    }

    pub(crate) fn target(&self) -> &'a [u8] {
        self.text(self.call().target)
    }

    pub(crate) fn authority(&self) -> &'a [u8] {
        self.text(self.call().authority)
    }

    pub(crate) fn scheme(&self) -> &'a [u8] {
        self.text(self.call().scheme)
    }

    pub(crate) fn body(&self) -> &'a [u8] {
        self.text(self.call().body)
    }

    /// Returns the facts about the exchange; asks the host for them at first.
    pub(crate) fn about(&self) -> Option<&'a abi::AbiAbout> {
        if self.call().about.is_null()
            && let Some(host) = host::host()
        {
            // SAFETY: the host sets a member of its call, of which no reference is alive; it refuses a call that this
            // thread is not in.
            unsafe { (host.about)(self.call.cast_mut()) };
        }
        // SAFETY: null, or a structure of the host that is unchanged during 'a (see `new`).
        unsafe { self.call().about.as_ref() }
    }

    pub(crate) fn metadata(&self) -> &'a [abi::AbiPair] {
        let Some(about) = self.about() else { return &[] };
        let len = usize::try_from(about.metadata_len).unwrap_or(0);
        // SAFETY: the host guarantees that many pairs there during 'a.
        unsafe { list(about.metadata, len) }
    }

    pub(crate) fn ended(&self) -> &'a [abi::AbiExchangeEnd] {
        // SAFETY: the host guarantees that many ends there during 'a.
        unsafe { list(self.call().ended, self.call().ended_len as usize) }
    }

    /// Returns the bytes of a text that the host passed with this call.
    pub(crate) fn text(&self, text: abi::AbiText) -> &'a [u8] {
        // SAFETY: the host guarantees that many bytes there during 'a.
        unsafe { list(text.data, text.len) }
    }

    fn head(&self, head: abi::AbiHead) -> RawHead<'a> {
        // SAFETY: the host's head is valid during 'a.
        unsafe { RawHead::of(head) }
    }
}

impl<'a> RawHead<'a> {
    /// Returns the head that the host points to.
    ///
    /// # Safety
    /// Bytes and fields are valid, initialised and unchanged during `'a`.
    pub(crate) unsafe fn of(head: abi::AbiHead) -> Self {
        // SAFETY: guaranteed by the caller.
        let bytes = unsafe { list(head.bytes, head.bytes_len as usize) };
        // SAFETY: guaranteed by the caller.
        let fields = unsafe { list(head.fields, head.fields_len as usize) };
        Self { bytes, fields }
    }

    /// Returns the bytes of a range; empty if it is not within the head.
    #[inline]
    pub(crate) fn span(&self, span: abi::AbiSpan) -> &'a [u8] {
        self.bytes.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// Returns a list of the host; empty if the pointer is null.
///
/// # Safety
/// `data` is null, or points to `len` initialised items, aligned and unchanged during `'a`.
#[inline]
pub(crate) unsafe fn list<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: not null, and the caller guarantees the rest.
    unsafe { slice::from_raw_parts(data, len) }
}
