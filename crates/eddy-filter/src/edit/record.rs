//! Edit records: layout, writing and parsing.

use thiserror::Error;

/// Edit and the filter that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditRecord<'a> {
    /// Index of the filter among the steps of its call.
    pub step: u16,
    /// Edit.
    pub edit: FilterEdit<'a>,
}

/// Edit to a message, or part of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterEdit<'a> {
    /// Sets a header, in place of all headers with its name.
    Set {
        /// Header name.
        name: &'a [u8],
        /// Header value.
        value: &'a [u8],
    },
    /// Adds a header.
    Add {
        /// Header name.
        name: &'a [u8],
        /// Header value.
        value: &'a [u8],
    },
    /// Removes all headers with a name.
    Remove {
        /// Header name.
        name: &'a [u8],
    },
    /// Sets the request method.
    Method(&'a [u8]),
    /// Sets path and query of the request.
    Target(&'a [u8]),
    /// Sets the request authority: host and optional port.
    Authority(&'a [u8]),
    /// Sets the response status.
    Status(u32),
    /// Replaces the piece, or the whole body if it was buffered.
    BodySet(&'a [u8]),
    /// Appends to the piece.
    BodyAppend(&'a [u8]),
    /// Prepends to the piece.
    BodyPrepend(&'a [u8]),
    /// Removes this number of bytes from the start of the piece.
    BodyDrain(u32),
    /// Replies with a response.
    Reply {
        /// Status code.
        status: u32,
        /// Response body.
        body: &'a [u8],
        /// Reason, as a word for the access log.
        details: &'a [u8],
    },
    /// Adds a header to the reply.
    ReplyField {
        /// Header name.
        name: &'a [u8],
        /// Header value.
        value: &'a [u8],
    },
    /// Sets a metadata value for later filters and the access log; an empty value removes it.
    Metadata {
        /// Namespace.
        space: &'a [u8],
        /// Key.
        key: &'a [u8],
        /// Value as JSON.
        value: &'a [u8],
    },
    /// Selects the rule again.
    ClearRoute,
    /// Selects the endpoint.
    Endpoint {
        /// Address and port.
        address: &'a [u8],
        /// Whether the request must not be sent elsewhere if the cluster has no such endpoint.
        is_strict: bool,
    },
    /// Reports a failure of the filter, with its reason.
    Fault(&'a [u8]),
    /// Reports that the filter exceeded one of its limits.
    LimitFault {
        /// Exceeded limit.
        limit: FilterLimit,
        /// Reason of the failure.
        why: &'a [u8],
    },
    /// Sets the gRPC status of a reply to a gRPC request.
    ReplyGrpc(u32),
    /// Changes the trailers that filters give a message without trailers, with the last piece of its body.
    Trailer {
        /// Change.
        change: TrailerChange,
        /// Header name.
        name: &'a [u8],
        /// Header value; empty for a removal.
        value: &'a [u8],
    },
}

/// Change of a trailer; the numbers are those of the edits of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TrailerChange {
    /// Sets the trailer, in place of all trailers with its name.
    Set = 1,
    /// Adds the trailer.
    Add = 2,
    /// Removes all trailers with its name.
    Remove = 3,
}

/// Limit of a filter, the violation of which fails the exchange; the numbers are those of the filter ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FilterLimit {
    /// Memory of the filter's instance.
    Memory = 1,
    /// CPU time of one entry.
    Cpu = 2,
}

/// Error of reading or extending an edit log.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EditError {
    /// A record reaches beyond the end of the log.
    #[error("an edit record is truncated")]
    Truncated,
    /// The operation number is unknown.
    #[error("unknown edit number {0}")]
    UnknownOperation(u16),
    /// The record is invalid for its operation.
    #[error("an edit record is invalid for its kind")]
    Malformed,
    /// All edits together are too large.
    #[error("the edits of one call are larger than 16 MiB")]
    TooLarge,
}

/// Parts of an edit record.
pub(super) struct EditRecordParts<'a> {
    op: u16,
    name: &'a [u8],
    /// Written after the name and a NUL, for the one operation that has a key.
    key: Option<&'a [u8]>,
    pub(super) value: &'a [u8],
    number: u32,
}

impl<'a> FilterEdit<'a> {
    /// Whether this edit sets `Connection: close`: the client connection is closed after the response. Everything else
    /// about that header is controlled by the gateway.
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
            Self::Trailer { change, name, value } => plain(19, name, value, change as u32),
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
            19 => {
                let change = TrailerChange::from_number(number).ok_or(EditError::Malformed)?;
                Self::Trailer { change, name, value }
            }
            _ => return Err(EditError::UnknownOperation(op)),
        })
    }
}

impl TrailerChange {
    fn from_number(number: u32) -> Option<Self> {
        [Self::Set, Self::Add, Self::Remove].into_iter().find(|change| *change as u32 == number)
    }
}

impl FilterLimit {
    /// Returns the limit with this number.
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

    /// Writes the record without its trailing padding.
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

/// Iterator over the records of a log; ends after the first invalid one.
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

/// Rounds up to a multiple of 8.
pub(super) fn padded(size: usize) -> usize {
    size.next_multiple_of(8)
}

pub(super) const HEADER_BYTES: usize = 16;
