//! Well-known header fields of the filter ABI.
#![expect(missing_docs, reason = "a constant is named like its field")]

pub const FIELD_OTHER: u8 = 0;
pub const FIELD_HOST: u8 = 1;
pub const FIELD_CONTENT_LENGTH: u8 = 2;
pub const FIELD_TRANSFER_ENCODING: u8 = 3;
pub const FIELD_CONNECTION: u8 = 4;
pub const FIELD_EXPECT: u8 = 5;
pub const FIELD_UPGRADE: u8 = 6;
pub const FIELD_TE: u8 = 7;
pub const FIELD_MAX_FORWARDS: u8 = 8;
pub const FIELD_TRAILER: u8 = 9;
pub const FIELD_KEEP_ALIVE: u8 = 10;
pub const FIELD_PROXY: u8 = 11;
pub const FIELD_PROXY_CONNECTION: u8 = 12;
pub const FIELD_PROXY_AUTHENTICATE: u8 = 13;
pub const FIELD_PROXY_AUTHORIZATION: u8 = 14;
pub const FIELD_HTTP2_SETTINGS: u8 = 15;
pub const FIELD_VIA: u8 = 16;
pub const FIELD_DATE: u8 = 17;
pub const FIELD_FORWARDED: u8 = 18;
pub const FIELD_X_FORWARDED_FOR: u8 = 19;
pub const FIELD_X_FORWARDED_PROTO: u8 = 20;
pub const FIELD_X_FORWARDED_HOST: u8 = 21;
pub const FIELD_X_FORWARDED_PORT: u8 = 22;
pub const FIELD_X_REAL_IP: u8 = 23;
pub const FIELD_X_REQUEST_ID: u8 = 24;
pub const FIELD_ACCEPT: u8 = 25;
pub const FIELD_ACCEPT_ENCODING: u8 = 26;
pub const FIELD_ACCEPT_LANGUAGE: u8 = 27;
pub const FIELD_ACCEPT_RANGES: u8 = 28;
pub const FIELD_ACCESS_CONTROL_ALLOW_ORIGIN: u8 = 29;
pub const FIELD_AGE: u8 = 30;
pub const FIELD_ALLOW: u8 = 31;
pub const FIELD_ALT_SVC: u8 = 32;
pub const FIELD_AUTHORIZATION: u8 = 33;
pub const FIELD_CACHE_CONTROL: u8 = 34;
pub const FIELD_CONTENT_DISPOSITION: u8 = 35;
pub const FIELD_CONTENT_ENCODING: u8 = 36;
pub const FIELD_CONTENT_LANGUAGE: u8 = 37;
pub const FIELD_CONTENT_LOCATION: u8 = 38;
pub const FIELD_CONTENT_RANGE: u8 = 39;
pub const FIELD_CONTENT_SECURITY_POLICY: u8 = 40;
pub const FIELD_CONTENT_TYPE: u8 = 41;
pub const FIELD_COOKIE: u8 = 42;
pub const FIELD_ETAG: u8 = 43;
pub const FIELD_EXPIRES: u8 = 44;
pub const FIELD_IF_MATCH: u8 = 45;
pub const FIELD_IF_MODIFIED_SINCE: u8 = 46;
pub const FIELD_IF_NONE_MATCH: u8 = 47;
pub const FIELD_IF_RANGE: u8 = 48;
pub const FIELD_IF_UNMODIFIED_SINCE: u8 = 49;
pub const FIELD_LAST_MODIFIED: u8 = 50;
pub const FIELD_LINK: u8 = 51;
pub const FIELD_LOCATION: u8 = 52;
pub const FIELD_ORIGIN: u8 = 53;
pub const FIELD_PRAGMA: u8 = 54;
pub const FIELD_PREFER: u8 = 55;
pub const FIELD_PRIORITY: u8 = 56;
pub const FIELD_RANGE: u8 = 57;
pub const FIELD_REFERER: u8 = 58;
pub const FIELD_RETRY_AFTER: u8 = 59;
pub const FIELD_SEC_FETCH_DEST: u8 = 60;
pub const FIELD_SEC_FETCH_MODE: u8 = 61;
pub const FIELD_SEC_FETCH_SITE: u8 = 62;
pub const FIELD_SEC_FETCH_USER: u8 = 63;
pub const FIELD_SERVER: u8 = 64;
pub const FIELD_SERVER_TIMING: u8 = 65;
pub const FIELD_SET_COOKIE: u8 = 66;
pub const FIELD_STRICT_TRANSPORT_SECURITY: u8 = 67;
pub const FIELD_TRACEPARENT: u8 = 68;
pub const FIELD_TRACESTATE: u8 = 69;
pub const FIELD_UPGRADE_INSECURE_REQUESTS: u8 = 70;
pub const FIELD_USER_AGENT: u8 = 71;
pub const FIELD_VARY: u8 = 72;
pub const FIELD_WARNING: u8 = 73;
pub const FIELD_WWW_AUTHENTICATE: u8 = 74;
pub const FIELD_AUTHENTICATION_INFO: u8 = 75;
pub const FIELD_GRPC_STATUS: u8 = 76;
pub const FIELD_GRPC_MESSAGE: u8 = 77;
pub const FIELD_GRPC_TIMEOUT: u8 = 78;
pub const FIELD_X_FORWARDED: u8 = 254;
pub const FIELD_ALIAS: u8 = 255;

/// Names of the known fields by number; empty for number 0.
pub const NAMES: [&str; 79] = [
    "",
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "expect",
    "upgrade",
    "te",
    "max-forwards",
    "trailer",
    "keep-alive",
    "proxy",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "http2-settings",
    "via",
    "date",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-real-ip",
    "x-request-id",
    "accept",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "access-control-allow-origin",
    "age",
    "allow",
    "alt-svc",
    "authorization",
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-location",
    "content-range",
    "content-security-policy",
    "content-type",
    "cookie",
    "etag",
    "expires",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "last-modified",
    "link",
    "location",
    "origin",
    "pragma",
    "prefer",
    "priority",
    "range",
    "referer",
    "retry-after",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "server",
    "server-timing",
    "set-cookie",
    "strict-transport-security",
    "traceparent",
    "tracestate",
    "upgrade-insecure-requests",
    "user-agent",
    "vary",
    "warning",
    "www-authenticate",
    "authentication-info",
    "grpc-status",
    "grpc-message",
    "grpc-timeout",
];
