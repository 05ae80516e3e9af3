//! Settings of a block, which inner blocks inherit unless they override them.

use std::time::Duration;

use eddy_config::{FailureStatuses, Protocols, RetryConfig, Upgrades};
use eddy_http::FieldEdits;
use eddy_ids::Shared;
use eddy_route::nginx::{ErrorPage, FieldNames, FieldText, RedirectForm, RedirectRule, TextTemplate};

use super::guard::Guards;
use super::name_servers::NameServers;
use super::reader::NginxReader;
use super::server_tls::NginxServerTls;
use super::tree::{Directive, NginxWord};
use super::upstream_tls::UpstreamTls;

/// Settings of a block.
#[derive(Clone, Debug)]
pub(super) struct BlockSettings {
    pub(super) connect_timeout: Duration,
    pub(super) read_timeout: Duration,
    pub(super) retry: RetryConfig,
    /// `proxy_ssl_...`.
    pub(super) upstream_tls: UpstreamTls,
    /// `ssl_...`.
    pub(super) tls: NginxServerTls,
    /// `proxy_set_header`; a block with one of its own inherits none.
    pub(super) proxy_fields: Shared<[FieldText]>,
    /// Whether these headers forward a client's request to switch protocols.
    pub(super) forwards_upgrades: bool,
    pub(super) added_headers: Shared<[FieldText]>,
    pub(super) hidden: FieldEdits,
    pub(super) error_pages: Shared<[ErrorPage]>,
    /// `proxy_redirect`; a block with one of its own inherits none.
    pub(super) redirects: Redirects,
    pub(super) intercepts_errors: bool,
    pub(super) has_recursive_error_pages: bool,
    pub(super) default_type: Shared<str>,
    pub(super) body_bytes_max: Option<u64>,
    pub(super) names_host_in_redirects: bool,
    pub(super) names_server_in_redirects: bool,
    pub(super) names_port_in_redirects: bool,
    pub(super) merges_slashes: bool,
    pub(super) allows_underscores: bool,
    pub(super) ignores_invalid_fields: bool,
    pub(super) head_timeout: Option<Duration>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) requests_max: Option<u64>,
    pub(super) head_bytes_max: Option<u64>,
    /// `access_log`: a file, or `off`.
    pub(super) access_log: Option<NginxWord>,
    /// `charset`, for responses of `charset_types` that name no charset.
    pub(super) charset: Option<Shared<str>>,
    pub(super) charset_types: Shared<[Box<str>]>,
    /// `http2`: whether clients may use HTTP/2.
    pub(super) has_http2: bool,
    /// Access control directives that eddy cannot carry out.
    pub(super) guards: Guards,
    /// Name servers of `resolver`.
    resolver: Option<NameServers>,
    resolver_timeout: Duration,
}

/// Rewriting of addresses in upstream responses.
#[derive(Clone, Debug)]
pub(super) enum Redirects {
    /// An address that begins like that of `proxy_pass` begins like the location instead.
    Default,
    /// These rules; `None` stands for the default rule.
    Own(Shared<[Option<RedirectRule>]>),
}

impl Default for BlockSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(60),
            read_timeout: Duration::from_secs(60),
            retry: RetryConfig {
                attempts: TRIES_MAX,
                on_reset: true,
                on_timeout: true,
                failure_statuses: FailureStatuses::Retried,
                ..RetryConfig::default()
            },
            upstream_tls: UpstreamTls::default(),
            tls: NginxServerTls::default(),
            proxy_fields: Shared::default(),
            forwards_upgrades: false,
            added_headers: Shared::default(),
            hidden: FieldEdits::new(),
            error_pages: Shared::default(),
            redirects: Redirects::Default,
            intercepts_errors: false,
            has_recursive_error_pages: false,
            default_type: "text/plain".into(),
            body_bytes_max: Some(1 << 20),
            names_host_in_redirects: true,
            names_server_in_redirects: false,
            names_port_in_redirects: true,
            merges_slashes: true,
            allows_underscores: false,
            ignores_invalid_fields: true,
            head_timeout: None,
            idle_timeout: None,
            requests_max: None,
            head_bytes_max: None,
            access_log: None,
            charset: None,
            charset_types: CHARSET_TYPES.map(Into::into).into(),
            has_http2: false,
            guards: Guards::default(),
            resolver: None,
            resolver_timeout: Duration::from_secs(30),
        }
    }
}

impl BlockSettings {
    /// Returns the settings of a block within this one; directives that are not settings are read elsewhere.
    pub(super) fn within(&self, directives: &[Directive], reader: &mut NginxReader<'_, '_>) -> Self {
        let mut scope = self.clone();
        let (mut proxy_fields, mut added_headers, mut error_pages) = (Vec::new(), Vec::new(), Vec::new());
        let mut redirects: Option<Vec<Option<RedirectRule>>> = None;
        let mut hidden = FieldEdits::new();
        let (mut chains, mut keys) = (Vec::new(), Vec::new());
        let mut upgrade = UpgradeFields::default();
        for directive in directives {
            let arguments = directive.arguments.as_slice();
            match (directive.name.text.as_str(), arguments) {
                ("proxy_set_header", [name, value]) => {
                    upgrade.take(&name.text, &value.text);
                    proxy_fields.extend(reader.proxy_field(name, value));
                }
                ("add_header", [name, value, rest @ ..]) => {
                    added_headers.extend(reader.answer_field(name, value, rest.first()));
                }
                ("error_page", [.., _]) => error_pages.extend(reader.error_page(arguments)),
                // Hop-by-hop headers are never forwarded.
                ("proxy_hide_header", [name]) if is_hop(&name.text) => {}
                ("charset_types", types) => {
                    let types = types.iter().map(|name| name.text.to_ascii_lowercase().into());
                    scope.charset_types = types.chain(["text/html".into()]).collect();
                }
                ("proxy_hide_header", [name]) => {
                    if let Err(fault) = hidden.remove(&name.text) {
                        reader.report.error(name.place, fault.to_string());
                    }
                }
                ("proxy_redirect", how) => reader.redirect(how, redirects.get_or_insert_default()),
                ("proxy_next_upstream", conditions) => scope.retry = reader.retry(conditions, &scope.retry),
                ("proxy_ssl_protocols", versions) => {
                    scope.upstream_tls.version_min = reader.version_min(versions, "upstreams");
                }
                ("resolver", words) => scope.resolver = reader.name_servers(words),
                ("ssl_protocols", versions) => {
                    scope.tls.version_min = reader.version_min(versions, "clients")
                }
                ("ssl_certificate", [file]) => chains.extend(reader.certificate_file(file)),
                ("ssl_certificate_key", [file]) => keys.extend(reader.certificate_file(file)),
                (_, [word]) => scope.set(&directive.name.text, word, reader),
                ("keepalive_timeout", [word, ..]) => scope.set("keepalive_timeout", word, reader),
                ("access_log", [word, ..]) => scope.access_log = Some(word.clone()),
                ("large_client_header_buffers", [number, size]) => {
                    let sizes = reader.number(number, 1, 1024).zip(reader.size(size));
                    scope.head_bytes_max = sizes.map(|(number, size)| number.saturating_mul(size));
                }
                _ => {}
            }
        }
        replace_if_any(&mut scope.proxy_fields, proxy_fields);
        if upgrade.has_any {
            scope.forwards_upgrades = upgrade.has_protocol && upgrade.has_option;
        }
        replace_if_any(&mut scope.added_headers, added_headers);
        replace_if_any(&mut scope.error_pages, error_pages);
        replace_if_any(&mut scope.tls.chains, chains);
        replace_if_any(&mut scope.tls.keys, keys);
        if let Some(rules) = redirects {
            scope.redirects = Redirects::Own(rules.into());
        }
        if !hidden.is_empty() {
            scope.hidden = hidden;
        }
        scope
    }

    /// Returns the settings with the access control of a block within `outer`; `block` has all directives of it.
    pub(super) fn guarded(mut self, outer: &Self, block: &[Directive]) -> Self {
        self.guards = outer.guards.within(block);
        self
    }

    /// Returns the name servers that resolve names while requests arrive.
    pub(super) fn name_servers(&self) -> Option<NameServers> {
        self.resolver.as_ref().map(|servers| servers.within(self.resolver_timeout))
    }

    /// Returns the content type of texts that `return` sends, with their charset.
    pub(super) fn typed_text(&self) -> Shared<str> {
        match &self.charset {
            Some(charset)
                if self.charset_types.iter().any(|name| name.eq_ignore_ascii_case(&self.default_type)) =>
            {
                format!("{}; charset={charset}", self.default_type).into()
            }
            _ => Shared::clone(&self.default_type),
        }
    }

    /// Returns the names that request headers may have.
    pub(super) fn field_names(&self) -> FieldNames {
        match (self.ignores_invalid_fields, self.allows_underscores) {
            (false, _) => FieldNames::Any,
            (true, true) => FieldNames::Underscored,
            (true, false) => FieldNames::Plain,
        }
    }

    /// Returns the allowed upgrades: any protocol that an upstream accepts, where the headers forward the request to
    /// switch.
    pub(super) fn upgrades(&self) -> Upgrades {
        let protocols = if self.forwards_upgrades { Protocols::Any } else { Upgrades::none().protocols };
        Upgrades { protocols, idle_timeout: Some(self.read_timeout), is_explicit: true, ..Upgrades::none() }
    }

    /// Applies a setting with one argument.
    fn set(&mut self, name: &str, word: &NginxWord, reader: &mut NginxReader<'_, '_>) {
        match name {
            "proxy_connect_timeout" => set(&mut self.connect_timeout, reader.time(word)),
            "proxy_read_timeout" => set(&mut self.read_timeout, reader.time(word)),
            "proxy_next_upstream_tries" => {
                let tries = reader.number(word, 0, 11).and_then(|tries| u8::try_from(tries).ok());
                // 0 means no limit.
                set(
                    &mut self.retry.attempts,
                    tries.map(|tries| if tries == 0 { TRIES_MAX } else { tries - 1 }),
                );
            }
            "recursive_error_pages" => set(&mut self.has_recursive_error_pages, reader.flag(word)),
            "default_type" => self.default_type = word.text.as_str().into(),
            "client_max_body_size" => {
                set(&mut self.body_bytes_max, reader.size(word).map(|size| (size > 0).then_some(size)));
            }
            "charset" if word.text.eq_ignore_ascii_case("off") => self.charset = None,
            "charset" => {
                let charset = reader.without_variables(word).map(|word| word.text);
                let is_name =
                    |text: &String| text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';');
                self.charset = match charset {
                    Some(text) if is_name(&text) => Some(text.into()),
                    Some(_) => reader.misfit(word, "a charset such as `utf-8`"),
                    None => None,
                };
            }
            "absolute_redirect" => set(&mut self.names_host_in_redirects, reader.flag(word)),
            "server_name_in_redirect" => set(&mut self.names_server_in_redirects, reader.flag(word)),
            "port_in_redirect" => set(&mut self.names_port_in_redirects, reader.flag(word)),
            "underscores_in_headers" => set(&mut self.allows_underscores, reader.flag(word)),
            "ignore_invalid_headers" => set(&mut self.ignores_invalid_fields, reader.flag(word)),
            "merge_slashes" => set(&mut self.merges_slashes, reader.flag(word)),
            "client_header_timeout" => self.head_timeout = reader.time(word),
            "keepalive_timeout" if word.text == "0" => self.requests_max = Some(1),
            "keepalive_timeout" => self.idle_timeout = reader.time(word),
            "keepalive_requests" => self.requests_max = reader.number(word, 0, 1_000_000_000),
            "access_log" => self.access_log = Some(word.clone()),
            "proxy_http_version" if word.text != "1.1" => {
                // An HTTP/1.0 upstream understands what eddy sends, except for chunked bodies.
                reader
                    .report
                    .warning(word.place, "eddy uses HTTP/1.1 to upstreams")
                    .hint("write `proxy_http_version 1.1`");
            }
            "proxy_intercept_errors" => set(&mut self.intercepts_errors, reader.flag(word)),
            "proxy_pass_request_headers" if reader.flag(word) == Some(false) => {
                reader
                    .report
                    .error(word.place, "eddy does not support `proxy_pass_request_headers off`")
                    .hint("`--lenient` does not ignore it: client headers would reach the upstream");
            }
            "proxy_pass_request_body" if reader.flag(word) == Some(false) => {
                let message = format!("eddy does not support `{name} {}`", word.text);
                reader.refuse(word.place, message, "leave it out");
            }
            name if name.starts_with("proxy_ssl_") => self.upstream_tls.set(name, word, reader),
            name if name.starts_with("ssl_") => self.tls.set(name, word, reader),
            "resolver_timeout" => set(&mut self.resolver_timeout, reader.time(word)),
            "http2" => set(&mut self.has_http2, reader.flag(word)),
            _ => {}
        }
    }
}

/// Effect of a block's `proxy_set_header` on switching protocols.
#[derive(Clone, Copy, Debug, Default)]
struct UpgradeFields {
    /// Whether there is any `proxy_set_header`: then none is inherited.
    has_any: bool,
    has_protocol: bool,
    has_option: bool,
}

impl UpgradeFields {
    fn take(&mut self, name: &str, value: &str) {
        self.has_any = true;
        if name.eq_ignore_ascii_case("upgrade") {
            self.has_protocol = passes_protocol(value);
        } else if name.eq_ignore_ascii_case("connection") {
            self.has_option = passes_option(value);
        }
    }
}

/// Whether a value of `Upgrade` is that of the client.
fn passes_protocol(value: &str) -> bool {
    value.eq_ignore_ascii_case("$http_upgrade") || value.eq_ignore_ascii_case("${http_upgrade}")
}

/// Whether a value of `Connection` asks for an upgrade: by itself, or by a variable that follows the client.
fn passes_option(value: &str) -> bool {
    value.starts_with('$') || value.split(',').any(|option| option.trim().eq_ignore_ascii_case("upgrade"))
}

fn set<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

fn replace_if_any<T>(target: &mut Shared<[T]>, own: Vec<T>) {
    if !own.is_empty() {
        *target = own.into();
    }
}

impl NginxReader<'_, '_> {
    fn proxy_field(&mut self, name: &NginxWord, value: &NginxWord) -> Option<FieldText> {
        let lower = name.text.to_ascii_lowercase();
        let is_upgrade = lower == "upgrade" && (value.text.is_empty() || passes_protocol(&value.text));
        if is_upgrade || (lower == "connection" && passes_option(&value.text)) {
            return None;
        }
        if value.text.is_empty() && is_hop(&lower) && lower != "te" {
            return None;
        }
        if lower == "connection" && matches!(value.text.as_str(), "" | "close" | "keep-alive") {
            return None;
        }
        if matches!(
            lower.as_str(),
            "connection"
                | "keep-alive"
                | "te"
                | "transfer-encoding"
                | "content-length"
                | "upgrade"
                | "expect"
        ) {
            let message = format!("eddy writes `{}` itself", name.text);
            self.report.warning(name.place, message).hint("leave it out");
            return None;
        }
        let value = match self.text(value) {
            Some(value) => value,
            None if lower == "host" => return None,
            // The upstream must not mistake the client's value for it.
            None => TextTemplate::default(),
        };
        self.check_name(name)?;
        Some(FieldText { name: name.text.as_str().into(), value, is_for_all: true })
    }

    fn answer_field(
        &mut self,
        name: &NginxWord,
        value: &NginxWord,
        always: Option<&NginxWord>,
    ) -> Option<FieldText> {
        if let Some(always) = always.filter(|word| word.text != "always") {
            return self.misfit(always, "`always`");
        }
        // eddy writes the length of each response; guides to CORS add this header to responses without a body.
        if name.text.eq_ignore_ascii_case("content-length") && value.text == "0" {
            return None;
        }
        let value = self.text(value)?;
        self.check_name(name)?;
        Some(FieldText { name: name.text.as_str().into(), value, is_for_all: always.is_some() })
    }

    /// Reports a name that no header can have.
    fn check_name(&mut self, name: &NginxWord) -> Option<()> {
        if name.text.eq_ignore_ascii_case("host") {
            return Some(());
        }
        let checked = FieldEdits::new().remove(&name.text);
        checked.map_err(|fault| self.report.error(name.place, fault.to_string()).hint("leave it out")).ok()
    }

    fn error_page(&mut self, arguments: &[NginxWord]) -> Option<ErrorPage> {
        let (target, rest) = arguments.split_last()?;
        let (answer, statuses) = match rest.split_last() {
            Some((last, statuses)) if last.text.starts_with('=') => {
                let code = &last.text[1..];
                let answer = if code.is_empty() { None } else { Some(code) };
                match answer.map(str::parse::<u16>).transpose() {
                    Ok(answer) => (Some(answer), statuses),
                    Err(_) => return self.misfit(last, "`=` or `=status`"),
                }
            }
            _ => (None, rest),
        };
        let mut page = ErrorPage { statuses: Vec::new(), answer, target: self.text(target)? };
        for status in statuses {
            page.statuses.push(u16::try_from(self.number(status, 300, 599)?).ok()?);
        }
        if page.statuses.is_empty() {
            self.report.error(target.place, "`error_page` needs a status");
            return None;
        }
        Some(page)
    }

    /// Reads a `proxy_redirect`.
    fn redirect(&mut self, how: &[NginxWord], rules: &mut Vec<Option<RedirectRule>>) {
        match how {
            [word] if word.text == "off" => rules.clear(),
            [word] if word.text == "default" => rules.push(None),
            [word] => {
                self.misfit::<()>(word, "`off`, `default`, or an address and its replacement");
            }
            [from, to, ..] => rules.extend(self.redirect_rule(from, to).map(Some)),
            [] => {}
        }
    }

    fn redirect_rule(&mut self, from: &NginxWord, to: &NginxWord) -> Option<RedirectRule> {
        let form = match from.text.strip_prefix('~') {
            Some(pattern) => RedirectForm::Pattern(Shared::new(self.marked_pattern(pattern, from.place)?)),
            None => RedirectForm::Text(self.text(from)?),
        };
        Some(RedirectRule { form, replacement: self.text(to)? })
    }

    fn retry(&mut self, conditions: &[NginxWord], before: &RetryConfig) -> RetryConfig {
        let mut retry =
            RetryConfig { statuses: Vec::new(), on_reset: false, on_timeout: false, ..before.clone() };
        for condition in conditions {
            match condition.text.as_str() {
                "error" => retry.on_reset = true,
                "timeout" => retry.on_timeout = true,
                "invalid_header" => {}
                "off" => retry.attempts = 0,
                "non_idempotent" => {
                    let message = "eddy never retries a request that is not idempotent";
                    self.refuse(condition.place, message, "leave `non_idempotent` out");
                }
                text => match text.strip_prefix("http_").and_then(|code| code.parse().ok()) {
                    Some(status @ (403 | 404 | 429 | 500 | 502 | 503 | 504)) => retry.statuses.push(status),
                    _ => {
                        self.misfit::<()>(condition, "a condition such as `error`, `timeout` or `http_502`");
                    }
                },
            }
        }
        retry
    }
}

/// Whether a header is hop-by-hop and never forwarded, so that removing it changes nothing.
fn is_hop(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "connection",
        "http2-settings",
        "keep-alive",
        "proxy",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "upgrade",
    ];
    NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Content types that `charset` applies to, unless `charset_types` names others.
const CHARSET_TYPES: [&str; 6] = [
    "text/html",
    "text/xml",
    "text/plain",
    "text/vnd.wap.wml",
    "application/javascript",
    "application/rss+xml",
];

/// Maximum number of attempts after the first.
const TRIES_MAX: u8 = 10;
