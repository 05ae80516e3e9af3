//! One change: its layout, written and read.

use thiserror::Error;

/// A change and who makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditRecord<'a> {
    /// Index of the filter among the steps of its call.
    pub step: u16,
    /// The change.
    pub edit: FilterEdit<'a>,
}

/// A change to the message, or an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterEdit<'a> {
    /// One field in the place of all of its name.
    Set {
        /// The field's name.
        name: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// One more field.
    Add {
        /// The field's name.
        name: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// No field of this name.
    Remove {
        /// The fields' name.
        name: &'a [u8],
    },
    /// The request's method.
    Method(&'a [u8]),
    /// The request's path and query.
    Target(&'a [u8]),
    /// The request's host and perhaps port.
    Authority(&'a [u8]),
    /// The response's status.
    Status(u32),
    /// The piece, or the whole body where it was collected.
    BodySet(&'a [u8]),
    /// What follows the piece.
    BodyAppend(&'a [u8]),
    /// What precedes the piece.
    BodyPrepend(&'a [u8]),
    /// How many of the piece's first bytes go.
    BodyDrain(u32),
    /// An answer.
    Reply {
        /// Its status.
        status: u32,
        /// Its body.
        body: &'a [u8],
        /// A word for the access record.
        details: &'a [u8],
    },
    /// A field of the answer.
    ReplyField {
        /// The field's name.
        name: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// A value for the filters that follow and the access record; removed where it is empty.
    Metadata {
        /// Whose it is.
        space: &'a [u8],
        /// What it is.
        key: &'a [u8],
        /// JSON.
        value: &'a [u8],
    },
    /// The rule is looked up again.
    ClearRoute,
    /// The address to send to.
    Endpoint {
        /// Address and port.
        address: &'a [u8],
        /// Whether to send nowhere else if it is none of the cluster's.
        is_strict: bool,
    },
    /// What went wrong in the filter.
    Fault(&'a [u8]),
    /// What went wrong in the filter: it met one of its limits.
    LimitFault {
        /// The limit.
        limit: FilterLimit,
        /// What went wrong.
        why: &'a [u8],
    },
    /// The status of an answer to a gRPC request.
    ReplyGrpc(u32),
}

/// A limit of a filter whose violation fails the exchange; the numbers are those of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FilterLimit {
    /// Memory of the filter's instance.
    Memory = 1,
    /// CPU time of one entry.
    Cpu = 2,
}

/// Why a log of changes cannot be read or grow.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EditError {
    /// A record ends beyond the log.
    #[error("a record of the edits is cut off")]
    Truncated,
    /// There is no such change.
    #[error("there is no edit with the number {0}")]
    UnknownOperation(u16),
    /// A record has not the form that its kind needs.
    #[error("an edit has not the form that its kind needs")]
    Malformed,
    /// All changes together are too large.
    #[error("the edits of one call are larger than 16 MiB")]
    TooLarge,
}

/// A change as it lies in a record.
pub(super) struct EditRecordParts<'a> {
    op: u16,
    name: &'a [u8],
    /// Behind the name and a NUL, for the one kind that has it.
    key: Option<&'a [u8]>,
    pub(super) value: &'a [u8],
    number: u32,
}

impl<'a> FilterEdit<'a> {
    /// Whether this says `Connection: close`: the client's connection ends behind the answer. All else about that field is
    /// the gateway's.
    ///
    /// # Spec
    /// RFC 9112 §9.6
    pub fn ends_connection(&self) -> bool {
        if let Self::Set { name, value } | Self::Add { name, value } = self {
            name.eq_ignore_ascii_case(b"connection") && value.trim_ascii().eq_ignore_ascii_case(b"close")
        } else {
            false
        }
    }

    pub(super) fn parts(&self) -> EditRecordParts<'a> {
        let plain = |op, name, value, number| EditRecordParts { op, name, key: None, value, number };
        match *self {
            Self::Set { name, value } => plain(1, name, value, 0),
            Self::Add { name, value } => plain(2, name, value, 0),
            Self::Remove { name } => plain(3, name, &[], 0),
            Self::Method(value) => plain(4, &[], value, 0),
            Self::Target(value) => plain(5, &[], value, 0),
            Self::Authority(value) => plain(6, &[], value, 0),
            Self::Status(status) => plain(7, &[], &[], status),
            Self::BodySet(value) => plain(8, &[], value, 0),
            Self::BodyAppend(value) => plain(9, &[], value, 0),
            Self::BodyPrepend(value) => plain(10, &[], value, 0),
            Self::BodyDrain(count) => plain(11, &[], &[], count),
            Self::Reply { status, body, details } => plain(12, details, body, status),
            Self::ReplyField { name, value } => plain(13, name, value, 0),
            Self::Metadata { space, key, value } => {
                EditRecordParts { op: 14, name: space, key: Some(key), value, number: 0 }
            }
            Self::ClearRoute => plain(15, &[], &[], 0),
            Self::Endpoint { address, is_strict } => plain(16, &[], address, u32::from(is_strict)),
            Self::Fault(value) => plain(17, &[], value, 0),
            Self::LimitFault { limit, why } => plain(17, &[], why, limit as u32),
            Self::ReplyGrpc(status) => plain(18, &[], &[], status),
        }
    }

    fn from_parts(op: u16, name: &'a [u8], value: &'a [u8], number: u32) -> Result<Self, EditError> {
        Ok(match op {
            1 => Self::Set { name, value },
            2 => Self::Add { name, value },
            3 => Self::Remove { name },
            4 => Self::Method(value),
            5 => Self::Target(value),
            6 => Self::Authority(value),
            7 => Self::Status(number),
            8 => Self::BodySet(value),
            9 => Self::BodyAppend(value),
            10 => Self::BodyPrepend(value),
            11 => Self::BodyDrain(number),
            12 => Self::Reply { status: number, body: value, details: name },
            13 => Self::ReplyField { name, value },
            14 => {
                let nul = name.iter().position(|&byte| byte == 0).ok_or(EditError::Malformed)?;
                let (space, key) = name.split_at(nul);
                Self::Metadata { space, key: key.get(1..).unwrap_or_default(), value }
            }
            15 => Self::ClearRoute,
            16 => Self::Endpoint { address: value, is_strict: number == 1 },
            17 => match FilterLimit::from_number(number) {
                Some(limit) => Self::LimitFault { limit, why: value },
                None => Self::Fault(value),
            },
            18 => Self::ReplyGrpc(number),
            _ => return Err(EditError::UnknownOperation(op)),
        })
    }
}

impl FilterLimit {
    /// The limit with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Memory),
            2 => Some(Self::Cpu),
            _ => None,
        }
    }
}

impl EditRecordParts<'_> {
    pub(super) fn name_len(&self) -> usize {
        self.name.len() + self.key.map_or(0, |key| key.len() + 1)
    }

    /// Writes the record without the padding behind it.
    pub(super) fn write(&self, step: u16, out: &mut Vec<u8>) {
        let narrow = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        out.extend_from_slice(&self.op.to_ne_bytes());
        out.extend_from_slice(&step.to_ne_bytes());
        out.extend_from_slice(&narrow(self.name_len()).to_ne_bytes());
        out.extend_from_slice(&narrow(self.value.len()).to_ne_bytes());
        out.extend_from_slice(&self.number.to_ne_bytes());
        out.extend_from_slice(self.name);
        if let Some(key) = self.key {
            out.push(0);
            out.extend_from_slice(key);
        }
        out.extend_from_slice(self.value);
    }
}

/// Goes over the records of a log; ends after the first that cannot be read.
pub(super) struct EditRecordIter<'a> {
    rest: &'a [u8],
}

impl<'a> EditRecordIter<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn read(&mut self) -> Result<EditRecord<'a>, EditError> {
        let (header, rest) = self.rest.split_first_chunk::<HEADER_BYTES>().ok_or(EditError::Truncated)?;
        let [o0, o1, s0, s1, n0, n1, n2, n3, v0, v1, v2, v3, x0, x1, x2, x3] = *header;
        let wide = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let name_len = wide(u32::from_ne_bytes([n0, n1, n2, n3]));
        let value_len = wide(u32::from_ne_bytes([v0, v1, v2, v3]));
        let (name, rest) = rest.split_at_checked(name_len).ok_or(EditError::Truncated)?;
        let (value, rest) = rest.split_at_checked(value_len).ok_or(EditError::Truncated)?;
        let used = HEADER_BYTES + name_len + value_len;
        self.rest = rest.get(padded(used) - used..).ok_or(EditError::Truncated)?;
        let op = u16::from_ne_bytes([o0, o1]);
        let edit = FilterEdit::from_parts(op, name, value, u32::from_ne_bytes([x0, x1, x2, x3]))?;
        Ok(EditRecord { step: u16::from_ne_bytes([s0, s1]), edit })
    }
}

impl<'a> Iterator for EditRecordIter<'a> {
    type Item = Result<EditRecord<'a>, EditError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let record = self.read();
        if record.is_err() {
            self.rest = &[];
        }
        Some(record)
    }
}

/// The next multiple of 8.
pub(super) fn padded(size: usize) -> usize {
    size.next_multiple_of(8)
}

pub(super) const HEADER_BYTES: usize = 16;
