//! Catalogue of all directives that eddy knows: the blocks that they belong to, and their support in eddy.

use super::block::{EVENTS, HTTP, IF, LOCATION, MAIN, SERVER, SERVER_IF, UPSTREAM};

/// Directive of NGINX.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectiveInfo {
    pub(super) name: &'static str,
    /// Blocks that may contain it, as bits.
    pub(super) blocks: u16,
    /// Minimum and maximum number of arguments.
    pub(super) arguments: (usize, usize),
    pub(super) use_: Use,
}

/// Support of a directive in eddy, with a remark or reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Supported; the remark may be empty.
    Read(&'static str),
    /// Ignored, because it has no effect in eddy.
    Idle(&'static str),
    /// Ignored with a warning.
    Warned(&'static str),
    /// Rejected.
    Refused(&'static str),
}

impl Use {
    /// Returns the support in the words of the published pages, without the remark or reason.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Read("") => "accepted",
            Self::Read(_) => "accepted: ",
            Self::Idle(_) => "ignored: ",
            Self::Warned(_) => "ignored with a warning: ",
            Self::Refused(_) => "**refused**: ",
        }
    }

    /// Returns the remark or reason.
    pub(crate) fn note(self) -> &'static str {
        let (Self::Read(note) | Self::Idle(note) | Self::Warned(note) | Self::Refused(note)) = self;
        note
    }
}

/// Module and its directives.
pub(super) struct NginxModule {
    pub(super) title: &'static str,
    pub(super) directives: &'static [DirectiveInfo],
}

/// Returns the directive of this name; where there are several, the one for this block.
pub(super) fn find(name: &str, block: u16) -> Option<&'static DirectiveInfo> {
    let mut all = MODULES.iter().flat_map(|module| module.directives).filter(|known| known.name == name);
    let first = all.clone().next();
    all.find(|known| known.blocks & block != 0).or(first)
}

/// Returns all directives of this name.
pub(super) fn find_all(name: &str) -> impl Iterator<Item = &'static DirectiveInfo> {
    MODULES.iter().flat_map(|module| module.directives).filter(move |known| known.name == name)
}

/// Returns the names of all directives.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().flat_map(|module| module.directives).map(|known| known.name)
}

const fn known(name: &'static str, blocks: u16, arguments: (usize, usize), use_: Use) -> DirectiveInfo {
    DirectiveInfo { name, blocks, arguments, use_ }
}

/// All modules, in the order of the reference.
pub(super) static MODULES: &[NginxModule] = &[
    NginxModule { title: "Core", directives: CORE },
    NginxModule { title: "Rewrite", directives: REWRITE },
    NginxModule { title: "Proxy", directives: PROXY },
    NginxModule { title: "Upstream", directives: UPSTREAMS },
    NginxModule { title: "Map", directives: MAP },
    NginxModule { title: "HTTP and process settings", directives: FRAME },
    NginxModule { title: "Other modules", directives: OTHER },
    NginxModule { title: "Third-party and other modules", directives: FURTHER },
    NginxModule { title: "Access", directives: ACCESS },
];

#[rustfmt::skip]
static CORE: &[DirectiveInfo] = &[
    known("absolute_redirect", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("aio", HTTP | SERVER | LOCATION, (1, 9), Use::Idle(FILES)),
    known("aio_write", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("alias", LOCATION, (1, 1), Use::Refused(FILES)),
    known("auth_delay", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it delays authentication responses, and eddy authenticates in filters")),
    known("chunked_transfer_encoding", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("HTTP/1.1 clients get chunked responses if the length is unknown")),
    known("client_body_buffer_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(BUFFERS)),
    known("client_body_in_file_only", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy streams bodies and never writes them to files")),
    known("client_body_in_single_buffer", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(BUFFERS)),
    known("client_body_temp_path", HTTP | SERVER | LOCATION, (1, 4), Use::Idle("eddy streams bodies and never writes them to files")),
    known("client_body_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("after 10 s, a body must arrive with at least 1 KiB/s on average")),
    known("client_header_buffer_size", HTTP | SERVER, (1, 1), Use::Idle(BUFFERS)),
    known("client_header_timeout", HTTP | SERVER, (1, 1), Use::Read("the setting of the default server of an address applies")),
    known("client_max_body_size", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a chunked body of unknown length is not limited until its location is known")),
    known("connection_pool_size", HTTP | SERVER, (1, 1), Use::Idle(MEMORY)),
    known("default_type", HTTP | SERVER | LOCATION, (1, 1), Use::Read("the content type of text in `return`")),
    known("directio", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("directio_alignment", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("disable_symlinks", HTTP | SERVER | LOCATION, (1, 2), Use::Idle(FILES)),
    known("early_hints", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy always forwards interim responses of upstreams")),
    known("error_page", HTTP | SERVER | LOCATION | IF, (2, usize::MAX), Use::Read("applies to local replies, to failed upstreams, and with `proxy_intercept_errors` to upstream responses")),
    known("etag", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("http", MAIN, (0, 0), Use::Read("")),
    known("if_modified_since", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("ignore_invalid_headers", HTTP | SERVER, (1, 1), Use::Read("before the `Host` header the setting of the default server applies, after it that of the server; a malformed header always rejects the request")),
    known("internal", LOCATION, (0, 0), Use::Read("")),
    known("keepalive_disable", HTTP | SERVER | LOCATION, (1, 9), Use::Idle("only obsolete browsers need it")),
    known("keepalive_min_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy closes idle connections at their timeout")),
    known("keepalive_requests", HTTP | SERVER | LOCATION, (1, 1), Use::Read("the setting of the default server of an address applies")),
    known("keepalive_time", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy does not limit the age of a connection")),
    known("keepalive_timeout", HTTP | SERVER | LOCATION, (1, 2), Use::Read("the setting of the default server of an address applies")),
    known("large_client_header_buffers", HTTP | SERVER, (2, 2), Use::Read("number times size is the maximum size of a request head; the setting of the default server of an address applies")),
    known("limit_except", LOCATION, (1, usize::MAX), Use::Refused("only with `deny all` in its block")),
    known("limit_rate", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Warned(LIMITS)),
    known("limit_rate_after", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Idle(LIMITS)),
    known("lingering_close", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy lingers only while a client may still be sending")),
    known("lingering_time", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy lingers only while a client may still be sending")),
    known("lingering_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy lingers only while a client may still be sending")),
    known("listen", SERVER, (1, usize::MAX), Use::Read("addresses and port ranges, with and without `default_server` and `ssl`; `quic` and `proxy_protocol` are refused")),
    known("location", SERVER | LOCATION, (1, 2), Use::Read("")),
    known("log_not_found", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("log_subrequest", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy does not support subrequests")),
    known("max_headers", HTTP | SERVER, (1, 1), Use::Idle("a request has at most 128 headers")),
    known("max_ranges", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("merge_slashes", HTTP | SERVER, (1, 1), Use::Read("the setting of the default server of an address applies, as in NGINX")),
    known("msie_padding", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("only obsolete browsers need it")),
    known("msie_refresh", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("only obsolete browsers need it")),
    known("open_file_cache", HTTP | SERVER | LOCATION, (1, 2), Use::Idle(FILES)),
    known("open_file_cache_events", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("open_file_cache_errors", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("open_file_cache_min_uses", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("open_file_cache_valid", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("output_buffers", HTTP | SERVER | LOCATION, (2, 2), Use::Idle(BUFFERS)),
    known("port_in_redirect", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("postpone_gzipping", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy does not support compression")),
    known("postpone_output", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("read_ahead", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("recursive_error_pages", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("request_pool_size", HTTP | SERVER, (1, 1), Use::Idle(MEMORY)),
    known("reset_timedout_connection", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("resolver", HTTP | SERVER | LOCATION | UPSTREAM, (1, usize::MAX), Use::Read("for names in a `proxy_pass` with variables and in `server ... resolve` of an upstream; the system's name servers resolve all others")),
    known("resolver_timeout", HTTP | SERVER | LOCATION | UPSTREAM, (1, 1), Use::Read("")),
    known("root", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Warned(FILES)),
    known("satisfy", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("filters control access, and all of them must agree")),
    known("send_lowat", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("send_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("after 10 s, a client must read at least 1 KiB/s on average")),
    known("sendfile", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Idle(KERNEL)),
    known("sendfile_max_chunk", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("server", HTTP, (0, 0), Use::Read("")),
    known("server_name", SERVER, (1, usize::MAX), Use::Read("")),
    known("server_name_in_redirect", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("server_names_hash_bucket_size", HTTP, (1, 1), Use::Idle(TABLES)),
    known("server_names_hash_max_size", HTTP, (1, 1), Use::Idle(TABLES)),
    known("server_tokens", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy does not send its name")),
    known("subrequest_output_buffer_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy does not support subrequests")),
    known("tcp_nodelay", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("tcp_nopush", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("try_files", SERVER | LOCATION, (2, usize::MAX), Use::Read("eddy serves no files: the last argument always applies")),
    known("types", HTTP | SERVER | LOCATION, (0, 0), Use::Idle(FILES)),
    known("types_hash_bucket_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(TABLES)),
    known("types_hash_max_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(TABLES)),
    known("underscores_in_headers", HTTP | SERVER, (1, 1), Use::Read("before the `Host` header the setting of the default server applies, after it that of the server; headers that resemble one that eddy interprets are always removed")),
    known("variables_hash_bucket_size", HTTP, (1, 1), Use::Idle(TABLES)),
    known("variables_hash_max_size", HTTP, (1, 1), Use::Idle(TABLES)),
];

#[rustfmt::skip]
static REWRITE: &[DirectiveInfo] = &[
    known("break", SERVER | LOCATION | SERVER_IF | IF, (0, 0), Use::Read("")),
    known("if", SERVER | LOCATION, (1, usize::MAX), Use::Read("file tests (`-f`, `-d`, `-e`, `-x`) are refused: eddy serves no files")),
    known("return", SERVER | LOCATION | SERVER_IF | IF, (1, 2), Use::Read("")),
    known("rewrite", SERVER | LOCATION | SERVER_IF | IF, (2, 3), Use::Read("")),
    known("rewrite_log", HTTP | SERVER | LOCATION | SERVER_IF | IF, (1, 1), Use::Idle("`eddy explain` shows each rewrite")),
    known("set", SERVER | LOCATION | SERVER_IF | IF, (2, 2), Use::Read("")),
    known("uninitialized_variable_warn", HTTP | SERVER | LOCATION | SERVER_IF | IF, (1, 1), Use::Idle("an undefined variable is a configuration error")),
];

#[rustfmt::skip]
static PROXY: &[DirectiveInfo] = &[
    known("proxy_bind", HTTP | SERVER | LOCATION, (1, 2), Use::Refused("the kernel chooses the local address of upstream connections")),
    known("proxy_buffer_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(BUFFERS)),
    known("proxy_buffering", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy streams responses")),
    known("proxy_buffers", HTTP | SERVER | LOCATION, (2, 2), Use::Idle(BUFFERS)),
    known("proxy_busy_buffers_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(BUFFERS)),
    known("proxy_cache", HTTP | SERVER | LOCATION, (1, 1), Use::Refused(CACHE)),
    known("proxy_cache_background_update", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_bypass", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_convert_head", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_key", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_lock", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_lock_age", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_lock_timeout", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_max_range_offset", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_methods", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_min_uses", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_path", HTTP, (2, usize::MAX), Use::Warned(CACHE)),
    known("proxy_cache_purge", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_revalidate", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_use_stale", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_valid", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_connect_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_cookie_domain", HTTP | SERVER | LOCATION, (1, 2), Use::Refused("eddy forwards the cookies of upstreams unchanged")),
    known("proxy_cookie_flags", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Refused("eddy forwards the cookies of upstreams unchanged")),
    known("proxy_cookie_path", HTTP | SERVER | LOCATION, (1, 2), Use::Refused("eddy forwards the cookies of upstreams unchanged")),
    known("proxy_force_ranges", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("the upstream handles range requests")),
    known("proxy_headers_hash_bucket_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(TABLES)),
    known("proxy_headers_hash_max_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(TABLES)),
    known("proxy_hide_header", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_http_version", HTTP | SERVER | LOCATION, (1, 1), Use::Read("eddy uses HTTP/1.1; other versions are ignored with a warning")),
    known("proxy_ignore_client_abort", HTTP | SERVER | LOCATION, (1, 1), Use::Warned("an exchange ends when its client disconnects")),
    known("proxy_ignore_headers", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not interpret `X-Accel` headers")),
    known("proxy_intercept_errors", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a request with a body can't go to another upstream then and gets only the status")),
    known("proxy_limit_rate", HTTP | SERVER | LOCATION, (1, 1), Use::Warned(LIMITS)),
    known("proxy_max_temp_file_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy streams bodies and never writes them to files")),
    known("proxy_method", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy sends the client's method")),
    known("proxy_next_upstream", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Read("`error`, `timeout`, `http_NNN` and `off`; only idempotent requests are retried; the listed statuses except 403 and 404 count for `max_fails`")),
    known("proxy_next_upstream_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Warned("a retry budget of the cluster limits retries")),
    known("proxy_next_upstream_tries", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_no_cache", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_pass", LOCATION | IF, (1, 1), Use::Read("`http` and `https`; variables can select only targets that `set` and `map` name in the configuration: upstreams, addresses, and names if there is a `resolver`; a target from the request is refused")),
    known("proxy_pass_header", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy forwards the headers of upstreams, including `Server` and `Date`")),
    known("proxy_pass_request_body", HTTP | SERVER | LOCATION, (1, 1), Use::Read("`on`; `off` is refused")),
    known("proxy_pass_request_headers", HTTP | SERVER | LOCATION, (1, 1), Use::Read("`on`; `off` is refused")),
    known("proxy_pass_trailers", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy forwards trailers")),
    known("proxy_read_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_redirect", HTTP | SERVER | LOCATION, (1, 2), Use::Read("")),
    known("proxy_request_buffering", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy streams requests")),
    known("proxy_request_dynamic", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy reloads the configuration when it changes")),
    known("proxy_allow_upstream", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Refused("upstreams come only from the configuration")),
    known("proxy_bind_dynamic", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("the kernel chooses the local address of upstream connections")),
    known("proxy_send_lowat", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("proxy_send_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("`proxy_read_timeout` limits the time that an upstream is idle")),
    known("proxy_set_body", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy sends the client's body; a filter can change it")),
    known("proxy_set_header", HTTP | SERVER | LOCATION, (2, 2), Use::Read("eddy writes `Connection`, `Content-Length`, `Transfer-Encoding`, `TE`, `Upgrade` and `Expect` itself; `Upgrade $http_upgrade` with `Connection upgrade` or a variable allows protocol upgrades")),
    known("proxy_socket_keepalive", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("proxy_ssl_certificate", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a file without variables")),
    known("proxy_ssl_certificate_cache", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy reads certificates once, and again when they change")),
    known("proxy_ssl_certificate_key", HTTP | SERVER | LOCATION, (1, 1), Use::Read("an unencrypted file without variables")),
    known("proxy_ssl_ciphers", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(SUITES)),
    known("proxy_ssl_conf_command", HTTP | SERVER | LOCATION, (2, 2), Use::Refused("eddy does not use OpenSSL")),
    known("proxy_ssl_crl", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy does not read revocation lists for endpoints: revoked certificates would be accepted")),
    known("proxy_ssl_key_log", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy does not log TLS keys")),
    known("proxy_ssl_name", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a name without variables, or `$proxy_host`")),
    known("proxy_ssl_password_file", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy does not read encrypted keys")),
    known("proxy_ssl_protocols", HTTP | SERVER | LOCATION, (1, 9), Use::Read("`TLSv1.2` and `TLSv1.3`; older versions are never used")),
    known("proxy_ssl_server_name", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_ssl_session_reuse", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy resumes TLS sessions if the upstream allows it")),
    known("proxy_ssl_trusted_certificate", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_ssl_verify", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a warning while it is off")),
    known("proxy_ssl_verify_depth", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy accepts up to six intermediate certificates")),
    known("proxy_store", HTTP | SERVER | LOCATION, (1, 1), Use::Refused(FILES)),
    known("proxy_store_access", HTTP | SERVER | LOCATION, (1, 9), Use::Idle(FILES)),
    known("proxy_temp_file_write_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy streams bodies and never writes them to files")),
    known("proxy_temp_path", HTTP | SERVER | LOCATION, (1, 4), Use::Idle("eddy streams bodies and never writes them to files")),
];

#[rustfmt::skip]
static UPSTREAMS: &[DirectiveInfo] = &[
    known("upstream", HTTP, (1, 1), Use::Read("")),
    known("server", UPSTREAM, (1, usize::MAX), Use::Read("`weight`, `max_fails`, `fail_timeout`, `max_conns`, `down` and `backup`; `slow_start`, `route`, `service` and `drain` are refused")),
    known("zone", UPSTREAM, (1, 2), Use::Read("shares `max_conns` among all workers; each worker counts failures separately")),
    known("state", UPSTREAM, (1, 1), Use::Refused("endpoints come only from the configuration")),
    known("hash", UPSTREAM, (1, 2), Use::Read("maps a key to the same endpoint as NGINX, with and without `consistent`")),
    known("ip_hash", UPSTREAM, (0, 0), Use::Read("maps an address to the same endpoint as NGINX")),
    known("keepalive", UPSTREAM, (1, 2), Use::Read("eddy keeps idle connections without it, too")),
    known("keepalive_requests", UPSTREAM, (1, 1), Use::Read("")),
    known("keepalive_time", UPSTREAM, (1, 1), Use::Idle("eddy does not limit the age of an upstream connection")),
    known("keepalive_timeout", UPSTREAM, (1, 1), Use::Read("")),
    known("ntlm", UPSTREAM, (0, 0), Use::Refused("clients share upstream connections")),
    known("least_conn", UPSTREAM, (0, 0), Use::Read("the less loaded of two random endpoints")),
    known("least_time", UPSTREAM, (1, 2), Use::Refused("use `least_conn`")),
    known("queue", UPSTREAM, (1, 2), Use::Refused("requests without an available endpoint fail with 503 at once")),
    known("random", UPSTREAM, (0, 3), Use::Read("`two least_conn` selects the less loaded of two random endpoints")),
    known("sticky", UPSTREAM, (1, usize::MAX), Use::Refused("eddy does not support session affinity")),
    known("sticky_cookie_insert", UPSTREAM, (1, usize::MAX), Use::Refused("eddy does not support session affinity")),
];

#[rustfmt::skip]
static MAP: &[DirectiveInfo] = &[
    known("map", HTTP, (2, 2), Use::Read("")),
    known("map_hash_bucket_size", HTTP, (1, 1), Use::Idle(TABLES)),
    known("map_hash_max_size", HTTP, (1, 1), Use::Idle(TABLES)),
];

#[rustfmt::skip]
static FRAME: &[DirectiveInfo] = &[
    known("events", MAIN, (0, 0), Use::Read("")),
    known("include", u16::MAX, (1, 1), Use::Read("")),
    known("worker_processes", MAIN, (1, 1), Use::Read("`auto`, or the number of workers")),
    known("worker_connections", EVENTS, (1, 1), Use::Read("multiplied by the workers: the maximum number of connections of all listeners")),
    known("error_log", MAIN | HTTP | SERVER | LOCATION, (1, 2), Use::Idle("eddy logs to standard error; `--log-level` sets the level")),
    known("pid", MAIN, (1, 1), Use::Idle("a service manager tracks the process")),
    known("user", MAIN, (1, 2), Use::Idle("start eddy as the user that it should run as")),
    known("daemon", MAIN, (1, 1), Use::Idle("eddy stays in the foreground")),
    known("master_process", MAIN, (1, 1), Use::Idle("there is always a parent process")),
    known("load_module", MAIN, (1, 1), Use::Warned("eddy does not load NGINX modules and refuses their directives")),
    known("env", MAIN, (1, 1), Use::Idle("eddy does not pass on environment variables")),
    known("worker_rlimit_nofile", MAIN, (1, 1), Use::Idle("eddy raises the limit for open files itself")),
    known("worker_shutdown_timeout", MAIN, (1, 1), Use::Read("the drain timeout")),
    known("worker_cpu_affinity", MAIN, (1, usize::MAX), Use::Idle(KERNEL)),
    known("worker_priority", MAIN, (1, 1), Use::Idle(KERNEL)),
    known("worker_rlimit_core", MAIN, (1, 1), Use::Idle(KERNEL)),
    known("working_directory", MAIN, (1, 1), Use::Idle("paths are relative to the folder of the first file")),
    known("thread_pool", MAIN, (1, 3), Use::Idle(FILES)),
    known("timer_resolution", MAIN, (1, 1), Use::Idle(KERNEL)),
    known("lock_file", MAIN, (1, 1), Use::Idle(KERNEL)),
    known("pcre_jit", MAIN, (1, 1), Use::Idle("eddy compiles regular expressions to automata")),
    known("ssl_engine", MAIN, (1, 1), Use::Idle("eddy does not use OpenSSL")),
    known("debug_points", MAIN, (1, 1), Use::Idle("it is for NGINX developers")),
    known("accept_mutex", EVENTS, (1, 1), Use::Idle(KERNEL)),
    known("accept_mutex_delay", EVENTS, (1, 1), Use::Idle(KERNEL)),
    known("multi_accept", EVENTS, (1, 1), Use::Idle(KERNEL)),
    known("use", EVENTS, (1, 1), Use::Idle(KERNEL)),
    known("debug_connection", EVENTS, (1, 1), Use::Idle("it is for NGINX developers")),
    known("worker_aio_requests", EVENTS, (1, 1), Use::Idle(FILES)),
    known("stream", MAIN, (0, 0), Use::Refused("write listeners with `forward` in eddy.yaml")),
    known("mail", MAIN, (0, 0), Use::Refused("eddy does not proxy mail")),
];

#[rustfmt::skip]
static OTHER: &[DirectiveInfo] = &[
    known("add_header", HTTP | SERVER | LOCATION | IF, (2, 3), Use::Read("")),
    known("add_trailer", HTTP | SERVER | LOCATION | IF, (2, 3), Use::Refused("eddy only forwards the trailers of the upstream")),
    known("expires", HTTP | SERVER | LOCATION | IF, (1, 2), Use::Refused("use `add_header Cache-Control`")),
    known("access_log", HTTP | SERVER | LOCATION | IF, (1, 9), Use::Read("`off`, or a file, which gets entries in eddy's own format")),
    known("log_format", HTTP, (2, usize::MAX), Use::Idle("eddy's access log has its own format, as text or JSON")),
    known("open_log_file_cache", HTTP | SERVER | LOCATION, (1, 5), Use::Idle("eddy keeps the file open")),
    known("index", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(FILES)),
    known("autoindex", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("gzip", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Warned("eddy does not support compression")),
    known("gzip_buffers", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_comp_level", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_disable", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_http_version", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_min_length", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_proxied", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_types", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_vary", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_static", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gunzip", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("allow", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("only `all`; for addresses use the filter `ip_access` in eddy.yaml")),
    known("deny", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("only `all`; for addresses use the filter `ip_access` in eddy.yaml")),
    known("auth_basic", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("use the filter `basic_auth` in eddy.yaml")),
    known("auth_basic_user_file", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("use the filter `basic_auth` in eddy.yaml")),
    known("auth_request", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("write a filter that calls the authentication service")),
    known("limit_req", HTTP | SERVER | LOCATION, (1, 4), Use::Refused("use the filter `rate_limit` in eddy.yaml")),
    known("limit_req_zone", HTTP, (3, 4), Use::Idle("use the filter `rate_limit` in eddy.yaml")),
    known("limit_conn", HTTP | SERVER | LOCATION, (2, 2), Use::Refused("use the connection limits of the listener in eddy.yaml")),
    known("limit_conn_zone", HTTP, (2, 2), Use::Idle("use the connection limits of the listener in eddy.yaml")),
    known("geo", HTTP, (1, 2), Use::Refused("use `map`")),
    known("split_clients", HTTP, (2, 2), Use::Refused("use weighted clusters in eddy.yaml")),
    known("real_ip_header", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `set_real_ip_from`")),
    known("set_real_ip_from", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("the client address is that of the connection")),
    known("fastcgi_pass", LOCATION | IF, (1, 1), Use::Refused("eddy supports only HTTP upstreams")),
    known("uwsgi_pass", LOCATION | IF, (1, 1), Use::Refused("eddy supports only HTTP upstreams")),
    known("scgi_pass", LOCATION | IF, (1, 1), Use::Refused("eddy supports only HTTP upstreams")),
    known("grpc_pass", LOCATION | IF, (1, 1), Use::Refused("upstreams of an nginx.conf use HTTP/1.1; use `protocol: http2` of a cluster in eddy.yaml")),
    known("memcached_pass", LOCATION | IF, (1, 1), Use::Refused("eddy supports only HTTP upstreams")),
    known("mirror", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy does not mirror requests of an nginx.conf")),
    known("sub_filter", HTTP | SERVER | LOCATION, (2, 2), Use::Refused("write a filter")),
    known("stub_status", SERVER | LOCATION, (0, 1), Use::Refused("use the metrics of eddy's admin listener")),
    known("ssl", HTTP | SERVER, (1, 1), Use::Refused("write `listen 443 ssl`")),
    known("ssl_buffer_size", HTTP | SERVER, (1, 1), Use::Idle(BUFFERS)),
    known("ssl_certificate", HTTP | SERVER, (1, 1), Use::Read("a file without variables; SNI selects the certificate of the server")),
    known("ssl_certificate_cache", HTTP | SERVER, (1, usize::MAX), Use::Idle("eddy reads certificates once, and again when they change")),
    known("ssl_certificate_key", HTTP | SERVER, (1, 1), Use::Read("an unencrypted file without variables")),
    known("ssl_ciphers", HTTP | SERVER, (1, 1), Use::Idle(SUITES)),
    known("ssl_client_certificate", HTTP | SERVER, (1, 1), Use::Read("must be the same for all servers of an address")),
    known("ssl_conf_command", HTTP | SERVER, (2, 2), Use::Refused("eddy does not use OpenSSL")),
    known("ssl_crl", HTTP | SERVER, (1, 1), Use::Read("must be the same for all servers of an address; an expired list is still used, with a warning")),
    known("ssl_dhparam", HTTP | SERVER, (1, 1), Use::Idle(SUITES)),
    known("ssl_early_data", HTTP | SERVER, (1, 1), Use::Idle("eddy accepts requests only after the handshake")),
    known("ssl_ecdh_curve", HTTP | SERVER, (1, 1), Use::Idle(SUITES)),
    known("ssl_ocsp", HTTP | SERVER, (1, 1), Use::Refused("eddy does not query OCSP responders: revoked certificates would be accepted")),
    known("ssl_ocsp_cache", HTTP | SERVER, (1, 1), Use::Idle("eddy does not query OCSP responders")),
    known("ssl_ocsp_responder", HTTP | SERVER, (1, 1), Use::Idle("eddy does not query OCSP responders")),
    known("ssl_password_file", HTTP | SERVER, (1, 1), Use::Refused("eddy does not read encrypted keys")),
    known("ssl_prefer_server_ciphers", HTTP | SERVER, (1, 1), Use::Idle(SUITES)),
    known("ssl_protocols", HTTP | SERVER, (1, 9), Use::Read("`TLSv1.2` and `TLSv1.3` of the default server of an address; older versions are never used")),
    known("ssl_reject_handshake", HTTP | SERVER, (1, 1), Use::Read("only in the default server")),
    known("ssl_session_cache", HTTP | SERVER, (1, 2), Use::Idle(SESSIONS)),
    known("ssl_session_ticket_key", HTTP | SERVER, (1, 1), Use::Idle(SESSIONS)),
    known("ssl_session_tickets", HTTP | SERVER, (1, 1), Use::Idle(SESSIONS)),
    known("ssl_session_timeout", HTTP | SERVER, (1, 1), Use::Idle(SESSIONS)),
    known("ssl_stapling", HTTP | SERVER, (1, 1), Use::Warned("eddy does not query OCSP responders; use `ssl_stapling_file`")),
    known("ssl_stapling_file", HTTP | SERVER, (1, 1), Use::Read("")),
    known("ssl_stapling_responder", HTTP | SERVER, (1, 1), Use::Idle("eddy does not query OCSP responders")),
    known("ssl_stapling_verify", HTTP | SERVER, (1, 1), Use::Idle("eddy does not query OCSP responders")),
    known("ssl_trusted_certificate", HTTP | SERVER, (1, 1), Use::Idle("eddy uses only the certificate authorities of `ssl_client_certificate`")),
    known("ssl_verify_client", HTTP | SERVER, (1, 1), Use::Read("`on`, `off` and `optional`, the same for all servers of an address; the TLS handshake fails without a valid certificate")),
    known("ssl_verify_depth", HTTP | SERVER, (1, 1), Use::Idle("eddy accepts up to six intermediate certificates")),
    known("http2", HTTP | SERVER, (1, 1), Use::Read("of the default server of an address, and over TLS of any server there; the same as `http2` in `listen`")),
];

#[rustfmt::skip]
static FURTHER: &[DirectiveInfo] = &[
    known("charset", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Read("a name without variables, for the text of `return` and upstream responses without a charset")),
    known("charset_types", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Read("")),
    known("override_charset", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Refused("upstreams set the charset of their responses")),
    known("source_charset", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Refused("eddy does not convert charsets")),
    known("charset_map", HTTP, (2, 2), Use::Idle("eddy does not convert charsets")),
    known("limit_req_dry_run", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `limit_req`")),
    known("limit_req_log_level", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `limit_req`")),
    known("limit_req_status", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `limit_req`")),
    known("limit_conn_dry_run", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `limit_conn`")),
    known("limit_conn_log_level", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `limit_conn`")),
    known("limit_conn_status", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `limit_conn`")),
    known("mirror_request_body", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `mirror`")),
    known("sub_filter_last_modified", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `sub_filter`")),
    known("sub_filter_once", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `sub_filter`")),
    known("sub_filter_types", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `sub_filter`")),
    known("real_ip_recursive", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `set_real_ip_from`")),
    known("autoindex_exact_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("autoindex_format", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("autoindex_localtime", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("random_index", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("gzip_window", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_hash", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gzip_no_buffer", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("gunzip_buffers", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("brotli", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Warned("eddy does not support compression")),
    known("zstd", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Warned("eddy does not support compression")),
    known("brotli_buffers", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("brotli_comp_level", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("brotli_min_length", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("brotli_static", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("brotli_types", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("brotli_window", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("zstd_buffers", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("zstd_comp_level", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("zstd_min_length", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("zstd_static", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("zstd_types", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Idle("eddy does not support compression")),
    known("http2_body_preread_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_chunk_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_idle_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_max_concurrent_pushes", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_max_concurrent_streams", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_max_field_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_max_header_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_max_requests", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_pool_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_recv_buffer_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_recv_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_streams_index_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has its own HTTP/2 limits and windows")),
    known("http2_push", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("browsers no longer support server push")),
    known("http2_push_preload", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("browsers no longer support server push")),
    known("http3", HTTP | SERVER, (1, 1), Use::Warned(VERSIONS)),
    known("http3_hq", HTTP | SERVER, (1, 1), Use::Idle(VERSIONS)),
    known("http3_max_concurrent_streams", HTTP | SERVER, (1, 1), Use::Idle(VERSIONS)),
    known("http3_stream_buffer_size", HTTP | SERVER, (1, 1), Use::Idle(VERSIONS)),
    known("quic_active_connection_id_limit", HTTP | SERVER, (1, 1), Use::Idle(VERSIONS)),
    known("quic_gso", HTTP | SERVER, (1, 1), Use::Idle(VERSIONS)),
    known("quic_host_key", HTTP | SERVER, (1, 1), Use::Idle(VERSIONS)),
    known("quic_retry", HTTP | SERVER, (1, 1), Use::Idle(VERSIONS)),
    known("quic_bpf", MAIN, (1, 1), Use::Idle(VERSIONS)),
    known("ssi", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Refused("write a filter")),
    known("ssi_last_modified", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `ssi`")),
    known("ssi_min_file_chunk", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `ssi`")),
    known("ssi_silent_errors", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `ssi`")),
    known("ssi_types", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `ssi`")),
    known("ssi_value_length", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `ssi`")),
    known("userid", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("write a filter")),
    known("userid_domain", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `userid`")),
    known("userid_expires", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `userid`")),
    known("userid_flags", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `userid`")),
    known("userid_mark", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `userid`")),
    known("userid_name", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `userid`")),
    known("userid_p3p", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `userid`")),
    known("userid_path", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `userid`")),
    known("userid_service", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `userid`")),
    known("slice", HTTP | SERVER | LOCATION, (1, 1), Use::Warned("eddy requests whole responses")),
    known("add_before_body", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("write a filter")),
    known("add_after_body", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("write a filter")),
    known("addition_types", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does not add to bodies")),
    known("dav_methods", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Refused(FILES)),
    known("create_full_put_path", HTTP | SERVER | LOCATION, (1, 3), Use::Idle(FILES)),
    known("dav_access", HTTP | SERVER | LOCATION, (1, 3), Use::Idle(FILES)),
    known("min_delete_depth", HTTP | SERVER | LOCATION, (1, 3), Use::Idle(FILES)),
    known("flv", LOCATION, (0, 0), Use::Idle(FILES)),
    known("mp4", LOCATION, (0, 0), Use::Idle(FILES)),
    known("mp4_buffer_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("mp4_max_buffer_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("mp4_start_key_frame", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("empty_gif", LOCATION, (0, 0), Use::Refused("use `return 204`")),
    known("ancient_browser", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Refused("use `map $http_user_agent`")),
    known("modern_browser", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Refused("use `map $http_user_agent`")),
    known("ancient_browser_value", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `ancient_browser`")),
    known("modern_browser_value", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `ancient_browser`")),
    known("more_clear_headers", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Refused("use `proxy_hide_header` and `add_header`")),
    known("more_set_headers", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Refused("use `proxy_hide_header` and `add_header`")),
    known("more_clear_input_headers", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Refused("use `proxy_set_header`")),
    known("more_set_input_headers", HTTP | SERVER | LOCATION | IF, (1, usize::MAX), Use::Refused("use `proxy_set_header`")),
    known("modsecurity", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("use a web application firewall in front of eddy, or write a filter")),
    known("modsecurity_rules_file", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `modsecurity`")),
    known("modsecurity_transaction_id", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("it has no effect without `modsecurity`")),
    known("ssl_certificate_compression", HTTP | SERVER, (1, 1), Use::Idle("eddy does not compress certificates")),
    known("ssl_key_log", HTTP | SERVER, (1, 1), Use::Refused("eddy does not log TLS keys")),
];

const FILES: &str = "eddy serves no files; use a file server behind `proxy_pass`";
const VERSIONS: &str = "eddy supports HTTP/1.1 and HTTP/2 for clients";
const SESSIONS: &str = "eddy uses session tickets and rotates their keys";
const SUITES: &str = "eddy uses only secure cipher suites";
const CACHE: &str = "eddy has no cache";
const BUFFERS: &str = "eddy streams bodies through buffers of fixed size";
const TABLES: &str = "eddy sizes its tables itself";
const KERNEL: &str = "eddy chooses how to move bytes";
const LIMITS: &str =
    "eddy does not limit the rate of a response; use the filter `rate_limit` to limit requests";
const MEMORY: &str = "eddy manages memory differently";

/// Directives of access control modules that eddy does not have.
#[rustfmt::skip]
static ACCESS: &[DirectiveInfo] = &[
    known("auth_jwt", HTTP | SERVER | LOCATION, (1, 2), Use::Refused("eddy does not support JWT authentication")),
    known("auth_jwt_key_file", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `auth_jwt`")),
    known("auth_jwt_key_request", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `auth_jwt`")),
    known("auth_jwt_require", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Refused("eddy does not support JWT authentication")),
    known("auth_request_set", HTTP | SERVER | LOCATION, (2, 2), Use::Refused("it depends on `auth_request`")),
    known("referer_hash_bucket_size", SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `valid_referers`")),
    known("referer_hash_max_size", SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `valid_referers`")),
    known("secure_link", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("`$secure_link` is not available; with `--lenient`, requests that use it are rejected with 403")),
    known("secure_link_md5", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it has no effect without `secure_link`")),
    known("secure_link_secret", LOCATION, (1, 1), Use::Refused("`$secure_link` is not available; with `--lenient`, requests that use it are rejected with 403")),
    known("valid_referers", SERVER | LOCATION, (1, usize::MAX), Use::Refused("`$invalid_referer` is not available; with `--lenient`, requests that use it are rejected with 403")),
];
