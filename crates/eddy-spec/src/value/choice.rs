//! Keywords of the file format, each with its meaning.

use eddy_config::{AcmeChallenge, FailoverReason, LogFormat, ProxyVersion};
use eddy_model::{Balance, LinkProtocol, ServerCheck, TlsVersion};
use eddy_route::RegexRank;

use crate::read::{FromScalar, Misfit, WordInfo, WordKind, listed};

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

/// Verification of endpoint certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerCheckName(pub ServerCheck);

/// A TLS version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsVersionName(pub TlsVersion);

/// ACME challenge that proves control of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChallengeName(pub AcmeChallenge);

/// A version of the PROXY protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyVersionName(pub ProxyVersion);

/// Transport protocol of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportName {
    /// TCP connections.
    Tcp,
    /// UDP datagrams.
    Udp,
}

/// Reads types as the keywords of a table.
macro_rules! keywords {
    ($($name:ident: $meanings:ident;)+) => {
        $(
            impl crate::read::FromScalar for $name {
                fn parse(text: &str) -> Result<Self, crate::read::Misfit> {
                    crate::value::choice::choose(text, $meanings)
                }

                fn info() -> crate::read::WordInfo {
                    crate::value::choice::info($meanings, crate::read::WordKind::Text)
                }
            }
        )+
    };
}

pub(super) use keywords;

/// A keyword, its value and its meaning.
pub(super) type Meaning<T> = (&'static str, T, &'static str);

keywords! {
    Balance: BALANCES;
    LinkProtocol: PROTOCOLS;
    FailoverReason: FAILOVER_REASONS;
    LogFormat: FORMATS;
    LogLevelName: LEVELS;
    Scheme: SCHEMES;
    RegexRank: REGEX_RANKS;
    TlsVersionName: TLS_VERSIONS;
    TransportName: TRANSPORTS;
    ProxyVersionName: PROXY_VERSIONS;
    ServerCheckName: SERVER_CHECKS;
}

impl FromScalar for RedirectStatus {
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, REDIRECT_STATUSES)
    }

    fn info() -> WordInfo {
        info(REDIRECT_STATUSES, WordKind::Number { least: 301, most: 308 })
    }
}

impl FromScalar for DialectName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, DIALECTS).map_err(|_| {
            let known: Vec<&str> = DIALECTS.iter().map(|(word, ..)| *word).collect();
            Misfit::reason(format!("is not a supported dialect: expected {}", listed(&known, "or")))
        })
    }

    fn info() -> WordInfo {
        info(DIALECTS, WordKind::Text)
    }
}

impl FromScalar for ChallengeName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        if text == "dns-01" {
            return Err(Misfit::form(
                "eddy does not create DNS records: list each host, and use another challenge",
            ));
        }
        choose(text, CHALLENGES)
    }

    fn info() -> WordInfo {
        info(CHALLENGES, WordKind::Text)
    }
}

pub(super) fn choose<T: Copy>(text: &str, meanings: &[Meaning<T>]) -> Result<T, Misfit> {
    if let Some((_, value, _)) = meanings.iter().find(|(word, ..)| *word == text) {
        return Ok(*value);
    }
    // Numbers are not suggested: one number is not a misspelling of another.
    let words = meanings.iter().map(|(word, ..)| *word);
    Err(Misfit::Choice {
        words: words.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).collect(),
    })
}

pub(super) fn info<T>(meanings: &[Meaning<T>], kind: WordKind) -> WordInfo {
    let words: Vec<&str> = meanings.iter().map(|(word, ..)| *word).collect();
    let choices = meanings.iter().map(|(word, _, meaning)| (*word, *meaning)).collect();
    WordInfo { kind, choices, ..WordInfo::text(&listed(&words, "or")) }
}

const BALANCES: &[Meaning<Balance>] = &[
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

const PROTOCOLS: &[Meaning<LinkProtocol>] = &[
    ("http1", LinkProtocol::Http1, "HTTP/1.1, one request at a time on a connection"),
    ("http2", LinkProtocol::Http2, "HTTP/2, concurrent requests on a connection; endpoints must support it"),
    ("auto", LinkProtocol::Auto, "HTTP/2 if the endpoint negotiates it over TLS, otherwise HTTP/1.1"),
];

const FAILOVER_REASONS: &[Meaning<FailoverReason>] = &[
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

const FORMATS: &[Meaning<LogFormat>] = &[
    ("text", LogFormat::Text, "a human-readable line"),
    ("json", LogFormat::Json, "one JSON object per line"),
];

const LEVELS: &[Meaning<LogLevelName>] = &[
    ("error", LogLevelName("error"), "failures"),
    ("warn", LogLevelName("warn"), "also conditions that need attention"),
    ("info", LogLevelName("info"), "also starts, reloads and stops"),
    ("debug", LogLevelName("debug"), "also decisions and their reasons"),
    ("trace", LogLevelName("trace"), "everything"),
];

const SCHEMES: &[Meaning<Scheme>] =
    &[("http", Scheme("http"), "without TLS"), ("https", Scheme("https"), "with TLS")];

const TLS_VERSIONS: &[Meaning<TlsVersionName>] = &[
    (
        "tls1.2",
        TlsVersionName(TlsVersion::Tls12),
        "TLS 1.2, only with forward secrecy and authenticated encryption, and TLS 1.3",
    ),
    ("tls1.3", TlsVersionName(TlsVersion::Tls13), "TLS 1.3 only"),
];

const PROXY_VERSIONS: &[Meaning<ProxyVersionName>] = &[
    ("v1", ProxyVersionName(ProxyVersion::V1), "a text line, which every proxy supports"),
    ("v2", ProxyVersionName(ProxyVersion::V2), "binary, shorter and faster to parse"),
];

const TRANSPORTS: &[Meaning<TransportName>] = &[
    ("tcp", TransportName::Tcp, "connections"),
    ("udp", TransportName::Udp, "datagrams, which are forwarded by session; needs `forward`"),
];

const CHALLENGES: &[Meaning<ChallengeName>] = &[
    (
        "tls-alpn-01",
        ChallengeName(AcmeChallenge::TlsAlpn01),
        "by a TLS handshake on port 443 of each host, which must reach the listener with the certificate",
    ),
    (
        "http-01",
        ChallengeName(AcmeChallenge::Http01),
        "by a request on port 80 of each host, which must reach a listener without TLS",
    ),
];

const SERVER_CHECKS: &[Meaning<ServerCheckName>] = &[
    (
        "full",
        ServerCheckName(ServerCheck::Full),
        "a certificate that an authority has issued for the server name",
    ),
    (
        "authority",
        ServerCheckName(ServerCheck::Authority),
        "a certificate that an authority has issued, for any name",
    ),
    ("none", ServerCheckName(ServerCheck::Nothing), "any certificate"),
];

const REDIRECT_STATUSES: &[Meaning<RedirectStatus>] = &[
    ("301", RedirectStatus(301), "permanent; clients may change the method to GET"),
    ("302", RedirectStatus(302), "temporary; clients may change the method to GET"),
    ("303", RedirectStatus(303), "see other: clients change the method to GET"),
    ("307", RedirectStatus(307), "temporary, with the same method"),
    ("308", RedirectStatus(308), "permanent, with the same method"),
];

const REGEX_RANKS: &[Meaning<RegexRank>] = &[
    ("before_prefix", RegexRank::BeforePrefix, "after exact paths, before prefixes, as in most gateways"),
    ("before_catch_all", RegexRank::BeforeCatchAll, "after prefixes other than `/`"),
    ("last", RegexRank::Last, "after all prefixes; a rule for `/` without conditions then hides them"),
];

const DIALECTS: &[Meaning<DialectName>] = &[
    ("eddy", DialectName::Eddy, "eddy's own rules and their order"),
    ("nginx", DialectName::Nginx, "servers and locations of an nginx.conf, from a `file`"),
];
