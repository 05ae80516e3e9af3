//! Names of header fields.

use crate::abi;

/// A field name that eddy knows by number, so that a lookup compares one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldId(u8);

/// A name of a field: a [`FieldId`], or a string in any case.
pub trait FieldName {
    /// Returns the name.
    fn name(&self) -> &[u8];

    /// Returns the number, if it is available without a lookup.
    fn id(&self) -> Option<FieldId> {
        None
    }
}

impl FieldId {
    /// Returns the id with this ABI number; `None` for numbers that do not identify a single name.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        (number != abi::FIELD_OTHER && usize::from(number) < abi::FIELD_NAMES.len()).then_some(Self(number))
    }

    /// Returns the id of a name in any case, if eddy knows it.
    #[must_use]
    pub fn of(name: &[u8]) -> Option<Self> {
        let found = abi::FIELD_NAMES.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(name));
        found.and_then(|number| u8::try_from(number).ok()).and_then(Self::from_number)
    }

    /// Returns the ABI number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        abi::FIELD_NAMES.get(usize::from(self.0)).copied().unwrap_or_default()
    }
}

impl FieldName for FieldId {
    fn name(&self) -> &[u8] {
        Self::name(*self).as_bytes()
    }

    fn id(&self) -> Option<FieldId> {
        Some(*self)
    }
}

impl FieldName for str {
    fn name(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl FieldName for String {
    fn name(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl FieldName for [u8] {
    fn name(&self) -> &[u8] {
        self
    }
}

impl<const N: usize> FieldName for [u8; N] {
    fn name(&self) -> &[u8] {
        self
    }
}

impl<T: FieldName + ?Sized> FieldName for &T {
    fn name(&self) -> &[u8] {
        (**self).name()
    }

    fn id(&self) -> Option<FieldId> {
        (**self).id()
    }
}

/// Declares an id for each name of the filter ABI.
macro_rules! known {
    ($($name:ident = $number:ident;)*) => {
        impl FieldId {
            $(
                #[doc = concat!("The field of `EDDY_", stringify!($number), "`.")]
                pub const $name: Self = Self(abi::$number);
            )*
        }
    };
}

known! {
    HOST = FIELD_HOST;
    CONTENT_LENGTH = FIELD_CONTENT_LENGTH;
    TRANSFER_ENCODING = FIELD_TRANSFER_ENCODING;
    CONNECTION = FIELD_CONNECTION;
    EXPECT = FIELD_EXPECT;
    UPGRADE = FIELD_UPGRADE;
    TE = FIELD_TE;
    MAX_FORWARDS = FIELD_MAX_FORWARDS;
    TRAILER = FIELD_TRAILER;
    KEEP_ALIVE = FIELD_KEEP_ALIVE;
    PROXY = FIELD_PROXY;
    PROXY_CONNECTION = FIELD_PROXY_CONNECTION;
    PROXY_AUTHENTICATE = FIELD_PROXY_AUTHENTICATE;
    PROXY_AUTHORIZATION = FIELD_PROXY_AUTHORIZATION;
    HTTP2_SETTINGS = FIELD_HTTP2_SETTINGS;
    VIA = FIELD_VIA;
    DATE = FIELD_DATE;
    FORWARDED = FIELD_FORWARDED;
    X_FORWARDED_FOR = FIELD_X_FORWARDED_FOR;
    X_FORWARDED_PROTO = FIELD_X_FORWARDED_PROTO;
    X_FORWARDED_HOST = FIELD_X_FORWARDED_HOST;
    X_FORWARDED_PORT = FIELD_X_FORWARDED_PORT;
    X_REAL_IP = FIELD_X_REAL_IP;
    X_REQUEST_ID = FIELD_X_REQUEST_ID;
    ACCEPT = FIELD_ACCEPT;
    ACCEPT_ENCODING = FIELD_ACCEPT_ENCODING;
    ACCEPT_LANGUAGE = FIELD_ACCEPT_LANGUAGE;
    ACCEPT_RANGES = FIELD_ACCEPT_RANGES;
    ACCESS_CONTROL_ALLOW_ORIGIN = FIELD_ACCESS_CONTROL_ALLOW_ORIGIN;
    AGE = FIELD_AGE;
    ALLOW = FIELD_ALLOW;
    ALT_SVC = FIELD_ALT_SVC;
    AUTHORIZATION = FIELD_AUTHORIZATION;
    CACHE_CONTROL = FIELD_CACHE_CONTROL;
    CONTENT_DISPOSITION = FIELD_CONTENT_DISPOSITION;
    CONTENT_ENCODING = FIELD_CONTENT_ENCODING;
    CONTENT_LANGUAGE = FIELD_CONTENT_LANGUAGE;
    CONTENT_LOCATION = FIELD_CONTENT_LOCATION;
    CONTENT_RANGE = FIELD_CONTENT_RANGE;
    CONTENT_SECURITY_POLICY = FIELD_CONTENT_SECURITY_POLICY;
    CONTENT_TYPE = FIELD_CONTENT_TYPE;
    COOKIE = FIELD_COOKIE;
    ETAG = FIELD_ETAG;
    EXPIRES = FIELD_EXPIRES;
    IF_MATCH = FIELD_IF_MATCH;
    IF_MODIFIED_SINCE = FIELD_IF_MODIFIED_SINCE;
    IF_NONE_MATCH = FIELD_IF_NONE_MATCH;
    IF_RANGE = FIELD_IF_RANGE;
    IF_UNMODIFIED_SINCE = FIELD_IF_UNMODIFIED_SINCE;
    LAST_MODIFIED = FIELD_LAST_MODIFIED;
    LINK = FIELD_LINK;
    LOCATION = FIELD_LOCATION;
    ORIGIN = FIELD_ORIGIN;
    PRAGMA = FIELD_PRAGMA;
    PREFER = FIELD_PREFER;
    PRIORITY = FIELD_PRIORITY;
    RANGE = FIELD_RANGE;
    REFERER = FIELD_REFERER;
    RETRY_AFTER = FIELD_RETRY_AFTER;
    SEC_FETCH_DEST = FIELD_SEC_FETCH_DEST;
    SEC_FETCH_MODE = FIELD_SEC_FETCH_MODE;
    SEC_FETCH_SITE = FIELD_SEC_FETCH_SITE;
    SEC_FETCH_USER = FIELD_SEC_FETCH_USER;
    SERVER = FIELD_SERVER;
    SERVER_TIMING = FIELD_SERVER_TIMING;
    SET_COOKIE = FIELD_SET_COOKIE;
    STRICT_TRANSPORT_SECURITY = FIELD_STRICT_TRANSPORT_SECURITY;
    TRACEPARENT = FIELD_TRACEPARENT;
    TRACESTATE = FIELD_TRACESTATE;
    UPGRADE_INSECURE_REQUESTS = FIELD_UPGRADE_INSECURE_REQUESTS;
    USER_AGENT = FIELD_USER_AGENT;
    VARY = FIELD_VARY;
    WARNING = FIELD_WARNING;
    WWW_AUTHENTICATE = FIELD_WWW_AUTHENTICATE;
    AUTHENTICATION_INFO = FIELD_AUTHENTICATION_INFO;
    GRPC_STATUS = FIELD_GRPC_STATUS;
    GRPC_MESSAGE = FIELD_GRPC_MESSAGE;
    GRPC_TIMEOUT = FIELD_GRPC_TIMEOUT;
}
