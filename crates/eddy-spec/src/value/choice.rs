//! Keywords of the file format, each with its meaning.

use eddy_builtin::{
    AnyValues, Directions, EnumForm, IdFormat, JsonFieldNaming, RateFields, StreamForm, Unknown,
    UnknownRequests, Unreadable, WhichMessage,
};
use eddy_config::{AcmeChallenge, Connect, FailoverReason, LogFormat, ProxyVersion, WasmIsolation};
use eddy_filter::FailurePolicy;
use eddy_http::GrpcStatus;
use eddy_model::{Balance, LinkProtocol, ServerCheck, TlsVersion};
use eddy_route::RegexRank;

use crate::read::{FromScalar, InvalidValue, WordInfo, WordKind, listed};

/// Minimum severity of messages that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLevelName(pub &'static str);

/// Scheme of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme(pub &'static str);

/// Status of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedirectStatus(pub u16);

/// Dialect of a route table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectName {
    /// eddy's own rules.
    Eddy,
    /// Rules of NGINX.
    Nginx,
}

/// Transport protocol of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportName {
    /// TCP connections.
    Tcp,
    /// UDP datagrams.
    Udp,
}

/// Key by which requests are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateKeyName {
    /// All requests together.
    All,
    /// Requests of one client.
    Client,
}

/// A library that Lua scripts may be allowed to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LuaLibraryName {
    /// `os`.
    Os,
    /// `io`.
    Io,
    /// `package` and `require`.
    Package,
    /// `ffi`.
    Ffi,
}

/// Change that is made to a redacted field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedactEditName {
    /// The field is removed.
    Drop,
    /// The value is replaced.
    Mask,
    /// The value is replaced by one of the same length.
    SameLength,
}

/// Reads types as the keywords of a table.
macro_rules! keywords {
    ($($name:ident: $meanings:ident;)+) => {
        $(
            impl FromScalar for $name {
                fn parse(text: &str) -> Result<Self, InvalidValue> {
                    choose(text, $meanings)
                }

                fn info() -> WordInfo {
                    info($meanings, WordKind::Text)
                }
            }
        )+
    };
}

/// A keyword, its value and its meaning.
type KeywordMeaning<T> = (&'static str, T, &'static str);

keywords! {
    Balance: BALANCES;
    LinkProtocol: PROTOCOLS;
    FailoverReason: FAILOVER_REASONS;
    LogFormat: FORMATS;
    LogLevelName: LEVELS;
    Scheme: SCHEMES;
    RegexRank: REGEX_RANKS;
    TlsVersion: TLS_VERSIONS;
    TransportName: TRANSPORTS;
    ProxyVersion: PROXY_VERSIONS;
    ServerCheck: SERVER_CHECKS;
    LuaLibraryName: LUA_LIBRARIES;
    FailurePolicy: FAILURES;
    IdFormat: ID_FORMATS;
    RateFields: RATE_FIELDS;
    RateKeyName: RATE_KEYS;
    RedactEditName: REDACT_EDITS;
    Directions: DIRECTIONS;
    Unreadable: UNREADABLE;
    AnyValues: ANY_VALUES;
    WhichMessage: WHICH_MESSAGE;
    UnknownRequests: UNKNOWN_REQUESTS;
    Unknown: UNKNOWN;
    StreamForm: STREAM_FORMS;
    JsonFieldNaming: JSON_NAMES;
    EnumForm: ENUM_FORMS;
    GrpcStatus: GRPC_STATUSES;
    WasmIsolation: ISOLATIONS;
    Connect: CONNECTS;
}

impl FromScalar for RedirectStatus {
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, InvalidValue> {
        choose(text, REDIRECT_STATUSES)
    }

    fn info() -> WordInfo {
        info(REDIRECT_STATUSES, WordKind::Number { least: 301, most: 308 })
    }
}

impl FromScalar for DialectName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        choose(text, DIALECTS).map_err(|_| {
            let known: Vec<&str> = DIALECTS.iter().map(|(word, ..)| *word).collect();
            InvalidValue::reason(format!("is not a supported dialect: expected {}", listed(&known, "or")))
        })
    }

    fn info() -> WordInfo {
        info(DIALECTS, WordKind::Text)
    }
}

impl FromScalar for AcmeChallenge {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text == "dns-01" {
            return Err(InvalidValue::form(
                "eddy does not create DNS records: list each host, and use another challenge",
            ));
        }
        choose(text, CHALLENGES)
    }

    fn info() -> WordInfo {
        info(CHALLENGES, WordKind::Text)
    }
}

fn choose<T: Copy>(text: &str, meanings: &[KeywordMeaning<T>]) -> Result<T, InvalidValue> {
    if let Some((_, value, _)) = meanings.iter().find(|(word, ..)| *word == text) {
        return Ok(*value);
    }
    // Numbers are not suggested: one number is not a misspelling of another.
    let words = meanings.iter().map(|(word, ..)| *word);
    Err(InvalidValue::Choice {
        words: words.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).collect(),
    })
}

fn info<T>(meanings: &[KeywordMeaning<T>], kind: WordKind) -> WordInfo {
    let words: Vec<&str> = meanings.iter().map(|(word, ..)| *word).collect();
    let choices = meanings.iter().map(|(word, _, meaning)| (*word, *meaning)).collect();
    WordInfo { kind, choices, ..WordInfo::text(&listed(&words, "or")) }
}

const BALANCES: &[KeywordMeaning<Balance>] = &[
    ("round_robin", Balance::RoundRobin, "each endpoint in turn (smooth weighted round robin)"),
    (
        "least_request",
        Balance::LeastRequest,
        "the less loaded of two endpoints that are selected at random by weight",
    ),
    ("random", Balance::Random, "random selection by weight"),
    (
        "client_address",
        Balance::ClientAddress,
        "by client network: the first three bytes of an IPv4 address, or a whole IPv6 address",
    ),
    ("hash", Balance::Hash, "hashing by `key`: adding or removing an endpoint moves most keys"),
    ("ring", Balance::Ring, "consistent hashing by `key`: adding or removing an endpoint moves few keys"),
    (
        "maglev",
        Balance::Maglev,
        "consistent hashing by `key`, more even by weight than `ring`: a table of 65,537 entries",
    ),
];

const PROTOCOLS: &[KeywordMeaning<LinkProtocol>] = &[
    ("http1", LinkProtocol::Http1, "HTTP/1.1, one request at a time on a connection"),
    ("http2", LinkProtocol::Http2, "HTTP/2, concurrent requests on a connection; endpoints must support it"),
    ("auto", LinkProtocol::Auto, "HTTP/2 if the endpoint negotiates it over TLS, otherwise HTTP/1.1"),
];

const FAILOVER_REASONS: &[KeywordMeaning<FailoverReason>] = &[
    (
        "unreachable",
        FailoverReason::Unreachable,
        "no endpoint has processed the request: there is none, none is reachable, or all are at their limits",
    ),
    ("not_found", FailoverReason::NotFound, "the response was 404"),
    (
        "any",
        FailoverReason::Any,
        "`unreachable`, a timeout, an incomplete response, or a response of 404 or 500 and above",
    ),
];

const FORMATS: &[KeywordMeaning<LogFormat>] = &[
    ("text", LogFormat::Text, "a human-readable line"),
    ("json", LogFormat::Json, "one JSON object per line"),
];

const LEVELS: &[KeywordMeaning<LogLevelName>] = &[
    ("error", LogLevelName("error"), "failures"),
    ("warn", LogLevelName("warn"), "also conditions that need attention"),
    ("info", LogLevelName("info"), "also starts, reloads and stops"),
    ("debug", LogLevelName("debug"), "also decisions and their reasons"),
    ("trace", LogLevelName("trace"), "everything"),
];

const SCHEMES: &[KeywordMeaning<Scheme>] =
    &[("http", Scheme("http"), "without TLS"), ("https", Scheme("https"), "with TLS")];

const TLS_VERSIONS: &[KeywordMeaning<TlsVersion>] = &[
    (
        "tls1.2",
        TlsVersion::Tls12,
        "TLS 1.2, only with forward secrecy and authenticated encryption, and TLS 1.3",
    ),
    ("tls1.3", TlsVersion::Tls13, "TLS 1.3 only"),
];

const PROXY_VERSIONS: &[KeywordMeaning<ProxyVersion>] = &[
    ("v1", ProxyVersion::V1, "a text line, which every proxy supports"),
    ("v2", ProxyVersion::V2, "binary, shorter and faster to parse"),
];

const TRANSPORTS: &[KeywordMeaning<TransportName>] = &[
    ("tcp", TransportName::Tcp, "connections"),
    ("udp", TransportName::Udp, "datagrams, which are forwarded by session; needs `forward`"),
];

const CHALLENGES: &[KeywordMeaning<AcmeChallenge>] = &[
    (
        "tls-alpn-01",
        AcmeChallenge::TlsAlpn01,
        "by a TLS handshake on port 443 of each host, which must reach the listener with the certificate",
    ),
    (
        "http-01",
        AcmeChallenge::Http01,
        "by a request on port 80 of each host, which must reach a listener without TLS",
    ),
];

const SERVER_CHECKS: &[KeywordMeaning<ServerCheck>] = &[
    ("full", ServerCheck::Full, "a certificate that an authority has issued for the server name"),
    ("authority", ServerCheck::Authority, "a certificate that an authority has issued, for any name"),
    ("none", ServerCheck::Nothing, "any certificate"),
];

const REDIRECT_STATUSES: &[KeywordMeaning<RedirectStatus>] = &[
    ("301", RedirectStatus(301), "permanent; clients may change the method to GET"),
    ("302", RedirectStatus(302), "temporary; clients may change the method to GET"),
    ("303", RedirectStatus(303), "see other: clients change the method to GET"),
    ("307", RedirectStatus(307), "temporary, with the same method"),
    ("308", RedirectStatus(308), "permanent, with the same method"),
];

const REGEX_RANKS: &[KeywordMeaning<RegexRank>] = &[
    ("before_prefix", RegexRank::BeforePrefix, "after exact paths, before prefixes, as in most gateways"),
    ("before_catch_all", RegexRank::BeforeCatchAll, "after prefixes other than `/`"),
    ("last", RegexRank::Last, "after all prefixes; a rule for `/` without conditions then hides them"),
];

const DIALECTS: &[KeywordMeaning<DialectName>] = &[
    ("eddy", DialectName::Eddy, "eddy's own rules and their order"),
    ("nginx", DialectName::Nginx, "servers and locations of an nginx.conf, from a `file`"),
];

const FAILURES: &[KeywordMeaning<FailurePolicy>] = &[
    ("closed", FailurePolicy::Closed, "the response is 500, or is cut off if it has begun"),
    (
        "open",
        FailurePolicy::Open,
        "the filter is skipped for the rest of the exchange; as `closed` if it has changed something",
    ),
];

const LUA_LIBRARIES: &[KeywordMeaning<LuaLibraryName>] = &[
    ("os", LuaLibraryName::Os, "the clock, the environment and other programs"),
    ("io", LuaLibraryName::Io, "files"),
    ("package", LuaLibraryName::Package, "`require`: modules in Lua and C"),
    ("ffi", LuaLibraryName::Ffi, "all memory of the process"),
];

const ID_FORMATS: &[KeywordMeaning<IdFormat>] = &[
    ("hex", IdFormat::Hex, "32 hexadecimal digits"),
    ("uuid4", IdFormat::Uuid4, "a random UUID"),
    ("uuid7", IdFormat::Uuid7, "a UUID that begins with the time, so that IDs sort by time"),
];

const RATE_FIELDS: &[KeywordMeaning<RateFields>] = &[
    ("never", RateFields::Never, "none"),
    ("refused", RateFields::Refused, "responses with status 429"),
    ("always", RateFields::Always, "all"),
];

const RATE_KEYS: &[KeywordMeaning<RateKeyName>] = &[
    ("all", RateKeyName::All, "all requests together"),
    ("client", RateKeyName::Client, "the requests of one client address, or of one IPv6 prefix"),
];

const REDACT_EDITS: &[KeywordMeaning<RedactEditName>] = &[
    ("drop", RedactEditName::Drop, "they are removed"),
    (
        "mask",
        RedactEditName::Mask,
        "strings and bytes become `text`, numbers 0, enums their first value; messages and maps are removed",
    ),
    (
        "same_length",
        RedactEditName::SameLength,
        "each byte of a string becomes `*`, other values 0 in as many bytes; messages and maps are removed",
    ),
];

const DIRECTIONS: &[KeywordMeaning<Directions>] = &[
    ("both", Directions::Both, "requests and responses"),
    ("request", Directions::Requests, "requests"),
    ("response", Directions::Responses, "responses"),
];

const UNREADABLE: &[KeywordMeaning<Unreadable>] = &[
    (
        "refuse",
        Unreadable::Refuse,
        "the response is 400, 413 or 415, or 502 for a response message; an exchange in progress is cut off",
    ),
    ("pass", Unreadable::Pass, "they are forwarded unchanged"),
];

const ANY_VALUES: &[KeywordMeaning<AnyValues>] = &[
    ("drop", AnyValues::Drop, "they are removed, but not their types"),
    ("pass", AnyValues::Pass, "they are forwarded unchanged"),
];

const WHICH_MESSAGE: &[KeywordMeaning<WhichMessage>] = &[
    ("first", WhichMessage::First, "the first; later messages are not inspected"),
    ("last", WhichMessage::Last, "the last"),
];

const UNKNOWN_REQUESTS: &[KeywordMeaning<UnknownRequests>] = &[
    ("pass", UnknownRequests::Pass, "they are forwarded unchanged"),
    ("refuse", UnknownRequests::Refuse, "the response is 404, or 405 if the path is known"),
];

const UNKNOWN: &[KeywordMeaning<Unknown>] =
    &[("refuse", Unknown::Refuse, "the response is 400"), ("ignore", Unknown::Ignore, "they are ignored")];

const STREAM_FORMS: &[KeywordMeaning<StreamForm>] = &[
    ("array", StreamForm::Array, "as elements of a JSON array"),
    ("lines", StreamForm::Lines, "one per line, as `application/x-ndjson`"),
    ("events", StreamForm::Events, "as events of a `text/event-stream`"),
];

const JSON_NAMES: &[KeywordMeaning<JsonFieldNaming>] = &[
    ("json", JsonFieldNaming::Json, "JSON names, in camel case unless `json_name` specifies another"),
    ("declared", JsonFieldNaming::Declared, "names as declared"),
];

const ENUM_FORMS: &[KeywordMeaning<EnumForm>] =
    &[("names", EnumForm::Names, "by name"), ("numbers", EnumForm::Numbers, "by number")];

const GRPC_STATUSES: &[KeywordMeaning<GrpcStatus>] = &[
    ("cancelled", GrpcStatus::Cancelled, "1, the operation was cancelled"),
    ("unknown", GrpcStatus::Unknown, "2, unknown error"),
    ("invalid_argument", GrpcStatus::InvalidArgument, "3, the client specified an invalid argument"),
    (
        "deadline_exceeded",
        GrpcStatus::DeadlineExceeded,
        "4, the deadline expired before the operation completed",
    ),
    ("not_found", GrpcStatus::NotFound, "5, a requested entity was not found"),
    (
        "already_exists",
        GrpcStatus::AlreadyExists,
        "6, the entity that the client attempted to create already exists",
    ),
    (
        "permission_denied",
        GrpcStatus::PermissionDenied,
        "7, the caller does not have permission to execute the operation",
    ),
    (
        "resource_exhausted",
        GrpcStatus::ResourceExhausted,
        "8, a resource is exhausted, such as a quota or disk space",
    ),
    (
        "failed_precondition",
        GrpcStatus::FailedPrecondition,
        "9, the system is not in a state required for the operation",
    ),
    ("aborted", GrpcStatus::Aborted, "10, the operation was aborted, typically due to a concurrency issue"),
    ("out_of_range", GrpcStatus::OutOfRange, "11, the operation was attempted past the valid range"),
    ("unimplemented", GrpcStatus::Unimplemented, "12, the operation is not implemented"),
    ("internal", GrpcStatus::Internal, "13, internal error"),
    ("unavailable", GrpcStatus::Unavailable, "14, the service is currently unavailable"),
    ("data_loss", GrpcStatus::DataLoss, "15, unrecoverable data loss or corruption"),
    (
        "unauthenticated",
        GrpcStatus::Unauthenticated,
        "16, the request has no valid authentication credentials",
    ),
];

const ISOLATIONS: &[KeywordMeaning<WasmIsolation>] = &[
    ("worker", WasmIsolation::Worker, "each worker has an instance; a fault ends all exchanges in it"),
    ("stream", WasmIsolation::Stream, "each exchange has an instance; a fault ends only that exchange"),
];

const CONNECTS: &[KeywordMeaning<Connect>] = &[
    ("refuse", Connect::Refuse, "the response is 501"),
    ("pass", Connect::Pass, "it is forwarded to an endpoint, which opens or refuses the tunnel"),
    (
        "open",
        Connect::Open,
        "eddy opens the tunnel to an endpoint of the cluster, regardless of the target in the request",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_grpc_status_but_the_good_one_has_its_word() {
        let words: Vec<_> = GRPC_STATUSES.iter().map(|(word, status, _)| (*word, *status)).collect();
        let expected: Vec<_> =
            GrpcStatus::ALL.iter().skip(1).map(|status| (status.name(), *status)).collect();
        assert_eq!(words, expected);
    }
}
