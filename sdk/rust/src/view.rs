//! The host's view of an exchange, read in place.

use std::marker::PhantomData;
use std::slice;

use crate::abi;
use crate::phase::Phase;

/// A call of the host whose memory can be read for `'a`.
pub(crate) struct CallView<'a> {
    call: abi::AbiCall,
    memory: PhantomData<&'a [u8]>,
}

/// The bytes of a head and where its fields lie in them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawHead<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) fields: &'a [abi::AbiField],
}

impl<'a> CallView<'a> {
    /// Takes over the host's promise.
    ///
    /// # Safety
    /// Whatever `call` points to for reading is valid, initialised and unchanged for `'a`: heads, texts, facts and ends.
    pub(crate) unsafe fn new(call: abi::AbiCall) -> Self {
        Self { call, memory: PhantomData }
    }

    /// The call's own members; what they point to is read by the other methods.
    pub(crate) fn call(&self) -> &abi::AbiCall {
        &self.call
    }

    pub(crate) fn phase(&self) -> Option<Phase> {
        Phase::from_number(self.call.phase)
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.call.flags & flag != 0
    }

    pub(crate) fn request(&self) -> RawHead<'a> {
        self.head(self.call.request)
    }

    pub(crate) fn response(&self) -> RawHead<'a> {
        self.head(self.call.response)
    }

    pub(crate) fn trailers(&self) -> RawHead<'a> {
        self.head(self.call.trailers)
    }

    pub(crate) fn method_name(&self) -> &'a [u8] {
        self.text(self.call.method_name)
    }

    pub(crate) fn target(&self) -> &'a [u8] {
        self.text(self.call.target)
    }

    pub(crate) fn authority(&self) -> &'a [u8] {
        self.text(self.call.authority)
    }

    pub(crate) fn scheme(&self) -> &'a [u8] {
        self.text(self.call.scheme)
    }

    pub(crate) fn body(&self) -> &'a [u8] {
        self.text(self.call.body)
    }

    pub(crate) fn about(&self) -> Option<&'a abi::AbiAbout> {
        // SAFETY: null, or a structure of the host that stays as it is for 'a (see `new`).
        unsafe { self.call.about.as_ref() }
    }

    pub(crate) fn metadata(&self) -> &'a [abi::AbiPair] {
        let Some(about) = self.about() else { return &[] };
        let len = usize::try_from(about.metadata_len).unwrap_or(0);
        // SAFETY: the host says that so many pairs lie there for 'a.
        unsafe { list(about.metadata, len) }
    }

    pub(crate) fn ended(&self) -> &'a [abi::AbiExchangeEnd] {
        // SAFETY: the host says that so many ends lie there for 'a.
        unsafe { list(self.call.ended, self.call.ended_len as usize) }
    }

    /// The bytes of a text that the host gave with this call.
    pub(crate) fn text(&self, text: abi::AbiText) -> &'a [u8] {
        // SAFETY: the host says that so many bytes lie there for 'a.
        unsafe { list(text.data, text.len) }
    }

    fn head(&self, head: abi::AbiHead) -> RawHead<'a> {
        // SAFETY: the host's head is valid for 'a.
        unsafe { RawHead::of(head) }
    }
}

impl<'a> RawHead<'a> {
    /// The head that the host points to.
    ///
    /// # Safety
    /// Bytes and fields are valid, initialised and unchanged for `'a`.
    pub(crate) unsafe fn of(head: abi::AbiHead) -> Self {
        // SAFETY: as the caller says.
        let bytes = unsafe { list(head.bytes, head.bytes_len as usize) };
        // SAFETY: as the caller says.
        let fields = unsafe { list(head.fields, head.fields_len as usize) };
        Self { bytes, fields }
    }

    /// The bytes of a range; none where it does not lie within the head.
    #[inline]
    pub(crate) fn span(&self, span: abi::AbiSpan) -> &'a [u8] {
        self.bytes.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// A list of the host; none where the pointer is null.
///
/// # Safety
/// `data` is null, or `len` initialised items lie there, aligned and unchanged for `'a`.
#[inline]
pub(crate) unsafe fn list<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: not null, and the caller says the rest.
    unsafe { slice::from_raw_parts(data, len) }
}
