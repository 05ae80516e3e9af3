//! Servers and locations as they are written, read and checked, before they are put into an index.

use std::sync::Arc;

use super::names::ServerName;
use super::pattern::SearchPattern;
use super::step::RewriteDirective;
use super::text::TextTemplate;
use super::variable::Variables;
use crate::rule::SourceLocation;

/// All servers of a configuration.
#[derive(Debug, Default)]
pub struct SitesSpec {
    /// The servers in the order of the file.
    pub servers: Vec<ServerSpec>,
    /// Servers, locations and `if` blocks in locations; all others name them by index.
    pub places: Vec<PlaceSpec>,
    /// Where servers listen.
    pub addresses: Vec<Address>,
    /// The maps.
    pub maps: Vec<MapSpec>,
    /// The variables of the configuration.
    pub variables: Variables,
    /// What balancing by hash goes by, for each of the caller's actions.
    pub hash_keys: Vec<Option<TextTemplate>>,
}

/// The servers that listen at one address.
#[derive(Clone, Debug, Default)]
pub struct Address {
    /// The address as eddy shows it.
    pub text: Arc<str>,
    /// The servers in the order of the file.
    pub servers: Vec<u32>,
    /// The one for hosts that no name is for.
    pub default: u32,
}

/// A `server`.
#[derive(Debug)]
pub struct ServerSpec {
    /// Its names.
    pub names: Vec<ServerName>,
    /// What holds where none of its locations is for a request.
    pub place: u32,
    /// Its locations in the order of the file, those with a name too.
    pub locations: Vec<u32>,
    /// Whether runs of slashes become one.
    pub merges_slashes: bool,
    /// Which names fields of requests may have.
    pub field_names: FieldNames,
}

/// Which names fields of requests may have: those of others are left out, `underscores_in_headers` and
/// `ignore_invalid_headers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldNames {
    /// Letters, digits and hyphens.
    #[default]
    Plain,
    /// Underscores, too.
    Underscored,
    /// Whatever a name may be.
    Any,
}

/// Tells which fields of a request stay, asked for one after the other: up to `Host` the default server of the address
/// decides, behind it the server of the host.
#[derive(Clone, Copy, Debug)]
pub struct FieldFilter {
    pub(crate) names: FieldNames,
    pub(crate) behind_host: FieldNames,
}

impl FieldFilter {
    /// Whether the next field, which has this name, stays.
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

/// A server, a location or an `if` in a location: what holds for the requests that end up in it.
#[derive(Debug)]
pub struct PlaceSpec {
    /// Names it in metrics, records and `explain`.
    pub name: Arc<str>,
    /// Where it is written.
    pub origin: SourceLocation,
    /// Which requests it is for.
    pub kind: PlaceKind,
    /// Its program.
    pub steps: Vec<RewriteDirective>,
    /// The locations in it, in the order of the file.
    pub locations: Vec<u32>,
    /// Who answers.
    pub hand: LocationHandler,
    /// Whether only requests that were sent on inside come here: `internal`.
    pub is_internal: bool,
    /// Which requests are answered 403.
    pub guard: PlaceGuard,
    /// `error_page`.
    pub error_pages: Arc<[ErrorPage]>,
    /// Whether `error_page` holds for what an error page answers, too.
    pub has_recursive_error_pages: bool,
    /// `default_type`: the type of texts that `return` sends.
    pub default_type: Arc<str>,
    /// `charset`: what is said of texts of an upstream that name none.
    pub charset: Option<Arc<str>>,
    /// `charset_types`: the types of such texts, in lower case.
    pub charset_types: Arc<[Box<str>]>,
    /// `client_max_body_size`; `None` for no limit.
    pub body_bytes_max: Option<u64>,
    /// `try_files`: where it leads, as eddy finds no file.
    pub last_try: Option<LastTry>,
    /// `add_header`, those with variables or for any status.
    pub answer_fields: Arc<[FieldText]>,
    /// Whether a redirect to a path names the host: `absolute_redirect`.
    pub names_host_in_redirects: bool,
    /// Whether it names the first name of the server instead of the host asked for: `server_name_in_redirect`.
    pub names_server_in_redirects: bool,
    /// Whether it names the port: `port_in_redirect`.
    pub names_port_in_redirects: bool,
}

/// Which requests a place answers 403.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceGuard {
    /// Whether all of them, once the program of the place has run.
    pub is_closed: bool,
    /// The only methods that are let in: `limit_except`; others are turned away before the program runs.
    pub methods: Option<Box<[Box<str>]>>,
}

/// Which requests a place is for.
#[expect(clippy::large_enum_variant, reason = "read in place; there are few of them")]
#[derive(Debug)]
pub enum PlaceKind {
    /// A server.
    Server,
    /// `location = path`.
    Exact(Box<str>),
    /// `location path`.
    Prefix(Box<str>),
    /// `location ^~ path`: a prefix that spares the expressions beside it.
    FinalPrefix(Box<str>),
    /// `location ~ expression`, `~*`.
    Pattern(SearchPattern),
    /// `location @name`.
    Named(Box<str>),
    /// An `if` in a location.
    If,
}

/// Who answers at a place.
#[derive(Clone, Debug, Default)]
pub enum LocationHandler {
    /// Nobody: NGINX would look for a file, eddy answers 404.
    #[default]
    None,
    /// `proxy_pass`.
    Proxy(Arc<ProxyHand>),
}

/// `proxy_pass` and what goes with it.
#[derive(Debug)]
pub struct ProxyHand {
    /// The upstream.
    pub upstream: ProxyPassTarget,
    /// The URI of `proxy_pass`, which takes the place of the location's text.
    pub uri: Option<Box<str>>,
    /// How long the text of the location is.
    pub location_len: usize,
    /// `proxy_set_header Host`.
    pub host: TextTemplate,
    /// `proxy_set_header`; an empty value removes the field.
    pub fields: Vec<FieldText>,
    /// `proxy_redirect`: what becomes of addresses in answers; the first that fits.
    pub redirects: Vec<RedirectRule>,
    /// Whether `error_page` holds for what the upstream answers, too: `proxy_intercept_errors`.
    pub intercepts_errors: bool,
}

/// `proxy_redirect`: a beginning, or an expression, and what takes its place.
#[derive(Clone, Debug)]
pub struct RedirectRule {
    /// What it is for.
    pub form: RedirectForm,
    /// What takes its place.
    pub replacement: TextTemplate,
}

/// What a [`RedirectRule`] is for.
#[derive(Clone, Debug)]
pub enum RedirectForm {
    /// Addresses that begin so.
    Text(TextTemplate),
    /// Addresses in which the expression is found.
    Pattern(Arc<SearchPattern>),
}

/// How an upstream is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamScheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

impl UpstreamScheme {
    /// The scheme that an address begins with, in any letter case, and what follows it.
    pub(crate) fn split(address: &[u8]) -> Option<(Self, &[u8])> {
        [Self::Http, Self::Https].into_iter().find_map(|scheme| {
            let (start, rest) = address.split_at_checked(scheme.start().len())?;
            start.eq_ignore_ascii_case(scheme.start().as_bytes()).then_some((scheme, rest))
        })
    }

    /// What an address begins with.
    pub fn start(self) -> &'static str {
        match self {
            Self::Http => "http://",
            Self::Https => "https://",
        }
    }

    /// The port of an address that names none.
    pub fn port(self) -> &'static str {
        match self {
            Self::Http => "80",
            Self::Https => "443",
        }
    }
}

/// Where `proxy_pass` leads.
#[derive(Debug)]
pub enum ProxyPassTarget {
    /// To this upstream.
    Fixed {
        /// What the caller does then.
        action: u32,
        /// `$proxy_host`.
        host: Box<str>,
        /// `$proxy_port`.
        port: Box<str>,
    },
    /// To the one that the value names: `scheme://host:port`, perhaps with a URI.
    Computed {
        /// The value.
        address: TextTemplate,
        /// The upstreams it may name, each as `scheme://host:port` without a URI, with what the caller does then.
        choices: Vec<(Box<str>, u32)>,
    },
}

/// A field and its value.
#[derive(Clone, Debug)]
pub struct FieldText {
    /// The field's name.
    pub name: Box<str>,
    /// Its value.
    pub value: TextTemplate,
    /// Whether it is for every status: `always`.
    pub is_for_all: bool,
}

/// `error_page`: what takes the place of an answer with one of these statuses.
#[derive(Clone, Debug)]
pub struct ErrorPage {
    /// The statuses.
    pub statuses: Vec<u16>,
    /// `=status`; `=` alone takes the page's own.
    pub answer: Option<Option<u16>>,
    /// A path, an `@name`, or the address of a redirect.
    pub target: TextTemplate,
}

/// The last of `try_files`.
#[derive(Clone, Debug)]
pub enum LastTry {
    /// `=status`.
    Status(u16),
    /// `@name`.
    Named(Box<str>),
    /// A path, perhaps with a query.
    Path(TextTemplate),
}

/// A `map`.
#[derive(Debug)]
pub struct MapSpec {
    /// The variable that it fills.
    pub slot: u32,
    /// What is looked up.
    pub source: TextTemplate,
    /// Its rows in the order of the file, without the default.
    pub rows: Vec<MapRow>,
    /// The value where no row is for it.
    pub default: TextTemplate,
    /// Whether rows may be wildcards of hosts: `hostnames`.
    pub has_hostnames: bool,
    /// Whether it is looked up each time: `volatile`.
    pub is_volatile: bool,
}

/// A row of a `map`.
#[derive(Debug)]
pub struct MapRow {
    /// What it is for.
    pub form: MapForm,
    /// The value.
    pub value: TextTemplate,
}

/// What a row of a `map` is for.
#[derive(Debug)]
pub enum MapForm {
    /// A text, in any letter case.
    Text(Box<str>),
    /// Hosts, as a server's name.
    Host(ServerName),
    /// What an expression is found in.
    Pattern(SearchPattern),
}

impl PlaceKind {
    /// A word for it.
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

    /// The text that paths are compared with, where it is a path.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Self::Exact(path) | Self::Prefix(path) | Self::FinalPrefix(path) => Some(path),
            Self::Server | Self::Pattern(_) | Self::Named(_) | Self::If => None,
        }
    }
}
