//! Servers and locations as configured, parsed and checked, before indexing.

use eddy_ids::{ActionId, Shared};

use super::names::ServerName;
use super::pattern::SearchPattern;
use super::step::RewriteDirective;
use super::text::TextTemplate;
use super::variable::Variables;
use crate::rule::SourceLocation;

/// All servers of a configuration.
#[derive(Debug, Default)]
pub struct SitesSpec {
    /// Servers in file order.
    pub servers: Vec<ServerSpec>,
    /// Servers, locations and `if` blocks in locations; all others refer to them by index.
    pub places: Vec<BlockSpec>,
    /// Listening addresses.
    pub addresses: Vec<Address>,
    /// Maps.
    pub maps: Vec<MapSpec>,
    /// Variables of the configuration.
    pub variables: Variables,
    /// Keys of hash balancing, by action.
    pub hash_keys: Vec<Option<TextTemplate>>,
}

/// The servers that listen at one address.
#[derive(Clone, Debug, Default)]
pub struct Address {
    /// Address as shown to users.
    pub text: Shared<str>,
    /// Servers in file order.
    pub servers: Vec<u32>,
    /// Server for hosts that match no name.
    pub default: u32,
}

/// A `server`.
#[derive(Debug)]
pub struct ServerSpec {
    /// Server names.
    pub names: Vec<ServerName>,
    /// Settings for requests that match none of its locations.
    pub place: u32,
    /// Locations in file order, including named ones.
    pub locations: Vec<u32>,
    /// Whether repeated slashes are merged: `merge_slashes`.
    pub merges_slashes: bool,
    /// Allowed header names.
    pub field_names: FieldNames,
}

/// Allowed header names; others are removed: `underscores_in_headers` and `ignore_invalid_headers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldNames {
    /// Letters, digits and hyphens.
    #[default]
    Plain,
    /// Also underscores.
    Underscored,
    /// Any valid name.
    Any,
}

/// Filters the header fields of a request, called for each in order: up to `Host` with the setting of the default
/// server of the address, after it with that of the server of the host.
#[derive(Clone, Copy, Debug)]
pub struct FieldFilter {
    pub(crate) names: FieldNames,
    pub(crate) behind_host: FieldNames,
}

impl FieldFilter {
    /// Whether the next field, with this name, is kept.
    pub fn keeps(&mut self, name: &[u8]) -> bool {
        if name.eq_ignore_ascii_case(b"host") {
            self.names = self.behind_host;
        }
        self.names.allow(name)
    }
}

impl FieldNames {
    fn allow(self, name: &[u8]) -> bool {
        let is_allowed = |byte: &u8| {
            byte.is_ascii_alphanumeric() || *byte == b'-' || (*byte == b'_' && self == Self::Underscored)
        };
        self == Self::Any || name.iter().all(is_allowed)
    }
}

/// A server, a location or an `if` in a location: the settings for the requests that end up in it.
#[derive(Debug)]
pub struct BlockSpec {
    /// Name in metrics, access log entries and `explain`.
    pub name: Shared<str>,
    /// Location in the configuration.
    pub origin: SourceLocation,
    /// Kind of the place, with its matcher.
    pub kind: BlockKind,
    /// Rewrite directives.
    pub steps: Vec<RewriteDirective>,
    /// Nested locations, in file order.
    pub locations: Vec<u32>,
    /// Handler of the requests.
    pub hand: LocationHandler,
    /// Whether only internally redirected requests are accepted: `internal`.
    pub is_internal: bool,
    /// Requests that are answered 403.
    pub guard: BlockAccess,
    /// `error_page`.
    pub error_pages: Shared<[ErrorPage]>,
    /// Whether `error_page` also applies to responses of an error page: `recursive_error_pages`.
    pub has_recursive_error_pages: bool,
    /// `default_type`: content type of texts sent by `return`.
    pub default_type: Shared<str>,
    /// `charset`: charset added to upstream responses that name none.
    pub charset: Option<Shared<str>>,
    /// `charset_types`: content types to which it is added, in lower case.
    pub charset_types: Shared<[Box<str>]>,
    /// `client_max_body_size`; `None` for no limit.
    pub body_bytes_max: Option<u64>,
    /// `try_files`: its last argument, because eddy finds no files.
    pub try_files_fallback: Option<TryFilesFallback>,
    /// `add_header` directives with variables or for any status.
    pub added_headers: Shared<[FieldText]>,
    /// Whether a redirect to a path is made absolute: `absolute_redirect`.
    pub names_host_in_redirects: bool,
    /// Whether such a redirect uses the first server name instead of the requested host: `server_name_in_redirect`.
    pub names_server_in_redirects: bool,
    /// Whether such a redirect includes the port: `port_in_redirect`.
    pub names_port_in_redirects: bool,
}

/// Requests that a place answers 403.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockAccess {
    /// Whether all requests are rejected, after the directives of the place have run.
    pub is_closed: bool,
    /// Allowed methods: `limit_except`; other methods are rejected before the directives run.
    pub methods: Option<Box<[Box<str>]>>,
}

/// Kind of a place, with its matcher.
#[expect(clippy::large_enum_variant, reason = "read in place; there are few of them")]
#[derive(Debug)]
pub enum BlockKind {
    /// A server.
    Server,
    /// `location = path`.
    Exact(Box<str>),
    /// `location path`.
    Prefix(Box<str>),
    /// `location ^~ path`: a prefix that disables the expressions of its level.
    FinalPrefix(Box<str>),
    /// `location ~ expression`, `~*`.
    Pattern(SearchPattern),
    /// `location @name`.
    Named(Box<str>),
    /// An `if` in a location.
    If,
}

/// Handler of the requests of a place.
#[derive(Clone, Debug, Default)]
pub enum LocationHandler {
    /// None: NGINX would look for a file, eddy answers 404.
    #[default]
    None,
    /// `proxy_pass`.
    Proxy(Shared<ProxyPassSettings>),
}

/// `proxy_pass` and related settings.
#[derive(Debug)]
pub struct ProxyPassSettings {
    /// Upstream.
    pub upstream: ProxyPassTarget,
    /// URI of `proxy_pass`, which replaces the location's text.
    pub uri: Option<Box<str>>,
    /// Length of the location's text.
    pub location_len: usize,
    /// `proxy_set_header Host`.
    pub host: TextTemplate,
    /// `proxy_set_header`; an empty value removes the field.
    pub fields: Vec<FieldText>,
    /// `proxy_redirect`: rewriting of addresses in responses; the first match applies.
    pub redirects: Vec<RedirectRule>,
    /// Whether `error_page` also applies to upstream responses: `proxy_intercept_errors`.
    pub intercepts_errors: bool,
}

/// `proxy_redirect`: a prefix or an expression, and its replacement.
#[derive(Clone, Debug)]
pub struct RedirectRule {
    /// Matcher.
    pub form: RedirectForm,
    /// Replacement.
    pub replacement: TextTemplate,
}

/// Matcher of a [`RedirectRule`].
#[derive(Clone, Debug)]
pub enum RedirectForm {
    /// Addresses with this prefix.
    Text(TextTemplate),
    /// Addresses in which the expression matches.
    Pattern(Shared<SearchPattern>),
}

/// Scheme of an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamScheme {
    /// Clear text.
    Http,
    /// TLS.
    Https,
}

impl UpstreamScheme {
    /// Returns the scheme at the beginning of an address, in any letter case, and the rest.
    pub(crate) fn split(address: &[u8]) -> Option<(Self, &[u8])> {
        [Self::Http, Self::Https].into_iter().find_map(|scheme| {
            let (start, rest) = address.split_at_checked(scheme.start().len())?;
            start.eq_ignore_ascii_case(scheme.start().as_bytes()).then_some((scheme, rest))
        })
    }

    /// Returns the beginning of an address with this scheme.
    pub fn start(self) -> &'static str {
        match self {
            Self::Http => "http://",
            Self::Https => "https://",
        }
    }

    /// Returns the default port.
    pub fn port(self) -> &'static str {
        match self {
            Self::Http => "80",
            Self::Https => "443",
        }
    }
}

/// Target of `proxy_pass`.
#[derive(Debug)]
pub enum ProxyPassTarget {
    /// A fixed upstream.
    Fixed {
        /// Action of the caller.
        action: ActionId,
        /// `$proxy_host`.
        host: Box<str>,
        /// `$proxy_port`.
        port: Box<str>,
    },
    /// The upstream that the value names: `scheme://host:port`, with an optional URI.
    Computed {
        /// Value.
        address: TextTemplate,
        /// Upstreams it may name, each as `scheme://host:port` without a URI, each with its action.
        choices: Vec<(Box<str>, ActionId)>,
    },
}

/// A header field with its value.
#[derive(Clone, Debug)]
pub struct FieldText {
    /// Field name.
    pub name: Box<str>,
    /// Field value.
    pub value: TextTemplate,
    /// Whether it applies to every status: `always`.
    pub is_for_all: bool,
}

/// `error_page`: replacement of responses with one of these statuses.
#[derive(Clone, Debug)]
pub struct ErrorPage {
    /// Statuses.
    pub statuses: Vec<u16>,
    /// `=status`; `=` alone uses the status of the page.
    pub answer: Option<Option<u16>>,
    /// A path, an `@name`, or a redirect address.
    pub target: TextTemplate,
}

/// Last argument of `try_files`.
#[derive(Clone, Debug)]
pub enum TryFilesFallback {
    /// `=status`.
    Status(u16),
    /// `@name`.
    Named(Box<str>),
    /// A path with an optional query.
    Path(TextTemplate),
}

/// A `map`.
#[derive(Debug)]
pub struct MapSpec {
    /// Variable that it defines.
    pub slot: u32,
    /// Value that is looked up.
    pub source: TextTemplate,
    /// Rows in file order, without the default.
    pub rows: Vec<MapRow>,
    /// Value if no row matches.
    pub default: TextTemplate,
    /// Whether rows may be host wildcards: `hostnames`.
    pub has_hostnames: bool,
    /// Whether it is evaluated for each use: `volatile`.
    pub is_volatile: bool,
}

/// A row of a `map`.
#[derive(Debug)]
pub struct MapRow {
    /// Matcher.
    pub form: MapForm,
    /// Value.
    pub value: TextTemplate,
}

/// Matcher of a row of a `map`.
#[derive(Debug)]
pub enum MapForm {
    /// A text, in any letter case.
    Text(Box<str>),
    /// Hosts, in the form of a server name.
    Host(ServerName),
    /// Values in which the expression matches.
    Pattern(SearchPattern),
}

impl BlockKind {
    /// Returns a word for the kind.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Exact(_) => "exact",
            Self::Prefix(_) => "prefix",
            Self::FinalPrefix(_) => "final_prefix",
            Self::Pattern(_) => "expression",
            Self::Named(_) => "named",
            Self::If => "if",
        }
    }

    /// Returns the text that paths are compared with, if it is a path.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Self::Exact(path) | Self::Prefix(path) | Self::FinalPrefix(path) => Some(path),
            Self::Server | Self::Pattern(_) | Self::Named(_) | Self::If => None,
        }
    }
}
