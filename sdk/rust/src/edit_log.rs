//! Edits of a call: written for the host, and read by later filters.

use std::cell::RefCell;
use std::ptr;

use crate::abi;
use crate::edit::EditError;

/// Storage of edit records.
pub(crate) enum EditLog {
    /// In memory of the host.
    Host(HostRoom),
    /// In memory of the library, passed to the host with a resume.
    Own(OwnedLog),
}

/// Records in memory of the library.
#[derive(Debug, Default)]
pub(crate) struct OwnedLog {
    bytes: RefCell<Vec<u8>>,
}

/// The edit buffer of a host's call.
pub(crate) struct HostRoom {
    call: *mut abi::AbiCall,
    grow: unsafe extern "C" fn(*mut abi::AbiCall, u32) -> i32,
}

/// One encoded edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EditLogRecord<'r> {
    pub(crate) op: u16,
    pub(crate) step: u16,
    pub(crate) number: u32,
    pub(crate) name: &'r [u8],
    pub(crate) value: &'r [u8],
}

/// Iterator over the records of a log.
#[derive(Clone, Debug)]
pub(crate) struct EditLogRecords<'r> {
    rest: &'r [u8],
}

impl HostRoom {
    /// Creates access to the edit buffer of `call`.
    ///
    /// # Safety
    /// As long as this lives, `call` is the call that this thread was entered with: `edits` has room for `edits_cap`
    /// bytes, of which `edits_len` are written, nothing else accesses these members, and `grow` is the host's
    /// function.
    pub(crate) unsafe fn new(
        call: *mut abi::AbiCall,
        grow: unsafe extern "C" fn(*mut abi::AbiCall, u32) -> i32,
    ) -> Self {
        Self { call, grow }
    }

    fn written(&self) -> &[u8] {
        let (data, _, len) = self.room();
        // SAFETY: that many bytes are written there, and no slice of this function outlives a call of `EditLog::read`
        // or `EditLog::len`, in which nothing is appended.
        unsafe { crate::view::list(data.cast_const(), len as usize) }
    }

    /// Returns the address of the edits, the capacity in bytes, and the number of bytes written.
    fn room(&self) -> (*mut u8, u32, u32) {
        // SAFETY: the call is valid for reading and not written meanwhile (see `new`).
        let call = unsafe { &*self.call };
        (call.edits, call.edits_cap, call.edits_len)
    }

    fn append(&self, record: EditLogRecord<'_>) -> Result<(), EditError> {
        let size = record.size()?;
        let (_, cap, len) = self.room();
        if cap.saturating_sub(len) < size {
            // SAFETY: this is the thread of the call, which is still in progress (see `new`).
            let answer = unsafe { (self.grow)(self.call, size) };
            if answer != abi::OK {
                return Err(EditError::TooLarge);
            }
        }
        let (edits, cap, _) = self.room();
        if edits.is_null() || cap.saturating_sub(len) < size {
            return Err(EditError::TooLarge);
        }
        // SAFETY: `len` bytes are written there, so the address after them is within the buffer or at its end.
        let end = unsafe { edits.add(len as usize) };
        let mut writer = RawEditWriter { end };
        // SAFETY: `size` bytes are free after `end`, which is the total size of the record's parts.
        unsafe { writer.write(&record, size) };
        // SAFETY: the call is valid for writing and no reference to it is alive (see `new`).
        let call = unsafe { &mut *self.call };
        call.edits_len = len + size;
        Ok(())
    }
}

impl HostRoom {
    fn truncate(&self, len: usize) {
        let (_, _, written) = self.room();
        // SAFETY: the call is valid for writing and no reference to it is alive (see `new`).
        let call = unsafe { &mut *self.call };
        call.edits_len = u32::try_from(len).unwrap_or(written).min(written);
    }
}

/// Writes into a raw buffer.
struct RawEditWriter {
    end: *mut u8,
}

impl RawEditWriter {
    /// # Safety
    /// `size` is that of the record, and that many bytes are free after `end`.
    unsafe fn write(&mut self, record: &EditLogRecord<'_>, size: u32) {
        for piece in [&record.header()[..], record.name, record.value, record.padding(size)] {
            // SAFETY: source and target do not overlap, as one is the filter's and the other the host's, and there is
            // room.
            unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), self.end, piece.len()) };
            // SAFETY: still within the buffer or at its end.
            self.end = unsafe { self.end.add(piece.len()) };
        }
    }
}

impl EditLog {
    /// Writes a record.
    ///
    /// # Errors
    /// [`EditError::TooLarge`] above the limit of all edits of a call.
    pub(crate) fn append(&self, record: EditLogRecord<'_>) -> Result<(), EditError> {
        match self {
            Self::Host(room) => room.append(record),
            Self::Own(log) => log.append(record),
        }
    }

    /// Removes everything after the first `len` bytes.
    pub(crate) fn truncate(&self, len: usize) {
        match self {
            Self::Host(room) => room.truncate(len),
            Self::Own(log) => log.bytes.borrow_mut().truncate(len),
        }
    }

    /// Returns the number of bytes written.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Host(room) => room.written().len(),
            Self::Own(log) => log.bytes.borrow().len(),
        }
    }

    /// Passes the written records to `look`, which must not write.
    pub(crate) fn read<R>(&self, look: impl FnOnce(EditLogRecords<'_>) -> R) -> R {
        match self {
            Self::Host(room) => look(EditLogRecords::of(room.written())),
            Self::Own(log) => look(EditLogRecords::of(&log.bytes.borrow())),
        }
    }
}

impl OwnedLog {
    /// Creates a log that begins with these records.
    pub(crate) fn of(records: Vec<u8>) -> Self {
        Self { bytes: RefCell::new(records) }
    }

    /// As [`EditLog::append`].
    pub(crate) fn append(&self, record: EditLogRecord<'_>) -> Result<(), EditError> {
        let size = record.size()?;
        let mut bytes = self.bytes.borrow_mut();
        if bytes.len() + size as usize > BYTES_MAX {
            return Err(EditError::TooLarge);
        }
        bytes.extend_from_slice(&record.header());
        bytes.extend_from_slice(record.name);
        bytes.extend_from_slice(record.value);
        bytes.extend_from_slice(record.padding(size));
        Ok(())
    }

    /// Returns the written bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_inner()
    }
}

impl EditLogRecord<'_> {
    /// Returns the size of the record with its padding.
    fn size(&self) -> Result<u32, EditError> {
        let size = (HEADER_LEN + self.name.len() + self.value.len()).next_multiple_of(8);
        if size > BYTES_MAX {
            return Err(EditError::TooLarge);
        }
        u32::try_from(size).map_err(|_| EditError::TooLarge)
    }

    fn header(&self) -> [u8; HEADER_LEN] {
        let mut header = [0; HEADER_LEN];
        // `size` was checked first: neither length exceeds 16 MiB.
        let name_len = u32::try_from(self.name.len()).unwrap_or_default();
        let value_len = u32::try_from(self.value.len()).unwrap_or_default();
        header[0..2].copy_from_slice(&self.op.to_ne_bytes());
        header[2..4].copy_from_slice(&self.step.to_ne_bytes());
        header[4..8].copy_from_slice(&name_len.to_ne_bytes());
        header[8..12].copy_from_slice(&value_len.to_ne_bytes());
        header[12..16].copy_from_slice(&self.number.to_ne_bytes());
        header
    }

    fn padding(&self, size: u32) -> &'static [u8] {
        let used = HEADER_LEN + self.name.len() + self.value.len();
        &[0; 8][..(size as usize).saturating_sub(used).min(7)]
    }
}

impl<'r> EditLogRecords<'r> {
    /// Creates an iterator over the records in these bytes.
    pub(crate) fn of(bytes: &'r [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the bytes that were not iterated yet.
    pub(crate) fn as_bytes(&self) -> &'r [u8] {
        self.rest
    }
}

impl<'r> Iterator for EditLogRecords<'r> {
    type Item = EditLogRecord<'r>;

    /// Returns the next record; `None` if the rest is not a whole record, which does not occur in a log.
    fn next(&mut self) -> Option<EditLogRecord<'r>> {
        let (header, rest) = self.rest.split_first_chunk::<HEADER_LEN>()?;
        let [op_0, op_1, step_0, step_1, name_0, name_1, name_2, name_3, rest_of @ ..] = *header;
        let [value_0, value_1, value_2, value_3, number_0, number_1, number_2, number_3] = rest_of;
        let name_len = u32::from_ne_bytes([name_0, name_1, name_2, name_3]) as usize;
        let value_len = u32::from_ne_bytes([value_0, value_1, value_2, value_3]) as usize;
        let (name, after) = rest.split_at_checked(name_len)?;
        let (value, _) = after.split_at_checked(value_len)?;
        let size = (HEADER_LEN + name_len + value_len).next_multiple_of(8);
        self.rest = self.rest.get(size..).unwrap_or_default();
        Some(EditLogRecord {
            op: u16::from_ne_bytes([op_0, op_1]),
            step: u16::from_ne_bytes([step_0, step_1]),
            number: u32::from_ne_bytes([number_0, number_1, number_2, number_3]),
            name,
            value,
        })
    }
}

const HEADER_LEN: usize = size_of::<abi::AbiEdit>();
/// Maximum size of the host's edit buffer.
const BYTES_MAX: usize = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn record<'r>(op: u16, step: u16, number: u32, name: &'r str, value: &'r str) -> EditLogRecord<'r> {
        EditLogRecord { op, step, number, name: name.as_bytes(), value: value.as_bytes() }
    }

    #[test]
    fn records_have_the_bytes_documented_in_the_abi() {
        let log = OwnedLog::default();
        log.append(record(abi::EDIT_SET, 1, 0, "x-mark", "seen")).expect("it fits");
        log.append(record(abi::EDIT_REPLY, 0, 401, "basic_auth", "no\n")).expect("it fits");
        let mut expected = vec![1, 0, 1, 0, 6, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
        expected.extend_from_slice(b"x-markseen\0\0\0\0\0\0");
        expected.extend_from_slice(&[12, 0, 0, 0, 10, 0, 0, 0, 3, 0, 0, 0, 0x91, 1, 0, 0]);
        expected.extend_from_slice(b"basic_authno\n\0\0\0");
        if cfg!(target_endian = "little") {
            assert_eq!(log.into_bytes(), expected);
        }
    }

    #[test]
    fn complete_records_are_read_and_truncated_ones_are_not() {
        let log = OwnedLog::default();
        let all = [
            record(1, 0, 0, "", ""),
            record(2, 3, 9, "a", "12345678"),
            record(17, 65_535, u32::MAX, "", "x"),
        ];
        all.iter().for_each(|record| log.append(*record).expect("it fits"));
        let bytes = log.into_bytes();
        assert_eq!(bytes.len() % 8, 0);
        assert_eq!(EditLogRecords::of(&bytes).collect::<Vec<_>>(), all);
        for len in 0..bytes.len() {
            let some = bytes.get(..len).unwrap_or_default();
            assert!(EditLogRecords::of(some).count() <= all.len());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "16 MiB take Miri minutes")]
    fn edits_beyond_the_limit_are_refused_and_change_nothing() {
        let log = OwnedLog::default();
        let large = vec![0; BYTES_MAX - HEADER_LEN];
        log.append(EditLogRecord { op: 8, step: 0, number: 0, name: &[], value: &large }).expect("just fits");
        assert_eq!(log.append(record(1, 0, 0, "", "")), Err(EditError::TooLarge));
        assert_eq!(log.into_bytes().len(), BYTES_MAX);
        let beyond = vec![0; BYTES_MAX];
        let record = EditLogRecord { op: 8, step: 0, number: 0, name: &[], value: &beyond };
        assert_eq!(OwnedLog::default().append(record), Err(EditError::TooLarge));
    }
}
