//! Status of a gRPC call.

use crate::field::{FieldId, Fields};

/// Declares the statuses once; generates the enum and the names.
macro_rules! statuses {
    ($($status:ident = $code:literal, $name:literal;)*) => {
        /// Status of a gRPC call.
        ///
        /// # Spec
        /// [Status codes and their use in gRPC](https://github.com/grpc/grpc/blob/master/doc/statuscodes.md)
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum GrpcStatus {
            $(#[doc = concat!("`", $name, "`.")] $status = $code,)*
        }

        impl GrpcStatus {
            /// All statuses, by code.
            pub const ALL: &'static [Self] = &[$(Self::$status,)*];

            /// Returns the name, in lower case with `_`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$status => $name,)*
                }
            }
        }
    };
}

statuses! {
    Ok = 0, "ok";
    Cancelled = 1, "cancelled";
    Unknown = 2, "unknown";
    InvalidArgument = 3, "invalid_argument";
    DeadlineExceeded = 4, "deadline_exceeded";
    NotFound = 5, "not_found";
    AlreadyExists = 6, "already_exists";
    PermissionDenied = 7, "permission_denied";
    ResourceExhausted = 8, "resource_exhausted";
    FailedPrecondition = 9, "failed_precondition";
    Aborted = 10, "aborted";
    OutOfRange = 11, "out_of_range";
    Unimplemented = 12, "unimplemented";
    Internal = 13, "internal";
    Unavailable = 14, "unavailable";
    DataLoss = 15, "data_loss";
    Unauthenticated = 16, "unauthenticated";
}

impl GrpcStatus {
    /// Returns the numeric code.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Returns the status with a numeric code; `None` for an unknown code.
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// Returns the gRPC status of a response with an HTTP status but without a gRPC status.
    ///
    /// # Spec
    /// [HTTP to gRPC status code mapping](https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md)
    pub fn of_http(status: u16) -> Self {
        match status {
            400 => Self::Internal,
            401 => Self::Unauthenticated,
            403 => Self::PermissionDenied,
            404 => Self::Unimplemented,
            429 | 502..=504 => Self::Unavailable,
            _ => Self::Unknown,
        }
    }
}

/// A set of statuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrpcStatuses(u32);

impl GrpcStatuses {
    /// Adds a status.
    pub fn insert(&mut self, status: GrpcStatus) {
        self.0 |= 1 << status.code();
    }

    /// Whether the set contains a status.
    pub fn contains(self, status: GrpcStatus) -> bool {
        self.0 & 1 << status.code() != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the statuses, by code.
    pub fn iter(self) -> impl Iterator<Item = GrpcStatus> {
        GrpcStatus::ALL.iter().copied().filter(move |status| self.contains(*status))
    }
}

impl FromIterator<GrpcStatus> for GrpcStatuses {
    fn from_iter<T: IntoIterator<Item = GrpcStatus>>(statuses: T) -> Self {
        let mut all = Self::default();
        statuses.into_iter().for_each(|status| all.insert(status));
        all
    }
}

/// Outcome of a call, as far as the header or trailer fields tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrpcEnd {
    /// The fields have no gRPC status.
    #[default]
    NoStatus,
    /// A known status.
    Status(GrpcStatus),
    /// An invalid or unknown status.
    Other,
}

impl GrpcEnd {
    /// Returns the outcome given by the fields of a head or trailer section.
    pub fn of(fields: Fields<'_>) -> Self {
        let Some(value) = fields.first(FieldId::GrpcStatus) else { return Self::NoStatus };
        let code = match value {
            [one @ b'0'..=b'9'] => u32::from(one - b'0'),
            [b'1', two @ b'0'..=b'9'] => 10 + u32::from(two - b'0'),
            _ => return Self::Other,
        };
        Self::of_code(code)
    }

    /// Returns the outcome of a numeric code.
    pub fn of_code(code: u32) -> Self {
        GrpcStatus::of_code(code).map_or(Self::Other, Self::Status)
    }

    /// Returns a dense index for counters.
    pub fn index(self) -> usize {
        match self {
            Self::Status(status) => status as usize,
            Self::Other => GrpcStatus::ALL.len(),
            Self::NoStatus => GrpcStatus::ALL.len() + 1,
        }
    }

    /// Returns the numeric code as text, or `other` or `none`.
    pub fn label(self) -> &'static str {
        GRPC_END_LABELS.get(self.index()).copied().unwrap_or("other")
    }
}

/// Label of each [`GrpcEnd::index`].
pub const GRPC_END_LABELS: [&str; 19] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "other",
    "none",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_codes_match_their_index() {
        for (at, status) in GrpcStatus::ALL.iter().enumerate() {
            assert_eq!(status.code() as usize, at);
            assert_eq!(GrpcStatus::of_code(status.code()), Some(*status));
            assert_eq!(GrpcEnd::Status(*status).label(), at.to_string());
        }
        assert_eq!(GrpcStatus::of_code(17), None);
        assert_eq!((GrpcEnd::of_code(99).label(), GrpcEnd::NoStatus.label()), ("other", "none"));
    }

    #[test]
    fn http_statuses_map_to_grpc_by_the_table() {
        let expected = [
            (200, GrpcStatus::Unknown),
            (301, GrpcStatus::Unknown),
            (400, GrpcStatus::Internal),
            (401, GrpcStatus::Unauthenticated),
            (403, GrpcStatus::PermissionDenied),
            (404, GrpcStatus::Unimplemented),
            (408, GrpcStatus::Unknown),
            (413, GrpcStatus::Unknown),
            (429, GrpcStatus::Unavailable),
            (500, GrpcStatus::Unknown),
            (501, GrpcStatus::Unknown),
            (502, GrpcStatus::Unavailable),
            (503, GrpcStatus::Unavailable),
            (504, GrpcStatus::Unavailable),
            (505, GrpcStatus::Unknown),
        ];
        for (http, status) in expected {
            assert_eq!(GrpcStatus::of_http(http), status, "{http}");
        }
    }

    #[test]
    fn a_status_set_contains_its_members() {
        let some: GrpcStatuses = [GrpcStatus::Unavailable, GrpcStatus::Cancelled].into_iter().collect();
        assert!(some.contains(GrpcStatus::Unavailable) && !some.contains(GrpcStatus::Ok));
        assert_eq!(some.iter().collect::<Vec<_>>(), [GrpcStatus::Cancelled, GrpcStatus::Unavailable]);
        assert!(!some.is_empty() && GrpcStatuses::default().is_empty());
    }

    #[test]
    fn grpc_status_fields_are_parsed() {
        let check = |value: Option<&str>, expected| {
            let text = format!(
                "HTTP/1.1 200 OK\r\n{}\r\n",
                value.map(|value| format!("grpc-status: {value}\r\n")).unwrap_or_default()
            );
            let mut head = crate::ResponseHead::new();
            head.parse(text.as_bytes(), &crate::HeadLimits::default(), crate::Method::Post).unwrap();
            assert_eq!(GrpcEnd::of(head.fields(text.as_bytes())), expected, "{value:?}");
        };
        check(None, GrpcEnd::NoStatus);
        check(Some("0"), GrpcEnd::Status(GrpcStatus::Ok));
        check(Some("16"), GrpcEnd::Status(GrpcStatus::Unauthenticated));
        for other in ["", "17", "-1", "00", "1 ", "x", "4294967296"] {
            let expected =
                if other == "1 " { GrpcEnd::Status(GrpcStatus::Cancelled) } else { GrpcEnd::Other };
            check(Some(other), expected);
        }
    }
}
